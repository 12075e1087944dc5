# SPDX-License-Identifier: GPL-2.0-or-later
"""Bodies that the OpenAPI document does not allow, made from it: to each operation with a body, its example with one thing wrong. All of them are refused
with the pointer and the rule, and nothing happens."""
import copy
import json

import pytest

import contract

# Of every kind: to a field goes each of those that its schema does not allow.
VALUES = [None, True, False, -1, 1.5, "", "none of these", [], [None], {}, {"none": 1}]
LARGEST = 500_000  # characters of a string: more is refused as a body that is too large
BAD = {"bad_field", "unknown_field", "missing_field", "unknown_action", "unknown_key"}


class Wrong:
    """One wrong body. `pointer` is where it is wrong, `words` is what the detail must have in it."""

    def __init__(self, body, pointer, code=None, words=()):
        self.body = body
        self.pointer = pointer
        self.code = code
        self.words = words

    def __repr__(self):
        return f"{self.pointer} {json.dumps(self.body)[:300]}"


def replaced(body, path, value):
    """The body with a value at a path."""
    body = copy.deepcopy(body)
    at = body
    for name in path[:-1]:
        if isinstance(at, dict) and not isinstance(at.get(name), (dict, list)):
            at[name] = {}
        at = at[name]
    at[path[-1]] = value
    return body


def removed(body, path):
    body = copy.deepcopy(body)
    at = body
    for name in path[:-1]:
        at = at[name]
    del at[path[-1]]
    return body


def pointer(path):
    return "/" + "/".join(map(str, path))


def bound_values(schema):
    """Values one beyond a bound, each with the bound."""
    kind = schema.get("type")
    if kind in ("integer", "number"):
        yield from ((schema[key] + by, schema[key]) for key, by in (("minimum", -1), ("maximum", 1)) if key in schema)
    if kind == "string":
        if schema.get("minLength"):
            yield "x" * (schema["minLength"] - 1), schema["minLength"]
        if schema.get("maxLength", LARGEST) < LARGEST:
            yield "x" * (schema["maxLength"] + 1), schema["maxLength"]
    if kind == "array":
        item = {"object": {}, "array": [1, 1]}.get(schema["items"].get("type"), "x")
        if schema.get("minItems"):
            yield [item] * (schema["minItems"] - 1), schema["minItems"]
        if "maxItems" in schema:
            yield [item] * (schema["maxItems"] + 1), schema["maxItems"]
    if "maxProperties" in schema:
        yield {f"K{i}": "x" for i in range(schema["maxProperties"] + 1)}, schema["maxProperties"]


class Maker:
    def __init__(self, document):
        self.known = contract.Contract(document)

    def resolve(self, schema):
        return self.known.named(schema["$ref"]) if "$ref" in schema else schema

    def is_allowed(self, value, schema):
        return self.known.validator(schema).is_valid(value)

    def of_object(self, body, path, schema):
        """Everything wrong with the object at a path of the body (or that may be put there)."""
        yield Wrong(replaced(body, [*path, "none of these"], 1), pointer([*path, "none of these"]), "unknown_field", ["none of these"])
        at = body
        for name in path:
            at = at[name] if isinstance(at, list) else at.get(name, {}) if isinstance(at, dict) else {}
        for name in schema.get("required", []):
            if isinstance(at, dict) and name in at:
                yield Wrong(removed(body, [*path, name]), pointer([*path, name]), "missing_field", [name])
        for name, field in schema["properties"].items():
            if "const" not in field:
                yield from self.of_field(body, [*path, name], self.resolve(field))

    def of_field(self, body, path, schema):
        for value in VALUES:
            if not self.is_allowed(value, schema):
                # Of an object the rule is that of a member.
                words = [] if isinstance(value, dict) else schema.get("enum", ["must"])[:1]
                yield Wrong(replaced(body, path, value), pointer(path), None, words)
        for value, bound in bound_values(schema):
            yield Wrong(replaced(body, path, value), pointer(path), "bad_field", [f"{bound:g}" if bound < 1e6 else str(int(bound))])
        for option in (schema, *schema.get("anyOf", [])):
            if "properties" in option:
                yield from self.of_object(body, path, option)

    def of_action(self, example, schema):
        """The example of an action is the only one of its list."""
        yield from self.of_object({"actions": [example]}, ["actions", 0], schema)


@pytest.fixture(scope="module")
def document(server):
    return server.api.call("GET", "/openapi.json")


@pytest.fixture(scope="module")
def shared(server):
    session = server.api.new(image="minimal")
    yield session
    session.end()


def everything(session):
    """What a request that was not refused would change."""
    state = session.api.call("GET", session.path)
    for name in ("usage", "idle_s"):
        state.pop(name, None)
    journal = session.api.request("GET", f"{session.path}/journal").body
    return state, journal, session.api.call("GET", f"{session.path}/tokens"), session.api.call("GET", "/v1/sessions")["total"]


def assert_refused(api, method, target, cases):
    n, wrong = 0, []
    for case in cases:
        n += 1
        reply = api.request(method, target, case.body)
        problem = reply.json or {}
        faults = problem.get("errors", [problem])
        # A list with a wrong item is wrong at the item, one with too many at the list.
        here = [fault for fault in faults if (fault.get("pointer") or "").startswith(case.pointer)]
        if reply.status != 400 or not here or here[0]["code"] != (case.code or here[0]["code"]) or here[0]["code"] not in BAD or \
                not all(str(word) in here[0]["detail"] for word in case.words):
            wrong.append(f"{case}: {reply.status} {json.dumps(problem)[:400]}")
    assert not wrong, f"{len(wrong)} of {n}:\n" + "\n".join(wrong[:12])
    return n


OPERATIONS = {
    "createSession": "Spec",
    "changeSession": "SpecChange",
    "createToken": "TokenWish",
    "createTicket": "TicketWish",
    "tradeCode": "Code",
    "act": "Act",
    "changeLease": "LeaseChange",
    "createShare": "ShareWish",
    "createView": "ViewWish",
    "answerApproval": "ApprovalAnswer",
}
# Whose bodies are others' forms, which their own tests check.
FREE = {"computer", "mcp"}


def bodies(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method != "parameters" and "application/json" in operation.get("requestBody", {}).get("content", {}):
                yield method.upper(), path, operation, operation["requestBody"]["content"]["application/json"]


def test_all_bodies_are_tried(document):
    assert {operation["operationId"] for _, _, operation, _ in bodies(document)} == OPERATIONS.keys() | FREE


@pytest.mark.parametrize("name", OPERATIONS)
def test_wrong_bodies(document, shared, name):
    maker = Maker(document)
    before = everything(shared)
    for method, path, operation, content in bodies(document):
        if operation["operationId"] != name:
            continue
        schema = maker.resolve(content["schema"])
        assert content["schema"] == {"$ref": contract.PREFIX + OPERATIONS[name]}
        target = path.replace("{id}", shared.id).replace("{approval}", f"{shared.id}.1")
        assert assert_refused(shared.api, method, target, maker.of_object(content["example"], [], schema)) > 5
    assert everything(shared) == before


def actions(document):
    return {schema["properties"]["action"]["const"]: schema for schema in document["components"]["schemas"].values() if "x-result" in schema}


def test_wrong_actions(document, shared):
    maker = Maker(document)
    before = everything(shared)
    n = 0
    for schema in actions(maker.known.strict).values():
        n += assert_refused(shared.api, "POST", f"{shared.path}/act", maker.of_action(schema["examples"][0], schema))
    assert n > 500
    assert everything(shared) == before


def test_bounds_are_allowed(document, shared):
    """What stands at a bound is not refused for it."""
    maker = Maker(document)
    n = 0
    for name, schema in actions(maker.known.strict).items():
        for field, rule in schema["properties"].items():
            for bound in {rule[key] for key in ("minimum", "maximum") if key in rule}:
                body = {"actions": [{**schema["examples"][0], field: bound}], "check_only": True}
                reply = shared.agent.request("POST", f"{shared.path}/act", body)
                faults = (reply.json or {}).get("errors", [reply.json or {}])
                assert not [fault for fault in faults if fault.get("pointer") == f"/actions/0/{field}" and "from" in fault["detail"]], (
                    name, field, bound, reply.json)
                n += 1
    assert n > 40
