# SPDX-License-Identifier: GPL-2.0-or-later
"""What the server tells of itself: what a session uses, and GET /metrics."""
import os
import signal

import jail
from api import Api, Refused, in_thread
from conftest import until
from prometheus import Metrics
from raw import Wire, post


# --- what a session uses ---


def usage(session):
    return session.agent.call("GET", session.path)["usage"]


def test_a_session_tells_what_it_uses(server, session):
    before = usage(session)
    assert set(before) == {"memory_bytes", "pids", "cpu_ms", "limits"}
    assert before["memory_bytes"] > 0 and before["pids"] > 3
    session.run("sh", "-c", "head -c 64000000 /dev/zero >~/large; for i in 1 2 3; do sleep 1000 & done; i=0; "
                            "while [ $i -lt 200000 ]; do i=$((i+1)); done")
    # What is known is a quarter of a second old at most.
    after = until(lambda: (now := usage(session))["pids"] >= before["pids"] + 3 and now)
    assert after["memory_bytes"] >= before["memory_bytes"] + 64000000
    assert after["cpu_ms"] > before["cpu_ms"]


def test_many_callers_share_the_numbers(session):
    # More often than the warden may be asked: nobody goes without, and nobody waits long.
    asked = [in_thread(usage, session) for _ in range(20)]
    for thread, results in asked:
        thread.join()
        assert results and results[0]["memory_bytes"] > 0


def test_what_has_ended_uses_nothing(server, make_session):
    session = make_session()
    session.end()
    assert "usage" not in server.api.call("GET", session.path)


def test_in_a_hold_nothing_that_moves(server, make_session):
    """How busy a session is while a person types is not for its agent."""
    session = make_session(lease="human")
    assert "usage" not in session.agent.call("GET", session.path)
    assert server.api.call("GET", session.path)["usage"]["limits"]["pids"]["used"] > 0


# --- GET /metrics ---


def read(server):
    reply = server.api.request("GET", "/metrics")
    assert reply.status == 200, reply.body
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return Metrics(reply.body.decode())


def growth(server, do):
    """What a counter has grown by while do() ran."""
    before = read(server)
    do()
    after = read(server)
    return lambda name, **labels: after(name, **labels) - before(name, **labels)


def refused(function, *args, **options):
    try:
        function(*args, **options)
    except Refused as refusal:
        return refusal
    raise AssertionError("it was not refused")


def test_calls_are_counted(server, session):
    def calls():
        session.try_act({"action": "wait", "duration_ms": 0}, {"action": "wait", "duration_ms": 0},
                        {"action": "exec", "argv": ["/no/such/program"]}, {"action": "wait", "duration_ms": 0})
        session.do("exec", argv=["false"])
        refused(session.do, "wait")
        refused(Api(server.url, "nobody").call, "GET", "/v1")

    grown = growth(server, calls)
    act = {"method": "POST", "route": "/v1/sessions/{id}/act"}
    assert grown("glovebox_requests_total", **act, status="200") == 2
    assert grown("glovebox_requests_total", **act, status="400") == 1
    assert grown("glovebox_request_duration_seconds_count", **act) == 3
    assert grown("glovebox_acts_total", outcome="ok") == 1
    assert grown("glovebox_acts_total", outcome="failed") == 1
    assert grown("glovebox_actions_total", action="wait", outcome="ok") == 2
    assert grown("glovebox_actions_total", action="exec", outcome="failed") == 1
    assert grown("glovebox_actions_total", action="exec", outcome="ok") == 1
    assert grown("glovebox_refusals_total", code="missing_field") == 1
    assert grown("glovebox_refusals_total", code="unauthorized") == 1
    assert grown("glovebox_request_body_bytes_total") > 100
    assert grown("glovebox_reply_body_bytes_total") > 1000
    assert grown("glovebox_connections_accepted_total") == 5
    assert grown("process_cpu_seconds_total") > 0


def test_lives_are_counted(server, make_session):
    gone = []

    def lives():
        session = make_session()
        gone.append(session.id)
        now = read(server)
        assert now("glovebox_sessions", state="ready") >= 1
        for name in ("memory_bytes", "pids", "cpu_seconds_total"):
            assert now(f"glovebox_session_{name}", session=session.id) > 0, name
        session.end()
        refused(server.api.new, image="no-such-image")

    grown = growth(server, lives)
    assert grown("glovebox_sessions_created_total") == 1
    assert grown("glovebox_sessions_ended_total", reason="deleted") == 1
    assert grown("glovebox_sessions_not_created_total", code="no_image") == 1
    assert grown("glovebox_session_create_duration_seconds_count") == 1
    # Ids are labels of what lives, and of nothing else.
    assert gone[0] not in server.api.request("GET", "/metrics").body.decode()


def test_a_caller_that_leaves_is_counted(server, session):
    act = {"method": "POST", "route": "/v1/sessions/{id}/act"}
    journal = server.state / "journals" / session.id / "journal.jsonl"
    before = read(server)("glovebox_requests_abandoned_total", **act)
    with Wire(server.api.address) as wire:
        wire.send(post(session.agent, f"{session.path}/act", '{"actions":[{"action":"wait","duration_ms":60000}]}'))
        until(lambda: '"intent"' in journal.read_text())
    until(lambda: read(server)("glovebox_requests_abandoned_total", **act) == before + 1)


def test_no_text_of_a_caller_is_a_label(server, session):
    for method, path in (("GET", "/canary-path"), ("CANARY", "/v1"), ("GET", "/v1?canary=1"), ("GET", "/v1/sessions/canary"),
                         ("POST", f"{session.path}/act")):
        reply = server.api.request(method, path, {"canary": 1} if method == "POST" else None,
                                   headers={"X-Canary": "canary", "Authorization": "Bearer canary"} if path == "/v1" else None)
        assert reply.status >= 400
    text = server.api.request("GET", "/metrics").body.decode()
    assert "canary" not in text.lower()
    known = {(route["method"], route["path"]) for route in server.api.call("GET", "/v1")["routes"]} | {("", "")}
    labels = Metrics(text).labels("glovebox_requests_total")
    assert {(label["method"], label["route"]) for label in labels} <= known


def test_restarts_of_the_front_are_counted(make_server):
    server = make_server()
    session = server.api.new(image="minimal")
    session.do("wait", duration_ms=0)
    assert read(server)("glovebox_front_restarts_total") == 0
    os.kill(jail.part(jail.group_name(server), "glovebox-front"), signal.SIGKILL)
    now = until(lambda: reading_of(server))
    assert now("glovebox_front_restarts_total") == 1
    assert now("glovebox_sessions", state="ready") == 1
    # Counters begin anew, as Prometheus expects of a process that was started again.
    assert now("glovebox_acts_total", outcome="ok") == 0


def reading_of(server):
    try:
        return read(server)
    except OSError:
        return None


def test_what_guards_did_is_counted(server, session):
    """Refusals by who may what, what is masked in what a session says, and commands that a filter killed."""
    def events():
        refused(Api(server.url, "nobody").call, "GET", "/v1")
        refused(session.agent.call, "GET", "/metrics")
        session.run("sh", "-c", "printf -- '-----BEGIN PRIVATE %s-----\\nMIIB\\n-----END PRIVATE KEY-----\\n' KEY")
        assert session.exec("perl", "-e", "kill 31, $$")["signal"] == 31
        # What a stage counts comes with its next word to the front.
        until(lambda: read(server)("glovebox_security_events_total", event="sigsys") > before)

    before = read(server)("glovebox_security_events_total", event="sigsys")
    grown = growth(server, events)
    for event in ("bad_token", "forbidden", "masked", "sigsys"):
        assert grown("glovebox_security_events_total", event=event) == 1, event
