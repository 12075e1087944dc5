# SPDX-License-Identifier: GPL-2.0-or-later
"""Text in a session whose keyboard has another layout, group, locks or held keys; the keyboard map is afterwards what it was."""
import pytest

import jail
from editors import difference, mixed, patient, start

LAYOUTS, MORE = ["de", "fr", "us,ru"], ["us", "gb", "it", "ru", "us dvorak", "us intl"]
N_CHARS = 400


@pytest.fixture
def editor(make_session):
    editor = start(make_session, "gtk4")
    jail.leak_cookie(editor.session)
    return editor


def trusted(editor, *argv):
    """A command that may read and change the keyboard; without the authority it sees none."""
    return editor.session.run("env", "XAUTHORITY=leaked", *argv)


def keyboard_map(editor):
    return trusted(editor, "sh", "-c", "xkbcomp -w 0 -xkb $DISPLAY -")


def load(editor, layout):
    """From inside; the display's own server has no layouts to choose from."""
    before = keyboard_map(editor)
    trusted(editor, "sh", "-c", 'setxkbmap -print -layout "$1" -variant "$2" -option "" -option grp:menu_toggle | xkbcomp -w 0 - $DISPLAY', "sh",
            *f"{layout} ".split(" ")[:2])
    assert keyboard_map(editor) != before


def types(editor, seed):
    text, before = mixed(N_CHARS, seed), keyboard_map(editor)
    patient(lambda: editor.session.do("type", text=text))
    assert keyboard_map(editor) == before
    return text


@pytest.mark.parametrize("layouts", [LAYOUTS, pytest.param(MORE, marks=pytest.mark.long)], ids=" ".join)
def test_layouts(editor, layouts):
    for seed, layout in enumerate(layouts):
        load(editor, layout)
        editor.clear()
        text = types(editor, seed)
        assert difference(text, editor.text(text)) == "", layout


def test_states_of_the_keyboard(editor):
    load(editor, "us,ru")
    for seed, keys in enumerate(["ISO_Next_Group", "ISO_Next_Group", "capslock", "capslock", "numlock", "numlock"]):
        editor.clear()
        patient(lambda: editor.session.do("key", keys=keys))
        text = types(editor, seed)
        assert difference(text, editor.text(text)) == "", f"{keys}, the {seed}th"


def test_held_keys(editor):
    for seed, keys in enumerate(["shift", "ctrl", "alt", "ctrl+shift"]):
        editor.clear()
        editor.session.do("key_down", keys=keys)
        text = types(editor, seed)
        assert editor.session.api.call("GET", editor.session.path)["held"]["keys"] == keys.split("+")
        editor.session.do("key_up", keys=keys)
        assert difference(text, editor.text(text)) == "", keys
