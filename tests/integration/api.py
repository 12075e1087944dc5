# SPDX-License-Identifier: GPL-2.0-or-later
"""A small client of the HTTP API, for tests: every call is one request on a connection of its own."""
import base64
import http.client
import io
import json
import threading
import urllib.parse

from PIL import Image

import contract

CALL_S = 330  # the longest call of the API, and something for the way


class Refused(AssertionError):
    """An answer of 400 or more, with its problem+json. A test that expects it catches it; else it fails the test."""

    def __init__(self, reply):
        self.status = reply.status
        self.headers = reply.headers
        self.problem = reply.json or {}
        super().__init__(f"{reply.status}: {self.problem or reply.body[:500]!r}")

    @property
    def code(self):
        return self.problem.get("code")

    @property
    def pointer(self):
        return self.problem.get("pointer")


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()
        kind = response.headers.get_content_type()
        self.json = json.loads(self.body) if self.body and kind.endswith(("/json", "+json")) else None


class Api:
    """The server at `url`, spoken to with `token` (None: without one)."""

    def __init__(self, url, token, context=None):
        self.url = url
        self.address = urllib.parse.urlsplit(url).netloc
        self.token = token
        self.context = context  # of TLS

    def connect(self, timeout_s):
        if self.url.startswith("https:"):
            return http.client.HTTPSConnection(self.address, timeout=timeout_s, context=self.context)
        return http.client.HTTPConnection(self.address, timeout=timeout_s)

    def request(self, method, path, body=None, headers=None, timeout_s=CALL_S):
        """One request, whatever the answer. `body`: bytes or str as they are, anything else as JSON."""
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        asked = body
        if body is not None:
            sent["Content-Type"] = "application/json"
            if not isinstance(body, (bytes, str)):
                body = json.dumps(body)
                asked = json.loads(body)  # as it arrives: a tuple is a list there
            if isinstance(body, str):
                body = body.encode()
        connection = self.connect(timeout_s)
        try:
            connection.request(method, path, body, {**sent, **(headers or {})})
            reply = Reply(connection.getresponse())
        finally:
            connection.close()
        contract.check_reply(self, method, path, asked, reply)
        return reply

    def call(self, method, path, body=None, **options):
        """One request that must succeed; the JSON of the answer."""
        reply = self.request(method, path, body, **options)
        if reply.status >= 400:
            raise Refused(reply)
        return reply.json

    def new(self, **spec):
        return Session(self, self.call("POST", "/v1/sessions", spec))


def picture_of(data):
    picture = Image.open(io.BytesIO(data))
    picture.load()
    return picture.convert("RGB")


class Session:
    """One session, driven with its agent's token; `api` is who made it."""

    def __init__(self, api, answer):
        self.api = api
        self.answer = answer
        self.id = answer["id"]
        self.path = f"/v1/sessions/{self.id}"
        self.tokens = answer["tokens"]
        self.agent = Api(api.url, self.tokens["agent"], api.context)

    def try_act(self, *actions, headers=None, **options):
        """Act; the whole answer, also when it says ok: false."""
        return self.agent.call("POST", f"{self.path}/act", {"actions": list(actions), **options}, headers=headers)

    def act(self, *actions, **options):
        """Act, with all of it going well; the answer."""
        answer = self.try_act(*actions, **options)
        assert answer["ok"], answer
        assert answer["done"] == len(actions), answer
        return answer

    def do(self, action, **fields):
        """One action that goes well; its result."""
        return self.act({"action": action, **fields})["results"][0]

    def exec(self, *argv, **fields):
        """A command that must run; its result, whatever its exit code."""
        return self.do("exec", argv=list(argv), **fields)

    def run(self, *argv, **fields):
        """A command that must succeed; its standard output."""
        result = self.exec(*argv, **fields)
        assert result["exit_code"] == 0, result
        return result["stdout"]

    def shot(self):
        """A picture of the native display."""
        reply = self.agent.request("GET", f"{self.path}/screenshot")
        if reply.status >= 400:
            raise Refused(reply)
        return picture_of(reply.body)

    def look(self):
        """A picture once the screen is quiet, as an agent gets it with a call."""
        return picture_of(base64.b64decode(self.act(observe=True)["observation"]["picture"]["data"]))

    def windows(self):
        return self.do("windows")["windows"]

    def end(self):
        self.api.call("DELETE", self.path)


def in_thread(function, *args):
    """Runs a function beside the test; the thread, and the list that its result or refusal comes into."""
    results = []

    def run():
        try:
            results.append(function(*args))
        except Refused as refused:
            results.append(refused)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results
