# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that are slow, huge or many (case H06): sessions go on, memory is bounded. What exists one request at a time is in test_http.py."""
import json
import pathlib
import resource
import select
import statistics
import time

import pytest

import jail
from api import Refused
from conftest import until
from mcp import Client, tool
from prometheus import Metrics
from raw import Wire, ask, assert_problem, head, post

pytestmark = pytest.mark.alone

MANY = 2000               # more than the server takes
KIB_A_CONNECTION = 64     # of the front's memory, at most


@pytest.fixture(scope="module", autouse=True)
def files():
    """Both ends of some thousand connections."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard > MANY + 500
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def front_pid(server):
    return next(pid for pid in jail.processes(jail.group_name(server)) if jail.read(f"/proc/{pid}/comm").strip() == "glovebox-front")


def memory_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def close(wires):
    for wire in wires:
        wire.socket.close()


def steps(session, n=20):
    """Milliseconds of a step of an agent, beside whatever else goes on."""
    times = []
    for i in range(n):
        started = time.monotonic()
        session.act({"action": "move", "x": 10 + i, "y": 20})
        session.shot()
        times.append(1000 * (time.monotonic() - started))
    return times


def test_thousands_that_trickle(server, session):
    """Some bytes of a head or a body each, and then another one: a session's steps go on, and each costs a bounded piece of memory."""
    api, pid = server.api, front_pid(server)
    alone = steps(session)
    begun = [head(api)[:-2] + "X-A: ", head(api, "POST", f"{session.path}/act", content_type="application/json", content_length=1000) + "{",
             head(api, "POST", f"{session.path}/act", content_type="application/json", transfer_encoding="chunked") + "1\r\n", "G"]
    before, wires = memory_kib(pid), []
    try:
        for i in range(1000):
            wires.append(Wire(api.address))
            wires[-1].send(begun[i % len(begun)])
        assert api.request("GET", "/livez").status == 200
        each = (memory_kib(pid) - before) / 1000
        print(f"a connection that has begun a request takes {each:.1f} KiB of the front")
        assert each < KIB_A_CONNECTION
        for i in range(MANY - 1000):
            wires.append(Wire(api.address))
            wires[-1].send(begun[i % len(begun)])
        for wire in wires[-900:]:
            wire.send("x")
        beside = steps(session)
        print(f"a step: {statistics.median(alone):.1f} ms alone, {statistics.median(beside):.1f} ms ({max(beside):.1f} at most) beside {MANY}")
        assert max(beside) < 3000
    finally:
        close(wires)


def test_bodies_of_all_together_are_bounded(server, session):
    """More than the server has memory for: the oldest are given up, and a call goes through all the same."""
    api, pid = server.api, front_pid(server)
    data = head(api, "POST", f"{session.path}/act", content_type="application/json", content_length=1024 * 1024).encode() + b" " * (1024 * 1024 - 1)
    before, wires = memory_kib(pid), []
    try:
        for _ in range(200):
            wires.append(Wire(api.address))
            wires[-1].send(data)
        answer = wires[0].answer()
        assert_problem_without_request(answer, 429, "busy")
        assert session.run("echo", "on") == "on\n"
        used = (memory_kib(pid) - before) / 1024
        print(f"{len(wires)} bodies of 1 MiB took {used:.0f} MiB")
        assert used < 160
        # The youngest is still there.
        wires[-1].send("}")
        assert wires[-1].answer().status == 400
    finally:
        close(wires)


def assert_problem_without_request(answer, status, code):
    """A reply that is not a request's: it has no id."""
    assert answer is not None and (answer.status, answer.json["code"]) == (status, code), answer and answer.body
    assert answer.headers["connection"] == "close"


def test_readers_that_stop(server, session):
    """Fifty that ask for pictures and never read, others do not notice, and what waits for them is bounded."""
    api, pid = server.api, front_pid(server)
    alone, before, wires = steps(session), memory_kib(pid), []
    try:
        for _ in range(50):
            wires.append(Wire(api.address, receive_bytes=4096))
            wires[-1].send(head(session.agent, target="/v1") * 100)
        beside = steps(session)
        print(f"a step: {statistics.median(alone):.1f} ms alone, {statistics.median(beside):.1f} ms beside 50 who do not read")
        assert max(beside) < 3000
        assert (memory_kib(pid) - before) / 50 < 1024
    finally:
        close(wires)


def test_pipelined_requests(server):
    with Wire(server.api.address, timeout_s=20) as wire:
        wire.send(head(server.api, target="/livez") * 1000)
        assert {wire.answer().status for _ in range(1000)} == {200}


def test_what_is_announced_is_not_waited_for(server, session):
    api = server.api
    for length in (10 * 2 ** 30, 2 ** 63, 2 ** 64):
        with Wire(api.address) as wire:
            wire.send(head(api, "POST", f"{session.path}/act", content_type="application/json", content_length=length))
            answer = wire.answer()
            assert answer.status in (400, 413) and answer.headers["connection"] == "close", answer.body
    # Neither a length nor chunks: there is no body.
    assert_problem(ask(api, head(api, "POST", f"{session.path}/act", content_type="application/json")), 400, "bad_json")
    for data in (b"a" * 1024 * 1024, head(api).encode()[:-2] + b"".join(b"x%d: y\r\n" % i for i in range(100000)) + b"\r\n"):
        with Wire(api.address) as wire:
            try:
                wire.send(data)
                answer = wire.answer()
            except OSError:
                answer = None  # closed before all of it was sent
            assert answer is None or answer.status in (400, 414, 431), answer.status


@pytest.mark.parametrize("depth, ok", [(30, True), (33, False), (100000, False)])
def test_deep_json(server, session, depth, ok):
    body = '{"actions": ' + "[" * depth + "]" * depth + "}"
    problem = ask(server.api, post(server.api, f"{session.path}/act", body)).json
    assert problem["code"] == ("bad_field" if ok else "bad_json"), problem
    assert server.api.request("GET", "/livez").status == 200


def test_wide_json(server, session):
    """Half a million values in a MiB: refused in a moment, by its number of actions."""
    started = time.monotonic()
    with pytest.raises(Refused) as refused:
        session.agent.call("POST", f"{session.path}/act", json.dumps({"actions": [0] * 300000}))
    assert refused.value.code == "bad_field" and time.monotonic() - started < 5
    session.act({"action": "move", "x": 1, "y": 2})


def test_callers_that_leave_a_create(server):
    """At whatever moment they leave: a session stays only when its reply was there already."""
    data = post(server.api, "/v1/sessions", '{"image": "minimal"}')
    before = server.live_sessions()
    started = time.monotonic()
    kept = [server.api.new(image="minimal").id]
    whole_s = time.monotonic() - started
    for i in range(20):
        with Wire(server.api.address) as wire:
            wire.send(data)
            if select.select([wire.socket], [], [], whole_s * i / 18)[0]:  # the moment is what is tried
                kept.append(wire.answer().json["id"])
    for session in kept:
        server.api.call("DELETE", f"/v1/sessions/{session}")
    until(lambda: server.live_sessions() <= before)


def n_shed(server):
    return Metrics(server.api.request("GET", "/metrics").body.decode())("glovebox_connections_shed_total")


def test_streams_that_nobody_reads(server):
    """More answers of MCP as streams than the server has memory for: those that nobody has read for longest are given up, and all of it goes
    back to the kernel when they are gone."""
    pid, posts = front_pid(server), []
    command = ["sh", "-c", "head -c 262144 /dev/zero | tr '\\0' x | tee /dev/stderr"]
    sessions = [server.api.new(image="minimal") for _ in range(8)]
    try:
        before, shed = memory_kib(pid), n_shed(server)
        message = tool("computer", {"actions": [{"action": "exec", "argv": command}], "look": False}, progressToken=1)
        for session in sessions * 32:
            posts.append(Client(session.agent).start(message, receive_bytes=4096))
        until(lambda: n_shed(server) > shed)
        assert server.api.request("GET", "/livez").status == 200
        for post in posts:
            post.close()
        until(lambda: memory_kib(pid) - before < 40 * 1024)
        assert front_pid(server) == pid
    finally:
        for session in sessions:
            session.end()
