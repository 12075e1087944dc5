# SPDX-License-Identifier: GPL-2.0-or-later
"""Who holds the controls: what an agent gets while a person does (V01), what becomes of what ran (V02), and how it ends (V16)."""
import json
import os
import signal
import subprocess

import pytest

from api import Api, Refused, in_thread
from conftest import BUILD, until
from jail import part, processes
from raw import Wire, assert_problem, post
from stream import Stream
from terminal import RawTerminal
from test_api import begun
from test_approvals import ASK_CLICKS, CLICK, answer, finish, parked
from test_front_kills import answers, front_pid, new_front
from test_journal import lines
from test_recording import data


class Person:
    """One with a token of a session's controller."""

    def __init__(self, session, token=None):
        self.path = f"{session.path}/lease"
        self.api = Api(session.api.url, token or session.tokens["controller"])

    def lease(self, **query):
        return self.api.call("GET", self.path + "?" + "&".join(f"{name}={value}" for name, value in query.items()))

    def do(self, action, **fields):
        return self.api.call("POST", self.path, {"action": action, **fields})

    def take(self, **fields):
        return self.do("take", **fields)

    def give(self, **fields):
        return self.do("give", **fields)


def other(session):
    """A second person."""
    return Person(session, session.api.call("POST", f"{session.path}/tokens", {"role": "controller"})["token"])


def code_of(call, *args, **fields):
    with pytest.raises(Refused) as refused:
        call(*args, **fields)
    return refused.value.code


def held(session):
    return session.agent.call("GET", session.path)["held"]


def look(session):
    return session.act(observe={"quiet_ms": 0})


@pytest.fixture
def held_back(make_session):
    """A session that starts with nobody at the controls."""
    return make_session("minimal", lease="human")


# --- who holds ---

def test_take_and_give(server, session):
    person = Person(session)
    before = person.lease()
    assert (before["holder"], before["epoch"], before["kind"], before["mine"]) == ("agent", 1, None, False)
    taken = person.take(kind="captcha")
    assert (taken["holder"], taken["epoch"], taken["kind"], taken["mine"], taken["viewer"]) == ("human", 2, "captcha", True, None)
    assert taken["expires_at"] > taken["since"]
    assert session.agent.call("GET", session.path)["lease"]["holder"] == "human"
    given = person.give(note="done")
    assert (given["holder"], given["epoch"], given["note"], given["kind"], given["expires_at"]) == ("agent", 3, "done", None, None)
    assert code_of(person.give) == "conflict"
    told = [(line["holder"], line["why"], line["epoch"]) for line in lines(server, session) if line["event"] == "lease"]
    assert told == [("human", "take", 2), ("agent", "give", 3)]


def test_only_people(session):
    for role in ("agent", "viewer"):
        api = Api(session.api.url, session.tokens[role])
        for action in ("take", "give", "extend", "clear"):
            assert code_of(api.call, "POST", f"{session.path}/lease", {"action": action}) == "forbidden"
    person = Person(session)
    assert code_of(person.do, "clear") == "forbidden"
    assert code_of(person.do, "withdraw") == "forbidden"
    assert person.lease()["epoch"] == 1


def test_two_people(session):
    """Who does not hold neither gives nor takes; the operator can clear, first to nobody."""
    one, two, operator = Person(session), other(session), Person(session, session.api.token)
    one.take()
    for action in ("take", "give", "extend"):
        assert code_of(two.do, action) == "lease_held"
        assert code_of(operator.do, action) == "lease_held"
    assert one.lease()["holder"] == "human"
    assert operator.do("clear")["holder"] == "nobody"
    assert code_of(one.do, "extend") == "conflict"
    assert two.take()["holder"] == "human"
    assert two.take(share=True)["shared"]
    two.give()
    one.take()
    operator.do("clear")
    assert operator.do("clear")["holder"] == "agent"


def test_bad_bodies(session):
    person = Person(session)
    assert code_of(person.do, "steal") == "bad_field"
    assert code_of(person.take, viewer="3") == "bad_field"
    assert code_of(person.take, viewer="v0") == "bad_field"
    assert code_of(person.take, viewer="v99") == "bad_field"
    for action, members in {"take": {"note": "x"}, "give": {"kind": "login"}, "extend": {"share": True}}.items():
        assert code_of(person.do, action, **members) == "bad_field", action
    assert code_of(person.take, until="tomorrow") == "unknown_field"
    assert code_of(person.lease, wait_epoch="x") == "bad_field"
    assert code_of(person.lease, wait_epoch=1, timeout_ms=300001) == "bad_field"


# --- what an agent gets (V01) ---

def test_agents_are_refused(session):
    """Every call and action, whoever acts as agent; and nothing of the state moves."""
    RawTerminal(session)
    before = session.agent.call("GET", session.path)
    person = Person(session)
    person.take()
    for api in (session.agent, session.api):
        for method, route, body in (("POST", "act", {"actions": []}), ("POST", "act", {"actions": [], "observe": True}), ("POST", "act", {"actions": [], "check_only": True}),
                                   ("POST", "act", {"actions": [{"action": "exec", "argv": ["true"]}]}), ("POST", "cancel", None), ("GET", "screenshot", None),
                                   ("POST", "computer", {"type": "tool_use", "id": "1", "name": "screenshot", "toolset_name": "computer", "input": {}})):
            reply = api.request(method, f"{session.path}/{route}", body)
            assert (reply.status, reply.json["code"]) == (423, "lease_held"), (method, route, reply.body)
    assert code_of(session.api.call, "PATCH", session.path, {"display": {"width": 800, "height": 600}}) == "lease_held"
    for action in ("windows", "clipboard_get", "cursor_position"):
        assert code_of(session.do, action) == "lease_held"
    assert code_of(session.agent.call, "DELETE", session.path) == "lease_held"
    during = session.agent.call("GET", session.path)
    assert "focus" not in during and during["held"] == {"keys": [], "buttons": []}
    assert during["at"]["frame"] == before["at"]["frame"] and during["at"]["epoch"] == 2
    assert "programs" not in during["lease"]
    assert "focus" in person.api.call("GET", session.path)
    person.give()
    assert look(session)["at"]["epoch"] == 3


def test_the_agents_processes_stand_still(server, session):
    """Commands and terminals, and what these have started; not the apps that were listed."""
    session.run("sh", "-c", "(while :; do date +%s%N >>ticks; sleep 0.01; done) >/dev/null 2>&1 &")
    until(lambda: session.exec("test", "-s", "ticks")["exit_code"] == 0)
    person = Person(session)
    taken = person.take()
    assert "sh" in taken["programs"]
    group = [pid for pid in processes(session.id) if "/agent" in open(f"/proc/{pid}/cgroup").read()]
    assert group
    used = [open(f"/proc/{pid}/stat").read() for pid in group]
    person.lease(wait_epoch=2, timeout_ms=200)
    assert [open(f"/proc/{pid}/stat").read() for pid in group] == used
    person.give()
    look(session)
    n = int(session.run("sh", "-c", "wc -l <ticks"))
    until(lambda: int(session.run("sh", "-c", "wc -l <ticks")) > n)


def test_a_login_ends_them(session):
    session.run("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $! >pid")
    person = Person(session)
    person.take(kind="login")
    until(lambda: "sleep" not in person.lease()["programs"])
    person.give()
    look(session)
    assert session.exec("sh", "-c", "kill -0 $(cat pid)")["exit_code"] != 0


def test_or_keeps_them(session):
    session.run("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $! >pid")
    person = Person(session)
    assert person.take(kind="login", keep_running=True)["keep_running"]
    person.give()
    look(session)
    assert session.exec("sh", "-c", "kill -0 $(cat pid)")["exit_code"] == 0


def test_another_window_changes_nothing_else(session):
    """Who holds and takes by another viewer is not asked again: the programs are kept, and the screen stays shared or not."""
    session.run("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $! >pid")
    person = Person(session)
    person.take(kind="login", keep_running=True, share=True)
    again = person.take()
    assert (again["kind"], again["keep_running"], again["shared"]) == ("login", True, True)
    assert not person.take(share=False)["shared"]
    person.give()
    look(session)
    assert session.exec("sh", "-c", "kill -0 $(cat pid)")["exit_code"] == 0


# --- what runs when a person comes (V02) ---

def take_during(session, person, *actions, when=lambda: True, **fields):
    """A person takes over while the list runs; the list's answer."""
    thread, results = in_thread(lambda: session.try_act(*actions, **fields))
    until(when, every_s=0.005)
    person.take()
    thread.join(2)
    assert not thread.is_alive(), "it goes on"
    assert not isinstance(results[0], Refused), results[0].problem
    return results[0]


def interrupted(answer, done):
    assert (answer["ok"], answer["done"]) == (False, done), answer
    assert "observation" not in answer
    result = answer["results"][done]
    assert len(answer["results"]) == done + 1
    assert (result["ok"], result["error"]["code"], result["error"]["pointer"]) == (False, "lease_lost", f"/actions/{done}")
    assert set(result) <= {"ok", "elapsed_ms", "delivered", "error", "withheld"}
    return result


def test_typing_is_interrupted(session):
    terminal = RawTerminal(session)
    person = Person(session)
    typed = f"/proc/{part(session.id, 'cat')}/cwd/raw"
    text = "".join(chr(ord("a") + i % 26) for i in range(2000))
    answer = take_during(session, person, {"action": "screenshot"}, {"action": "type", "text": text, "delay_ms": 2}, {"action": "type", "text": "NEVER"},
                         when=lambda: os.stat(typed).st_size > 0, observe=True)
    result = interrupted(answer, 1)
    assert answer["results"][0].keys() <= {"ok", "elapsed_ms", "withheld"}
    delivered = result["delivered"]
    assert 0 < delivered < 2000
    assert held(session) == {"keys": [], "buttons": []}
    person.give()
    assert code_of(session.do, "type", text="x") == "must_observe"
    look(session)
    assert terminal.got(delivered).decode() == text[:delivered]
    session.do("type", text="!")
    assert terminal.got(1) == b"!"


def is_held(session, kind, name):
    return lambda: name in held(session)[kind]


@pytest.mark.parametrize("action, kind, name", [
    ({"action": "hold_key", "keys": "shift", "duration_ms": 30000}, "keys", "shift"),
    ({"action": "drag", "path": [[100, 100], [600, 400]], "duration_ms": 20000}, "buttons", "left")], ids=["hold_key", "drag"])
def test_what_is_held_is_let_go(session, action, kind, name):
    person = Person(session)
    answer = take_during(session, person, action, when=is_held(session, kind, name))
    interrupted(answer, 0)
    assert held(session) == {"keys": [], "buttons": []}
    assert person.api.call("GET", session.path)["held"] == {"keys": [], "buttons": []}


def test_calls_that_wait_are_refused(server, session):
    person = Person(session)
    first, first_results = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 30000}))
    until(lambda: begun(server, session))
    with Wire(server.api.address) as second:
        second.send(post(session.agent, f"{session.path}/act", '{"actions":[{"action":"exec","argv":["touch","done"]}]}'))
        held(session)  # so that was read before
        person.take()
        first.join()
        interrupted(first_results[0], 0)
        assert_problem(second.answer(), 423, "lease_held")
    person.give()
    look(session)
    assert session.exec("test", "-e", "done")["exit_code"] != 0


def test_a_command_stands_still_and_goes_on(session):
    """Its own clock stands still as well: here it would run for longer than it may."""
    person = Person(session)
    thread, results = in_thread(lambda: session.try_act({"action": "exec", "argv": ["sh", "-c", "echo before; touch here; sleep 1; echo after"], "timeout_ms": 2500},
                                                        {"action": "exec", "argv": ["touch", "next"]}))
    until(lambda: "sleep" in person.lease()["programs"])
    person.take()
    person.lease(wait_epoch=2, timeout_ms=3000)
    assert thread.is_alive()
    person.give()
    thread.join()
    answer = results[0]
    assert answer["results"][0]["stdout"] == "before\nafter\n" and not answer["results"][0]["timed_out"], answer
    # What stood behind it was decided on another screen.
    assert (answer["ok"], answer["done"], answer["results"][1]["error"]["code"]) == (False, 1, "must_observe")
    look(session)
    assert session.exec("test", "-e", "next")["exit_code"] != 0


def test_a_login_ends_a_command(session):
    person = Person(session)
    thread, results = in_thread(lambda: session.try_act({"action": "exec", "argv": ["sh", "-c", "echo before; sleep 60"]}))
    until(lambda: "sleep" in person.lease()["programs"])
    person.take(kind="login")
    thread.join()
    interrupted(results[0], 0)


def test_a_call_at_its_limit_is_answered_in_a_hold(session):
    person = Person(session)
    thread, results = in_thread(lambda: session.try_act({"action": "exec", "argv": ["sleep", "60"], "timeout_ms": 60000}, timeout_ms=1500))
    until(lambda: "sleep" in person.lease()["programs"])
    person.take()
    thread.join()
    interrupted(results[0], 0)
    assert person.lease()["holder"] == "human"


def test_a_picture_on_its_way_is_not_given(session):
    """Pictures of all sizes while the controls change hands: one is given under the epoch that it says, or not at all."""
    person = Person(session)
    codes = set()
    for _ in range(5):
        calls = [in_thread(lambda: session.agent.request("GET", f"{session.path}/screenshot?format=png")) for _ in range(4)]
        person.take()
        for thread, results in calls:
            thread.join()
            reply = results[0]
            codes.add(reply.json["code"] if reply.json else 200)
        person.give()
    assert codes <= {200, "lease_held", "lease_lost"}, codes


def test_a_call_that_is_sent_again(session):
    """A keyed call is not done again, and in a hold it is not answered again either."""
    key = {"Idempotency-Key": "one"}
    person = Person(session)
    action = {"action": "exec", "argv": ["sh", "-c", "echo once >>count"]}
    first = session.try_act(action, headers=key, observe=True)
    person.take()
    assert code_of(session.try_act, action, headers=key, observe=True) == "lease_held"
    person.give()
    again = session.try_act(action, headers=key, observe=True)
    assert again["results"] == first["results"]
    look(session)
    assert session.run("cat", "count") == "once\n"


def test_an_interrupted_call_that_is_sent_again(session):
    key = {"Idempotency-Key": "two"}
    person = Person(session)
    action = {"action": "hold_key", "keys": "shift", "duration_ms": 30000}
    answer = take_during(session, person, action, when=is_held(session, "keys", "shift"), headers=key)
    person.give()
    assert session.try_act(action, headers=key)["results"] == answer["results"]
    assert held(session)["keys"] == []


# --- afterwards ---

def test_must_observe(session):
    person = Person(session)
    seen = session.act(observe=True)["at"]
    person.take()
    person.give()
    for actions in ([{"action": "move", "x": 1, "y": 1}], [{"action": "screenshot"}, {"action": "move", "x": 1, "y": 1}], [{"action": "windows"}]):
        assert code_of(session.try_act, *actions, observe=True) == "must_observe"
    assert code_of(session.try_act, {"action": "move", "x": 1, "y": 1}, check_only=True) == "must_observe"
    assert session.act()["done"] == 0
    # What shows next to nothing is no look: a corner, a speck, one window, no picture at all.
    assert session.agent.request("GET", f"{session.path}/screenshot?region=0,0,1,1").status == 200
    assert session.agent.request("GET", f"{session.path}/screenshot?space=1x1").status == 200
    session.act({"action": "screenshot", "region": {"x": 0, "y": 0, "width": 1, "height": 1}})
    session.act(observe={"region": {"x": 0, "y": 0, "width": 1, "height": 1}})
    session.act(observe={"space": {"width": 8, "height": 8}})
    session.act(observe={"picture": "none"})
    assert person.lease()["must_observe"] is True
    assert code_of(session.do, "move", x=1, y=1) == "must_observe"
    # Each token has to look for itself.
    second = Api(session.api.url, session.api.call("POST", f"{session.path}/tokens", {"role": "agent"})["token"])
    session.act({"action": "screenshot"})
    session.do("move", x=1, y=1)
    assert code_of(second.call, "POST", f"{session.path}/act", {"actions": [{"action": "move", "x": 1, "y": 1}]}) == "must_observe"
    assert second.request("GET", f"{session.path}/screenshot").status == 200
    assert second.call("POST", f"{session.path}/act", {"actions": [{"action": "move", "x": 1, "y": 1}]})["ok"]
    assert code_of(session.try_act, {"action": "move", "x": 1, "y": 1}, seen=seen) == "stale_epoch"


def test_nothing_of_a_hold_is_kept(server, session):
    """No picture, no line but the gap's; an agent's events have a gap, also later."""
    session.act({"action": "move", "x": 5, "y": 5})
    person = Person(session)
    n_pictures = len(data(server, session))
    with Stream(session.agent, session) as stream:
        person.take()
        Api(session.api.url, session.tokens["controller"]).call("POST", f"{session.path}/pause")
        Api(session.api.url, session.tokens["controller"]).call("POST", f"{session.path}/resume")
        person.give()
        events = [stream.next() for _ in range(4)]
    assert [event.name for event in events] == ["lease", "paused", "resumed", "lease"]
    assert len(data(server, session)) == n_pictures
    seq = lines(server, session)[-1]["seq"]
    look(session)
    assert [line for line in lines(server, session) if line["seq"] > seq and line["event"] == "call"][0].get("before") is None


def test_lines_of_a_hold_are_private(server, session):
    person = Person(session)
    take_during(session, person, {"action": "hold_key", "keys": "shift", "duration_ms": 30000}, when=is_held(session, "keys", "shift"))
    person.give()
    found = lines(server, session)
    result = [line for line in found if line["event"] == "result"][-1]
    assert result["private"] and result["error"] == "lease_lost" and "after" not in result
    with Stream(session.agent, session, last=0) as stream:
        events = []
        while not events or events[-1].data.get("holder") != "agent":
            events.append(stream.next())
    assert [event.data["reason"] for event in events if event.name == "gap"] == ["private"]
    assert not [event for event in events if event.data.get("private")]
    with Stream(session.api, session, last=0) as stream:
        events = []
        while not events or events[-1].data.get("holder") != "agent":
            events.append(stream.next())
    assert [event for event in events if event.data.get("private")]


def test_a_stream_of_pictures_rests(session):
    person = Person(session)
    with Stream(session.agent, session, part="stream?format=png") as stream:
        assert stream.next().data["at"]["epoch"] == 1
        person.take()
        assert code_of(session.shot) == "lease_held"
        person.give()
        look(session)
        session.act({"action": "move", "x": 300, "y": 300})
        frame = stream.next()
        assert frame.data["at"]["epoch"] == 3 and frame.data["whole"]


# --- an agent asks ---

def test_request_without_a_limit(session):
    person = Person(session)
    result = session.do("request_human", reason="Please sign in", kind="login")
    assert result.items() >= {"holder": "nobody", "epoch": 2, "came": False, "returned": False}.items()
    lease = person.lease()
    assert (lease["holder"], lease["reason"], lease["kind"]) == ("nobody", "Please sign in", "login") and lease["requested_by"]
    assert code_of(session.shot) == "lease_held"
    thread, results = in_thread(lambda: session.agent.call("GET", f"{session.path}/lease?wait_epoch=2&timeout_ms=20000"))
    assert person.take()["kind"] == "login"
    thread.join()
    assert (results[0]["holder"], results[0]["epoch"]) == ("human", 3)
    thread, results = in_thread(lambda: session.agent.call("GET", f"{session.path}/lease?wait_epoch=3&timeout_ms=20000"))
    person.give(note="ok")
    thread.join()
    assert (results[0]["holder"], results[0]["epoch"], results[0]["note"]) == ("agent", 4, "ok")
    look(session)
    session.do("move", x=2, y=2)


def test_request_that_waits(session):
    """The call waits for the controls to come back, and its own look is the one that is asked for."""
    person = Person(session)
    thread, results = in_thread(lambda: session.try_act({"action": "request_human", "reason": "captcha", "kind": "captcha", "timeout_ms": 30000}, observe=True))
    until(lambda: person.lease()["holder"] == "nobody")
    person.take()
    person.give(note="solved")
    thread.join()
    answer = results[0]
    assert answer["ok"], answer
    assert answer["results"][0].items() >= {"came": True, "returned": True, "holder": "agent", "note": "solved"}.items()
    assert answer["observation"]["picture"] and answer["at"]["epoch"] == 4
    session.do("move", x=2, y=2)


def test_nobody_comes(session):
    answer = session.try_act({"action": "request_human", "reason": "x", "timeout_ms": 100}, {"action": "move", "x": 1, "y": 1})
    assert answer["results"][0].items() >= {"ok": True, "came": False, "returned": False, "holder": "agent"}.items()
    assert answer["results"][1]["error"]["code"] == "must_observe"
    look(session)
    session.do("move", x=2, y=2)


def test_withdraw(session):
    session.do("request_human", reason="x")
    second = Api(session.api.url, session.api.call("POST", f"{session.path}/tokens", {"role": "agent"})["token"])
    assert code_of(second.call, "POST", f"{session.path}/lease", {"action": "withdraw"}) == "lease_held"
    assert session.agent.call("POST", f"{session.path}/lease", {"action": "withdraw"})["holder"] == "agent"
    look(session)
    session.do("request_human", reason="x")
    person = Person(session)
    person.take()
    assert code_of(session.agent.call, "POST", f"{session.path}/lease", {"action": "withdraw"}) == "lease_held"


def test_who_asks_and_leaves_takes_it_back(session):
    person = Person(session)
    connection = session.agent.connect(20)
    connection.request("POST", f"{session.path}/act", '{"actions":[{"action":"request_human","reason":"x","timeout_ms":60000}]}',
                       {"Authorization": f"Bearer {session.agent.token}", "Content-Type": "application/json"})
    until(lambda: person.lease()["holder"] == "nobody")
    connection.close()
    until(lambda: person.lease()["holder"] == "agent")


def test_only_agents_ask(session):
    answer = session.api.call("POST", f"{session.path}/act", {"actions": [{"action": "request_human", "reason": "x"}]})
    assert answer["results"][0]["error"]["code"] == "forbidden"
    assert Person(session).lease()["holder"] == "agent"


# --- how it ends (V16) ---

def test_a_front_that_dies_in_a_hold(make_server):
    """The lease is the stage's: the front that comes after knows it, and the person goes on."""
    server = make_server()
    session = server.api.new(image="minimal")
    person = Person(session)
    person.take(kind="other")
    pid = front_pid(server)
    os.kill(pid, signal.SIGKILL)
    new_front(server, pid)
    assert answers(server) == 200
    lease = until(lambda: session.api.call("GET", session.path)["lease"])
    assert (lease["holder"], lease["epoch"]) == ("human", 2)
    assert code_of(session.shot) == "lease_held"
    assert person.give()["holder"] == "agent"
    look(session)


def test_a_token_that_is_revoked(session):
    token = session.api.call("POST", f"{session.path}/tokens", {"role": "controller"})
    person = Person(session, token["token"])
    person.take()
    session.api.call("DELETE", f"{session.path}/tokens/{token['id']}")
    until(lambda: Person(session).lease()["holder"] == "nobody")


def test_a_session_that_begins_held(held_back):
    person = Person(held_back)
    assert person.lease()["holder"] == "nobody"
    assert code_of(held_back.shot) == "lease_held"
    person.take()
    person.give()
    look(held_back)


def test_pause_and_hold(session):
    """Each has its own switch: whatever is undone first, what the other one holds stands still."""
    session.run("sh", "-c", "(while :; do date +%s%N >>ticks; sleep 0.01; done) >/dev/null 2>&1 &")
    person = Person(session)
    session.api.call("POST", f"{session.path}/pause")
    assert person.take()["holder"] == "human"
    session.api.call("POST", f"{session.path}/resume")
    group = [pid for pid in processes(session.id) if "/agent" in open(f"/proc/{pid}/cgroup").read()]
    used = [open(f"/proc/{pid}/stat").read() for pid in group]
    person.lease(wait_epoch=2, timeout_ms=200)
    assert [open(f"/proc/{pid}/stat").read() for pid in group] == used
    session.api.call("POST", f"{session.path}/pause")
    person.give()
    assert code_of(session.shot) == "paused"
    assert [open(f"/proc/{pid}/stat").read() for pid in group] == used
    session.api.call("POST", f"{session.path}/resume")
    look(session)
    n = int(session.run("sh", "-c", "wc -l <ticks"))
    until(lambda: int(session.run("sh", "-c", "wc -l <ticks")) > n)


def test_who_ends_it(server, make_session):
    """The operator and the person may; the events say so."""
    session = make_session("minimal")
    person = Person(session)
    person.take()
    assert code_of(session.agent.call, "DELETE", session.path) == "lease_held"
    thread, results = in_thread(lambda: person.lease(wait_epoch=2, timeout_ms=20000))
    person.api.call("DELETE", session.path)
    thread.join()
    assert session.id not in server.live_sessions()


def test_the_end_is_told_before(make_session):
    session = make_session("minimal", ttl_s=50)
    person = Person(session)
    with Stream(session.agent, session) as stream:
        person.take()
        assert stream.next().name == "lease"
        session.api.call("PATCH", session.path, {"ttl_s": 40})
        event = stream.next()
        assert (event.name, event.data["reason"]) == ("warning", "ttl") and event.data["ends_at"]


def test_mcp_is_refused(session):
    """The tools of MCP go the same way."""
    Person(session).take()
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "computer", "arguments": {}}}
    reply = session.agent.request("POST", "/mcp", body, headers={"Accept": "application/json"})
    assert reply.json["result"]["isError"] and "lease_held" in reply.json["result"]["content"][0]["text"]
    body["params"] = {"name": "session_end", "arguments": {}}
    reply = session.agent.request("POST", "/mcp", body, headers={"Accept": "application/json"})
    assert reply.json["result"]["isError"] and "lease_held" in reply.json["result"]["content"][0]["text"]


# --- the models of other vendors ---

OPENAI = {"type": "computer_call", "call_id": "1", "actions": [{"type": "wait"}]}
ANTHROPIC = {"type": "tool_use", "id": "1", "name": "hold_key", "toolset_name": "computer", "input": {"text": "shift", "duration": 20}}


GEMINI = {"name": "wait", "args": {"seconds": 20}}


@pytest.mark.parametrize("body", [OPENAI, ANTHROPIC, GEMINI], ids=["openai", "anthropic", "gemini"])
def test_a_model_in_a_hold(session, body):
    """It is for the harness to wait: nothing is done, and nothing of the screen is told."""
    person = Person(session)
    person.take()
    reply = session.agent.request("POST", f"{session.path}/computer", body)
    assert (reply.status, reply.json["code"], reply.json["fix"]) == (423, "lease_held", "human") and b"base64" not in reply.body, reply.body
    person.give()


@pytest.mark.parametrize("body", [OPENAI, ANTHROPIC, GEMINI], ids=["openai", "anthropic", "gemini"])
def test_a_model_that_is_interrupted(server, session, body):
    """Who takes no answer without a picture gets none; others are told in their own form."""
    person = Person(session)
    thread, results = in_thread(lambda: session.agent.request("POST", f"{session.path}/computer", body))
    until(lambda: begun(server, session))
    person.take()
    thread.join(2)
    reply = results[0]
    if body is not ANTHROPIC:
        assert (reply.status, reply.json["code"]) == (409, "lease_lost")
    else:
        assert reply.status == 200 and b"a person has taken over" in reply.body and b"base64" not in reply.body, reply.body
    person.give()
    # It is the model's to look now; who must have a picture has it already.
    again = session.agent.request("POST", f"{session.path}/computer", body)
    assert again.status == 200
    if body is OPENAI:
        assert b"base64" in again.body
        assert session.agent.request("POST", f"{session.path}/computer", body).status == 200
        session.do("move", x=2, y=2)
    else:
        assert b"Take a new screenshot" in again.body, again.body
        session.agent.call("POST", f"{session.path}/computer", {**ANTHROPIC, "name": "screenshot", "input": {}})
        session.do("move", x=2, y=2)


# --- the command line ---

def test_glovebox_lease(server, session, tmp_path):
    token = tmp_path / "token"
    token.write_text(session.tokens["controller"])

    def glovebox(*words, status=0):
        done = subprocess.run([BUILD / "glovebox", "--server", server.url, "--token-file", token, "lease", session.id, *words], capture_output=True, text=True)
        assert done.returncode == status, done
        return done.stdout, done.stderr

    assert json.loads(glovebox("--json")[0])["holder"] == "agent"
    assert "captcha" in glovebox("take", "--kind", "captcha")[0]
    thread, results = in_thread(lambda: glovebox("wait", "--json"))
    assert "none of take, give" in glovebox("steal", status=2)[1]
    while thread.is_alive():  # it may not wait yet when they are given back first
        glovebox("give", "--note", "all done")
        thread.join(1)
        if thread.is_alive():
            glovebox("take")
    if json.loads(glovebox("--json")[0])["holder"] == "person":  # it ended while they were taken again
        glovebox("give", "--note", "all done")
    lease = json.loads(results[0][0])
    assert lease["epoch"] > 2 and json.loads(glovebox("--json")[0])["note"] == "all done"
    glovebox("wait", "--timeout", "1", status=1)
    assert "conflict" in glovebox("give", status=1)[1]


# --- with questions ---

def test_a_person_is_asked_for_after_a_question(make_session):
    """While the call was parked another one had the turn: that one has not asked."""
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, question = parked(session, CLICK, {"action": "request_human", "reason": "x"})
    look(session)
    answer(session, question, "once")
    result = finish(thread, results)["results"][1]
    assert result["ok"] and Person(session).lease()["requested_by"]


def test_a_question_is_withdrawn_by_a_take(make_session):
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, _ = parked(session, CLICK)
    Person(session).take()
    outcome = finish(thread, results)
    assert isinstance(outcome, Refused) and outcome.code in ("lease_held", "lease_lost"), outcome
