# SPDX-License-Identifier: GPL-2.0-or-later
"""Another size of the display of a session that lives: windows, pictures, streams, journals and replays go along."""
import json
import pathlib
import random

import pytest

from api import Refused, in_thread
from conftest import until
from stream import Mirror
from test_cli import Cli
from test_seeing import difference, shot
from test_stream import frame_of

HERE = pathlib.Path(__file__).parent
ROUNDS = 50
PAGE = (238, 242, 246)
WAYS = ["", "?format=webp", "?space=native", "?region=3,3,60,60"]
MOST = {"max_width": 1600, "max_height": 1000}


def resized(session, width, height, **act):
    """The action's result, and that everything says so."""
    reply = session.act({"action": "resize_display", "width": width, "height": height}, **act)
    result = reply["results"][0]
    assert (result["width"], result["height"], result["settled"]) == (width, height, True)
    assert reply["native"] == {"width": width, "height": height}
    return reply


def state(session):
    return session.agent.call("GET", session.path)


def test_from_start_to_most_and_back(make_session):
    """The start is not the maximum; every way of changing tells the same."""
    session = make_session("minimal", display={"width": 800, "height": 600, **MOST})
    assert session.answer["display"]["width"] == 800 and session.answer["display"]["max_width"] == 1600
    assert session.answer["space"] == {"width": 800, "height": 600}
    assert shot(session)[1].size == (800, 600)
    for width, height in ((1600, 1000), (64, 64), (1599, 999), (801, 601)):
        tag = shot(session)[0].headers["ETag"]
        assert resized(session, width, height)["space"] == {"width": width, "height": height}
        reply, picture = shot(session)
        assert picture.size == (width, height) and reply.headers["ETag"] != tag
        assert reply.headers["Glovebox-Native"] == f"{width}x{height}"
        session.act({"action": "click", "x": width - 1, "y": height - 1})
        assert (state(session)["display"]["width"], state(session)["display"]["height"]) == (width, height)


def test_by_patch(make_session, server):
    session = make_session("minimal", display={"width": 800, "height": 600, **MOST})
    session.act(observe=True)
    answer = server.api.call("PATCH", session.path, {"display": {"width": 1024, "height": 768}, "labels": {"size": "other"}})
    assert (answer["display"]["width"], answer["display"]["max_width"], answer["labels"]) == (1024, 1600, {"size": "other"})
    assert answer["space"] == {"width": 1024, "height": 768}
    for display, code, pointer in (
        ({"width": 1601, "height": 768}, "display_max", "/display/width"), ({"width": 1024, "height": 1001}, "display_max", "/display/height"),
        ({"width": 63, "height": 768}, "bad_field", "/display/width"), ({"width": 1024}, "missing_field", "/display/height"),
        ({"width": 1024, "height": 768, "layout": "de"}, "unknown_field", "/display/layout"), (7, "bad_field", "/display"),
    ):
        with pytest.raises(Refused) as refused:
            server.api.call("PATCH", session.path, {"display": display, "labels": {"size": "not this"}})
        assert (refused.value.code, refused.value.pointer) == (code, pointer), refused.value
        assert refused.value.status == (409 if code == "display_max" else 400)
    assert state(session)["display"]["width"] == 1024 and state(session)["labels"] == {"size": "other"}


def is_drawn(picture):
    """The page's own colour is in both lower corners."""
    width, height = picture.size
    corners = {picture.convert("RGB").getpixel((x, height - 5)) for x in (4, width - 5)}
    return corners == {PAGE}


def test_maximized_firefox_fills_it(make_session):
    session = make_session("desktop", display={"width": 1280, "height": 800, **MOST}, apps=["firefox"])
    window = session.windows()[0]["id"]
    session.act({"action": "resize_window", "window": window, "maximized": True}, observe=True)
    for width, height in ((1000, 700), (1600, 1000), (1101, 651)):
        resized(session, width, height, observe={"picture": "none"})
        there = next(w for w in session.windows() if w["id"] == window)
        assert there["width"] == width and there["x"] == 0 and height - 90 <= there["y"] + there["height"] <= height, there
        # It has drawn the new part, of its page: what it shows above that changes while it loads.
        until(lambda: is_drawn(shot(session)[1]))


def test_windows_stay_on_it(make_session):
    """What would lie outside is moved in."""
    session = make_session("minimal", display={"width": 1280, "height": 800, **MOST}, apps=["terminal"])
    window = session.windows()[0]["id"]
    session.act({"action": "move_window", "window": window, "x": 900, "y": 500}, observe=True)
    resized(session, 640, 400)
    there = session.windows()[0]
    assert there["x"] < 640 - 20 and there["y"] < 400 - 20, there


def held(session):
    return state(session)["held"]["buttons"]


def test_a_button_that_is_held(make_session):
    """A drag goes on over another size, and ends where it is then; also one whose place is gone."""
    session = make_session("minimal", display={"width": 800, "height": 600, **MOST}, apps=["terminal"])
    window = session.windows()[0]["id"]
    for width, height in ((400, 300), (1600, 1000), (300, 500)):
        session.act({"action": "move_window", "window": window, "x": 60, "y": 60}, {"action": "wait_settled"})
        session.act({"action": "mouse_down", "x": 140, "y": 72}, {"action": "move", "x": 200, "y": 112})
        resized(session, width, height)
        assert held(session) == ["left"]
        session.act({"action": "move", "x": 170, "y": 122}, {"action": "mouse_up"})
        assert held(session) == []
        until(lambda: [session.windows()[0]["frame"][side] for side in "xy"] == [90, 110])
    resized(session, 800, 600)
    session.act({"action": "mouse_down", "x": 780, "y": 590}, {"action": "move", "x": 740, "y": 560})
    resized(session, 200, 100)
    session.do("mouse_up")
    at = session.do("cursor_position")
    assert held(session) == [] and at["x"] < 200 and at["y"] < 100


def test_a_window_that_was_left_outside(make_session):
    """One that is minimized meanwhile, which is told, and one of plain X: once they are focused they are on it."""
    session = make_session("minimal", display={"width": 1280, "height": 800, **MOST}, apps=["terminal"])
    window = session.windows()[0]["id"]
    session.act({"action": "move_window", "window": window, "x": 900, "y": 500}, {"action": "show_window", "window": window, "state": "minimized"})
    session.run("sh", "-c", "cat >x_window.pl", stdin=(HERE / "x_window.pl").read_text())
    session.run("perl", "x_window.pl", "1", "WM_NAME", "STRING", b"plain".hex())
    plain = session.do("wait_window", title="plain")["window"]
    session.act({"action": "move_window", "window": plain, "x": 1000, "y": 600})
    resized(session, 640, 400)
    there = {each["id"]: each for each in session.windows()}
    assert there[window]["visible"] == "none" and there[window]["hidden_by"] == ["minimized"]
    for id_ in window, plain:
        session.do("focus_window", window=id_)
        there = next(each for each in session.windows() if each["id"] == id_)
        assert there["focused"] and there["x"] < 640 - 20 and there["y"] < 400 - 20 and there["visible"] != "none", there


def test_while_others_read_and_act(make_session):
    """A reader of the stream, one who acts and one who looks, while it is resized again and again."""
    session = make_session("desktop", display={"width": 1280, "height": 800, **MOST}, apps=["terminal"])
    random_ = random.Random(6)
    sizes = []

    def look():
        for i in range(ROUNDS):
            reply, picture = shot(session, WAYS[i % len(WAYS)])
            assert reply.headers["Glovebox-Size"] == "{}x{}".format(*picture.size)
            assert "Glovebox-Region" in reply.headers or reply.headers["Glovebox-Native"] == reply.headers["Glovebox-Size"]

    def act():
        for i in range(ROUNDS // 2):
            answer = session.try_act({"action": "type", "text": f"{i} "}, {"action": "click", "x": 63, "y": 63}, observe={"quiet_ms": 0})
            assert answer["ok"], answer
            assert answer["observation"]["picture"]["width"] == answer["space"]["width"]

    def follow(mirror):
        """Until the end is shown, which is told by its frame."""
        while not frames or (mirror.last or 0) < frames[0]:
            seen.add(mirror.next().data["native"]["width"])

    frames, seen = [], set()
    with Mirror(session.agent, session, "?max_fps=60") as mirror, Mirror(session.agent, session, "?format=webp&space=500x400") as slow:
        beside = [in_thread(look), in_thread(act), in_thread(follow, mirror), in_thread(follow, slow)]
        for _ in range(ROUNDS):
            width, height = random_.randrange(64, 1601), random_.randrange(64, 1001)
            result = session.act({"action": "resize_display", "width": width, "height": height})["results"][0]
            assert (result["width"], result["height"]) == (width, height)
            sizes.append((width, height))
        for thread, results in beside[:2]:
            thread.join()
            assert results == [None]
        # A change that is told at once, whatever the readers have seen of the last size.
        frames.append(frame_of(shot(session)[0]) + 1)
        session.act({"action": "type", "text": "\nthe end"}, observe={"picture": "none"})
        for thread, results in beside[2:]:
            thread.join()
            assert results == [None]
        _, picture = shot(session)
        while mirror.picture.size == picture.size and difference(mirror.picture, picture):
            mirror.next()
        assert mirror.picture.size == picture.size == sizes[-1] and slow.picture.size == (500, 400)
        assert len(seen) > ROUNDS / 5


def test_a_stream_of_a_region(make_session):
    session = make_session("minimal", display={"width": 800, "height": 600})
    with Mirror(session.agent, session, "?region=700,500,100,100") as away, Mirror(session.agent, session, "?region=10,10,50,40") as stays:
        assert away.next().data["whole"] and stays.next().data["whole"]
        resized(session, 400, 300)
        event = away.next()
        assert (event.name, event.data["state"]) == ("end", "ready") and "region" in event.data["reason"]
        data = stays.next().data
        assert data["whole"] and data["native"] == {"width": 400, "height": 300} and stays.picture.size == (50, 40)


def test_journal_and_replay(make_session, server):
    """Pictures of both sizes are in the recording, and a replay gets to the same."""
    session = make_session("minimal", display={"width": 800, "height": 600, **MOST}, apps=["terminal"])
    session.act({"action": "type", "text": "echo one\n"}, observe=True)
    session.act({"action": "resize_display", "width": 1001, "height": 501}, {"action": "click", "x": 1000, "y": 500}, observe=True)
    session.act({"action": "type", "text": "echo two\n"}, observe=True)
    session.act({"action": "resize_display", "width": 640, "height": 480}, observe=True)
    session.end()
    journal = server.state / "journals" / session.id
    lines = [json.loads(line) for line in (journal / "journal.jsonl").read_text().splitlines()]
    actions = [line["action"]["action"] for line in lines if line["event"] == "intent"]
    assert actions == ["type", "resize_display", "click", "type", "resize_display"]
    assert [(line["width"], line["height"]) for line in lines if line["event"] == "result" and "width" in line] == [(1001, 501), (640, 480)]
    Cli(server).run("replay", journal)
