# SPDX-License-Identifier: GPL-2.0-or-later
"""The adapters for vendors' SDKs (session/dialects/adapters), in the vendors' own packages, against a stand-in of the model and a real session."""
import contextlib
import http.server
import json
import threading

import pytest
from PIL import ImageChops

from page import Page
from stand_in import StandIn
from terminal import RawTerminal
from vendors import DONE, Anthropic, Google, OpenAi, OpenAiAgents

TEXT = "Grüße, 日本 {1}"
SPACE = {"width": 1024, "height": 640}
GRID = 1000  # of Gemini's coordinates


VENDORS = [Anthropic, OpenAi, OpenAiAgents, Google]
vendors = pytest.mark.parametrize("vendor", VENDORS, ids=[row.program.removesuffix(".mjs") for row in VENDORS])


@pytest.fixture
def stand_in(tmp_path):
    """Starts stand-ins of a vendor's model."""
    with contextlib.ExitStack() as stack:
        yield lambda vendor, *turns: stack.enter_context(StandIn(tmp_path / vendor.vendor, vendor.vendor, [*turns, vendor.last()]))


@pytest.fixture(scope="module")
def terminal(server):
    """A terminal in a session that the tests of this file share."""
    session = server.api.new(image="minimal")
    yield RawTerminal(session)
    session.end()


@pytest.fixture(scope="module")
def page(server):
    """A page in Firefox, in a session whose pictures are smaller than its display."""
    session = server.api.new(image="desktop", space=SPACE)
    yield Page(session)
    session.end()


def well(done):
    """A program that ended well, saying only the model's last words."""
    assert (done.returncode, done.stdout) == (0, f"{DONE}\n"), done.stdout + done.stderr


def journal(session):
    text = session.api.request("GET", f"{session.path}/journal").body.decode()
    return [json.loads(line) for line in text.splitlines()]


def place_for(vendor, x, y, size):
    """A place in pixels, as the vendor's models write it."""
    if vendor is Google:
        return {"x": -(-x * GRID // size["width"]), "y": -(-y * GRID // size["height"])}
    return {"x": x, "y": y}


@vendors
def test_text_arrives_in_a_terminal(vendor, terminal, stand_in):
    session = terminal.session
    model = stand_in(vendor, vendor.click_and_type(place_for(vendor, 300, 200, session.answer["space"]), TEXT))
    well(model.on(session, vendor.program))
    wanted = f"{TEXT}\r".encode()
    assert terminal.got(len(wanted)) == wanted
    picture = model.pictures()[-1]
    assert picture.size == (1280, 800)
    assert ImageChops.difference(picture, session.shot()).getbbox() is None


@vendors
def test_a_click_hits_in_firefox(vendor, page, stand_in):
    """In a space that is not the display's: the page tells which pixel of the display was hit."""
    session, before = page.session, page.told()
    x, y = (300, 200) if vendor is not Google else (256, 160)  # whole numbers of the grid
    model = stand_in(vendor, vendor.click_and_type(place_for(vendor, x, y, SPACE), "hit"))
    well(model.on(session, vendor.program))
    told = page.wait(lambda told: told["text"].count("hit") > before["text"].count("hit") and told["text"].endswith("\n"))
    assert len(told["clicks"]) == len(before["clicks"]) + 1
    assert told["clicks"][-1][2:] == [(2 * x + 1) * 1280 // 2048, (2 * y + 1) * 800 // 1280]
    assert {picture.size for picture in model.pictures()} == {(SPACE["width"], SPACE["height"])}


# What the model does wrong: a place off the screen, and text after it that must not be typed.
OFF = {"x": 5000, "y": 200}
BEHIND = "must not arrive"


def expect_nothing_but(terminal, text):
    """The terminal got this since the last look; what came before it would be in it."""
    assert terminal.got(len(text)) == text.encode()


def test_claude_is_told_what_failed_and_goes_on(terminal, stand_in):
    wrong = Anthropic.turn(("left_click", {"coordinate": [5000, 200]}), ("type", {"text": BEHIND}))
    model = stand_in(Anthropic, wrong, Anthropic.turn(("type", {"text": "mended\n"})))
    well(model.on(terminal.session, Anthropic.program))
    first, second = model.requests()[1]["messages"][-1]["content"]
    assert first["is_error"] and "5000" in first["content"][0]["text"] and "1280x800" in first["content"][0]["text"].replace(" x ", "x")
    assert second["is_error"] and second["content"] == "Not executed: an earlier computer action in this turn failed."
    assert model.requests()[2]["messages"][-1]["content"][0]["content"] == [{"type": "text", "text": "Typed."}]
    expect_nothing_but(terminal, "mended\r")


def test_openai_stops_at_what_failed(terminal, stand_in):
    model = stand_in(OpenAi, OpenAi.turn({"type": "click", "button": "left", **OFF}, {"type": "type", "text": BEHIND}))
    done = model.on(terminal.session, OpenAi.program)
    assert done.returncode == 1 and "GloveboxError" in done.stderr and "5000" in done.stderr, done.stderr
    terminal.expect("after")


def test_agents_see_the_screen_after_what_failed(terminal, stand_in):
    """The rest of the turn is left out, and the next turn is done again."""
    wrong = OpenAiAgents.turn({"type": "click", "button": "left", **OFF}, {"type": "type", "text": BEHIND})
    model = stand_in(OpenAiAgents, wrong, OpenAiAgents.turn({"type": "type", "text": "mended\n"}))
    done = model.on(terminal.session, OpenAiAgents.program)
    assert done.returncode == 0, done.stderr
    failed, last = done.stdout.splitlines()
    assert failed.startswith("failed: ") and "5000" in failed and last == DONE
    expect_nothing_but(terminal, "mended\r")


def test_gemini_is_told_what_failed_and_goes_on(terminal, stand_in):
    model = stand_in(Google, Google.turn(("click", OFF), ("type", {"text": BEHIND})), Google.turn(("type", {"text": "mended", "press_enter": True})))
    well(model.on(terminal.session, Google.program))
    first, second = (part["functionResponse"]["response"] for part in model.requests()[1]["contents"][-1]["parts"])
    assert "5000" in first["error"] and second["error"]
    assert "error" not in model.requests()[2]["contents"][-1]["parts"][0]["functionResponse"]["response"]
    expect_nothing_but(terminal, "mended\r")


CHECKS = [{"id": "sc_1", "code": "malicious_instructions", "message": "The page asks for something else."},
          {"id": "sc_2", "code": "irrelevant_domain", "message": "This is another site."}]


@pytest.mark.parametrize("vendor", [OpenAi, OpenAiAgents], ids=["openai", "openai-agents"])
def test_safety_checks_are_acknowledged(vendor, terminal, stand_in):
    """By a person of the program; the stand-in refuses an answer without."""
    model = stand_in(vendor, vendor.turn({"type": "type", "text": "checked\n"}, checks=CHECKS))
    well(model.on(terminal.session, vendor.program))
    expect_nothing_but(terminal, "checked\r")


CONFIRM = {"safety_decision": {"decision": "require_confirmation", "explanation": "This sends a message."}}


def test_gemini_is_confirmed(terminal, stand_in):
    model = stand_in(Google, Google.turn(("type", {"text": "confirmed", "press_enter": True, **CONFIRM})))
    well(model.on(terminal.session, Google.program))
    expect_nothing_but(terminal, "confirmed\r")


def test_gemini_is_not_confirmed(terminal, stand_in):
    """Nothing of the turn is done, what stands before it neither."""
    model = stand_in(Google, Google.turn(("type", {"text": BEHIND}), ("type", {"text": BEHIND, **CONFIRM})))
    done = model.on(terminal.session, Google.program, DENY="yes")
    assert done.returncode == 1 and "not confirmed: This sends a message." in done.stderr
    terminal.expect("after")


def test_claude_is_not_confirmed(terminal, stand_in):
    model = stand_in(Anthropic, Anthropic.turn(("type", {"text": BEHIND})))
    well(model.on(terminal.session, Anthropic.program, DENY="type"))
    result, = model.requests()[1]["messages"][-1]["content"]
    assert result["is_error"] and result["content"][0]["text"].startswith("The user did not grant permission to run 'type'.")
    terminal.expect("after")


# Each member of the toolset: a call, and the text that answers it; None: a picture.
MEMBERS = [
    ("mouse_move", {"coordinate": [300, 210]}, "Moved the mouse."),
    ("cursor_position", {}, "X=300,Y=210"),
    ("left_mouse_down", {}, "Left mouse button pressed."),
    ("left_mouse_up", {}, "Left mouse button released."),
    ("left_click", {"coordinate": [310, 220], "text": "ctrl"}, "Clicked."),
    ("middle_click", {"coordinate": [800, 780]}, "Middle-clicked."),
    ("right_click", {"coordinate": [810, 780]}, "Right-clicked."),
    ("double_click", {"coordinate": [320, 230]}, "Double-clicked."),
    ("triple_click", {"coordinate": [330, 240]}, "Triple-clicked."),
    ("left_click_drag", {"start_coordinate": [300, 210], "coordinate": [350, 260]}, "Dragged."),
    ("scroll", {"coordinate": [300, 210], "scroll_direction": "down", "scroll_amount": 2}, "Scrolled down."),
    ("wait", {"duration": 0.1}, "Waited 0.1s."),
    ("type", {"text": "a"}, "Typed."),
    ("key", {"text": "Return"}, "Pressed Return."),
    ("hold_key", {"text": "shift", "duration": 0.1}, "Held shift for 0.1s."),
    ("screenshot", {}, None),
    ("zoom", {"region": [0, 0, 640, 400]}, None),
]


def test_claude_every_member(server, stand_in):
    session = server.api.new(image="minimal", apps=["terminal"])
    model = stand_in(Anthropic, Anthropic.turn(*((name, given) for name, given, _ in MEMBERS)))
    well(model.on(session, Anthropic.program))
    results = model.requests()[1]["messages"][-1]["content"]
    assert [result["toolset_name"] for result in results] == ["computer"] * len(MEMBERS)
    assert [block.get("text") for result in results for block in result["content"]] == [text for *_, text in MEMBERS]
    assert len(model.pictures()) == 2 and model.pictures()[0].size == (1280, 800)
    session.end()


# Each action of OpenAI's, and what it is in the session's journal. The display has twice the pixels of the picture each way.
HALF = {"width": 640, "height": 400}
ACTIONS = [
    ({"type": "click", "button": "wheel", "x": 400, "y": 390, "keys": None}, {"action": "click", "x": 400, "y": 390, "button": "middle"}),
    ({"type": "click", "button": "left", "x": 150, "y": 100, "keys": ["CTRL", "SHIFT"]},
     {"action": "click", "x": 150, "y": 100, "button": "left", "hold": ["CTRL", "SHIFT"]}),
    ({"type": "double_click", "x": 160, "y": 115, "keys": []}, {"action": "click", "x": 160, "y": 115, "count": 2}),
    ({"type": "drag", "path": [{"x": 150, "y": 100}, {"x": 165, "y": 105}, {"x": 170, "y": 130}]}, {"action": "drag", "path": [[150, 100], [165, 105], [170, 130]]}),
    ({"type": "move", "x": 155, "y": 110}, {"action": "move", "x": 155, "y": 110}),
    ({"type": "move", "x": 156, "y": 110, "keys": ["SHIFT"]}, {"action": "key_down", "keys": ["SHIFT"]}, {"action": "move", "x": 156, "y": 110},
     {"action": "key_up", "keys": ["SHIFT"]}),
    ({"type": "scroll", "x": 150, "y": 100, "scroll_x": -15, "scroll_y": 130}, {"action": "scroll", "x": 150, "y": 100, "dx": -1, "dy": 3}),
    ({"type": "scroll", "x": 150, "y": 100, "scroll_x": 1, "scroll_y": -6000}, {"action": "scroll", "x": 150, "y": 100, "dx": 1, "dy": -100},
     {"action": "scroll", "x": 150, "y": 100, "dx": 0, "dy": -20}),
    ({"type": "scroll", "x": 151, "y": 101, "scroll_x": 0, "scroll_y": 0}, {"action": "move", "x": 151, "y": 101}),
    ({"type": "keypress", "keys": ["SHIFT", "A"]}, {"action": "key", "keys": ["SHIFT", "A"]}),
    ({"type": "type", "text": "b"}, {"action": "type", "text": "b"}),
    ({"type": "wait"}, {"action": "wait", "duration_ms": 2000}),
    ({"type": "screenshot"},),
]


@pytest.mark.parametrize("vendor", [OpenAi, OpenAiAgents], ids=["openai", "openai-agents"])
def test_openai_every_action(vendor, server, stand_in):
    """Agents' methods have no keys to be held, so there are none."""
    session = server.api.new(image="minimal", apps=["terminal"], space=HALF, record={"text": "always"})
    model = stand_in(vendor, vendor.turn(*(given for given, *_ in ACTIONS)))
    well(model.on(session, vendor.program))
    lines = journal(session)
    wanted = [dict(action) for _, *actions in ACTIONS for action in actions]
    if vendor is OpenAiAgents:
        wanted = [action for action in wanted if action["action"] not in ("key_down", "key_up")]
        for action in wanted:
            action.pop("hold", None)
    assert [line["action"] for line in lines if line["event"] == "intent"] == wanted
    session.end()


def test_a_session_that_is_gone_ends_the_run(server, stand_in):
    """The model cannot mend that, so it is told nothing."""
    session = server.api.new(image="minimal")
    session.end()
    model = stand_in(Anthropic, Anthropic.turn(("screenshot", {})))
    done = model.on(session, Anthropic.program)
    assert done.returncode == 1 and "ToolsetUsageError" in done.stderr
    assert len(model.requests()) == 1


class Blind(http.server.BaseHTTPRequestHandler):
    """A server whose display does not answer: nothing is wrong but the look at the end."""

    def do_POST(self):
        problem = {"code": "display_silent", "title": "The display does not answer", "detail": "nothing came"}
        reply = json.dumps({"ok": False, "done": 0, "results": [], "observation": {"error": problem}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


def test_a_look_that_fails_is_told(tmp_path):
    with http.server.HTTPServer(("127.0.0.1", 0), Blind) as blind, StandIn(tmp_path / "look", "openai", []) as model:
        threading.Thread(target=blind.serve_forever, daemon=True).start()
        size = {"width": 64, "height": 48}
        known = {"server": f"http://127.0.0.1:{blind.server_port}", "token": "t", "id": "s", "space": size, "display": size}
        done = model.run("look.mjs", TEST_SESSION=json.dumps(known))
        blind.shutdown()
    assert (done.returncode, done.stdout) == (0, "GloveboxError display_silent nothing came\n"), done.stdout + done.stderr


@pytest.mark.parametrize("server_url, token, code, words", [
    ("", "missing", "no_token", "no token can be read in missing; GLOVEBOX_TOKEN_FILE names another file"),
    ("http://127.0.0.1:9", "turns.json", "unreachable", "no answer from http://127.0.0.1:9: "),
])
def test_what_a_newcomer_forgot_is_said(stand_in, server_url, token, code, words):
    """A server that is not there, a token that is none: in one line."""
    model = stand_in(Anthropic)
    (model.folder / "create.mjs").write_text(
        "import {Session} from './glovebox/glovebox.mjs';\n"
        "await Session.create({}).catch(({name, code, message}) => console.log(`${name} ${code} ${message}`));\n")
    done = model.run("create.mjs", GLOVEBOX_SERVER=server_url, GLOVEBOX_TOKEN_FILE=token)
    assert done.stdout.startswith(f"GloveboxError {code} {words}") and done.returncode == 0, done.stdout + done.stderr


def test_an_aborted_signal_ends_the_call(server, stand_in):
    session = server.api.new(image="minimal")
    done = stand_in(Anthropic).on(session, "abort.mjs")
    assert (done.returncode, done.stdout) == (0, "AbortError\ntrue\n"), done.stdout + done.stderr
    lines = journal(session)
    assert [line.get("error") for line in lines if line["event"] == "result"] == ["cancelled", None]
    session.end()
