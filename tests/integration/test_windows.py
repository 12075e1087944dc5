# SPDX-License-Identifier: GPL-2.0-or-later
"""The actions on windows: wait, focus, close, move, resize."""
import pathlib

import pytest

from api import Refused
from conftest import until

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 1280, 800
FACTS = ("x", "y", "width", "height", "state")


@pytest.fixture(scope="module")
def desk(server):
    """One session for all tests here; each closes what it opened."""
    session = server.api.new(image="minimal")
    session.run("sh", "-c", "cat >x_window.pl", stdin=(HERE / "x_window.pl").read_text())
    yield session
    session.end()


@pytest.fixture(autouse=True)
def clean(desk):
    yield
    for window in desk.windows():
        if window["app"] == "editor":  # one that was killed asks for its files the next time
            assert desk.do("close_window", window=window["id"])["closed"]
    desk.exec("sh", "-c", "pkill -x xterm; pkill -f x_window.pl; rm -f typed.* *.txt")
    until(lambda: not desk.windows())


def terminal(desk, title="Terminal"):
    """A terminal that keeps in typed.TITLE what it is typed."""
    desk.run("sh", "-c", f"xterm -title {title} -e 'stty -echo -icanon; echo >ready.{title}; exec cat >typed.{title}' >/dev/null 2>&1 &")
    window = desk.do("wait_window", title=title)["window"]
    until(lambda: desk.exec("rm", f"ready.{title}")["exit_code"] == 0)
    return window


def of(desk, window):
    return next(found for found in desk.windows() if found["id"] == window)


def error(desk, action, **fields):
    answer = desk.try_act({"action": action, **fields})
    assert not answer["ok"], answer
    return answer["results"][0]["error"]


def refused(desk, action, **fields):
    with pytest.raises(Refused) as caught:
        desk.try_act({"action": action, **fields})
    return caught.value.code, caught.value.pointer


def same(result, window):
    """The result of an action tells of its window what the list of windows tells."""
    return {**{key: result[key] for key in window if key != "id"}, "id": result["window"]} == window


def test_fields(desk):
    assert refused(desk, "wait_window") == ("missing_field", "/actions/0/title")
    assert refused(desk, "wait_window", title="") == ("bad_field", "/actions/0/title")
    assert refused(desk, "wait_window", title="x", timeout_ms=0) == ("bad_field", "/actions/0/timeout_ms")
    assert refused(desk, "focus_window") == ("missing_field", "/actions/0/window")
    assert refused(desk, "close_window", window="Terminal") == ("bad_field", "/actions/0/window")
    assert refused(desk, "close_window", window=2**32) == ("bad_field", "/actions/0/window")
    assert refused(desk, "move_window", window=1, x=4097, y=0) == ("bad_field", "/actions/0/x")
    assert refused(desk, "move_window", window=1, x=0) == ("missing_field", "/actions/0/y")
    assert refused(desk, "resize_window", window=1) == ("missing_field", "/actions/0/width")
    assert refused(desk, "resize_window", window=1, width=1) == ("missing_field", "/actions/0/height")
    assert refused(desk, "resize_window", window=1, width=1, height=0) == ("bad_field", "/actions/0/height")
    assert refused(desk, "resize_window", window=1, width=1, height=1, maximized=True) == ("bad_field", "/actions/0/maximized")
    assert refused(desk, "show_window", window=1) == ("missing_field", "/actions/0/state")
    assert refused(desk, "show_window", window=1, state="large") == ("bad_field", "/actions/0/state")


@pytest.mark.parametrize("action, fields", [
    ("focus_window", {}), ("close_window", {}), ("move_window", {"x": 1, "y": 1}), ("resize_window", {"width": 9, "height": 9}),
    ("resize_window", {"maximized": True}), ("show_window", {"state": "normal"}), ("close_window", {"force": True}),
])
def test_no_such_window(desk, action, fields):
    terminal(desk)
    problem = error(desk, action, window=12345, **fields)
    assert (problem["code"], problem["pointer"], problem["status"]) == ("no_window", "/actions/0/window", 409)


def test_group(desk):
    """Whose the program is: an app's of the catalogue, or of what a command started."""
    window = terminal(desk)
    editor = desk.do("launch", app="editor")["window"]
    assert (of(desk, window)["group"], of(desk, window)["app"]) == ("agent", None)
    assert (of(desk, editor)["group"], of(desk, editor)["app"]) == ("apps", "editor")


def test_waits_while_an_app_starts(desk):
    desk.run("sh", "-c", "(sleep 0.3; exec xterm -title early -e 'printf \"\\033]2;come later\\007\"; exec cat') >/dev/null 2>&1 &")
    result = desk.do("wait_window", title="come la", **{"class": "XTerm"})
    assert result["title"] == "come later" and same(result, of(desk, result["window"]))
    assert desk.do("wait_window", **{"class": "XTerm"})["window"] == result["window"]
    assert 300 <= result["elapsed_ms"] < 10000


def test_titles_are_no_commands(desk):
    """Case K13: what stands in a title that is waited for is text."""
    title = "'\"$HOME `id` $(id) \\ %s %n ; & |"
    desk.run("sh", "-c", "cat >title.txt", stdin=title)
    desk.run("sh", "-c", 'xterm -T "$(cat title.txt)" -e cat >/dev/null 2>&1 &')
    found = desk.do("wait_window", title=title)
    assert found["title"] == title


def test_says_what_there_is_instead(desk):
    terminal(desk)
    for fields in ({"title": "terminal"}, {"class": "XTer"}, {"title": "Terminal", "class": "Mousepad"}):
        problem = error(desk, "wait_window", timeout_ms=100, **fields)
        assert problem["code"] == "timeout" and '"Terminal" of class "XTerm"' in problem["detail"]


def test_keys_go_to_the_window_that_was_focused(desk):
    one, two = terminal(desk, "one"), terminal(desk, "two")
    for number in range(10):
        for window, text in ((one, f"a{number}\n"), (two, f"b{number}\n")):
            answer = desk.act({"action": "focus_window", "window": window}, {"action": "type", "text": text})
            result = answer["results"][0]
            assert result["focused"] and same(result, of(desk, window))
            assert desk.windows()[0]["id"] == window, "it is not on top"
    for title, letter in (("one", "a"), ("two", "b")):
        wanted = "".join(f"{letter}{number}\n" for number in range(10))
        until(lambda title=title, wanted=wanted: desk.run("cat", f"typed.{title}") == wanted)


def test_focus_brings_back_what_was_minimized(desk):
    desk.run("sh", "-c", "xterm -iconic -title away >/dev/null 2>&1 &")
    window = desk.do("wait_window", title="away")
    assert window["state"] == ["minimized"]
    result = desk.do("focus_window", window=window["window"])
    assert (result["state"], result["focused"]) == ([], True)


def test_a_dialog_keeps_the_focus(desk):
    """A modal dialog has the keys: the list stops, so that nothing is typed into it by mistake."""
    desk.run("touch", "note.txt")
    editor = desk.do("launch", app="editor", args=["note.txt"])["window"]
    desk.act({"action": "focus_window", "window": editor}, {"action": "type", "text": "unsaved"})
    closed = desk.do("close_window", window=editor)
    dialog = closed["dialog"]
    assert closed["closed"] is False and same(closed, of(desk, editor) | {"focused": closed["focused"]})
    assert "modal" in dialog["state"] and dialog["app"] == "editor"
    problem = error(desk, "focus_window", window=editor)
    assert (problem["code"], problem["pointer"]) == ("conflict", "/actions/0/window")
    assert str(dialog["id"]) in problem["detail"] and dialog["title"] in problem["detail"]
    # The dialog itself is asked to close; then its window is open as before, and closes once there is nothing to save.
    assert desk.do("close_window", window=dialog["id"])["closed"] is True
    assert [window["id"] for window in desk.windows()] == [editor]
    desk.act({"action": "focus_window", "window": editor}, {"action": "key", "keys": "ctrl+s"})
    until(lambda: desk.run("cat", "note.txt").strip() == "unsaved")
    assert desk.do("close_window", window=editor)["closed"] is True


def test_close(desk):
    one, two = terminal(desk, "one"), terminal(desk, "two")
    result = desk.do("close_window", window=one)
    assert (result["closed"], result["window"]) == (True, one) and "dialog" not in result
    assert [window["id"] for window in desk.windows()] == [two]
    assert error(desk, "close_window", window=one)["code"] == "no_window"


def test_a_window_that_does_not_close(desk):
    """It speaks WM_DELETE_WINDOW and does nothing about it; and the call's own limit is kept."""
    desk.run("sh", "-c", "xterm -title stopped >/dev/null 2>&1 &")
    window = desk.do("wait_window", title="stopped")
    desk.run("kill", "-STOP", str(window["pid"]))
    result = desk.act({"action": "close_window", "window": window["window"]}, timeout_ms=1000)["results"][0]
    assert result["closed"] is False and "dialog" not in result and result["elapsed_ms"] < 2000
    desk.run("kill", "-CONT", str(window["pid"]))
    until(lambda: not desk.windows())


@pytest.mark.parametrize("app", ["terminal", "editor"])
def test_move(desk, app):
    """The frame is where it was asked to be: at 0, 0 its title bar can be seen and used."""
    window = desk.do("launch", app=app)["window"]
    for x, y in ((100, 100), (1, 30), (600, 401), (-40, -10), (0, 0)):
        result = desk.do("move_window", window=window, x=x, y=y)
        assert (result["frame"]["x"], result["frame"]["y"]) == (x, y) and same(result, of(desk, window)) and "note" not in result
        assert result["y"] >= y + 15, "there is no title bar"
    desk.do("drag", path=[(60, 8), (160, 108)])
    until(lambda: (of(desk, window)["frame"]["x"], of(desk, window)["frame"]["y"]) == (100, 100))


def test_move_in_another_space(desk):
    window = terminal(desk)
    space = {"width": WIDTH // 2, "height": HEIGHT // 2}
    result = desk.act({"action": "move_window", "window": window, "x": 100, "y": 50}, space=space)["results"][0]["frame"]
    assert (result["x"], result["y"]) == (100, 50)
    found = of(desk, window)["frame"]
    assert (found["x"] // 2, found["y"] // 2) == (100, 50)
    result = desk.act({"action": "resize_window", "window": window, "width": 300, "height": 150}, space=space)["results"][0]
    assert 280 <= result["width"] <= 300 and 135 <= result["height"] <= 150


def test_the_window_manager_has_the_last_word(desk):
    """At the edge a bit of the window stays; a terminal takes whole characters. The result tells what came of it."""
    window = terminal(desk)
    result = desk.do("move_window", window=window, x=WIDTH + 100, y=HEIGHT + 100)
    assert result["frame"]["x"] < WIDTH and result["frame"]["y"] < HEIGHT and same(result, of(desk, window)) and "screen" in result["note"]
    assert result["visible"] != "all" and result["hidden_by"] == ["off_screen"]
    result = desk.do("focus_window", window=window)
    assert (result["visible"], result["hidden_by"]) == ("all", []) and "off the screen" in result["note"]
    result = desk.do("resize_window", window=window, width=501, height=333)
    assert "steps" in result["note"]
    assert 480 < result["width"] <= 501 and 310 < result["height"] <= 333 and same(result, of(desk, window))


def test_maximize(desk):
    window = desk.do("launch", app="editor")["window"]
    before = desk.do("move_window", window=window, x=200, y=150)
    for _ in range(2):
        result = desk.do("resize_window", window=window, maximized=True)
        assert result["state"] == ["maximized"] and result["width"] == WIDTH and same(result, of(desk, window))
    for fields in ({"action": "move_window", "x": 5, "y": 50}, {"action": "resize_window", "width": 300, "height": 200}):
        problem = desk.try_act({**fields, "window": window})["results"][0]["error"]
        assert (problem["code"], problem["pointer"]) == ("conflict", "/actions/0/window") and "maximized" in problem["detail"]
    for _ in range(2):
        result = desk.do("resize_window", window=window, maximized=False)
        assert {key: result[key] for key in FACTS} == {key: before[key] for key in FACTS}


def test_show(desk):
    """Each way to show a window, and back; the result tells what it looks like then."""
    window = desk.do("launch", app="editor")["window"]
    before = of(desk, window)
    for state, width, height in (("maximized", WIDTH, None), ("maximized_width", WIDTH, before["height"]), ("fullscreen", WIDTH, HEIGHT),
                                 ("minimized", None, None), ("maximized_height", before["width"], None), ("normal", before["width"], before["height"])):
        result = desk.do("show_window", window=window, state=state)
        assert (state in result["state"] or state == "normal") and same(result, of(desk, window))
        assert width is None or result["width"] == width
        assert height is None or result["height"] == height
        assert result["visible"] == ("none" if state == "minimized" else "all")
    assert {key: result[key] for key in FACTS} == {key: before[key] for key in FACTS}


def test_force(desk):
    """A program that hangs and is closed by force: its windows go, and the others stay."""
    other = terminal(desk, "other")
    desk.run("sh", "-c", "xterm -title stopped >/dev/null 2>&1 &")
    window = desk.do("wait_window", title="stopped")
    desk.run("kill", "-STOP", str(window["pid"]))
    result = desk.do("close_window", window=window["window"], force=True, timeout_ms=300)
    assert result["closed"] and result["forced"] and [found["id"] for found in desk.windows()] == [other]


def test_windows_that_vanish(desk):
    """Whatever is asked of a window that goes away meanwhile is done, or refused as no_window: never anything else."""
    desk.run("sh", "-c", "cat >loop", stdin="while :; do perl x_window.pl 20 WM_NAME STRING 78; pkill -f 'x_window.pl 20'; done\n")
    desk.run("sh", "-c", "sh loop >/dev/null 2>&1 &")
    codes = []
    for turn in range(60):
        action, fields = [("focus_window", {}), ("move_window", {"x": 50, "y": 60}), ("resize_window", {"width": 90, "height": 80}),
                          ("resize_window", {"maximized": True}), ("close_window", {})][turn % 5]
        window = until(desk.windows, every_s=0)[0]["id"]
        result = desk.try_act({"action": action, "window": window, **fields})["results"][0]
        codes.append(result.get("error", {}).get("code", "done"))
    desk.run("pkill", "-f", "sh loop")
    assert "done" in codes and set(codes) <= {"done", "no_window", "conflict"}, codes


def test_titles_that_change_meanwhile(desk):
    """Long and short ones in turn, as fast as a terminal sets them: each list has one of them whole, and finds the window by either."""
    titles = ["a", "ż" * 400]
    desk.run("sh", "-c", "cat >titles", stdin=f"while :; do printf '\\033]2;{titles[0]}\\007\\033]2;{titles[1]}\\007'; done\n")
    desk.run("sh", "-c", "xterm -title a -e sh titles >/dev/null 2>&1 &")
    window = until(desk.windows)[0]["id"]
    seen = set()

    def both():
        listed = desk.windows()
        assert [found["id"] for found in listed] == [window]
        seen.add(listed[0]["title"])
        return len(seen) > 1
    until(both, every_s=0)
    for _ in range(100):
        both()
    assert all(title == titles[0] or (title and titles[1].startswith(title)) for title in seen), seen
    assert len(seen) == 2, seen
    for title in titles[0], titles[1][:20]:
        assert desk.do("wait_window", title=title)["window"] == window
