# SPDX-License-Identifier: GPL-2.0-or-later
"""The log: what a line holds, that requests can be followed through it, and what is never in it."""
import json
import secrets

import pytest

from api import Api
from conftest import until
from raw import ask, head, post


@pytest.fixture(scope="module")
def talkative(prepared, tmp_path_factory):
    """A server that logs everything, as JSON."""
    from conftest import Server
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLOVEBOX_LOG", "debug")
        patch.setenv("GLOVEBOX_LOG_FORMAT", "json")
        server = Server(tmp_path_factory.mktemp("log") / "state").start()
    yield server
    if server.process.poll() is None:
        server.stop()


def lines(server):
    """The objects of the log, but for the console's line, which is for people."""
    return [json.loads(line) for line in server.log_text().splitlines() if not line.startswith("console: ")]


def lines_of(server, **members):
    """Those with all of these members. A reply does not wait for its line: it may be the first."""
    return until(lambda: [line for line in lines(server) if members.items() <= line.items()])


def test_every_line_is_an_object_and_requests_can_be_followed(talkative):
    session = talkative.api.new(image="minimal")
    reply = session.agent.request("POST", f"{session.path}/act?", {"actions": [{"action": "wait", "duration_ms": 1}]})
    assert reply.status == 200
    created, = lines_of(talkative, route="/v1/sessions", session=session.id)
    assert created["status"] == 201
    request = reply.headers["X-Request-Id"]
    found = until(lambda: len(found := [line for line in lines(talkative) if line.get("request") == request]) == 2 and found)
    by_program = {line["program"]: line for line in found}
    front, stage = by_program["glovebox-front"], by_program["glovebox-stage"]
    assert (front["method"], front["route"], front["status"], front["session"]) == ("POST", "/v1/sessions/{id}/act", 200, session.id)
    assert front["role"] == "agent" and front["ms"] >= 0 and front["level"] == "info"
    assert (stage["session"], stage["call"], stage["status"], stage["token"]) == (session.id, "act", 200, front["token"])
    # The journal has it, too.
    journal = (talkative.state / "journals" / session.id / "journal.jsonl").read_text()
    assert request in [json.loads(line).get("request") for line in journal.splitlines()]
    for line in lines(talkative):
        assert {"time", "level", "program", "message"} <= set(line), line
        assert line["level"] in ("error", "warn", "info", "debug")
    session.end()


def test_a_refusal_and_its_line_have_the_same_id(talkative):
    reply = talkative.api.request("POST", "/v1/sessions", {"image": 7}, headers={"X-Request-Id": "mine"})
    assert reply.json["request_id"] == reply.headers["X-Request-Id"] != "mine"
    line, = lines_of(talkative, request=reply.json["request_id"])
    assert (line["status"], line["code"]) == (400, "bad_field")


def test_nothing_that_is_secret_is_in_the_log(talkative):
    """A canary goes in by every way that there is: none of it comes out here, with every line that can be written."""
    canary = secrets.token_hex(12)
    api = talkative.api
    session = api.new(image="minimal", env={"SECRET": canary}, labels={"label": canary})
    for body in ({"actions": [{"action": "type", "text": canary}, {"action": "exec", "argv": ["echo", canary]},
                              {"action": "exec", "argv": ["cat"], "stdin": canary, "env": {"A": canary}},
                              {"action": "exec", "argv": ["sh", "-c", f"echo {canary} >&2; exit 3"]}]},
                 {"actions": [{"action": canary}]}, {"actions": [{"action": "key", "keys": canary}]},
                 {"actions": [{"action": "exec", "argv": [f"/{canary}"]}]}, {canary: 1}, canary, f"{{{canary}"):
        session.agent.request("POST", f"{session.path}/act", body)
    for method, path in (("GET", f"/v1?token={canary}"), ("GET", f"/{canary}"), ("GET", f"/v1/sessions/{canary}"),
                         ("GET", f"{session.path}/screenshot?region={canary}"), ("POST", "/v1/console"), (canary.upper(), "/v1")):
        api.request(method, path, {"code": canary} if method == "POST" else None)
    Api(api.url, canary).request("GET", "/v1")
    Api(api.url, f"{session.tokens['agent']}{canary}").request("GET", session.path)
    ask(api, head(api, x_canary=canary, cookie=canary, origin=f"http://{canary}"))
    ask(api, head(api, host=canary))
    ask(api, post(api, "/v1/sessions", "{}", content_type=canary))
    ask(api, f"GET /v1 HTTP/1.1\r\n{canary}\r\n\r\n".encode())
    session.end()
    known = [canary, api.token, *session.tokens.values()]
    talkative.stop()
    text = talkative.state.with_suffix(".log").read_text()
    assert '"answered"' in text and '"debug"' in text
    assert [word for word in known if word.lower() in text.lower()] == []
