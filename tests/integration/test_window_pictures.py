# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of a window alone: with its menus and dialogs, without anybody else's pixels, and where they are on the screen."""
import base64

import pytest
from PIL import Image

from api import Refused, picture_of
from conftest import until

FLAT = (0x4A, 0x5F, 0x73)  # what is not the window's


def take(session, window, **fields):
    result = session.do("screenshot", window=window, cursor=False, **fields)
    return result, picture_of(base64.b64decode(result["picture"]["data"]))


def box(rect):
    return rect["x"], rect["y"], rect["x"] + rect["width"], rect["y"] + rect["height"]


def popups(session, window):
    return [popup for popup in session.do("windows")["popups"] if popup["window"] == window]


def frame(session, window):
    return next(found["frame"] for found in session.windows() if found["id"] == window)


def place(session, window, x=100, y=100, width=700, height=400):
    session.do("show_window", window=window, state="normal")
    session.do("resize_window", window=window, width=width, height=height)
    session.do("move_window", window=window, x=x, y=y)
    session.act({"action": "wait_settled"})


def check(session, window, rects):
    """The picture is the screen where the window and what is its own are, these rectangles, and flat elsewhere."""
    def both():
        """The two of the same frame: a browser on a busy machine rests, and draws on between them."""
        session.act({"action": "wait_settled"})
        taken, screen = take(session, window), session.do("screenshot", cursor=False)
        return taken[0]["frame"] == screen["frame"] and (*taken, screen)

    result, picture, screen = until(both)
    whole = picture_of(base64.b64decode(screen["picture"]["data"]))
    assert result["covered"] == []
    region = result["region"]
    left, top = min(rect["x"] for rect in rects), min(rect["y"] for rect in rects)
    right, bottom = (max(rect[at] + rect[size] for rect in rects) for at, size in (("x", "width"), ("y", "height")))
    assert box(region) == (left, top, min(right, whole.width), min(bottom, whole.height))
    assert picture.size == (region["width"], region["height"])
    wanted = Image.new("RGB", picture.size, FLAT)
    for rect in rects:
        wanted.paste(whole.crop(box(rect)), (rect["x"] - left, rect["y"] - top))
    assert picture.tobytes() == wanted.tobytes()
    return result


@pytest.mark.parametrize("browser", ["firefox", pytest.param("chromium", marks=pytest.mark.long)])
def test_browser_menu(make_session, browser):
    """It hangs far over the edge of the window."""
    session = make_session("desktop", apps=[browser])
    window = session.answer["apps"][0]["window"]
    place(session, window, height=300)
    check(session, window, [frame(session, window)])
    session.do("key", keys="alt+f" if browser == "chromium" else "F10")
    if browser == "firefox":
        session.do("key", keys=["alt+f"])
    menu = until(lambda: popups(session, window))[0]
    assert menu["app"] == browser and menu["visible"] == "all"
    result = check(session, window, [frame(session, window), menu])
    assert result["windows"] == [window, menu["id"]]
    session.do("key", keys="Escape")
    until(lambda: not popups(session, window))


def test_menus_and_dialogs_of_gtk(make_session):
    session = make_session("desktop")
    session.run("sh", "-c", "cat >note.txt", stdin="hello")
    window = session.do("launch", app="editor", args=["note.txt"])["window"]
    other = session.do("launch", app="terminal")["window"]
    place(session, other, x=600, y=300, width=500, height=300)
    place(session, window, x=100, y=60, width=300, height=200)
    session.act({"action": "focus_window", "window": window}, {"action": "key", "keys": "alt+f"})
    menu = until(lambda: popups(session, window))[0]
    assert menu["type"] == "popup_menu"
    result = check(session, window, [frame(session, window), menu])
    # A place in the picture, here of half the scale, is found on the screen by the region.
    result, picture = take(session, window, space={"width": 640, "height": 400})
    region = result["region"]
    scale = region["width"] / picture.width
    assert scale == pytest.approx(2, abs=0.01)
    x, y = (menu["x"] + menu["width"] // 2 - region["x"]) // 2, (menu["y"] + menu["height"] - 12 - region["y"]) // 2
    session.do("click", x=round(region["x"] + x * scale), y=round(region["y"] + y * scale))  # the last entry of the menu: Quit
    until(lambda: window not in [found["id"] for found in session.windows()])

    window = session.do("launch", app="editor", args=["note.txt"])["window"]
    place(session, window, x=100, y=60, width=300, height=200)
    session.act({"action": "focus_window", "window": window}, {"action": "key", "keys": "ctrl+o"})
    dialog = session.do("wait_window", title="Open File")
    assert (dialog["type"], dialog["dialog_of"]) == ("dialog", window)
    session.do("resize_window", window=dialog["window"], width=640, height=420)
    result = check(session, window, [frame(session, window), frame(session, dialog["window"])])
    assert result["windows"] == [window, dialog["window"]]


def test_menus_and_dialogs_of_writer(make_session):
    session = make_session("office")
    window = session.do("launch", app="office-writer")["window"]
    session.act({"action": "wait_settled", "quiet_ms": 800, "timeout_ms": 20000})
    place(session, window, y=60)
    session.do("key", keys="alt+f")
    menu = until(lambda: popups(session, window))[0]
    check(session, window, [frame(session, window), menu])
    session.act({"action": "key", "keys": "Escape"}, {"action": "key", "keys": "Escape"}, {"action": "key", "keys": "ctrl+h"})
    dialog = session.do("wait_window", title="Find and Replace")
    assert dialog["dialog_of"] == window
    session.do("move_window", window=dialog["window"], x=400, y=250)
    check(session, window, [frame(session, window), frame(session, dialog["window"])])


def test_covered(make_session):
    session = make_session("minimal")
    under = session.do("launch", app="editor")["window"]
    place(session, under)
    over = session.do("launch", app="terminal")["window"]
    place(session, over, x=500, y=300, width=500, height=300)
    session.do("focus_window", window=over)
    result, picture = take(session, under)
    below, above = frame(session, under), frame(session, over)
    assert box(result["region"]) == box(below)
    for rect in result["covered"]:
        assert rect["x"] >= above["x"] and rect["y"] >= above["y"] and rect["x"] + rect["width"] <= below["x"] + below["width"]
        part = picture.crop(box({**rect, "x": rect["x"] - below["x"], "y": rect["y"] - below["y"]}))
        assert part.getcolors() == [(rect["width"] * rect["height"], FLAT)]
    hidden = (below["x"] + below["width"] - above["x"]) * (below["y"] + below["height"] - above["y"])
    assert sum(rect["width"] * rect["height"] for rect in result["covered"]) == hidden

    reply = session.agent.request("GET", f"{session.path}/screenshot?window={under}&cursor=false")
    assert picture_of(reply.body).tobytes() == picture.tobytes()
    assert reply.headers["Glovebox-Region"] == ",".join(str(below[key]) for key in ("x", "y", "width", "height"))
    assert reply.headers["Glovebox-Covered"] == "true"
    same = session.agent.request("GET", f"{session.path}/screenshot?window={under}&cursor=false", headers={"If-None-Match": reply.headers["ETag"]})
    assert same.status == 304

    session.do("show_window", window=over, state="maximized")
    for why, prepare in (("other windows lie over all", lambda: None), ("minimized", lambda: session.do("show_window", window=under, state="minimized"))):
        prepare()
        problem = session.try_act({"action": "screenshot", "window": under})["results"][0]["error"]
        assert (problem["code"], problem["pointer"]) == ("conflict", "/actions/0/window") and why in problem["detail"]
    problem = session.try_act({"action": "screenshot", "window": 12345})["results"][0]["error"]
    assert (problem["code"], problem["pointer"]) == ("no_window", "/actions/0/window")
    with pytest.raises(Refused) as caught:
        session.do("screenshot", window=under, region={"x": 0, "y": 0, "width": 5, "height": 5})
    assert (caught.value.code, caught.value.pointer) == ("bad_field", "/actions/0/region")
    reply = session.agent.request("GET", f"{session.path}/screenshot?window=4294967296")
    assert (reply.status, reply.json["code"], reply.json["pointer"]) == (400, "bad_field", "/window")
