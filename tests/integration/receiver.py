# SPDX-License-Identifier: GPL-2.0-or-later
"""A receiver of webhooks on a port of its own, with or without TLS, that answers as a test wants it to."""
import hashlib
import hmac
import http.server
import json
import threading
import time

from listening import Listening, Quiet

KEY = "whsec-0123456789abcdef"


def is_signed(key, header, body, now=None, within_s=300):
    """What a receiver does with Glovebox-Signature; docs/network.md has the same lines."""
    parts = dict(part.split("=", 1) for part in header.split(","))
    wanted = hmac.new(key.encode(), parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted, parts["v1"]) and abs((now or time.time()) - int(parts["t"])) < within_s


class Receiver(Listening):
    """`answer(n, event)` says what the n-th request (from 0) is answered with: a status, or a function that gets the handler."""

    def __init__(self, answer=lambda n, event: 204, certificate=None):
        self.got = []
        self.changed = threading.Condition()
        self.answer = answer
        receiver = self

        class Handler(Quiet, http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                receiver.take(self)

        super().__init__(Handler, certificate)

    def url(self, scheme="http", host="127.0.0.1", path="/hook/secret-path"):
        return f"{scheme}://{host}:{self.port}{path}"

    def take(self, handler):
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        assert is_signed(KEY, handler.headers["Glovebox-Signature"], body)
        event = json.loads(body)
        assert handler.headers["Glovebox-Event"] == event["event"] and handler.headers["Glovebox-Delivery"] == event["id"]
        with self.changed:
            n = len(self.got)
            self.got.append((event, dict(handler.headers), body, time.monotonic()))
            self.changed.notify_all()
        answer = self.answer(n, event)
        if callable(answer):
            answer(handler)
        else:
            handler.send_response(answer)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

    def events(self):
        return [event for event, *_ in self.got]

    def wait(self, check, within_s=30):
        """Until check(events) is true; returns that."""
        with self.changed:
            assert self.changed.wait_for(lambda: check(self.events()), within_s), f"only this came: {self.events()}"
            return check(self.events())
