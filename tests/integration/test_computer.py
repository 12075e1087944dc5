# SPDX-License-Identifier: GPL-2.0-or-later
"""The actions of Anthropic's models, as they send them: done on a real session, and answered in their form."""
import concurrent.futures
import json
import re
import time

import pytest
from PIL import Image, ImageChops

from api import Session, picture_of
from computer import NOT_EXECUTED, call, done, failed, old, pointer, post, said, send, shown
from conftest import until
from page import open_page
from pictures import box, centre
from terminal import RawTerminal

OLDER = ["computer_20241022", "computer_20250124", "computer_20251124"]
YELLOW, GREEN = (0xFF, 0xCC, 0x00), (0x00, 0xFF, 0x7F)
# Its title tells how many events of the pointer there were, and of the last ones what, button or direction, which press in a row, where, and with
# which modifiers.
PROBE = """<!doctype html><meta charset="utf-8"><title>0</title>
<style>body { margin: 0; background: #ffcc00; height: 100vh; overflow: hidden }</style>
<script>
	let n = 0, last = []
	function tell(event, what) {
		const mods = ["ctrlKey", "shiftKey", "altKey"].filter(name => event[name]).map(name => name[0]).join("")
		last = [...last.slice(-7), [event.type, what, event.detail, event.screenX, event.screenY, mods].join()]
		document.title = [++n, ...last].join(" ")
		event.preventDefault()
	}
	for (const name of ["mousedown", "mouseup"])
		document.addEventListener(name, event => tell(event, event.button))
	document.addEventListener("wheel", event => tell(event, `${event.deltaX}/${event.deltaY}`), {passive: false})
	document.addEventListener("contextmenu", event => event.preventDefault())
	document.addEventListener("auxclick", event => event.preventDefault())
</script>"""


# --- the pointer, as an app gets it ---

def show(session, page):
    """The place of what is yellow in a page that a Firefox shows."""
    session.run("sh", "-c", "cat >page.html", stdin=page)
    open_page(session, "file:///home/user/page.html", re.search("<title>(.*?)</title>", page)[1])

    def look():
        found = box(session.shot(), YELLOW)
        return found and found[2] - found[0] >= 200 and found

    return until(look, within_s=60)


class Probe:
    """The page above in a Firefox that has all of the screen but its own bars."""

    def __init__(self, session):
        self.session = session
        self.left, self.top, self.right, self.bottom = show(session, PROBE)
        until(lambda: self.title()[:2] == ["0", "—"])
        self.seen = 0

    def title(self):
        return next(window["title"] for window in self.session.windows() if window["app"] == "firefox").split(" ")

    def new(self):
        """Those that were not looked at yet; the window's title has the last eight."""
        n, *last = self.title()[:-3]  # the rest is Firefox's own
        assert int(n) - self.seen <= 8
        return [event.split(",") for event in last[len(last) - (int(n) - self.seen):]]

    def got(self, n):
        """The next n events, once they are there; no others have come."""
        new = until(lambda: len(now := self.new()) >= n and now)
        self.seen += len(new)
        assert len(new) == n, new
        return new


@pytest.fixture(scope="module")
def one_probe(server):
    session = Session(server.api, server.api.call("POST", "/v1/sessions", {"image": "desktop"}))
    yield Probe(session)
    session.end()


@pytest.fixture
def probe(one_probe):
    """With nothing left of a test before."""
    one_probe.seen = int(one_probe.title()[0])
    return one_probe


def presses(x, y, button=0, count=1, mods=""):
    """What an app gets of a click."""
    return [[kind, str(button), str(n), str(x), str(y), mods] for n in range(1, count + 1) for kind in ("mousedown", "mouseup")]


def ends(probe):
    """Where the next press and its release came."""
    return [[kind, int(x), int(y), mods] for kind, _, _, x, y, mods in probe.got(2)]


def notches(events, axis):
    """How far the wheel was turned in these events, and nothing the other way."""
    turns = [[float(turn) for turn in event[1].split("/")] for event in events]
    assert all(turn[1 - axis] == 0 for turn in turns)
    return sum(turn[axis] for turn in turns)


@pytest.mark.parametrize("n, name, button, count, text", [
    (0, "left_click", 0, 1, "Clicked."), (1, "right_click", 2, 1, "Right-clicked."), (2, "middle_click", 1, 1, "Middle-clicked."),
    (3, "double_click", 0, 2, "Double-clicked."), (4, "triple_click", 0, 3, "Triple-clicked.")])
def test_clicks(probe, n, name, button, count, text):
    """At a place, at the pointer, with modifiers as text and as key: each at a place of its own, so that none waits for another."""
    x, y = probe.left + 50 + 100 * n, probe.top + 20
    assert done(probe.session, name, coordinate=[x, y]) == text
    assert probe.got(2 * count) == presses(x, y, button, count)
    assert done(probe.session, "mouse_move", coordinate=[x, y + 60]) == "Moved the mouse."
    assert done(probe.session, name, coordinate=None) == text
    assert probe.got(2 * count) == presses(x, y + 60, button, count)
    mods = ("ctrl", "c") if name == "right_click" else ("ctrl+shift", "cs")  # with shift, Firefox shows its menu
    assert done(probe.session, name, coordinate=[x, y + 120], text=mods[0]) == text
    assert probe.got(2 * count) == presses(x, y + 120, button, count, mods[1])
    assert done(probe.session, name, coordinate=[x, y + 180], key="ctrl") == text
    assert probe.got(2 * count) == presses(x, y + 180, button, count, "c")


def test_mouse_down_and_up(probe):
    x, y = probe.left + 60, probe.top + 300
    done(probe.session, "mouse_move", coordinate=[x, y])
    assert done(probe.session, "left_mouse_down") == "Left mouse button pressed."
    assert probe.got(1) == presses(x, y)[:1]
    assert "held already" in failed(post(probe.session, call("left_mouse_down")))
    done(probe.session, "left_mouse_up")
    assert probe.got(1) == presses(x, y)[1:]
    # With a place, which models send though the tool has none.
    done(probe.session, "left_mouse_down", coordinate=[x + 100, y])
    done(probe.session, "mouse_move", coordinate=[x + 160, y + 20])
    assert done(probe.session, "left_mouse_up", coordinate=[x + 180, y + 30]) == "Left mouse button released."
    assert ends(probe) == [["mousedown", x + 100, y, ""], ["mouseup", x + 180, y + 30, ""]]


def test_drags(probe):
    session, x, y = probe.session, probe.left + 60, probe.top + 380
    assert done(session, "left_click_drag", start_coordinate=[x, y], coordinate=[x + 200, y + 30], text="shift") == "Dragged."
    assert ends(probe) == [["mousedown", x, y, "s"], ["mouseup", x + 200, y + 30, "s"]]
    # The oldest tool has no start: it begins where the pointer is.
    done(session, "mouse_move", coordinate=[x + 300, y])
    shown(post(session, {"action": "left_click_drag", "coordinate": [x + 400, y + 40], "text": "ctrl"}, "computer_20241022"))
    assert ends(probe) == [["mousedown", x + 300, y, "c"], ["mouseup", x + 400, y + 40, "c"]]
    assert session.agent.call("GET", session.path)["held"] == {"keys": [], "buttons": []}


@pytest.mark.parametrize("way, axis, sign", [("up", 1, -1), ("down", 1, 1), ("left", 0, -1), ("right", 0, 1)])
def test_scrolls(probe, way, axis, sign):
    """As many notches as were asked for, which a browser may tell together; at a place, and where the pointer is, with a modifier."""
    at = [probe.left + 700, probe.top + 100]
    assert done(probe.session, "scroll", coordinate=at, scroll_direction=way, scroll_amount=1) == f"Scrolled {way}."
    one = probe.got(1)
    notch = notches(one, axis)
    assert notch * sign > 0 and one[0][3:] == [*map(str, at), ""]
    done(probe.session, "scroll", scroll_direction=way, scroll_amount=3, text="ctrl")
    until(lambda: notches(probe.new(), axis) == 3 * notch)
    new = probe.new()
    assert [event[3:] for event in probe.got(len(new))] == len(new) * [[*map(str, at), "c"]]


def test_clicks_of_an_older_tool(probe):
    session, x, y = probe.session, probe.left + 560, probe.top + 20
    for n, dialect in enumerate([None, *OLDER]):
        at = [x, y + 60 * n]
        shown(post(session, {"action": "mouse_move", "coordinate": at}, dialect))
        shown(post(session, {"action": "left_click"}, dialect))
        assert probe.got(2) == presses(*at)
        assert pointer(session) == tuple(at)


def test_a_batch_in_order(probe):
    session, x, y = probe.session, probe.left + 640, probe.top + 200
    turn = {"role": "assistant", "content": [
        {"type": "text", "text": "First the one, then the other."}, call("left_click", "a", coordinate=[x, y]),
        {"type": "tool_use", "id": "b", "name": "bash", "input": {"command": "touch bash-was-run"}}, call("right_click", "c", coordinate=[x, y + 50]),
        call("cursor_position", "d")]}
    results = post(session, turn)
    assert [(result["tool_use_id"], said(result)) for result in results] == [("a", "Clicked."), ("c", "Right-clicked."), ("d", f"X={x},Y={y + 50}")]
    assert probe.got(4) == presses(x, y) + presses(x, y + 50, button=2)
    assert session.exec("ls", "bash-was-run")["exit_code"] != 0


@pytest.mark.parametrize("wrong, text", [
    (call("left_click", "w", coordinate=[1280, 5]), "invalid input for computer member 'left_click': coordinate [1280, 5] is out of bounds: "
     "the screenshot is 1280x800, so x is 0 to 1279 and y is 0 to 799"),
    (call("click", "w", coordinate=[1, 5]), "Error: unknown computer toolset member 'click'"),
    (call("key", "w", text="ctrl+nokey"), None)])
def test_a_batch_halts(probe, wrong, text):
    """What stands before the call that is wrong is done, and nothing of what stands behind it."""
    session, x, y = probe.session, probe.left + 760, probe.top + 200
    done(session, "mouse_move", coordinate=[x - 60, y])  # two clicks at one place wait for each other
    results = post(session, [call("left_click", "a", coordinate=[x, y]), wrong, call("screenshot", "b"), call("left_click", "c", coordinate=[x, y + 60])])
    assert [result["tool_use_id"] for result in results] == ["a", "w", "b", "c"]
    assert said(results[0]) == "Clicked." and "is_error" not in results[0]
    if text:
        assert failed(results[1]) == text
    else:
        assert failed(results[1]).startswith("invalid input for computer member 'key': ") and "nokey" in failed(results[1])
    assert [failed(result) for result in results[2:]] == [NOT_EXECUTED, NOT_EXECUTED]
    assert all(result["toolset_name"] == "computer" for result in results)
    assert probe.got(2) == presses(x, y)
    assert pointer(session) == (x, y)


def test_a_call_that_is_sent_again(probe):
    """A click is done once, and whoever lost its answer gets it."""
    session, x, y = probe.session, probe.left + 860, probe.top + 100
    turn = [call("left_click", "a", coordinate=[x, y]), call("mouse_move", "b", coordinate=[-1, 0]), call("screenshot", "c")]
    for _ in range(2):
        reply = send(session, turn, headers={"Idempotency-Key": "click-1"})
        assert [result.get("is_error", False) for result in reply.json] == [False, True, True]
        assert [said(result) for result in reply.json][::2] == ["Clicked.", NOT_EXECUTED]
    assert reply.headers["Idempotency-Replayed"] == "true"
    assert probe.got(2) == presses(x, y)
    other = send(session, turn[:1], headers={"Idempotency-Key": "click-1"})
    assert (other.status, other.json["code"]) == (422, "key_reused")
    assert "pointer" not in other.json


def test_pictures_of_a_call_that_is_sent_again(probe):
    """The last picture comes again while the screen shows it; then what has been done is said all the same."""
    session, x, y = probe.session, probe.left + 860, probe.top + 300
    turn = [call("screenshot", "a"), call("left_click", "b", coordinate=[x, y]), call("screenshot", "c")]
    first = post(session, turn, headers={"Idempotency-Key": "look-1"})
    again = post(session, turn, headers={"Idempotency-Key": "look-1"})
    assert said(again[0]) == "This screenshot was sent before and is not kept: take another one."
    assert again[1:] == first[1:]
    shown(again[2])
    done(session, "mouse_move", coordinate=[x + 30, y + 30])
    gone = post(session, turn, headers={"Idempotency-Key": "look-1"})
    assert [said(result) for result in gone] == [said(again[0]), "Clicked.", said(again[0])]
    assert probe.got(2) == presses(x, y)


def test_a_call_that_is_sent_again_while_it_runs(session):
    """The second waits for the first, and both get its answer."""
    turn = [call("left_mouse_down", "a", coordinate=[30, 40]), call("wait", "b", duration=1), call("left_mouse_up", "c")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        replies = [reply.result() for reply in [pool.submit(send, session, turn, None, {"Idempotency-Key": "twice"}) for _ in range(2)]]
    assert replies[0].json == replies[1].json
    assert [said(result) for result in replies[0].json] == ["Left mouse button pressed.", "Waited 1s.", "Left mouse button released."]
    assert sorted(reply.headers.get("Idempotency-Replayed", "") for reply in replies) == ["", "true"]


# --- keys and text, as a terminal gets them ---

def test_keys_and_text(session):
    terminal = RawTerminal(session)
    assert done(session, "type", text="Grüße, 漢字 🙂\nzwei") == "Typed."
    assert terminal.got(25) == "Grüße, 漢字 🙂\rzwei".encode()
    for text, wanted in (("ctrl+c", b"\x03"), ("Return", b"\r"), ("escape", b"\x1b"), ("shift+a", b"A"), ("TAB", b"\t"), ("a b  c", b"abc"), ("+", b"+"),
                         ("Tab Return", b"\t\r"), ("ctrl x", b"\x18")):
        assert done(session, "key", text=text) == f"Pressed {text}."
        assert terminal.got(len(wanted)) == wanted, text
    assert done(session, "key", text="x", repeat=3) == "Pressed x."
    assert terminal.got(3) == b"xxx"
    shown(post(session, {"action": "type", "text": "old"}))
    shown(post(session, {"action": "key", "text": "Return"}))
    assert terminal.got(4) == b"old\r"


def test_key_that_is_held(session):
    """A terminal gets it again and again; and no longer."""
    terminal = RawTerminal(session)
    assert done(session, "hold_key", text="z", duration=1.5) == "Held z for 1.5s."
    assert terminal.got(5)[:5] == b"zzzzz"
    assert session.agent.call("GET", session.path)["held"] == {"keys": [], "buttons": []}


def test_waiting(session):
    started = time.monotonic()
    assert done(session, "wait", duration=0.7) == "Waited 0.7s."
    assert time.monotonic() - started >= 0.7


def test_text_in_a_batch_is_not_typed_after_a_fault(session):
    terminal = RawTerminal(session)
    results = post(session, [call("type", "a", text="before"), call("type", "b", text="nul\0"), call("type", "c", text="after")])
    assert said(results[0]) == "Typed."
    assert failed(results[1]).startswith("invalid input for computer member 'type': ")
    assert failed(results[2]) == NOT_EXECUTED
    assert done(session, "type", text=".") == "Typed."
    assert terminal.got(7) == b"before."


# --- pictures and spaces ---

SIZES = [((1280, 800), None), ((1920, 1080), {"width": 960, "height": 540}), ((1280, 800), {"width": 1024, "height": 768}), ((2560, 1600), None)]


@pytest.mark.parametrize("native, space", SIZES, ids=str)
def test_coordinates_are_those_of_the_screenshot(make_session, native, space):
    """Of whatever size that is: each corner of it is a corner of the display."""
    session = make_session("minimal", display={"width": native[0], "height": native[1]}, **({"space": space} if space else {}))
    width, height = shown(post(session, call("screenshot"))).size
    assert (width, height) == ((space["width"], space["height"]) if space else (1280, 800) if native == (1280, 800) else (2000, 1250))
    for x, y in ((0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1), (width // 3, height // 3)):
        done(session, "mouse_move", coordinate=[x, y])
        assert done(session, "cursor_position") == f"X={x},Y={y}"
        place = session.act({"action": "cursor_position"}, space="native")["results"][0]
        assert abs(place["x"] - x * native[0] / width) <= native[0] / width and abs(place["y"] - y * native[1] / height) <= native[1] / height
    assert (place["x"], place["y"]) != (x, y) or native == (width, height)
    assert "out of bounds" in failed(post(session, call("mouse_move", coordinate=[width, 0])))


def test_a_space_that_models_do_not_take(make_session):
    """A toolset's picture has to fit, whatever the session's space; coordinates are those of the picture. The older tools are told a size."""
    session = make_session("minimal", display={"width": 2560, "height": 1600}, space={"width": 2560, "height": 1600})
    assert shown(post(session, call("screenshot"))).size == (2000, 1250)
    done(session, "mouse_move", coordinate=[1999, 1249])
    assert pointer(session) == (2559, 1599)
    assert done(session, "cursor_position") == "X=1999,Y=1249"
    assert shown(post(session, {"action": "mouse_move", "coordinate": [2559, 0]})).size == (2560, 1600)
    assert pointer(session) == (2559, 0)


def test_screenshot_is_the_screen(session):
    until(lambda: shown(post(session, call("screenshot"))).tobytes() == session.shot().tobytes())


STRIPES = """<!doctype html><meta charset="utf-8"><title>stripes</title>
<style>body { margin: 0 } div { width: 600px; height: 100px; background: #ffcc00 }</style><div></div><canvas width="600" height="300"></canvas>
<script>
	const ink = document.querySelector("canvas").getContext("2d")
	for (let x = 0; x < 600; x += 2)
		ink.fillRect(x, 0, 1, 300)
</script>"""


def test_zoom_shows_the_pixels_of_the_display(make_session):
    """In a screenshot of half the size stripes of one pixel are grey; in a zoom they are there, and as large as models take."""
    session = make_session("desktop", display={"width": 1920, "height": 1080}, space={"width": 960, "height": 540})
    # Somewhere below the yellow part, in pixels of the screenshot.
    left, _, _, bottom = show(session, STRIPES)
    region = [left + 10, bottom + 20, left + 50, bottom + 40]
    screenshot = shown(post(session, call("screenshot"))).crop(region)
    assert all(120 <= low and high <= 136 for low, high in screenshot.getextrema())
    for body, size in ((call("zoom", region=region), (2000, 1000)), ({"action": "zoom", "region": region}, (960, 480))):
        picture = shown(post(session, body))
        assert picture.size == size
        assert {colour for _, colour in picture.convert("L").getcolors()} >= {0, 255}
        native = native_part(session, region)
        small = picture.resize(native.size, Image.BOX)
        assert max(high for _, high in ImageChops.difference(small, native).getextrema()) <= 40
    assert "out of bounds" in failed(post(session, call("zoom", region=[0, 0, 961, 10])))


def native_part(session, region):
    """Part of the display in its own pixels, from coordinates of a screenshot of half its size."""
    reply = session.agent.request("GET", f"{session.path}/screenshot?space=native")
    return picture_of(reply.body).crop([2 * at for at in region])


# Flickers for a second after a press, and is green then.
LATE = """<!doctype html><meta charset="utf-8"><title>late</title><style>body { background: #ffcc00; margin: 0; height: 100vh }</style>
<script>
	const paint = colour => { document.body.style.background = colour }
	document.onmousedown = () => {
		let n = 0
		const timer = setInterval(() => {
			paint(++n > 16 ? "#00ff7f" : n % 2 ? "#202020" : "#404040")
			if (n > 16)
				clearInterval(timer)
		}, 60)
	}
	document.onkeydown = () => paint("#ffcc00")
</script>"""


def test_pictures_wait_for_what_an_action_brings(make_session):
    """A picture that was taken at once has not the end of it. A browser on a busy machine may rest for longer than quiet takes: then again."""
    session = make_session("desktop")
    at = list(centre(show(session, LATE)).values())
    beside = at[0] + 60, at[1]  # not where the pointer is

    def brings(*bodies):
        session.act({"action": "key", "keys": "a"}, {"action": "move", "x": at[0] + 40, "y": at[1] + 40})
        until(lambda: session.shot().getpixel(beside) == YELLOW)
        answers = [post(session, body) for body in bodies]
        picture = shown(answers[-1][1] if isinstance(answers[-1], list) else answers[-1])
        until(lambda: session.shot().getpixel(beside) == GREEN)
        return picture.getpixel(beside) == GREEN

    until(lambda: brings([call("left_click", "a", coordinate=at), call("screenshot", "b")]))
    until(lambda: brings([call("left_click", "a", coordinate=at), call("screenshot", "b"), call("mouse_move", "c", coordinate=at)]))
    until(lambda: brings(call("left_click", coordinate=at), call("screenshot")))
    until(lambda: brings([old("mouse_move", "a", coordinate=at), old("left_click", "b")]))


# --- the older tools ---

def test_by_shape_and_by_name(session):
    for dialect in (None, *OLDER):
        result = post(session, {"action": "cursor_position"}, dialect)
        assert set(result) == {"content"} and said(result).startswith("X=")
        block = post(session, old("cursor_position", "id-5"), dialect)
        assert (block["type"], block["tool_use_id"], "toolset_name" in block) == ("tool_result", "id-5", False)
    for dialect, action in (("computer_20241022", "scroll"), ("computer_20241022", "wait"), ("computer_20250124", "zoom")):
        result = post(session, {"action": action}, dialect)
        assert result == {"content": [{"type": "text", "text": f"Invalid action: {action}"}], "is_error": True}
    assert failed(post(session, {"action": "mouse_move"})) == "coordinate is required for mouse_move"
    assert failed(post(session, {"action": "mouse_move", "coordinate": [5, 900]})).startswith("coordinate [5, 900] is out of bounds: ")


def test_each_action_has_its_picture(session):
    turn = [old("mouse_move", "a", coordinate=[200, 300]), old("mouse_move", "b", coordinate=[600, 500]), old("wait", "c", duration=0.1)]
    first, second, third = (shown(result) for result in post(session, turn))
    assert first.tobytes() != second.tobytes()  # the pointer
    assert second.tobytes() == third.tobytes() == session.shot().tobytes()


def test_the_journal_has_what_was_done(server, make_session):
    session = make_session("minimal", record={"text": "always"})  # nobody can tell where the key goes
    post(session, [call("mouse_move", "a", coordinate=[11, 12]), call("key", "b", text="a")])
    lines = [json.loads(line) for line in server.api.request("GET", f"{session.path}/journal").body.splitlines()]
    acts = [line["action"] for line in lines if line["event"] == "intent"]
    assert acts[-2:] == [{"action": "move", "x": 11, "y": 12}, {"action": "key", "keys": "a"}]
