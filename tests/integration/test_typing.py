# SPDX-License-Identifier: GPL-2.0-or-later
"""Text arrives byte for byte, in a terminal, a GTK app and browsers, each in its jail."""
import threading

import pytest

from api import Refused
from conftest import until
from editors import mixed
from load import busy
from page import Page
from terminal import RawTerminal

RUNS = 5

ACCENTS = ["Straße fløde Århus ŁÓDŹ", "éÉñÑçÇüÜőŐ"]
SIGNS = ["path\\to {a|b} [1] @x ~^ #£ 0123456789 QM zy/?.;'", "'\"$HOME `id` $(id) \\ %s %n ; & |"]
SCRIPTS = ["日本語テキスト 한국어 Привет Ελληνικά العربية עברית", "👩\u200d👩\u200d👧 🇩🇪 ❤\ufe0f e\u0301 a\u0308\u0323 🚀"]
LINES = "a\nb\tc\r\nd\r"
MANY = "".join(chr(0x4E00 + i * 37 % 400) for i in range(400))  # more characters than there are spare keys


@pytest.fixture
def raw(session):
    return RawTerminal(session)


def test_case_of_accented_letters(raw):
    for _ in range(RUNS):
        for text in ACCENTS:
            raw.expect(text)


def test_terminal(raw):
    for text in ACCENTS + SIGNS + SCRIPTS + [LINES, MANY]:
        raw.expect(text)


@pytest.mark.long
def test_terminal_under_load(raw):
    with busy():
        for _ in range(3):
            for text in ACCENTS + SCRIPTS + [MANY]:
                raw.expect(text)


def test_long_text(raw):
    raw.expect("".join(f"{i} Zeile mit Ümläuten\n" for i in range(1000)))


def test_held_modifier_changes_nothing(raw):
    session = raw.session
    session.do("key_down", keys="shift")
    raw.expect("abc 123")
    assert session.api.call("GET", session.path)["held"] == {"keys": ["shift"], "buttons": []}
    session.do("key", keys="a")
    assert raw.got(1) == b"A"
    session.do("key_up", keys="shift")
    session.do("key_down", keys="ctrl")
    raw.expect("w")
    session.do("key_up", keys="ctrl")
    session.do("key", keys="a")
    assert raw.got(1) == b"a"
    assert session.api.call("GET", session.path)["held"] == {"keys": [], "buttons": []}


def test_nothing_stays_down_after_a_failure(raw):
    session = raw.session
    answer = session.try_act({"action": "key_down", "keys": "ctrl+shift"}, {"action": "mouse_down"},
                             {"action": "launch", "app": "terminal", "args": []}, {"action": "click"})
    assert not answer["ok"] and answer["done"] == 3 and answer["results"][3]["error"]["code"] == "conflict", answer
    assert session.api.call("GET", session.path)["held"] == {"keys": [], "buttons": []}


KEYS = {
    b"\r": ["enter", "ENTER", "Return", "kp_enter"], b"\x1b": ["esc", "Escape"], b"\x1b[6~": ["PageDown", "page_down", "Page_Down", "pgdn"],
    b"\x1b[B": ["ArrowDown", "down"], b"\x7f": ["Backspace", "BackSpace"], b"\x1b[3~": ["del", "delete"], b"\x1b[2~": ["ins"],
    b" ": ["space", "spacebar"], b"\t": ["tab"], b"`": ["grave", "backtick"], b"-": ["minus"], b"+": ["plus"], b",": ["comma"],
    b"\x1b[15~": ["f5", "F5"], b"a": ["a"], b"A": ["A", "shift+a"],
    b"\x03": ["ctrl+c", "CTRL+C", "Control_L+c", "ctrl-c"], b"\x01": [["ctrl", "a"]], b"\x1b[Z": ["shift+tab"],
    b"": ["cmd", "command", "meta", "win", "super", "option", "alt", "ctrl", "control"],
}


def test_key_names(raw):
    for wanted, names in KEYS.items():
        for keys in names:
            raw.session.do("key", keys=keys)
            # The dot says that what came before it is all that came.
            raw.session.do("key", keys=".")
            assert raw.got(len(wanted) + 1) == wanted + b".", keys


NO_KEYS = {"hyperspace": "hyper, space", "+": "plus", "ctrl+": "missing", "ctrl+ctrl": "ctrl", "ctrl+nokey": "nokey", "ctrl+entr": "enter"}


def refused(session, *actions):
    """The problem with which a call is refused, after which nothing is held."""
    with pytest.raises(Refused) as caught:
        session.act(*actions)
    assert caught.value.status == 400
    assert session.api.call("GET", session.path)["held"] == {"keys": [], "buttons": []}
    return caught.value.problem


def test_unknown_keys_press_nothing(session):
    for keys, hint in NO_KEYS.items():
        for action in ({"action": "key", "keys": keys}, {"action": "key_down", "keys": keys}, {"action": "click", "hold": keys},
                       {"action": "hold_key", "keys": keys, "duration_ms": 10}):
            problem = refused(session, {"action": "key_down", "keys": "shift"}, action)
            assert problem["code"] == "unknown_key"
            assert problem["pointer"] == "/actions/1/" + ("hold" if "hold" in action else "keys")
            assert hint in problem["detail"]
    assert refused(session, {"action": "key", "keys": ["ctrl", "entr"]})["pointer"] == "/actions/0/keys/1"
    assert refused(session, {"action": "key", "keys": ""})["pointer"] == "/actions/0/keys"


def test_what_cannot_be_typed_is_refused_before_anything_is(session):
    for text in ("a\x1bb", "\x7f", "\x00", "\u0085", "\uffff"):
        assert refused(session, {"action": "key_down", "keys": "ctrl"}, {"action": "type", "text": text})["pointer"] == "/actions/1/text"


def test_cancel_says_how_much_was_typed(session):
    raw = RawTerminal(session, "echo")
    session.act(observe={"picture": "none"})
    answers, before = [], session.shot().tobytes()
    typing = threading.Thread(target=lambda: answers.append(session.try_act({"action": "type", "text": "x" * 1000, "delay_ms": 10})))
    typing.start()
    until(lambda: session.shot().tobytes() != before)
    assert session.agent.call("POST", f"{session.path}/cancel")["cancelled"]
    typing.join()
    result = answers[0]["results"][0]
    assert 0 < result["delivered"] < 1000
    assert not result["ok"] and result["error"]["code"] == "cancelled"
    assert raw.got(result["delivered"]) == b"x" * result["delivered"]
    raw.expect("after")


@pytest.mark.long
def test_as_long_as_a_text_may_be(raw):
    raw.expect(mixed(100_000), timeout_ms=300_000)


def test_time_limit_says_how_much_was_typed(raw):
    answer = raw.session.try_act({"action": "type", "text": "x" * 1000, "delay_ms": 10}, timeout_ms=1000)
    result = answer["results"][0]
    assert not result["ok"] and result["error"]["code"] == "timeout", answer
    assert 0 < result["delivered"] < 1000
    assert raw.got(result["delivered"]) == b"x" * result["delivered"]
    raw.expect("after")


def test_gtk(session):
    session.run("touch", "text.txt")
    session.do("launch", app="editor", args=["text.txt"])
    wanted = "".join(text + "\n" for text in ACCENTS + SIGNS + SCRIPTS + [LINES, MANY])
    session.act({"action": "type", "text": wanted}, {"action": "key", "keys": "ctrl+s"})
    saved = until(lambda: session.run("cat", "text.txt"))
    assert saved.rstrip("\n") == wanted.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


@pytest.fixture(params=["firefox", pytest.param("chromium", marks=pytest.mark.long)])
def page(make_session, request):
    return Page(make_session("desktop"), request.param)


def test_browser(page):
    wanted = ""
    for text in ACCENTS + SIGNS + SCRIPTS + [LINES, MANY]:
        page.session.do("type", text=text)
        wanted += text.replace("\r\n", "\n").replace("\r", "\n")
        assert page.wait(lambda told: len(told["text"]) >= len(wanted))["text"] == wanted
    # Case K09: what is held makes no shortcut of it, which would close the page.
    page.session.do("key_down", keys="ctrl")
    page.session.do("type", text="w")
    page.session.do("key_up", keys="ctrl")
    assert page.wait(lambda told: len(told["text"]) > len(wanted))["text"] == wanted + "w"


@pytest.mark.long
def test_browser_under_load(page):
    with busy():
        for text in ACCENTS + SCRIPTS + [MANY]:
            page.session.act({"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "Delete"})
            page.wait(lambda told: told["text"] == "")
            page.session.do("type", text=text)
            assert page.wait(lambda told: len(told["text"]) >= len(text))["text"] == text
