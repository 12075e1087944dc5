# SPDX-License-Identifier: GPL-2.0-or-later
"""What is sent in one order arrives in that order: keys never overtake the click or the shortcut that gives them their place."""
import time

from conftest import until
from page import open_page
from pictures import box

A = (0xFF, 0xCC, 0x00)
B = (0x00, 0xFF, 0x7F)
PAGE = """<!doctype html><meta charset="utf-8"><title>-</title>
<style>input { width: 300px; height: 60px; border: 0; display: block; margin: 40px; font-size: 5px } input:focus { outline: 0 }</style>
<input id="a" style="background: #fc0; color: #fc0"><input id="b" style="background: #00ff7f; color: #00ff7f">
<script>oninput = () => { document.title = a.value + "|" + b.value }</script>"""
ROUNDS = 5


def test_keys_go_to_the_field_that_was_clicked(make_session):
    session = make_session("desktop")
    session.run("sh", "-c", "cat >two.html", stdin=PAGE)
    open_page(session, "file:///home/user/two.html", "-")
    # Behind the text that is there, since a click puts the caret where it is.
    a, b = ({"x": right - 10, "y": top + 30} for _, top, right, _ in (until(lambda c=c: box(session.shot(), c)) for c in (A, B)))
    for i in range(ROUNDS):
        session.act({"action": "click", **a}, {"action": "type", "text": f"a{i} "}, {"action": "click", **b}, {"action": "type", "text": f"b{i} "})
    wanted = "".join(f"a{i} " for i in range(ROUNDS)) + "|" + "".join(f"b{i} " for i in range(ROUNDS)).rstrip()
    title = until(lambda: next((w["title"] for w in session.windows() if f"b{ROUNDS - 1}" in w["title"]), None))
    assert title.startswith(wanted)


def go(session, page, title, within_s):
    """Types an address right after the shortcut that leads to the address bar; whether the page comes."""
    session.act({"action": "key", "keys": "ctrl+l"}, {"action": "type", "text": page + "\n"})
    deadline = time.monotonic() + within_s
    while title not in session.windows()[0]["title"]:
        if time.monotonic() > deadline:
            return False
        session.do("wait", duration_ms=50)
    # A page that still loads keeps Firefox from its keys, and draws what a shortcut could have drawn.
    session.act(observe={"picture": "none"})
    return True


def test_text_after_a_shortcut_goes_where_the_shortcut_leads(desktop):
    # Firefox loses the first keys after its start, however quiet it looks: that is not what is tested here.
    until(lambda: go(desktop, "about:buildconfig", "Build Configuration", 3), within_s=30)
    for _ in range(3):
        for page, title in (("about:license", "Licenses"), ("about:buildconfig", "Build Configuration")):
            assert go(desktop, page, title, 20), desktop.windows()


def test_text_after_a_chord_that_edits(make_session):
    """No wait between them, and still in their order."""
    session = make_session("desktop")
    session.run("sh", "-c", "cat >two.html", stdin=PAGE)
    open_page(session, "file:///home/user/two.html", "-")
    left, top, _, _ = until(lambda: box(session.shot(), A))
    session.act({"action": "click", "x": left + 10, "y": top + 30}, {"action": "type", "text": "first"})
    for i in range(ROUNDS):
        session.act({"action": "key", "keys": "ctrl+a"}, {"action": "type", "text": f"a{i}"}, {"action": "key", "keys": "ctrl+shift+Home"},
                    {"action": "key", "keys": "ctrl+x"}, {"action": "type", "text": f"b{i} c"}, {"action": "key", "keys": "ctrl+backspace"},
                    {"action": "type", "text": "d"})
        until(lambda: any(window["title"].startswith(f"b{i} d|") for window in session.windows()))
