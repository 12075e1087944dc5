# SPDX-License-Identifier: GPL-2.0-or-later
"""An MCP client on the standard input and output of `glovebox mcp`, line by line; and messages as such clients send them."""
import json
import os
import queue
import subprocess
import threading

from conftest import BUILD

ANSWER_S = 60
MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = "io.modelcontextprotocol/"


def request(id_, method, **params):
    return {"jsonrpc": "2.0", "id": id_, "method": method, **({"params": params} if params else {})}


def notification(method, **params):
    return {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}


def modern(id_, method, meta=None, **params):
    return request(id_, method, **params, _meta={f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}, **(meta or {})})


def hello(id_=0, version=LEGACY, **capabilities):
    return request(id_, "initialize", protocolVersion=version, capabilities=capabilities, clientInfo={"name": "test", "version": "1"})


class Lines:
    """A running `glovebox mcp`. `close` is the end of its input; it must then end with `status`."""

    def __init__(self, url, token_file, *words, **options):
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GLOVEBOX_SERVER": url, "GLOVEBOX_TOKEN_FILE": str(token_file)}
        self.process = subprocess.Popen([BUILD / "glovebox", "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment, **options)
        self.lines = queue.Queue()
        self.stderr = b""
        self.readers = [threading.Thread(target=read, daemon=True) for read in (self.read_lines, self.read_stderr)]
        for reader in self.readers:
            reader.start()

    def read_lines(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def read_stderr(self):
        for line in self.process.stderr:
            self.stderr += line

    def send(self, *messages):
        """Messages as lines: text as it is, anything else as JSON."""
        for message in messages:
            self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)).encode() + b"\n")
        self.process.stdin.flush()

    def next(self, within_s=ANSWER_S):
        """The next message; None at the end of the output."""
        line = self.lines.get(timeout=within_s)
        if line is None:
            return None
        assert line.endswith(b"\n"), line
        return json.loads(line)

    def ask(self, message):
        """Sends a request; its answer must be the next message."""
        self.send(message)
        answer = self.next()
        assert answer and answer.get("id") == message["id"], (answer, self.stderr)
        return answer

    def start(self):
        """The beginning of the era with sessions."""
        answer = self.ask(hello())
        self.send(notification("notifications/initialized"))
        return answer["result"]

    def wait(self, status=0, within_s=ANSWER_S):
        """It must end by itself; the messages that are left."""
        assert self.process.wait(within_s) == status, self.stderr
        for reader in self.readers:
            reader.join()
        left = []
        while (message := self.next()) is not None:
            left.append(message)
        self.process.stdout.close()
        self.process.stderr.close()
        return left

    def close(self, status=0):
        self.process.stdin.close()
        return self.wait(status)

    def kill(self):
        """Of a test that failed."""
        self.process.kill()
        self.process.wait()
