# SPDX-License-Identifier: GPL-2.0-or-later
"""Tokens of a session: made, listed, revoked, and what of that outlives the front."""
import calendar
import json
import os
import signal
import time

import pytest

from api import Api, Refused, in_thread
from conftest import until
from raw import Wire, assert_problem, head
from stream import Stream
from test_api import answers, front_pid


def make(server, session, **fields):
    return server.api.call("POST", f"{session.path}/tokens", fields)


def token_list(server, session):
    return server.api.call("GET", f"{session.path}/tokens")["tokens"]


def refused(api, method, path, body=None):
    with pytest.raises(Refused) as caught:
        api.call(method, path, body)
    return caught.value.status, caught.value.code, caught.value.pointer


def test_a_token_is_made_listed_and_revoked(server, session):
    before = token_list(server, session)
    assert [row["role"] for row in before] == ["agent", "viewer", "controller"]
    made = make(server, session, role="viewer", name="Ada", ttl_s=600)
    assert (made["role"], made["name"]) == ("viewer", "Ada")
    assert 590 < calendar.timegm(time.strptime(made["expires_at"], "%Y-%m-%dT%H:%M:%SZ")) - time.time() < 610
    listed = token_list(server, session)
    assert listed[:3] == before and all(row["expires_at"] is None for row in before)
    assert listed[3] == {name: value for name, value in made.items() if name != "token"}
    ada = Api(server.url, made["token"])
    assert ada.call("GET", session.path)["id"] == session.id
    assert refused(ada, "GET", f"{session.path}/screenshot")[:2] == (403, "forbidden")
    path = f"{session.path}/tokens/{made['id']}"
    assert server.api.request("DELETE", path).status == 204
    assert refused(ada, "GET", session.path)[:2] == (401, "unauthorized")
    assert refused(server.api, "DELETE", path)[:2] == (404, "not_found")
    assert token_list(server, session) == before
    until(lambda: f"token {made['id']} of role viewer was made" in server.log_text())
    assert made["token"] not in server.log_text() and made["token"] not in json.dumps(listed)


BAD = [
    ({}, "missing_field", "/role"),
    ({"role": "operator"}, "bad_field", "/role"),
    ({"role": "owner"}, "bad_field", "/role"),
    ({"role": "agent", "ttl_s": 0}, "bad_field", "/ttl_s"),
    ({"role": "agent", "ttl_s": 1e9}, "bad_field", "/ttl_s"),
    ({"role": "agent", "name": "x" * 65}, "bad_field", "/name"),
    ({"role": "agent", "name": ""}, "bad_field", "/name"),
    ({"role": "agent", "token": "gba_x"}, "unknown_field", "/token"),
]


def test_bad_tokens_make_nothing(server, session):
    before = token_list(server, session)
    for body, code, pointer in BAD:
        assert refused(server.api, "POST", f"{session.path}/tokens", body) == (400, code, pointer), body
    assert token_list(server, session) == before


def test_a_token_expires(server, session):
    made = make(server, session, role="agent", ttl_s=1)
    agent = Api(server.url, made["token"])
    assert agent.call("GET", session.path)["id"] == session.id
    until(lambda: agent.request("GET", session.path).status == 401)
    assert made["id"] not in [row["id"] for row in token_list(server, session)]


def test_a_token_that_expires_ends_what_it_began(server, session):
    """A long call is stopped and refused, and a stream of pictures is cut. (A view: test_rfb.py.)"""
    agent = Api(server.url, make(server, session, role="agent", ttl_s=2)["token"])
    thread, results = in_thread(lambda: agent.call("POST", f"{session.path}/act", {"actions": [{"action": "wait", "duration_ms": 30000}]}))
    with Stream(agent, session, part="stream") as stream, pytest.raises((ConnectionError, EOFError)):
        while stream.next():
            pass
    thread.join(10)
    assert results and (results[0].status, results[0].code) == (401, "unauthorized"), results
    assert session.do("wait", duration_ms=1)["ok"]


def test_a_token_of_another_session_is_not_revoked_by_this_one(server, make_session):
    mine, other = make_session(), make_session()
    made = make(server, other, role="agent")
    assert refused(server.api, "DELETE", f"{mine.path}/tokens/{made['id']}")[:2] == (404, "not_found")
    assert Api(server.url, made["token"]).call("GET", other.path)["id"] == other.id


def test_revoking_stops_what_runs(server, session):
    """The call is refused and its actions stop; that of another token goes on."""
    made = make(server, session, role="agent")
    agent = Api(server.url, made["token"])
    waits = {"actions": [{"action": "wait", "duration_ms": 30000}]}
    thread, results = in_thread(lambda: agent.call("POST", f"{session.path}/act", waits))
    journal = server.state / "journals" / session.id / "journal.jsonl"
    until(lambda: b'"wait"' in journal.read_bytes())
    behind, others = in_thread(lambda: session.do("wait", duration_ms=1))
    server.api.call("DELETE", f"{session.path}/tokens/{made['id']}")
    thread.join(10)
    behind.join(10)
    assert results and (results[0].status, results[0].code) == (401, "unauthorized")
    assert "revoked" in results[0].problem["detail"]
    assert others and others[0]["ok"]


def test_revoking_stops_a_call_whose_body_comes_later(server, session):
    """A head with a good token is no permit to be used whenever its sender likes."""
    made = make(server, session, role="agent")
    agent, body = Api(server.url, made["token"]), json.dumps({"actions": [{"action": "exec", "argv": ["touch", "late"]}]})
    with Wire(server.api.address) as wire:
        wire.send(head(agent, "POST", f"{session.path}/act", content_type="application/json", content_length=len(body), expect="100-continue"))
        assert wire.take_line() == "HTTP/1.1 100 Continue" and wire.take_line() == ""
        server.api.call("DELETE", f"{session.path}/tokens/{made['id']}")
        wire.send(body)
        assert_problem(wire.answer(), 401, "unauthorized")
    assert session.run("ls") == ""


def test_an_upload_ends_with_its_token(server, session):
    """A body that goes on coming is no longer taken once its token has expired."""
    agent = Api(server.url, make(server, session, role="agent", ttl_s=1)["token"])
    with Wire(server.api.address) as wire:
        wire.send(head(agent, "PUT", f"{session.path}/files/~/slow", content_type="application/octet-stream", content_length=10))
        wire.send("12345")
        until(lambda: agent.request("GET", session.path).status == 401)
        wire.send("67890")
        assert_problem(wire.answer(), 401, "unauthorized")
    assert not {name for name in session.run("ls", "-A").split() if name == "slow" or name.startswith(".glovebox-")}


def test_a_stream_of_events_ends_with_its_token(server, session):
    """When it is revoked, and when it expires; that of another token goes on."""
    with Stream(session.agent, session) as other:
        for fields in ({}, {"ttl_s": 2}):
            made = make(server, session, role="viewer", **fields)
            with Stream(Api(server.url, made["token"]), session) as stream:
                session.do("move", x=1, y=1)
                assert [stream.next().name for _ in range(3)] == ["call", "intent", "result"]
                if not fields:
                    server.api.call("DELETE", f"{session.path}/tokens/{made['id']}")
                with pytest.raises((ConnectionError, EOFError)):
                    stream.next()
        assert len(other.take(6)) == 6


def trade(server, code):
    return Api(server.url, None).call("POST", "/v1/console", {"code": code})


def test_a_link_for_a_person(server, session):
    """One use, this session only, for as long as was said; as the page sends it."""
    made = server.api.call("POST", f"{session.path}/tickets", {"role": "viewer", "ttl_s": 600})
    assert made["link"] == f"/#code={made['ticket']}" and len(made["ticket"]) == 23
    traded = trade(server, made["ticket"].lower().replace("-", ""))
    assert (traded["role"], traded["expires_in_s"]) == ("viewer", 600)
    person = Api(server.url, traded["token"])
    assert [row["id"] for row in person.call("GET", "/v1/sessions")["sessions"]] == [session.id]
    assert refused(person, "GET", f"{session.path}/screenshot")[:2] == (403, "forbidden")
    listed = next(row for row in token_list(server, session) if row["name"] == "console")
    assert (listed["role"], listed["expires_at"] is None) == ("viewer", False)
    assert refused(Api(server.url, None), "POST", "/v1/console", {"code": made["ticket"]})[:2] == (401, "unauthorized")
    server.api.call("DELETE", f"{session.path}/tokens/{listed['id']}")
    assert refused(person, "GET", session.path)[:2] == (401, "unauthorized")
    assert made["ticket"] not in server.log_text() and traded["token"] not in server.log_text()
    assert refused(server.api, "POST", f"{session.path}/tickets", {"role": "operator"}) == (400, "bad_field", "/role")
    assert refused(server.api, "POST", f"{session.path}/tickets", {"role": "viewer", "for": "rfb"}) == (400, "bad_field", "/for")


def test_a_link_ends_with_its_session(server, make_session):
    session = make_session()
    made = server.api.call("POST", f"{session.path}/tickets", {"role": "agent"})
    session.end()
    assert refused(Api(server.url, None), "POST", "/v1/console", {"code": made["ticket"]})[:2] == (503, "session_gone")
    assert refused(server.api, "POST", f"{session.path}/tickets", {"role": "agent"})[:2] == (503, "session_gone")


def test_an_ended_session_gets_no_token(server, make_session):
    session = make_session()
    session.end()
    assert refused(server.api, "POST", f"{session.path}/tokens", {"role": "agent"})[:2] == (503, "session_gone")


def test_a_crash_of_the_front_keeps_tokens_and_revocations(make_server):
    server = make_server()
    session = server.api.new(image="minimal")
    kept, revoked = make(server, session, role="controller", name="kept"), make(server, session, role="agent")
    server.api.call("DELETE", f"{session.path}/tokens/{revoked['id']}")
    before, pid = token_list(server, session), front_pid(server)
    os.kill(pid, signal.SIGKILL)
    until(lambda: front_pid(server) not in (None, pid) and answers(server))
    assert token_list(server, session) == before
    assert Api(server.url, kept["token"]).call("GET", session.path)["id"] == session.id
    assert refused(Api(server.url, revoked["token"]), "GET", session.path)[:2] == (401, "unauthorized")
    session.end()
