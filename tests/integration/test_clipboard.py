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


@pytest.mark.long
def test_five_mebibytes_fifty_times(session):
    """As bytes over one connection: it is the server that is timed."""
    connection = session.agent.connect(60)
    body = json.dumps({"actions": [{"action": "clipboard_set", "text": LARGE}]}, ensure_ascii=False).encode()
    head = {"Authorization": f"Bearer {session.tokens['agent']}", "Content-Type": "application/json"}
    slowest = 0
    for i in range(50):
        began = time.monotonic()
        connection.request("POST", f"{session.path}/act", body.replace(LARGE[:8].encode(), b"%8d" % i, 1), head)
        reply = json.loads(connection.getresponse().read())
        slowest = max(slowest, time.monotonic() - began)
        assert reply["ok"], reply
    connection.close()
    assert get(session)["text"] == f"{49:8d}" + LARGE[8:]
    assert slowest < 20, slowest  # on a busy machine; else some 0.1 s


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
        assert answer["results"][-1]["text"] == f"text {i}" and answer["results"][-1]["elapsed_ms"] < 10000
    session.do("close_window", window=opened, force=True)


def test_pasted_into_a_terminal(session):
    terminal = editors.Terminal(session, None)
    session.do("clipboard_set", text="é 日本 🚀 from PRIMARY", selection="primary")
    session.do("key", keys="shift+Insert")
    assert terminal.text("é 日本 🚀 from PRIMARY") == "é 日本 🚀 from PRIMARY"


def digest(session, command, wanted):
    """Waits until the command, whose output may be more than one exec says, gives this text."""
    def there():
        return session.run("sh", "-c", f"{command} | sha256sum").split()[0] == hashlib.sha256(wanted.encode()).hexdigest()
    until(there, within_s=90, every_s=0.5)


def test_five_mebibytes_pasted_into_a_terminal(make_session):
    session = make_session("minimal")
    terminal = editors.Terminal(session, None)
    session.do("clipboard_set", text=LARGE, selection="primary")
    session.do("key", keys="shift+Insert")
    digest(session, f"tail -c +{terminal.raw.seen + 1} raw", LARGE.replace("\n", "\r"))


def test_five_mebibytes_pasted_into_an_editor(make_session):
    editor = editors.start(make_session, "gtk3")
    editor.session.do("clipboard_set", text=LARGE)
    editor.session.act({"action": "key", "keys": "ctrl+v"}, {"action": "key", "keys": "ctrl+s"}, observe={"picture": "none"})
    digest(editor.session, "cat text.txt", LARGE)


@pytest.fixture(name="browser", scope="module")
def shared_browser(server):
    """A page with a text area in Firefox, empty."""
    made = []

    def make(image):
        made.append(server.api.new(image=image, apps=[]))
        return made[0]
    yield editors.start(make, "firefox")
    made[0].end()


def test_between_an_editor_and_a_browser(browser):
    """What is copied in a program that the agent can choose comes to the browser, which is trusted, and back."""
    session = browser.session
    browser.clear()
    firefox = next(window["id"] for window in session.windows() if "Firefox" in window["title"])
    session.run("sh", "-c", "printf 'from the é editor 日本' >copied.txt")
    editor = session.do("launch", app="editor", args=["copied.txt"])["window"]
    session.act({"action": "wait_settled"}, {"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"},
                {"action": "focus_window", "window": firefox}, {"action": "key", "keys": "ctrl+v"})
    assert browser.text("from the é editor 日本") == "from the é editor 日本"
    browser.clear()
    session.act({"action": "type", "text": "from the browser"}, {"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})
    # Firefox marks late, and GTK unmarks what it has when another marks.
    until(lambda: get(session, selection="primary")["text"] == "from the browser")
    session.do("focus_window", window=editor)
    session.act({"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+v"}, {"action": "key", "keys": "ctrl+s"})
    until(lambda: session.run("cat", "copied.txt").rstrip("\n") == "from the browser")
    session.do("close_window", window=editor, force=True)


def test_five_mebibytes_pasted_into_a_browser(browser):
    browser.session.do("focus_window", window=next(window["id"] for window in browser.session.windows() if "Firefox" in window["title"]))
    browser.clear()
    browser.session.do("clipboard_set", text=LARGE)
    browser.session.do("key", keys="ctrl+v")

    def saved():
        browser.session.do("key", keys="ctrl+s")
        got = browser.session.run("sh", "-c", "printf %s \"$(tail -n 1 received)\" | sha256sum").split()[0]
        return got == hashlib.sha256(json.dumps(LARGE, ensure_ascii=False).encode()).hexdigest()
    until(saved, within_s=90)


def test_html_of_a_page(browser):
    session = browser.session
    session.run("sh", "-c", "cat >page.html", stdin="<meta charset=utf-8><title>marked page</title><p>one <b>t\u00e9 日本</b></p>")
    session.do("launch", app="firefox", args=["file:///home/user/page.html"])
    until(lambda: any("marked page" in window["title"] and window["focused"] for window in session.windows()))
    session.act({"action": "wait_settled"}, {"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})
    until(lambda: get(session)["text"] == "one té 日本")
    answer = get(session, format="html")
    assert answer["offered"] == ["text", "html"] and "<b>té 日本</b>" in answer["html"], answer
    session.do("key", keys="ctrl+w")
