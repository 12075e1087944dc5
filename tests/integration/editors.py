# SPDX-License-Identifier: GPL-2.0-or-later
"""One editor of each toolkit, in a session, whose text can be read back to the byte."""
import base64
import json
import pathlib
import random
import time

from conftest import until
from pictures import box, centre
from terminal import RawTerminal

HERE = pathlib.Path(__file__).parent
YELLOW = (0xFF, 0xCC, 0x00)
SAVE_S = 60


def lines_of(text):
    """The text as an editor keeps it: one sign for every end of a line."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Editor:
    """An app that saves its text to a file at ctrl+s."""

    ends_line = False  # whether it adds an end to the last line when it saves

    def __init__(self, session, app, first=""):
        """With `first` typed into it in the list that launches it."""
        self.session = session
        session.run("sh", "-c", ": >text.txt")
        reply = session.act({"action": "launch", "app": app, "args": ["text.txt"]}, {"action": "type", "text": first})
        self.notes = [result["note"] for result in reply["results"] if "note" in result]
        if not first:
            self.warm()

    def warm(self):
        """Nothing: it takes the first keys."""

    def clear(self):
        patient(lambda: self.session.act({"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "Delete"}))

    def read(self):
        return base64.b64decode(self.session.run("base64", "-w0", "text.txt")).decode()

    def saved(self):
        self.session.do("key", keys="ctrl+s")
        text = self.read()
        return text[:-1] if self.ends_line and text.endswith("\n") else text

    def text(self, wanted, within_s=SAVE_S):
        """What it holds: `wanted`, or, when it never does, what it held in the end."""
        deadline = time.monotonic() + within_s
        while (text := self.saved()) != wanted and time.monotonic() < deadline:
            time.sleep(0.1)
        return text


class LineEditor(Editor):
    ends_line = True


class LateEditor(LineEditor):
    """One that is at rest on the screen while it still loads its text, on a busy machine."""

    def warm(self):
        """Types until something arrives."""
        def arrived():
            self.session.do("type", text=".")
            return self.saved() != ""
        until(arrived)
        self.clear()
        left = self.text("", 10)
        assert left == "", repr(left)


class Writer(LineEditor):
    """LibreOffice, which begins a text file with a mark of its encoding."""

    def read(self):
        return super().read().removeprefix("\ufeff")


class Browser(Editor):
    """A page with a text area, served inside the jail."""

    def __init__(self, session, app, first=""):
        self.session = session
        session.run("sh", "-c", "cat >form_server.pl", stdin=(HERE / "form_server.pl").read_text())
        session.run("perl", "form_server.pl", "8000", stdin=(HERE / "editor.html").read_text())
        reply = session.act({"action": "launch", "app": app, "args": ["http://127.0.0.1:8000/"]}, {"action": "type", "text": first})
        self.notes = [result["note"] for result in reply["results"] if "note" in result]
        if not first:
            session.do("click", **centre(until(lambda: box(session.shot(), YELLOW))))

    def read(self):
        return base64.b64decode(self.session.run("sh", "-c", "tail -n 1 received | base64 -w0")).decode()

    def saved(self):
        return json.loads(super().saved() or '""')


class Terminal:
    """A terminal that keeps what it gets; the end of a line comes as a return."""

    def __init__(self, session, _):
        self.session = session
        self.raw = RawTerminal(session)

    def clear(self):
        self.raw.seen = len(self.raw.bytes())

    def text(self, wanted, within_s=SAVE_S):
        deadline = time.monotonic() + within_s
        while len(got := self.raw.bytes()[self.raw.seen:]) < len(wanted.encode()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return lines_of(got.decode(errors="replace"))


# name: the image, the app of its catalogue, how its text is read
EDITORS = {
    "xterm": ("minimal", "terminal", Terminal),
    "gtk3": ("minimal", "editor", Editor),
    "gtk4": ("toolkits", "gtk4", LateEditor),
    "qt": ("toolkits", "qt", LineEditor),
    "firefox": ("desktop", "firefox", Browser),
    "chromium": ("desktop", "chromium", Browser),
    "writer": ("office", "office-writer", Writer),
}


def patient(call):
    """What the call gives. As long as the app that has the keys does not say in time whether they go to a password field, which one on a busy machine may
    not, nothing is typed: then again, as an agent is told to."""
    def tried():
        try:
            return call()
        except AssertionError as refused:
            if "has not said in time" not in str(refused):
                raise
            return None
    return until(tried)


def start(make_session, name, **spec):
    """The editor of this name, in a session of its own."""
    image, app, kind = EDITORS[name]
    return kind(make_session(image, **spec), app)


# An editor may repeat the space that a line begins with on the next: no line begins with one.
PIECES = ["Straße fløde Århus ŁÓDŹ ", "éÉñÑçÇüÜőŐ ", "日本語テキスト ", "한국어 ", "Привет ", "Ελληνικά ", "العربية ", "עברית ", "🚀 ", "👩\u200d👩\u200d👧 ",
          "🇩🇪 ", "❤\ufe0f ", "e\u0301 a\u0308\u0323 ", "ทดสอบ ", "हिन्दी ", "one\ttwo\n", "'\"$HOME `id` $(id) \\ %s %n ; & | ", "{a|b} [1] @x ~^ #£ <p>*_", "plain words "]


def mixed(n_chars, seed=0):
    """A text of all kinds of characters, the same for the same seed. It ends with a sign that stays when it is saved."""
    chosen, text = random.Random(seed), ""
    while len(text) < n_chars:
        text += chosen.choice(PIECES)
    return text[:n_chars - 1] + "."


def distinct(n_chars):
    """A text in which no character comes twice."""
    return "".join(map(chr, range(0x4E00, 0x4E00 + n_chars)))


def difference(wanted, got):
    """Where two texts begin to differ, to be shown; empty when they are the same."""
    at = next((i for i, (a, b) in enumerate(zip(wanted, got)) if a != b), min(len(wanted), len(got)))
    if wanted == got:
        return ""
    return f"from character {at}: {wanted[at:at + 20]!r} was typed, {got[at:at + 20]!r} is there; {len(wanted)} typed, {len(got)} there"
