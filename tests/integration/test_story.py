# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole of a log-in: an agent meets a password, asks for a person, who types it, and goes on inside; and nothing of what was typed is
anywhere afterwards, whatever listened meanwhile."""
import contextlib
import json
import pathlib
import secrets
import string
import subprocess
import sys
import threading

import pytest

import canary
import loggers
import rfb
import site_of_anna as site
from api import Api, Refused, picture_of
from conftest import until
from page import open_page
from pictures import box, centre
from receiver import KEY, Receiver
from stream import Stream

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import npm  # noqa: E402

MARK = "gbxmark"
LETTERS = string.ascii_lowercase.replace("l", "").replace("o", "") + "23456789"
READABLE = "aehkmnrtuvwx"  # that nobody takes for another


def make_secret(length=20, letters=LETTERS):
    """No two the same, so that one of an earlier run is not found."""
    return MARK + "".join(secrets.choice(letters) for _ in range(length - len(MARK)))


def place(colour, picture):
    return centre(until(lambda: box(picture(), tuple(bytes.fromhex(colour[1:])))))


class Heard:
    """Everything that came to the agent: replies with their headers, and two streams."""

    def __init__(self, session):
        self.replies = []
        self.pictures = {}
        self.streams = []
        self.keys = []
        agent, ask = session.agent, session.agent.request

        def request(method, path, body=None, headers=None, **options):
            reply = ask(method, path, body, headers, **options)
            self.replies.append(f"{method} {path}\n{reply.headers}\n".encode() + reply.body)
            self.look_for_pictures(reply)
            return reply

        agent.request = request
        for part in ("events", "stream"):
            self.follow(agent, session, part)

    def look_for_pictures(self, reply):
        if reply.headers.get_content_type().startswith("image/") and reply.body:
            self.pictures[f"reply {len(self.replies)}"] = picture_of(reply.body)

    def follow(self, agent, session, part):
        """All that comes by a stream, also what came before it is cut by a hold; it is opened again then, as clients do."""
        text = []
        self.streams.append(text)

        def read():
            with contextlib.suppress(Exception):
                with Stream(agent, session, part=part, timeout_s=600) as stream:
                    while True:
                        stream.more()
                        text.append(stream.text)
                        stream.text = stream.text[-65536:]

        threading.Thread(target=read, daemon=True).start()

    def all(self):
        return b"".join(self.replies) + "".join("".join(text) for text in self.streams).encode()


class Person:
    """A controller with a viewer of the session."""

    def __init__(self, session):
        self.session = session
        self.api = Api(session.api.url, session.tokens["controller"])
        self.viewer = rfb.watch(session, "controller", controls=True)

    def lease(self, action, **fields):
        return self.api.call("POST", f"{self.session.path}/lease", {"action": action, **fields})

    def take(self, **fields):
        return self.lease("take", viewer=self.viewer.viewer, **fields)

    def sees(self, colour):
        """Where a colour is on the screen that comes to the viewer."""
        return place(colour, self.viewer.whole)

    def fill(self, colour, text):
        self.viewer.click(*self.sees(colour).values())
        self.viewer.type(text)


class Story:
    """A server, a session with Firefox on the page of the log-in, what the agent hears, and the site."""

    def __init__(self, server, receiver, tmp_path, **spec):
        self.server, self.receiver = server, receiver
        self.password, self.code = make_secret(), make_secret(20, READABLE)
        self.session = server.api.new(image="desktop", **spec)
        self.heard = Heard(self.session)
        self.site = site.Site(self.session, self.password, tmp_path / "site.log")
        loggers.put(self.session)
        open_page(self.session, self.site.url, "Log in")

    def log_in_begins(self):
        """The agent comes as far as it can, and asks."""
        session = self.session
        session.do("click", **place(site.PASSWORD, session.shot))
        until(lambda: session.agent.call("GET", session.path).get("focus", {}).get("password"))
        with pytest.raises(Refused) as refused:
            session.try_act({"action": "type", "text": "is it this"})
        assert refused.value.code == "sensitive_field"
        answer = session.try_act({"action": "request_human", "kind": "login", "reason": "the password of anna"}, headers={"Idempotency-Key": "ask"})
        assert answer["ok"], answer
        assert session.agent.call("GET", f"{session.path}/lease")["holder"] == "nobody"
        self.receiver.wait(lambda events: any(event.get("lease", {}).get("holder") == "nobody" for event in events))

    def log_in(self, person):
        """The person does the rest, with a code that is shown as it is typed."""
        person.fill(site.USER, "anna")
        person.fill(site.PASSWORD, self.password)
        before = person.viewer.whole().copy()
        person.fill(site.CODE, self.code)
        until(lambda: canary.is_in(self.code, canary.read_picture(person.viewer.whole())))
        # The search of pictures would find it.
        assert canary.Secrets(code=self.code).in_pictures({"before": before, "typed": person.viewer.whole()}) == ["picture typed: code"]
        person.viewer.click(*person.sees(site.LOG_IN).values())
        person.sees(site.INBOX)
        assert self.site.forms() == [{"user": "anna", "password": self.password, "code": self.code}]

    def refused_meanwhile(self):
        """All that an agent would look with."""
        session = self.session
        for method, path, body in (("GET", "/screenshot", None), ("POST", "/act", {"actions": [], "observe": True}), ("GET", "/stream", None),
                                   ("POST", "/act", {"actions": [{"action": "exec", "argv": ["true"]}]}),
                                   ("POST", "/act", {"actions": [{"action": "tree"}]}), ("POST", "/act", {"actions": [{"action": "windows"}]}),
                                   ("POST", "/act", {"actions": [{"action": "clipboard_get"}]})):
            reply = session.agent.request(method, session.path + path, body)
            assert (reply.status, reply.json["code"]) == (423, "lease_held"), (method, path, body, reply.body[:300])
        state = session.agent.call("GET", session.path)
        assert state["lease"]["holder"] == "human" and "focus" not in state

    def goes_on(self):
        """The agent looks, and is inside."""
        session = self.session
        reply = session.agent.request("POST", f"{session.path}/act", {"actions": [{"action": "move", "x": 5, "y": 5}]})
        assert reply.json.get("code") == "must_observe" or reply.json["results"][0]["error"]["code"] == "must_observe", reply.body
        look = session.look()
        assert box(look, tuple(bytes.fromhex(site.INBOX[1:])))
        assert "Welcome Anna" in canary.read_picture(look)
        session.do("click", **place(site.READ, session.shot))
        until(lambda: any(window["title"].startswith("Mail") for window in session.windows()))
        self.heard.pictures["mail"] = session.look()
        # Keys used before give what they gave.
        answer = session.try_act({"action": "request_human", "kind": "login", "reason": "the password of anna"}, headers={"Idempotency-Key": "ask"})
        assert answer["ok"], answer
        for action in ({"action": "clipboard_get"}, {"action": "clipboard_get", "selection": "primary"}, {"action": "tree"}, {"action": "windows"}):
            session.try_act(action)
        session.agent.request("GET", session.path)

    def logs(self):
        """What the loggers wrote."""
        found = loggers.heard(self.session)
        return found

    def search(self, *also):
        """Where a secret is found."""
        sought = canary.Secrets(password=self.password, code=self.code, **{f"text {n}": text for n, text in enumerate(also)})
        server, session = self.server, self.session
        found = sought.in_processes(server)
        for name, text in self.logs().items():
            found += [f"logger {name}: {what} as {how}" for what, secret in sought.secrets.items() for how in loggers.traces(text, secret)]
        with contextlib.suppress(Refused):
            found += [f"home: {what}" for what in sought.find(session.run("sh", "-c", "tar c /home /tmp /run/user 2>/dev/null | base64 -w0").encode())]
        found += [f"what came to the agent: {what}" for what in sought.find(self.heard.all())]
        operator = server.api
        for path in ("/metrics", "/v1/sessions", session.path, f"{session.path}/journal", f"{session.path}/tokens", "/v1/approvals"):
            found += [f"{path}: {what}" for what in sought.find(operator.request("GET", path).body)]
        found += [f"webhooks: {what}" for what in sought.find(json.dumps([[event, headers] for event, headers, *_ in self.receiver.got]).encode())]
        found += [f"the log: {what}" for what in sought.find(server.log_text().encode())]
        pictures = self.heard.pictures | canary.pictures_of(server.state / "journals" / session.id)
        assert len(pictures) > 3
        found += sought.in_pictures(pictures)
        session.end()
        return found + sought.in_files(server.state) + sought.in_processes(server)


@pytest.fixture
def story(make_server, tmp_path):
    receiver = Receiver()
    hooks = tmp_path / "webhooks.json"
    hooks.write_text(json.dumps({"webhooks": [{"url": receiver.url(), "key": KEY}], "allow": ["127.0.0.1"]}))
    hooks.chmod(0o600)
    made = []

    def make(**spec):
        made.append(Story(make_server("--webhooks", hooks), receiver, tmp_path, **spec))
        return made[-1]

    yield make
    for one in made:
        one.site.stop()
    receiver.close()


def test_a_log_in(story):
    """kind login: what the agent runs is ended when the person takes the controls, and finds nothing before or after."""
    one = story()
    loggers.start_by_exec(one.session, MARK)
    loggers.start_in_terminal(one.session, MARK)
    open_page(one.session, one.site.url, "Log in")
    one.log_in_begins()
    person = Person(one.session)
    person.take()
    one.refused_meanwhile()
    one.log_in(person)
    person.lease("give", note="you are in")
    one.goes_on()
    person.viewer.close()
    assert one.search() == []


def test_a_log_in_at_the_console(story, tmp_path):
    """The same by a person in a browser, at the console."""
    one = story()
    loggers.start_by_exec(one.session, MARK)
    open_page(one.session, one.site.url, "Log in")
    one.log_in_begins()
    given = {"url": one.server.url, "session": one.session.id, "token": one.session.tokens["controller"], "password": one.password, "code": one.code}
    folder = npm.workshop(tmp_path / "person", *(pathlib.Path(__file__).parents[1] / "console").glob("*.mjs"))
    done = subprocess.run([npm.NODE, folder / "story.mjs", "story", json.dumps(given)], capture_output=True, text=True, timeout=240, cwd=folder, env=npm.ENV)
    assert done.returncode == 0, (one.site.forms(), done.stdout + done.stderr)
    assert one.site.forms() == [{"user": "anna", "password": one.password, "code": one.code}]
    one.goes_on()
    assert one.search() == []


def test_a_log_in_beside_programs_that_are_kept(story):
    """What the agent runs stands still meanwhile and goes on afterwards, but what listens on the accessibility bus, which is ended: nothing of it waits for them."""
    one = story()
    loggers.start_by_exec(one.session, MARK)
    loggers.start_in_terminal(one.session, MARK)
    open_page(one.session, one.site.url, "Log in")
    one.log_in_begins()
    person = Person(one.session)
    lease = person.take(keep_running=True)
    assert lease["ended"] == ["overhear"] and {"perl", "xterm"} <= set(lease["programs"]), lease
    one.log_in(person)
    person.lease("give")
    one.goes_on()
    # They do go on: what is copied now they get.
    one.session.run("sh", "-c", f"echo {MARK}-again >/tmp/{MARK}-again")
    for how in ("exec", "term"):
        until(lambda: f"{MARK}-again" in one.session.run("cat", f"heard-log-{how}"))
    assert one.search() == []


def test_a_long_secret_is_pasted(story):
    """By the clipboard of the person's own machine, in one piece."""
    one = story()
    one.log_in_begins()
    person = Person(one.session)
    person.viewer.set_encodings(rfb.RAW, rfb.CLIPBOARD)
    person.take()
    key = make_secret(2000)
    person.fill(site.USER, "anna")
    person.viewer.offer(key)
    person.viewer.click(*person.sees(site.CODE).values())
    person.viewer.key(rfb.CTRL, True)
    person.viewer.tap(ord("v"))
    person.viewer.key(rfb.CTRL, False)
    person.fill(site.PASSWORD, one.password)
    person.viewer.click(*person.sees(site.LOG_IN).values())
    person.sees(site.INBOX)
    assert one.site.forms() == [{"user": "anna", "password": one.password, "code": key}]
    person.lease("give")
    person.viewer.close()
    one.goes_on()
    assert one.search(key) == []
