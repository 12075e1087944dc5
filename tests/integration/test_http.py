# SPDX-License-Identifier: GPL-2.0-or-later
"""The front, spoken to with bytes: what is refused and how, who may do what, and what a refusal looks like."""
import json
import os
import pathlib
import re
import signal
import threading
import time

import pytest

from api import Api, Refused
from conftest import until
from raw import Wire, ask, head

PROBLEM = "application/problem+json"


def post(api, target, body, **fields):
    """The bytes of a POST of JSON text."""
    body = body if isinstance(body, bytes) else body.encode()
    fields = {"content_type": "application/json", "content_length": len(body), **fields}
    return head(api, "POST", target, **fields).encode() + body


def assert_problem(answer, status, code):
    assert answer is not None, "the connection was closed without a reply"
    assert (answer.status, answer.headers["content-type"]) == (status, PROBLEM), answer.body
    problem = answer.json
    assert problem["code"] == code, problem
    assert problem["status"] == status
    assert problem["fix"] in ("caller", "later", "human", "operator", "nobody")
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem["title"] and problem["detail"] and problem["type"]
    return problem


# --- replies ---


def test_security_headers_are_on_every_reply(server):
    api = server.api
    for data in (head(api, target="/livez", token=False), head(api), head(api, target="/nothing"), head(api, token=False)):
        headers = ask(api, data).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers
        assert "set-cookie" not in headers


def test_health_needs_no_token(server):
    for path in ("/livez", "/readyz"):
        assert Api(server.url, None).request("GET", path).status == 200


def test_about(server):
    about = server.api.call("GET", "/v1")
    assert about["api"] == "v1" and about["version"]
    assert {"bad_json", "session_gone", "unsupported"} <= {row["code"] for row in about["errors"]}
    assert {"GET /v1", "POST /v1/sessions"} <= {f"{row['method']} {row['path']}" for row in about["routes"]}
    assert about["limits"]["body_bytes"] == 1024 * 1024


def test_actions(server, session):
    actions = {row["name"]: row for row in session.agent.call("GET", "/v1/actions")["actions"]}
    assert {"click", "move", "mouse_down", "mouse_up", "drag", "scroll", "key", "key_down", "key_up", "hold_key", "type", "wait",
            "screenshot", "cursor_position", "windows", "launch", "exec"} <= set(actions)
    for row in actions.values():
        assert row["doc"] and row["schema"]["type"] == "object" and row["schema"]["additionalProperties"] is False
    # The document is what the stage goes by.
    assert session.do("wait", duration_ms=1)["ok"]
    with pytest.raises(Refused) as refused:
        session.act({"action": "wait", "duration_ms": actions["wait"]["schema"]["properties"]["duration_ms"]["maximum"] + 1})
    assert (refused.value.code, refused.value.pointer) == ("bad_field", "/actions/0/duration_ms")


def test_images(server):
    images = {image["name"]: image for image in server.api.call("GET", "/v1/images")["images"]}
    assert "minimal" in images
    assert len(images["minimal"]["hash"]) == 64
    assert all(app["name"] for app in images["minimal"]["apps"])


def test_head_is_get_without_a_body(server):
    with Wire(server.api.address) as wire:
        wire.send(head(server.api, "HEAD", "/livez") + head(server.api, "GET", "/livez"))
        first, second = wire.answer(has_body=False), wire.answer()
    assert first.status == second.status == 200
    assert first.headers["content-length"] == second.headers["content-length"] == str(len(second.body))


def test_http_1_0(server):
    with Wire(server.api.address) as wire:
        wire.send(f"GET /livez HTTP/1.0\r\nHost: {server.api.address}\r\n\r\n")
        assert wire.answer().status == 200
        assert wire.is_closed()


def test_pipelined_requests_get_their_replies_in_order(server):
    with Wire(server.api.address) as wire:
        wire.send((head(server.api, target="/livez") + head(server.api, target="/nothing")) * 50)
        assert [wire.answer().status for _ in range(100)] == [200, 404] * 50


# --- routes ---


def test_not_found(server):
    for target in ("/nothing", "/v1/", "/v1/sessions/", "/v1/sessions/x/nothing", "/index.html", "/v1/../livez", "//livez"):
        answer = ask(server.api, head(server.api, target=target))
        assert answer.status in (400, 404), target
        assert_problem(answer, answer.status, "bad_request" if answer.status == 400 else "not_found")


def test_method_not_allowed_names_what_is(server):
    answer = ask(server.api, head(server.api, "PUT", "/v1/sessions"))
    assert_problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD, POST"
    answer = ask(server.api, head(server.api, "OPTIONS", "/livez"))
    assert_problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD"


def test_a_session_that_is_not_there(server):
    for path in ("", "/screenshot"):
        with pytest.raises(Refused) as refused:
            server.api.call("GET", f"/v1/sessions/saaaaaaaaaaaaaaa{path}")
        assert (refused.value.status, refused.value.code) == (404, "not_found")


def test_query_parameters_are_known_ones(server, session):
    for target in ("/v1?a=1", "/livez?x", f"{session.path}?format=png", f"{session.path}/screenshot?formt=png"):
        assert_problem(ask(server.api, head(server.api, target=target)), 400, "unknown_field")
    for query in ("format=png&format=png", "format=%00", "format=%zz", "format=%ff", "&"):
        assert_problem(ask(server.api, head(server.api, target=f"{session.path}/screenshot?{query}")), 400, "bad_request")


# --- who may do what ---


def test_a_token_is_required(server):
    for fields in ({}, {"authorization": "Bearer"}, {"authorization": "Bearer x"}, {"authorization": f"Basic {server.api.token}"},
                   {"authorization": f"Bearer {server.api.token}x"}, {"authorization": f"Bearer {server.api.token[:-1]}"},
                   {"cookie": f"token={server.api.token}"}):
        answer = ask(server.api, head(server.api, token=False, **fields))
        assert_problem(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert server.api.token not in answer.body.decode()
    assert ask(server.api, head(server.api, target=f"/v1?token={server.api.token}", token=False)).status == 401


ROLES = {
    ("GET", "/v1"): "agent viewer controller operator",
    ("GET", "/v1/actions"): "agent viewer controller operator",
    ("GET", "/v1/images"): "operator",
    ("GET", "/v1/sessions"): "agent viewer controller operator",
    ("POST", "/v1/sessions"): "operator",
    ("GET", "{own}"): "agent viewer controller operator",
    ("GET", "{own}/screenshot"): "agent operator",
    ("POST", "{own}/act"): "agent operator",
    ("POST", "{own}/cancel"): "agent operator",
    ("GET", "{other}"): "operator",
    ("GET", "{other}/screenshot"): "operator",
    ("POST", "{other}/act"): "operator",
    ("POST", "{other}/cancel"): "operator",
    ("DELETE", "{other}"): "operator",
    ("DELETE", "{own}"): "agent controller operator",
}


def test_every_route_with_every_role(server, make_session):
    for role in ("viewer", "controller", "operator", "agent"):
        own, other = make_session(), make_session()
        api = Api(server.url, {**own.tokens, "operator": server.api.token}[role])
        for (method, path), roles in ROLES.items():
            # What passes is then refused for its content, so that nothing happens: 400.
            body = "no JSON" if method == "POST" and not path.endswith("cancel") else None
            reply = api.request(method, path.format(own=own.path, other=other.path), body)
            if role in roles.split():
                assert reply.status in (200, 204, 400), (role, method, path, reply.body)
            else:
                assert (reply.status, reply.json["code"]) == (403, "forbidden"), (role, method, path, reply.body)


def test_a_list_shows_what_the_token_may_see(server, make_session):
    mine, other = make_session(labels={"who": "mine"}), make_session()
    seen = mine.agent.call("GET", "/v1/sessions")["sessions"]
    assert [session["id"] for session in seen] == [mine.id]
    assert seen[0]["labels"] == {"who": "mine"}
    assert {mine.id, other.id} <= {session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]}


def test_tokens_come_once(server, session):
    assert set(session.tokens) == {"agent", "viewer", "controller"}
    assert len(set(session.tokens.values())) == 3
    for path in ("/v1/sessions", session.path):
        text = json.dumps(server.api.call("GET", path))
        assert not [token for token in session.tokens.values() if token in text]
    assert not [token for token in [*session.tokens.values(), server.api.token] if token in server.log_text()]


def test_an_ended_session_is_listed_and_takes_no_calls(make_session, server):
    session = make_session()
    session.end()
    session.end()  # again: it is what was asked for
    shown = session.agent.call("GET", session.path)
    assert (shown["state"], shown["reason"]) == ("ended", "deleted")
    with pytest.raises(Refused) as refused:
        session.act({"action": "wait", "duration_ms": 1})
    assert (refused.value.status, refused.value.code) == (503, "session_gone")
    with pytest.raises(Refused) as refused:
        session.shot()
    assert refused.value.code == "session_gone"


# --- Host and Origin ---


def test_foreign_hosts_are_refused(server):
    port = server.api.address.rsplit(":", 1)[1]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        assert ask(server.api, head(server.api, target="/livez", host=host)).status == 200, host
    for host in ("evil.test", f"evil.test:{port}", f"localhost.evil.test:{port}", "127.0.0.1", "localhost:1", f"192.168.1.1:{port}"):
        for target in ("/", "/livez", "/v1"):
            assert_problem(ask(server.api, head(server.api, target=target, host=host)), 421, "misdirected")


def test_a_host_is_required(server):
    answer = ask(server.api, head(server.api, host=None))
    assert answer.status == 400
    with Wire(server.api.address) as wire:
        wire.send("GET /livez HTTP/1.0\r\n\r\n")
        assert wire.answer().status == 400


def test_foreign_origins_are_refused(server):
    port = server.api.address.rsplit(":", 1)[1]
    for origin in (f"http://127.0.0.1:{port}", f"http://localhost:{port}", f"http://[::1]:{port}"):
        assert ask(server.api, head(server.api, origin=origin)).status == 200, origin
    for origin in ("http://evil.test", "null", f"http://localhost.evil.test:{port}", f"https://localhost:{port}", "http://localhost"):
        for target in ("/", "/livez", "/v1"):
            assert_problem(ask(server.api, head(server.api, target=target, origin=origin)), 403, "bad_origin")
    # A browser asks first; the answer is no.
    assert_problem(ask(server.api, head(server.api, "OPTIONS", origin="http://evil.test")), 403, "bad_origin")


# --- requests with two readings ---


@pytest.mark.parametrize("field", ["Host", "Content-Length", "Transfer-Encoding", "Authorization", "Origin", "Idempotency-Key",
                                   "Content-Type"])
def test_a_field_that_may_stand_once(server, field):
    api = server.api
    value = {"Host": api.address, "Content-Length": "2", "Transfer-Encoding": "chunked", "Authorization": f"Bearer {api.token}",
             "Origin": f"http://{api.address}", "Content-Type": "application/json"}.get(field, "x")
    fields = {"Host": api.address, "Authorization": f"Bearer {api.token}", field: value}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with Wire(api.address) as wire:
        wire.send(f"POST /v1/sessions HTTP/1.1\r\n{lines}{field}: {value}\r\n\r\n{{}}GET /livez HTTP/1.1\r\nHost: {api.address}\r\n\r\n")
        answer = wire.answer()
        assert answer.status == 400, answer.body
        # What follows is not taken for a request.
        assert answer.headers["connection"] == "close"
        assert wire.is_closed()


@pytest.mark.parametrize("lines", [
    "Content-Length: 2\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding: identity",
    "Content-Length: -1",
    "Content-Length: +2",
    "Content-Length: 2, 2",
    "Content-Length: 0x2",
    "Content-Length: 99999999999999999999999",
    "X-A : 1",
    "X(a): 1",
    "X-A: a\x01b",
])
def test_framing_in_doubt_closes_the_connection(server, lines):
    with Wire(server.api.address) as wire:
        wire.send(head(server.api, "POST", "/v1/sessions").replace("\r\n\r\n", f"\r\n{lines}\r\n\r\n") + "{}" +
                  head(server.api, target="/livez"))
        answer = wire.answer()
        assert answer.status in (400, 413), answer.body
        assert answer.headers["connection"] == "close"
        assert b"200 OK" not in wire.rest()


@pytest.mark.parametrize("target", ["http://evil.test/v1", "*", "/%2e%2e/v1", "/v1%2Fsessions", "/v1%00", "/v%", "/v1\\x", "/./v1",
                                    "/v1/sessions/%ff", "/\xe9"])
def test_targets_with_two_readings(server, target):
    answer = ask(server.api, head(server.api, target=target).encode("latin-1"))
    assert_problem(answer, 400, "bad_request")


NOT_HTTP = {
    "0.9": b"GET /\r\n",
    "no target": b"GET\r\n\r\n",
    "2.0": b"GET / HTTP/2.0\r\n\r\n",
    "9.9": b"GET / HTTP/9.9\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS hello": b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + bytes(160),
    "zeros": bytes(64) + b"\r\n\r\n",
    "empty lines": b"\r\n" * 2000,
    "one long line": b"x" * 100000,
}


@pytest.mark.parametrize("data", NOT_HTTP.values(), ids=NOT_HTTP)
def test_what_is_not_http_1(server, data):
    with Wire(server.api.address, timeout_s=1) as wire:
        try:
            wire.send(data)
            answer = wire.answer()
        except OSError:
            answer = None
        assert answer is None or answer.status in (400, 414, 421, 431, 505), answer.status
    assert server.api.request("GET", "/livez").status == 200


def test_too_long_a_head(server):
    for data, status in ((head(server.api, target="/" + "x" * 40000), 414), (head(server.api, x="y" * 40000), 431),
                         (head(server.api, **{f"x{i}": "y" for i in range(5000)}), 431)):
        assert ask(server.api, data).status == status


# --- bodies ---


def test_a_body_is_json_and_says_so(server, session):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", None):
        answer = ask(server.api, post(server.api, f"{session.path}/act", '{"actions":[]}', content_type=kind))
        assert_problem(answer, 415, "unsupported_media_type")
    answer = ask(server.api, post(server.api, f"{session.path}/act", '{"actions":[]}', content_type="application/json; charset=UTF-8"))
    assert answer.status == 200


def test_a_path_without_a_body_takes_none(server, session):
    assert_problem(ask(server.api, post(server.api, f"{session.path}/cancel", "{}")), 400, "bad_request")
    assert_problem(ask(server.api, post(server.api, "/livez", "{}").replace(b"POST", b"GET", 1)), 400, "bad_request")


def test_idempotency_keys_are_not_silently_ignored(server, session):
    answer = ask(server.api, post(server.api, f"{session.path}/act", '{"actions":[]}', idempotency_key="k1"))
    assert_problem(answer, 422, "unsupported")


def test_the_connection_stays_in_step_after_a_refused_body(server, session):
    with Wire(server.api.address) as wire:
        for _ in range(3):
            wire.send(post(server.api, f"{session.path}/act", head(server.api, target="/livez"), content_type="text/plain"))
            assert wire.answer().status == 415
            wire.send(post(server.api, "/livez", head(server.api, target="/nothing")))
            assert wire.answer().status == 405
            wire.send(head(server.api, "DELETE", "/v1", content_length=5) + "hello" + head(server.api, target="/livez"))
            assert wire.answer().status == 405
            assert wire.answer().status == 200


def test_too_large_a_body(server):
    api = server.api
    for length in (1024 * 1024 + 1, 2 ** 40, 2 ** 63 - 1):
        answer = ask(api, head(api, "POST", "/v1/sessions", content_type="application/json", content_length=length, expect="100-continue"))
        assert_problem(answer, 413, "too_large")
    # A client that sends first gets to see why.
    for fields in ({"content_length": 4 << 20}, {"transfer_encoding": "chunked"}):
        with Wire(api.address) as wire:
            wire.send(head(api, "POST", "/v1/sessions", content_type="application/json", **fields))
            if "content_length" in fields:
                wire.send(b"x" * (4 << 20))
            else:
                wire.send(b"".join(b"10000\r\n" + b"x" * 65536 + b"\r\n" for _ in range(40)) + b"0\r\n\r\n")
            assert_problem(wire.answer(), 413, "too_large")
            wire.send(head(api, target="/livez"))
            assert wire.answer().status == 200


def test_a_body_without_an_end_is_cut_off(server):
    with Wire(server.api.address) as wire:
        wire.send(head(server.api, "POST", "/v1/sessions", content_type="application/json", transfer_encoding="chunked"))
        with pytest.raises(OSError):
            for _ in range(1000):
                wire.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")


def test_public_paths_take_little(server):
    answer = ask(server.api, post(server.api, "/v1/console", '{"code":"' + "x" * 5000 + '"}', authorization=None))
    assert_problem(answer, 413, "too_large")


def test_expect_continue(server, session):
    body = b'{"actions":[]}'
    with Wire(server.api.address) as wire:
        wire.send(head(server.api, "POST", f"{session.path}/act", content_type="application/json", content_length=len(body),
                       expect="100-continue"))
        assert wire.take_line() == "HTTP/1.1 100 Continue"
        assert wire.take_line() == ""
        wire.send(body)
        assert wire.answer().status == 200


def test_a_chunked_body(server, session):
    with Wire(server.api.address) as wire:
        wire.send(head(server.api, "POST", f"{session.path}/act", content_type="application/json", transfer_encoding="chunked"))
        for piece in (b'{"act', b'ions":', b"[]}"):
            wire.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        wire.send(b"0\r\n\r\n")
        assert wire.answer().status == 200


BAD_JSON = [
    # body, offset, line, column
    (b"{", 1, 1, 2),
    (b'{"a":1,}', 7, 1, 8),
    (b'{"a":1}\n\n {}', 10, 3, 2),
    (b'{"a":1,"a":2}', None, None, None),
    (b'\xef\xbb\xbf{}', 0, 1, 1),
    (b'{"image":"\xff\xfe"}', None, None, None),
    (b'{"image":"\xc0\x80"}', None, None, None),
    (b'{"image":"\xed\xa0\x80"}', None, None, None),
    (b'{"image":"\\ud83d"}', None, None, None),
    (b'{"image":"\\udc00"}', None, None, None),
    (b'{"image":"\\ud83d\\ud83d\\ude00"}', None, None, None),
    (b'{"image":"a\nb"}', None, None, None),
    (b'{"ttl_s":1e999}', None, None, None),
    (b'{"ttl_s":NaN}', None, None, None),
    (b'{"ttl_s":+1}', None, None, None),
    (b'{"ttl_s":01}', None, None, None),
    (b"[" * 33 + b"]" * 33, None, None, None),
    (b'{"a":' * 1000, None, None, None),
]


def assert_bad_json(api, target, body, offset, line, column):
    problem = assert_problem(ask(api, post(api, target, body)), 400, "bad_json")
    if offset is None:
        assert problem["offset"] >= 0 and problem["line"] >= 1 and problem["column"] >= 1
    else:
        assert (problem["offset"], problem["line"], problem["column"]) == (offset, line, column), problem


@pytest.mark.parametrize("fault", BAD_JSON, ids=[str(row[0][:20]) for row in BAD_JSON])
def test_bad_json_names_the_place(server, fault):
    assert_bad_json(server.api, "/v1/sessions", *fault)


@pytest.mark.parametrize("fault", BAD_JSON, ids=[str(row[0][:20]) for row in BAD_JSON])
def test_bad_json_of_an_act_names_the_place(server, session, fault):
    assert_bad_json(server.api, f"{session.path}/act", *fault)


def test_an_empty_body_is_told_what_it_must_be(server, session):
    for target in ("/v1/sessions", f"{session.path}/act"):
        assert_problem(ask(server.api, post(server.api, target, b"")), 400, "bad_json")
        assert_problem(ask(server.api, head(server.api, "POST", target)), 400, "bad_json")


# --- specs ---

BAD_SPECS = [
    ({"images": "x"}, 400, "unknown_field", "/images"),
    ({"image": 5}, 400, "bad_field", "/image"),
    ({"image": "nothing-like-it"}, 422, "no_image", "/image"),
    ({"image": "../../etc"}, 422, "no_image", "/image"),
    ({"image": "a\0b"}, 400, "bad_field", "/image"),
    ({"image": "minimal", "display": {"width": 10}}, 400, "bad_field", "/display/width"),
    ({"image": "minimal", "display": {"width": 1e300}}, 400, "bad_field", "/display/width"),
    ({"image": "minimal", "display": {"width": 1280.0}}, 400, "bad_field", "/display/width"),
    ({"image": "minimal", "display": {"width": None}}, 400, "bad_field", "/display/width"),
    ({"image": "minimal", "apps": ["no-such-app"]}, 400, "bad_field", "/apps/0"),
    ({"image": "minimal", "apps": ["-x"]}, 400, "bad_field", "/apps/0"),
    ({"image": "minimal", "env": {"A=B": "c"}}, 400, "bad_field", "/env"),
    ({"image": "minimal", "isolation": "vm"}, 422, "tier_unavailable", "/isolation"),
    ({"image": "minimal", "egress": {"mode": "open"}}, 422, "unsupported", "/egress/mode"),
    ({"image": "minimal", "secrets": ["x"]}, 422, "unsupported", "/secrets"),
    ({"image": "minimal", "lease": "human"}, 422, "unsupported", "/lease"),
]


@pytest.mark.parametrize("spec, status, code, pointer", BAD_SPECS, ids=[json.dumps(row[0]) for row in BAD_SPECS])
def test_bad_specs_make_nothing(server, spec, status, code, pointer):
    before = [session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]]
    with pytest.raises(Refused) as refused:
        server.api.new(**spec)
    assert (refused.value.status, refused.value.code, refused.value.pointer) == (status, code, pointer)
    assert [session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]] == before


def test_a_missing_image_names_those_there_are(server):
    with pytest.raises(Refused) as refused:
        server.api.new(image="nothing")
    assert "minimal" in refused.value.problem["detail"]
    assert "image build" in refused.value.problem["detail"]
    assert refused.value.problem["fix"] == "operator"


def test_the_answer_of_create(session):
    answer = session.answer
    assert {"id", "state", "image", "display", "space", "at", "lease", "owner", "isolation_report", "tokens", "links",
            "expires_at"} <= set(answer)
    assert answer["state"] == "ready"
    assert answer["links"]["self"] == session.path
    assert answer["isolation_report"]["tier"] == "jail"
    assert set(answer["isolation_report"]["in_force"]).isdisjoint(answer["isolation_report"]["missing"])
    assert answer["not_in_force"] == ["approval.mode", "limits.exec_ms", "record.pictures"]


def test_a_session_is_shown_the_same_everywhere(server, make_session):
    session = make_session(apps=["terminal"], labels={"a": "b"}, display={"width": 1000, "height": 700})
    shown = server.api.call("GET", session.path)
    listed = next(row for row in server.api.call("GET", "/v1/sessions")["sessions"] if row["id"] == session.id)
    assert shown["display"] == listed["display"] == {"width": 1000, "height": 700, "max_width": 1000, "max_height": 700, "layout": "us",
                                                     "gl": False}
    assert shown["space"] == listed["space"] == {"width": 1000, "height": 700}
    assert [app["app"] for app in shown["apps"]] == [app["app"] for app in listed["apps"]] == ["terminal"]
    assert shown["labels"] == listed["labels"] == {"a": "b"}
    assert shown["held"] == {"keys": [], "buttons": []}


def test_ttl_ends_a_session(make_session, server):
    session = make_session(ttl_s=3)
    shown = until(lambda: (now := server.api.call("GET", session.path))["state"] != "ready" and now)
    assert (shown["state"], shown["reason"]) == ("ended", "ttl")


def test_an_idle_session_ends(make_session, server):
    idle, busy = make_session(idle_s=2), make_session(idle_s=2)
    deadline = time.monotonic() + 20
    while (shown := server.api.call("GET", idle.path))["state"] != "ended" and time.monotonic() < deadline:
        busy.act({"action": "wait", "duration_ms": 100})
        time.sleep(0.1)
    assert (shown["state"], shown["reason"]) == ("ended", "idle")
    assert busy.agent.call("GET", busy.path)["state"] == "ready"


# --- callers that leave, and stages that do ---


def in_thread(function, *args):
    results = []

    def run():
        try:
            results.append(function(*args))
        except Refused as refused:
            results.append(refused)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def test_a_caller_that_leaves_cancels(server, session):
    body = '{"actions":[{"action":"wait","duration_ms":30000}]}'
    for how in ("close", "half close"):
        with Wire(server.api.address) as wire:
            wire.send(post(session.agent, f"{session.path}/act", body))
            time.sleep(0.3)  # until it runs; if it does not yet, it is cancelled before it does
            if how == "half close":
                wire.socket.shutdown(1)
                assert wire.is_closed()
        started = time.monotonic()
        session.act({"action": "wait", "duration_ms": 1})
        assert time.monotonic() - started < 10, "the call of a caller who left still runs"


def test_cancel_stops_what_runs(session):
    thread, results = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 30000}))
    deadline = time.monotonic() + 10
    while thread.is_alive() and time.monotonic() < deadline:
        session.agent.call("POST", f"{session.path}/cancel")
        thread.join(0.2)
    thread.join(1)
    assert results and results[0]["ok"] is False and results[0]["done"] == 0


def test_the_end_of_a_session_answers_its_parked_calls(server, make_session):
    session = make_session()
    thread, results = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 30000}))
    time.sleep(0.3)
    server.api.call("DELETE", session.path)
    thread.join(10)
    assert results, "the call is still open"
    answer = results[0]
    assert isinstance(answer, Refused) and answer.code in ("session_gone", "cancelled") or answer["ok"] is False


def stage_of(server, session):
    """The process id of a session's stage, which its control group names."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if (entry / "comm").read_text() == "glovebox-stage\n" and session.id in (entry / "cgroup").read_text():
                return int(entry.name)
        except OSError:
            continue
    return None


def test_a_stage_that_is_killed_answers_its_parked_calls(server, make_session):
    session = make_session()
    thread, results = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 30000}))
    time.sleep(0.3)
    os.kill(stage_of(server, session), signal.SIGKILL)
    thread.join(10)
    assert results, "the call is still open"
    assert (results[0].status, results[0].code) == (503, "session_gone")
    assert "stage_died" in results[0].problem["detail"]
    shown = server.api.call("GET", session.path)
    assert (shown["state"], shown["reason"]) == ("failed", "stage_died")


def test_a_caller_that_leaves_a_create_leaves_no_session(server):
    before = {session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]}
    for wait_s in (0.001, 0.003, 0.01, 0.03):
        with Wire(server.api.address, timeout_s=wait_s) as wire:
            wire.send(post(server.api, "/v1/sessions", '{"image":"minimal"}'))
            try:
                answer = wire.answer()
            except TimeoutError:
                continue
        before.add(answer.json["id"])  # it was quicker than that
        server.api.call("DELETE", f"/v1/sessions/{answer.json['id']}")
    until(lambda: not [session for session in server.api.call("GET", "/v1/sessions")["sessions"]
                       if session["id"] not in before and session["state"] not in ("ended", "failed")], within_s=30)


def test_looks_do_not_wait_behind_a_long_action(session):
    thread, _ = in_thread(lambda: session.try_act({"action": "wait", "duration_ms": 5000}))
    time.sleep(0.2)
    started = time.monotonic()
    session.shot()
    session.agent.call("GET", session.path)
    assert time.monotonic() - started < 3
    session.agent.call("POST", f"{session.path}/cancel")
    thread.join(10)


# --- a front that dies ---


def front_pid(server):
    for entry in pathlib.Path("/proc").iterdir():
        try:
            name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name == "glovebox-front" and int(rest.split()[1]) == server.process.pid:
            return int(entry.name)
    return None


def answers(server):
    try:
        return server.api.request("GET", "/livez", timeout_s=5).status == 200
    except OSError:
        return False


def test_a_crash_of_the_front_costs_no_session(make_server):
    server = make_server()
    session = server.api.new(image="minimal", labels={"a": "b"})
    ended = server.api.new(image="minimal")
    ended.end()
    pid = front_pid(server)
    os.kill(pid, signal.SIGKILL)
    until(lambda: front_pid(server) not in (None, pid))
    until(lambda: answers(server))
    shown = session.agent.call("GET", session.path)
    assert (shown["state"], shown["labels"]) == ("ready", {"a": "b"})
    assert {key: shown[key] for key in ("expires_at", "created_at", "isolation_report", "space")} == {
        key: session.answer[key] for key in ("expires_at", "created_at", "isolation_report", "space")}
    session.act({"action": "wait", "duration_ms": 1})
    assert server.api.call("GET", ended.path)["state"] == "ended"
    session.end()


# --- slow clients ---


def seconds_open(server, data, drip, give_up_s):
    """How long a connection stays open that has sent `data` and then sends one byte of `drip` a second."""
    started = time.monotonic()
    with Wire(server.api.address, timeout_s=1) as wire:
        wire.send(data)
        while time.monotonic() - started < give_up_s:
            try:
                if not wire.more():
                    break
            except TimeoutError:
                try:
                    wire.send(drip)
                except OSError:
                    break
            except OSError:
                break
        return time.monotonic() - started, wire.text


def seconds_reading(server):
    """How long a connection stays open whose client reads 100 bytes a second of some MB."""
    started = time.monotonic()
    with Wire(server.api.address, timeout_s=1, receive_bytes=4096) as wire:
        wire.send(head(server.api) * 400)
        while time.monotonic() - started < 70:
            try:
                if wire.socket.recv(100) == b"":
                    break
            except ConnectionResetError:
                break
            time.sleep(1)
        return time.monotonic() - started, b""


def test_slow_clients_are_cut_off(server, session):
    """A request has 30 s to arrive, and so has a client that says nothing. All at once, since each takes that long."""
    cases = {
        "silent": ("", ""),
        "half a line": ("GET /livez HT", ""),
        "a header byte a second": (head(server.api)[:-2] + "X-A: ", "a"),
        "a body byte a second": (head(server.api, "POST", f"{session.path}/act", content_type="application/json",
                                      content_length=1000), " "),
        "a chunk a second": (head(server.api, "POST", f"{session.path}/act", content_type="application/json",
                                  transfer_encoding="chunked"), "1\r\nx\r\n"),
        "idle after a reply": (head(server.api, target="/livez"), ""),
    }
    threads = {name: in_thread(seconds_open, server, data, drip, 70) for name, (data, drip) in cases.items()}
    threads["a slow reader"] = in_thread(seconds_reading, server)
    for name, (thread, results) in threads.items():
        thread.join(80)
        seconds, text = results[0]
        assert 14 < seconds < 65, (name, seconds)
        if "body" in name or "chunk" in name:
            assert text.startswith(b"HTTP/1.1 408 "), text
    assert server.api.request("GET", "/livez").status == 200


def test_idle_connections_do_not_keep_others_out(server):
    """More connections than the server takes, all silent: a new client is served at once."""
    wires = []
    try:
        for _ in range(1200):
            wires.append(Wire(server.api.address))
            wires[-1].send("GET /livez HTTP/1.1\r\n")
        for _ in range(5):
            started = time.monotonic()
            assert server.api.request("GET", "/livez", timeout_s=10).status == 200
            assert time.monotonic() - started < 5
    finally:
        for wire in wires:
            wire.socket.close()


# --- the console ---


def test_the_page_and_its_policy(server):
    api = Api(server.url, None)
    for path, kind in (("/", "text/html"), ("/page.js", "text/javascript"), ("/page.css", "text/css")):
        reply = api.request("GET", path)
        assert reply.status == 200 and reply.headers.get_content_type() == kind
        policy = reply.headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy and "unsafe-inline" not in policy
    page = api.request("GET", "/").body.decode()
    assert "<script>" not in page and "style=" not in page and "onclick" not in page


def test_a_code_is_checked(server):
    api = Api(server.url, None)
    for body, code in (({}, "missing_field"), ({"code": 5}, "bad_field"), ({"code": "x", "y": 1}, "unknown_field"), ([], "bad_field")):
        with pytest.raises(Refused) as refused:
            api.call("POST", "/v1/console", body)
        assert (refused.value.status, refused.value.code) == (400, code)


def test_a_code_is_traded_once(make_server):
    server = make_server()
    code = re.search(r"#code=(\S+)", server.log_text()).group(1)
    api = Api(server.url, None)
    answer = api.call("POST", "/v1/console", {"code": code})
    assert Api(server.url, answer["token"]).call("GET", "/v1/sessions") == {"sessions": []}
    with pytest.raises(Refused) as refused:
        api.call("POST", "/v1/console", {"code": code})
    assert (refused.value.status, refused.value.code) == (401, "unauthorized")
    assert code not in json.dumps(refused.value.problem) and answer["token"] not in server.log_text()


def test_wrong_codes_are_slowed_down(make_server):
    server = make_server()
    api = Api(server.url, None)
    codes = []
    for _ in range(20):
        with pytest.raises(Refused) as refused:
            api.call("POST", "/v1/console", {"code": "AAAA-AAAA"})
        codes.append(refused.value.code)
    assert codes[:5] == ["unauthorized"] * 5
    assert "limit_reached" in codes
    assert refused.value.headers["Retry-After"] == "1"
