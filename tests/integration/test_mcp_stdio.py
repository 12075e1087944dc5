# SPDX-License-Identifier: GPL-2.0-or-later
"""`glovebox mcp`: what it makes of lines and of a server's answers. The server here is a stand-in that can answer in any way."""
import base64
import contextlib
import http.server
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import threading
import time

import pytest

from conftest import BUILD, FAILED, until
from mcp_lines import LEGACY, META, MODERN, Lines, hello, modern, notification, request

TOKEN = "t" * 40
TOOLS = {"tools": [{"name": "go", "inputSchema": {"type": "object", "properties": {
    "session_id": {"type": "string", "x-mcp-header": "Session"},
    "where": {"type": "object", "properties": {"fast": {"type": "boolean", "x-mcp-header": "Fast"}}}}}}]}


class Seen:
    """One request as it came, to be answered."""

    def __init__(self, handler):
        self.handler = handler
        self.method = handler.command
        self.path = handler.path
        self.headers = handler.headers
        length = int(handler.headers.get("Content-Length") or 0)
        self.body = handler.rfile.read(length)
        self.message = json.loads(self.body) if self.body else None
        self.id = isinstance(self.message, dict) and self.message.get("id")
        self.what = isinstance(self.message, dict) and self.message.get("method")

    def send(self, status, body=b"", kind="application/json", **headers):
        self.handler.send_response(status)
        if body:
            self.handler.send_header("Content-Type", kind)
        self.handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(body)

    def answer(self, result, **headers):
        self.send(200, json.dumps({"jsonrpc": "2.0", "id": self.id, "result": result}).encode(), **headers)

    def refuse(self, status, code, message, id_=None):
        self.send(status, json.dumps({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}).encode())

    def stream(self):
        """Begins an SSE reply, which ends with the connection."""
        self.handler.close_connection = True
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.handler.end_headers()

    def event(self, message, indent=None):
        text = json.dumps(message, indent=indent)
        self.handler.wfile.write(b": a comment\nid: 1\nevent: message\n" + b"".join(b"data: %s\r\n" % line.encode() for line in text.split("\n")) + b"\r\n")
        self.handler.wfile.flush()

    def wait_gone(self, within_s=20):
        """The seconds until the client closes the connection."""
        started = time.monotonic()
        self.handler.connection.settimeout(within_s)
        assert self.handler.rfile.read(1) == b""
        self.handler.close_connection = True
        return time.monotonic() - started


class StandIn:
    """An HTTP server on loopback that hands each request to a function of the test."""

    def __init__(self, answer, port=0):
        self.seen = []
        self.faults = []
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                seen = Seen(self)
                stand_in.seen.append(seen)
                try:
                    answer(seen)
                except Exception as fault:  # shown by `close`, in the test's own thread
                    stand_in.faults.append(fault)
                    self.close_connection = True

            do_POST = do_DELETE = do_GET = do_PATCH = serve

            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def posts(self, what):
        return [seen for seen in self.seen if seen.what == what]


@pytest.fixture
def connect(tmp_path, request):
    """connect(answer, *words): a stand-in that answers so, and a `glovebox mcp` at it."""
    if not (BUILD / "glovebox").exists():
        pytest.fail("build/glovebox is not built")
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    made = []

    def make(answer, *words, **options):
        server = StandIn(answer)
        lines = Lines(server.url, token, *words, **options)
        made.append((server, lines))
        return server, lines

    yield make
    for server, lines in made:
        if request.node.stash.get(FAILED, False):
            lines.kill()
        elif lines.process.poll() is None:
            lines.close()
        server.stop()
        assert server.faults == []
        # A token is nowhere but in the header.
        assert TOKEN.encode() not in lines.stderr


def legacy_server(seen, version=LEGACY, session="mcp-1"):
    """Answers what begins a legacy session, and anything else with its method's name."""
    if seen.method == "DELETE":
        seen.send(204)
    elif seen.what == "initialize":
        seen.answer({"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}, Mcp_Session_Id=session)
    elif seen.id is None:
        seen.send(202)
    else:
        seen.answer({"was": seen.what})


def test_one_line_each_way_and_nothing_else(connect):
    """Pretty JSON becomes one line; blank lines are nothing; a line that is no JSON is answered and the next one is taken."""
    def answer(seen):
        seen.send(200, json.dumps({"jsonrpc": "2.0", "id": seen.id, "result": {"text": "a\nb", "ü": [1, 2]}}, indent=2).encode())

    _, lines = connect(answer)
    lines.send("", "  \r", json.dumps(request("x", "any")) + "\r")
    assert lines.lines.get(timeout=20) == '{   "jsonrpc": "2.0",   "id": "x",   "result": {     "text": "a\\nb",     "\\u00fc": [       1,       2     ]   } }\n'.encode()
    lines.send('{"jsonrpc": "2.0", "id": 1, "method": "a", "method": "b"}')
    fault = lines.next()
    assert fault["id"] is None and fault["error"]["code"] == -32700
    assert lines.ask(request(2, "any"))["result"]["text"] == "a\nb"
    lines.process.stdin.write(json.dumps(request(3, "last")).encode())  # without a newline
    assert [message["id"] for message in lines.close()] == [3]


def test_a_message_that_is_too_long_is_refused_and_the_next_one_taken(connect):
    server, lines = connect(lambda seen: seen.answer({}))
    lines.send(json.dumps(request(1, "any", text="x" * (3 << 20))))
    refused = lines.next()
    assert refused["id"] is None and refused["error"] == {"code": -32600, "message": "the message is longer than a request may be"}
    assert lines.ask(request(2, "any", text="y" * 1000000))["result"] == {}
    assert [len(seen.message["params"]["text"]) for seen in server.seen] == [1000000]


def test_the_era_with_sessions(connect):
    """Version and session of initialize go with what follows; a notification is taken before the next request is sent; it ends with DELETE."""
    order = []

    def answer(seen):
        order.append(f"{seen.what} begins")
        if seen.what == "notifications/initialized":
            assert not select.select([], [], [], 0.2)[0]  # the next one must not overtake it
        legacy_server(seen)
        order.append(f"{seen.what} ends")

    server, lines = connect(answer)
    assert lines.ask(hello())["result"]["protocolVersion"] == LEGACY
    lines.send(notification("notifications/initialized"), request(1, "tools/list"))
    assert lines.next() == {"jsonrpc": "2.0", "id": 1, "result": {"was": "tools/list"}}
    assert lines.close() == []
    assert order.index("notifications/initialized ends") < order.index("tools/list begins")
    first, *others = server.seen
    assert (first.headers["MCP-Protocol-Version"], first.headers["Mcp-Session-Id"]) == (None, None)
    assert [(seen.headers["MCP-Protocol-Version"], seen.headers["Mcp-Session-Id"]) for seen in others] == [(LEGACY, "mcp-1")] * 3
    assert [seen.method for seen in server.seen] == ["POST", "POST", "POST", "DELETE"]
    for seen in server.seen:
        assert seen.path == "/mcp" and seen.headers["Authorization"] == f"Bearer {TOKEN}"
        assert seen.headers["Accept"] == "application/json, text/event-stream" and seen.headers["Mcp-Method"] is None


def test_a_server_that_has_forgotten_the_session_is_greeted_anew(connect):
    sessions = []

    def answer(seen):
        if seen.what == "initialize":
            sessions.append(f"mcp-{len(sessions)}")
            legacy_server(seen, session=sessions[-1])
        elif seen.headers["Mcp-Session-Id"] != sessions[-1] or seen.what == "always":
            seen.refuse(404, -32001, "no such session")
        else:
            legacy_server(seen)

    server, lines = connect(answer)
    lines.start()
    lines.ask(request(0, "ping"))
    sessions.append("lost")
    assert lines.ask(request(1, "again"))["result"] == {"was": "again"}
    assert [seen.what for seen in server.seen[3:]] == ["again", "initialize", "notifications/initialized", "again"]
    assert server.seen[4].message == hello()
    # Only once: a 404 that stays is told.
    assert lines.ask(request(2, "always"))["error"] == {"code": -32001, "message": "no such session"}
    assert lines.ask(request(3, "ping"))["result"] == {"was": "ping"}


@pytest.mark.parametrize("name, said", [("go", "go"), ("a b", "a b"), (" x", "=?base64?IHg=?="), ("grün", "=?base64?Z3LDvG4=?="),
                                        ("a\r\nX: y", "=?base64?YQ0KWDogeQ==?="), ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?=")])
def test_headers_of_the_stateless_era(connect, name, said):
    server, lines = connect(lambda seen: seen.answer({}))
    lines.ask(modern(1, "tools/call", name=name))
    lines.ask(modern(2, "resources/read", uri=name))
    lines.ask(modern(3, "tools/list"))
    lines.ask(request(4, "server/discover"))  # the server is to say what is missing
    assert [(seen.headers["MCP-Protocol-Version"], seen.headers["Mcp-Method"], seen.headers["Mcp-Name"]) for seen in server.seen] == [
        (MODERN, "tools/call", said), (MODERN, "resources/read", said), (MODERN, "tools/list", None), (None, "server/discover", None)]
    assert server.seen[0].headers["X"] is None


def test_arguments_that_go_into_headers(connect):
    """What the list of tools says; a client that never asked for the list gets it asked for."""
    def answer(seen):
        if seen.what == "tools/list":
            seen.answer(TOOLS)
        elif seen.headers["Mcp-Param-Session"] != seen.message["params"]["arguments"]["session_id"]:
            seen.refuse(400, -32020, "the header Mcp-Param-Session is missing", seen.id)
        else:
            seen.answer({"ok": True})

    server, lines = connect(answer)
    call = modern(1, "tools/call", name="go", arguments={"session_id": "s1", "where": {"fast": True}})
    assert lines.ask(call)["result"] == {"ok": True}
    assert [seen.what for seen in server.seen] == ["tools/call", "tools/list", "tools/call"]
    assert server.seen[1].message["params"] == {"_meta": call["params"]["_meta"]} and server.seen[1].headers["Mcp-Method"] == "tools/list"
    assert lines.ask({**call, "id": 2})["result"] == {"ok": True}
    assert server.seen[3].headers["Mcp-Param-Fast"] == "true"
    # A header that stays wrong is told.
    assert lines.ask(modern(3, "tools/call", name="go", arguments={"session_id": 5}))["error"]["code"] == -32020


def test_a_client_that_tries_both_eras(connect):
    """server/discover first, then initialize, when the server knows the old era alone."""
    def answer(seen):
        if seen.what == "server/discover":
            seen.refuse(200, -32601, "no such method", seen.id)
        else:
            legacy_server(seen)

    server, lines = connect(answer)
    assert lines.ask(modern("probe", "server/discover"))["error"]["code"] == -32601
    lines.start()
    assert lines.ask(request(1, "ping"))["result"] == {"was": "ping"}
    assert server.seen[0].headers["Mcp-Method"] == "server/discover" and server.seen[1].headers["Mcp-Method"] is None


def test_progress_and_questions_of_the_server_come_as_lines(connect):
    asked = threading.Event()
    answers = []

    def answer(seen):
        if seen.what == "tools/call":
            seen.stream()
            seen.event(notification("notifications/progress", progressToken="p", progress=1), indent=1)
            seen.event(request("server-1", "elicitation/create", message="name?"))
            assert asked.wait(20)
            seen.event({"jsonrpc": "2.0", "id": seen.id, "result": {"content": answers[0]["result"]}})
        elif seen.what is None and seen.method == "POST":
            answers.append(seen.message)
            seen.send(202)
            asked.set()
        else:
            legacy_server(seen)

    _, lines = connect(answer)
    lines.start()
    lines.send(request(1, "tools/call", name="ask", _meta={"progressToken": "p"}))
    assert lines.next() == {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "p", "progress": 1}}
    assert lines.next() == {"jsonrpc": "2.0", "id": "server-1", "method": "elicitation/create", "params": {"message": "name?"}}
    lines.send({"jsonrpc": "2.0", "id": "server-1", "result": {"action": "accept"}})
    assert lines.next() == {"jsonrpc": "2.0", "id": 1, "result": {"content": {"action": "accept"}}}
    assert lines.close() == []


def test_many_requests_at_a_time(connect):
    """Forty that all wait for the last one of them, and a large answer in one piece among them."""
    barrier = threading.Barrier(40, timeout=30)
    picture = base64.b64encode(os.urandom(2 << 20)).decode()

    def answer(seen):
        barrier.wait()
        seen.answer({"picture": picture} if seen.id == 7 else {"is": seen.id})

    _, lines = connect(answer)
    lines.send(*(modern(i, "tools/call", name="go") for i in range(40)))
    got = {message["id"]: message["result"] for message in (lines.next() for _ in range(40))}
    assert got == {i: {"picture": picture} if i == 7 else {"is": i} for i in range(40)}


def test_a_client_that_reads_late_gets_all(connect, tmp_path):
    """More than is kept for it, and than any pipe takes: the rest waits in the server meanwhile."""
    answered = []

    def answer(seen):
        seen.answer({"text": "x" * 6000000})
        answered.append(seen.id)

    server, lines = connect(answer)
    lines.close()
    process = subprocess.Popen([BUILD / "glovebox", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env={"GLOVEBOX_SERVER": server.url, "GLOVEBOX_TOKEN_FILE": str(tmp_path / "token")})
    process.stdin.write(b"".join(json.dumps(modern(i, "any")).encode() + b"\n" for i in range(16)))
    process.stdin.flush()
    until(lambda: len(answered) >= 10)
    got = [json.loads(process.stdout.readline()) for _ in range(16)]
    assert sorted(message["id"] for message in got) == list(range(16))
    assert {len(message["result"]["text"]) for message in got} == {6000000}
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()


def test_more_requests_than_may_run_are_refused(connect):
    go = threading.Event()

    def answer(seen):
        assert go.wait(30)
        seen.answer({})

    _, lines = connect(answer)
    lines.send(*(modern(i, "any") for i in range(65)))
    assert lines.next() == {"jsonrpc": "2.0", "id": 64, "error": {"code": -32603, "message": "64 requests run already"}}
    go.set()
    assert sorted(lines.next()["id"] for _ in range(64)) == list(range(64))


def test_cancel_closes_the_connection_and_nothing_comes_after_it(connect):
    gone = []

    def answer(seen):
        if seen.what == "slow":
            seen.stream()
            seen.event(notification("notifications/progress", progressToken="p", progress=1))
            gone.append(seen.wait_gone())
        else:
            seen.answer({})

    server, lines = connect(answer)
    lines.send(modern("1", "slow"), modern(1, "slow"))
    assert lines.next()["method"] == lines.next()["method"] == "notifications/progress"
    lines.send(notification("notifications/cancelled", requestId="no such", _meta={f"{META}protocolVersion": MODERN}),
               notification("notifications/cancelled", requestId=1, reason="enough"))
    until(lambda: len(gone) == 1)
    assert lines.ask(modern(2, "other"))["result"] == {}
    lines.send(notification("notifications/cancelled", requestId="1"))
    until(lambda: len(gone) == 2)
    assert lines.close() == []
    assert sorted(seen.what for seen in server.seen) == ["other", "slow", "slow"]  # the server never sees the notification


@pytest.mark.parametrize("streams", [False, True])
def test_cancel_in_the_era_with_sessions_is_passed_on(connect, streams):
    """And what the server still says of it, as it was not fast enough, is not."""
    cancelled = threading.Event()

    def answer(seen):
        if seen.what == "slow" and streams:
            seen.stream()
            assert cancelled.wait(20)
            seen.event(notification("notifications/progress", progressToken="p", progress=1))
            seen.event({"jsonrpc": "2.0", "id": seen.id, "result": {"too": "late"}})
        elif seen.what == "slow":
            assert cancelled.wait(20)
            seen.answer({"too": "late"})
        elif seen.what == "notifications/cancelled":
            seen.send(202)
            cancelled.set()
        else:
            legacy_server(seen)

    server, lines = connect(answer)
    lines.start()
    lines.send(request(1, "slow"), notification("notifications/cancelled", requestId=1))
    assert lines.ask(request(2, "ping"))["result"] == {"was": "ping"}
    assert server.posts("notifications/cancelled")[0].message["params"] == {"requestId": 1}
    assert lines.close() == []


@pytest.mark.parametrize("status, body, kind, error", [
    (401, b'{"code": "unauthorized", "detail": "this token is not known"}', "application/problem+json",
     {"code": -32603, "message": "this token is not known", "data": {"status": 401, "code": "unauthorized"}}),
    (502, b"<html>", "text/html", {"code": -32603, "message": "URL answers with status 502 and no reason", "data": {"status": 502}}),
    (200, b"no json", "application/json", {"code": -32603, "message": "URL answers with status 200 and no reason", "data": {"status": 200}}),
    (202, b"", None, {"code": -32603, "message": "URL answers with status 202 and no reason", "data": {"status": 202}}),
    (404, b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "none"}}', "application/json",
     {"code": -32601, "message": "none"}),
])
def test_every_request_gets_an_answer_of_json_rpc(connect, status, body, kind, error):
    server, lines = connect(lambda seen: seen.send(status, body, kind))
    error = {**error, "message": error["message"].replace("URL", server.url)}
    assert lines.ask(modern("id", "any")) == {"jsonrpc": "2.0", "id": "id", "error": error}
    lines.close()
    assert (b"the token is the one in " in lines.stderr) == (status == 401)


def test_notifications_get_no_line_whatever_the_server_says(connect):
    def answer(seen):
        if seen.what == "notifications/odd":
            seen.refuse(400, -32600, "what is this?")
        else:
            legacy_server(seen)

    _, lines = connect(answer)
    lines.start()
    lines.send(notification("notifications/odd"), {"jsonrpc": "2.0", "id": 99, "result": {}})
    assert lines.ask(request(1, "ping"))["result"] == {"was": "ping"}
    assert lines.close() == []
    assert b"notifications/odd was not taken: what is this?" in lines.stderr


def test_an_answer_that_breaks_off(connect):
    def answer(seen):
        if seen.id == 1:
            seen.stream()
            seen.event(notification("notifications/progress", progressToken="p", progress=1))
        elif seen.id == 2:
            seen.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\"")
            seen.handler.close_connection = True
        else:
            seen.answer({})

    _, lines = connect(answer)
    lines.send(modern(1, "any"))
    assert lines.next()["method"] == "notifications/progress"
    assert lines.next() == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "the server's answer broke off"}}
    assert "no answer from the Glovebox server at" in lines.ask(modern(2, "any"))["error"]["message"]
    assert lines.ask(modern(3, "any"))["result"] == {}


def test_a_server_that_goes_and_comes_back(connect, tmp_path):
    began = threading.Event()

    def answer(seen):
        if seen.what == "slow":
            began.set()
            seen.wait_gone()
        else:
            seen.answer({"again": True})

    server, lines = connect(answer)
    lines.send(modern(1, "slow"))
    assert began.wait(20)
    for seen in server.seen:
        seen.handler.connection.shutdown(2)
    assert lines.next()["error"]["message"].startswith(f"no answer from the Glovebox server at {server.url}: ")
    server.stop()
    refused = lines.ask(modern(2, "any"))
    assert refused["error"]["message"].startswith(f"no answer from the Glovebox server at {server.url}: ")
    again = StandIn(answer, server.port)
    server.stop = lambda: None
    try:
        assert lines.ask(modern(3, "any"))["result"] == {"again": True}
    finally:
        lines.close()
        again.stop()
    assert lines.stderr.count(b"no answer from the Glovebox server") == 2


def slow_server(began, gone):
    def answer(seen):
        if seen.what == "tools/call":
            seen.stream()
            began.set()
            gone.append(seen.wait_gone())
        else:
            legacy_server(seen)

    return answer


CLIENT = """
import json, subprocess, sys, time
server = subprocess.Popen(sys.argv[1:3], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin:
    server.stdin.write(line.encode())
    server.stdin.flush()
    if json.loads(line).get("method") == "initialize":
        server.stdout.readline()
"""


@pytest.mark.parametrize("call", [modern(1, "tools/call", name="go"), request(1, "tools/call", name="go")], ids=["modern", "legacy"])
def test_a_client_that_is_killed_stops_what_runs(connect, tmp_path, call):
    """Both ends close at once: the connection goes at once, too, not after the time that the end of input alone gives."""
    began, gone = threading.Event(), []
    server, lines = connect(slow_server(began, gone))
    lines.close()
    client = subprocess.Popen([sys.executable, "-c", CLIENT, BUILD / "glovebox", "mcp"], stdin=subprocess.PIPE,
                              env={"GLOVEBOX_SERVER": server.url, "GLOVEBOX_TOKEN_FILE": str(tmp_path / "token")})
    for message in (hello(), notification("notifications/initialized"), call):
        client.stdin.write(json.dumps(message).encode() + b"\n")
    client.stdin.flush()
    assert began.wait(20)
    started = time.monotonic()
    client.kill()
    until(lambda: gone, every_s=0.01)
    assert time.monotonic() - started < 0.9
    client.wait()
    client.stdin.close()
    until(lambda: server.seen[-1].method == "DELETE")


def test_nobody_reads_any_more(connect, tmp_path):
    """Standard output is closed and the input is not: the client has died and something else holds its end."""
    began, gone = threading.Event(), []
    server, lines = connect(slow_server(began, gone))
    lines.close()
    token = tmp_path / "token"
    environment = {"GLOVEBOX_SERVER": server.url, "GLOVEBOX_TOKEN_FILE": str(token)}
    process = subprocess.Popen([BUILD / "glovebox", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    process.stdin.write(json.dumps(modern(1, "tools/call", name="go")).encode() + b"\n")
    process.stdin.flush()
    assert began.wait(20)
    process.stdout.close()
    assert process.wait(20) == 0
    until(lambda: gone)
    process.stdin.close()


def test_the_end_of_input_leaves_a_moment_for_answers(connect):
    def answer(seen):
        if seen.what == "slow":
            seen.wait_gone()
        else:
            legacy_server(seen)

    _, lines = connect(answer)
    lines.send(request(1, "ping"))
    assert lines.close() == [{"jsonrpc": "2.0", "id": 1, "result": {"was": "ping"}}]
    _, lines = connect(answer)
    lines.send(modern(1, "slow"))
    started = time.monotonic()
    assert lines.close() == []
    assert 0.9 < time.monotonic() - started < 10


def test_a_stream_without_end_does_not_keep_it(connect):
    began = threading.Event()

    def answer(seen):
        seen.stream()
        seen.event(notification("notifications/subscriptions/acknowledged"))
        began.set()
        seen.wait_gone()

    _, lines = connect(answer)
    lines.send(modern(1, "subscriptions/listen", notifications={}))
    assert lines.next()["method"] == "notifications/subscriptions/acknowledged"
    started = time.monotonic()
    assert lines.close() == []
    assert time.monotonic() - started < 0.9


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda signo: signo.name)
def test_signals_end_it(connect, signo):
    began, gone = threading.Event(), []
    _, lines = connect(slow_server(began, gone))
    lines.send(modern(1, "tools/call", name="go"))
    assert began.wait(20)
    lines.process.send_signal(signo)
    assert lines.wait() == []
    until(lambda: gone)


def test_wrong_usage(connect, tmp_path):
    def run(*words, status, **environment):
        done = subprocess.run([BUILD / "glovebox", *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
                              env={"GLOVEBOX_TOKEN_FILE": str(tmp_path / "token"), **environment})
        assert (done.returncode, done.stdout) == (status, b""), done
        return done.stderr.decode()

    assert "give one of them" in run("mcp", "--new", "--session", "s1", status=2)
    assert "--image says what a session is like that --new makes" in run("mcp", "--image", "minimal", status=2)
    assert "standard input is the client's" in run("mcp", "--new", "--spec", "-", status=2)
    assert "an id has lower-case letters and digits" in run("mcp", "--session", "../x", status=2)
    assert "--size takes WIDTHxHEIGHT" in run("mcp", "--new", "--size", "big", status=2)
    assert "cannot be used" in run("mcp", status=2, GLOVEBOX_TOKEN_FILE="/nonexistent")


@pytest.mark.parametrize("words", [["--session", "s1"], ["--new"]])
def test_what_cannot_be_opened_is_answered_and_tried_again(connect, words):
    good = []

    def answer(seen):
        if seen.path == "/mcp":
            legacy_server(seen)
        elif not good and seen.method != "DELETE":
            seen.send(429, b'{"code": "quota_exceeded", "detail": "no more than 1 session"}', "application/problem+json")
        else:
            seen.send(201, b'{"id": "x1", "token": "other", "tokens": {"agent": "other"}}')

    server, lines = connect(answer, *words)
    assert lines.ask(hello())["error"] == {"code": -32603, "message": "no more than 1 session"}
    lines.send(notification("notifications/initialized"))
    until(lambda: lines.stderr.count(b"no more than 1 session") == 2)
    good.append(True)
    lines.start()
    assert lines.close() == []
    path = "/v1/sessions/x1" if words == ["--new"] else "/v1/sessions/s1/tokens/x1"
    assert [(seen.method, seen.path) for seen in server.seen][-2:] == [("DELETE", "/mcp"), ("DELETE", path)]


def test_the_token_of_an_agent_opens_its_own_session(connect):
    def answer(seen):
        if seen.path == "/v1/sessions/s1/tokens":
            seen.send(403, b'{"code": "forbidden", "detail": "a token of the role agent may not do this"}', "application/problem+json")
        elif seen.path == "/v1/sessions/s1":
            seen.send(200, b'{"id": "s1"}')
        else:
            legacy_server(seen)

    server, lines = connect(answer, "--session", "s1")
    lines.start()
    assert lines.close() == []
    assert {seen.headers["Authorization"] for seen in server.seen} == {f"Bearer {TOKEN}"}
    assert [(seen.method, seen.path) for seen in server.seen] == [
        ("POST", "/v1/sessions/s1/tokens"), ("GET", "/v1/sessions/s1"), ("POST", "/mcp"), ("POST", "/mcp"), ("DELETE", "/mcp")]


def maker(times, made):
    """A server that makes sessions with these times."""
    def answer(seen):
        if seen.method == "POST" and seen.path == "/v1/sessions":
            made.append(seen.message)
            seen.send(201, json.dumps({"id": "s1", "tokens": {"agent": "agents-token"}, **times}).encode())
        elif seen.method == "PATCH":
            seen.send(400 if len([one for one in made if one == "refuse"]) else 200, b"{}")
        else:
            legacy_server(seen)

    return answer


def test_new_makes_a_session_and_ends_it(connect):
    """It is made with the first message that is more than a try."""
    made = []
    server, lines = connect(maker({"ttl_s": 3600, "idle_s": 900}, made), "--new", "--image", "minimal", "--app", "terminal", "--label", "a=b")
    lines.ask(modern("try", "server/discover"))
    assert made == []
    lines.start()
    lines.close()
    assert made == [{"image": "minimal", "apps": ["terminal"], "labels": {"a": "b"}}]
    assert [(seen.method, seen.path, seen.headers["Authorization"]) for seen in server.seen] == [
        ("POST", "/mcp", f"Bearer {TOKEN}"), ("POST", "/v1/sessions", f"Bearer {TOKEN}"), ("POST", "/mcp", "Bearer agents-token"), ("POST", "/mcp", "Bearer agents-token"),
        ("DELETE", "/mcp", "Bearer agents-token"), ("DELETE", "/v1/sessions/s1", f"Bearer {TOKEN}")]


@pytest.mark.parametrize("words, body", [([], {"ttl_s": 2, "idle_s": 1}), (["--ttl", "2"], {"idle_s": 1}), (["--idle", "1"], {"ttl_s": 2})])
def test_a_new_session_lives_as_long_as_its_client(connect, words, body):
    """Its times are said again when a third of the shorter one is over, but for those that the user gave."""
    made = []
    server, lines = connect(maker({"ttl_s": 2, "idle_s": 1}, made), "--new", *words)
    lines.start()
    kept = until(lambda: [seen for seen in server.seen if seen.method == "PATCH"][1:])[0]
    assert (kept.path, kept.message, kept.headers["Authorization"]) == ("/v1/sessions/s1", body, f"Bearer {TOKEN}")
    made.append("refuse")
    until(lambda: b"cannot be prolonged any more (status 400)" in lines.stderr)
    lines.close()


def test_no_token_in_arguments_or_output(connect):
    _, lines = connect(lambda seen: seen.refuse(401, -32000, "no", seen.id))
    lines.ask(modern(1, "any"))
    words = pathlib.Path(f"/proc/{lines.process.pid}/cmdline").read_bytes() + pathlib.Path(f"/proc/{lines.process.pid}/environ").read_bytes()
    with contextlib.suppress(FileNotFoundError):
        assert TOKEN.encode() not in words
    assert lines.close() == []
