# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of MCP that take long (case P12): cancelled in every way, with progress, beside others, and without who asked for them."""
import concurrent.futures
import json
import os
import re
import signal
import socket

import pytest

import jail
from api import Api
from conftest import until
from mcp import HOLD, LONG, MODERN, Client, close, held, image_of, kill, notification, request, runs, tell, tool
from terminal import RawTerminal

PROGRESS_MS = 5000


@pytest.fixture
def agent(session):
    return Client(session.agent)


WAYS = [("legacy, told", False, tell), ("legacy, closed", False, close), ("legacy, killed", False, kill), ("modern, closed", True, close),
        ("modern, killed", True, kill)]


@pytest.mark.parametrize("streams", [False, True], ids=["one answer", "a stream"])
@pytest.mark.parametrize("is_modern, cancel", [row[1:] for row in WAYS], ids=[row[0] for row in WAYS])
def test_cancel(session, is_modern, cancel, streams):
    """Keys are let go of at once, and the next call is done although the first had most of a minute to go."""
    client = Client(session.agent, MODERN if is_modern else None)
    if not is_modern:
        client.begin()
    message = tool("computer", {"actions": [HOLD, LONG], "timeout_ms": 300000}, **({"progressToken": "p"} if streams else {}))
    post = client.start(message)
    if streams:
        post.begin()
        assert post.event()["params"]["progressToken"] == "p"
    until(lambda: held(session)["keys"])
    cancel(client, post, message)
    until(lambda: held(session) == {"keys": [], "buttons": []})
    # What it would still wait for is more than this call has.
    result = client.call("computer", {"actions": [{"action": "cursor_position"}], "timeout_ms": 20000})
    assert image_of(result)[1].size == (1280, 800)


@pytest.mark.parametrize("cancel", [tell, close, kill])
def test_cancelled_typing_stops(session, cancel):
    """20,000 characters, cancelled once some are on the screen: nothing comes after that."""
    raw = RawTerminal(session, "echo")
    session.do("wait_settled")
    before = session.shot().tobytes()
    client = Client(session.agent).begin()
    message = tool("computer", {"actions": [{"action": "type", "text": "x" * 20000, "delay_ms": 5}], "timeout_ms": 300000})
    post = client.start(message)
    until(lambda: session.shot().tobytes() != before)
    cancel(client, post, message)
    assert session.do("wait_settled", quiet_ms=500)["settled"] is True
    first = len(raw.bytes())
    session.do("wait_settled", quiet_ms=500)
    assert 0 < len(raw.bytes()) == first < 20000
    assert held(session) == {"keys": [], "buttons": []}


def test_progress(agent):
    """How many of the actions are done; between them, that time passes. Each number is larger than the one before."""
    message = tool("computer", {"actions": [{"action": "wait", "duration_ms": 10}, {"action": "wait", "duration_ms": PROGRESS_MS + 2000}, {"action": "wait", "duration_ms": 10}],
                                "look": False}, progressToken=17)
    reply = agent.post(message)
    assert reply.type == "text/event-stream" and reply.headers["x-accel-buffering"] == "no"
    told = [entry["params"] for entry in reply.messages[:-1]]
    assert all(entry["method"] == "notifications/progress" for entry in reply.messages[:-1])
    assert all(entry["progressToken"] == 17 and entry["total"] == 3 for entry in told)
    assert [entry["progress"] for entry in told if isinstance(entry["progress"], int)] == [0, 1, 2]
    between = [entry for entry in told if 1 < entry["progress"] < 2]
    assert between and re.fullmatch(r"1 of 3 actions done, [5-9] s", between[0]["message"])
    assert sorted({entry["progress"] for entry in told}) == [entry["progress"] for entry in told]
    assert reply.message["id"] == message["id"] and reply.result["structuredContent"]["done"] == 3


def test_progress_of_what_is_no_list(server):
    reply = Client(server.api).post(tool("session_create", {"image": "minimal"}, progressToken="c"))
    Client(server.api).call("session_end", {"session_id": reply.result["structuredContent"]["session_id"]})
    assert all(entry["params"]["progressToken"] == "c" for entry in reply.messages[:-1])


def results(session):
    lines = session.api.request("GET", f"{session.path}/journal").body.decode().splitlines()
    return [line for line in lines if json.loads(line)["event"] == "result"]


def test_progress_that_nobody_reads_is_dropped(session):
    """It waits up to 64 KB; the answer, which comes last, is not lost."""
    count, before = 256, len(results(session))
    post = Client(session.agent).start(tool("computer", {"actions": [{"action": "cursor_position"}] * count, "look": False}, progressToken="p" * 1000))
    post.wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    until(lambda: len(results(session)) == before + count)
    post.begin()
    messages = list(iter(post.event, None))
    told = [message["params"]["progress"] for message in messages[:-1]]
    assert messages[-1]["result"]["structuredContent"]["done"] == count
    assert told[0] == 0 and told == sorted(set(told)) and 64 <= len(told) < count - 20, len(told)


def test_nobody_asked_for_progress(agent):
    assert agent.post(tool("computer", {"actions": [{"action": "wait", "duration_ms": 50}], "look": False})).type == "application/json"


def test_a_long_call_becomes_a_stream(agent):
    """After 15 seconds, with comments that keep it alive; the answer comes all the same. A client that takes JSON alone gets that."""
    waits = tool("computer", {"actions": [{"action": "wait", "duration_ms": 22000}], "look": False, "timeout_ms": 60000})
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        other = pool.submit(agent.post, tool("run_command", {"argv": ["true"]}), {"Accept": "application/json"})
        reply = agent.post(waits)
        assert reply.type == "text/event-stream" and reply.result["structuredContent"]["done"] == 1
        assert len(reply.messages) == 1 and b"\n:\n\n" in b"\n" + reply.body.split(b"event:")[0]
        assert (other.result().type, other.result().result["structuredContent"]["exit_code"]) == ("application/json", 0)


def test_two_minutes_and_others_meanwhile(session):
    """Two waits of a minute: pictures, states, lists and other sessions do not wait behind them; a call that acts does."""
    client = Client(session.agent).begin()
    message = tool("computer", {"actions": [LONG, LONG], "timeout_ms": 300000})
    post = client.start(message)
    until(lambda: runs(session))
    for _ in range(3):
        assert client.post(request("ping")).result == {}
        assert client.call("session_get")["structuredContent"]["state"] == "ready"
        session.shot()
    assert "timeout" in client.fail("computer", {"timeout_ms": 300})
    assert Client(session.api).call("session_list")["structuredContent"]["sessions"]
    tell(client, post, message)


def test_only_who_asked_can_take_it_back(server, session):
    """Not another client with the same token, nor the same client under another session, nor without one."""
    first, second, bare = Client(session.agent).begin(), Client(session.agent).begin(), Client(session.agent)
    stranger = Client(server.api).begin()
    message = tool("computer", {"actions": [HOLD], "timeout_ms": 300000}, id_="mine")
    post = first.start(message)
    until(lambda: held(session)["keys"])
    for other in (second, bare, stranger):
        assert other.post(notification("notifications/cancelled", {"requestId": "mine"})).status == 202
    stolen = Client(server.api)
    stolen.headers = first.headers
    assert stolen.post(notification("notifications/cancelled", {"requestId": "mine"})).status == 404
    assert first.post(notification("notifications/cancelled", {"requestId": "other"})).status == 202
    assert held(session)["keys"]
    # Its id is taken as long as it is at work, in this session of the client alone.
    assert first.post(request("tools/call", {"name": "session_get"}, "mine")).error["code"] == -32600
    assert second.post(request("tools/call", {"name": "session_get"}, "mine")).result["structuredContent"]["state"] == "ready"
    assert held(session)["keys"]
    tell(first, post, message)
    until(lambda: not held(session)["keys"])


def test_the_end_of_a_client_session_ends_its_calls(session):
    client = Client(session.agent).begin()
    post = client.start(tool("computer", {"actions": [HOLD], "timeout_ms": 300000}))
    until(lambda: held(session)["keys"])
    assert session.agent.request("DELETE", "/mcp", headers=client.headers).status == 204
    until(lambda: not held(session)["keys"])
    assert post.reply().messages == []


def test_a_revoked_token_stops(server, session):
    for streams in (False, True):
        made = server.api.call("POST", f"{session.path}/tokens", {"role": "agent"})
        client = Client(Api(server.url, made["token"]))
        post = client.start(tool("computer", {"actions": [HOLD], "timeout_ms": 300000}, **({"progressToken": 1} if streams else {})))
        if streams:
            post.begin()
        until(lambda: held(session)["keys"])
        server.api.call("DELETE", f"{session.path}/tokens/{made['id']}")
        until(lambda: not held(session)["keys"])
        post.close()


def test_a_session_that_ends_under_a_call(server, make_session):
    session = make_session()
    client = Client(session.agent)
    post = client.start(tool("computer", {"actions": [LONG]}))
    until(lambda: runs(session))
    session.end()
    assert post.reply().result["isError"] is True
    assert "session_gone" in client.fail("computer") or "is ended" in client.fail("computer")


def test_a_stage_that_is_killed_under_a_call(server, make_session):
    """The model is not told that nothing was done, when keys may have been pressed."""
    session = make_session()
    post = Client(session.agent).start(tool("computer", {"actions": [LONG]}))
    until(lambda: runs(session))
    os.kill(jail.stage_of(session), signal.SIGKILL)
    assert post.reply().result["content"][0]["text"] == ("Some of it may have been done.\nsession_gone: the session is failed: stage_died; "
                                                         "what was done of the call is not known")
    assert "Nothing was done." in Client(session.agent).fail("computer")


def test_a_create_that_nobody_waits_for_leaves_nothing(server):
    before = server.live_sessions()
    for streams in (False, True):
        post = Client(server.api).start(tool("session_create", {"image": "minimal"}, **({"progressToken": 1} if streams else {})))
        until(lambda: len(server.api.call("GET", "/v1/sessions?state=starting,ready")["sessions"]) > len(before))
        post.close()
        until(lambda: server.live_sessions() == before)
