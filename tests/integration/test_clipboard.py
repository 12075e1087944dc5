# SPDX-License-Identifier: GPL-2.0-or-later
"""The clipboard: set and got over HTTP, pasted into real apps and copied in them, also between those that are trusted and those that are not."""
import base64
import hashlib
import io
import json
import time

import pytest
from PIL import Image

import editors
from api import Refused
from conftest import until
from pictures import centre, box

MIB = 1 << 20
LARGE = ("".join(f"{i} von vielen Zeilen, für die Hälfte 日本 🚀\n" for i in range(200000))).encode()[:5 * MIB - 8].decode(errors="ignore") + "."


@pytest.fixture(name="session", scope="module")
def shared_session(server):
    session = server.api.new(image="minimal", apps=[])
    yield session
    session.end()


def png(width=64, height=48):
    out = io.BytesIO()
    Image.effect_noise((width, height), 90).convert("RGB").save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def get(session, **fields):
    result = session.do("clipboard_get", **fields)
    return {name: value for name, value in result.items() if name not in ("ok", "elapsed_ms")}


def test_what_is_set_is_got(session):
    for selection in ("clipboard", "primary"):
        session.do("clipboard_set", text=f"é 日本 🚀\r\n\t{selection}", selection=selection)
    assert get(session) == {"owner": "agent", "offered": ["text"], "text": "é 日本 🚀\r\n\tclipboard"}
    assert get(session, selection="primary") == {"owner": "agent", "offered": ["text"], "text": "é 日本 🚀\r\n\tprimary"}
    session.do("clipboard_set", html="<h1>A &amp; b</h1>c<br>d")
    assert get(session) == {"owner": "agent", "offered": ["text", "html"], "text": "A & b\nc\nd"}
    assert get(session, format="html")["html"] == "<h1>A &amp; b</h1>c<br>d"
    picture = png()
    session.do("clipboard_set", png=picture)
    assert get(session, format="png") == {"owner": "agent", "offered": ["png"], "png": picture}
    assert get(session) == {"owner": "agent", "offered": ["png"], "text": None}


def test_five_mebibytes_fifty_times(session):
    slowest = 0
    for i in range(50):
        began = time.monotonic()
        session.do("clipboard_set", text=str(i % 10) + LARGE[1:])
        slowest = max(slowest, time.monotonic() - began)
    assert slowest < 1, slowest
    began = time.monotonic()
    assert get(session)["text"] == "9" + LARGE[1:]
    assert time.monotonic() - began < 1


def test_what_is_refused(session):
    session.do("clipboard_set", text="stays")
    for fields, pointer, code in (
            ({}, "/text", "missing_field"), ({"png": "!"}, "/png", "bad_field"), ({"png": png(), "text": "x"}, "/png", "bad_field"),
            ({"png": base64.b64encode(b"GIF89a").decode()}, "/png", "bad_field"), ({"text": "a\0b"}, "/text", "bad_field"),
            ({"text": "x" * (5 * MIB + 1)}, "/text", "bad_field"), ({"text": "x", "selection": "secondary"}, "/selection", "bad_field"),
            ({"rtf": "x"}, "/rtf", "unknown_field")):
        with pytest.raises(Refused) as refused:
            session.do("clipboard_set", **fields)
        assert (refused.value.code, refused.value.pointer) == (code, f"/actions/0{pointer}"), fields
    with pytest.raises(Refused) as refused:
        session.do("clipboard_set", text="x" * (16 * MIB))
    assert refused.value.status == 413
    assert get(session)["text"] == "stays"


def test_many_values_are_refused(session):
    """A large body is for what is in strings: it may not become many values in memory."""
    with pytest.raises(Refused) as refused:
        session.agent.call("POST", f"{session.path}/act", '{"actions":[' + "[]," * 600000 + "[]]}")
    assert refused.value.code == "bad_json"


def test_the_journal_has_lengths(session):
    session.do("clipboard_set", html="<b>secret-word</b>", text="other-word")
    lines = session.api.request("GET", f"{session.path}/journal").body.decode()
    assert "secret-word" not in lines and "other-word" not in lines
    assert '"html":{"bytes":18,"why":"clipboard"}' in lines.replace(" ", "")


def test_a_program_that_has_ended_holds_nothing(session):
    session.do("clipboard_set", text="before")
    opened = session.do("launch", app="editor")["window"]
    session.act({"action": "type", "text": "copied"}, {"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})
    until(lambda: get(session)["owner"] == "app")
    assert get(session)["text"] == "copied"
    session.do("close_window", window=opened, force=True)
    until(lambda: get(session) == {"owner": "none", "offered": [], "text": None})


def test_what_is_copied_is_got_in_the_same_list(session):
    opened = session.do("launch", app="editor")["window"]
    for i in range(10):
        answer = session.act({"action": "type", "text": f"text {i}"}, {"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+x"},
                             {"action": "clipboard_get"})
        assert answer["results"][-1]["text"] == f"text {i}"
        # There is nothing to copy: the wait for it has its end.
        answer = session.act({"action": "key", "keys": "ctrl+c"}, {"action": "clipboard_get"})
        assert answer["results"][-1]["text"] == f"text {i}" and answer["results"][-1]["elapsed_ms"] < 1500
    session.do("close_window", window=opened, force=True)


def test_pasted_into_a_terminal(session):
    terminal = editors.Terminal(session, None)
    session.do("clipboard_set", text="é 日本 🚀 from PRIMARY", selection="primary")
    session.do("key", keys="shift+Insert")
    assert terminal.text("é 日本 🚀 from PRIMARY") == "é 日本 🚀 from PRIMARY"


# The command that gives what an editor has saved, which is more than one exec may say, and what is to be there.
SAVED = {"gtk3": ("cat text.txt", LARGE), "firefox": ("tail -n 1 received", json.dumps(LARGE, ensure_ascii=False))}


@pytest.mark.parametrize("name", SAVED)
def test_five_mebibytes_pasted(make_session, name):
    editor = editors.start(make_session, name)
    command, wanted = SAVED[name]
    editor.session.do("clipboard_set", text=LARGE)
    editor.session.do("key", keys="ctrl+v")

    def saved():
        editor.session.do("key", keys="ctrl+s")
        return editor.session.run("sh", "-c", f"printf %s \"$({command})\" | sha256sum").split()[0]
    until(lambda: saved() == hashlib.sha256(wanted.encode()).hexdigest(), within_s=90)


def test_between_a_terminal_and_a_browser(make_session):
    """What is marked and copied in a program that the agent can choose comes to the browser, and back."""
    browser = editors.start(make_session, "firefox")
    session = browser.session
    firefox = next(window["id"] for window in session.windows() if "Firefox" in window["title"])
    session.run("sh", "-c", "printf 'from the é terminal 日本' >copied.txt")
    editor = session.do("launch", app="editor", args=["copied.txt"])["window"]
    session.act({"action": "wait_settled"}, {"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})
    session.do("focus_window", window=firefox)
    session.do("key", keys="ctrl+v")
    assert browser.text("from the é terminal 日本") == "from the é terminal 日本"
    browser.clear()
    session.act({"action": "type", "text": "from the browser"}, {"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})
    # Firefox marks late, and GTK unmarks what it has when another marks.
    until(lambda: get(session, selection="primary")["text"] == "from the browser")
    session.do("focus_window", window=editor)
    session.act({"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+v"}, {"action": "key", "keys": "ctrl+s"})
    until(lambda: session.run("cat", "copied.txt").rstrip("\n") == "from the browser")
