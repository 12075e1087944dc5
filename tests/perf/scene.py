# SPDX-License-Identifier: GPL-2.0-or-later
"""Real content for a screen: a browser with a page of text, an editor with a program, a terminal, a panel."""
import base64
import html
import re
import sys

from server import TREE

sys.path.insert(0, str(TREE / "tests"))
from readme import pages  # noqa: E402

FOLDER = "/home/user"
# No bar that fades by itself: what is drawn is the answer to a click.
PAGE_STYLE = "html{scrollbar-width:none}body{font:15px sans-serif;margin:0 24px}td{border-bottom:1px solid #ccc;padding:2px 8px}code{color:#047}" \
             "#b{width:320px;height:48px;margin:12px 0;background:#2a6;color:#fff;border:0;font-size:17px}img{width:560px}"
BUTTON_SCRIPT = "let n=0;b.onmousedown=()=>{b.textContent='Clicked '+(++n)+' times';b.style.background=n%2?'#a26':'#2a6'}"


def page():
    """README.md and docs as a page, more or less, with a button at its top."""
    lines = []
    for line in "\n".join(page.read_text() for page in pages()).splitlines():
        text = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(line))
        if line.startswith("#"):
            text = f"<h2>{text.lstrip('# ')}</h2>"
        elif line.startswith("| "):
            text = "<table><tr><td>" + "</td><td>".join(text.strip("| ").split(" | ")) + "</td></tr></table>"
        elif line.startswith("    "):
            text = f"<code>{text}</code><br>"
        elif line.startswith("!["):
            text = "<img src=desktop.png>"
        elif not line:
            text = "<p>"
        lines.append(text)
    return (f"<!doctype html><meta charset=utf-8><title>Page</title><style>{PAGE_STYLE}</style>"
            f"<button id=b>Click here</button>{chr(10).join(lines)}<script>{BUTTON_SCRIPT}</script>")


def put(session, name, data):
    session.run("sh", "-c", f"base64 -d >{FOLDER}/{name}", stdin=base64.b64encode(data).decode())


def windows(session):
    return session.act({"action": "windows"})["results"][0]["windows"]


class Scene:
    """The windows of a session of the image desktop, arranged on its screen; the terminal has the keys."""

    def __init__(self, session, width, height):
        put(session, "page.html", page().encode())
        put(session, "desktop.png", (TREE / "docs/shots/desktop.png").read_bytes())
        put(session, "program.c", (TREE / "session/base/json.c").read_bytes())
        self.session = session
        self.width, self.height = width, height
        browser = self.place("firefox", 0.00, 0.00, 0.62, 0.92, f"file://{FOLDER}/page.html")
        self.place("editor", 0.45, 0.05, 0.50, 0.50, f"{FOLDER}/program.c")
        terminal = self.place("terminal", 0.52, 0.44, 0.46, 0.46)
        self.terminal_window = terminal["id"]
        self.terminal = {"x": terminal["x"] + 20, "y": terminal["y"] + 20, "width": terminal["width"] - 60, "height": terminal["height"] - 60}
        # A part of the button, which is below the browser's own bars; their height does not depend on the size of the screen.
        self.button = {"x": browser["x"] + 24 + 40, "y": browser["y"] + 85 + 12 + 10, "width": 240, "height": 28}
        self.say("clear; ls -l /etc")

    def place(self, app, x, y, width, height, *args):
        window = self.session.act({"action": "launch", "app": app, "args": args}, timeout_ms=60000)["results"][0]["window"]
        self.session.act({"action": "resize_window", "window": window, "maximized": False},
                         {"action": "resize_window", "window": window, "width": int(self.width * width), "height": int(self.height * height)},
                         {"action": "move_window", "window": window, "x": int(self.width * x) + 3, "y": int(self.height * y) + 2},
                         {"action": "wait_settled", "timeout_ms": 20000})
        return next(other for other in windows(self.session) if other["id"] == window)

    def focus(self):
        self.session.act({"action": "focus_window", "window": self.terminal_window}, {"action": "wait_settled"})

    def say(self, line):
        """Gives the terminal a line."""
        self.focus()
        self.session.act({"action": "type", "text": line + "\n"}, {"action": "wait_settled"})
