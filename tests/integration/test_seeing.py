# SPDX-License-Identifier: GPL-2.0-or-later
"""What a session shows: first frames, known content, the pointer, regions, scales, frames."""
import base64
import concurrent.futures
import io
import time

import pytest
from PIL import Image, ImageChops

from api import Refused
from conftest import until
from pictures import box

BACKGROUND = (0x4A, 0x5F, 0x73)
YELLOW = (0xFF, 0xCC, 0x00)
SIZE = (1280, 800)
FIRST_FRAMES = 12


def shot(session, query="", headers=None):
    """A picture by query: the reply and the picture."""
    reply = session.agent.request("GET", f"{session.path}/screenshot{query}", headers=headers)
    if reply.status >= 400:
        raise Refused(reply)
    picture = Image.open(io.BytesIO(reply.body))
    picture.load()
    return reply, picture


def decoded(field):
    """A picture of a result or an observation."""
    picture = Image.open(io.BytesIO(base64.b64decode(field["data"], validate=True)))
    assert picture.size == (field["width"], field["height"])
    return picture.convert("RGB")


def difference(one, other):
    """The rectangle in which two pictures differ; None when they do not."""
    return ImageChops.difference(one.convert("RGB"), other.convert("RGB")).getbbox()


def show_yellow(session):
    """A terminal whose text area is yellow."""
    session.act({"action": "launch", "app": "terminal"},
                {"action": "type", "text": "PS1=; clear; printf '\\033]11;#ffcc00\\007\\033[?25l'; exec sleep 1000\n"},
                observe={"picture": "none"})
    return until(lambda: box(session.shot(), YELLOW))


def test_first_frame_is_painted(make_session):
    """Case S01: right after create the desktop is painted, hands work and apps start, every time."""
    for _ in range(FIRST_FRAMES):
        session = make_session("minimal")
        _, picture = shot(session, "?cursor=false")
        assert picture.size == SIZE
        assert picture.getcolors() == [(SIZE[0] * SIZE[1], BACKGROUND)]
        session.do("click", x=SIZE[0] - 1, y=SIZE[1] - 1)
        launched = session.do("launch", app="terminal")
        assert [window["id"] for window in session.windows()] == [launched["window"]]
        session.end()


def test_app_right_after_create(make_session):
    session = make_session("minimal")
    launched = session.do("launch", app="terminal")
    assert [window["id"] for window in session.windows()] == [launched["window"]]


def test_dark_screens_are_pictures_like_others(make_session):
    """What is black because it is black is shown as it is: nothing waits for it to become another."""
    session = make_session("minimal")
    session.act({"action": "launch", "app": "terminal"},
                {"action": "type", "text": "PS1=; clear; printf '\\033]11;#000000\\007\\033]10;#000000\\007\\033[?25l'; exec sleep 1000\n"},
                observe={"picture": "none"})
    session.do("resize_window", window=session.windows()[0]["id"], maximized=True)

    def is_dark():
        observation = session.act(observe={"cursor": False})["observation"]
        picture = decoded(observation["picture"])
        return observation["settled"] and box(picture, (0, 0, 0)) and sum(n for n, colour in picture.getcolors(4096) if colour == (0, 0, 0)) > 900000

    until(is_dark)


def test_picture_is_opaque_rgb(session):
    assert shot(session)[1].mode == "RGB"


def test_known_content(session):
    left, top, right, bottom = show_yellow(session)
    window = session.windows()[0]
    assert window["x"] <= left and right <= window["x"] + window["width"]
    assert window["y"] <= top and bottom <= window["y"] + window["height"]
    session.do("move", x=0, y=0)
    part = decoded(session.do("screenshot", cursor=False,
                              region={"x": left + 4, "y": top + 4, "width": right - left - 8, "height": 40})["picture"])
    assert part.size == (right - left - 8, 40)
    assert part.getcolors() == [(part.width * part.height, YELLOW)]
    _, same = shot(session, f"?cursor=false&region={left + 4},{top + 4},{part.width},{part.height}")
    assert difference(part, same) is None


def test_pointer_is_drawn_at_its_hot_spot(session):
    """The drawn pointer moves exactly as it is moved, begins at its hot spot, and can be left out."""
    session.do("move", x=300, y=200)
    _, without = shot(session, "?cursor=false")
    assert without.getcolors() == [(SIZE[0] * SIZE[1], BACKGROUND)]
    first = difference(shot(session)[1], without)
    left, top, right, bottom = first
    assert left <= 300 < right and top <= 200 < bottom
    session.do("move", x=417, y=333)
    assert difference(shot(session)[1], without) == (left + 117, top + 133, right + 117, bottom + 133)
    # At the edges it is cut, not moved.
    session.do("move", x=SIZE[0] - 1, y=SIZE[1] - 1)
    cut = difference(shot(session)[1], without)
    assert cut[:2] == (left + SIZE[0] - 301, top + SIZE[1] - 201) and cut[2:] == SIZE


def test_region_and_scale(session):
    left, top, right, bottom = show_yellow(session)
    reply, half = shot(session, "?space=640x400&cursor=false")
    assert half.size == (640, 400)
    assert reply.headers["Glovebox-Native"] == "1280x800"
    small = box(half.convert("RGB"), YELLOW)
    for edge, scaled in zip((left, top, right, bottom), small):
        assert abs(edge / 2 - scaled) <= 1
    reply, uneven = shot(session, "?space=200x700")
    assert uneven.size == (200, 700)
    reply, part = shot(session, "?region=1279,799,1,1&space=native&cursor=false")
    assert part.size == (1, 1)
    assert reply.headers["Glovebox-Region"] == "1279,799,1,1"


def test_size_of_a_picture(session):
    """Any size for any part: where it is in the picture is where it is on the screen."""
    left, top, right, bottom = show_yellow(session)
    part = {"x": left - 10, "y": top - 5, "width": right - left + 20, "height": bottom - top + 10}
    reply, picture = shot(session, f"?region={','.join(map(str, part.values()))}&size=4000x200&cursor=false")
    assert picture.size == (4000, 200) and reply.headers["Glovebox-Size"] == "4000x200"
    found = box(picture.convert("RGB"), YELLOW)
    wide, high = 4000 / part["width"], 200 / part["height"]
    assert all(abs(a - b) <= wide for a, b in zip(found[::2], (10 * wide, 4000 - 10 * wide)))
    assert all(abs(a - b) <= high + 1 for a, b in zip(found[1::2], (5 * high, 200 - 5 * high)))
    taken = decoded(session.do("screenshot", region=part, size={"width": 4000, "height": 200}, cursor=False)["picture"])
    seen = decoded(session.act(observe={"region": part, "size": {"width": 4000, "height": 200}, "cursor": False})["observation"]["picture"])
    assert picture.convert("RGB").tobytes() == taken.convert("RGB").tobytes() == seen.convert("RGB").tobytes()
    for wrong, pointer in (({"size": {"width": 0, "height": 5}}, "/actions/0/size/width"), ({"size": {"width": 4097, "height": 5}}, "/actions/0/size/width"),
                           ({"size": "5x5"}, "/actions/0/size"), ({"size": {"width": 5, "height": 5}, "space": "native"}, "/actions/0/size")):
        with pytest.raises(Refused) as refused:
            session.do("screenshot", **wrong)
        assert refused.value.pointer == pointer


@pytest.mark.parametrize("query, pointer", [
    ("?region=0,0,1281,1", "/region"), ("?region=0,0,0,1", "/region/width"), ("?region=1,2,3", "/region"),
    ("?region=-1,0,2,2", "/region"), ("?space=0x1", "/space/width"), ("?space=big", "/space"), ("?cursor=maybe", "/cursor"),
    ("?format=gif", "/format"), ("?size=5", "/size"), ("?size=0x5", "/size/width"), ("?size=5x5&space=native", "/size"),
])
def test_wrong_queries(session, query, pointer):
    with pytest.raises(Refused) as refused:
        shot(session, query)
    assert refused.value.status == 400
    assert refused.value.pointer == pointer


def test_space_of_the_session(make_session):
    """Coordinates and pictures are in the session's space, both ways, and the last row and column are the display's."""
    session = make_session("minimal", space={"width": 683, "height": 384}, display={"width": 1366, "height": 768})
    reply, picture = shot(session)
    assert picture.size == (683, 384)
    assert reply.headers["Glovebox-Space"] == "683x384"
    for x, y in ((0, 0), (682, 383), (341, 100)):
        answer = session.act({"action": "move", "x": x, "y": y}, {"action": "cursor_position"})
        assert (answer["results"][1]["x"], answer["results"][1]["y"]) == (x, y)
    session.do("move", x=682, y=383)
    native = session.act({"action": "cursor_position"}, space="native")["results"][0]
    assert (native["x"], native["y"]) == (1365, 767)
    with pytest.raises(Refused) as refused:
        session.do("move", x=683, y=0)
    assert refused.value.pointer == "/actions/0/x"


def test_frames(session):
    """The frame stays while nothing changes, the bytes too; a moved pointer and a new window make it grow."""
    session.do("move", x=10, y=10)
    first, _ = shot(session)
    again, _ = shot(session)
    assert again.headers["Glovebox-At"] == first.headers["Glovebox-At"]
    assert again.body == first.body
    session.do("move", x=20, y=10)
    moved, _ = shot(session)
    assert frame(moved) > frame(first)
    session.do("launch", app="terminal")
    assert frame(shot(session)[0]) > frame(moved)


def test_a_picture_that_the_caller_has(session):
    """304 for the same frame and the same parameters, without a body; the picture when either is another."""
    session.do("move", x=10, y=10)
    path = f"{session.path}/screenshot"
    first = session.agent.request("GET", path)
    tag = first.headers["ETag"]
    for known in (tag, f'"x", W/{tag}', "*"):
        again = session.agent.request("GET", path, headers={"If-None-Match": known})
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
        assert again.headers["Glovebox-At"] == first.headers["Glovebox-At"]
    for known in ('"x"', tag.strip('"'), "\u00e9"):
        assert session.agent.request("GET", path, headers={"If-None-Match": known}).body == first.body
    assert session.agent.request("GET", f"{path}?space=native&cursor=false", headers={"If-None-Match": tag}).status == 200
    session.do("move", x=20, y=10)
    moved = session.agent.request("GET", path, headers={"If-None-Match": tag})
    assert moved.status == 200 and moved.headers["ETag"] != tag


def frame(reply):
    fields = dict(part.split("=") for part in reply.headers["Glovebox-At"].split(", "))
    assert set(fields) == {"frame", "epoch", "episode"}
    return int(fields["frame"])


def test_observation(session):
    """One call acts, waits for quiet and looks."""
    answer = session.act({"action": "launch", "app": "terminal"}, observe=True)
    observation = answer["observation"]
    assert observation["settled"] is True
    assert observation["at"] == answer["at"]
    assert observation["native"] == observation["space"] == {"width": 1280, "height": 800}
    assert decoded(observation["picture"]).size == SIZE
    assert session.act(observe={"picture": "none"})["observation"].keys().isdisjoint({"picture"})


def test_quiet_counts_from_the_last_action(session):
    """On a screen at rest wait_settled costs nothing; right behind an action it gives the screen time to answer."""
    until(lambda: session.do("wait_settled", quiet_ms=1000)["settled"])
    session.act(observe={"quiet_ms": 1000})
    assert session.do("wait_settled", quiet_ms=1000)["elapsed_ms"] < 900
    results = session.act({"action": "move", "x": 5, "y": 5}, {"action": "wait_settled", "quiet_ms": 1000})["results"]
    assert results[1]["settled"] and results[1]["elapsed_ms"] >= 900


def test_settling_is_bounded(session):
    """A screen that never rests is looked at when the limit is reached."""
    session.act({"action": "launch", "app": "terminal"}, {"action": "type", "text": "while :; do date +%N; done\n"})
    start = time.monotonic()
    observation = session.act(observe={"timeout_ms": 700})["observation"]
    assert observation["settled"] is False
    assert observation["picture"]["data"]
    assert 0.7 <= time.monotonic() - start < 3


def test_looks_do_not_wait_for_a_long_act(session):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        long_act = pool.submit(session.act, {"action": "wait", "duration_ms": 3000})
        start = time.monotonic()
        shot(session)
        session.agent.call("GET", session.path)
        assert time.monotonic() - start < 2
        assert not long_act.done()
        long_act.result()
