# SPDX-License-Identifier: GPL-2.0-or-later
"""The journal of a session, read from the files alone."""
import concurrent.futures
import hashlib
import json
import os
import signal

import jail
from api import Api, Refused
from conftest import until

SUFFIX = len(',"hash":""}') + 64


def lines(server, session):
    """All whole lines, checked: sequence without gaps, clocks that do not run back, a chain of hashes."""
    found, before = [], bytes(32)
    text = (server.state / "journals" / session.id / "journal.jsonl").read_bytes()
    for raw in text.split(b"\n")[:-1]:
        line = json.loads(raw)
        before = hashlib.sha256(before + raw[:-SUFFIX] + b"}").digest()
        assert line["hash"] == before.hex(), line
        found.append(line)
    assert [line["seq"] for line in found] == list(range(1, len(found) + 1))
    assert [line["mono_ms"] for line in found] == sorted(line["mono_ms"] for line in found)
    return found


def events(found):
    return [line["event"] for line in found]


def test_whole_life(server, make_session):
    session = make_session("minimal", env={"PASSWORD": "not-to-be-kept"}, apps=["terminal"])
    session.act({"action": "move", "x": 11, "y": 12}, {"action": "type", "text": "echo $PASSWORD\n"})
    session.exec("cat", stdin="not-to-be-kept")
    answer = session.try_act({"action": "wait", "duration_ms": 500}, timeout_ms=20)
    assert not answer["ok"]
    session.end()
    found = lines(server, session)
    act, step = ["call"], ["intent", "result"]
    assert [name for name in events(found) if name != "picture"] == ["start", "ready"] + act + 2 * step + 2 * (act + step) + ["usage", "end"]
    intents = [line for line in found if line["event"] == "intent"]
    results = [line for line in found if line["event"] == "result"]
    assert intents[0]["action"] == {"action": "move", "x": 11, "y": 12}
    assert intents[1]["action"] == {"action": "type", "text": "echo $PASSWORD\n"}
    assert [line["index"] for line in intents] == [0, 1, 0, 0] == [line["index"] for line in results]
    assert intents[0]["request"] == intents[1]["request"] != intents[2]["request"]
    for intent, result in zip(intents, results):
        assert intent["actor"]["role"] == "agent" and intent["actor"] == result["actor"]
        assert (intent["request"], intent["epoch"], intent["episode"]) == (result["request"], result["epoch"], result["episode"])
    assert [line["ok"] for line in results] == [True, True, True, False]
    assert results[3]["error"] == "timeout"
    assert results[2]["exit_code"] == 0
    document = json.loads((server.state / "journals" / session.id / "session.json").read_text())
    assert document["id"] == session.id and document["image"] == "minimal" and document["spec"]["env"] == ["PASSWORD"]
    for path in (server.state / "journals" / session.id).iterdir():
        text = path.read_bytes()
        assert b"not-to-be-kept" not in text
        assert not any(token.encode() in text for token in session.tokens.values())


def test_refused_calls_leave_no_line(server, session):
    session.agent.request("POST", f"{session.path}/act", {"actions": [{"action": "click", "x": 5000, "y": 0}]})
    session.agent.request("POST", f"{session.path}/act", "{")
    session.try_act({"action": "move", "x": 1, "y": 1}, check_only=True)
    assert events(lines(server, session)) == ["start", "picture", "ready"]


def test_stage_is_killed_in_the_middle(server, make_session):
    """An intent without result: it may have happened. All lines before are whole."""
    session = make_session("minimal")
    session.do("move", x=5, y=5)
    path = server.state / "journals" / session.id / "journal.jsonl"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        call = pool.submit(session.act, {"action": "wait", "duration_ms": 60000})
        until(lambda: b'"wait"' in path.read_bytes())
        os.kill(jail.part(session.id, "glovebox-stage"), signal.SIGKILL)
        assert isinstance(call.exception(), Refused)
    until(lambda: session.id not in server.live_sessions())
    assert events(lines(server, session)) == ["start", "picture", "ready", "call", "intent", "result", "call", "intent"]


def test_the_route(server, make_session):
    """The lines of the file, byte for byte, also after the end; not for the agent, in whose name things were typed."""
    session = make_session("minimal", record={"text": "always"})  # nobody can tell where it goes
    session.do("type", text="x" * 100000)
    path = server.state / "journals" / session.id / "journal.jsonl"
    controller = Api(server.url, session.tokens["controller"])
    reply = controller.request("GET", f"{session.path}/journal")
    assert (reply.status, reply.headers["Content-Type"]) == (200, "application/x-ndjson")
    assert reply.body == path.read_bytes() and len(reply.body) > 100000
    for role in "agent", "viewer":
        assert Api(server.url, session.tokens[role]).request("GET", f"{session.path}/journal").status == 403
    session.end()
    assert server.api.request("GET", f"{session.path}/journal").body == path.read_bytes()
    assert events(lines(server, session))[-1] == "end"


def test_the_route_leaves_out_what_is_no_line_yet(server, session):
    path = server.state / "journals" / session.id / "journal.jsonl"
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write(b'{"seq": 3, "torn' + 100000 * b" ")
    assert server.api.request("GET", f"{session.path}/journal").body == whole
