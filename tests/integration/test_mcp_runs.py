# SPDX-License-Identifier: GPL-2.0-or-later
"""What calls of MCP leave behind: in the counters and the log, as those by the API do; in sessions that nobody has heard of; and what is told of
one before it runs."""
import re

from conftest import until
from mcp import LONG, MODERN, Client, request, runs, tool


def refusals(server):
    """How many there were, by code."""
    text = server.api.request("GET", "/metrics").body.decode()
    return {code: float(count) for code, count in re.findall(r'^glovebox_refusals_total\{code="(\w+)"\} (\S+)$', text, re.M)}


def test_refusals_are_counted(server, session, make_session):
    """Whether the front refuses a call or its session does, each is counted once."""
    agent, owner = Client(session.agent), Client(server.api)
    gone = make_session()
    gone.end()
    for code, client, name, arguments in [
            ("forbidden", agent, "computer", {"session_id": "s" * 16}), ("not_found", owner, "session_get", {"session_id": "s" * 16}),
            ("missing_field", owner, "session_end", {}), ("session_gone", owner, "run_command", {"session_id": gone.id, "command": "id"}),
            ("unknown_field", owner, "session_list", {"colour": 1}), ("no_image", owner, "session_create", {"image": "nothing"}),
            ("unknown_action", agent, "computer", {"actions": [{"action": "clik"}]}), ("bad_field", agent, "run_command", {})]:
        before = refusals(server).get(code, 0)
        assert code in client.fail(name, arguments)
        assert refusals(server).get(code, 0) == before + 1, code


def lines_of(server, request_id):
    """The fields of what the log says of one request, the tools' first."""
    lines = [line for line in server.log_text().splitlines() if f"request={request_id}" in line]
    return [(re.search(r" glovebox-front (\w+) ", line)[1], dict(re.findall(r'(\w+)=(\S+)', line))) for line in lines]


def test_the_log_says_which_tool_was_called(server, session):
    client = Client(session.agent)
    reply = client.post(tool("run_command", {"command": "id"}))
    refused = client.post(tool("computer", {"session_id": "s" * 16}))
    told = until(lambda: (lines := lines_of(server, reply.headers["x-request-id"])) and len(lines) == 2 and lines)
    assert [message for message, _ in told] == ["called", "answered"]
    assert (told[0][1]["tool"], told[0][1]["session"], told[0][1]["role"]) == ("run_command", session.id, "agent")
    assert told[0][1]["token"] == told[1][1]["token"] and told[0][1]["code"] == "-"
    told = until(lambda: (lines := lines_of(server, refused.headers["x-request-id"])) and len(lines) == 2 and lines)
    assert (told[0][1]["tool"], told[0][1]["code"], told[0][1]["session"]) == ("computer", "forbidden", "-")


def test_a_batch_that_nobody_waits_for_leaves_no_session(server):
    """Neither the one that was made first, whose answer waits for that of the second, nor the second."""
    before = server.live_sessions()
    post = Client(server.api).start([tool("session_create", {"image": "minimal"}, 1), tool("session_create", {"image": "minimal"}, 2)])
    until(lambda: len(server.api.call("GET", "/v1/sessions?state=starting,ready")["sessions"]) == len(before) + 2)
    post.close()
    until(lambda: server.live_sessions() == before)


def test_a_batch_that_is_heard_of_leaves_its_sessions(server):
    before = server.live_sessions()
    reply = Client(server.api).post([tool("session_create", {"image": "minimal"}, n) for n in (1, 2)])
    made = [message["result"]["structuredContent"]["session_id"] for message in reply.messages]
    assert sorted(server.live_sessions()) == sorted([*before, *made])
    for id_ in made:
        Client(server.api).call("session_end", {"session_id": id_})


def test_progress_grows_while_a_call_waits_for_its_turn(session):
    """From what is told of it before it runs to what its session tells of it."""
    first = Client(session.agent).start(tool("computer", {"actions": [{"action": "wait", "duration_ms": 7000}], "look": False}))
    until(lambda: runs(session))
    waits = {"actions": [{"action": "wait", "duration_ms": 10}] * 2, "look": False, "timeout_ms": 60000}
    reply = Client(session.agent).post(tool("computer", waits, progressToken="w"))
    told = [entry["params"]["progress"] for entry in reply.messages[:-1]]
    assert 0 < told[0] < 1 and told[-1] == 1
    assert told == sorted(set(told)), told
    assert first.reply().result["structuredContent"]["ok"] is True


def test_too_many_is_said_in_a_code_of_our_own(session):
    """Those from -32768 to -32000 are of JSON-RPC and MCP."""
    batch = [tool("computer", {"actions": [LONG], "look": False}, 1)]
    posts = [Client(session.agent).start(batch) for _ in range(8)]
    late = until(lambda: (reply := Client(session.agent).post([request("ping")])).status == 429 and reply)
    assert late.error["code"] == -31003 and int(late.headers["retry-after"]) > 0
    for post in posts:
        post.close()
    until(lambda: Client(session.agent, MODERN).post(request("tools/list")).status == 200)


def test_an_agent_ends_its_own_session(make_session):
    """It hears of that, and can act no more."""
    for version in (None, MODERN):
        session = make_session()
        client = Client(session.agent, version)
        assert client.call("session_end")["structuredContent"] == {"session_id": session.id, "state": "ended"}
        assert "session_gone" in client.fail("computer")
