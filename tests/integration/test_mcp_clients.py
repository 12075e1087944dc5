# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions driven by the official MCP clients, over HTTP and over `glovebox mcp`, in both eras; and the inspector's checks of the tools."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from api import picture_of
from conftest import BUILD, until
from mcp_clients import Client, Failed, npm, pictures
from mcp_lines import Lines, hello, request
from readme import block
from test_front_kills import front_pid, new_front
from tls import make_certificate
from terminal import RawTerminal

# How a client finds out which era a server is of, and what it then speaks.
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "pinned": "2026-07-28"}
ASKED = {"legacy": "legacy", "auto": "auto", "pinned": {"pin": "2026-07-28"}}
TOOLS = ["computer", "run_command", "read_file", "write_file", "list_files", "session_create", "session_list", "session_get", "session_end"]
NOTHING_HELD = {"keys": [], "buttons": []}
LONG = "0123456789" * 5000


@pytest.fixture
def make_client(tmp_path):
    """Clients that end with the test."""
    made = []

    def make(package="now"):
        made.append(Client(tmp_path / f"client{len(made)}", package))
        return made[-1]

    yield make
    for client in made:
        client.finish()


def connected(make_client, server, transport, mode, package="now", words=()):
    """A client of this kind, connected to the server; it must speak the revision of its mode."""
    client = make_client(package)
    if transport == "http":
        about = client.connect_http(server, ASKED[mode])
    else:
        about = client.connect_stdio(server, *words, mode=ASKED[mode])
    assert about["server"]["name"] == "glovebox"
    if about.get("version"):
        assert about["version"] == MODES[mode]
    return client


KINDS = [pytest.param(transport, mode, package, id=f"{transport}-{mode}-{package}")
         for transport in ("http", "stdio") for mode, package in [*((mode, "now") for mode in MODES), ("legacy", "before")]]


@pytest.mark.parametrize("transport, mode, package", KINDS)
def test_a_session_from_its_making_to_its_end(server, make_client, transport, mode, package):
    """Made, looked at, clicked and typed into, with what was typed read back and the picture compared with the API's own; ended."""
    client = connected(make_client, server, transport, mode, package)
    assert [tool["name"] for tool in client.do("tools")] == TOOLS
    made, _ = client.tool("session_create", image="minimal", apps=["terminal"])
    name = made["session_id"]
    try:
        assert (made["state"], [one["app"] for one in made["apps"]]) == ("ready", ["terminal"])
        state, shown = client.tool("computer", session_id=name, actions=[
            {"action": "click", "x": 400, "y": 300}, {"action": "type", "text": "echo gr\u00fcn >seen; clear\n"}])
        assert (state["ok"], state["done"], [one["ok"] for one in state["results"]]) == (True, 2, [True, True])
        assert [picture.size for picture in shown] == [(state["space"]["width"], state["space"]["height"])]
        ran, _ = client.tool("run_command", session_id=name, command="cat seen")
        assert (ran["stdout"], ran["exit_code"]) == ("grün\n", 0)
        # The terminal's caret blinks: of some looks one is the same.
        until(lambda: client.tool("computer", session_id=name)[1][0].tobytes() == picture(server.api, name).tobytes())
        assert [one["session_id"] for one in client.tool("session_list")[0]["sessions"]] == [name]
    finally:
        ended, _ = client.tool("session_end", session_id=name)
    assert ended == {"session_id": name, "state": "ended"}
    assert server.api.call("GET", f"/v1/sessions/{name}")["state"] == "ended"
    client.close()


def picture(api, name):
    reply = api.request("GET", f"/v1/sessions/{name}/screenshot")
    assert reply.status == 200
    return picture_of(reply.body)


@pytest.mark.parametrize("transport, mode, package", KINDS)
def test_a_long_type_tells_how_far_it_is_and_can_be_cancelled(server, session, make_client, transport, mode, package):
    """Cancelled by the client it stops at once and lets go of all keys; the next call is answered promptly and the server is there."""
    raw = RawTerminal(session, "echo")
    client = connected(make_client, server, transport, mode, package)
    call = client.begin("call", name="computer", progress=True, args={"session_id": session.id, "actions": [
        {"action": "key_down", "keys": "shift"}, {"action": "key_up", "keys": "shift"}, {"action": "type", "text": LONG, "delay_ms": 5}]})
    wait_typing(client, call, 2, raw)
    client.do("abort", call=call)
    with pytest.raises(Failed):
        client.end(call)
    until(lambda: server.api.call("GET", session.path)["held"] == NOTHING_HELD)
    started = time.monotonic()
    state, shown = client.tool("computer", session_id=session.id)
    assert state["ok"] and len(shown) == 1 and time.monotonic() - started < 5
    typed = raw.bytes()
    assert 0 < len(typed) < len(LONG) and LONG.encode().startswith(typed)
    until(lambda: steady(raw))
    told = [one["progress"] for one in client.progress[call]]
    assert told == sorted(set(told))
    client.close()


def wait_typing(client, call, done, raw):
    """Waits until it is at the action after `done`, and text shows."""
    client.wait(lambda: [one for one in client.progress.get(call, []) if one["progress"] >= done])
    before = raw.session.shot().tobytes()
    until(lambda: raw.session.shot().tobytes() != before)


def steady(raw):
    """Nothing is typed any more: what came while one command ran is all."""
    before = raw.bytes()
    raw.session.run("true")
    return raw.bytes() == before


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_client_that_is_killed_while_it_types(server, session, make_client, transport, mode):
    """SIGKILL of the client, with a key held by the list that runs: it stops, the key is let go, others go on."""
    raw = RawTerminal(session, "echo")
    client = connected(make_client, server, transport, mode)
    call = client.begin("call", name="computer", progress=True, args={"session_id": session.id, "actions": [
        {"action": "mouse_down", "button": "left", "x": 5, "y": 700}, {"action": "type", "text": LONG, "delay_ms": 5}]})
    wait_typing(client, call, 1, raw)
    client.kill()
    until(lambda: server.api.call("GET", session.path)["held"] == NOTHING_HELD, within_s=5)
    until(lambda: steady(raw))
    assert 0 < len(raw.bytes()) < len(LONG)
    assert session.act({"action": "move", "x": 10, "y": 10})["ok"]


@pytest.mark.parametrize("mode", ["legacy", "pinned"])
def test_a_front_that_dies_under_a_client(make_server, make_client, mode):
    """What runs is answered with an error and stops; the next call is done by the new front, which has never seen this client."""
    server = make_server()
    session = server.api.new(image="minimal")
    client = connected(make_client, server, "stdio", mode, words=["--session", session.id])
    call = client.begin("call", name="computer", progress=True, args={"actions": [
        {"action": "mouse_down", "button": "left", "x": 5, "y": 700}, {"action": "wait", "duration_ms": 60000}]})
    client.wait(lambda: client.progress.get(call))
    pid = front_pid(server)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(Failed, match="broke off|no answer from the Glovebox server"):
        client.end(call)
    new_front(server, pid)
    until(lambda: server.api.call("GET", session.path)["held"] == NOTHING_HELD)
    state, shown = client.tool("computer", actions=[{"action": "move", "x": 30, "y": 30}])
    assert state["ok"] and len(shown) == 1
    client.close()
    session.end()


@pytest.mark.parametrize("mode", MODES)
def test_one_line_makes_a_session_of_its_own(server, make_client, mode):
    """`glovebox mcp --new`: one session, whose token opens nothing else and need not be named; it ends with its client."""
    before = server.live_sessions()
    client = connected(make_client, server, "stdio", mode, words=["--new", "--image", "minimal"])
    assert "session_create" not in [tool["name"] for tool in client.do("tools")]
    made = until(lambda: server.live_sessions() - before)
    assert len(made) == 1
    state, shown = client.tool("computer", actions=[{"action": "move", "x": 30, "y": 30}])
    assert state["ok"] and len(shown) == 1
    assert client.tool("run_command", argv=["id", "-un"])[0]["exit_code"] == 0
    other = server.api.new(image="minimal")
    refused = client.do("call", name="computer", args={"session_id": other.id})
    assert refused["isError"] and pictures(refused) == []
    other.end()
    closed = client.close()
    assert closed["ms"] < 2000  # then the client would send a signal
    assert not made & server.live_sessions()


@pytest.mark.parametrize("mode", MODES)
def test_one_line_opens_a_session_that_is_there(server, session, make_client, mode):
    client = connected(make_client, server, "stdio", mode, words=["--session", session.id])
    assert client.tool("run_command", command="pwd")[0]["stdout"] == "/home/user\n"
    names = [token["name"] for token in server.api.call("GET", f"{session.path}/tokens")["tokens"] if token.get("name")]
    assert names == ["glovebox mcp"]
    client.close()
    until(lambda: not [token for token in server.api.call("GET", f"{session.path}/tokens")["tokens"] if token.get("name")])
    assert session.id in server.live_sessions()


def test_by_tls_and_by_a_unix_socket(make_server, tmp_path):
    """`glovebox mcp` finds the server as all commands do; a certificate that is not known is told with what mends it."""
    pair = make_certificate(tmp_path)
    server = make_server("--listen", f"unix:{tmp_path}/s", "--tls-cert", pair[0], "--tls-key", pair[1])
    for url, words in ((server.url, ["--cacert", pair[0]]), (f"unix:{tmp_path}/s", [])):
        lines = Lines(url, server.state / "operator.token", *words)
        lines.start()
        assert [tool["name"] for tool in lines.ask(request(1, "tools/list"))["result"]["tools"]] == TOOLS
        assert lines.close() == []
    lines = Lines(server.url, server.state / "operator.token")
    assert "--cacert FILE names the certificate" in lines.ask(hello())["error"]["message"]
    assert lines.close() == []


def test_config_of_the_page(server, make_client):
    """The entry as it stands there, started by the official client: a desktop with Firefox, which ends with the client."""
    entry = json.loads(block("mcp"))["mcpServers"]["glovebox"]
    for mode in ("legacy", "auto"):
        client, before = make_client(), server.live_sessions()
        client.do("connect", mode=mode, command=entry["command"], args=entry["args"], env={
            "PATH": f"{BUILD}:{os.environ['PATH']}", "GLOVEBOX_SERVER": server.url, "GLOVEBOX_TOKEN_FILE": str(server.state / "operator.token")})
        state, shown = client.tool("computer", actions=[{"action": "windows"}])
        assert [window["app"] for window in state["results"][0]["windows"]] == ["firefox"] and shown[0].size == (1280, 800)
        made, = server.live_sessions() - before
        assert server.api.call("GET", f"/v1/sessions/{made}")["image"] == "desktop"
        client.close()
        assert made not in server.live_sessions()


def test_config_of_the_page_for_http(server, session, make_client):
    entry = json.loads(block("mcp-http"))["mcpServers"]["glovebox"]
    assert entry["type"] == "http" and entry["url"] == "http://127.0.0.1:7070/mcp"
    scheme, token = entry["headers"]["Authorization"].split(" ")
    assert (scheme, token) == ("Bearer", "TOKEN")
    client = make_client()
    client.do("connect", mode="legacy", url=entry["url"].replace("http://127.0.0.1:7070", server.url), token=session.tokens["agent"])
    assert client.tool("run_command", argv=["echo", "here"])[0]["stdout"] == "here\n"
    client.close()


def inspect(server, *words, status=0):
    """The official inspector, as a command; its JSON and what it says beside it."""
    done = npm.run("mcp-inspector", "--cli", f"{server.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {server.api.token}",
                   *words, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == status, (done.stdout, done.stderr)
    return json.loads(done.stdout), done.stderr


def test_inspector_finds_no_tool_that_a_client_would_drop(server):
    listed, said = inspect(server, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == TOOLS
    assert not re.search(r"error|warning", said, re.I), said


def test_inspector_calls_a_tool(server, session):
    result, _ = inspect(server, "--method", "tools/call", "--tool-name", "run_command", "--tool-arg", f"session_id={session.id}",
                        "command=echo from the inspector")
    assert result["structuredContent"]["stdout"] == "from the inspector\n"
    result, _ = inspect(server, "--method", "tools/call", "--tool-name", "computer", "--tool-arg", f"session_id={session.id}")
    assert [shown.size for shown in pictures(result)] == [(1280, 800)]


def test_no_token_comes_through_a_tool(server, make_client):
    """Of all that a client gets in a session's life nothing is a token."""
    client = make_client()
    client.connect_http(server)
    made = client.do("call", name="session_create", args={"image": "minimal"})
    name = made["structuredContent"]["session_id"]
    seen = [made] + [client.do("call", name=tool, args={"session_id": name}) for tool in ("session_get", "computer", "session_end")]
    seen += [client.do("call", name="session_list", args={"ended": True}), client.do("tools")]
    text = json.dumps([{**one, "content": [item for item in one["content"] if item["type"] != "image"]} if isinstance(one, dict) else one
                       for one in seen])
    assert server.api.token not in text and not re.search(r"gb[a-z]_[A-Za-z0-9_-]{20}", text), text
