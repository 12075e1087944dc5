# SPDX-License-Identifier: GPL-2.0-or-later
"""Double and triple clicks are taken for such, and clicks of two actions for two, in a GTK app and in xterm; with keys held (case M06)."""
import pytest

from conftest import until
from pictures import box
from terminal import MARKED, show_marked

SELECTED = (0x35, 0x84, 0xE4)
WORDS = "alpha beta gamma delta"


class Line:
    """An editor with one line of words in it, and where they are."""

    def __init__(self, session):
        self.session = session
        session.run("sh", "-c", "cat >line.txt", stdin=WORDS)
        session.do("launch", app="editor", args=["line.txt"])
        session.do("key", keys="ctrl+a")
        self.left, top, self.right, bottom = until(lambda: box(session.shot(), SELECTED))
        self.middle = (top + bottom) // 2
        session.do("key", keys="Right")

    def at(self, word, part=0.5):
        """A place in a word: 0 is its left end, 1 its right one."""
        column = WORDS.index(word) + part * len(word)
        return {"x": round(self.left + column * (self.right - self.left) / len(WORDS)), "y": self.middle}

    def saved(self, *keys):
        """The text of the file after these keys."""
        session = self.session
        session.run("rm", "-f", "line.txt")
        session.act(*({"action": "key", "keys": name} for name in (*keys, "ctrl+s")))
        until(lambda: session.exec("test", "-s", "line.txt")["exit_code"] == 0)
        return session.run("cat", "line.txt").rstrip("\n")


@pytest.fixture
def line(session):
    return Line(session)


def test_double_click_selects_a_word(line):
    line.session.do("click", **line.at("beta"), count=2)
    assert line.saved("ctrl+x") == "alpha  gamma delta"


def test_triple_click_selects_the_line(line):
    line.session.do("click", **line.at("gamma"), count=3)
    line.session.act({"action": "key", "keys": "ctrl+x"}, {"action": "type", "text": "new"})
    assert line.saved() == "new"


def test_clicks_of_two_actions_are_single(line):
    """In one list, by two calls, after a double click: nothing is selected, so nothing is replaced."""
    session, place = line.session, line.at("beta")
    click = {"action": "click", **place}
    for n, calls in enumerate(([[click, click]], [[click], [click]], [[{**click, "count": 2}], [click]]), 1):
        for actions in calls:
            session.act(*actions)
        session.do("type", text="X")
        text = line.saved()
        assert (text.replace("X", ""), text.count("X")) == (WORDS, n)


def test_shift_and_a_click_select_up_to_there(line):
    line.session.act({"action": "click", **line.at("beta", 0)}, {"action": "click", **line.at("gamma", 1), "hold": "shift"})
    assert line.saved("ctrl+x") == "alpha  delta"


def test_a_middle_click_pastes(line):
    line.session.act({"action": "click", **line.at("beta"), "count": 2}, {"action": "click", **line.at("delta", 1), "button": "middle"})
    assert line.saved() == "alpha beta gamma deltabeta"


def test_a_row_of_a_list(session):
    """In GTK's dialog two single clicks mark a file, and a double click opens it."""
    session.run("sh", "-c", "echo text >picked.txt; echo text >other.txt")
    session.act({"action": "launch", "app": "editor", "args": ["other.txt"]}, {"action": "key", "keys": "ctrl+o"})
    dialog = session.do("wait_window", title="Open File")["window"]

    def rows():
        return [node for node in session.do("tree", window=dialog)["nodes"] if node.get("name") == "picked.txt" and node.get("width")]

    row = until(rows)[0]
    place = {"x": row["x"] + min(row["width"] // 2, 60), "y": row["y"] + row["height"] // 2}
    for _ in range(2):
        session.do("click", **place)
    session.do("wait_settled", quiet_ms=500)
    assert dialog in [window["id"] for window in session.windows()]
    session.do("click", **place, count=2)
    until(lambda: ["picked.txt" in window["title"] for window in session.windows()] == [True])


def test_words_and_lines_of_a_terminal(session):
    left, top, right, bottom = show_marked(session, "alpha beta gamma", "beta")
    word = {"x": (left + right) // 2, "y": (top + bottom) // 2}
    away = {"action": "click", "x": left + 300, "y": bottom + 200}
    got = ""
    for count, selected in ((2, "beta\n"), (3, "alpha beta gamma\n")):
        session.act({"action": "click", **word, "count": count}, {**away, "button": "middle"})
        if count == 2:
            session.do("key", keys="enter")
        got += selected
        until(lambda: session.run("cat", "got") == got)
    # Singles leave nothing selected: the word is shown as it was.
    for _ in range(2):
        session.do("click", **word)
    assert box(session.look(), MARKED) == (left, top, right, bottom)
