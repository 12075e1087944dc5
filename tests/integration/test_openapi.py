# SPDX-License-Identifier: GPL-2.0-or-later
"""The OpenAPI document: checked by two linters, complete, and every example in it run. (That replies are as it says is checked with every reply of
every test, by contract.py.)"""
import json
import pathlib
import sys

import pytest

import contract
from conftest import until
from raw import Wire, head
from websocket import open_view

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import npm  # noqa: E402

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def document(server):
    return server.api.call("GET", "/openapi.json")


def operations(document):
    """(method, path, operation), in the order of the document."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def test_it_is_served_once(server, session):
    reply = server.api.request("GET", "/openapi.json")
    assert reply.status == 200 and reply.headers["Content-Type"] == "application/json"
    assert len(reply.body) < 400_000
    tag = reply.headers["ETag"]
    for known in (tag, f'"x", {tag}', f"W/{tag}", "*"):
        again = server.api.request("GET", "/openapi.json", headers={"If-None-Match": known})
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
    assert server.api.request("GET", "/openapi.json", headers={"If-None-Match": '"x"'}).body == reply.body
    assert session.agent.call("GET", "/openapi.json") == reply.json
    assert server.api.call("GET", "/v1")["openapi"] == "/openapi.json"


def test_redocly_finds_nothing(document, tmp_path):
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    done = npm.run("redocly", "lint", "--config", TESTS / "openapi" / "redocly.yaml", "--format", "json", tmp_path / "openapi.json")
    found = json.loads(done.stdout)
    assert found["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}, json.dumps(found["problems"][:5], indent=1)


def test_spectral_finds_nothing(document, tmp_path):
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    done = npm.run("spectral", "lint", "--ruleset", TESTS / "openapi" / "spectral.yaml", "--fail-severity", "hint", "--format", "json", "--quiet",
                   tmp_path / "openapi.json")
    assert (done.returncode, json.loads(done.stdout)) == (0, []), done.stdout + done.stderr


def test_all_routes_are_in_it(server, document):
    routes = {(row["method"], row["path"]) for row in server.api.call("GET", "/v1")["routes"]}
    assert {(method, path) for method, path, _ in operations(document)} == routes


def test_examples_of_replies(document):
    """Each is as its schema says, with no member that it does not have."""
    known = contract.Contract(document)
    faults, n = [], 0
    for method, path, operation in operations(known.strict):
        for status in operation["responses"]:
            for content in known.reply(operation, status).get("content", {}).values():
                if "example" in content and content["schema"].get("type") != "string":
                    n += 1
                    faults += [f"{operation['operationId']} {status}{fault}" for fault in known.faults(content["example"], content["schema"])]
                elif content.get("schema", {}).get("contentMediaType") == "text/event-stream":
                    n += 1
                    fields = dict(line.split(": ", 1) for line in content["example"].strip().splitlines())
                    faults += known.event_faults(method, path, fields["event"], json.loads(fields["data"]))
    assert faults == []
    assert n > 15


# --- the examples of requests, against real sessions

FAKE_SESSION, FAKE_TOKEN, FAKE_CODE, FAKE_MCP = "s4v6kq2mzx7hw3pd", "t8f2c41d", "ABCD-2345", "0f6c1d2e3b4a59687f8e9dacbb0a1928"
# What ends a session is asked for last.
LATE = ["deleteFile", "deleteSecret", "answerApproval", "revokeShare", "changeLease", "pauseSession", "resumeSession", "revokeToken", "endSession", "deleteJournal"]
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
              "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}}
MCP_ACCEPT = {"Accept": "application/json, text/event-stream"}


class Example:
    """The names in examples stand for those of a session of the test."""

    def __init__(self, session):
        made = session.api.call("POST", f"{session.path}/tokens", {"role": "viewer"})
        ticket = session.api.call("POST", f"{session.path}/tickets", {"role": "agent"})
        begun = session.api.request("POST", "/mcp", INITIALIZE, headers=MCP_ACCEPT)
        self.view, opened = open_view(session.api, session)
        share = session.api.call("POST", f"{session.path}/shares", {"role": "viewer"})
        self.path = {"id": session.id, "token": made["id"], "viewer": opened["viewer"], "share": share["id"], "file": "main.js", "path": "home/user/notes.txt", "approval": f"{session.id}.1"}
        self.names = {FAKE_SESSION: session.id, FAKE_TOKEN: made["id"], FAKE_CODE: ticket["ticket"], FAKE_MCP: begun.headers["Mcp-Session-Id"]}

    def real(self, value):
        text = value if isinstance(value, str) else json.dumps(value)
        for fake, name in self.names.items():
            text = text.replace(fake, name)
        return text


def resolved(document, parameters):
    for parameter in parameters:
        if "$ref" in parameter:
            parameter = contract.Resolver(document).resolve(parameter["$ref"])[1]
        yield parameter


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value)


def request_of(document, path, operation, example):
    """Path with query, headers and body, as the examples are."""
    query, headers = [], dict(MCP_ACCEPT if path == "/mcp" else {})
    for parameter in resolved(document, operation.get("parameters", [])):
        if parameter["in"] == "query" and "example" in parameter:
            value = parameter["example"]
            named = value if isinstance(value, dict) else {parameter["name"]: value}
            query += [f"{name}={example.real(text_of(member))}" for name, member in named.items()]
        elif parameter["in"] == "header":
            # A key is good for one request.
            own = f"-{operation['operationId']}" if parameter["name"] == "Idempotency-Key" else ""
            headers[parameter["name"]] = example.real(parameter["example"]) + own
    for name, value in example.path.items():
        path = path.replace(f"{{{name}}}", value)
    path = path.replace("{secret}", "shop")
    content = operation.get("requestBody", {}).get("content", {})
    if "application/octet-stream" in content:
        return path + "?" + "&".join(query), {**headers, "Content-Type": "application/octet-stream"}, b"a value"
    body = content.get("application/json", {}).get("example")
    return path + ("?" + "&".join(query) if query else ""), headers, body and example.real(body)


def is_stream(operation):
    return list(operation["responses"].get("200", {}).get("content", {})) == ["text/event-stream"]


def first_event(api, target, headers):
    """The status of a stream and the text of its first event."""
    with Wire(api.address, timeout_s=30) as wire:
        wire.send(head(api, target=target, **headers))
        answer = wire.answer(has_body=False)
        text = b""
        while answer.status == 200 and not (b"data: " in text and text.endswith(b"\n\n")):
            size = int(wire.take_line(), 16)
            assert size, text
            text += wire.take(size)
            wire.take_line()
        return answer.status, text.decode()


def test_examples_of_requests(server, make_session, document):
    session = make_session("desktop", apps=["firefox"], approval={"rules": [{"verdict": "ask", "actions": ["mouse_up"]}]})
    assert session.agent.request("POST", f"{session.path}/act", {"actions": [{"action": "mouse_up"}], "timeout_ms": 1}).json["code"] == "approval_pending"
    for x in range(3):  # the stream of events is asked for what comes behind the seventh
        session.do("move", x=x, y=3)
    example = Example(session)
    # A view that answers no ping is closed: it is ended first of all. And a file is written before it is read.
    order = ["endView", "putFile", None, *LATE]
    known = sorted(operations(document), key=lambda row: order.index(row[2]["operationId"] if row[2]["operationId"] in order else None))
    assert {operation["operationId"] for _, _, operation in known} >= set(LATE)
    for method, path, operation in known:
        target, headers, body = request_of(document, path, operation, example)
        if "101" in operation["responses"]:
            continue  # open_view has upgraded
        if is_stream(operation):
            status, text = first_event(server.api, target, headers)
            assert status == 200 and "event: " in text, (operation["operationId"], text)
            continue
        reply = server.api.request(method, target, body, headers=headers)
        assert str(reply.status) in operation["responses"] and reply.status < 300, (operation["operationId"], reply.status, reply.body[:500])
        if operation["operationId"] == "createSession":
            server.api.call("DELETE", f"/v1/sessions/{reply.json['id']}")


def action_examples(document):
    for name, schema in document["components"]["schemas"].items():
        if "x-result" in schema:
            assert schema.get("examples"), f"{name} has no example"
            yield from schema["examples"]


def node_for(session, action, window):
    """A node that the action can be done to: a button of Firefox that leaves it there, as that of its tab would not; the text of an editor."""
    role, name = "push button", "Reload"
    if action == "set_node":
        window, role, name = session.do("launch", app="editor")["window"], "text", None

    def found():
        told = session.do("tree", window=window)["nodes"]
        return [node["id"] for node in told if (node["role"], node.get("name")) == (role, name) and "disabled" not in node.get("states", [])]
    return until(found)[0]


def test_examples_of_actions(make_session, document):
    """Each is done, in a desktop with Firefox; ids of windows stand for that of its window, ids of nodes for those of some there. What they answer is checked with every reply."""
    session = make_session("desktop", apps=["firefox"])
    window = session.answer["apps"][0]["window"]
    # What is maximized cannot be moved, what is closed cannot be anything.
    order = ["resize_window", "move_window", "close_window"]
    examples = sorted(action_examples(document), key=lambda action: order.index(action["action"]) if action["action"] in order else -1)
    assert len(examples) > 20
    for action in examples:
        if action["action"] == "type_secret":
            continue  # needs a secret and a page for it: test_secrets.py
        if "window" in action:
            action = {**action, "window": window}
        if "node" in action:
            action = {**action, "node": node_for(session, action["action"], window)}
        if action["action"] == "launch":
            action = {**action, "app": "editor"}
        name = action.pop("action")
        assert session.do(name, **action)["ok"]
        if name == "request_human":
            session.look()


# --- the check itself

def show(document):
    return document["paths"]["/v1/sessions/{id}"]["get"]["responses"]


def without_member(document):
    del document["components"]["schemas"]["Session"]["properties"]["owner"]


def with_member(document):
    document["components"]["schemas"]["Session"]["required"].append("owners")


def other_type(document):
    document["components"]["schemas"]["Size"]["properties"]["width"] = {"type": "string"}


def other_word(document):
    document["components"]["schemas"]["Session"]["properties"]["state"]["enum"].remove("ready")


def without_status(document):
    del show(document)["200"]


def other_media(document):
    show(document)["200"]["content"] = {"text/plain": {}}


def without_header(document):
    del show(document)["200"]["headers"]["X-Request-Id"]


def with_header(document):
    show(document)["200"]["headers"]["Allow"] = {"$ref": "#/components/headers/Allow"}


@pytest.mark.parametrize("change, fault", [
    (without_member, "'owner' was unexpected"),
    (with_member, "'owners' is a required property"),
    (other_type, "/space/width: 1280 is not of type 'string'"),
    (other_word, "/state: 'ready' is not one of"),
    (without_status, "the status 200 is not in the document"),
    (other_media, "the type 'application/json' is not in the document"),
    (without_header, "the header x-request-id is not in the document"),
    (with_header, "the header allow is missing"),
], ids=lambda value: getattr(value, "__name__", None))
def test_a_reply_that_is_not_as_the_document_says(session, document, change, fault):
    wrong = json.loads(json.dumps(document))
    change(wrong)
    reply = session.api.request("GET", session.path)
    assert list(contract.Contract(document).reply_faults("GET", session.path, None, reply)) == []
    assert fault in "\n".join(contract.Contract(wrong).reply_faults("GET", session.path, None, reply))


def test_a_problem_a_result_and_an_event_that_are_not_as_the_document_says(session, document):
    wrong = json.loads(json.dumps(document))
    refusal = contract.Contract(wrong).find("POST", f"{session.path}/act")["responses"]["400"]["$ref"].rpartition("/")[2]
    wrong["components"]["responses"][refusal]["content"][contract.PROBLEM]["schema"]["properties"]["code"]["enum"].remove("missing_field")
    wrong["components"]["schemas"]["ExecResult"]["properties"].pop("stdout")
    wrong["components"]["schemas"]["StreamEnd"]["properties"].pop("reason")
    known, target = contract.Contract(wrong), f"{session.path}/act"
    assert "'missing_field' is not one of" in next(known.reply_faults("POST", target, {}, session.agent.request("POST", target, {})))
    body = {"actions": [{"action": "exec", "argv": ["true"]}]}
    assert "/results/0/: " in next(known.reply_faults("POST", target, body, session.agent.request("POST", target, body)))
    wrong["components"]["schemas"]["ExecAction"]["properties"]["argv"]["maxItems"] = 0
    assert "sent /actions/0/argv" in next(contract.Contract(wrong).reply_faults("POST", target, body, session.agent.request("POST", target, body)))
    assert "'reason' was unexpected" in next(known.event_faults("GET", f"{session.path}/stream", "end", {"state": "ended", "reason": "deleted"}))
    assert "not in the document" in next(known.event_faults("GET", f"{session.path}/stream", "begin", {}))
