# SPDX-License-Identifier: GPL-2.0-or-later
"""The wheel turns as many notches as were asked for, the first one too, in every toolkit; the side buttons go back and forward."""
import json

import pytest

from conftest import until
from page import HERE, YELLOW, open_page
from pictures import box, centre

# Tells how far it was turned in all, in each direction, and whether Ctrl was held at last.
PAGE = """<!doctype html><meta charset="utf-8"><title>wheel</title>
<style>body { margin: 0; width: 9000px; height: 90000px; background: #ffcc00 }</style>
<script>
	let sending = Promise.resolve(), x = 0, y = 0
	addEventListener("wheel", event => {
		if (event.ctrlKey)
			event.preventDefault()
		x += event.deltaX
		y += event.deltaY
		const body = JSON.stringify([x, y, event.ctrlKey]) + "\\n"
		sending = sending.then(() => fetch("/", {method: "POST", body}))
	}, {passive: false})
</script>"""
LINK = """<!doctype html><meta charset="utf-8"><title>{0}</title><style>a {{ display: block; height: 300px; background: #ffcc00 }}</style>
<a href="{1}.html"></a>"""


def told(session):
    text = session.exec("tail", "-n", "1", "received")["stdout"]
    return json.loads(text) if text.endswith("\n") else None


@pytest.mark.parametrize("browser", ["firefox", pytest.param("chromium", marks=pytest.mark.long)])
def test_notches_in_a_page(make_session, browser):
    session = make_session("desktop")
    session.run("sh", "-c", "cat >form_server.pl", stdin=(HERE / "form_server.pl").read_text())
    session.run("perl", "form_server.pl", "8000", stdin=PAGE)
    open_page(session, "http://127.0.0.1:8000/", "wheel", browser)
    place = centre(until(lambda: box(session.shot(), YELLOW), within_s=60))
    session.do("scroll", **place, dx=1, dy=1)
    wide, high = until(lambda: (now := told(session)) and all(now[:2]) and now[:2])  # of one notch, which is not the same both ways
    assert wide > 0 and high > 0
    x, y = 1, 1
    # The first step is one that has just come to the window, or after a key or a click of another device, where toolkits may lose it.
    for before in ([{"action": "move", "x": 600, "y": 10}], [{"action": "key", "keys": "shift"}], [{"action": "click", **place}], []):
        for dx, dy in ((0, 1), (0, -2), (1, 0), (-1, 0), (3, 2), (100, 100), (-100, -100)):
            session.act(*before, {"action": "scroll", **place, "dx": dx, "dy": dy})
            x, y = x + dx, y + dy
            until(lambda: told(session)[:2] == [x * wide, y * high])
    session.do("scroll", **place, dy=1, hold="ctrl")
    until(lambda: told(session)[2])


@pytest.mark.parametrize("browser", ["firefox", pytest.param("chromium", marks=pytest.mark.long)])
def test_back_and_forward(make_session, browser):
    session = make_session("desktop")
    for here, there in (("one", "two"), ("two", "one")):
        session.run("sh", "-c", f"cat >{here}.html", stdin=LINK.format(here, there))
    open_page(session, "file:///home/user/one.html", "one", browser)
    place = centre(until(lambda: box(session.shot(), YELLOW), within_s=60))
    for button, page in (("left", "two"), ("back", "one"), ("forward", "two")):
        session.do("click", **place, button=button)
        until(lambda: any(window["title"].startswith(page) for window in session.windows()))


def check_notches(session, place, **notch):
    """One notch shows something, the first one too; two more and two back, at once and one by one, lead to the same places."""
    def turn(n, expected=None):
        was = session.look().tobytes()
        session.do("scroll", **place, **{axis: n * by for axis, by in notch.items()})
        if expected:
            return until(lambda: session.look().tobytes() == expected)
        return until(lambda: (now := session.look().tobytes()) != was and now)

    before = session.look().tobytes()
    one = turn(1)
    three = turn(2)
    assert len({before, one, three}) == 3
    turn(-1)
    turn(-1, one)
    turn(2, three)
    turn(-2, one)


def test_gtk(session):
    session.run("sh", "-c", "for i in $(seq 300); do echo line $i $(seq 200); done >long.txt")
    session.do("launch", app="editor", args=["long.txt"])
    window = session.windows()[0]
    place = {"x": window["x"] + window["width"] // 2, "y": window["y"] + window["height"] // 2}
    session.act({"action": "move", "x": 5, "y": 5}, {"action": "move", **place})
    check_notches(session, place, dy=1)
    check_notches(session, place, dx=1)


def test_terminal(session):
    session.act({"action": "launch", "app": "terminal"}, {"action": "type", "text": "seq 500; touch done\n"})
    until(lambda: session.exec("test", "-e", "done")["exit_code"] == 0)
    window = session.windows()[0]
    place = {"x": window["x"] + 200, "y": window["y"] + 200}
    session.act({"action": "move", "x": 5, "y": 5}, {"action": "move", **place})
    check_notches(session, place, dy=-1)


PDF = """%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[{kids}]/Count 20/MediaBox[0 0 300 400]>>endobj
{pages}
trailer<</Root 1 0 R>>
"""


def test_qt(make_session):
    session = make_session("desktop")
    pages = "\n".join(f"{i} 0 obj<</Type/Page/Parent 2 0 R>>endobj" for i in range(3, 23))
    session.run("sh", "-c", "cat >pages.pdf", stdin=PDF.format(kids=" ".join(f"{i} 0 R" for i in range(3, 23)), pages=pages))
    session.do("launch", app="viewer", args=["pages.pdf"])
    window = session.windows()[0]
    place = {"x": window["x"] + window["width"] // 2, "y": window["y"] + window["height"] // 2}
    session.act({"action": "move", "x": 5, "y": 5}, {"action": "move", **place})
    check_notches(session, place, dy=1)
