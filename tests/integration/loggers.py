# SPDX-License-Identifier: GPL-2.0-or-later
"""Loggers of every kind, run in a session by commands and from a shell in a terminal; what they wrote is in the session's home."""
import base64
import gzip
import pathlib

from conftest import BUILD, until

HERE = pathlib.Path(__file__).parent
# Name, command ({mark}: what secrets begin with), and the words that say that it listens.
LOGGERS = [
    ("log", "perl spy.pl log {mark}", "listening"),
    ("record", "perl spy.pl record -", "RECORD"),
    ("overhear", "./overhear", "listening"),
]


def put(session):
    """The programs, into the session's home."""
    session.run("sh", "-c", "cat >spy.pl", stdin=(HERE / "spy.pl").read_text())
    program = base64.b64encode(gzip.compress((BUILD / "fixtures/overhear").read_bytes())).decode()
    session.run("sh", "-c", "base64 -d | gunzip >overhear && chmod +x overhear", stdin=program)


def start_by_exec(session, mark, environment="", which=LOGGERS):
    for name, command, _ in which:
        session.run("sh", "-c", f"{environment} setsid sh -c '{command.format(mark=mark)}' >heard-{name}-exec 2>&1 </dev/null &")
    wait(session, "exec", which)


def start_in_terminal(session, mark, which=LOGGERS):
    """Each as a job of the one shell."""
    lines = "".join(f"({command.format(mark=mark)}) >heard-{name}-term 2>&1 </dev/null &\n" for name, command, _ in which)
    session.run("sh", "-c", "cat >jobs.sh", stdin=lines)
    session.act({"action": "launch", "app": "terminal"}, {"action": "type", "text": ". ./jobs.sh\n"})
    wait(session, "term", which)


def wait(session, how, which):
    """Until each listens, and memory was read once."""
    for name, _, words in which:
        until(lambda: words in session.exec("cat", f"heard-{name}-{how}")["stdout"])
    until(lambda: "memory was read" in session.exec("cat", f"heard-log-{how}")["stdout"], within_s=120)


def heard(session):
    """{name: what it wrote}; keys as the letters that they stand for on a us layout."""
    names = session.exec("sh", "-c", "ls heard-*")["stdout"].split()
    return {name: session.run("cat", name) for name in names}


KEYS = {10 + i: c for i, c in enumerate("1234567890-=")} | {24 + i: c for i, c in enumerate("qwertyuiop[]")} | \
       {38 + i: c for i, c in enumerate("asdfghjkl;'")} | {52 + i: c for i, c in enumerate("zxcvbnm,./")}


def once(text):
    """Each run of the same letter as one: presses and releases, by several ways, come together."""
    return "".join(c for c, before in zip(text, "\0" + text) if c != before)


def keys(text):
    """The letters of the lines "key CODE"."""
    codes = [int(line.split()[1]) for line in text.splitlines() if line.startswith("key ") and line.split()[1].isdigit()]
    return "".join(KEYS.get(code, "") for code in codes)


def traces(text, canary):
    """How a canary is in a logger's output: as text, or as keys."""
    typed = once("".join(c for c in canary.lower() if c in KEYS.values()))
    return [how for how, there in (("text", canary in text), ("keys", typed in once(keys(text)))) if there]
