# SPDX-License-Identifier: GPL-2.0-or-later
"""The life of sessions: their times, and what of them can be changed while they live."""
import calendar
import concurrent.futures
import os
import signal
import time

import pytest

from api import Api, Refused, in_thread
from conftest import until
from raw import Wire, head
from test_api import answers, front_pid
from test_journal import events, lines


def change(server, session, **fields):
    return server.api.call("PATCH", session.path, fields)


def fixed(shown):
    """What of a session does not move by itself."""
    return {name: value for name, value in shown.items() if name not in ("usage", "at")}


def seconds_left(shown):
    return calendar.timegm(time.strptime(shown["expires_at"], "%Y-%m-%dT%H:%M:%SZ")) - time.time()


def ended(server, session, within_s=20):
    """The session once it has ended, with the last line of its journal."""
    shown = until(lambda: (now := server.api.call("GET", session.path))["state"] in ("ended", "failed") and now, within_s=within_s)
    return shown["state"], shown["reason"], lines(server, session)[-1]


def assert_ended(server, session, reason):
    state, why, last = ended(server, session)
    assert (state, why, last["event"], last["reason"]) == ("ended", reason, "end", reason)


def test_ttl_ends_a_session(server, make_session):
    assert_ended(server, make_session(ttl_s=1), "ttl")


def test_ttl_ends_a_session_in_the_middle_of_a_call(server, make_session):
    session = make_session()
    thread, results = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 30000}))
    until(lambda: events(lines(server, session))[-1] == "intent")
    change(server, session, ttl_s=1)
    assert_ended(server, session, "ttl")
    thread.join(10)
    answer = results[0]
    assert answer.code in ("session_gone", "cancelled") if isinstance(answer, Refused) else not answer["ok"]
    assert events(lines(server, session)) == ["start", "picture", "ready", "call", "intent", "result", "usage", "end"]
    listed = {row["id"]: row for row in server.api.call("GET", "/v1/sessions")["sessions"]}[session.id]
    assert (listed["state"], listed["reason"]) == ("ended", "ttl")


def test_an_idle_session_ends(server, make_session):
    """A call of its agent keeps a session alive; looking at its state does not, whoever does."""
    idle, busy = make_session(idle_s=1), make_session(idle_s=2)
    viewer = Api(server.url, idle.tokens["viewer"])
    until(lambda: busy.do("wait", duration_ms=50) and viewer.call("GET", idle.path)["state"] == "ended", every_s=0.1)
    assert_ended(server, idle, "idle")
    busy.do("wait", duration_ms=2200)  # a call that runs for longer is no idleness either
    assert busy.agent.call("GET", busy.path)["state"] == "ready"
    server.api.call("DELETE", busy.path)
    assert_ended(server, busy, "deleted")


def test_a_warden_ends_what_its_front_does_not(make_server):
    """The front stands still: its session lives no longer than some seconds past its time."""
    server = make_server()
    session = server.api.new(image="minimal", ttl_s=1)
    journal = server.state / "journals" / session.id / "journal.jsonl"
    pid = front_pid(server)
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: b'"event":"end"' in journal.read_bytes())
    finally:
        os.kill(pid, signal.SIGCONT)
    assert ended(server, session)[:2] == ("ended", "ttl")


def test_labels_and_times_are_changed(server, make_session):
    session = make_session(labels={"a": "1", "b": "2"}, ttl_s=100, idle_s=50)
    assert session.answer["idle_s"] == 50
    shown = change(server, session, labels={"b": None, "c": "3"}, ttl_s=1000, idle_s=0)
    assert (shown["labels"], shown["idle_s"], shown["state"]) == ({"a": "1", "c": "3"}, 0, "ready")
    assert 990 < seconds_left(shown) < 1010
    assert fixed(server.api.call("GET", session.path)) == fixed(shown)
    assert change(server, session, labels=None)["labels"] == {}
    assert seconds_left(change(server, session)) > 900
    change(server, session, ttl_s=1)
    assert_ended(server, session, "ttl")


def test_changes_at_the_same_time_lose_nothing(server, session):
    names = [f"n{i}" for i in range(12)]
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: change(server, session, ttl_s=600, labels={name: "x"}), names))
    assert sorted(server.api.call("GET", session.path)["labels"]) == sorted(names)


def test_a_change_whose_caller_leaves_is_whole(make_server):
    """The warden has it, so the front has it too: what is told is when the session ends."""
    server = make_server()
    session = server.api.new(image="minimal", ttl_s=600)
    body = b'{"ttl_s": 300}'
    server.process.send_signal(signal.SIGSTOP)
    try:
        with Wire(server.api.address) as wire:
            wire.send(head(server.api, "PATCH", session.path, content_type="application/json", content_length=len(body)).encode() + body)
            assert server.api.request("GET", "/livez").status == 200  # so that was read
        assert server.api.request("GET", "/livez").status == 200  # and so was the end of the connection
    finally:
        server.process.send_signal(signal.SIGCONT)
    until(lambda: seconds_left(server.api.call("GET", session.path)) < 310)


def test_a_later_end_is_the_one_that_counts(server, make_session):
    session, clock = make_session(ttl_s=2, idle_s=2), make_session(ttl_s=2)
    change(server, session, ttl_s=60, idle_s=60)
    assert_ended(server, clock, "ttl")  # so what was asked for first is over, too
    assert session.agent.call("GET", session.path)["state"] == "ready"
    change(server, session, idle_s=1)
    assert_ended(server, session, "idle")


BAD = [
    ({"image": "desktop"}, "bad_field", "/image"),
    ({"limits": {}, "labels": {"x": "y"}}, "bad_field", "/limits"),
    ({"label": {}}, "unknown_field", "/label"),
    ({"ttl_s": 0}, "bad_field", "/ttl_s"),
    ({"labels": {"x": 1}}, "bad_field", "/labels/x"),
]


def test_bad_changes_change_nothing(server, session):
    before = fixed(server.api.call("GET", session.path))
    for fields, code, pointer in BAD:
        with pytest.raises(Refused) as refused:
            change(server, session, **fields)
        assert (refused.value.status, refused.value.code, refused.value.pointer) == (400, code, pointer), fields
    assert fixed(server.api.call("GET", session.path)) == before


def test_an_ended_session_cannot_be_changed(server, make_session):
    session = make_session()
    session.end()
    with pytest.raises(Refused) as refused:
        change(server, session, labels={})
    assert (refused.value.status, refused.value.code) == (503, "session_gone")


def test_the_ceiling_is_for_the_whole_life_and_a_change_outlives_the_front(make_server, tmp_path):
    (tmp_path / "ceilings").write_text("ttl_s = 100\n")
    server = make_server("--ceilings", tmp_path / "ceilings")
    session = server.api.new(image="minimal", ttl_s=50)
    with pytest.raises(Refused) as refused:
        change(server, session, ttl_s=101, labels={"not": "taken"})
    assert (refused.value.status, refused.value.pointer) == (400, "/ttl_s")

    def refusal():
        try:
            return change(server, session, ttl_s=100) and None
        except Refused as refused:
            return refused

    refused = until(refusal)  # from the second on that it has lived for
    assert (refused.pointer, "has lived" in refused.problem["detail"]) == ("/ttl_s", True)
    kept, pid = change(server, session, ttl_s=2, labels={"kept": "yes"}), front_pid(server)
    assert kept["labels"] == {"kept": "yes"}
    os.kill(pid, signal.SIGKILL)
    until(lambda: front_pid(server) not in (None, pid) and answers(server))
    shown = server.api.call("GET", session.path)
    assert (shown["labels"], shown["expires_at"]) == (kept["labels"], kept["expires_at"])
    assert_ended(server, session, "ttl")
