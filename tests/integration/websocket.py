# SPDX-License-Identifier: GPL-2.0-or-later
"""WebSocket as bytes (RFC 6455, the client's side), and views of sessions by it: also as no client library would open one."""
import base64
import hashlib
import os
import socket
import struct
import time

from raw import Wire, head

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
FIN = 0x80
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def frame(data=b"", kind=BINARY, fin=True, rsv=0, masked=True, length=None):
    """One frame; `length` says another than it has."""
    n = len(data) if length is None else length
    first = bytes([(FIN if fin else 0) | rsv << 4 | kind])
    mask = 0x80 if masked else 0
    if n < 126:
        size = bytes([mask | n])
    elif n < 65536:
        size = bytes([mask | 126]) + struct.pack(">H", n)
    else:
        size = bytes([mask | 127]) + struct.pack(">Q", n)
    if not masked:
        return first + size + data
    key = os.urandom(4)
    return first + size + key + bytes(byte ^ key[i % 4] for i, byte in enumerate(data))


class Closed(Exception):
    """The server closed, with this code; None: without a word."""

    def __init__(self, code, reason=""):
        self.code = code
        self.reason = reason
        super().__init__(f"closed with {code} {reason!r}")


class WebSocket:
    """The messages of a Wire whose handshake is done."""

    def __init__(self, wire):
        self.wire = wire
        self.data = b""
        self.n_pings = 0
        self.answers_pings = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wire.socket.close()

    def fileno(self):
        return self.wire.socket.fileno()

    def send(self, data):
        self.wire.send(frame(data))

    def take_frame(self):
        first = self.wire.take(2)
        if len(first) < 2:
            raise Closed(None)
        assert not first[1] & 0x80, "a server does not mask"
        n = first[1]
        if n == 126:
            n = struct.unpack(">H", self.wire.take(2))[0]
        elif n == 127:
            n = struct.unpack(">Q", self.wire.take(8))[0]
        return first[0], self.wire.take(n)

    def step(self):
        """Takes one frame."""
        first, data = self.take_frame()
        kind = first & 15
        if kind == PING:
            self.n_pings += 1
            if self.answers_pings:
                self.wire.send(frame(data, PONG))
        elif kind == CLOSE:
            code = struct.unpack(">H", data[:2])[0] if len(data) >= 2 else 1005
            raise Closed(code, data[2:].decode())
        else:
            assert first & FIN and kind in (BINARY, PONG), first
            if kind == BINARY:
                self.data += data

    # As a socket, for rfb.Rfb.

    def sendall(self, data):
        self.send(data)

    def recv(self, n):
        deadline = time.monotonic() + self.wire.socket.gettimeout()
        while not self.data:
            assert time.monotonic() < deadline, "nothing but pings comes"
            self.step()
        taken, self.data = self.data[:n], self.data[n:]
        return taken

    def close(self):
        self.wire.socket.close()

    def closed(self):
        """How the server closes; what comes before that is thrown away."""
        try:
            while True:
                self.step()
                self.data = b""
        except Closed as closed:
            return closed
        except (ConnectionResetError, socket.timeout) as error:
            raise AssertionError(f"no close: {error!r}") from error


def handshake(api, target, ticket=None, **fields):
    """The head of an upgrade and the key in it. A field that is None is left out."""
    key = base64.b64encode(os.urandom(16)).decode()
    fields = {"connection": "Upgrade", "upgrade": "websocket", "sec_websocket_version": "13", "sec_websocket_key": key,
              "sec_websocket_protocol": f"binary, ticket.{ticket}" if ticket else None, **fields}
    return head(api, target=target, token=False, **fields), key


def accept_of(key):
    return base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()


def upgrade(api, target, ticket, wire=None, **fields):
    """The answer to an upgrade, and the WebSocket that it opened, or None."""
    wire = wire or Wire(api.address, timeout_s=20)
    text, key = handshake(api, target, ticket, **fields)
    wire.send(text)
    answer = wire.answer(has_body="101" not in fields)
    if answer is None or answer.status != 101:
        wire.socket.close()
        return answer, None
    assert answer.headers["sec-websocket-accept"] == accept_of(key)
    assert answer.headers["sec-websocket-protocol"] == "binary"
    return answer, WebSocket(wire)


def open_view(api, session, wire=None, **wish):
    """A view of a session, opened as this caller: the WebSocket, and what the ticket's answer said."""
    made = api.call("POST", f"{session.path}/rfb", wish)
    answer, websocket = upgrade(api, f"{session.path}/rfb", made["ticket"], wire)
    assert websocket, (answer and answer.status, answer and answer.body)
    return websocket, made
