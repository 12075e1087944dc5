# SPDX-License-Identifier: GPL-2.0-or-later
"""Text in the list that launches its app, whose window is shown before it takes keys; and after a key that takes effect late."""
import pytest

from conftest import until
from editors import EDITORS, difference, patient

TEXT = "The first keys to a new window.\nAnd a second line."


@pytest.mark.parametrize("name", ["writer", "firefox", pytest.param("chromium", marks=pytest.mark.long), "gtk3", "qt"])
def test_launch_and_type(make_session, name):
    image, app, kind = EDITORS[name]
    editor = patient(lambda: kind(make_session(image), app, TEXT))
    assert difference(TEXT, editor.text(TEXT)) == ""
    assert editor.notes == []


def test_text_after_delete(make_session):
    """LibreOffice Calc deletes late, and deleted what was typed next."""
    session = make_session("office")
    session.run("sh", "-c", "echo old >text.csv")
    session.act({"action": "launch", "app": "office-calc", "args": ["text.csv"]}, {"action": "key", "keys": "enter"})
    until(lambda: any("Calc" in window["title"] for window in session.windows()))
    for i in range(3):
        keys = [{"action": "key", "keys": keys} for keys in ("ctrl+a", "Delete", "ctrl+Home")]
        patient(lambda: session.act(*keys, {"action": "type", "text": f"text {i}\n"}, {"action": "key", "keys": "ctrl+s"}))
        until(lambda: session.run("cat", "text.csv").strip() == f"text {i}")
