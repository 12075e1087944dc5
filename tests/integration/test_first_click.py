# SPDX-License-Identifier: GPL-2.0-or-later
"""One click in a jailed Firefox: a form on a page of a small server inside the same jail."""
import json
import pathlib
import re
import urllib.parse

import pytest

from api import Refused
from conftest import TREE, until
from editors import EDITORS, patient
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


PAGE = """<!doctype html><meta charset="utf-8"><title>page</title><body style="height: 100vh">
<script>onclick = () => fetch("/", {method: "POST", body: "clicked"})</script>"""


@pytest.mark.parametrize("app", ["firefox", pytest.param("chromium", marks=pytest.mark.long)])
def test_launch_and_click(make_session, app):
    """In one list: the window is there before its page."""
    session = make_session("desktop")
    session.run("sh", "-c", "cat >form_server.pl; : >received", stdin=(HERE / "form_server.pl").read_text())
    session.run("perl", "form_server.pl", "8000", stdin=PAGE)
    session.act({"action": "launch", "app": app, "args": ["http://127.0.0.1:8000/"]}, {"action": "click", "x": 600, "y": 500})
    until(lambda: session.run("cat", "received") == "clicked", within_s=10)


@pytest.mark.parametrize("name", ["gtk3", "gtk4"])
def test_launch_and_click_an_editor(make_session, name):
    """Its caret is where it was clicked, not at the beginning."""
    image, app, _ = EDITORS[name]
    session = make_session(image)
    session.run("sh", "-c", "yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | head -n 40 >text.txt")
    session.act({"action": "launch", "app": app, "args": ["text.txt"]}, {"action": "click", "x": 560, "y": 400})
    patient(lambda: session.act({"action": "type", "text": "X"}, {"action": "key", "keys": "ctrl+s"}))
    saved = until(lambda: session.run("sh", "-c", "grep -n X text.txt || true"))
    assert not saved.startswith("1:"), saved


PLACE = {"x": 560, "y": 400}


@pytest.mark.parametrize("actions", [[{"action": "click", **PLACE}], [{"action": "move", **PLACE}, {"action": "click", **PLACE}],
                                     [{"action": "move", **PLACE}, {"action": "click"}]])
def test_what_comes_in_between(make_session, actions):
    """The screen is never quiet, so that the click waits; another window comes to its place meanwhile."""
    session = make_session("desktop")
    session.do("launch", app="editor")
    seen = session.act(observe=True)["at"]
    session.run("sh", "-c", """exec >text 2>&1 </dev/null
        xterm -geometry 20x4+0+0 -e sh -c 'while :; do date +%N; done' & (sleep 1; exec xterm -bg red -geometry 40x20+450+300) &""")
    until(lambda: len(session.windows()) == 2)
    with pytest.raises(Refused) as refused:
        session.act(*actions, seen=seen)
    assert refused.value.code == "stale_target"
