# SPDX-License-Identifier: GPL-2.0-or-later
"""Many callers of one session: one at a time has its turn, looks do not wait, and pictures that are not true any more are refused."""
import concurrent.futures

import pytest

from api import Refused
from conftest import until
from terminal import RawTerminal

CLIENTS = 20
WAITING = 32
LONG = {"action": "wait", "duration_ms": 60000}


def line_of(n):
    """A line that is only this client's."""
    return f"{n:02}" + chr(ord("a") + n) * 196 + f"{n:02}"


def mixed(session, n):
    """What one client does: its line in one act, and other things before and after it."""
    session.act({"action": "move", "x": 100 + n, "y": 700}, {"action": "click", "x": 900, "y": 700 + n})
    session.shot()
    session.act({"action": "key_down", "keys": "shift"}, {"action": "key_up", "keys": "shift"}, {"action": "type", "text": line_of(n) + "\n"},
                {"action": "drag", "path": [[900, 600], [950 + n, 650]], "duration_ms": 0})
    session.do("screenshot", region={"x": 0, "y": 0, "width": 50, "height": 50})


def test_lines_of_parallel_clients_stay_whole(session):
    raw = RawTerminal(session)
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        for done in [pool.submit(mixed, session, n) for n in range(CLIENTS)]:
            done.result()
    lines = raw.got(CLIENTS * 201).decode().split("\r")
    assert lines.pop() == ""
    assert sorted(lines) == [line_of(n) for n in range(CLIENTS)]
    held = session.agent.call("GET", session.path)["held"]
    assert held == {"keys": [], "buttons": []}


def test_looks_do_not_wait_for_long_typing(session):
    RawTerminal(session, "echo")
    session.act(observe={"picture": "none"})
    before = session.shot().tobytes()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        typing = pool.submit(session.try_act, {"action": "type", "text": "x" * 2000, "delay_ms": 20})
        until(lambda: session.shot().tobytes() != before)
        for _ in range(5):
            session.shot()
            assert session.agent.call("GET", session.path)["state"] == "ready"
        assert not typing.done()
        session.agent.call("POST", f"{session.path}/cancel")
        assert typing.result()["results"][0]["error"]["code"] == "cancelled"


def test_one_too_many_is_refused(session):
    """One runs, 32 wait, one is refused at once; when the one that runs is cancelled, the others have their turns."""
    def call(n):
        try:
            return session.try_act(LONG if n == 0 else {"action": "move", "x": n, "y": 0})
        except Refused as refused:
            return refused

    with concurrent.futures.ThreadPoolExecutor(WAITING + 2) as pool:
        first = pool.submit(call, 0)
        until(lambda: runs(session))
        others = [pool.submit(call, n) for n in range(1, WAITING + 2)]
        refused = next(concurrent.futures.as_completed(others)).result()
        assert (refused.status, refused.code) == (429, "busy")
        assert not first.done() and sum(other.done() for other in others) == 1
        session.agent.call("POST", f"{session.path}/cancel")
        assert first.result()["results"][0]["error"]["code"] == "cancelled"
        answers = [other.result() for other in others]
    assert sum(answer is not refused and answer["ok"] for answer in answers) == WAITING


def runs(session):
    """An act is under way: another one does not get its turn."""
    try:
        session.act(timeout_ms=50)
    except Refused as refused:
        assert refused.code == "timeout" and refused.status == 504
        return True
    return False


def test_a_limit_lets_go(session):
    """A call that reaches its time limit holds nothing afterwards, neither keys nor its turn."""
    answer = session.try_act({"action": "mouse_down", "x": 5, "y": 5}, {"action": "key_down", "keys": "ctrl"}, LONG, timeout_ms=300)
    assert answer["done"] == 2 and answer["results"][2]["error"]["code"] == "timeout"
    assert session.agent.call("GET", session.path)["held"] == {"keys": [], "buttons": []}
    session.act()


def terminal_place(session):
    """A place in a new terminal, far from the line that it is written to."""
    window = session.do("launch", app="terminal")["window"]
    shown = next(w for w in session.windows() if w["id"] == window)
    return {"x": shown["x"] + shown["width"] - 80, "y": shown["y"] + shown["height"] - 80}


def test_an_act_on_an_old_picture_is_refused(session):
    place = {"x": 640, "y": 400}
    before = session.act(observe=True)["at"]
    session.act({"action": "click", **place}, seen=before)
    place = terminal_place(session)
    with pytest.raises(Refused) as refused:
        session.act({"action": "click", **place}, seen=before)
    assert (refused.value.status, refused.value.code, refused.value.pointer) == (409, "stale_target", "/actions/0/x")
    observation = refused.value.problem["observation"]
    assert observation["picture"]["data"]
    assert any(r["x"] <= place["x"] < r["x"] + r["width"] and r["y"] <= place["y"] < r["y"] + r["height"] for r in observation["changed"])
    session.act({"action": "click", **place}, seen=observation["at"])
    for seen, pointer in (({**before, "frame": 10**9}, "/seen/frame"), ({**before, "frame": "1"}, "/seen/frame"), ({}, "/seen/frame")):
        with pytest.raises(Refused) as refused:
            session.act(seen=seen)
        assert (refused.value.status, refused.value.pointer) == (400, pointer)


def test_guard_of_a_session(make_session):
    """Each token has its own last picture."""
    session = make_session("minimal", guard="last")
    act = f"{session.path}/act"
    session.act(observe=True)
    place = terminal_place(session)
    click = {"actions": [{"action": "click", **place}]}
    with pytest.raises(Refused) as refused:
        session.agent.call("POST", act, click)
    assert refused.value.code == "stale_target"
    # The operator has not looked yet; the agent has got a picture with the refusal.
    assert session.api.call("POST", act, click)["ok"]
    assert session.agent.call("POST", act, click)["ok"]


