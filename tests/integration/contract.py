# SPDX-License-Identifier: GPL-2.0-or-later
"""The OpenAPI document, held against every reply that the tests get: api.py, raw.py and stream.py hand them in, and a test that got one with anything
that the document does not say fails when it ends.

Replies may grow, so the document leaves their objects open; here they are closed: a member without a row is a fault. What an action says is held
against that action's result, each event and line against the one of its name. A body that was taken must be one that the document allows.
"""
import copy
import datetime
import functools
import json
import re
import urllib.parse

import jsonschema

PREFIX = "#/components/schemas/"
# In replies of every kind, by HTTP or for browsers.
COMMON = {"date", "connection", "content-length", "content-type", "transfer-encoding", "x-content-type-options", "referrer-policy", "cache-control",
          "cross-origin-resource-policy", "cross-origin-opener-policy", "content-security-policy"}
PROBLEM = "application/problem+json"
SHOWN = 300  # characters of a value in a message


class Resolver:
    """References into the document's components, which is where all of them go."""

    def __init__(self, document):
        self.document = document

    @functools.lru_cache(maxsize=None)
    def resolve(self, reference):
        value = self.document
        for name in reference.removeprefix("#/").split("/"):
            value = value[name]
        return reference, value

    def push_scope(self, scope):
        pass

    def pop_scope(self):
        pass


def is_time(text):
    return not isinstance(text, str) or bool(datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


FORMATS = jsonschema.FormatChecker(formats=())
FORMATS.checks("date-time", raises=ValueError)(is_time)


def closed(document):
    """A copy whose replies may have no other members than those that are named."""
    document = copy.deepcopy(document)
    for schema in document["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return document


def pattern_of(path):
    """What a path of the document matches: a segment for each name, and all that is left for {path} and {file}."""
    text = re.escape(path).replace(r"\{", "{").replace(r"\}", "}").replace("{path}", ".*").replace("{file}", ".*")
    return re.compile(re.sub(r"\{[^}]*\}", "[^/]*", text) + "$")


class Contract:
    def __init__(self, document):
        self.document = document
        self.strict = closed(document)
        self.resolver = Resolver(self.strict)
        self.paths = [(pattern_of(path), path) for path in document["paths"]]
        self.action_of = {schema["properties"]["action"]["const"]: schema
                          for schema in self.strict["components"]["schemas"].values() if "x-result" in schema}
        self.validators = {}

    def validator(self, schema):
        """Compiled once; `schema` is a part of the strict document, or of what was made of it for good."""
        if id(schema) not in self.validators:
            self.validators[id(schema)] = schema, jsonschema.Draft202012Validator(schema, resolver=self.resolver, format_checker=FORMATS)
        return self.validators[id(schema)][1]

    def named(self, reference):
        return self.resolver.resolve(reference if reference.startswith("#") else PREFIX + reference)[1]

    def faults(self, value, schema, where=""):
        for error in self.validator(schema).iter_errors(value):
            while error.context:
                error = min(error.context, key=lambda other: -len(other.absolute_path))
            yield f"{where}/{'/'.join(map(str, error.absolute_path))}: {error.message[:SHOWN]}"

    def find(self, method, target):
        """The operation of a request, or None."""
        path = urllib.parse.urlsplit(target).path
        method = "get" if method == "HEAD" else method.lower()
        for pattern, template in self.paths:
            if pattern.match(path) and method in self.strict["paths"][template]:
                return self.strict["paths"][template][method]
        return None

    # --- bodies

    def request_faults(self, operation, request):
        """What was taken: the document may not call it wrong. Each action is held against its own schema."""
        if "application/json" not in operation["requestBody"]["content"]:
            return
        if isinstance(request, (str, bytes)):
            request = json.loads(request)
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        if schema == {"$ref": PREFIX + "Act"}:
            for i, action in enumerate(request["actions"]):
                yield from self.faults(action, self.action_of[action["action"]], f"sent /actions/{i}")
            request = {**request, "actions": []}
        yield from self.faults(request, schema, "sent ")

    def problem_faults(self, problem, schema=None):
        return self.faults(problem, schema or self.named("Problem"))

    def act_faults(self, reply, request):
        """An act's reply: each result by its action, the rest as one."""
        yield from self.faults({**reply, "results": []}, self.named("ActReply"))
        actions = request.get("actions", [])
        if len(reply["results"]) > len(actions):
            yield "/results: more than there were actions"
        for i, (action, result) in enumerate(zip(actions, reply["results"])):
            yield from self.faults(result, self.named(self.action_of[action["action"]]["x-result"]), f"/results/{i}")

    def line_faults(self, schema, line):
        """A line by the name of its event."""
        for option in schema["anyOf"]:
            if line.get("event") in self.named(option["$ref"])["properties"]["event"]["enum"]:
                yield from self.faults(line, self.named(option["$ref"]))
                return
        yield f"no line of a journal: {str(line)[:SHOWN]}"

    def body_faults(self, content, operation, request, body):
        schema = content.get("schema")
        if "contentSchema" in (schema or {}) and schema["contentMediaType"] == "application/x-ndjson":
            for line in body.decode().splitlines():
                yield from self.line_faults(schema["contentSchema"], json.loads(line))
        elif schema == {"$ref": PREFIX + "ActReply"} and isinstance(request, dict):
            yield from self.act_faults(json.loads(body), request)
        elif schema and schema.get("type") != "string":
            yield from self.faults(json.loads(body), schema)

    # --- replies

    def reply(self, operation, status):
        """What the document says of a status of an operation, or None."""
        said = operation["responses"].get(str(status))
        return self.resolver.resolve(said["$ref"])[1] if said and "$ref" in said else said

    def header_faults(self, documented, headers):
        said = {name.lower() for name in headers}
        known = {name.lower(): self.resolver.resolve(header["$ref"])[1] for name, header in documented.items()}
        yield from (f"the header {name} is not in the document" for name in sorted(said - known.keys() - COMMON))
        yield from (f"the header {name} is missing" for name in sorted(known.keys() - said) if known[name].get("required"))

    def reply_faults(self, method, target, request, reply):
        operation = self.find(method, target)
        kind = (reply.headers.get("Content-Type") or "").lower()
        if operation is None:
            # Nothing is there, or not by this method: a problem in any case.
            yield from self.problem_faults(json.loads(reply.body)) if reply.body else ()
            return
        said = self.reply(operation, reply.status)
        if said is None:
            yield f"the status {reply.status} is not in the document: {reply.body[:SHOWN]!r}"
            return
        yield from self.header_faults(said.get("headers", {}), reply.headers)
        if reply.status < 300 and request and "requestBody" in operation:
            yield from self.request_faults(operation, request)
        content = said.get("content", {})
        if method == "HEAD" or not (reply.body or content):
            return
        if kind not in content:
            yield from (f"the type {kind!r} is not in the document",) if reply.status != 304 else ()
        elif kind == PROBLEM:
            yield from self.problem_faults(json.loads(reply.body), content[kind]["schema"])
        else:
            yield from self.body_faults(content[kind], operation, request, reply.body)

    def event_faults(self, method, target, event, data):
        schema = self.find(method, target)["responses"]["200"]["content"]["text/event-stream"]["schema"]["contentSchema"]
        for option in schema.get("oneOf", [schema]):
            if option["properties"]["event"]["const"] == event:
                yield from self.faults(data, option["properties"]["data"])
                return
        yield f"the event {event} is not in the document"


# --- what the clients of the tests call

_known = None
_learning = False
_found = []


def learn(api):
    """The document of a server, taken from the first one that is asked with a token that it knows."""
    global _known, _learning
    if _known or _learning:
        return
    _learning = True
    try:
        reply = api.request("GET", "/openapi.json")
        _known = Contract(reply.json) if reply.status == 200 else None
    finally:
        _learning = False


def _note(what, faults):
    _found.extend(f"{what}: {fault}" for fault in faults)


def check_reply(api, method, target, request, reply):
    learn(api)
    if _known:
        _note(f"{method} {target} → {reply.status}", _known.reply_faults(method, target, request, reply))


def check_answer(answer):
    """A reply whose request is not known: its problem, if it is one."""
    if _known and answer.body and answer.headers.get("content-type") == PROBLEM:
        _note(f"→ {answer.status}", _known.problem_faults(answer.json))


def check_event(method, target, event, data):
    if _known:
        _note(f"{method} {target}, event {event}", _known.event_faults(method, target, event, data))


def take_faults():
    """What was found since the last time."""
    found = list(_found)
    _found.clear()
    return found
