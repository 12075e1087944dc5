# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal of a session that keeps the exact bytes."""
import base64

from conftest import until
from pictures import box


class RawTerminal:
    """A terminal that writes what it gets, as bytes, to a file."""

    def __init__(self, session, echo="-echo"):
        self.session = session
        session.act({"action": "launch", "app": "terminal"}, {"action": "type", "text": f"stty raw {echo}; cat >raw\n"})
        until(lambda: session.exec("test", "-e", "raw")["exit_code"] == 0)
        self.seen = 0

    def bytes(self):
        return base64.b64decode(self.session.run("base64", "-w0", "raw"))

    def got(self, n):
        """The bytes since the last look, once n are there."""
        def look():
            new = self.bytes()[self.seen:]
            return new if len(new) >= n else None
        new = until(look)
        self.seen += len(new)
        return new

    def expect(self, text, **fields):
        result = self.session.act({"action": "type", "text": text}, **fields)["results"][0]
        assert result["delivered"] == len(text)
        wanted = text.replace("\r\n", "\r").replace("\n", "\r").encode()
        assert self.got(len(wanted)).decode() == wanted.decode()


# What the terminal shows for the escape sequence 43, which marks a place on it.
MARKED = (205, 205, 0)


def show_marked(session, text, word):
    """A terminal whose first line is `text` with one word of it marked, and that writes what it gets, once a line is whole, to a file."""
    line = text.replace(word, f"\\033[43m{word}\\033[0m")
    session.act({"action": "launch", "app": "terminal"}, {"action": "type", "text": f"clear; stty -echo; printf '{line}'; cat >got\n"})
    until(lambda: session.exec("test", "-e", "got")["exit_code"] == 0)
    return until(lambda: box(session.shot(), MARKED))
