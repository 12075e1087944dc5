# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools of MCP on real sessions: their schemas (case P10), long calls, progress and cancel (P12), roles, many clients at once (H01)."""
import base64
import concurrent.futures
import hashlib
import json
import pathlib
import re
import sys

import jsonschema
import pytest

from api import Api, picture_of
from conftest import Server, until
from mcp import LEGACY, LONG, MODERN, Client, held, image_of, request, runs, tell, tool
from terminal import RawTerminal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from readme import check_table  # noqa: E402

ALL = ["computer", "run_command", "read_file", "write_file", "list_files", "session_create", "session_list", "session_get", "session_end"]
TOKENS = re.compile(r"gb[a-z]_[A-Za-z0-9_-]{20}")


@pytest.fixture
def agent(session):
    return Client(session.agent)


def schemas_of(client):
    return {row["name"]: row for row in client.post(request("tools/list"), {"MCP-Protocol-Version": LEGACY[0]} if not client.version else {}).result["tools"]}


# --- P10: schemas


def walk(schema, where):
    assert isinstance(schema.get("type"), str), (where, schema)
    for word in ("anyOf", "oneOf", "allOf", "not", "if", "$ref", "prefixItems", "const", "patternProperties"):
        assert word not in schema, (where, word)
    for name, member in schema.get("properties", {}).items():
        walk(member, f"{where}/{name}")
    if schema["type"] == "array":
        assert isinstance(schema["items"], dict), where
        walk(schema["items"], f"{where}/items")


@pytest.mark.parametrize("version", [*LEGACY, MODERN])
def test_no_client_drops_a_tool(server, version):
    client = Client(server.api, version if version == MODERN else None)
    tools = client.post(request("tools/list"), {} if version == MODERN else {"MCP-Protocol-Version": version}).result["tools"]
    assert [row["name"] for row in tools] == ALL
    for row in tools:
        assert re.fullmatch("[a-z_]{1,64}", row["name"]) and 10 < len(row["description"]) < 200
        for kind in ("inputSchema", *(["outputSchema"] if version != "2025-03-26" else [])):
            jsonschema.Draft202012Validator.check_schema(row[kind])
            assert row[kind]["type"] == "object"
            walk(row[kind], row["name"])
        assert set(row["annotations"]) == {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        session = row["inputSchema"]["properties"].get("session_id", {})
        assert session.get("x-mcp-header") == ("Session" if version == MODERN and session else None)
    path = tools[0]["inputSchema"]["properties"]["actions"]["items"]["properties"]["path"]
    assert path["items"] == {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}


def test_every_action_is_in_the_schema(server):
    actions = schemas_of(Client(server.api))["computer"]["inputSchema"]["properties"]["actions"]
    known = server.api.call("GET", "/v1/actions")["actions"]
    assert actions["items"]["properties"]["action"]["enum"] == [row["name"] for row in known]
    for row in known:
        assert f"\n{row['name']}" in actions["description"] and row["doc"] in actions["description"]
        assert set(row["schema"]["properties"]) <= set(actions["items"]["properties"])


def test_results_are_as_their_schemas_say(server, agent, session):
    owner = Client(server.api)
    schemas = schemas_of(owner)
    made = owner.call("session_create", {"image": "minimal"})
    calls = [
        (agent, "computer", None), (agent, "computer", {"actions": [{"action": "move", "x": 3, "y": 4}, {"action": "cursor_position"}], "look": False}),
        (agent, "computer", {"actions": [{"action": "screenshot"}], "check_only": True}), (agent, "run_command", {"command": "echo hi; echo no >&2; exit 3"}),
        (agent, "run_command", {"argv": ["sh", "-c", "kill -9 $$"]}), (agent, "write_file", {"path": "a", "content": "x"}), (agent, "read_file", {"path": "a"}),
        (agent, "list_files", None),
        (agent, "session_get", None), (owner, "session_list", None), (owner, "session_list", {"ended": True}),
        (owner, "session_get", {"session_id": session.id}), (owner, "session_end", {"session_id": made["structuredContent"]["session_id"]}),
    ]
    results = [("session_create", made), *((name, client.call(name, arguments)) for client, name, arguments in calls)]
    assert {name for name, _ in results} == set(ALL)
    for name, result in results:
        jsonschema.validate(result["structuredContent"], schemas[name]["outputSchema"])
        # The same as text, for clients that know of no structure.
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_no_arguments_at_all(agent, session):
    assert agent.call("session_get")["structuredContent"]["session_id"] == session.id
    assert agent.call("session_get", {})["structuredContent"]["state"] == "ready"
    assert agent.post(request("tools/call", {"name": "session_get", "arguments": None})).result["structuredContent"]["state"] == "ready"
    kind, picture = image_of(agent.call("computer"))
    assert (kind, picture.size) == ("image/png", (1280, 800))


def test_lists_and_places_as_text(agent):
    """What clients send that take every value for a string: lists and objects are read, numbers are refused in words."""
    done = agent.call("computer", {"actions": json.dumps([{"action": "drag", "path": "[[5,6],[70,80]]", "duration_ms": 0}, {"action": "cursor_position"}]),
                                   "look": False})["structuredContent"]
    assert (done["results"][1]["x"], done["results"][1]["y"]) == (70, 80)
    assert agent.call("computer", {"actions": "[]", "observe": '{"picture":"none"}'})["structuredContent"]["observation"]["settled"] is True
    assert "bad_field at /actions/0/x" in agent.fail("computer", {"actions": [{"action": "click", "x": "10", "y": 20}]})
    assert "bad_field at /actions/1/path" in agent.fail("computer", {"actions": [{"action": "cursor_position"}, {"action": "drag", "path": "1,2"}]})
    assert "bad_field at /actions" in agent.fail("computer", {"actions": "click"})


def test_what_is_wrong_is_told_and_nothing_happens(agent):
    agent.call("computer", {"actions": [{"action": "move", "x": 11, "y": 12}], "look": False})
    text = agent.fail("computer", {"actions": [{"action": "move", "x": 700, "y": 1}, {"action": "clik"}, {"action": "move", "x": 9999, "y": 1}], "colour": 1})
    assert text.startswith("Nothing was done.")
    assert "unknown_field at /colour" in text and "unknown_action at /actions/1/action" in text and "bad_field at /actions/2/x" in text
    for wrong in ({"look": "no"}, {"look": False, "observe": {}}, {"observe": {"format": "raw"}}, {"observe": {"quiet_ms": -1}},
                  {"actions": [{"action": "screenshot", "format": "raw"}]}, {"timeout_ms": 0}, {"session_id": 5}, {"session_id": "s" * 16}):
        assert agent.fail("computer", wrong).startswith("Nothing was done.")
    position = agent.call("computer", {"actions": [{"action": "cursor_position"}], "look": False})["structuredContent"]["results"][0]
    assert (position["x"], position["y"]) == (11, 12)


# --- the computer


@pytest.mark.parametrize("version", [None, MODERN])
def test_a_picture_of_what_is_there(session, version):
    """Pixel by pixel that of the session; the pointer where it was moved to."""
    client = Client(session.agent, version)
    result = client.call("computer", {"actions": [{"action": "move", "x": 640, "y": 400}]})
    kind, picture = image_of(result)
    assert kind == "image/png" and picture.tobytes() == session.shot().tobytes()
    observation = result["structuredContent"]["observation"]
    assert observation["settled"] is True and observation["picture"] == {"format": "png", "width": 1280, "height": 800}
    assert "data" not in json.dumps(result["structuredContent"])


def test_looking_can_be_said_how(agent):
    kind, picture = image_of(agent.call("computer", {"observe": {"format": "jpeg", "region": {"x": 0, "y": 0, "width": 100, "height": 50}, "quiet_ms": 0}}))
    assert (kind, picture.size) == ("image/jpeg", (100, 50))
    for arguments in ({"look": False}, {"observe": {"picture": "none"}}, {"observe": False}):
        assert [block["type"] for block in agent.call("computer", arguments)["content"]] == ["text"]
    pictures = agent.call("computer", {"actions": [{"action": "screenshot", "region": {"x": 0, "y": 0, "width": 20 + n, "height": 10}} for n in range(3)]})
    assert [picture_of(base64.b64decode(block["data"])).size for block in pictures["content"][1:]] == [(20, 10), (21, 10), (22, 10), (1280, 800)]


def test_pictures_fit_models(make_session):
    """The default picture of the largest display is one that every model takes."""
    session = make_session(display={"width": 4096, "height": 4096})
    _, picture = image_of(Client(session.agent).call("computer"))
    assert max(picture.size) <= 2000 and -(-picture.width // 28) * -(-picture.height // 28) <= 4784


def test_a_list_that_fails_halfway(agent):
    result = agent.post(tool("computer", {"actions": [{"action": "move", "x": 1, "y": 1}, {"action": "wait_window", "title": "none", "timeout_ms": 1},
                                                      {"action": "move", "x": 9, "y": 9}]})).result
    assert result["isError"] is True and result["structuredContent"]["done"] == 1
    assert [entry["ok"] for entry in result["structuredContent"]["results"]] == [True, False]
    # Models refuse a picture in an error.
    assert [block["type"] for block in result["content"]] == ["text", "text"] and "without actions" in result["content"][1]["text"]


def test_a_guarded_call(agent):
    seen = agent.call("computer")["structuredContent"]["at"]
    agent.call("computer", {"actions": [{"action": "launch", "app": "terminal"}]})
    assert "stale_target" in agent.fail("computer", {"actions": [{"action": "click", "x": 200, "y": 100}], "seen": seen})


@pytest.mark.parametrize("headers, meta, kind", [({}, {}, "application/json"), ({"Accept": "text/event-stream"}, {}, "text/event-stream"),
                                                 ({}, {"progressToken": 1}, "text/event-stream")], ids=["json", "events", "progress"])
def test_an_answer_that_goes_out_in_pieces(agent, headers, meta, kind):
    """A hundred pictures are more than the server keeps of an answer that is on its way."""
    actions = [action for n in range(100) for action in ({"action": "move", "x": 5 * n, "y": 3 * n}, {"action": "screenshot"})]
    reply = agent.post(tool("computer", {"actions": actions, "look": False}, **meta), headers)
    assert (reply.status, reply.type) == (200, kind) and len(reply.body) > 768 * 1024
    text, *images = reply.result["content"]
    assert json.loads(text["text"]) == reply.result["structuredContent"] and reply.result["structuredContent"]["done"] == 200
    pictures = [picture_of(base64.b64decode(block["data"])) for block in images]
    assert len(pictures) == 100 and len({picture.tobytes() for picture in pictures}) == 100


def test_a_large_answer_in_a_batch(agent):
    actions = [action for n in range(100) for action in ({"action": "move", "x": 5 * n, "y": 3 * n}, {"action": "screenshot"})]
    reply = agent.post([tool("computer", {"actions": actions, "look": False}, 1), request("ping", id_=2)])
    assert [message["id"] for message in reply.messages] == [1, 2] and len(reply.messages[0]["result"]["content"]) == 101


def test_a_reader_that_stops_reading(session):
    """Of a large answer: what is not read waits in the session, and the next call is done all the same."""
    actions = [action for n in range(100) for action in ({"action": "move", "x": 5 * n, "y": 3 * n}, {"action": "screenshot"})]
    for cut in (False, True):
        post = Client(session.agent).start(tool("computer", {"actions": actions, "look": False}))
        assert post.wire.answer(has_body=False).status == 200
        if cut:
            post.kill()
        assert Client(session.agent).call("computer", {"timeout_ms": 20000})["structuredContent"]["ok"] is True
        post.close()


# --- commands


def test_commands(agent):
    done = agent.call("run_command", {"command": "printf '%s|' \"$0\" a 'b c'; cat; pwd >&2", "stdin": "ü\n", "cwd": "/tmp"})["structuredContent"]
    assert done == {"exit_code": 0, "stdout": "sh|a|b c|ü\n", "stderr": "/tmp\n", "timed_out": False, "truncated": False}
    literal = agent.call("run_command", {"argv": ["printf", "%s", "$HOME `id` ; & | '\""]})["structuredContent"]
    assert literal["stdout"] == "$HOME `id` ; & | '\""
    slow = agent.call("run_command", {"argv": ["sleep", "60"], "timeout_ms": 50})["structuredContent"]
    assert slow["timed_out"] is True and slow["signal"] == 9 and "exit_code" not in slow
    assert "not_found" in agent.fail("run_command", {"argv": ["no-such-program"]})
    for wrong in ({}, {"command": "a", "argv": ["b"]}, {"command": ""}, {"command": "a\0b"}, {"argv": []}, {"command": "a", "shell": True}):
        assert agent.fail("run_command", wrong).startswith("Nothing was done.")


# --- roles


def key(name):
    return {"name": name, "token_sha256": hashlib.sha256(f"gbk_{name}".encode()).hexdigest()}


@pytest.fixture(scope="module")
def owned(prepared, tmp_path_factory):
    """A server with two owners, and a session of the first."""
    folder = tmp_path_factory.mktemp("mcp_roles")
    (folder / "config.json").write_text(json.dumps({"keys": [{**key("ada"), "sessions": 2, "ttl_s": 900}, key("bob")]}))
    server = Server(folder / "state", "--config", folder / "config.json").start()
    session = Api(server.url, "gbk_ada").new(image="minimal", ttl_s=600)
    yield server, session
    session.end()
    server.stop()


SEES = {"agent": ["computer", "run_command", "read_file", "write_file", "list_files", "session_list", "session_get", "session_end"],
        "owner": ALL, "operator": ALL}


@pytest.mark.parametrize("role", SEES)
@pytest.mark.parametrize("version", [None, MODERN])
def test_a_role_sees_what_it_may_use(owned, role, version):
    server, session = owned
    token = {"owner": "gbk_ada", "operator": server.api.token}.get(role) or session.tokens[role]
    client = Client(Api(server.url, token), version)
    assert [row["name"] for row in client.post(request("tools/list")).result["tools"]] == SEES[role]
    for name in set(ALL) - set(SEES[role]):
        # As if it were not there.
        assert client.post(tool(name, {"session_id": session.id} if name != "session_create" else {})).error["code"] == -32602
    assert [row["session_id"] for row in client.call("session_list")["structuredContent"]["sessions"]] == [session.id]
    assert client.call("session_get", {"session_id": session.id})["structuredContent"]["state"] == "ready"


@pytest.mark.parametrize("role", ["viewer", "controller"])
def test_who_watches_has_no_tools(owned, role):
    """MCP is for who acts: what a person's token may do is the API's alone."""
    server, session = owned
    reply = Api(server.url, session.tokens[role]).request("POST", "/mcp", request("tools/list"))
    assert (reply.status, reply.json["code"]) == (403, "forbidden")


def test_the_page_says_the_same(owned):
    server, _ = owned
    rows = [(f"`{row['name']}`", ", ".join(role for role in SEES if row["name"] in SEES[role]), row["description"])
            for row in Client(server.api).post(request("tools/list")).result["tools"]]
    check_table("mcp", ["tool", "for", "what it does"], rows)


def test_a_stranger_to_a_session(owned):
    server, session = owned
    other = server.api.new(image="minimal")
    bob, agent = Client(Api(server.url, "gbk_bob")), Client(Api(server.url, session.tokens["agent"]))
    try:
        for name, arguments in (("computer", {}), ("run_command", {"command": "id"}), ("session_get", {}), ("session_end", {})):
            assert "not_found" in bob.fail(name, {**arguments, "session_id": session.id})
            assert "forbidden" in agent.fail(name, {**arguments, "session_id": other.id})
            missing = bob.fail(name, arguments)
            assert "missing_field at /session_id" in missing and "session_list names them, session_create makes one" in missing
        assert bob.call("session_list")["structuredContent"]["sessions"] == []
        assert session.agent.call("GET", session.path)["state"] == other.agent.call("GET", other.path)["state"] == "ready"
    finally:
        other.end()


def test_an_owner_within_its_quota(owned):
    server, session = owned
    ada = Client(Api(server.url, "gbk_ada"))
    made = ada.call("session_create", {"image": "minimal", "labels": {"job": "7"}})["structuredContent"]
    assert made["state"] == "ready" and made["labels"] == {"job": "7"}
    assert "quota_exceeded" in ada.fail("session_create", {"image": "minimal"})
    assert "forbidden at /ttl_s" in ada.fail("session_create", {"image": "minimal", "ttl_s": 901})
    wrong = ada.fail("session_create", {"image": 5, "count": 2, "ttl_s": 0})
    assert all(text in wrong for text in ("bad_field at /image", "unknown_field at /count", "bad_field at /ttl_s"))
    assert "no_image" in ada.fail("session_create", {"image": "nothing"})
    assert ada.call("session_end", {"session_id": made["session_id"]})["structuredContent"]["state"] == "ended"
    assert "session_gone" in ada.fail("computer", {"session_id": made["session_id"]})
    # A refused create is in the audit log like any other.
    lines = [json.loads(line) for line in (server.state / "front" / "audit.jsonl").read_text().splitlines()]
    assert sum(line["event"] == "create_refused" and line["owner"] == "ada" for line in lines) >= 3


def test_no_token_in_any_result(owned):
    """Whoever makes a session by MCP gets its handle alone."""
    server, session = owned
    ada = Client(Api(server.url, "gbk_ada"))
    replies = [ada.post(tool("session_create", {"image": "minimal"}))]
    id_ = replies[0].result["structuredContent"]["session_id"]
    replies += [ada.post(request("tools/list")), ada.post(tool("session_list")), ada.post(tool("session_get", {"session_id": id_})),
                ada.post(tool("computer", {"session_id": id_})), ada.post(tool("run_command", {"session_id": id_, "command": "env; cat /proc/*/environ"})),
                ada.post(tool("session_end", {"session_id": id_})), ada.post(tool("session_get", {"session_id": id_}))]
    for reply in replies:
        assert not TOKENS.search(reply.body.decode()) and b"token" not in json.dumps(reply.message.get("result", {}).get("structuredContent")).encode()
    tokens = Api(server.url, "gbk_ada").call("GET", f"/v1/sessions/{session.id}/tokens")["tokens"]
    assert len(tokens) == 3


# --- H01: many at once


def line_of(n):
    return f"{n:02}" + chr(ord("a") + n) * 196 + f"{n:02}"


def test_lines_of_parallel_clients_stay_whole(session):
    """20 clients, by MCP of both eras and by HTTP; each line in one piece, nothing held, no error of the server."""
    raw = RawTerminal(session)

    def mixed(n):
        actions = [{"action": "key_down", "keys": "shift"}, {"action": "key_up", "keys": "shift"}, {"action": "type", "text": line_of(n) + "\n"},
                   {"action": "drag", "path": [[900, 600], [950 + n, 650]], "duration_ms": 0}]
        if n % 3 == 0:
            session.act(*actions)
            session.shot()
            return
        client = Client(session.agent, MODERN) if n % 3 == 1 else Client(session.agent).begin()
        image_of(client.call("computer", {"actions": [{"action": "click", "x": 900, "y": 700 + n}], "timeout_ms": 300000}))
        client.call("computer", {"actions": actions, "look": False, "timeout_ms": 300000})
        client.call("session_get")
        client.call("run_command", {"command": "true"})

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        for done in [pool.submit(mixed, n) for n in range(20)]:
            done.result()
    lines = raw.got(20 * 201).decode().split("\r")
    assert lines.pop() == "" and sorted(lines) == [line_of(n) for n in range(20)]
    assert held(session) == {"keys": [], "buttons": []}


def test_one_too_many_is_busy(session):
    """One call runs and 32 wait; the next is told to come later, at once, and others still are answered."""
    client = Client(session.agent).begin()
    first = client.start(message := tool("computer", {"actions": [LONG], "look": False}))
    until(lambda: runs(session))
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        others = [pool.submit(client.post, tool("computer", {"actions": [{"action": "cursor_position"}], "look": False})) for _ in range(33)]
        refused = next(concurrent.futures.as_completed(others)).result()
        assert refused.result["isError"] is True and "busy" in refused.result["content"][0]["text"] and "later" in refused.result["content"][0]["text"]
        assert client.post(request("ping")).result == {}
        tell(client, first, message)
        assert sum("isError" not in other.result().result for other in others) == 32


def test_what_runs_keeps_what_it_needs(server, session):
    """A megabyte of members that mean nothing is 30 megabytes as a value: not for as long as a call runs, nor a batch."""
    junk = "[%s]" % ",".join(["1"] * 500000)
    wait = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"computer","arguments":{"actions":[{"action":"wait","duration_ms":60000}]}%s}}'
    before = resident(server)
    for text in (wait % ',"_meta":{"x":%s}' % junk, "[%s,%s]" % (wait % "", '{"jsonrpc":"2.0","method":"n","params":{"x":%s}}' % junk)):
        posts = [Client(session.agent).start(text.encode()) for _ in range(8)]
        until(lambda: runs(session))
        assert Client(session.agent).post(request("ping")).result == {}
        assert resident(server) < before + 100 * 1024 * 1024
        for post in posts:
            post.close()


def resident(server):
    """Memory of the front, in bytes."""
    return float(re.search(r"^process_resident_memory_bytes (\S+)$", server.api.request("GET", "/metrics").body.decode(), re.M)[1])


def test_batches_at_once(session):
    """Their answers are in memory until the last of them: there are few at a time, and the next is told to come later."""
    batch = [tool("computer", {"actions": [LONG], "look": False}, 1)]
    posts = [Client(session.agent).start(batch) for _ in range(8)]
    late = until(lambda: (reply := Client(session.agent).post([request("ping")])).status == 429 and reply)
    assert late.error["code"] == -31003
    for post in posts:
        post.close()
    until(lambda: Client(session.agent).post([request("ping")]).status == 200)
