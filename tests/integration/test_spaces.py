# SPDX-License-Identifier: GPL-2.0-or-later
"""Coordinates and pictures in other sizes than the display's (case M01): one rule both ways, no point out of reach, nothing outside taken."""
import io

import pytest
from PIL import Image

from api import Refused
from page import Page

NATIVE = (1920, 1080)
SPACES = [(1366, 768), (1280, 720), (800, 600), (1920, 1080), (100, 1080), (2560, 1440)]


def spec(size):
    return {"width": size[0], "height": size[1]}


@pytest.fixture
def wide(make_session):
    return make_session("minimal", display=spec(NATIVE))


def place(session, **options):
    """Where the pointer is, in the space of the call."""
    result = session.act({"action": "cursor_position"}, **options)["results"][0]
    return result["x"], result["y"]


def size_of_shot(session, query=""):
    reply = session.agent.request("GET", f"{session.path}/screenshot{query}")
    assert reply.status == 200, reply.body
    size = Image.open(io.BytesIO(reply.body)).size
    assert reply.headers["Glovebox-Size"] == f"{size[0]}x{size[1]}"
    return size


def block(at, space, native):
    """The display's pixels under a point of the space, as far as they are whole or the largest part: from, to (inside)."""
    return at * native // space, max(at * native // space, ((at + 1) * native - 1) // space)


@pytest.mark.parametrize("space", SPACES, ids="{0[0]}x{0[1]}".format)
def test_points_of_a_space(wide, space):
    """Clicks of a call that names its space: before any picture was taken, at corners, edges and centre, there and back."""
    right, bottom = space[0] - 1, space[1] - 1
    for x, y in ((0, 0), (right, 0), (0, bottom), (right, bottom), (space[0] // 2, space[1] // 2), (space[0] // 3, bottom - 1)):
        answer = wide.act({"action": "click", "x": x, "y": y}, {"action": "cursor_position"}, space=spec(space))
        assert answer["space"] == spec(space) and answer["native"] == spec(NATIVE)
        native = place(wide, space="native")
        for at, reached, length, full in ((x, native[0], space[0], NATIVE[0]), (y, native[1], space[1], NATIVE[1])):
            first, last = block(at, length, full)
            assert first <= reached <= last, (x, y, native)
            # In the middle of its block, but for the two ends, which are the display's.
            want = 0 if at == 0 else full - 1 if at == length - 1 else (at + 0.5) * full / length - 0.5
            assert abs(reached - want) <= 1
        if space[0] <= NATIVE[0] and space[1] <= NATIVE[1]:
            back = answer["results"][1]
            assert (back["x"], back["y"]) == (x, y) == place(wide, space=spec(space))
    assert place(wide, space="native") != (0, 0)


@pytest.mark.parametrize("space, point, pointer", [
    ((1366, 768), (1366, 100), "x"), ((1366, 768), (1800, 100), "x"), ((1366, 768), (100, 768), "y"), ((800, 600), (800, 0), "x"),
    ((2560, 1440), (2560, 0), "x"), ((1366, 768), (-1, 0), "x"), ((100, 1080), (100, 0), "x"),
])
def test_points_outside(wide, space, point, pointer):
    """What lies outside of the caller's space is refused, with both sizes in the text, although the display has such a pixel."""
    wide.do("move", x=5, y=7)
    for action in ({"action": "click", "x": point[0], "y": point[1]}, {"action": "move", "x": point[0], "y": point[1]}):
        with pytest.raises(Refused) as refused:
            wide.act({"action": "move", "x": 50, "y": 50}, action, space=spec(space))
        assert (refused.value.status, refused.value.pointer) == (400, f"/actions/1/{pointer}")
        text = refused.value.problem["detail"]
        assert f"{space[0]}x{space[1]}" in text and "1920x1080" in text and str(point[0 if pointer == "x" else 1]) in text
    assert place(wide) == (5, 7)


def test_an_app_gets_the_click(make_session):
    """Firefox on 1920x1080, driven in 1366x768: each click arrives within the block of its point, what is refused does not."""
    space = (1366, 768)
    page = Page(make_session("desktop", display=spec(NATIVE), space=spec(space)))
    session = page.session
    left, top, right, bottom = page.box
    places = [(left + 1, top + 1), (right - 2, bottom - 2), (left + 100, bottom - 40), (right - 31, top + 17)]
    before = len(page.told()["clicks"])
    session.act(*({"action": "click", "x": x, "y": y} for x, y in places))
    with pytest.raises(Refused):
        session.do("click", x=space[0], y=100)
    # The shot has another size than the last one: the call names the space that it is decided on.
    assert size_of_shot(session, "?space=800x600") == (800, 600)
    x, y = 800 * (left + right) // 2 // space[0], 600 * (top + bottom) // 2 // space[1]
    session.act({"action": "click", "x": x, "y": y}, space=spec((800, 600)))
    clicks = page.wait(lambda told: len(told["clicks"]) >= before + 5)["clicks"][before:]
    assert len(clicks) == 5
    for (x, y), used, (_, _, got_x, got_y) in zip(places + [(x, y)], [space] * 4 + [(800, 600)], clicks):
        for at, got, length, full in ((x, got_x, used[0], NATIVE[0]), (y, got_y, used[1], NATIVE[1])):
            first, last = block(at, length, full)
            assert first <= got <= last


def test_every_reply_says_its_space(make_session):
    session = make_session("minimal", display=spec(NATIVE), space=spec((1280, 720)))
    assert session.answer["space"] == spec((1280, 720))
    assert {key: session.answer["display"][key] for key in ("width", "height")} == spec(NATIVE)
    answer = session.act({"action": "move", "x": 1279, "y": 719}, observe=True)
    assert answer["space"] == answer["observation"]["space"] == spec((1280, 720))
    assert answer["native"] == answer["observation"]["native"] == spec(NATIVE)
    assert session.try_act({"action": "move", "x": 0, "y": 0}, check_only=True)["space"] == spec((1280, 720))
    reply = session.agent.request("GET", f"{session.path}/screenshot?region=640,0,640,720&space=native")
    assert [reply.headers[f"Glovebox-{name}"] for name in ("Space", "Native", "Size", "Region")] == \
        ["1280x720", "1920x1080", "960x1080", "640,0,640,720"]


@pytest.mark.parametrize("display, space", [
    ((1280, 800), (1280, 800)), ((1920, 1080), (1920, 1080)), ((3840, 2160), (2000, 1125)), ((4096, 1080), (2000, 527)),
    ((2000, 2000), (1932, 1932)), ((4096, 64), (2000, 31)),
])
def test_space_of_a_spec_that_names_none(make_session, display, space):
    """The display's, or the largest of its shape that models take; its last row and column are the display's."""
    session = make_session("minimal", display=spec(display))
    assert session.answer["space"] == spec(space)
    assert size_of_shot(session) == space
    session.do("move", x=space[0] - 1, y=space[1] - 1)
    assert place(session, space="native") == (display[0] - 1, display[1] - 1)
    assert size_of_shot(session, "?space=native") == display


@pytest.mark.parametrize("space, pointer", [
    ({"width": 0, "height": 10}, "/space/width"), ({"width": 10, "height": 4097}, "/space/height"), ({"width": 10}, "/space/height"),
    ({"width": 10.5, "height": 10}, "/space/width"), ({"width": "10", "height": 10}, "/space/width"), ("small", "/space"), (None, "/space"),
    ([10, 10], "/space"), ({"width": 10, "height": 10, "depth": 1}, "/space/depth"),
])
def test_wrong_spaces(server, wide, space, pointer):
    """Of a session, of a call and of a picture."""
    wide.do("move", x=5, y=7)
    for api, path, body, prefix in (
            (server.api, "/v1/sessions", {"image": "minimal", "space": space}, ""),
            (wide.agent, f"{wide.path}/act", {"actions": [{"action": "move", "x": 1, "y": 1}], "space": space}, ""),
            (wide.agent, f"{wide.path}/act", {"actions": [], "observe": {"space": space}}, "/observe"),
            (wide.agent, f"{wide.path}/act", {"actions": [{"action": "screenshot", "space": space}]}, "/actions/0")):
        with pytest.raises(Refused) as refused:
            api.call("POST", path, body)
        assert (refused.value.status, refused.value.pointer) == (400, prefix + pointer)
    assert place(wide) == (5, 7)
