# SPDX-License-Identifier: GPL-2.0-or-later
"""Several sessions by one create: all of them or none."""
import pytest

import jail
from api import Api, Refused, Session
from conftest import until
from raw import Wire, post


def create(server, **spec):
    return server.api.call("POST", "/v1/sessions", {"image": "minimal", **spec})


def refused(server, **spec):
    with pytest.raises(Refused) as caught:
        create(server, **spec)
    return caught.value


def test_several_sessions_at_once(server):
    answer = create(server, count=3, labels={"fleet": "one"})
    assert list(answer) == ["sessions"]
    sessions = [Session(server.api, row) for row in answer["sessions"]]
    assert len({session.id for session in sessions}) == 3
    for session in sessions:
        assert (session.answer["state"], session.answer["labels"]) == ("ready", {"fleet": "one"})
        assert Api(server.url, session.tokens["viewer"]).call("GET", session.path)["id"] == session.id
        session.act({"action": "wait", "duration_ms": 1})
    sessions[0].end()
    assert {session.id for session in sessions[1:]} <= server.live_sessions()
    for session in sessions[1:]:
        session.end()
    one = create(server, count=1)
    assert [row["state"] for row in one["sessions"]] == ["ready"]
    server.api.call("DELETE", f"/v1/sessions/{one['sessions'][0]['id']}")


def test_all_or_none(make_server, tmp_path):
    """More than there is room for, and what each of them is refused for."""
    (tmp_path / "ceilings").write_text("sessions = 3\n")
    server = make_server("--ceilings", tmp_path / "ceilings")
    for count in (0, 65, "2"):
        assert (refusal := refused(server, count=count)).pointer == "/count", refusal.problem
    assert refused(server, count=4).code == "limit_reached"
    before = jail.counts(server)
    refusal = refused(server, count=3, apps=["terminal", "nothing"])
    assert (refusal.status, refusal.pointer) == (400, "/apps/1")
    assert "session 1 of 3: " in refusal.problem["detail"]
    assert server.api.call("GET", "/v1/sessions")["total"] == 0
    assert jail.counts(server) == before


def test_one_that_fails_ends_the_others(make_server, tmp_path):
    """A session that is deleted while the others start fails the whole create, and nothing stays."""
    server = make_server()
    before = jail.counts(server)
    with Wire(server.api.address, timeout_s=60) as wire:
        wire.send(post(server.api, "/v1/sessions", '{"image":"minimal","count":3,"apps":["terminal"]}'))
        ids = until(lambda: len(live := sorted(server.live_sessions())) == 3 and live, every_s=0.005)
        server.api.call("DELETE", f"/v1/sessions/{ids[1]}")
        answer = wire.answer()
    assert (answer.status, answer.json["code"]) == (502, "session_failed")
    assert " of 3: " in answer.json["detail"]
    assert server.api.call("GET", "/v1/sessions")["total"] == 0
    assert jail.counts(server) == before


def test_a_caller_that_leaves_leaves_none(make_server):
    server = make_server()
    before = jail.counts(server)
    for wait_s in (0.01, 0.2):
        with Wire(server.api.address, timeout_s=wait_s) as wire, pytest.raises(TimeoutError):
            wire.send(post(server.api, "/v1/sessions", '{"image":"minimal","count":3,"apps":["terminal"]}'))
            wire.answer()
    until(lambda: not server.live_sessions() and jail.counts(server) == before)
