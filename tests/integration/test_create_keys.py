# SPDX-License-Identifier: GPL-2.0-or-later
"""Idempotency-Key on create: one session, however often it is asked for."""
import concurrent.futures
import json
import os
import signal

import jail
from api import Api
from conftest import until
from raw import Wire, post

SPEC = {"image": "minimal", "labels": {"a": "b"}}


def create(api, key, spec=SPEC):
    return api.request("POST", "/v1/sessions", spec, headers={"Idempotency-Key": key})


def is_replay(reply):
    return reply.headers.get("Idempotency-Replayed") == "true"


def end(server, *replies):
    for session_id in {reply.json["id"] for reply in replies}:
        server.api.call("DELETE", f"/v1/sessions/{session_id}")


def front_of(server):
    return jail.part(jail.group_name(server), "glovebox-front")


def test_sent_again_it_is_the_same_session(server):
    """With tokens of its own: those of the first are known by their hashes alone, and go on to be good."""
    first, again = create(server.api, "same"), create(server.api, "same")
    assert first.status == again.status == 201
    assert first.json["id"] == again.json["id"] and first.headers["Location"] == again.headers["Location"]
    assert is_replay(again) and not is_replay(first)
    for reply in first, again:
        for role in "agent", "viewer", "controller":
            shown = Api(server.url, reply.json["tokens"][role]).call("GET", f"/v1/sessions/{first.json['id']}")
            assert shown["labels"] == {"a": "b"}
    assert set(first.json) == set(again.json)
    reply = create(server.api, "same", {"image": "minimal"})
    assert (reply.status, reply.json["code"]) == (422, "key_reused")
    end(server, first)
    # It was made, whatever came of it: it is not made again.
    ended = create(server.api, "same")
    assert (ended.status, ended.json["id"], ended.json["state"]) == (201, first.json["id"], "ended")
    assert "tokens" not in ended.json


def test_sent_again_while_it_is_made(server):
    before = server.live_sessions()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(create, server.api, "beside") for _ in range(4)]
        replies = [call.result() for call in calls]
    assert [reply.status for reply in replies] == 4 * [201]
    assert sorted(map(is_replay, replies)) == [False, True, True, True]
    assert server.live_sessions() - before == {replies[0].json["id"]} == {reply.json["id"] for reply in replies}
    end(server, *replies)


def test_several_at_once(server):
    first, again = (create(server.api, "two", {**SPEC, "count": 2}) for _ in range(2))
    ids = [session["id"] for session in first.json["sessions"]]
    assert len(ids) == 2 and ids == [session["id"] for session in again.json["sessions"]]
    for session_id in ids:
        server.api.call("DELETE", f"/v1/sessions/{session_id}")


def test_what_was_refused_leaves_the_key(server):
    for spec in ({"image": "no-such-image"}, {"image": 5}, {"image": "minimal", "apps": ["no-such-app"]}):
        assert create(server.api, "refused", spec).status >= 400
    reply = create(server.api, "refused")
    assert reply.status == 201 and not is_replay(reply)
    end(server, reply)


def send_only(api, key):
    """Sends a create and does not wait for its reply."""
    wire = Wire(api.address)
    wire.send(post(api, "/v1/sessions", json.dumps(SPEC), idempotency_key=key))
    return wire


def test_it_goes_on_when_its_caller_leaves(server):
    before = server.live_sessions()
    with send_only(server.api, "left"):
        made, = until(lambda: server.live_sessions() - before)
    reply = create(server.api, "left")
    assert reply.json["id"] == made and reply.json["state"] == "ready" and is_replay(reply)
    end(server, reply)


def test_the_front_dies_in_the_middle(make_server):
    """What was half made is ended; the key is free, and makes one session."""
    server = make_server()
    with send_only(server.api, "middle") as wire:
        half, = until(server.live_sessions, every_s=0.001)
        os.kill(front_of(server), signal.SIGKILL)
        assert wire.is_closed()
    reply = create(server.api, "middle")
    assert reply.status == 201 and not is_replay(reply) and reply.json["id"] != half
    assert server.live_sessions() == {reply.json["id"]}
    until(lambda: not jail.groups(half))
    end(server, reply)


def test_after_the_front_was_killed(make_server):
    server = make_server()
    first = create(server.api, "kept")
    os.kill(front_of(server), signal.SIGKILL)
    until(lambda: jail.processes(jail.group_name(server)))

    def again():
        try:
            return create(server.api, "kept")
        except OSError:
            return None
    reply = until(again)
    assert reply.json["id"] == first.json["id"] and is_replay(reply)
    Api(server.url, first.json["tokens"]["agent"]).call("GET", f"/v1/sessions/{first.json['id']}")
    end(server, reply)
