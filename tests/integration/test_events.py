# SPDX-License-Identifier: GPL-2.0-or-later
"""Server-sent events of a session: nothing is missed, nothing is told that is not to be."""
import contextlib
import os
import signal

import pytest

import jail
from api import Api
from conftest import until
from raw import Wire, assert_problem, ask, head
from stream import NoStream, Stream
from test_journal import lines


def names(events):
    return [event.name for event in events]


def front_of(server):
    return jail.part(jail.group_name(server), "glovebox-front")


def test_what_happens_is_told(server, make_session):
    """One event for each line of the journal but those of pictures, with its number and its content, up to the end."""
    session = make_session()
    with Stream(session.agent, session) as stream:
        assert stream.start == 3  # start, picture, ready
        assert stream.answer.headers["content-type"] == "text/event-stream"
        session.do("move", x=5, y=6)
        session.end()
        events = stream.rest()
    assert names(events) == ["call", "intent", "result", "usage", "end"]
    found = lines(server, session)[3:]
    for event, line in zip(events, found, strict=True):
        del line["hash"]
        assert event.data == line and event.number == line["seq"]


def test_no_content_is_told(session):
    """Typed text, input of commands, values of the environment, output and pictures are in no event."""
    with Stream(session.agent, session) as stream:
        session.act({"action": "type", "text": "canary-1"},
                    {"action": "exec", "argv": ["cat"], "stdin": "canary-2", "env": {"SEEN": "canary-3"}}, {"action": "screenshot"},
                    {"action": "exec", "argv": ["sh", "-c", "echo can''ary-4"]}, observe=True)
        look, *events, seen = stream.take(10)
    assert names([look, *events, seen]) == ["call"] + 4 * ["intent", "result"] + ["observation"]
    assert "canary" not in repr([look, *events, seen])
    assert events[0].data["action"] == {"action": "type", "text": {"bytes": 8, "why": "unknown"}}
    assert events[2].data["action"] == {"action": "exec", "argv": ["cat"], "stdin": {"bytes": 8}, "env": ["SEEN"]}
    assert "stdout" not in events[3].data and "picture" not in events[5].data


def test_a_very_long_action(session):
    with Stream(session.agent, session) as stream:
        session.exec("true", 20000 * "x")
        assert stream.next().name == "call"
        assert stream.next().data["action"] == {"action": "exec", "bytes": 20000 + len('{"action":"exec","argv":["true",""]}')}


def test_coming_back(session):
    """Behind any event that is still kept; 0 is the beginning."""
    for i in range(3):
        session.do("move", x=i, y=0)
    with Stream(session.agent, session, last=0) as stream:
        events = stream.take(11)
    assert [event.number for event in events] == [1, *range(3, 13)]
    assert events[0].data["image"] == "minimal" and "spec" not in events[0].data
    for last, known in (1, 1), (2, 1), (6, 5):
        with Stream(session.agent, session, last=last) as stream:
            assert repr(stream.take(11 - known)) == repr(events[known:])


def n_connections(server):
    """Those of the front, of HTTP and to stages."""
    return len(os.listdir(f"/proc/{front_of(server)}/fd"))


def test_a_gap_is_told(server, session):
    """More happened than is kept: the numbers that are missing are told, and the rest is whole. A reader that does not read on is
    cut off; one to whom nothing happens is told so."""
    with Stream(session.agent, session, timeout_s=30) as silent, Wire(session.agent.address, timeout_s=30, receive_bytes=4096) as slow:
        for _ in range(3):
            session.act(*[{"action": "wait", "duration_ms": 0}] * 200)
        with Stream(session.agent, session, last=1) as stream:
            gap, *events = stream.take(1025)
        assert gap.name == "gap" and gap.data == {"event": "gap", "first": 2, "last": 182, "reason": "late"}
        assert [event.number for event in events] == list(range(183, 1207))
        assert gap.number == 182
        connections = n_connections(server)
        slow.send(head(session.agent, target=f"{session.path}/events", last_event_id=0))
        silent.take(1203)
        assert silent.comments == 0 and silent.block() is None and silent.comments == 1
        until(lambda: n_connections(server) < connections)
        assert b"gap" in slow.rest() and b"id: 1206" not in slow.text


def test_ids_that_are_refused(session):
    for last in "4", "-1", "x", "1.0", "", 30 * "1", "\u00e9":
        answer = ask(session.agent, head(session.agent, target=f"{session.path}/events", last_event_id=last).encode("latin-1"))
        assert "Last-Event-ID" in assert_problem(answer, 400, "bad_request")["detail"]


def test_who_may_read(server, session, make_session):
    other = make_session()
    for role in "agent", "viewer", "controller":
        Stream(Api(server.url, session.tokens[role]), session).close()
        with pytest.raises(NoStream) as refused:
            Stream(Api(server.url, other.tokens[role]), session)
        assert refused.value.code == "forbidden"
    Stream(server.api, session).close()


def test_the_number_of_readers(session):
    """Sixteen; they are in nobody's way, and one that leaves makes room."""
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(Stream(session.agent, session)) for _ in range(16)]
        with pytest.raises(NoStream) as refused:
            Stream(session.agent, session)
        assert (refused.value.status, refused.value.code) == (429, "limit_reached")
        session.do("move", x=1, y=1)
        assert {names(stream.take(3))[2] for stream in streams} == {"result"}
        streams[0].close()

        def open_one():
            with contextlib.suppress(NoStream):
                return stack.enter_context(Stream(session.agent, session))
        until(open_one)


def test_head(session):
    answer = ask(session.agent, head(session.agent, "HEAD", f"{session.path}/events"), has_body=False)
    assert answer.status == 200 and answer.headers["content-type"] == "text/event-stream"


def test_after_the_front_was_killed(make_server):
    """Who comes back with the last number it saw misses nothing."""
    server = make_server()
    session = server.api.new(image="minimal")
    seen = []
    stream = Stream(session.agent, session)
    for i in range(3):
        session.do("move", x=i, y=0)
        seen += stream.take(1)
        os.kill(front_of(server), signal.SIGKILL)
        with pytest.raises(ConnectionError):
            stream.rest()
        stream.close()
        stream = Stream(session.agent, session, last=seen[-1].number)
    session.end()
    seen += stream.rest()
    assert [event.number for event in seen] == list(range(4, 15))


def test_a_session_that_has_ended(make_session):
    session = make_session()
    session.end()
    with pytest.raises(NoStream) as refused:
        Stream(session.agent, session)
    assert refused.value.status in (401, 503)


def test_a_session_whose_stage_dies(server, make_session):
    """The stream breaks off: there was no proper end."""
    session = make_session()
    with Stream(session.agent, session) as stream:
        os.kill(jail.part(session.id, "glovebox-stage"), signal.SIGKILL)
        with pytest.raises(ConnectionError):
            stream.next()
    until(lambda: session.id not in server.live_sessions())
