# SPDX-License-Identifier: GPL-2.0-or-later
"""Text for LibreOffice Writer goes by way of the clipboard, which holds afterwards what it held before."""
import base64

import pytest

from conftest import until
from editors import mixed, start

LARGE = "".join(f"{i} von vielen Zeilen, für die zweite Hälfte\n" for i in range(4000))  # goes in pieces


@pytest.fixture
def writer(make_session):
    return start(make_session, "writer")


def test_every_text_keeps_its_place_among_the_keys(writer):
    for _ in range(5):
        writer.clear()
        writer.session.act({"action": "type", "text": "ac"}, {"action": "key", "keys": "Left"}, {"action": "type", "text": "b\n\n"},
                           {"action": "key", "keys": "Up"}, {"action": "type", "text": "x\ty"}, {"action": "key", "keys": "BackSpace"},
                           {"action": "key", "keys": "Return"}, {"action": "type", "text": "z"})
        assert writer.text("ab\nx\t\nz\nc") == "ab\nx\t\nz\nc"


def test_the_clipboard_holds_what_it_held(writer):
    session = writer.session
    session.run("sh", "-c", "cat >copied.txt", stdin=LARGE)
    copied = session.do("launch", app="editor", args=["copied.txt"])["window"]
    session.act({"action": "wait_settled"}, {"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})  # all of it is read
    office = next(window["id"] for window in session.windows() if window["class"] == "libreoffice-writer")
    for n in (1, 2):
        session.do("focus_window", window=office)
        assert "note" not in session.do("type", text=mixed(500, n))
    session.do("focus_window", window=copied)
    session.act({"action": "key", "keys": "Delete"}, {"action": "type", "text": "<"}, {"action": "key", "keys": "ctrl+v"})

    def saved():
        session.do("key", keys="ctrl+s")
        return base64.b64decode(session.run("base64", "-w0", "copied.txt")).decode().removesuffix("\n")
    until(lambda: saved() == "<" + LARGE.removesuffix("\n"))


def test_a_clipboard_that_was_empty_is_empty(writer):
    writer.clear()
    writer.session.act({"action": "type", "text": "one\n."}, {"action": "key", "keys": "ctrl+v"})
    assert writer.text("one\n.") == "one\n."


def test_an_office_that_hangs_takes_nothing_later(make_session):
    writer = start(make_session, "writer", approval={"mode": "never"})  # else nothing is typed where nobody says what has the keys
    session = writer.session
    writer.clear()
    session.run("pkill", "-STOP", "soffice.bin")
    answer = session.try_act({"action": "type", "text": "lost\n"})
    result = answer["results"][0]
    assert not answer["ok"] and result["error"]["code"] == "timeout" and result["delivered"] == 0, answer
    session.run("pkill", "-CONT", "soffice.bin")
    session.do("type", text="after.")
    assert writer.text("after.") == "after."
