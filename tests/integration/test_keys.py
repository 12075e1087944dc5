# SPDX-License-Identifier: GPL-2.0-or-later
"""Idempotency-Key on act: a call that is sent again is answered again, and done once (case H03)."""
import concurrent.futures
import contextlib
import json
import os
import signal

import jail
from api import Api
from conftest import until
from raw import Wire, assert_problem, ask, post

COUNT = {"action": "exec", "argv": ["sh", "-c", "echo x >>count; wc -l <count"]}
SLOW = {"action": "exec", "argv": ["sh", "-c", "echo x >>count; sleep 600; wc -l <count"]}


def send(session, key, *actions, **options):
    """One act under a key; the reply, whatever it is."""
    return session.agent.request("POST", f"{session.path}/act", {"actions": list(actions), **options}, headers={"Idempotency-Key": key})


def counted(session):
    return int(session.run("sh", "-c", "cat count 2>/dev/null | wc -l"))


def is_replay(reply):
    return reply.headers.get("Idempotency-Replayed") == "true"


def assert_refused(reply, status, code):
    assert (reply.status, reply.json["code"]) == (status, code), reply.body
    return reply.json


def sleeper(session):
    """The process that SLOW waits for, or None."""
    return next((pid for pid, name in jail.processes(session.id).items() if name == "sleep"), None)


def wait_begun(session):
    until(lambda: sleeper(session), every_s=0.01)


def let_go(session):
    os.kill(sleeper(session), signal.SIGTERM)


def test_sent_again_it_is_done_once(session):
    first = send(session, "k1", COUNT)
    again = send(session, "k1", COUNT)
    assert first.status == again.status == 200
    assert first.json["results"][0]["stdout"] == "1\n"
    assert again.json == first.json
    assert is_replay(again) and not is_replay(first)
    assert send(session, "k2", COUNT).json["results"][0]["stdout"] == "2\n"
    assert counted(session) == 2


def test_output_of_any_bytes_is_answered_again(session):
    actions = {"action": "exec", "argv": ["printf", r"a\000b\377\033\177\r\n\342\200\250"]},
    first = send(session, "k1", *actions)
    assert first.json["results"][0]["stdout"] == "a\0b\ufffd\x1b\x7f\r\n\u2028"
    again = send(session, "k1", *actions)
    assert again.status == 200 and is_replay(again)
    assert again.json == first.json


def test_another_body_under_the_same_key(session):
    send(session, "k1", COUNT)
    assert_refused(send(session, "k1", COUNT, timeout_ms=30000), 422, "key_reused")
    assert counted(session) == 1


def test_what_failed_is_answered_again(session):
    """An action that failed after the list was begun is a result like any other."""
    fail = {"action": "launch", "app": "terminal", "args": []}
    actions = (COUNT, {"action": "exec", "argv": ["/no/such/program"]}, fail)
    first = send(session, "k1", *actions)
    assert first.status == 200 and not first.json["ok"] and first.json["done"] == 1
    again = send(session, "k1", *actions)
    assert again.json == first.json and is_replay(again)
    assert counted(session) == 1


def test_a_call_that_began_nothing_leaves_the_key(session):
    for refused in '{"actions": [{"action": "clickk"}]}', "{", '{"actions": [], "check_only": true}':
        session.agent.request("POST", f"{session.path}/act", refused, headers={"Idempotency-Key": "k1"})
    reply = send(session, "k1", COUNT)
    assert reply.status == 200 and not is_replay(reply)


def test_keys_belong_to_a_token(server, session):
    send(session, "k1", COUNT)
    other = server.api.request("POST", f"{session.path}/act", {"actions": [COUNT]}, headers={"Idempotency-Key": "k1"})
    assert other.json["results"][0]["stdout"] == "2\n" and not is_replay(other)


def test_sent_again_while_it_runs(session):
    """The second one waits for the first and has its results; a third with another body is refused at once."""
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(send, session, "k1", SLOW) for _ in range(3)]
        wait_begun(session)
        assert_refused(send(session, "k1", COUNT), 422, "key_reused")
        assert not any(call.done() for call in calls)
        late = send(session, "k2", {"action": "wait", "duration_ms": 0}, timeout_ms=50)
        assert_refused(late, 504, "timeout")
        let_go(session)
        replies = [call.result() for call in calls]
    assert [reply.json for reply in replies] == 3 * [replies[0].json]
    assert sorted(is_replay(reply) for reply in replies) == [False, True, True]
    assert counted(session) == 1


def act_bytes(session, key, *actions, api=None):
    return post(api or session.agent, f"{session.path}/act", json.dumps({"actions": list(actions)}), idempotency_key=key)


def test_it_runs_on_when_its_caller_leaves(session):
    with Wire(session.agent.address) as wire:
        wire.send(act_bytes(session, "k1", SLOW))
        wait_begun(session)
    let_go(session)
    reply = send(session, "k1", SLOW)
    assert reply.json["ok"] and reply.json["results"][0]["stdout"] == "1\n", reply.json
    assert is_replay(reply)


def test_without_a_key_it_is_cancelled(session):
    with Wire(session.agent.address) as wire:
        wire.send(post(session.agent, f"{session.path}/act", json.dumps({"actions": [SLOW]})))
        wait_begun(session)
    until(lambda: not sleeper(session))
    assert counted(session) == 1


def test_after_the_front_was_killed(make_server):
    """The record is the stage's: the same call, sent to a new front, has the results of the first."""
    server = make_server()
    session = server.api.new(image="minimal")
    with Wire(session.agent.address) as wire:
        wire.send(act_bytes(session, "k1", SLOW))
        wait_begun(session)
        os.kill(jail.part(jail.group_name(server), "glovebox-front"), signal.SIGKILL)
        assert wire.is_closed()
    let_go(session)
    reply = send(session, "k1", SLOW)
    assert reply.json["results"][0]["stdout"] == "1\n" and is_replay(reply)
    assert send(session, "k2", COUNT).json["results"][0]["stdout"] == "2\n"


def test_a_session_is_not_idle_meanwhile(make_server):
    """Neither for the front that was asked nor for the next one."""
    server = make_server()
    session = server.api.new(image="minimal", idle_s=2)
    with Wire(session.agent.address) as wire:
        wire.send(act_bytes(session, "k1", SLOW))
        wait_begun(session)
    lazy = server.api.new(image="minimal", idle_s=2)
    until(lambda: server.live_sessions() == {session.id})
    os.kill(jail.part(jail.group_name(server), "glovebox-front"), signal.SIGKILL)

    def new():
        with contextlib.suppress(OSError):
            return server.api.new(image="minimal", idle_s=2)
    late = until(new)
    until(lambda: late.id not in server.live_sessions())
    let_go(session)
    assert is_replay(send(session, "k1", SLOW)) and lazy.id not in server.live_sessions()


def test_revoking_the_token_stops_what_runs(server, session):
    """Calls under keys run on without their callers, but not without their token."""
    made = server.api.call("POST", f"{session.path}/tokens", {"role": "agent"})
    agent = Api(server.url, made["token"])
    with Wire(session.agent.address) as wire, Wire(session.agent.address) as behind:
        wire.send(act_bytes(session, "k1", SLOW, api=agent))
        wait_begun(session)
        behind.send(act_bytes(session, "k2", COUNT, api=agent))
    server.api.call("DELETE", f"{session.path}/tokens/{made['id']}")
    until(lambda: sleeper(session) is None)
    assert session.do("wait", duration_ms=1)["ok"] and counted(session) == 1


def test_the_picture_of_a_replay(session):
    """It is there for as long as the display shows the same frame, also among the results."""
    actions = ({"action": "move", "x": 100, "y": 100}, {"action": "screenshot", "region": {"x": 5, "y": 5, "width": 40, "height": 30}, "format": "webp"},
               {"action": "screenshot"})
    first = send(session, "k1", *actions, observe=True).json
    again = send(session, "k1", *actions, observe=True).json
    assert again == first and again["results"][1]["picture"]["width"] == 40
    session.do("move", x=200, y=200)
    session.shot()
    gone = send(session, "k1", *actions, observe=True).json
    for had in (*gone["results"][1:], gone["observation"]):
        assert had["picture"] is None and had["reason"] == "gone"
    assert gone["at"] == first["at"] and gone["observation"]["at"] == first["observation"]["at"]


def test_forms_of_a_key(session):
    """Quotes are the form of structured fields; without them the same key."""
    assert not is_replay(send(session, '"a \\" b"', COUNT))
    assert is_replay(send(session, 'a " b', COUNT))
    assert not is_replay(send(session, 255 * "k", COUNT))


def test_keys_that_are_refused(session):
    for key in "", '""', '"a', '"a" b', 256 * "k", '"' + 256 * "k" + '"', "k\u00e9", '"a\\b"':
        answer = ask(session.agent, post(session.agent, f"{session.path}/act", '{"actions": []}', idempotency_key=key))
        assert "Idempotency-Key" in assert_problem(answer, 400, "bad_request")["detail"]


def test_where_no_key_is_needed(server, session):
    """What may be repeated as it is takes a key and does not look at it."""
    key = {"Idempotency-Key": "k1"}
    for _ in range(2):
        assert session.agent.request("GET", session.path, headers=key).status == 200
        assert session.agent.request("POST", f"{session.path}/cancel", headers=key).status == 200
    assert [server.api.request("DELETE", session.path, headers=key).status for _ in range(2)] == [204, 204]


def test_a_key_that_would_not_be_honoured(server):
    answer = ask(server.api, post(server.api, "/v1/console", '{"code": "x"}', idempotency_key="k1"))
    assert_problem(answer, 422, "unsupported")
