# SPDX-License-Identifier: GPL-2.0-or-later
"""Every route with every kind of caller (security.md part 4), and with every kind of foreign one (case V14)."""
import hashlib
import http.client
import itertools
import json

import pytest

from api import Api, Session
from conftest import Server, until
from raw import Wire, ask, assert_problem, head, post
from test_approvals import ASK_CLICKS

# The table of the contract, a second time: who may use which routes. Agents, viewers, controllers and owners at their own sessions only.
CONTRACT = {
    "nobody in particular": "public: GET / · GET /console/{file} · GET /livez · GET /readyz · POST /v1/console",
    "agent viewer controller owner operator":
        "GET /openapi.json · GET /v1 · GET /v1/actions · GET /v1/sessions · GET /v1/sessions/{id} · GET /v1/sessions/{id}/events · GET /v1/sessions/{id}/lease",
    "agent owner operator":
        "POST /v1/sessions/{id}/act · POST /v1/sessions/{id}/computer · POST /v1/sessions/{id}/cancel · GET /v1/sessions/{id}/screenshot · GET /v1/sessions/{id}/stream · "
        "GET /v1/sessions/{id}/files/{path} · PUT /v1/sessions/{id}/files/{path} · DELETE /v1/sessions/{id}/files/{path} · "
        "POST /mcp · DELETE /mcp",
    "viewer controller owner operator":
        "GET /v1/sessions/{id}/thumbnail · POST /v1/sessions/{id}/rfb · GET /v1/sessions/{id}/rfb",
    "agent controller owner operator": "DELETE /v1/sessions/{id} · POST /v1/sessions/{id}/lease",
    "controller owner operator":
        "POST /v1/sessions/{id}/pause · POST /v1/sessions/{id}/resume · GET /v1/sessions/{id}/journal · GET /v1/sessions/{id}/recording · "
        "GET /v1/sessions/{id}/viewers · DELETE /v1/sessions/{id}/viewers/{viewer} · "
        "POST /v1/sessions/{id}/shares · GET /v1/sessions/{id}/shares · DELETE /v1/sessions/{id}/shares/{share} · "
        "GET /v1/approvals · GET /v1/approvals/rules · GET /v1/approvals/{approval} · POST /v1/approvals/{approval} · GET /v1/approvals/{approval}/crop",
    "owner operator":
        "POST /v1/sessions · GET /v1/images · PATCH /v1/sessions/{id} · "
        "POST /v1/sessions/{id}/tickets · POST /v1/sessions/{id}/tokens · GET /v1/sessions/{id}/tokens · DELETE /v1/sessions/{id}/tokens/{token} · "
        "DELETE /v1/sessions/{id}/journal",
    "operator": "GET /metrics · GET /v1/secrets · PUT /v1/secrets/{secret} · DELETE /v1/secrets/{secret}",
}
ROUTES = {tuple(route.split(" ")): roles.split() for roles, text in CONTRACT.items()
          for route in text.removeprefix("public: ").split(" · ")}
# Asked with a ticket in place of a token: test_rfb.py does.
TICKETED = {("GET", "/v1/sessions/{id}/rfb")}
PUBLIC = {route for route, roles in ROUTES.items() if "nobody" in roles}


def key(name):
    return {"name": name, "token_sha256": hashlib.sha256(f"gbk_{name}".encode()).hexdigest()}


class World:
    """A server with two owners, a session of each, and a token of every kind."""

    def __init__(self, server):
        self.server = server
        self.ada, self.bob = Api(server.url, "gbk_ada"), Api(server.url, "gbk_bob")
        self.own, self.other = self.ada.new(image="minimal", approval=ASK_CLICKS), self.bob.new(image="minimal")
        assert self.own.agent.request("POST", f"{self.own.path}/act", {"actions": [{"action": "click"}], "timeout_ms": 1000}).json["code"] == "approval_pending"
        expired = self.make(role="agent", ttl_s=1)
        revoked = self.make(role="agent")
        self.ada.call("DELETE", f"{self.own.path}/tokens/{revoked['id']}")
        until(lambda: Api(server.url, expired["token"]).request("GET", self.own.path).status == 401)
        self.strangers = {"none": None, "garbage": "gba_" + "x" * 43, "empty": "", "revoked": revoked["token"], "expired": expired["token"]}
        self.callers = {**self.own.tokens, "owner": "gbk_ada", "operator": server.api.token}

    def make(self, **fields):
        return self.ada.call("POST", f"{self.own.path}/tokens", fields)


@pytest.fixture(scope="module")
def world(prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("roles")
    (folder / "config.json").write_text(json.dumps({"keys": [key("ada"), key("bob")]}))
    server = Server(folder / "state", "--config", folder / "config.json").start()
    world = World(server)
    yield world
    world.own.end()
    world.other.end()
    server.stop()


@pytest.fixture(scope="module")
def walk(world):
    """Method and path of every route that the server says it has."""
    return [(row["method"], row["path"]) for row in world.server.api.call("GET", "/v1")["routes"]]


def status(world, method, path, token, body=None, headers=None):
    """Status and problem; a reply that is none is not read, since it may not end."""
    connection = http.client.HTTPConnection(world.server.api.address, timeout=30)
    sent = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        connection.request(method, path, body, {**sent, **({"Content-Type": "application/json"} if body else {}), **(headers or {})})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read()) if reply.status >= 400 else {}
    finally:
        connection.close()


def by_token(walk):
    return [route for route in walk if route not in TICKETED]


def fill_in(path, session):
    for name, value in {"id": session.id, "token": "0123456789abcdef", "file": "main.js", "path": f"home/user/{300 * 'a'}", "viewer": "v999", "share": "none", "secret": "not.a.name",
                        "approval": f"{session.id}.1"}.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def harmless(method):
    """A body that is refused once everything else is found right: nothing happens, and the status tells it."""
    return None if method in ("GET", "PUT") else "no JSON"


def test_the_table_has_every_route(walk):
    assert sorted(walk) == sorted(ROUTES)


def test_the_server_says_the_same(world):
    for row in world.server.api.call("GET", "/v1")["routes"]:
        route = row["method"], row["path"]
        assert sorted(row["roles"]) == (sorted(ROUTES[route]) if route not in PUBLIC else []), route


def test_strangers(world, walk):
    for (method, path), (kind, token) in itertools.product(by_token(walk), world.strangers.items()):
        code, problem = status(world, method, fill_in(path, world.own), token, harmless(method))
        if (method, path) in PUBLIC:
            assert code in (200, 400), (kind, method, path, problem)
        else:
            assert (code, problem.get("code")) == (401, "unauthorized"), (kind, method, path, problem)


def test_callers_at_their_own_session(world, walk):
    for (method, path), (role, token) in itertools.product(by_token(walk), world.callers.items()):
        code, problem = status(world, method, fill_in(path, world.own), token, harmless(method))
        if (method, path) in PUBLIC or role in ROUTES[method, path]:
            assert code in (200, 400), (role, method, path, problem)
        else:
            assert (code, problem.get("code")) == (403, "forbidden"), (role, method, path, problem)
    assert world.own.agent.call("GET", world.own.path)["state"] == "ready"


def test_callers_at_another_session(world, walk):
    """Nothing of what is refused here has happened: also what would need no body is sent as it would be done."""
    for (method, path), (role, token) in itertools.product(by_token(walk), world.callers.items()):
        if "{id}" not in path or role == "operator":
            continue
        body = "{}" if method in ("PATCH", "POST") and not path.endswith(("cancel", "pause", "resume")) else None
        code, problem = status(world, method, fill_in(path, world.other), token, body)
        if role == "owner":
            assert (code, problem.get("code")) == (404, "not_found"), (role, method, path, problem)
            assert "no session" in problem["detail"], problem
        else:
            assert (code, problem.get("code")) == (403, "forbidden"), (role, method, path, problem)
    assert world.bob.call("GET", world.other.path)["state"] == "ready"
    assert len(world.bob.call("GET", f"{world.other.path}/tokens")["tokens"]) == 3


def test_an_owner_makes_and_ends_what_is_its_own(world):
    """What passes has to work, too: an owner's session from its first to its last call."""
    session = Session(world.ada, world.ada.call("POST", "/v1/sessions", {"image": "minimal"}))
    assert world.ada.request("GET", f"{session.path}/screenshot").status == 200
    assert world.ada.call("PATCH", session.path, {"labels": {"a": "b"}})["owner"] == "ada"
    made = world.ada.call("POST", f"{session.path}/tokens", {"role": "agent"})
    assert Api(world.server.url, made["token"]).request("POST", f"{session.path}/cancel").status == 200
    assert world.ada.request("DELETE", f"{session.path}/tokens/{made['id']}").status == 204
    assert world.ada.request("DELETE", session.path).status == 204


def test_foreign_pages_reach_nothing(world, walk):
    """With a good token, as a page would that has got hold of one: by another origin, another host name, a form's media type."""
    address = world.server.api.address
    for method, path in walk:
        target, body = fill_in(path, world.own), None if method == "GET" else "{}"
        for headers, refusal in (({"Origin": "https://evil.test"}, (403, "bad_origin")), ({"Origin": "null"}, (403, "bad_origin")),
                                 ({"Origin": f"https://{address}.evil.test"}, (403, "bad_origin")),
                                 ({"Host": "evil.test"}, (421, "misdirected")), ({"Host": f"evil.test:{address.split(':')[1]}"}, (421, "misdirected"))):
            code, problem = status(world, method, target, world.server.api.token, body, headers)
            assert (code, problem.get("code")) == refusal, (method, path, headers, problem)
        if body:
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain;application/json"):
                code, problem = status(world, method, target, world.server.api.token, body, {"Content-Type": kind})
                assert code in (400, 415) and problem["code"] in ("unsupported_media_type", "bad_request"), (method, path, kind, problem)
        code, problem = status(world, "OPTIONS", target, None, None, {"Origin": "https://evil.test", "Access-Control-Request-Method": method})
        assert (code, problem.get("code")) == (403, "bad_origin"), (path, problem)
    assert world.own.agent.call("GET", world.own.path)["state"] == "ready"


def test_a_token_in_the_query_is_none_and_is_not_logged(world, walk):
    tokens = world.callers.values()
    for (method, path), token in itertools.product(by_token(walk), tokens):
        if (method, path) in PUBLIC:
            continue
        for name in ("token", "access_token"):
            code, problem = status(world, method, f"{fill_in(path, world.own)}?{name}={token}", None, harmless(method))
            assert (code, problem.get("code")) == (401, "unauthorized"), (method, path, problem)
            assert token not in json.dumps(problem)
            # Beside a good one it is refused as well, rather than let pass as something that one may do.
            code, problem = status(world, method, f"{fill_in(path, world.own)}?{name}={token}", world.server.api.token, harmless(method))
            assert code == 400 and token not in json.dumps(problem), (method, path, problem)
    log = world.server.log_text()
    assert not [token for token in [*tokens, *world.strangers.values()] if token and token in log]


def test_an_upgrade_from_a_foreign_page_is_refused(world, walk):
    """Also from one that does not upgrade at all."""
    fields = {"connection": "Upgrade", "upgrade": "websocket", "sec_websocket_version": "13", "sec_websocket_key": "eHh4eHh4eHh4eHh4eHh4eA=="}
    for method, path in walk:
        if method == "GET" and (method, path) not in PUBLIC:
            target = fill_in(path, world.own)
            assert_problem(ask(world.server.api, head(world.server.api, target=target, origin="https://evil.test", **fields)), 403, "bad_origin")
            assert_problem(ask(world.server.api, head(world.server.api, target=target, token=False, **fields)), 401, "unauthorized")


def test_a_form_of_another_page_starts_no_session(world):
    """As a browser sends it, without asking first: a simple POST."""
    before = world.server.api.call("GET", "/v1/sessions")["total"]
    with Wire(world.server.api.address) as wire:
        wire.send(post(world.server.api, "/v1/sessions", '{"image":"minimal"}', origin="https://evil.test", content_type="text/plain"))
        assert_problem(wire.answer(), 403, "bad_origin")
    assert world.server.api.call("GET", "/v1/sessions")["total"] == before
