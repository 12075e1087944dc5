# SPDX-License-Identifier: GPL-2.0-or-later
"""The API of sessions: who may do what, what makes a session and what does not, callers and processes that leave, the console."""
import hashlib
import json
import os
import pathlib
import re
import signal
import time

import pytest

import jail
from api import Api, Refused, in_thread
from conftest import TREE, until
from raw import Wire, ask, assert_problem, head, post


# --- who may do what ---


def test_a_token_is_required(server):
    for fields in ({}, {"authorization": "Bearer"}, {"authorization": "Bearer x"}, {"authorization": f"Basic {server.api.token}"},
                   {"authorization": f"Bearer {server.api.token}x"}, {"authorization": f"Bearer {server.api.token[:-1]}"},
                   {"cookie": f"token={server.api.token}"}):
        answer = ask(server.api, head(server.api, token=False, **fields))
        assert_problem(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert server.api.token not in answer.body.decode()
    assert ask(server.api, head(server.api, target=f"/v1?token={server.api.token}", token=False)).status == 401


def test_a_list_shows_what_the_token_may_see(server, make_session):
    mine, other = make_session(labels={"who": "mine"}), make_session()
    seen = mine.agent.call("GET", "/v1/sessions")["sessions"]
    assert [session["id"] for session in seen] == [mine.id]
    assert seen[0]["labels"] == {"who": "mine"}
    assert {mine.id, other.id} <= {session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]}


def test_tokens_come_once(server, session):
    assert set(session.tokens) == {"agent", "viewer", "controller"}
    assert len(set(session.tokens.values())) == 3
    for path in ("/v1/sessions", session.path):
        text = json.dumps(server.api.call("GET", path))
        assert not [token for token in session.tokens.values() if token in text]
    assert not [token for token in [*session.tokens.values(), server.api.token] if token in server.log_text()]


def test_an_ended_session_is_listed_and_takes_no_calls(make_session, server):
    session = make_session()
    session.end()
    session.end()  # again: it is what was asked for
    shown = session.agent.call("GET", session.path)
    assert (shown["state"], shown["reason"]) == ("ended", "deleted")
    with pytest.raises(Refused) as refused:
        session.act({"action": "wait", "duration_ms": 1})
    assert (refused.value.status, refused.value.code) == (503, "session_gone")
    with pytest.raises(Refused) as refused:
        session.shot()
    assert refused.value.code == "session_gone"


# --- specs ---

BAD_SPECS = [
    ({"images": "x"}, 400, "unknown_field", "/images"),
    ({"image": 5}, 400, "bad_field", "/image"),
    ({"image": "nothing-like-it"}, 422, "no_image", "/image"),
    ({"image": "../../etc"}, 422, "no_image", "/image"),
    ({"image": "a\0b"}, 400, "bad_field", "/image"),
    ({"image": "minimal", "display": {"width": 10}}, 400, "bad_field", "/display/width"),
    ({"image": "minimal", "display": {"width": 1e300}}, 400, "bad_field", "/display/width"),
    ({"image": "minimal", "display": {"width": 1280.0}}, 400, "bad_field", "/display/width"),
    ({"image": "minimal", "display": {"width": None}}, 400, "bad_field", "/display/width"),
    ({"image": "minimal", "apps": ["no-such-app"]}, 400, "bad_field", "/apps/0"),
    ({"image": "minimal", "apps": ["-x"]}, 400, "bad_field", "/apps/0"),
    ({"image": "minimal", "env": {"A=B": "c"}}, 400, "bad_field", "/env"),
    ({"image": "minimal", "env": {"DISPLAY": ":1"}}, 400, "bad_field", "/env/DISPLAY"),
    ({"image": "minimal", "isolation": "vm"}, 422, "tier_unavailable", "/isolation"),
    ({"image": "minimal", "egress": {"mode": "closed"}}, 400, "bad_field", "/egress/mode"),
    ({"image": "minimal", "secrets": ["x"]}, 400, "bad_field", "/secrets/0"),
    ({"image": "minimal", "secrets": ["../x"]}, 400, "bad_field", "/secrets/0"),
    ({"image": "minimal", "secrets": ["x", "x"]}, 400, "bad_field", "/secrets/1"),
    ({"image": "minimal", "secrets": ["x"] * 17}, 400, "bad_field", "/secrets"),
    ({"image": "minimal", "env": {"A": {"secret": "x"}}}, 422, "unsupported", "/env/A"),
    ({"image": "minimal", "results": {"cards": "hide"}}, 400, "bad_field", "/results/cards"),
    ({"image": "minimal", "lease": "nobody"}, 400, "bad_field", "/lease"),
]


@pytest.mark.parametrize("spec, status, code, pointer", BAD_SPECS, ids=[json.dumps(row[0]) for row in BAD_SPECS])
def test_bad_specs_make_nothing(server, spec, status, code, pointer):
    before = [session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]]
    with pytest.raises(Refused) as refused:
        server.api.new(**spec)
    assert (refused.value.status, refused.value.code, refused.value.pointer) == (status, code, pointer)
    assert [session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]] == before


def test_a_missing_image_names_those_there_are(server):
    with pytest.raises(Refused) as refused:
        server.api.new(image="nothing")
    assert "minimal" in refused.value.problem["detail"]
    assert "image build" in refused.value.problem["detail"]
    assert refused.value.problem["fix"] == "operator"


def test_the_answer_of_create(session):
    answer = session.answer
    assert {"id", "state", "image", "display", "space", "at", "lease", "owner", "isolation_report", "tokens", "links",
            "expires_at"} <= set(answer)
    assert answer["state"] == "ready"
    assert answer["links"]["self"] == session.path
    routes = {route["path"] for route in session.api.call("GET", "/v1")["routes"]}
    assert {link.replace(session.id, "{id}") for link in answer["links"].values()} == {
        path for path in routes if path.startswith("/v1/sessions/{id}") and path.count("{") == 1}
    assert answer["isolation_report"]["tier"] == "jail"
    assert set(answer["isolation_report"]["in_force"]).isdisjoint(answer["isolation_report"]["missing"])
    assert answer["not_in_force"] == []


def test_a_session_is_shown_the_same_everywhere(server, make_session):
    session = make_session(apps=["terminal"], labels={"a": "b"}, display={"width": 1000, "height": 700})
    shown = server.api.call("GET", session.path)
    listed = next(row for row in server.api.call("GET", "/v1/sessions")["sessions"] if row["id"] == session.id)
    assert shown["display"] == listed["display"] == {"width": 1000, "height": 700, "max_width": 1000, "max_height": 700, "layout": "us",
                                                     "gl": False}
    assert shown["space"] == listed["space"] == {"width": 1000, "height": 700}
    assert [app["app"] for app in shown["apps"]] == [app["app"] for app in listed["apps"]] == ["terminal"]
    assert shown["labels"] == listed["labels"] == {"a": "b"}
    assert shown["held"] == {"keys": [], "buttons": []}


# --- callers that leave, and stages that do ---

def begun(server, session):
    """How many actions of this session were begun."""
    return (server.state / "journals" / session.id / "journal.jsonl").read_text().count('"intent"')



def test_a_caller_that_leaves_cancels(server, session):
    body = '{"actions":[{"action":"wait","duration_ms":30000}]}'
    for how in ("close", "half close"):
        before = begun(server, session)
        with Wire(server.api.address) as wire:
            wire.send(post(session.agent, f"{session.path}/act", body))
            until(lambda: begun(server, session) > before)
            if how == "half close":
                wire.socket.shutdown(1)
                assert wire.is_closed()
        started = time.monotonic()
        session.act({"action": "wait", "duration_ms": 1})
        assert time.monotonic() - started < 10, "the call of a caller who left still runs"


def test_cancel_stops_what_runs(session):
    thread, results = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 30000}))
    deadline = time.monotonic() + 10
    while thread.is_alive() and time.monotonic() < deadline:
        session.agent.call("POST", f"{session.path}/cancel")
        thread.join(0.2)
    thread.join(1)
    assert results and results[0]["ok"] is False and results[0]["done"] == 0


def test_the_end_of_a_session_answers_its_parked_calls(server, make_session):
    session = make_session()
    thread, results = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 30000}))
    until(lambda: begun(server, session))
    server.api.call("DELETE", session.path)
    thread.join(10)
    assert results, "the call is still open"
    answer = results[0]
    assert isinstance(answer, Refused) and answer.code in ("session_gone", "cancelled") or answer["ok"] is False


def test_a_stage_that_is_killed_answers_its_parked_calls(server, make_session):
    session = make_session()
    thread, results = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 30000}))
    until(lambda: begun(server, session))
    os.kill(jail.stage_of(session), signal.SIGKILL)
    thread.join(10)
    assert results, "the call is still open"
    assert (results[0].status, results[0].code) == (503, "session_gone")
    assert results[0].problem["detail"] == "the session is failed: stage_died; what was done of the call is not known"
    shown = server.api.call("GET", session.path)
    assert (shown["state"], shown["reason"]) == ("failed", "stage_died")


def test_a_caller_that_leaves_a_create_leaves_no_session(server):
    """At any time before the answer. With an app a create takes longer than all of these: it waits until the screen is quiet."""
    before = server.live_sessions()
    for wait_s in (0.001, 0.01, 0.03, 0.06, 0.1, 0.14, 0.2):
        with Wire(server.api.address, timeout_s=wait_s) as wire, pytest.raises(TimeoutError):
            wire.send(post(server.api, "/v1/sessions", '{"image":"minimal","apps":["terminal"]}'))
            wire.answer()
    until(lambda: server.live_sessions() <= before, within_s=30)


def test_a_session_that_is_deleted_while_it_starts(server):
    """Its create is answered when it is gone, not after a time limit."""
    before, mounts = server.live_sessions(), jail.counts(server)
    for wait_s in (0, 0.02, 0.05, 0.1):
        thread, results = in_thread(lambda: server.api.new(image="minimal", apps=["terminal"]))
        new, = until(lambda: server.live_sessions() - before, every_s=0.001)
        time.sleep(wait_s)
        started = time.monotonic()
        server.api.call("DELETE", f"/v1/sessions/{new}")
        thread.join()
        assert time.monotonic() - started < 8
        assert results[0].code == "session_failed", results[0].problem
    until(lambda: jail.counts(server) == mounts, within_s=5)


def test_looks_do_not_wait_behind_a_long_action(server, session):
    thread, _ = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 5000}))
    until(lambda: begun(server, session))
    started = time.monotonic()
    session.shot()
    session.agent.call("GET", session.path)
    assert time.monotonic() - started < 3
    session.agent.call("POST", f"{session.path}/cancel")
    thread.join(10)


def test_many_calls_that_end_at_once_are_all_answered(server, make_session):
    """More links to a stage come free together than are kept."""
    session, pid = make_session(), front_pid(server)
    calls = [in_thread(session.try_act, {"action": "wait", "duration_ms": 60000}) for _ in range(40)]
    until(lambda: begun(server, session))
    session.end()
    for thread, results in calls:
        thread.join(10)
        assert results and (not results[0]["ok"] if isinstance(results[0], dict) else results[0].status in (409, 429, 503)), results
    assert front_pid(server) == pid


# --- a front that dies ---


def front_pid(server):
    for entry in pathlib.Path("/proc").iterdir():
        try:
            name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name == "glovebox-front" and int(rest.split()[1]) == server.process.pid:
            return int(entry.name)
    return None


def answers(server):
    try:
        return server.api.request("GET", "/livez", timeout_s=5).status == 200
    except OSError:
        return False


def test_a_crash_of_the_front_costs_no_session(make_server):
    server = make_server()
    session = server.api.new(image="minimal", labels={"a": "b"})
    ended = server.api.new(image="minimal")
    ended.end()
    pid = front_pid(server)
    os.kill(pid, signal.SIGKILL)
    until(lambda: front_pid(server) not in (None, pid))
    until(lambda: answers(server))
    shown = session.agent.call("GET", session.path)
    assert (shown["state"], shown["labels"]) == ("ready", {"a": "b"})
    assert {key: shown[key] for key in ("expires_at", "created_at", "isolation_report", "space")} == {
        key: session.answer[key] for key in ("expires_at", "created_at", "isolation_report", "space")}
    session.act({"action": "wait", "duration_ms": 1})
    assert server.api.call("GET", ended.path)["state"] == "ended"
    session.end()


# --- the console ---


def test_the_page_and_its_policy(server):
    api = Api(server.url, None)
    for path, kind in (("/", "text/html"), ("/console/main.js", "text/javascript"), ("/console/style.css", "text/css"), ("/console/mark.svg", "image/svg+xml"),
                       ("/console/vendor/novnc/vendor/pako/lib/zlib/inflate.js", "text/javascript")):
        reply = api.request("GET", path)
        assert reply.status == 200 and reply.headers.get_content_type() == kind
        policy = reply.headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy and "unsafe-inline" not in policy
        assert "require-trusted-types-for 'script'" in policy and reply.headers["Cache-Control"] == "no-cache"
        tag = reply.headers["ETag"]
        again = api.request("GET", path, headers={"If-None-Match": tag})
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
        only_head = api.request("HEAD", path)
        assert (only_head.status, only_head.headers["ETag"], only_head.headers["Content-Length"]) == (200, tag, str(len(reply.body)))
    page = api.request("GET", "/").body.decode()
    assert "<script>" not in page and "style=" not in page and "onclick" not in page
    for path in ("/console/", "/console/none.js", "/console/index.html", "/console/vendor/novnc.sha256", "/console/../main.js", "/console/a/b/c/d/e/f/g/h"):
        assert api.request("GET", path).status in (400, 404), path


def test_the_vendored_novnc_is_as_it_came():
    vendor = TREE / "display/console/vendor"
    sums = dict(reversed(line.split("  ")) for line in (vendor / "novnc.sha256").read_text().splitlines())
    found = {str(path.relative_to(vendor)): hashlib.sha256(path.read_bytes()).hexdigest() for path in (vendor / "novnc").rglob("*") if path.is_file()}
    assert found == sums


def test_a_code_is_checked(server):
    api = Api(server.url, None)
    for body, code in (({}, "missing_field"), ({"code": 5}, "bad_field"), ({"code": "x", "y": 1}, "unknown_field"), ([], "bad_field")):
        with pytest.raises(Refused) as refused:
            api.call("POST", "/v1/console", body)
        assert (refused.value.status, refused.value.code) == (400, code)


def test_a_code_is_traded_once(make_server):
    server = make_server()
    code = re.search(r"#code=(\S+)", server.log_text()).group(1)
    api = Api(server.url, None)
    answer = api.call("POST", "/v1/console", {"code": code})
    assert Api(server.url, answer["token"]).call("GET", "/v1/sessions")["sessions"] == []
    with pytest.raises(Refused) as refused:
        api.call("POST", "/v1/console", {"code": code})
    assert (refused.value.status, refused.value.code) == (401, "unauthorized")
    assert code not in json.dumps(refused.value.problem) and answer["token"] not in server.log_text()


def test_wrong_codes_are_slowed_down(make_server):
    server = make_server()
    api = Api(server.url, None)
    codes = []
    for _ in range(20):
        with pytest.raises(Refused) as refused:
            api.call("POST", "/v1/console", {"code": "AAAA-AAAA"})
        codes.append(refused.value.code)
    assert codes[:5] == ["unauthorized"] * 5
    assert "limit_reached" in codes
    assert refused.value.headers["Retry-After"] == "1"
