# SPDX-License-Identifier: GPL-2.0-or-later
"""What the server tells of itself: what a session uses, and GET /metrics."""
from conftest import until
from api import in_thread


# --- what a session uses ---


def usage(session):
    return session.agent.call("GET", session.path)["usage"]


def test_a_session_tells_what_it_uses(server, session):
    before = usage(session)
    assert set(before) == {"memory_bytes", "pids", "cpu_ms"}
    assert before["memory_bytes"] > 0 and before["pids"] > 3
    session.run("sh", "-c", "head -c 64000000 /dev/zero >~/large; for i in 1 2 3; do sleep 1000 & done; i=0; "
                            "while [ $i -lt 200000 ]; do i=$((i+1)); done")
    # What is known is a quarter of a second old at most.
    after = until(lambda: (now := usage(session))["pids"] >= before["pids"] + 3 and now)
    assert after["memory_bytes"] >= before["memory_bytes"] + 64000000
    assert after["cpu_ms"] > before["cpu_ms"]


def test_many_callers_share_the_numbers(session):
    # More often than the warden may be asked: nobody goes without, and nobody waits long.
    asked = [in_thread(usage, session) for _ in range(20)]
    for thread, results in asked:
        thread.join()
        assert results and results[0]["memory_bytes"] > 0


def test_what_has_ended_uses_nothing(server, make_session):
    session = make_session()
    session.end()
    assert "usage" not in server.api.call("GET", session.path)
