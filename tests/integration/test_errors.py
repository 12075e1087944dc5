# SPDX-License-Identifier: GPL-2.0-or-later
"""Refusals: each code provoked through the API, the shape of the problem object, and a fault of every kind in every field of every schema."""
import itertools
import json
import re

import pytest

from api import Api, Refused, in_thread
from conftest import until
from raw import ask, head, post

PROBLEM = "application/problem+json"
FIXES = {"caller", "later", "human", "operator", "nobody"}
# What a caller must never be told: paths of the host, numbers of users, texts of errno.
INSIDE = re.compile(r"/var/lib|/work|/tmp/|/proc/|/sys/|\buid\b|errno|No such file|Permission denied|Operation not", re.I)


def check_problem(problem):
    """The members that every problem object has, and none that it has no right to."""
    assert problem["type"] == f"urn:glovebox:error:{problem['code']}"
    assert problem["title"] and 0 < len(problem["detail"].encode()) < 320 and problem["fix"] in FIXES
    assert not INSIDE.search(problem["detail"]), problem
    assert ("retry_after_ms" in problem) == (problem["fix"] == "later"), problem
    assert not ("pointer" in problem and "offset" in problem)
    assert ("line" in problem) == ("column" in problem) == ("offset" in problem)
    if "pointer" in problem:
        assert problem["pointer"].startswith("/")
    if "errors" in problem:
        assert 2 <= len(problem["errors"]) <= 16
        assert {key: problem.get(key) for key in ("pointer", "code", "detail")} == {
            key: problem["errors"][0].get(key) for key in ("pointer", "code", "detail")}
    known = {"type", "title", "status", "detail", "code", "pointer", "offset", "line", "column", "errors", "fix", "retry_after_ms", "request_id"}
    assert set(problem) <= known, problem


def check_reply(reply):
    """A refusal as a whole: the object, and what the headers say of it."""
    problem = reply.json
    assert reply.headers["Content-Type"] == PROBLEM, reply.body
    check_problem(problem)
    assert problem["status"] == reply.status
    assert problem["request_id"] == reply.headers["X-Request-Id"]
    assert ("Retry-After" in reply.headers) == (problem["fix"] == "later"), problem
    assert ("Allow" in reply.headers) == (reply.status == 405)
    assert ("WWW-Authenticate" in reply.headers) == (reply.status == 401)
    return problem


# --- each code ---


def send(api, method, path, body=None, **headers):
    return api.request(method, path, body, headers=headers)


def act(session, *actions, headers=None, **options):
    return session.agent.request("POST", f"{session.path}/act", {"actions": list(actions), **options}, headers=headers)


def raw(api, data):
    answer = ask(api, data)
    answer.headers = {"-".join(word.capitalize() for word in name.split("-")): value for name, value in answer.headers.items()}
    return answer


def busy(session):
    """More calls wait for their turn than may."""
    calls = [in_thread(session.try_act, {"action": "wait", "duration_ms": 60000}) for _ in range(40)]
    try:
        return until(lambda: (reply := act(session, {"action": "wait", "duration_ms": 1}, timeout_ms=1)).status == 429 and reply)
    finally:
        # Each cancel stops the one that runs.
        until(lambda: session.agent.call("POST", f"{session.path}/cancel") and not any(thread.is_alive() for thread, _ in calls), every_s=0)


def gone(server):
    session = server.api.new(image="minimal")
    session.end()
    return act(session)


def paused(server, session):
    server.api.call("POST", f"{session.path}/pause")
    try:
        return act(session, {"action": "wait", "duration_ms": 1})
    finally:
        server.api.call("POST", f"{session.path}/resume")


KEY = {"Idempotency-Key": "errors-1"}


def reused(session):
    assert act(session, headers=KEY).status == 200
    return act(session, {"action": "cursor_position"}, headers=KEY)


def unconfirmed(server):
    """In a session that asks nobody."""
    session = server.api.new(image="minimal", approval={"mode": "never"})
    call = {"type": "computer_call", "call_id": "1", "actions": [{"type": "wait"}], "pending_safety_checks": [{"id": "2"}]}
    reply = send(session.agent, "POST", f"{session.path}/computer", call)
    session.end()
    return reply


# Whole requests that are refused.
REFUSED = {
    "bad_json": lambda server, session: send(session.agent, "POST", f"{session.path}/act", "{"),
    "bad_field": lambda server, session: act(session, {"action": "wait", "duration_ms": "1"}),
    "unknown_field": lambda server, session: act(session, {"action": "wait", "duration_ms": 1, "hours": 1}),
    "missing_field": lambda server, session: act(session, {"action": "wait"}),
    "unknown_action": lambda server, session: act(session, {"action": "left_click"}),
    "unknown_key": lambda server, session: act(session, {"action": "key", "keys": "ctrl+nokey"}),
    "bad_request": lambda server, session: send(server.api, "GET", "/v1", "{}"),
    "unauthorized": lambda server, session: send(Api(server.url, "nobody"), "GET", "/v1"),
    "forbidden": lambda server, session: send(session.agent, "POST", "/v1/sessions", {}),
    "bad_origin": lambda server, session: send(server.api, "GET", "/v1", Origin="https://example.com"),
    "not_found": lambda server, session: send(server.api, "GET", "/v2"),
    "method_not_allowed": lambda server, session: send(server.api, "PUT", "/v1", "{}"),
    "too_large": lambda server, session: send(server.api, "POST", "/v1/sessions", " " * (1024 * 1024 + 1)),
    "unsupported_media_type": lambda server, session: raw(server.api, post(server.api, "/v1/sessions", "{}", content_type="text/plain")),
    "misdirected": lambda server, session: raw(server.api, head(server.api, host="example.com")),
    "upgrade_required": lambda server, session: raw(server.api, head(server.api, target=f"{session.path}/rfb")),
    "unsupported": lambda server, session: send(server.api, "POST", "/v1/sessions", {"display": {"gl": True}}),
    "key_reused": lambda server, session: reused(session),
    "tier_unavailable": lambda server, session: send(server.api, "POST", "/v1/sessions", {"isolation": "vm"}),
    "no_image": lambda server, session: send(server.api, "POST", "/v1/sessions", {"image": "nothing"}),
    "not_acceptable": lambda server, session: send(server.api, "POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, Accept="text/html"),
    "busy": lambda server, session: busy(session),
    "session_gone": lambda server, session: gone(server),
    "paused": paused,
    "display_max": lambda server, session: act(session, {"action": "resize_display", "width": 4096, "height": 600}),
    "confirmation_required": lambda server, session: unconfirmed(server),
}

# Actions that fail once the list was begun.
FAILED = {
    "timeout": lambda session: session.try_act({"action": "wait", "duration_ms": 1000}, timeout_ms=50),
    "no_window": lambda session: session.try_act({"action": "focus_window", "window": 4194304}),
}

# What other tests provoke, since it takes long or a broken session; and what no request can.
ELSEWHERE = {
    "request_timeout": "test_http.py: 30 s",
    "conflict": "test_api.py, test_apps.py",
    "not_ready": "test_api.py: a session that starts",
    "cancelled": "test_api.py, test_order.py",
    "limit_reached": "test_api.py: as many sessions as may be",
    "quota_exceeded": "test_config.py: a key with a quota",
    "session_failed": "test_jail.py: a display that does not start",
    "display_silent": "tests/x/test_stage_ends.c: a stopped X server",
    "already_done": "tests/unit: needs 1,024 keys",
    "stale_episode": "tests/unit/test_guard.c: there is one episode so far", "stale_epoch": "tests/unit/test_guard.c: and one epoch",
    "stale_target": "test_parallel.py: a click where the screen has changed",
    "viewer_limit": "test_view.py: sixteen watch",
    "lease_held": "test_lease.py: a person holds the controls", "lease_lost": "test_lease.py", "must_observe": "test_lease.py",
    "denied": "test_approvals.py", "approval_pending": "test_approvals.py", "waiting_for_approval": "test_approvals.py", "sensitive_field": "test_sensitive.py",
    "bad_range": "test_files.py", "disk_full": "test_files.py", "setup_failed": "test_setup.py",
    "journal_full": "needs a full disk or a gigabyte",
    "secret_refused": "test_secrets.py: a field that the secret is not for",
    "internal": "a fault of the server", "input_failed": "a fault of the X server",
}


def test_every_code_is_provoked_or_named(server):
    codes = {row["code"] for row in server.api.call("GET", "/v1")["errors"]}
    assert codes == set(REFUSED) | set(FAILED) | set(ELSEWHERE)
    assert not set(REFUSED) & set(FAILED) and not (set(REFUSED) | set(FAILED)) & set(ELSEWHERE)


def test_every_refusal_has_the_same_shape(server, session):
    rows = {row["code"]: row for row in server.api.call("GET", "/v1")["errors"]}
    for code, provoke in REFUSED.items():
        reply = provoke(server, session)
        assert reply.status >= 400, (code, reply.status)
        problem = check_reply(reply)
        assert problem["code"] == code, problem
        row = rows[code]
        assert (problem["status"], problem["fix"], problem["title"]) == (row["status"], row["fix"], row["title"])


def test_every_failure_of_an_action_has_the_same_shape(session):
    for code, provoke in FAILED.items():
        answer = provoke(session)
        assert answer["ok"] is False and answer["done"] == 0, answer
        problem = answer["results"][0]["error"]
        check_problem(problem)
        assert problem["code"] == code, problem
        assert problem["pointer"].startswith("/actions/0"), problem


# --- each field ---

VALUES = {"null": None, "boolean": True, "integer": 7, "number": 1.5, "string": "x", "array": [], "object": {}}


def types_of(schema):
    """The JSON types that a schema takes; all of them when it does not say."""
    if "const" in schema:
        return set()
    types = {part["type"] for part in [schema, *schema.get("anyOf", [])] if "type" in part}
    return types | ({"integer"} if "number" in types else set()) if types else set(VALUES)


def wrong_values(schema):
    """Values that break one rule of a schema, which they are of the right type for."""
    if "enum" in schema:
        yield from ("", "no-such-choice", f"{schema['enum'][0]} ")
    if schema.get("type") in ("integer", "number"):
        if "minimum" in schema:
            yield schema["minimum"] - 1
        # A coordinate's bound is not in the schema: it is that of the session.
        yield schema.get("maximum", 1000000) + 1
    if schema.get("type") == "integer":
        yield 1.0
    if schema.get("type") == "string" and "enum" not in schema:
        if schema.get("minLength", 0) > 0:
            yield "x" * (schema["minLength"] - 1)
        if schema.get("maxLength", 0) < 500000:
            yield "x" * (schema["maxLength"] + 1)
        yield "nul\0"
    if schema.get("type") == "array":
        item = good_value(schema["items"])
        if schema.get("minItems", 0) > 0:
            yield [item] * (schema["minItems"] - 1)
        yield [item] * (schema["maxItems"] + 1)
    if "maxProperties" in schema:
        yield {f"k{i}": "" for i in range(schema["maxProperties"] + 1)}


def good_value(schema):
    """The least value that a schema takes."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return good_value(schema["anyOf"][0])
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    if kind == "string":
        return "x" * max(1, schema.get("minLength", 0))
    if kind == "array":
        return [good_value(schema["items"])] * schema.get("minItems", 0)
    if kind == "object":
        return {name: good_value(schema["properties"][name]) for name in schema.get("required", [])}
    return False


def faults(schema, path=""):
    """(object, pointer, code): the least object with one fault, for every fault of every field of an object's schema."""
    fields = schema["properties"]
    good = good_value(schema) | {name: field["const"] for name, field in fields.items() if "const" in field}
    yield {**good, "no_such_field": 1}, f"{path}/no_such_field", "unknown_field"
    for name in schema.get("required", []):
        yield {key: value for key, value in good.items() if key != name}, f"{path}/{name}", "missing_field"
    for name, field in fields.items():
        here = f"{path}/{name}"
        for kind in set(VALUES) - types_of(field) - ({"string"} if "const" in field else set()):
            yield {**good, name: VALUES[kind]}, here, "bad_field"
        for value in wrong_values(field):
            yield {**good, name: value}, here, "bad_field"
        for part in [field, *field.get("anyOf", [])]:
            if "properties" in part:
                yield from (({**good, name: value}, pointer, code) for value, pointer, code in faults(part, here))


def shown(value):
    return json.dumps(value)[:200]


def test_every_fault_of_every_action(server, session):
    """Each is refused with its pointer, and nothing happens."""
    document = server.api.call("GET", "/v1/actions")
    before = session.agent.call("GET", session.path)["at"]
    journal = server.state / "journals" / session.id / "journal.jsonl"
    lines = journal.read_text()
    n = 0
    for action in document["actions"]:
        for body, pointer, code in faults(action["schema"]):
            # The second action is at fault, so that the first would have run.
            reply = act(session, {"action": "wait", "duration_ms": 0}, body)
            assert reply.status == 400, (action["name"], shown(body), reply.body)
            problem = check_reply(reply)
            assert (problem["code"], problem["pointer"]) == (code, f"/actions/1{pointer}"), (shown(body), problem)
            n += 1
    assert n > 300
    assert journal.read_text() == lines
    assert session.agent.call("GET", session.path)["at"] == before


def test_every_fault_of_an_act(server, session):
    for body, pointer, code in faults(server.api.call("GET", "/v1/actions")["act"]):
        reply = session.agent.request("POST", f"{session.path}/act", body)
        assert reply.status == 400, (shown(body), reply.body)
        problem = check_reply(reply)
        assert (problem["code"], problem["pointer"]) == (code, pointer), (shown(body), problem)


def test_every_fault_of_a_spec(server):
    before = [session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]]
    for body, pointer, code in faults(server.api.call("GET", "/v1")["spec"]):
        reply = server.api.request("POST", "/v1/sessions", body)
        assert reply.status == 400, (shown(body), reply.body)
        problem = check_reply(reply)
        assert (problem["code"], problem["pointer"]) == (code, pointer), (shown(body), problem)
    assert [session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]] == before


def test_all_faults_of_a_body_are_listed(server, session):
    problem = check_reply(act(session, {"action": "click", "x": -1, "y": "0", "z": 1}, {"action": "wait"}, timeout_ms=0))
    assert [(fault["pointer"], fault["code"]) for fault in problem["errors"]] == [
        ("/timeout_ms", "bad_field"), ("/actions/0/x", "bad_field"), ("/actions/0/y", "bad_field"), ("/actions/0/z", "unknown_field"),
        ("/actions/1/duration_ms", "missing_field")]
    problem = check_reply(server.api.request("POST", "/v1/sessions", {"image": 1, "display": {"width": 1, "depth": 24}, "ttl_s": 0}))
    assert [fault["pointer"] for fault in problem["errors"]] == ["/image", "/display/width", "/display/depth", "/ttl_s"]
    problem = check_reply(server.api.request("POST", "/v1/sessions", {"count": 0, "image": 1, "ttl": 1}))
    assert [fault["pointer"] for fault in problem["errors"]] == ["/count", "/image", "/ttl"]
    problem = check_reply(server.api.request("PATCH", session.path, {"labels": {"a": 5}, "image": "x", "ttl_s": 0, "ttl": 1}))
    assert sorted(fault["pointer"] for fault in problem["errors"]) == ["/image", "/labels/a", "/ttl", "/ttl_s"]
    problem = check_reply(act(session, *[{"action": "wait"}] * 40))
    assert [fault["pointer"] for fault in problem["errors"]] == [f"/actions/{i}/duration_ms" for i in range(16)]


# --- faults of form ---

DEEP = "[" * 33
FORM = [
    (b'{\n "actions": [\n  {"action": wait}\n ]\n}', b"wait}"),
    (b'{\n "actions": [],\n "actions": []\n}', None),
    (b'{\n "actions": [],\n "x": "\xff"\n}', b"\xff"),
    (b'{\n "actions": [],\r\n\t"x": 1,\n}', b"}"),
    (b'{"a":\n\n' + DEEP.encode() + b"]" * 33 + b"}", None),
]


def test_faults_of_form_have_their_place(server, session):
    """In the front and in a stage alike; line and column are those of the offset."""
    for (body, at), path in itertools.product(FORM, (f"{session.path}/act", "/v1/sessions")):
        reply = server.api.request("POST", path, body)
        assert reply.status == 400
        problem = check_reply(reply)
        assert problem["code"] == "bad_json"
        offset = problem["offset"]
        assert 0 < offset <= len(body)
        before = body[:offset]
        assert problem["line"] == before.count(b"\n") + 1
        assert problem["column"] == len(before.rsplit(b"\n", 1)[-1].decode()) + 1
        if at:
            assert offset == body.rindex(at), (offset, body.rindex(at), problem)


def test_no_token_is_told_back(server, session):
    for token in ("secret-token-1", f"{session.tokens['agent'][:-1]}x"):
        for path in ("/v1", session.path, f"{session.path}/screenshot"):
            reply = Api(server.url, token).request("GET", path)
            check_reply(reply)
            assert token not in reply.body.decode() and token not in str(reply.headers)
    with pytest.raises(Refused):
        Api(server.url, "x").call("GET", "/v1")
