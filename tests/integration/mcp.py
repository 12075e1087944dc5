# SPDX-License-Identifier: GPL-2.0-or-later
"""An MCP client over HTTP, as bytes: what it sends is what a test says, and nothing is read that did not come."""
import base64
import itertools
import json
import socket
import struct

from api import picture_of
from raw import Wire, head

MODERN = "2026-07-28"
LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26"]
META = "io.modelcontextprotocol/"
BOTH = "application/json, text/event-stream"
numbers = itertools.count(1)


def request(method, params=None, id_=None):
    return {"jsonrpc": "2.0", "id": next(numbers) if id_ is None else id_, "method": method, **({} if params is None else {"params": params})}


def notification(method, params=None):
    return {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}


def tool(name, arguments=None, id_=None, **meta):
    return request("tools/call", {"name": name, **({} if arguments is None else {"arguments": arguments}), **({"_meta": meta} if meta else {})}, id_)


def modern(message, version=MODERN, **meta):
    """A message as the stateless revision wants it."""
    params = message.setdefault("params", {})
    params["_meta"] = {f"{META}protocolVersion": version, f"{META}clientCapabilities": {}, **params.get("_meta", {}), **meta}
    return message


def modern_headers(message, version=MODERN):
    params = message.get("params", {})
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": message["method"]}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    if (session := (params.get("arguments") or {}).get("session_id")) is not None:
        headers["Mcp-Param-Session"] = session
    return headers


def data_of(text):
    """The messages of the events in a text."""
    found = []
    for event in text.split("\n\n")[:-1]:
        lines = [line for line in event.split("\n") if not line.startswith(":")]
        if lines:
            assert lines[0] == "event: message" and lines[1].startswith("data: ") and len(lines) == 2, event
            found.append(json.loads(lines[1][6:]))
    return found


class Reply:
    """A whole reply: `messages` are all that came, in their order."""

    def __init__(self, answer):
        self.status = answer.status
        self.headers = answer.headers
        self.body = answer.body
        self.type = answer.headers.get("content-type")
        if self.type == "text/event-stream":
            self.messages = data_of(answer.body.decode())
        elif self.type == "application/json":
            value = json.loads(answer.body)
            self.messages = value if isinstance(value, list) else [value]
        else:
            self.messages = []

    @property
    def message(self):
        """The answer, which comes last."""
        assert self.messages, (self.status, self.body)
        return self.messages[-1]

    @property
    def result(self):
        assert "result" in self.message, self.message
        return self.message["result"]

    @property
    def error(self):
        assert "error" in self.message, self.message
        return self.message["error"]


class Post:
    """One POST that is under way: its connection, read by who wants to."""

    def __init__(self, api, message, headers, **wire):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        fields = {"content_type": "application/json", "content_length": len(body), "accept": BOTH, **{name.lower(): value for name, value in headers.items()}}
        self.wire = Wire(api.address, timeout_s=120, **wire)
        self.wire.send(head(api, "POST", "/mcp", **fields).encode() + body)

    def reply(self):
        try:
            return Reply(self.wire.answer())
        finally:
            self.close()

    def begin(self):
        """The head of a stream of events."""
        answer = self.wire.answer(has_body=False)
        assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream"), answer.headers
        self.rest = ""
        return answer

    def event(self):
        """The next message of the stream; None at its end."""
        while "\n\n" not in self.rest:
            size = int(self.wire.take_line(), 16)
            if size == 0:
                return None
            self.rest += self.wire.take(size).decode()
            self.wire.take_line()
        event, _, self.rest = self.rest.partition("\n\n")
        messages = data_of(event + "\n\n")
        return messages[0] if messages else self.event()

    def close(self):
        self.wire.socket.close()

    def kill(self):
        """As when the client's process dies: a reset instead of an end."""
        self.wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.wire.socket.close()


class Client:
    """Requests with a token. A legacy one (`begin`) sends what initialize gave it; a modern one says all in each request."""

    def __init__(self, api, version=None):
        self.api = api
        self.version = version
        self.headers = {}

    def begin(self, version=LEGACY[0], **params):
        reply = self.post(request("initialize", {"protocolVersion": version, "capabilities": {}, **params}))
        self.headers = {"Mcp-Session-Id": reply.headers["mcp-session-id"], "MCP-Protocol-Version": reply.result["protocolVersion"]}
        assert self.post(notification("notifications/initialized")).status == 202
        return self

    def start(self, message, headers=None, **wire):
        if self.version == MODERN and isinstance(message, dict):
            modern(message)
            headers = {**modern_headers(message), **(headers or {})}
        return Post(self.api, message, {**self.headers, **(headers or {})}, **wire)

    def post(self, message, headers=None):
        return self.start(message, headers).reply()

    def call(self, name, arguments=None):
        """A tool that must do what is asked: its result."""
        result = self.post(tool(name, arguments)).result
        assert not result.get("isError"), result
        return result

    def fail(self, name, arguments=None):
        """One that must not: its text."""
        result = self.post(tool(name, arguments)).result
        assert result["isError"] is True, result
        assert [block["type"] for block in result["content"]] == ["text"] * len(result["content"])
        return result["content"][0]["text"]


def image_of(result):
    """The one picture of a result."""
    images = [block for block in result["content"] if block["type"] == "image"]
    assert len(images) == 1, [block["type"] for block in result["content"]]
    return images[0]["mimeType"], picture_of(base64.b64decode(images[0]["data"]))


# --- calls that take long, and the ways to take them back

LONG = {"action": "wait", "duration_ms": 60000}
HOLD = {"action": "hold_key", "keys": "shift", "duration_ms": 100000}


def held(session):
    return session.agent.call("GET", session.path)["held"]


def runs(session):
    """Has some call its turn? Then another has none within its time."""
    return session.agent.request("POST", f"{session.path}/act", {"actions": [], "timeout_ms": 100}).status == 504


def close(client, post, message):
    post.close()


def kill(client, post, message):
    post.kill()


def tell(client, post, message):
    """By a notification: nothing answers, the stream or the reply just ends."""
    assert client.post(notification("notifications/cancelled", {"requestId": message["id"], "reason": "enough"})).status == 202
    reply = post.reply() if not hasattr(post, "rest") else None
    if reply:
        assert reply.messages == [] and reply.status in (200, 202)
    else:
        assert post.event() is None
        post.close()
