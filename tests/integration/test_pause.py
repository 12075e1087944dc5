# SPDX-License-Identifier: GPL-2.0-or-later
"""Pause and resume: everything of a session stands still, and can be ended all the same."""
import json
import os
import pathlib
import signal
import time

import pytest

from api import Api, Refused, in_thread
from conftest import until
from jail import group_name, groups, processes
from test_api import answers, front_pid

CANARY = "973"  # of sleep


def pause(session):
    return session.api.call("POST", f"{session.path}/pause")


def resume(session):
    return session.api.call("POST", f"{session.path}/resume")


def is_frozen(server, session):
    """What the kernel says of the processes of the app jail."""
    for line in (server.state / "groups").read_text().splitlines():
        events = pathlib.Path(f"/proc/{server.process.pid}/root{line}/{session.id}/desk/jail/cgroup.events")
        if events.exists():
            return "frozen 1" in events.read_text()
    raise AssertionError("no group of the session can be frozen")


def journal(server, session):
    return [json.loads(line) for line in (server.state / "journals" / session.id / "journal.jsonl").read_text().splitlines()]


def code_of(call, *args, **fields):
    with pytest.raises(Refused) as caught:
        call(*args, **fields)
    assert caught.value.status == 409, caught.value
    return caught.value.code


def shown(session):
    return session.agent.call("GET", session.path)["state"]


@pytest.fixture(scope="module")
def shared(server):
    session = server.api.new(image="minimal")
    yield session
    session.end()


def test_it_stands_still(server, shared):
    # So many that not all of them can stand still at once.
    shared.run("sh", "-c", "for i in $(seq 16); do (while :; do :; done) >/dev/null 2>&1 & echo $!; done >loops")
    assert not is_frozen(server, shared)
    answer = pause(shared)
    assert is_frozen(server, shared)
    assert (answer["state"], answer["id"], shown(shared)) == ("paused", shared.id, "paused")
    listed, = [one for one in server.api.call("GET", "/v1/sessions")["sessions"] if one["id"] == shared.id]
    assert listed["state"] == "paused"
    assert code_of(shared.try_act, {"action": "exec", "argv": ["true"]}) == "paused"
    assert code_of(shared.try_act, {"action": "wait", "duration_ms": 1}, check_only=True) == "paused"
    assert code_of(shared.try_act, observe=True) == "paused"
    assert code_of(shared.shot) == "paused"
    assert shared.agent.call("POST", f"{shared.path}/cancel") == {"cancelled": False}
    assert pause(shared)["state"] == "paused"
    assert resume(shared)["state"] == "ready" == shown(shared)
    assert not is_frozen(server, shared)
    assert resume(shared)["state"] == "ready"
    shared.run("sh", "-c", "kill $(cat loops)")
    lines = [line for line in journal(server, shared) if line["event"] in ("paused", "resumed")]
    assert [line["event"] for line in lines] == ["paused", "resumed"]
    assert all(line["actor"]["role"] == "operator" and line["request"] for line in lines)


@pytest.mark.parametrize("role, status", [("agent", 403), ("viewer", 403), ("controller", 200)])
def test_who_may(shared, role, status):
    api = Api(shared.api.url, shared.tokens[role])
    for word in ("pause", "resume"):
        assert api.request("POST", f"{shared.path}/{word}").status == status
    assert shown(shared) == "ready"


def test_it_stops_what_runs(server, shared):
    """The act that runs is answered with what was done of it; those behind it are refused; nothing is held."""
    before = len(journal(server, shared))
    first, first_results = in_thread(lambda: shared.try_act(
        {"action": "move", "x": 7, "y": 8}, {"action": "key_down", "keys": "shift"}, {"action": "mouse_down"},
        {"action": "wait", "duration_ms": 60000}))
    until(lambda: journal(server, shared)[-1].get("action", {}).get("action") == "wait")
    assert shared.agent.call("GET", shared.path)["held"] == {"keys": ["shift"], "buttons": ["left"]}
    second, second_results = in_thread(lambda: shared.try_act({"action": "move", "x": 1, "y": 1}))
    started = time.monotonic()
    answer = pause(shared)
    assert time.monotonic() - started < 5
    assert answer["held"] == {"keys": [], "buttons": []}
    first.join()
    second.join()
    assert (first_results[0]["ok"], first_results[0]["done"]) == (False, 3)
    error = first_results[0]["results"][3]["error"]
    assert (error["code"], error["pointer"]) == ("paused", "/actions/3")
    # The second came before the pause and waited, or after it: it is refused, and did nothing.
    assert second_results[0].code == "paused"
    resume(shared)
    assert shared.do("cursor_position")["x"] == 7
    events = [line["event"] for line in journal(server, shared)[before:]]
    assert events[:10] == ["call"] + ["intent", "result"] * 4 + ["paused"]


def test_it_ends_a_command(shared):
    thread, results = in_thread(lambda: shared.try_act({"action": "exec", "argv": ["sleep", CANARY]}))
    until(lambda: [name for name in processes(shared.id).values() if name == "sleep"])
    started = time.monotonic()
    pause(shared)
    thread.join()
    assert time.monotonic() - started < 5
    assert results[0]["results"][0]["error"]["code"] == "paused"
    assert "sleep" not in processes(shared.id).values()
    resume(shared)
    assert shared.run("echo", "on") == "on\n"


def test_pause_and_resume_at_once(server, shared):
    """In whatever order they come, the state that is shown is the one that is."""
    for _ in range(10):
        threads = [in_thread(call, shared) for call in (pause, resume, pause, resume)]
        for thread, results in threads:
            thread.join()
            assert not isinstance(results[0], Refused) and results[0]["state"] in ("ready", "paused"), results
        assert is_frozen(server, shared) == (shown(shared) == "paused")
    resume(shared)
    assert shared.run("echo", "on") == "on\n"


def test_its_journal_tells_each_once(server, shared):
    """However pauses and resumes meet, one that was undone before anything stood still is no line of its own."""
    seen = len(journal(server, shared))
    for _ in range(3):
        running, _ = in_thread(shared.try_act, {"action": "wait", "duration_ms": 60000})
        until(lambda: journal(server, shared)[-1].get("action", {}).get("action") == "wait")
        for thread, _ in [in_thread(call, shared) for call in (pause, resume) * 8]:
            thread.join()
        resume(shared)
        running.join()
    told = [line["event"] for line in journal(server, shared)[seen:] if line["event"] in ("paused", "resumed")]
    assert told == ["paused", "resumed"] * (len(told) // 2)


def test_ends_while_paused(server, make_session):
    session = make_session("minimal")
    session.run("sh", "-c", f"(sleep {CANARY}; :) >/dev/null 2>&1 &")
    pause(session)
    started = time.monotonic()
    session.end()
    assert time.monotonic() - started < 5
    assert processes(session.id) == {} and groups(session.id) == []
    assert journal(server, session)[-1]["event"] == "end"


def test_time_runs_while_paused(make_session):
    """ttl_s goes on, since it bounds what a session costs; idle_s does not."""
    session = make_session("minimal", ttl_s=4, idle_s=1)
    pause(session)
    ended = until(lambda: (answer := session.api.call("GET", session.path))["state"] == "ended" and answer)
    assert ended["reason"] == "ttl"
    assert processes(session.id) == {}


def test_idle_again_after_it(make_session):
    session = make_session("minimal", idle_s=1)
    pause(session)
    resume(session)
    ended = until(lambda: (answer := session.api.call("GET", session.path))["state"] == "ended" and answer)
    assert ended["reason"] == "idle"


def test_a_crash_of_the_front(make_server):
    """It is still paused, and still knows that."""
    server = make_server()
    session = server.api.new(image="minimal")
    pause(session)
    pid = front_pid(server)
    os.kill(pid, signal.SIGKILL)
    until(lambda: front_pid(server) not in (None, pid))
    until(lambda: answers(server))
    assert shown(session) == "paused" and is_frozen(server, session)
    assert code_of(session.shot) == "paused"
    resume(session)
    session.do("exec", argv=["true"])
    session.end()


def test_the_warden_is_killed(make_server):
    """Frozen processes end with the warden as others do."""
    server = make_server()
    name = group_name(server)
    session = server.api.new(image="minimal", apps=["terminal"])
    session.run("sh", "-c", f"(sleep {CANARY}; :) >/dev/null 2>&1 &")
    pause(session)
    server.kill(signal.SIGKILL)
    server.assert_nothing_runs(within_s=5)
    assert processes(name) == {}
    server.start()  # sweeps the groups, frozen or not; its end is checked for leftovers
