# SPDX-License-Identifier: GPL-2.0-or-later
"""A caret of a real toolkit, Qt, where nothing turns it off: an act beside it goes through, and is refused when something is written there."""
import pytest

from api import Refused
from conftest import until
from editors import start

LOOK = {"quiet_ms": 0, "picture": "none"}
N_LEARN = 6   # changes of the caret after which it is known
N_ACTS = 4


def frame(session):
    """Of the last change of the screen that is known: it goes on although nobody looks."""
    return session.agent.call("GET", session.path)["at"]["frame"]


def test_beside_a_caret(make_session):
    session = start(make_session, "qt").session
    session.do("type", text="caret")
    seen = session.act(observe=True)["at"]
    session.act(seen=seen)
    until(lambda: frame(session) >= seen["frame"] + N_LEARN)
    changed = session.act(observe=LOOK, seen=seen)["observation"]["changed"]
    assert len(changed) == 1 and changed[0]["width"] <= 32, changed
    beside = {"action": "move", "x": changed[0]["x"], "y": changed[0]["y"]}
    for _ in range(N_ACTS):
        at = session.act(observe=LOOK)["at"]
        until(lambda: frame(session) > at["frame"])
        session.act(beside, seen=at)
    session.act({"action": "type", "text": "!"}, observe=True)
    with pytest.raises(Refused) as refused:
        session.act(beside, seen=at)
    assert refused.value.code == "stale_target"
