# SPDX-License-Identifier: GPL-2.0-or-later
"""The empty desktop gives nothing away: no menu, no program."""
import os
import pathlib

import pytest


def descendants(pid):
    """All processes below this one: pid and name."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
            parents[int(stat.parent.name)] = (int(rest.split()[1]), name)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
    below, found = {pid}, set()
    while below:
        below = {child for child, (parent, _) in parents.items() if parent in below}
        found |= {(child, parents[child][1]) for child in below}
    return found


@pytest.mark.parametrize("action", [
    {"action": "click", "x": 640, "y": 400, "button": "right"},
    {"action": "click", "x": 640, "y": 400, "button": "middle"},
    {"action": "key", "keys": "super+e"},
    {"action": "key", "keys": "alt+F2"},
    {"action": "key", "keys": "ctrl+alt+Delete"},
], ids=lambda action: action.get("button") or action["keys"])
def test_desktop_starts_nothing(server, session, action):
    session.do("move", x=0, y=0)
    windows, processes, picture = session.windows(), descendants(server.process.pid), session.shot()
    session.act(action, {"action": "move", "x": 0, "y": 0}, observe={"picture": "none"})
    assert session.windows() == windows
    assert descendants(server.process.pid) == processes
    assert session.shot().tobytes() == picture.tobytes()


def test_processes_are_seen():
    """The measure itself: a child of ours is among our descendants."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    try:
        assert child in {pid for pid, _ in descendants(os.getpid())}
    finally:
        os.waitpid(child, 0)
