# SPDX-License-Identifier: GPL-2.0-or-later
"""The Model Context Protocol at /mcp as a protocol: versions, origins, types, ids (cases P01 P03 P04 P05), and what hostile clients send."""
import json

import pytest

from api import Api
from mcp import LEGACY, META, MODERN, Client, Post, Reply, modern, modern_headers, notification, request, tool
from raw import Wire, ask, assert_problem, head

NEWEST = LEGACY[0]
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN, "2099-01-01", "", 5, None]


@pytest.fixture(scope="module")
def client(server):
    return Client(server.api)


def error_of(reply, status, code):
    assert (reply.status, reply.type) == (status, "application/json"), (reply.status, reply.type, reply.body)
    assert reply.message["jsonrpc"] == "2.0"
    assert reply.error["code"] == code, reply.error
    assert reply.error["message"]
    return reply.error


# --- P01: versions


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("version", VERSIONS)
def test_initialize(client, version, header):
    """Supported: echoed; other: our newest. 200, whatever the header says."""
    params = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}, **({} if version is None else {"protocolVersion": version})}
    reply = client.post(request("initialize", params), {"MCP-Protocol-Version": version} if header and version is not None else {})
    assert reply.status == 200
    assert reply.result["protocolVersion"] == (version if version in LEGACY else NEWEST)
    assert reply.result["capabilities"] == {"tools": {}}
    assert reply.result["serverInfo"]["name"] == "glovebox"
    assert len(reply.headers["mcp-session-id"]) == 32


@pytest.mark.parametrize("version, status", [*((version, 200) for version in LEGACY), (None, 200), ("1900-01-01", 400), ("not-a-version", 400),
                                             ("2024-11-05", 400), ("", 400)])
def test_versions_after_initialize(client, version, status):
    reply = client.post(request("tools/list"), {} if version is None else {"MCP-Protocol-Version": version})
    if status == 200:
        assert len(reply.result["tools"]) == 9
        # Absent is the oldest, which knows of no structure of results.
        assert all(("outputSchema" in row) == (version not in (None, "2025-03-26")) for row in reply.result["tools"])
    else:
        assert error_of(reply, 400, -32022)["data"] == {"supported": [MODERN, *LEGACY], "requested": version}


def test_what_was_agreed_on_holds(server):
    client = Client(server.api).begin("2025-06-18")
    del client.headers["MCP-Protocol-Version"]
    assert all("outputSchema" in row for row in client.post(request("tools/list")).result["tools"])


# --- the stateless revision, each row of its table of errors


def modern_post(client, message, headers=None, without=(), meta_without=()):
    modern(message)
    for name in meta_without:
        del message["params"]["_meta"][META + name]
    sent = {**modern_headers(message), **(headers or {})}
    return client.post(message, {name: value for name, value in sent.items() if name not in without})


def test_discover(client):
    reply = modern_post(client, request("server/discover"))
    assert reply.status == 200
    result = reply.result
    assert result["supportedVersions"] == [MODERN, *LEGACY]
    assert result["capabilities"] == {"tools": {}}
    assert (result["resultType"], result["cacheScope"]) == ("complete", "public") and result["ttlMs"] >= 0
    assert result["_meta"][f"{META}serverInfo"]["name"] == "glovebox"
    assert "mcp-session-id" not in reply.headers


def test_modern_list(client):
    result = modern_post(client, request("tools/list")).result
    assert (result["resultType"], result["cacheScope"]) == ("complete", "private") and result["ttlMs"] >= 0
    assert result == modern_post(client, request("tools/list")).result


ERRORS = [
    ("no version in _meta", lambda c: modern_post(c, request("tools/list"), meta_without=["protocolVersion"]), 400, -32602),
    ("no capabilities in _meta", lambda c: modern_post(c, request("tools/list"), meta_without=["clientCapabilities"]), 400, -32602),
    ("no _meta at all", lambda c: c.post(request("tools/list"), {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}), 400, -32602),
    ("discover without _meta", lambda c: c.post(request("server/discover")), 400, -32602),
    ("no version header", lambda c: modern_post(c, request("tools/list"), without=["MCP-Protocol-Version"]), 400, -32020),
    ("another version header", lambda c: modern_post(c, request("tools/list"), {"MCP-Protocol-Version": NEWEST}), 400, -32020),
    ("no method header", lambda c: modern_post(c, request("tools/list"), without=["Mcp-Method"]), 400, -32020),
    ("another method header", lambda c: modern_post(c, request("tools/list"), {"Mcp-Method": "TOOLS/LIST"}), 400, -32020),
    ("no name header", lambda c: modern_post(c, tool("session_list"), without=["Mcp-Name"]), 400, -32020),
    ("another name header", lambda c: modern_post(c, tool("session_list"), {"Mcp-Name": "session_get"}), 400, -32020),
    ("bad base64 in a header", lambda c: modern_post(c, tool("session_list"), {"Mcp-Name": "=?base64?a?="}), 400, -32020),
    ("no parameter header", lambda c: modern_post(c, tool("session_get", {"session_id": "sx"}), without=["Mcp-Param-Session"]), 400, -32020),
    ("another parameter header", lambda c: modern_post(c, tool("session_get", {"session_id": "sx"}), {"Mcp-Param-Session": "sy"}), 400, -32020),
    ("a parameter header too many", lambda c: modern_post(c, tool("session_get", {}), {"Mcp-Param-Session": "sx"}), 400, -32020),
    ("unsupported version", lambda c: c.post(modern(request("tools/list"), "2099-01-01"), {"MCP-Protocol-Version": "2099-01-01", "Mcp-Method": "tools/list"}),
     400, -32022),
    ("unknown method", lambda c: modern_post(c, request("nothing/here")), 404, -32601),
    ("removed: initialize", lambda c: modern_post(c, request("initialize")), 404, -32601),
    ("removed: ping", lambda c: modern_post(c, request("ping")), 404, -32601),
    ("removed: logging/setLevel", lambda c: modern_post(c, request("logging/setLevel")), 404, -32601),
    ("removed: resources/subscribe", lambda c: modern_post(c, request("resources/subscribe")), 404, -32601),
    ("unknown tool", lambda c: modern_post(c, tool("nothing")), 200, -32602),
    ("arguments that are a list", lambda c: modern_post(c, request("tools/call", {"name": "session_list", "arguments": []})), 200, -32602),
    ("a cursor that nobody gave", lambda c: modern_post(c, request("tools/list", {"cursor": "x"})), 200, -32602),
    ("no JSON", lambda c: c.post(b"{"), 400, -32700),
    ("a batch", lambda c: c.post([request("tools/list")], {"MCP-Protocol-Version": MODERN}), 400, -32600),
    ("legacy: unknown method", lambda c: c.post(request("nothing/here")), 200, -32601),
    ("legacy: server/discover is modern", lambda c: c.post(request("resources/list"), {"MCP-Protocol-Version": NEWEST}), 200, -32601),
    ("legacy: unknown tool", lambda c: c.post(tool("nothing")), 200, -32602),
    ("legacy: a batch where there are none", lambda c: c.post([request("ping")], {"MCP-Protocol-Version": NEWEST}), 400, -32600),
    ("legacy: an unknown session", lambda c: c.post(request("ping"), {"Mcp-Session-Id": "0" * 32}), 404, -32001),
]


@pytest.mark.parametrize("ask_for, status, code", [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_errors(client, ask_for, status, code):
    error_of(ask_for(client), status, code)


def test_headers_may_be_blank_padded_and_encoded(client):
    reply = modern_post(client, tool("session_list"), {"Mcp-Name": "  =?base64?c2Vzc2lvbl9saXN0?=  ", "mcp-method": " tools/call"}, without=["Mcp-Method"])
    assert reply.result["structuredContent"]["sessions"] is not None
    # A modern server knows of no session and no place in a stream.
    assert modern_post(client, request("tools/list"), {"Mcp-Session-Id": "unknown", "Last-Event-ID": "7"}).status == 200


def test_only_post(server):
    for method, headers in (("GET", {}), ("HEAD", {}), ("PUT", {}), ("GET", {"Accept": "text/event-stream", "MCP-Protocol-Version": MODERN})):
        reply = server.api.request(method, "/mcp", headers=headers)
        assert (reply.status, reply.headers["Allow"]) == (405, "POST, DELETE")
    assert server.api.request("DELETE", "/mcp", headers={"MCP-Protocol-Version": MODERN}).status == 405


def test_without_a_token(server):
    for token in (None, "gba_" + "x" * 43):
        reply = Api(server.url, token).request("POST", "/mcp", request("ping"))
        assert (reply.status, reply.headers["WWW-Authenticate"]) == (401, "Bearer")
    # Never by the query.
    assert Api(server.url, None).request("POST", f"/mcp?access_token={server.api.token}", request("ping")).status in (400, 401)


# --- P03: origins and hosts


def post_as(server, **fields):
    body = json.dumps(request("ping")).encode()
    return ask(server.api, head(server.api, "POST", "/mcp", **{"content_type": "application/json", "content_length": len(body), **fields}).encode() + body)


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "http://localhost.evil.test", "https://127.0.0.1", "http://127.0.0.1:1", ""])
def test_foreign_origins(server, origin):
    assert_problem(post_as(server, origin=origin), 403, "bad_origin")


@pytest.mark.parametrize("host", ["evil.test:PORT", "evil.test", "localhost.evil.test:PORT", "127.0.0.1:1"])
def test_foreign_hosts(server, host):
    """Refused also when there is no Origin."""
    assert_problem(post_as(server, host=host.replace("PORT", server.api.address.split(":")[1])), 421, "misdirected")


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "[::1]:PORT", "LOCALHOST:PORT", "localhost:PORT"])
def test_loopback_forms(server, host):
    host = host.replace("PORT", server.api.address.split(":")[1])
    assert post_as(server, host=host).status == 200
    assert post_as(server, host=host, origin=f"http://{host}").status == 200


def test_a_host_is_named_once(server):
    assert post_as(server, host=None).status == 400
    body = json.dumps(request("ping")).encode()
    doubled = head(server.api, "POST", "/mcp", content_type="application/json", content_length=len(body)).replace("\r\n", f"\r\nHost: {server.api.address}\r\n", 1)
    assert ask(server.api, doubled.encode() + body).status == 400


# --- P04: types

ACCEPTS = [
    ("application/json", "application/json"),
    ("text/event-stream", "text/event-stream"),
    ("*/*", "application/json"),
    ("application/*", "application/json"),
    (None, "application/json"),
    ("application/json, text/event-stream", "application/json"),
    ("text/event-stream, application/json", "application/json"),
    ("application/json;q=0, text/event-stream", "text/event-stream"),
    ("text/event-stream;q=0, application/json", "application/json"),
    ("APPLICATION/JSON, TEXT/EVENT-STREAM", "application/json"),
    ("TEXT/EVENT-STREAM", "text/event-stream"),
    ("text/html, */*;q=0.8", "application/json"),
    ("text/html", None),
    ("application/json;q=0", None),
    ("text/html, image/*", None),
]


@pytest.mark.parametrize("accept, kind", ACCEPTS)
def test_accept(client, accept, kind):
    """What is answered at once, and what runs; with progress asked for, which needs a stream."""
    for message in (request("ping"), tool("session_list"), tool("session_list", progressToken=1)):
        reply = client.post(message, {"Accept": accept})
        if kind is None:
            assert reply.status == 406
        else:
            assert (reply.status, reply.type) == (200, kind)
            assert reply.message["id"] == message["id"] and "result" in reply.message
            assert len(reply.messages) == 1


def test_accept_in_two_fields(server):
    body = json.dumps(request("ping")).encode()
    sent = head(server.api, "POST", "/mcp", content_type="application/json", content_length=len(body), accept="text/html")
    assert ask(server.api, sent.encode() + body).status == 406
    both = sent.replace("accept: text/html", "accept: text/html\r\nAccept: text/event-stream")
    assert Reply(ask(server.api, both.encode() + body)).type == "text/event-stream"


def test_what_needs_no_answer_needs_no_type(client):
    assert client.post(notification("notifications/initialized"), {"Accept": "text/html"}).status == 202


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None, "application/json; charset=latin-1"])
def test_content_types(server, kind):
    body = json.dumps(request("ping")).encode()
    assert_problem(ask(server.api, head(server.api, "POST", "/mcp", content_type=kind, content_length=len(body)).encode() + body), 415, "unsupported_media_type")


# --- P05: notifications, responses, ids


@pytest.mark.parametrize("message", [
    notification("notifications/initialized"),
    notification("notifications/cancelled", {"requestId": 4711}),
    notification("notifications/cancelled", {"requestId": 4711, "reason": "x"}),
    notification("notifications/cancelled"),
    notification("notifications/cancelled", {"requestId": {}}),
    notification("notifications/of/another/kind"),
    notification("tools/list"),
    {"jsonrpc": "2.0", "id": 9, "result": {}},
    {"jsonrpc": "2.0", "id": "never asked", "error": {"code": -1, "message": "x"}},
])
@pytest.mark.parametrize("headers", [{}, {"MCP-Protocol-Version": NEWEST}, {"MCP-Protocol-Version": MODERN}])
def test_nothing_is_answered(client, message, headers):
    reply = client.post(message, headers)
    assert (reply.status, reply.body, reply.type) == (202, b"", None)


@pytest.mark.parametrize("id_", [1, 0, -5, 2**53, "", "a", "ü\"\\\n", "x" * 1024])
def test_ids_come_back_as_they_are(client, id_):
    assert client.post({"jsonrpc": "2.0", "id": id_, "method": "ping"}).messages == [{"jsonrpc": "2.0", "id": id_, "result": {}}]
    failed = client.post({"jsonrpc": "2.0", "id": id_, "method": "nothing"})
    assert (failed.message["id"], failed.error["code"]) == (id_, -32601)


@pytest.mark.parametrize("id_", ["null", "1.5", "1.0", "{}", "[1]", "true", json.dumps("x" * 1025)])
def test_ids_that_are_none(client, id_):
    reply = client.post(('{"jsonrpc":"2.0","id":%s,"method":"ping"}' % id_).encode())
    error_of(reply, 400, -32600)
    assert reply.message["id"] is None


@pytest.mark.parametrize("text, id_", [
    ('{"id":1,"method":"ping"}', 1), ('{"jsonrpc":"1.0","id":1,"method":"ping"}', 1), ('{"jsonrpc":"2.0","id":1}', 1), ('{"jsonrpc":"2.0"}', None),
    ('{"jsonrpc":"2.0","id":1,"method":5}', 1), ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 1), ('{}', None), ('1', None), ('"x"', None),
    ('null', None), ('{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', 1)])
def test_messages_that_are_none(client, text, id_):
    reply = client.post(text.encode())
    error_of(reply, 400, -32600)
    assert reply.message["id"] == id_


# --- batches of the oldest revision


def test_a_batch(server):
    client = Client(server.api)
    reply = client.post([request("ping", id_=1), notification("notifications/initialized"), tool("session_list", id_="l"), request("nothing", id_=3),
                         {"jsonrpc": "2.0", "id": 8, "result": {}}, 5, tool("nothing", id_=6)])
    assert (reply.status, reply.type) == (200, "application/json")
    assert [message["id"] for message in reply.messages] == [1, "l", 3, None, 6]
    assert reply.messages[0]["result"] == {} and "sessions" in reply.messages[1]["result"]["structuredContent"]
    assert [message["error"]["code"] for message in reply.messages[2:]] == [-32601, -32600, -32602]
    only_told = client.post([notification("a"), notification("b")])
    assert (only_told.status, only_told.body) == (202, b"")
    assert client.post([request("ping"), notification("a")], {"Accept": "text/event-stream"}).type == "text/event-stream"


def test_batches_that_are_none(client):
    error_of(client.post([]), 400, -32600)
    error_of(client.post([request("ping")] * 33), 400, -32600)
    assert len(client.post([request("ping") for _ in range(32)]).messages) == 32
    assert client.post([request("initialize", id_=1)]).error["code"] == -32600


# --- sessions of legacy clients


def test_the_end_of_a_session(server):
    client = Client(server.api).begin()
    other = Client(server.api).begin()
    assert client.post(request("ping")).result == {}
    assert server.api.request("DELETE", "/mcp").status == 400
    assert server.api.request("DELETE", "/mcp", headers=client.headers).status == 204
    error_of(client.post(request("ping")), 404, -32001)
    assert client.post(notification("notifications/initialized")).status == 404
    assert server.api.request("DELETE", "/mcp", headers=client.headers).status == 404
    assert other.post(request("ping")).result == {}


def test_a_session_belongs_to_its_token(server, make_session):
    session = make_session()
    client = Client(server.api).begin()
    stranger = Client(session.agent)
    stranger.headers = client.headers
    error_of(stranger.post(request("ping")), 404, -32001)
    assert session.agent.request("DELETE", "/mcp", headers=client.headers).status == 404
    assert client.post(request("ping")).result == {}


# --- what hostile clients send


HOSTILE = [
    b"", b" ", b"\x00", b"\xef\xbb\xbf{}", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1,"method":"\xc0\x80"}', b'{"a":1,"a":2}', b"[" * 40, b"[" * 100000,
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 60 + b"1" + b"}" * 61, b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"\\ud83d"}', b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', b"NaN", b'{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}',
]


@pytest.mark.parametrize("body", HOSTILE, ids=[repr(body[:24]) for body in HOSTILE])
def test_bodies_that_are_no_json(client, body):
    error_of(client.post(body), 400, -32700)
    assert client.post(request("ping")).result == {}


def test_names_with_a_nul(client):
    assert client.post(b'{"jsonrpc":"2.0","id":1,"method":"ping\\u0000"}').error["code"] == -32600
    assert client.post(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session_list\\u0000x"}}').error["code"] == -32602
    assert "session_id" in client.fail("session_get", {"session_id": "s\0"})


def test_large_bodies(server, client):
    padded = json.dumps(request("ping")).encode()
    assert client.post(padded + b" " * (1024 * 1024 - len(padded))).result == {}
    assert client.post(padded + b" " * (1024 * 1024 - len(padded) + 1)).status == 413
    # What would grow on its way to a session is refused before it.
    text = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"computer","arguments":{"actions":[%s]}}}' % ",".join(["1e9"] * 200000)
    session = server.api.new(image="minimal")
    try:
        result = Client(session.agent).post(text.encode()).result
        assert result["isError"] is True and "too_large" in result["content"][0]["text"]
    finally:
        session.end()


def test_large_capabilities(client):
    reply = client.post(request("initialize", {"protocolVersion": NEWEST, "capabilities": {"x": "y" * 5000}}))
    assert reply.error["code"] == -32602
    assert "mcp-session-id" not in reply.headers


def test_many_parameter_headers(client):
    assert client.post(request("ping"), {f"Mcp-Param-X{n}": "1" for n in range(8)}).status == 200
    assert client.post(request("ping"), {f"Mcp-Param-X{n}": "1" for n in range(9)}).status == 400


def test_headers_that_stand_twice(server):
    body = json.dumps(request("ping")).encode()
    for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "Mcp-Param-Session"):
        sent = head(server.api, "POST", "/mcp", content_type="application/json", content_length=len(body))
        doubled = sent.replace("\r\n", f"\r\n{name}: {NEWEST}\r\n{name.lower()}: {NEWEST}\r\n", 1)
        assert ask(server.api, doubled.encode() + body).status == 400


def test_clients_that_come_and_go(server):
    """Many more than are kept: those of this token that were used longest ago have to begin again."""
    first = Client(server.api).begin()
    for _ in range(64):
        last = Client(server.api).begin()
    error_of(first.post(request("ping")), 404, -32001)
    assert last.post(request("ping")).result == {}


def test_slow_and_cut_bodies(server):
    body = json.dumps(request("ping")).encode()
    with Wire(server.api.address) as wire:
        wire.send(head(server.api, "POST", "/mcp", content_type="application/json", content_length=len(body)).encode() + body[:10])
    post = Post(server.api, request("ping"), {})
    post.kill()
    assert Client(server.api).post(request("ping")).result == {}
