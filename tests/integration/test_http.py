# SPDX-License-Identifier: GPL-2.0-or-later
"""The front, spoken to with bytes: what is refused and how, and what a refusal looks like."""
import os
import select
import subprocess
import time

import pytest

from api import Api, Refused, in_thread
from raw import Wire, ask, assert_problem, head, post


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
    document = session.agent.call("GET", "/v1/actions")
    actions = {row["name"]: row for row in document["actions"]}
    assert {"click", "move", "mouse_down", "mouse_up", "drag", "scroll", "key", "key_down", "key_up", "hold_key", "type", "wait",
            "screenshot", "cursor_position", "windows", "launch", "exec"} <= set(actions)
    for row in actions.values():
        assert row["doc"] and row["schema"]["type"] == "object" and row["schema"]["additionalProperties"] is False
    # The document is what the stage goes by.
    assert session.do("wait", duration_ms=1)["ok"]
    with pytest.raises(Refused) as refused:
        session.act({"action": "wait", "duration_ms": actions["wait"]["schema"]["properties"]["duration_ms"]["maximum"] + 1})
    assert (refused.value.code, refused.value.pointer) == ("bad_field", "/actions/0/duration_ms")
    act = document["act"]["properties"]
    assert set(act) == {"actions", "observe", "timeout_ms", "space", "check_only", "seen"} and document["act"]["required"] == ["actions"]
    quiet_ms = act["observe"]["anyOf"][1]["properties"]["quiet_ms"]["maximum"]
    with pytest.raises(Refused) as refused:
        session.act(observe={"quiet_ms": quiet_ms + 1})
    assert (refused.value.code, refused.value.pointer) == ("bad_field", "/observe/quiet_ms")


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


def test_more_parameters_than_the_memory_of_a_head(server):
    """Also answered at once: the connection does not stay until the next event."""
    for n in (17, 128, 200, 600, 4000):
        with Wire(server.api.address, timeout_s=5) as wire:
            wire.send(head(server.api, target="/v1?" + "a=b&" * n, connection="close"))
            answer = wire.answer()
            assert answer is not None, n
            assert (answer.status, answer.json["code"], answer.json["fix"]) == (400, "bad_request", "caller"), n
            assert wire.is_closed()


def processor_s(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("line", [b"2;" + b"x" * 50000, b"0" * 50000], ids=["extension", "zeros"])
def test_a_line_of_a_chunked_body_larger_than_the_buffer(make_server, line):
    """It gets its 408 in time and does not keep a processor busy until then."""
    server = make_server("--request-timeout-ms", "2000")
    front = int(subprocess.run(["pgrep", "-P", str(server.process.pid), "-x", "glovebox-front"], capture_output=True, text=True).stdout)
    before = processor_s(front)
    with Wire(server.api.address) as wire:
        wire.send(head(server.api, "POST", "/v1/console", content_type="application/json", transfer_encoding="chunked").encode() + line)
        assert wire.answer().status == 408
    assert processor_s(front) - before < 0.5


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
        end = select.poll()
        end.register(wire.socket, select.POLLRDHUP)  # told also while there is something left to read
        while not end.poll(1000) and time.monotonic() - started < 30:
            wire.socket.recv(100)
        return time.monotonic() - started, b""


def test_slow_clients_are_cut_off(make_server):
    """A request has a time to arrive, and so has a client that says nothing. All at once, since each takes that long."""
    server = make_server("--request-timeout-ms", "3000")
    session = server.api.new(image="minimal")
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
    threads = {name: in_thread(seconds_open, server, data, drip, 30) for name, (data, drip) in cases.items()}
    threads["a slow reader"] = in_thread(seconds_reading, server)
    for name, (thread, results) in threads.items():
        thread.join(40)
        seconds, text = results[0]
        assert 1.5 < seconds < 20, (name, seconds)
        if "byte" in name or "chunk" in name:
            assert text.startswith(b"HTTP/1.1 408 ") and b"urn:glovebox:error:request_timeout" in text, text
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
