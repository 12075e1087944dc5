# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of all kinds of characters arrives to the byte in an app of each toolkit, at full speed and under load."""
import pytest

from editors import EDITORS, difference, distinct, mixed, start

N_CHARS = 2000
N_DISTINCT = 1200  # many times what the spare keys hold


MORE = {"gtk4", "chromium", "writer"}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.long) if name in MORE else name for name in EDITORS])
def editor(make_session, request):
    return start(make_session, request.param)


def types(editor, text):
    editor.clear()
    result = editor.session.do("type", text=text)
    assert result["delivered"] == len(text), result
    assert difference(text, editor.text(text)) == ""


def test_every_character_arrives(editor):
    types(editor, mixed(N_CHARS, 1))
    types(editor, mixed(N_CHARS, 2))
    types(editor, distinct(N_DISTINCT))


@pytest.mark.long
def test_every_character_arrives_under_load(editor):
    editor.session.run("sh", "-c", "for i in 1 2; do yes >/dev/null 2>&1 & done")
    types(editor, mixed(N_CHARS, 3))
    types(editor, distinct(N_DISTINCT))
