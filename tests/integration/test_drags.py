# SPDX-License-Identifier: GPL-2.0-or-later
"""Drags are what applications take for drags: in pages, in a terminal, between windows; with load beside them, and by single actions (case M04)."""
import json
import time

import pytest

import editors
from conftest import until
from load import busy
from page import HERE, YELLOW, open_page
from pictures import box, centre
from terminal import show_marked

GREEN = (0x00, 0xFF, 0x7F)
HEAD = """<!doctype html><meta charset="utf-8"><title>-</title>
<style>div { position: absolute; width: 100px; height: 60px }</style>"""
# The title counts the drags that were begun, were over something, were dropped and have ended, in this order.
DROP = HEAD + """<div draggable="true" style="left: 100px; top: 100px; background: #ffcc00"></div>
<div style="left: 500px; top: 300px; background: #00ff7f"></div>
<script>
	let n = 0, seen = []
	for (const name of ["dragstart", "dragover", "drop", "dragend"])
		document.addEventListener(name, event => {
			name === "dragstart" ? event.dataTransfer.setData("text/plain", "x") : event.preventDefault()
			if (!seen.includes(name))
				seen.push(name)
			if (name !== "dragend")
				return
			n += seen.join(" ") === "dragstart dragover drop dragend"
			document.title = `${n} whole`
			seen = []
		})
</script>"""
# A list whose items change places while one of them is dragged over the others; the title tells their order.
LIST = """<!doctype html><meta charset="utf-8"><title>-</title>
<style>body { margin: 40px } p { width: 300px; height: 60px; margin: 0; background: #ddd } p:first-child { background: #ffcc00 }</style>
<main><p draggable="true">a<p draggable="true">b<p draggable="true">c<p draggable="true">d</main>
<script>
	let held
	const list = document.querySelector("main")
	list.ondragstart = event => { held = event.target; event.dataTransfer.setData("text/plain", held.textContent) }
	list.ondragover = event => event.preventDefault()
	list.ondragenter = event => {
		const over = event.target.closest && event.target.closest("p")
		if (over && over !== held)
			over.compareDocumentPosition(held) & Node.DOCUMENT_POSITION_PRECEDING ? over.after(held) : over.before(held)
	}
	list.ondrop = event => {
		event.preventDefault()
		document.title = [...list.children].map(item => item.textContent).join("")
	}
</script>"""
# What a drawing surface gets: press, moves, release; it tells its server once the button is up.
CANVAS = HEAD + """<style>body { margin: 0 }</style><div style="left: 0; top: 0; width: 700px; height: 500px; background: #ffcc00"></div>
<script>
	let line
	const at = event => [event.screenX, event.screenY]
	document.onmousedown = event => { line = [at(event)]; event.preventDefault() }
	document.onpointermove = event => event.buttons && line.push(...event.getCoalescedEvents().map(at))
	document.onmouseup = event => { line.push(at(event)); fetch("/", {method: "POST", body: JSON.stringify([event.shiftKey, line]) + "\\n"}) }
</script>"""


def show(session, page, browser="firefox"):
    """A page in a browser of the session."""
    session.run("sh", "-c", "cat >page.html", stdin=page)
    open_page(session, "file:///home/user/page.html", "-", browser)


def find(session, colour):
    return until(lambda: box(session.shot(), colour), within_s=60)


def title(session):
    return next((window["title"] for window in session.windows() if window["focused"]), "")


def wait_title(session, start):
    return until(lambda: (now := title(session)).startswith(start) and now)


def comes(session, start, within_s=10):
    """True if the title begins so, or does so soon."""
    deadline = time.monotonic() + within_s
    while not (is_so := title(session).startswith(start)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so


def by_action(**fields):
    return lambda path: [{"action": "drag", "path": path, **fields}]


def by_single_actions(path):
    first, *others = ({"x": x, "y": y} for x, y in path)
    return [{"action": "mouse_down", **first}, *({"action": "move", **point} for point in others), {"action": "mouse_up"}]


@pytest.mark.parametrize("browser", ["firefox", pytest.param("chromium", marks=pytest.mark.long)])
def test_drag_and_drop_in_a_page(make_session, browser):
    session = make_session("desktop")
    show(session, DROP, browser)
    source, target = (tuple(centre(find(session, colour)).values()) for colour in (YELLOW, GREEN))
    ways = [by_action(), by_action(duration_ms=0), by_single_actions, by_action(duration_ms=1000, hold="ctrl")]
    for n, way in enumerate(ways, 1):
        session.act(*way([source, target]))
        wait_title(session, f"{n} whole")


@pytest.mark.long
def test_drag_and_drop_under_load(make_session):
    session = make_session("desktop")
    show(session, DROP)
    source, target = (tuple(centre(find(session, colour)).values()) for colour in (YELLOW, GREEN))
    with busy(12):
        for n in range(1, 5):
            session.act(*(by_single_actions if n % 2 else by_action())([source, target]))
            wait_title(session, f"{n} whole")


# The same page, slow to hear of a press and, once a drag, to answer what comes over it, while something turns elsewhere in it.
SLOW = DROP + """<style>@keyframes turn { to { transform: rotate(360deg) } }</style>
<div style="left: 900px; top: 100px; background: #ddd; animation: turn 1s linear infinite"></div>
<script>
	const work = ms => { for (const until = performance.now() + ms; performance.now() < until;); }
	document.addEventListener("mousedown", () => {
		work(400)
		document.addEventListener("dragenter", () => work(900), {once: true})
	})
</script>"""


@pytest.mark.parametrize("way", [by_action(), by_single_actions])
def test_a_slow_page_in_which_something_moves(make_session, way):
    """What is drawn elsewhere is no answer to the drag. On a busy machine the page may be slower than any patience: then again."""
    session = make_session("desktop")
    show(session, SLOW)
    source, target = (tuple(centre(find(session, colour)).values()) for colour in (YELLOW, GREEN))
    until(lambda: session.act(*way([source, target])) and comes(session, "1 whole"))


@pytest.mark.parametrize("browser", ["firefox", pytest.param("chromium", marks=pytest.mark.long)])
def test_a_list_in_a_page(make_session, browser):
    """Each item that the pointer comes over makes room. A browser on a busy machine may take two for one: then again, from the beginning."""
    session = make_session("desktop")
    show(session, LIST, browser)
    place = centre(find(session, YELLOW))

    def drags():
        for (start, end), fields, order in ((0, 180), {}, "bcda"), ((180, 60), {"duration_ms": 600}, "bacd"):
            session.do("drag", path=[(place["x"], place["y"] + down) for down in (start, end)], **fields)
            if not comes(session, order):
                session.do("key", keys="F5")
                return wait_title(session, "-") and session.do("wait_settled", quiet_ms=300) and False
        return True

    until(drags, within_s=120)


PATHS = [
    [[300, 400], [600, 300]], [[600, 300], [300, 400]], [[400, 500], [400, 250]], [[300, 300], [301, 300]],
    [[300, 300], [600, 300], [450, 500]], [[300 + i, 300 + i * i % 97] for i in range(256)],
]


def test_lines_on_a_canvas(make_session):
    """Press, motions on the lines, through every point, and release, where they are sent; Shift is held meanwhile when it is asked for."""
    session = make_session("desktop")
    session.run("sh", "-c", "cat >form_server.pl", stdin=(HERE / "form_server.pl").read_text())
    session.run("perl", "form_server.pl", "8000", stdin=CANVAS)
    open_page(session, "http://127.0.0.1:8000/", "-")
    find(session, YELLOW)
    for i, path in enumerate(PATHS):
        fields = {"hold": "shift"} if i % 2 else {}
        session.do("drag", path=path, duration_ms=100 if len(path) == 2 else 3000, **fields)
        told = until(lambda: (lines := session.exec("cat", "received")["stdout"].splitlines(True)) and len(lines) > i and lines[i])
        shift, line = json.loads(told)
        assert shift == ("hold" in fields)
        assert line[0] == path[0] and line[-1] == path[-1], (line, path)
        # GTK folds motions that come faster than it draws; so a corner may be cut, by a few pixels: slow motions leave it time on a busy machine.
        assert all(min(abs(x - a) + abs(y - b) for a, b in line) <= 60 for x, y in path), (line, path)
        assert len(line) >= 4
        session.run("true")


def test_drag_moves_a_window(session):
    session.do("launch", app="terminal")
    before = session.windows()[0]
    x, y = before["x"] + before["width"] // 2, before["y"] - 8
    for way, sign in ((by_action(), 1), (by_single_actions, -1), (by_action(duration_ms=0), 1)):
        start = session.windows()[0]
        session.act(*way([[x, y], [x + sign * 100, y + sign * 60]]))
        until(lambda: [(window["x"] - start["x"], window["y"] - start["y"]) for window in session.windows()] == [(sign * 100, sign * 60)])
        x, y = x + sign * 100, y + sign * 60


def test_text_between_windows(session):
    """What is selected in one editor is dropped in another."""
    for name, text in (("from", "needle"), ("to", "")):
        session.run("sh", "-c", f"cat >{name}.txt", stdin=text)
        session.do("launch", app="editor", args=[f"{name}.txt"])
    windows = {("from" if "from.txt" in window["title"] else "to"): window for window in session.windows()}
    places = {"from": (10, 40), "to": (650, 40)}
    for name, (x, y) in places.items():
        session.do("resize_window", window=windows[name]["id"], width=560, height=500)
        session.do("move_window", window=windows[name]["id"], x=x, y=y)
    windows = {("from" if "from.txt" in window["title"] else "to"): window for window in session.windows()}
    session.act({"action": "focus_window", "window": windows["from"]["id"]}, {"action": "key", "keys": "ctrl+a"}, observe=True)
    blue = find(session, (0x35, 0x84, 0xE4))
    source = centre(blue)
    session.do("drag", path=[(source["x"], source["y"]), (windows["to"]["x"] + 200, source["y"] + 60)])
    session.act({"action": "focus_window", "window": windows["to"]["id"]}, {"action": "key", "keys": "ctrl+s"})
    until(lambda: session.run("cat", "to.txt").strip() == "needle")


def test_from_an_untrusted_program_to_a_browser(make_session):
    """X lets the two not talk of a drag: nothing comes over and nothing is lost, and copying does what was meant."""
    browser = editors.start(make_session, "firefox")
    session = browser.session
    firefox = session.windows()[0]["id"]
    session.run("sh", "-c", "printf needle >from.txt")
    editor = session.do("launch", app="editor", args=["from.txt"])["window"]
    session.act({"action": "resize_window", "window": editor, "width": 400, "height": 300}, {"action": "move_window", "window": editor, "x": 800, "y": 450},
                {"action": "focus_window", "window": editor}, {"action": "key", "keys": "ctrl+a"}, observe=True)
    source = centre(find(session, (0x35, 0x84, 0xE4)))
    session.do("drag", path=[(source["x"], source["y"]), (300, 400)])
    assert session.agent.call("GET", session.path)["held"] == {"keys": [], "buttons": []}
    session.act({"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"}, {"action": "focus_window", "window": firefox})
    assert browser.saved() == ""
    session.do("key", keys="ctrl+v")
    assert browser.text("needle") == "needle" and session.run("cat", "from.txt") == "needle"


def test_text_in_a_terminal(session):
    """Text that a drag has selected is what the middle button pastes; backwards, too, and by single actions."""
    left, top, right, bottom = show_marked(session, "alpha beta gamma", "beta")
    middle = (top + bottom) // 2
    ends = [(left + 1, middle), (right + 1, middle)]  # a cell counts once the pointer is beyond its middle
    for n, actions in enumerate((by_action()(ends), by_action(duration_ms=0)(ends[::-1]), by_single_actions(ends)), 1):
        # xterm counts presses by their time alone, wherever they are.
        session.act({"action": "wait", "duration_ms": 300}, *actions,
                    {"action": "click", "x": left + 300, "y": middle + 200, "button": "middle"}, {"action": "key", "keys": "enter"})
        until(lambda: session.run("cat", "got") == n * "beta\n")
