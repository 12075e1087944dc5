# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP as bytes: requests that no client library would send, and what comes back."""
import json
import socket

import contract

PROBLEM = "application/problem+json"


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


class Wire:
    """One connection, with what was read from it and not used yet."""

    def __init__(self, address, timeout_s=10, receive_bytes=None):
        host, port = address.rsplit(":", 1)
        self.socket = socket.socket()
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(timeout_s)
        self.socket.connect((host, int(port)))
        self.text = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def more(self):
        """Reads once; False at the end."""
        piece = self.socket.recv(65536)
        self.text += piece
        return bool(piece)

    def take(self, n):
        while len(self.text) < n and self.more():
            pass
        taken, self.text = self.text[:n], self.text[n:]
        return taken

    def take_line(self):
        while b"\r\n" not in self.text and self.more():
            pass
        line, _, self.text = self.text.partition(b"\r\n")
        return line.decode("latin-1")

    def answer(self, has_body=True):
        """The next reply; None when the connection ends before one."""
        first = self.take_line()
        if not first:
            return None
        headers = {}
        while line := self.take_line():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = b""
        if has_body and headers.get("transfer-encoding") == "chunked":
            while size := int(self.take_line(), 16):
                body += self.take(size)
                self.take_line()
            self.take_line()
        elif has_body:
            body = self.take(int(headers.get("content-length", 0)))
        answer = Answer(int(first.split(" ")[1]), headers, body)
        contract.check_answer(answer)
        return answer

    def rest(self):
        """Everything until the other side closes."""
        try:
            while self.more():
                pass
        except ConnectionResetError:
            pass
        return self.text

    def is_closed(self):
        """True when the other side has closed, and nothing more comes."""
        return self.rest() == b""


def head(api, method="GET", target="/v1", token=True, **fields):
    """The bytes of a request's head; a field that is None is left out, `a_b` is sent as `a-b`."""
    lines = [f"{method} {target} HTTP/1.1"]
    fields = {"host": api.address, **({"authorization": f"Bearer {api.token}"} if token else {}), **fields}
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join(lines) + "\r\n\r\n"


def ask(api, data, has_body=True):
    """Sends bytes on a connection of their own; the one reply."""
    with Wire(api.address) as wire:
        wire.send(data)
        return wire.answer(has_body)


def post(api, target, body, **fields):
    """The bytes of a POST of JSON text."""
    body = body if isinstance(body, bytes) else body.encode()
    fields = {"content_type": "application/json", "content_length": len(body), **fields}
    return head(api, "POST", target, **fields).encode() + body


def assert_problem(answer, status, code):
    assert answer is not None, "the connection was closed without a reply"
    assert (answer.status, answer.headers["content-type"]) == (status, PROBLEM), answer.body
    problem = answer.json
    assert problem["code"] == code, problem
    assert problem["status"] == status
    assert problem["fix"] in ("caller", "later", "human", "operator", "nobody")
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem["title"] and problem["detail"] and problem["type"]
    return problem
