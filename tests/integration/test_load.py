# SPDX-License-Identifier: GPL-2.0-or-later
"""Many sessions at once, each its own."""
import concurrent.futures

import pytest

pytestmark = pytest.mark.alone

SESSIONS = 20


def test_sessions_at_once(server):
    """All live at the same time, and none sees what another did."""
    with concurrent.futures.ThreadPoolExecutor(SESSIONS) as pool:
        sessions = list(pool.map(lambda n: server.api.new(image="minimal", labels={"n": str(n)}), range(SESSIONS)))
        try:
            assert len({session.id for session in sessions}) == SESSIONS
            assert {session.id for session in sessions} <= server.live_sessions()
            marks = list(pool.map(mark, sessions))
            assert marks == [session.id for session in sessions]
        finally:
            list(pool.map(lambda session: session.end(), sessions))
    assert not server.live_sessions() & {session.id for session in sessions}


def mark(session):
    """Writes the session's own id, moves, looks, and reads the id back."""
    session.run("sh", "-c", f"test ! -e mark && echo {session.id} >mark")
    session.do("move", x=100, y=200)
    assert session.shot().size == (1280, 800)
    position = session.do("cursor_position")
    assert (position["x"], position["y"]) == (100, 200)
    return session.run("cat", "mark").strip()
