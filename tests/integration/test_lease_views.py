# SPDX-License-Identifier: GPL-2.0-or-later
"""The lease and those who watch: whose keys count, from when on, and what becomes of a person whose viewer is gone."""
import os
import signal
import time

from api import in_thread
from conftest import until
from jail import part
from rfb import watch
from test_lease import Person, code_of, look, other

SHIFT = 0xFFE1


class Listener:
    """What a program of the group apps gets of keys. (A terminal is the agent's, and stands still in a hold.)"""

    def __init__(self, session):
        session.act({"action": "launch", "app": "editor"}, observe={"picture": "none"})
        self.session = session

    def text(self):
        look(self.session)
        self.session.act({"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})
        return self.session.do("clipboard_get")["text"] or ""


def echo(viewer):
    """What the viewer has sent so far has been read, and the screen after it."""
    viewer.whole()


def test_keys_count_for_the_holder_alone(make_session):
    session = make_session("desktop")
    listener = Listener(session)
    person = Person(session)
    with watch(session) as viewer, watch(session) as second:
        viewer.type("before")
        echo(viewer)
        lease = person.take(viewer=viewer.viewer)
        assert lease["viewer"] == viewer.viewer and lease["holder"] == "human"
        second.type("second")
        echo(second)
        viewer.type("mine ")
        echo(viewer)
        person.give()
        viewer.type("after")
        echo(viewer)
    assert listener.text() == "mine "


def test_a_take_finds_the_viewer(session):
    person = Person(session)
    with watch(session) as viewer:
        assert person.take()["viewer"] == viewer.viewer
    with watch(session, "viewer"):
        until(lambda: person.lease()["viewer"] is None)
    assert code_of(other(session).take, viewer="v1") in ("bad_field", "lease_held")


def test_another_ones_viewer(session):
    with watch(session) as viewer:
        assert code_of(other(session).take, viewer=viewer.viewer) == "bad_field"
    assert Person(session).lease()["holder"] == "agent"


def test_a_viewer_without_controls(session):
    person = Person(session)
    with watch(session, controls=False) as viewer:
        assert code_of(person.take, viewer=viewer.viewer) == "bad_field"
        assert person.take()["viewer"] is None


def test_a_viewer_that_dies_and_comes_back(session):
    """What it held is let go of, and the person has thirty seconds."""
    person = Person(session)
    with watch(session) as viewer:
        person.take(viewer=viewer.viewer)
        viewer.key(SHIFT, True)
        echo(viewer)
    lost = until(lambda: (lease := person.lease()) and not lease["viewer"] and lease)
    assert lost["holder"] == "human" and lost["epoch"] == 2
    with watch(session) as viewer:
        until(lambda: person.lease()["viewer"] == viewer.viewer)
        assert person.lease()["epoch"] == 2
    until(lambda: not person.lease()["viewer"])
    told = person.lease(wait_epoch=2, timeout_ms=40000)
    assert (told["holder"], told["epoch"], told["expires_at"]) == ("nobody", 3, None)
    assert code_of(session.shot) == "lease_held"


def test_on_lost(make_session):
    session = make_session("minimal", on_lost={"return_after_s": 1})
    person = Person(session)
    with watch(session) as viewer:
        person.take(viewer=viewer.viewer)
    assert person.lease(wait_epoch=2, timeout_ms=60000)["holder"] == "nobody"
    assert person.lease(wait_epoch=3, timeout_ms=20000)["holder"] == "agent"
    look(session)


def test_a_login_is_the_holders_to_see(session):
    person = Person(session)
    thumbnail = f"{session.path}/thumbnail"
    person.take(kind="login")
    assert person.api.request("GET", thumbnail).status == 200
    for api in (session.api, other(session).api):
        reply = api.request("GET", thumbnail)
        assert (reply.status, reply.json["code"]) == (423, "lease_held")
    person.take(share=True)
    assert session.api.request("GET", thumbnail).status == 200
    person.take()
    session.api.call("POST", f"{session.path}/lease", {"action": "clear"})
    # Half a password may stand there.
    assert person.api.request("GET", thumbnail).status == 423


def test_a_display_that_does_not_answer(session):
    """X stands still: the lease goes on without it."""
    person = Person(session)
    server = part(session.id, "Xvfb")
    os.kill(server, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        assert person.take()["holder"] == "human"
        assert code_of(session.shot) == "lease_held"
        assert person.lease()["holder"] == "human"
        assert time.monotonic() - begun < 3
        assert person.give()["holder"] == "agent"
        assert time.monotonic() - begun < 9
    finally:
        os.kill(server, signal.SIGCONT)
    look(session)


def test_an_answer_that_was_being_made(session):
    """A picture that was asked for before the take and is ready after it is nobody's any more."""
    person = Person(session)
    server = part(session.id, "Xvfb")
    os.kill(server, signal.SIGSTOP)
    try:
        thread, results = in_thread(session.shot)
        time.sleep(0.3)  # it waits for X meanwhile, which takes two seconds at most
        assert thread.is_alive()
        person.take()
    finally:
        os.kill(server, signal.SIGCONT)
    thread.join()
    assert results[0].code == "lease_lost"
