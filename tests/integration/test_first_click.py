# SPDX-License-Identifier: GPL-2.0-or-later
"""One click in a jailed Firefox: a form on a page of a small server inside the same jail."""
import json
import pathlib
import re
import urllib.parse

import pytest

from conftest import TREE, until
from pictures import box, centre

HERE = pathlib.Path(__file__).parent
FIELD = (0xFF, 0xCC, 0x00)
BUTTON = (0x00, 0x55, 0xFF)
DONE = (0x00, 0xFF, 0x7F)
TEXT = "Straße, fløde & <b>\"x\"</b> 100% $HOME `id` \\ 日本語 ŁÓDŹ 😀"


def serve_form(session, port=8000):
    """Starts the form's server inside the session; returns its URL."""
    session.run("sh", "-c", "cat >form_server.pl", stdin=(HERE / "form_server.pl").read_text())
    session.run("perl", "form_server.pl", str(port), stdin=(HERE / "form.html").read_text())
    return f"http://127.0.0.1:{port}/"


def find(session, colour):
    """Where a colour is on the screen, once it is there and the screen is quiet."""
    return until(lambda: box(session.look(), colour))


@pytest.fixture
def desktop(make_session):
    """A desktop whose browser shows the form."""
    session = make_session("desktop")
    session.do("launch", app="firefox", args=[serve_form(session)])
    return session


def test_form_is_filled_and_received(desktop):
    desktop.act({"action": "click", **centre(find(desktop, FIELD))}, {"action": "type", "text": TEXT})
    desktop.do("click", **centre(find(desktop, BUTTON)))
    find(desktop, DONE)
    received = urllib.parse.parse_qs(desktop.run("cat", "received"), strict_parsing=True)
    assert received == {"text": [TEXT]}


def test_click_lands_where_it_is_sent(desktop):
    """The field takes text only where it was clicked: a click beside it leaves it alone."""
    left, top, _, _ = find(desktop, FIELD)
    desktop.act({"action": "click", "x": left - 2, "y": top - 2}, {"action": "type", "text": "lost"})
    desktop.act({"action": "click", "x": left, "y": top}, {"action": "type", "text": "kept"})
    desktop.do("click", **centre(find(desktop, BUTTON)))
    find(desktop, DONE)
    assert desktop.run("cat", "received") == "text=kept"


def test_first_session_of_the_readme(make_session):
    """Its lists of actions, by curl and by the command line, right after the session was made."""
    lists = [json.loads(text) for text in re.findall(r"\[\{[^\[\]]*Hello, world[^\[\]]*\}\]", (TREE / "README.md").read_text())]
    assert len(lists) == 2
    for actions in lists:
        session = make_session("desktop", apps=["firefox"])
        session.act(*actions)
        until(lambda: any(node.get("value") == "Hello, world" for node in session.do("tree")["nodes"]), within_s=10)
