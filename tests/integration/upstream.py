# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that sessions reach through glovebox-egress: HTTP or HTTPS on a port of its own, which keeps what it was asked. What it answers, its path says."""
import base64
import contextlib
import gzip
import http.server
import json
import time

from listening import Listening, Quiet


class Upstream(Listening):
    def __init__(self, certificate=None):
        self.got = []  # (method, path, [(name, value)…], body)
        upstream = self

        class Handler(Quiet, http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                upstream.got.append((self.command, self.path, self.headers.items(), body))
                getattr(upstream, "answer_" + self.path.strip("/").split("/")[0].split("?")[0], upstream.answer_ok)(self)

            do_GET = do_POST = do_TRACE = answer

        super().__init__(Handler, certificate)

    def values(self, name):
        """Of this field in the last request."""
        return [value for field, value in self.got[-1][2] if field.lower() == name.lower()]

    @staticmethod
    def send(handler, body, kind="text/plain", **more):
        handler.send_response(200)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **more}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    def answer_ok(self, handler):
        self.send(handler, b"hello")

    def answer_page(self, handler):
        """Its title says whether the secret came."""
        came = handler.headers.get("Authorization", "").startswith("Bearer ")
        self.send(handler, f"<title>{'the secret came' if came else 'no secret'}</title>".encode(), "text/html")

    def answer_echo(self, handler):
        self.send(handler, b"before " + json.dumps(handler.headers.items()).encode() + b" after")

    def answer_echo64(self, handler):
        self.send(handler, base64.b64encode(b"x" + handler.headers["Authorization"].encode()))

    def answer_header(self, handler):
        self.send(handler, b"hello", X_Echo=handler.headers["Authorization"])

    def answer_close(self, handler):
        """Its end is that of the connection."""
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(b"hello")
        handler.close_connection = True
        with contextlib.suppress(OSError, AttributeError):
            handler.connection.unwrap()

    def answer_part(self, handler):
        """As it came to some servers' minds before there was a Range."""
        handler.send_response(206)
        part = handler.headers["Authorization"][7:11].encode()
        handler.send_header("Content-Range", "bytes 7-10/100")
        handler.send_header("Content-Length", str(len(part)))
        handler.end_headers()
        handler.wfile.write(part)

    def answer_slow(self, handler):
        """A byte in a chunk."""
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for byte in b"before " + handler.headers["Authorization"].encode():
            handler.wfile.write(b"1\r\n" + bytes([byte]) + b"\r\n")
            handler.wfile.flush()
            time.sleep(0.001)
        handler.wfile.write(b"0\r\n\r\n")

    def answer_gzip(self, handler):
        self.send(handler, gzip.compress(handler.headers["Authorization"].encode()), Content_Encoding="gzip")
