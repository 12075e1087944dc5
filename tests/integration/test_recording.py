# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of a journal: what is kept before and after each action, who may read it, and how it goes."""
import concurrent.futures
import hashlib
import http.client
import json
import os
import signal

import pytest

import jail
import recording
from api import Api, Refused, picture_of
from conftest import until
from test_journal import events, lines

CANARY = "hunter2-canary"


def folder(server, session):
    return server.state / "journals" / session.id


def data(server, session):
    return (folder(server, session) / "pictures").read_bytes()


def checked(server, session):
    """The lines, and the pictures by their numbers."""
    found = lines(server, session)
    return found, recording.check(data(server, session), found)


def shot(session):
    """The display as it is, without the pointer."""
    reply = session.agent.request("GET", f"{session.path}/screenshot?space=native&cursor=false")
    assert reply.status == 200
    return picture_of(reply.body)


def of(found, event):
    return [line for line in found if line["event"] == event]


def same(one, other):
    return one.size == other.size and one.tobytes() == other.tobytes()


def test_before_and_after_are_what_was_seen(server, make_session):
    """Pixel for pixel what screenshots of the same moments show; each picture once, and nothing new for a screen that is still."""
    session = make_session("minimal", apps=["terminal"], space={"width": 640, "height": 400})
    seen = [shot(session)]
    for text in "echo one\n", "echo two; echo three\n":
        session.act({"action": "type", "text": text}, {"action": "wait_settled"}, observe=True)
        seen.append(shot(session))
    session.act(observe=True)
    session.act({"action": "move", "x": 3, "y": 3})
    session.end()
    found, made = checked(server, session)
    assert same(made[of(found, "ready")[0]["after"]], seen[0])
    looks = of(found, "observation")
    assert [same(made[line["after"]], picture) for line, picture in zip(looks, seen[1:3])] == [True, True]
    assert looks[2]["after"] == looks[1]["after"], "a still screen has been kept again"
    calls = of(found, "call")
    assert same(made[calls[1]["before"]], seen[1]) and not same(seen[0], seen[1])
    assert len({picture.tobytes() for picture in made.values()}) == len(made), "a picture is there twice"
    for line in of(found, "intent"):
        assert "before" in line
    for line in of(found, "result"):
        assert "after" in line
    # An action begins with the picture that the one before it left.
    steps = [line for line in found if line["event"] in ("intent", "result")]
    for result, intent in zip(steps[1::2], steps[2::2]):
        if result["request"] == intent["request"]:
            assert intent["before"] == result["after"]


def test_what_nobody_has_looked_at(server, make_session):
    """The journal looks itself, and the pointer, which is in the middle of what has changed, is in no picture."""
    session = make_session("minimal", apps=["terminal"])
    session.act({"action": "type", "text": "for i in 1 2 3 4 5; do sleep 0.1; echo $i; done\n"}, {"action": "move", "x": 600, "y": 300},
                {"action": "wait", "duration_ms": 2000})
    seen = shot(session)
    session.end()
    found, made = checked(server, session)
    assert same(made[of(found, "result")[-1]["after"]], seen) and not same(made[1], seen)


def test_what_a_call_says(server, make_session):
    session = make_session("minimal", guard="last", labels={"run": "7"}, env={"PASSWORD": CANARY})
    session.act({"action": "move", "x": 1, "y": 2}, {"action": "wait", "duration_ms": 1}, observe={"quiet_ms": 50, "picture": "none"},
                timeout_ms=4321, space={"width": 320, "height": 200})
    session.end()
    found = lines(server, session)
    start = found[0]
    document = json.loads((folder(server, session) / "session.json").read_text())
    assert start["event"] == "start" and start["native"] == {"width": 1280, "height": 800} == start["space"]
    assert (start["image"], start["image_hash"], start["guard"]) == (document["image"], document["image_hash"], "last")
    assert start["spec"]["labels"] == {"run": "7"} and start["spec"]["env"] == ["PASSWORD"] and CANARY not in json.dumps(start)
    call, = of(found, "call")
    assert (call["actions"], call["timeout_ms"], call["space"]) == (2, 4321, {"width": 320, "height": 200})
    assert call["observe"] == {"quiet_ms": 50, "picture": "none"} and "dialect" not in call
    look, = of(found, "observation")
    assert look["settled"] is True and look["request"] == call["request"] and look["elapsed_ms"] >= 0
    assert events(found)[-3:] == ["observation", "usage", "end"]
    assert [line["event"] for line in found if line.get("request") == call["request"]] == \
        ["call", "intent", "result", "intent", "result", "observation"]


def test_a_session_without_acts_has_one_picture(server, make_session):
    session = make_session("minimal")
    session.end()
    found, made = checked(server, session)
    assert events(found) == ["start", "picture", "ready", "usage", "end"] and list(made) == [1]
    assert found[2]["after"] == 1


def test_keyframes(server, make_session):
    """One at least every 64 pictures, and when what has changed since has more than four times its bytes."""
    session = make_session("minimal", apps=["terminal"])
    for n in range(70):
        session.act({"action": "type", "text": "abcdefghij"[n % 10]}, observe={"picture": "none", "quiet_ms": 20})
    session.end()
    _, made = checked(server, session)
    kept = [(header["base"] is None, sum(map(len, parts))) for header, _, parts in recording.records(data(server, session))]
    assert len(kept) == len(made) > 64 and kept[0][0]
    since, key = 0, kept[0][1]
    apart = 0
    for is_key, n_bytes in kept[1:]:
        apart += 1
        assert is_key or (apart < 64 and since <= 4 * key)
        since, key, apart = (0, n_bytes, 0) if is_key else (since + n_bytes, key, apart)
    assert 1 < sum(is_key for is_key, _ in kept) < len(kept) / 8


def test_without_pictures(server, make_session):
    session = make_session("minimal", record={"pictures": False})
    session.act({"action": "move", "x": 1, "y": 1}, observe=True)
    assert server.api.request("GET", f"{session.path}/recording").status == 404
    session.end()
    found = lines(server, session)
    assert events(found) == ["start", "ready", "call", "intent", "result", "observation", "usage", "end"]
    assert not [line for line in found if "before" in line or "after" in line]
    assert data(server, session) == b""
    assert server.api.request("GET", f"{session.path}/recording").json["code"] == "not_found"


def test_the_route(server, make_session):
    """Whole records and nothing else, as a download that no browser shows."""
    session = make_session("minimal", apps=["terminal"])
    session.act({"action": "type", "text": "x"}, observe=True)
    controller = Api(server.url, session.tokens["controller"])
    path = folder(server, session) / "pictures"
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write(b'{"picture":99,"frame":1,"base":98,"width":1,"height":1,"salt":"00","parts":[{"bytes":1000}]}\nshort')
    reply = controller.request("GET", f"{session.path}/recording")
    assert (reply.status, reply.body) == (200, whole)
    assert reply.headers["Content-Type"] == "application/octet-stream"
    assert reply.headers["Content-Disposition"].startswith("attachment")
    assert reply.headers["X-Content-Type-Options"] == "nosniff" and "sandbox" in reply.headers["Content-Security-Policy"]
    assert reply.headers["Cache-Control"] == "no-store"
    for role in "agent", "viewer":
        assert Api(server.url, session.tokens[role]).request("GET", f"{session.path}/recording").status == 403
    session.end()
    assert server.api.request("GET", f"{session.path}/recording").body == whole


def test_text_none_is_nowhere(server, make_session):
    """What was typed is in no file of the server's, nor in its log; only in the pictures of what showed it, whose metadata have no text."""
    session = make_session("minimal", record={"text": "none"})
    session.act({"action": "type", "text": CANARY}, observe=True)
    session.agent.request("POST", f"{session.path}/act", {"actions": [{"action": "type", "text": CANARY, "x": 1}]})
    session.end()
    server.api.call("GET", "/v1/sessions")
    found = lines(server, session)
    assert of(found, "intent")[0]["action"] == {"action": "type", "text": {"bytes": len(CANARY)}}
    files = [path for path in server.state.rglob("*") if path.is_file()]
    assert {"journal.jsonl", "session.json", "pictures", "audit.jsonl"} <= {path.name for path in files}
    assert [str(path) for path in files if CANARY.encode() in path.read_bytes()] == []
    assert CANARY not in server.log_text()
    shown = server.api.call("GET", "/v1")
    assert '"plain"' in json.dumps(shown) and "typed text in the journal" in json.dumps(shown)


def test_deleting(server, make_session):
    """Nothing stays on the disk; a reader reads on; it is told who did it."""
    session = make_session("minimal", apps=["terminal"])
    session.act({"action": "type", "text": "x"}, observe=True)
    path = f"{session.path}/journal"
    reply = server.api.request("DELETE", path)
    assert (reply.status, reply.json["code"]) == (409, "conflict")
    session.end()
    for role in session.tokens:
        assert Api(server.url, session.tokens[role]).request("DELETE", path).status in (401, 403)
    whole = data(server, session)
    with open(folder(server, session) / "pictures", "rb") as reader:
        reply = server.api.request("DELETE", path)
        assert (reply.status, reply.body) == (204, b"")
        assert reader.read() == whole
    assert not folder(server, session).exists()
    assert not [p for p in server.state.rglob("*") if session.id in p.name]
    for method, what in ("DELETE", "journal"), ("GET", "journal"), ("GET", "recording"):
        assert server.api.request(method, f"{session.path}/{what}").status == 404
    told = [json.loads(line) for line in (server.state / "front" / "audit.jsonl").read_text().splitlines()]
    told = [line for line in told if line["event"] == "journal_deleted" and line["session"] == session.id]
    assert len(told) >= 1 and told[0]["role"] == "operator" and told[0]["request"]


def test_deleting_while_it_is_read(server, make_session):
    """A download that has begun goes on to its end."""
    session = make_session("minimal", apps=["terminal"])
    session.end()
    path = folder(server, session) / "pictures"
    header, _, (png,) = next(recording.records(path.read_bytes()))
    record = path.read_bytes()
    with path.open("ab") as file:
        for n in range(2, 40000000 // len(png)):
            file.write(record.replace(b'"picture":1,', b'"picture":%d,' % n, 1))
    whole = path.read_bytes()
    connection = http.client.HTTPConnection(server.api.address, timeout=60)
    connection.request("GET", f"{session.path}/recording", headers={"Authorization": f"Bearer {server.api.token}"})
    answer = connection.getresponse()
    first = answer.read(100000)
    assert server.api.request("DELETE", f"{session.path}/journal").status == 204
    assert not path.exists() and header["picture"] == 1
    assert hashlib.sha256(first + answer.read()).digest() == hashlib.sha256(whole).digest()
    connection.close()


def test_the_stage_is_killed_in_a_burst(server, make_session):
    """Whatever is there then can be read: a chain, whole records, and no line that names a picture that is not there."""
    session = make_session("minimal", apps=["terminal"])
    # The pauses are for the terminal, which draws late on a busy machine; the last one is longer than the call may live.
    burst = [step for n in range(120) for step in ({"action": "type", "text": f"echo {n}\n", "delay_ms": 0}, {"action": "wait", "duration_ms": 5})]
    burst.append({"action": "wait", "duration_ms": 60000})
    path = folder(server, session) / "pictures"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        call = pool.submit(session.act, *burst)
        until(lambda: len(list(recording.records(path.read_bytes()))) > 10, every_s=0.001)
        os.kill(jail.part(session.id, "glovebox-stage"), signal.SIGKILL)
        assert isinstance(call.exception(), Refused)
    until(lambda: session.id not in server.live_sessions())
    found, made = checked(server, session)
    assert len(made) > 3 and found[-1]["event"] in ("intent", "result", "picture")
    assert server.api.request("GET", f"{session.path}/recording").body == data(server, session)[:recording.whole_len(data(server, session))]


def test_a_pause_and_a_call_that_is_cancelled(server, make_session):
    """They leave no gap that a reader would trip over."""
    session = make_session("minimal")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        call = pool.submit(session.try_act, {"action": "wait", "duration_ms": 30000}, observe=True)
        until(lambda: b'"wait"' in (folder(server, session) / "journal.jsonl").read_bytes())
        server.api.call("POST", f"{session.path}/pause")
        assert call.result()["ok"] is False
    server.api.call("POST", f"{session.path}/resume")
    session.act({"action": "move", "x": 4, "y": 4}, observe=True)
    session.end()
    found, _ = checked(server, session)
    assert of(found, "result")[-1]["ok"] is True and of(found, "observation")[-1]["after"] == 1


@pytest.mark.parametrize("part", ["Xvfb"])
def test_the_display_dies(server, make_session, part):
    session = make_session("minimal")
    session.act({"action": "move", "x": 4, "y": 4}, observe=True)
    os.kill(jail.part(session.id, part), signal.SIGKILL)
    until(lambda: session.id not in server.live_sessions())
    checked(server, session)
