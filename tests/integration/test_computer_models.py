# SPDX-License-Identifier: GPL-2.0-or-later
"""What OpenAI's and Gemini's models send, as it has its effect in a real window, and as it is answered."""
import base64
import io
import itertools
import json

import pytest
from PIL import Image

from api import Refused, in_thread
from conftest import until
from terminal import RawTerminal
from test_approvals import answer, card, finish
from watched import Watched

SIZE = (1280, 800)
URL = "glovebox://desktop"
COUNT = itertools.count(1)


def post(session, body, dialect=None, headers=None):
    """The answer of a call that must succeed."""
    path = f"{session.path}/computer" + (f"?dialect={dialect}" if dialect else "")
    return session.agent.call("POST", path, body, headers=headers)


def refused(session, body):
    """The problem with which it is refused."""
    with pytest.raises(Refused) as caught:
        post(session, body)
    return caught.value


def call(*actions, **more):
    return {"type": "computer_call", "id": f"cu_{next(COUNT)}", "call_id": f"call_{next(COUNT)}", "status": "completed", "actions": list(actions), **more}


def preview(action, **more):
    body = call(action=action, pending_safety_checks=[], **more)
    del body["actions"]
    return body


def decoded(media_type, data):
    picture = Image.open(io.BytesIO(base64.b64decode(data, validate=True)))
    picture.load()
    assert media_type == f"image/{picture.format.lower()}"
    return picture


def screenshot(output, of, size=SIZE):
    """The picture of a computer_call_output, which must answer the call `of`."""
    assert (output["type"], output["call_id"], output["output"]["type"]) == ("computer_call_output", of["call_id"], "computer_screenshot")
    head, data = output["output"]["image_url"].split(";base64,")
    picture = decoded(head.removeprefix("data:"), data)
    assert picture.size == size
    return picture


def said(items):
    """The text of the message behind the outputs of a turn that failed."""
    assert (items[-1]["type"], items[-1]["role"], items[-1]["content"][0]["type"]) == ("message", "user", "input_text")
    return items[-1]["content"][0]["text"]


def openai(session, *actions):
    """One call that goes well; its picture."""
    body = call(*actions)
    items = post(session, body)
    assert len(items) == 1, items
    return screenshot(items[0], body)


def gemini(session, name, size=SIZE, dialect=None, **args):
    """One function call that goes well; its picture."""
    answer = post(session, {"functionCall": {"name": name, "args": args, "id": "f1"}}, dialect)["functionResponse"]
    assert (answer["name"], answer["id"], answer["response"]) == (name, "f1", {"url": URL})
    (part,) = answer["parts"]
    picture = decoded(part["inlineData"]["mimeType"], part["inlineData"]["data"])
    assert picture.size == size
    return picture


def where(session, **options):
    result = session.act({"action": "cursor_position"}, **options)["results"][0]
    return result["x"], result["y"]


def held(session):
    return session.api.call("GET", session.path)["held"]


def grid(page):
    """The middle of the text area on the grid, and the pixel that this is."""
    x, y = round(page.inside["x"] * 1000 / SIZE[0]), round(page.inside["y"] * 1000 / SIZE[1])
    return {"x": x, "y": y}, [x * SIZE[0] // 1000, y * SIZE[1] // 1000]


def title(session):
    return [window["title"] for window in session.windows() if window["focused"]][0]


@pytest.fixture
def page(make_session):
    return Watched(make_session("desktop"))


# ---- OpenAI ----

BUTTONS = (("left", 0), ("wheel", 1), ("right", 2))


def pointer_actions(page):
    session, at = page.session, [page.inside["x"], page.inside["y"]]
    place = {"x": at[0], "y": at[1]}
    for name, number in BUTTONS:
        openai(session, {"type": "click", "button": name, **place})
        events = page.new("mousedown", "mouseup", until_type="mouseup")
        assert [(event["type"], event["button"], event["at"], event["held"]) for event in events] == [
            ("mousedown", number, at, ""), ("mouseup", number, at, "")], name
    openai(session, {"type": "click", "button": "left", **place, "keys": ["CTRL", "SHIFT"]})
    assert [event["held"] for event in page.new("click", until_type="click")] == ["ctrl+shift"]
    openai(session, {"type": "double_click", **place, "keys": None})
    assert [event["count"] for event in page.new("click", until_type="click", n=2)] == [1, 2]
    openai(session, {"type": "move", "x": at[0] + 40, "y": at[1] + 30, "keys": ["SHIFT"]})
    moved = page.new("mousemove", until_type="mousemove")[-1]
    assert (moved["at"], moved["held"], moved["buttons"]) == ([at[0] + 40, at[1] + 30], "shift", 0)
    assert held(session) == {"keys": [], "buttons": []}


def drag(page):
    """How far to the right a browser was told of it, which is told of some of the moves: enough, mostly, to see that the way led by the point in the middle."""
    session, (x, y) = page.session, (page.inside["x"], page.inside["y"])
    openai(session, {"type": "drag", "path": [{"x": x, "y": y}, {"x": x + 100, "y": y + 50}, {"x": x - 50, "y": y + 20}], "keys": ["CTRL"]})
    events = page.new("mousedown", "mousemove", "mouseup", until_type="mouseup")
    down = next(event for event in events if event["type"] == "mousedown")
    assert (down["at"], events[-1]["at"], down["held"], events[-1]["held"]) == ([x, y], [x - 50, y + 20], "ctrl", "ctrl")
    return max(event["at"][0] for event in events if event["type"] == "mousemove" and event["buttons"] == 1)


def drags(page):
    assert any(drag(page) > page.inside["x"] + 50 for _ in range(5))


def wheels(page):
    """Pixels are notches of 100; a part of one is one."""
    session, at = page.session, [page.inside["x"], page.inside["y"]]
    place = {"x": at[0], "y": at[1]}

    def turned(**way):
        openai(session, {"type": "scroll", **place, **way})
        openai(session, {"type": "keypress", "keys": ["SHIFT"]})  # behind the last event of the wheel
        events = page.new("wheel", until_type="keyup")
        assert all(event["at"] == at for event in events)
        return [sum(event["way"][axis] for event in events) for axis in (0, 1)]

    high, wide = turned(scroll_x=0, scroll_y=100)[1], turned(scroll_x=100, scroll_y=0)[0]
    assert high > 0 and wide > 0
    for x, y, notches in ((0, -300, (0, -3)), (-200, 0, (-2, 0)), (120, 450, (1, 5)), (0, 1, (0, 1)), (-40, 0, (-1, 0)), (0, 12000, (0, 120))):
        assert turned(scroll_x=x, scroll_y=y) == [notches[0] * wide, notches[1] * high], (x, y)
    openai(session, {"type": "move", "x": 5, "y": 5})
    openai(session, {"type": "scroll", **place, "scroll_x": 0, "scroll_y": 0})
    assert where(session) == tuple(at)
    page.new(until_type="mousemove")


# The spellings that OpenAI's and others' models send, and the key that a browser names for each.
KEYS = (("ENTER", "Enter"), ("ESC", "Escape"), ("BACKSPACE", "Backspace"), ("DEL", "Delete"), ("PAGEDOWN", "PageDown"), ("PGUP", "PageUp"),
        ("ARROWUP", "ArrowUp"), ("DOWN", "ArrowDown"), ("ArrowLeft", "ArrowLeft"), ("Right", "ArrowRight"), ("SPACE", " "), ("TAB", "Tab"),
        ("F5", "F5"), ("Page_Up", "PageUp"), ("/", "/"), ("\\", "\\"), ("a", "a"), ("HOME", "Home"))


def keys(page):
    session = page.session
    for name, key in KEYS:
        openai(session, {"type": "keypress", "keys": [name]})
        assert page.new("keydown", until_type="keyup")[0]["key"] == key, name
    for names, last in ((["CTRL", "SHIFT", "ArrowRight"], ("ArrowRight", "ctrl+shift")), (["CTRL+a"], ("a", "ctrl")), (["shift", "b"], ("B", "shift"))):
        openai(session, {"type": "keypress", "keys": names})
        events = page.new("keydown", until_type="keyup", n=len(names[0].split("+")) + len(names) - 1)
        assert (events[-1]["key"], events[-1]["held"]) == last, names


def sides(page):
    """The side buttons, which a browser keeps for itself, and typing with the keys before and after it in one call."""
    session, place = page.session, {"x": 640, "y": 600}
    for name in ("one", "two"):
        session.run("sh", "-c", f"cat >{name}.html", stdin=f"<!doctype html><title>{name}</title>")
        openai(session, {"type": "keypress", "keys": ["CTRL", "L"]}, {"type": "type", "text": f"file:///home/user/{name}.html"}, {"type": "keypress", "keys": ["ENTER"]})
        until(lambda: title(session).startswith(name))
    for button, name in (("back", "one"), ("forward", "two")):
        openai(session, {"type": "click", "button": button, **place})
        until(lambda: title(session).startswith(name))


def test_openai_actions(page):
    session = page.session
    assert openai(session, {"type": "screenshot"}).getpixel((page.inside["x"] + 60, page.inside["y"] + 60))[:3] == (0xFF, 0xCC, 0x00)
    pointer_actions(page)
    drags(page)
    wheels(page)
    keys(page)
    openai(session, {"type": "keypress", "keys": ["CTRL", "A"]}, {"type": "keypress", "keys": ["DELETE"]}, {"type": "type", "text": "Grüße, 世界\n2"},
           {"type": "screenshot"}, {"type": "wait"})
    assert until(lambda: (texts := [event["text"] for event in page.all() if event["type"] == "input"]) and texts[-1] == "Grüße, 世界\n2")
    sides(page)


def test_openai_preview_and_turns(session):
    body = preview({"type": "move", "x": 30, "y": 40})
    items = post(session, body)
    screenshot(items[0], body)
    assert len(items) == 1 and "detail" not in items[0]["output"] and where(session) == (30, 40)
    calls = [call({"type": "move", "x": 50, "y": 60}), call({"type": "screenshot"})]
    for sent in ([{"type": "reasoning", "id": "r", "summary": []}, *calls], {"object": "response", "status": "completed", "output": calls}):
        items = post(session, sent)
        assert [item["call_id"] for item in items] == [one["call_id"] for one in calls]
        for item, one in zip(items, calls):
            screenshot(item, one)
        assert where(session) == (50, 60)
        session.do("move", x=1, y=1)


def test_openai_faults_do_nothing(session):
    """What the model wrote wrong is told with a picture, and nothing of the turn is done: neither before it nor after it."""
    session.do("move", x=7, y=8)
    good = {"type": "move", "x": 100, "y": 100}
    for wrong, text in (({"type": "keypress", "keys": ["CTLR", "c"]}, '"CTLR" is not a key name; near: ctl'),
                        ({"type": "click", "button": "left", "x": 1280, "y": 0}, "x must be a whole number from 0 to 1279"),
                        ({"type": "left_click", "x": 1, "y": 1}, "near it: click"),
                        ({"type": "type", "text": "x" * 100001}, "100000")):
        bodies = [call(good), call(good, wrong, good)]
        items = post(session, bodies)
        assert len(items) == 3
        for item, body in zip(items, bodies):
            screenshot(item, body)
        assert said(items).startswith(f'Action 2 of 3 of the call "{bodies[1]["call_id"]}", "{wrong["type"]}", failed: ') and text in said(items)
        assert said(items).endswith("No action of this turn was done, neither those before it nor those after it.")
        assert where(session) == (7, 8)
    body = preview({"type": "wheel"})
    items = post(session, body)
    screenshot(items[0], body)
    assert len(items) == 2


def test_openai_failure_in_the_middle(session):
    session.do("key_down", keys="a")
    body = call({"type": "move", "x": 100, "y": 100}, {"type": "move", "x": 200, "y": 200, "keys": ["A"]}, {"type": "move", "x": 300, "y": 300})
    second = call({"type": "move", "x": 400, "y": 400})
    items = post(session, [body, second])
    assert len(items) == 3
    for item, one in zip(items, (body, second)):
        screenshot(item, one)
    assert said(items).startswith(f'Action 2 of 3 of the call "{body["call_id"]}", "move", failed: ') and "held" in said(items)
    assert said(items).endswith("The actions before it were done, those after it were not.")
    assert where(session) == (100, 100)
    assert held(session) == {"keys": [], "buttons": []}


def test_openai_safety_checks_wait_for_a_person(make_session):
    """Where the session asks nobody the harness has to."""
    session = make_session("minimal", approval={"mode": "never"})
    session.do("move", x=7, y=8)
    check = {"id": "sc_1", "code": "malicious_instructions", "message": "The page gives orders."}
    for body in (call({"type": "move", "x": 100, "y": 100}, pending_safety_checks=[check]), preview({"type": "move", "x": 100, "y": 100}) | {"pending_safety_checks": [check]}):
        caught = refused(session, body)
        assert (caught.status, caught.code, caught.pointer, caught.problem["fix"]) == (409, "confirmation_required", "/pending_safety_checks", "human")
        assert refused(session, {"output": [body]}).pointer == "/output/0/pending_safety_checks"
        assert refused(session, body | {"acknowledged_safety_checks": [{"id": "sc_2"}]}).code == "bad_field"
        assert where(session) == (7, 8)
        items = post(session, body | {"acknowledged_safety_checks": [check]})
        assert items[0]["acknowledged_safety_checks"] == [check] and where(session) == (100, 100)
        session.do("move", x=7, y=8)


def test_openai_envelopes_are_the_harness_s(session):
    session.do("move", x=7, y=8)
    good = call({"type": "move", "x": 100, "y": 100})
    for body, pointer in ((good | {"status": "in_progress"}, "/status"), ({"status": "incomplete", "output": [good]}, "/status"),
                          ([good, good], "/1/call_id"), ({"output": []}, None), (good | {"actions": []}, "/actions")):
        caught = refused(session, body)
        assert (caught.status, caught.pointer) == (400, pointer), body
    assert where(session) == (7, 8)


def test_openai_sent_again(session):
    """Once done, however often it is sent; the answer has a picture also when the screen has gone on since then."""
    terminal = RawTerminal(session)
    body = call({"type": "type", "text": "once"})
    headers = {"Idempotency-Key": "turn-1"}
    first = post(session, body, headers=headers)
    assert terminal.got(4) == b"once"
    again = session.agent.request("POST", f"{session.path}/computer", body, headers)
    assert again.headers["Idempotency-Replayed"] == "true" and again.json == first
    session.do("launch", app="terminal")
    screenshot(post(session, body, headers=headers)[0], body)
    assert terminal.bytes() == b"once"
    with pytest.raises(Refused) as caught:
        post(session, call({"type": "type", "text": "twice"}), headers=headers)
    assert caught.value.code == "key_reused"


def test_openai_cancelled(session):
    body = call({"type": "move", "x": 100, "y": 100}, {"type": "wait"}, {"type": "wait"}, {"type": "wait"}, {"type": "move", "x": 200, "y": 200})
    thread, answers = in_thread(post, session, body)
    until(lambda: b'"action":"wait"' in session.api.request("GET", f"{session.path}/journal").body.replace(b" ", b""))
    assert session.agent.call("POST", f"{session.path}/cancel")["cancelled"]
    thread.join()
    items = answers[0]
    screenshot(items[0], body)
    assert "cancelled" in said(items) and where(session) == (100, 100)


def test_openai_target_has_changed(make_session):
    """A session that guards tells the model that what it aims at is new, with the new picture."""
    session = make_session("minimal", guard="last")
    before = openai(session, {"type": "move", "x": 5, "y": 5})
    window = session.do("launch", app="terminal")["window"]
    (shown,) = [one for one in session.windows() if one["id"] == window]
    body = call({"type": "click", "button": "left", "x": shown["x"] + 30, "y": shown["y"] + 30})
    items = post(session, body)
    assert "changed" in said(items) and said(items).endswith("neither those before it nor those after it.")
    assert screenshot(items[0], body).tobytes() != before.tobytes() and where(session) == (5, 5)
    openai(session, {"type": "click", "button": "left", "x": shown["x"] + 30, "y": shown["y"] + 30})


# ---- Gemini ----

def test_gemini_actions(page):
    session = page.session
    place, at = grid(page)
    for name, number, count in (("click", 0, 1), ("middle_click", 1, 1), ("right_click", 2, 1), ("double_click", 0, 2), ("triple_click", 0, 3)):
        gemini(session, name, intent="Click it", **place)
        events = page.new("mousedown", until_type="mouseup", n=count)
        assert [(event["button"], event["at"], event["count"]) for event in events] == [(number, at, n + 1) for n in range(count)], name
    gemini(session, "mouse_down", **place)
    assert held(session)["buttons"] == ["left"]
    gemini(session, "move", x=500, y=500)
    gemini(session, "mouse_up", x=500, y=500)
    assert page.new("mouseup", until_type="mouseup")[0]["at"] == [640, 400]
    for args in ({"start_x": 200, "start_y": 300, "end_x": 400, "end_y": 400}, {"x": 200, "y": 300, "destination_x": 400, "destination_y": 400}):
        gemini(session, "drag_and_drop", **args)
        events = page.new("mousedown", "mouseup", until_type="mouseup")
        assert [event["at"] for event in events] == [[256, 240], [512, 320]], args
    gemini(session, "click", **place)
    gemini(session, "hotkey", keys=["control", "a"])
    gemini(session, "press_key", key="delete")
    gemini(session, "type", text="über\t", press_enter=True)
    page.new(until_type="input", n=5)
    assert [event["text"] for event in page.all() if event["type"] == "input"][-1] == "über\n"  # the page takes no tab
    gemini(session, "key_down", key="shift")
    assert held(session)["keys"] == ["shift"]
    gemini(session, "press_key", key="left")
    gemini(session, "key_up", key="shift")
    until(lambda: (last := page.all()[-1])["type"] == "keyup" and last["key"] == "Shift")
    assert [(event["type"], event["key"], event["held"]) for event in page.new(until_type="keyup", n=2)][-3:-1] == [
        ("keydown", "ArrowLeft", "shift"), ("keyup", "ArrowLeft", "shift")]
    assert held(session)["keys"] == []
    gemini(session, "take_screenshot")
    gemini(session, "wait", seconds=0.2)
    gemini_wheels(page, place, at)


def gemini_wheels(page, place, at):
    session = page.session

    def turned(**args):
        gemini(session, "scroll", **place, **args)
        gemini(session, "press_key", key="shift")
        events = page.new("wheel", until_type="keyup")
        assert all(event["at"] == at for event in events)
        return [sum(event["way"][axis] for event in events) for axis in (0, 1)]

    high, wide = turned(direction="down", magnitude_in_wheel_clicks=1)[1], turned(direction="right", magnitude_in_wheel_clicks=1)[0]
    assert high > 0 and wide > 0
    for args, notches in (({"direction": "up", "magnitude_in_wheel_clicks": 7}, (0, -7)), ({"direction": "down"}, (0, 2)),
                          ({"direction": "left", "magnitude_in_pixels": 500}, (-6, 0)), ({"direction": "up", "magnitude": 999}, (0, -8)),
                          ({"direction": "right", "magnitude_in_pixels": 1}, (1, 0))):
        assert turned(**args) == [notches[0] * wide, notches[1] * high], args


def test_gemini_s_earlier_functions(page):
    session = page.session
    place, at = grid(page)
    gemini(session, "open_web_browser")
    gemini(session, "hover_at", x=500, y=500)
    assert where(session) == (640, 400)
    gemini(session, "click_at", **place)
    assert page.new("click", until_type="click")[0]["at"] == at
    gemini(session, "type_text_at", **place, text="first", press_enter=False)
    gemini(session, "type_text_at", **place, text="second")
    gemini(session, "type_text_at", **place, text="!", press_enter=False, clear_before_typing=False)
    texts = until(lambda: (now := [event["text"] for event in page.all() if event["type"] == "input"]) and "!" in now[-1] and now)
    assert "first" in texts and texts[-1].replace("!", "") == "second\n"
    page.new(until_type="click", n=3)
    gemini(session, "key_combination", keys="Control+A")
    assert [event["key"] for event in page.new("keydown", until_type="keyup", n=2)][-2:] == ["Control", "a"]
    gemini(session, "scroll_document", direction="down")
    assert page.new("keydown", until_type="keyup")[-1]["key"] == "PageDown"
    gemini(session, "scroll_at", **place, direction="up", magnitude=300)
    assert sum(event["way"][1] for event in page.new("wheel", until_type="wheel")) < 0
    for name in ("one", "two"):
        session.run("sh", "-c", f"cat >{name}.html", stdin=f"<!doctype html><title>{name}</title>")
        gemini(session, "navigate", dialect="gemini_legacy", url=f"file:///home/user/{name}.html")
        until(lambda: title(session).startswith(name))
    gemini(session, "go_back", dialect="gemini_legacy")
    until(lambda: title(session).startswith("one"))
    gemini(session, "go_forward")
    until(lambda: title(session).startswith("two"))
    answer = post(session, {"name": "search", "args": {}})
    assert "navigate" in answer["response"]["error"]


def test_gemini_turns_halt_at_a_failure(session):
    """In order, each with its picture, until one fails; those behind it are told so. A fault of the model's is a failure like any other."""
    calls = [{"name": "move", "args": {"x": 100, "y": 100}, "id": "1"}, {"name": "key_down", "args": {"key": "a"}, "id": "2"},
             {"name": "key_down", "args": {"key": "a"}, "id": "3"}, {"name": "move", "args": {"x": 900, "y": 900}, "id": "4"}]
    for third, text in ((calls[2], "held"), ({"name": "press_key", "args": {"key": "retrun"}, "id": "3"}, "near: return"),
                        ({"name": "clik", "args": {}, "id": "3"}, "near it: click"), ({"name": "move", "args": {"x": 1000, "y": 1}, "id": "3"}, "from 0 to 999")):
        content = post(session, {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": one} for one in (*calls[:2], third, calls[3])]}}]})
        assert content["role"] == "user"
        responses = [part["functionResponse"] for part in content["parts"]]
        assert [one["id"] for one in responses] == ["1", "2", "3", "4"]
        for one in responses[:3]:
            assert decoded(one["parts"][0]["inlineData"]["mimeType"], one["parts"][0]["inlineData"]["data"]).size == SIZE
        assert [one["response"].get("error") for one in responses[:2]] == [None, None] and text in responses[2]["response"]["error"]
        assert responses[3]["response"]["error"] == "Not executed: another call of this turn failed." and "parts" not in responses[3]
        assert where(session) == (128, 80)
        assert held(session) == {"keys": [], "buttons": []}
        session.do("move", x=1, y=1)


def test_gemini_first_fault_has_a_picture(session):
    answer = post(session, {"name": "tap", "args": {}})
    assert "error" in answer["response"] and decoded("image/png", answer["parts"][0]["inlineData"]["data"]).size == SIZE


def test_gemini_steps(session):
    steps = [{"type": "thought", "signature": "x"}, {"type": "function_call", "id": "s1", "name": "move", "arguments": {"x": 500, "y": 500}},
             {"type": "function_call", "id": "s2", "name": "hover", "arguments": {}}]
    moved, wrong = post(session, {"id": "i", "status": "requires_action", "steps": steps})
    assert (moved["type"], moved["call_id"], moved["name"]) == ("function_result", "s1", "move") and "is_error" not in moved
    assert json.loads(moved["result"][0]["text"]) == {"url": URL}
    for result in (moved, wrong):
        assert decoded(result["result"][1]["mime_type"], result["result"][1]["data"]).size == SIZE
    assert wrong["is_error"] is True and "is not a function" in json.loads(wrong["result"][0]["text"])["error"]
    assert where(session) == (640, 400)


def test_gemini_safety_waits_for_a_person(make_session):
    session = make_session("minimal", approval={"mode": "never"})
    session.do("move", x=7, y=8)
    args = {"x": 500, "y": 500, "safety_decision": {"decision": "require_confirmation", "explanation": "It buys something."}}
    for body, pointer in (({"name": "move", "args": args}, "/args/safety_decision"), ({"function_call": {"name": "hover_at", "args": args}}, "/function_call/args/safety_decision"),
                          ([{"type": "function_call", "id": "s", "name": "move", "arguments": args}], "/0/arguments/safety_decision"),
                          ({"name": "move", "args": args | {"safety_acknowledgement": True}}, "/args/safety_decision")):
        caught = refused(session, body)
        assert (caught.status, caught.code, caught.pointer) == (409, "confirmation_required", pointer)
        assert where(session) == (7, 8)
    answer = post(session, {"name": "move", "args": args, "safety_acknowledgement": True})
    assert answer["response"] == {"url": URL, "safety_acknowledgement": True} and where(session) == (640, 400)


def asked(session, body, what, **more):
    """Of a turn that the model's safety system warns of: the card that a person got, and what came of it after this answer. Until then nothing is done."""
    session.do("move", x=7, y=8)
    thread, results = in_thread(post, session, body)
    shown = card(session)
    assert where(session) == (7, 8)
    answer(session, shown, what, **more)
    return shown, finish(thread, results)


def test_a_person_is_asked_about_safety_checks(session):
    check = {"id": "sc_1", "code": "malicious_instructions", "message": "The page gives orders."}
    args = {"x": 500, "y": 500, "safety_decision": {"decision": "require_confirmation", "explanation": "It buys something."}}
    body = call({"type": "move", "x": 100, "y": 100}, {"type": "wait"}, pending_safety_checks=[check])
    shown, items = asked(session, body, "once")
    assert (shown["rule"], shown["session_words"]) == ("model", None) and "warning" in shown["not_session_why"]
    assert shown["why"] == "the model's safety system says \"malicious_instructions: The page gives orders.\""
    assert shown["action"] == {"action": "move", "x": 100, "y": 100} and where(session) == (100, 100)
    assert len(items) == 1 and items[0]["acknowledged_safety_checks"] == [check]
    shown, items = asked(session, body, "deny", reason="Not that page.")
    assert "a person has refused this" in said(items) and "Not that page." in said(items) and where(session) == (7, 8)
    shown, told = asked(session, {"name": "move", "args": args}, "once")
    assert shown["why"] == "the model's safety system says \"It buys something.\""
    assert told["response"] == {"url": URL, "safety_acknowledgement": True} and where(session) == (640, 400)
    shown, told = asked(session, {"name": "move", "args": args}, "deny")
    assert "a person has refused this" in told["response"]["error"] and told["response"]["safety_acknowledgement"] and where(session) == (7, 8)
    # Somebody whom the harness has asked.
    post(session, body | {"acknowledged_safety_checks": [check]})
    assert where(session) == (100, 100)


# ---- spaces ----

def test_edges_in_other_spaces(make_session):
    """The first and the last row and column can be reached, whatever the pictures' size is, and pictures have that size."""
    for space in ((1000, 500), (1366, 768), (64, 48)):
        session = make_session("minimal", space={"width": space[0], "height": space[1]})
        last = (space[0] - 1, space[1] - 1)
        for x, y, native in ((0, 0, (0, 0)), (*last, (SIZE[0] - 1, SIZE[1] - 1)), (0, last[1], (0, SIZE[1] - 1))):
            body = call({"type": "move", "x": x, "y": y})
            screenshot(post(session, body)[0], body, space)
            assert where(session) == (x, y) and where(session, space="native") == native
        assert "in the space of" in said(post(session, call({"type": "move", "x": space[0], "y": 0})))
        for x, y, native in ((0, 0, (0, 0)), (999, 999, (SIZE[0] - 1, SIZE[1] - 1)), (999, 0, (SIZE[0] - 1, 0))):
            gemini(session, "move", space, x=x, y=y)
            assert where(session, space="native") == native
            gemini(session, "hover_at", space, x=x, y=y)
            assert where(session, space="native") == native
        session.end()
