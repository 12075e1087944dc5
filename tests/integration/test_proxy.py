# SPDX-License-Identifier: GPL-2.0-or-later
"""The way out of a session: cases E01, E02, E03, E05, E07 and E10 and their kinds, what is passed on and how, caps, questions, and what the stage is told."""
import contextlib
import json
import os
import pathlib
import re
import select
import socket
import ssl
import threading
import time

import pytest

from conftest import until
from apart import ASK, DECISION, GATEWAY, HERE, POLICY, PRIVATE, THERE, UID, VERDICT, FRAME, Outside, Proxy, Server, Web, echo, everything, read_head

EVERYWHERE = {"mode": "open"}
REFUSED = 2  # a reply of SOCKS5


class World(Outside):
    """The outside with its servers: web on 80 and 8000, echo on 7 and 443 and 8443, and canaries that nobody may reach."""

    def __init__(self):
        super().__init__()
        self.web, self.tls, self.taken = Web(), [], []
        for port in (80, 8000):
            Server(self.net, THERE, port, self.web)
        Server(self.net, THERE, 443, self.take_tls)
        for port in (7, 8443):
            Server(self.net, THERE, port, echo)
        self.canaries = [Server(self.machine, "0.0.0.0", 80, echo), Server(self.machine, "0.0.0.0", 443, echo), Server(self.machine, "::1", 80, echo),
                         Server(self.net, PRIVATE, 80, echo), Server(self.net, PRIVATE, 443, echo), Server(self.net, GATEWAY, 80, echo), Server(self.net, GATEWAY, 443, echo)]
        self.names.names.update({"ok.test": [THERE], "evil.test": [THERE], "a.ok.test": [THERE], "a.b.ok.test": [THERE], "evilok.test": [THERE],
                                 "ok.test.evil.test": [THERE]})

    def take_tls(self, connection):
        """What comes on 443 is kept, and goes back."""
        while data := connection.recv(65536):
            self.tls.append(data)
            connection.sendall(data)

    def touched(self):
        return sum(canary.count for canary in self.canaries)


@pytest.fixture(scope="module")
def world():
    made = World()
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared(world, tmp_path_factory):
    made = Proxy(world, tmp_path_factory.mktemp("proxy"))
    yield made
    made.close()
    assert made.process.returncode == 0, (made.folder / "log").read_text()


@pytest.fixture
def proxy(shared):
    """The one that tests of this file share, with the list that most of them need."""
    shared.policy(allow=["ok.test", "ok.test:7", "ok.test:8000"], cut=True)
    until(lambda: usage(shared)["connections"] == 0, every_s=0.01)
    return shared


def usage(proxy):
    said = proxy.of("usage")
    return said[-1] if said else {"connections": 0}


def get(url, *fields, method="GET", version="1.1", body=b""):
    host = url.split("/")[2]
    return "\r\n".join([f"{method} {url} HTTP/{version}", f"Host: {host}", *fields, "", ""]).encode() + body


def status_of(text):
    return int(text.split(b" ", 2)[1]) if text else None


def answers(connection, n):
    """The next n answers on a connection: status and body of each."""
    found, rest = [], b""
    while len(found) < n:
        head, rest = read_head(connection, rest)
        if head is None:
            break
        length = int(next(line.split(":")[1] for line in head.split("\r\n") if line.lower().startswith("content-length")))
        while len(rest) < length:
            rest += connection.recv(65536)
        found.append((int(head.split()[1]), rest[:length]))
        rest = rest[length:]
    return found


# --- who may be reached ---


@pytest.mark.parametrize("policy", [{"mode": "none"}, {"mode": "allowlist"}, {"mode": "allowlist", "allow": []}, {"mode": "none", "allow": ["ok.test"]}])
def test_nothing_lets_nothing_through(world, proxy, policy):
    asked = len(world.names.asked)
    proxy.policy(**policy)
    assert proxy.tunnel("ok.test:443")[0] == 403
    assert status_of(proxy.ask(get("http://ok.test/", "Connection: close"))) == 403
    assert proxy.socks(b"ok.test", 80) == REFUSED
    assert world.names.asked[asked:] == []


def test_before_the_first_policy(world, tmp_path):
    made = Proxy(world, tmp_path)
    try:
        assert made.tunnel("ok.test:80") == (403, "Glovebox: ok.test:80 is refused: there is no policy yet.\n")
    finally:
        made.close()


def test_ten_thousand_entries(proxy):
    proxy.policy(allow=[f"host-{n}.with-a-name-of-usual-length.test" for n in range(9999)] + ["ok.test:7"])
    with proxy.tunnel("ok.test:7") as tunnel:
        tunnel.sendall(b"x")
        assert tunnel.recv(1) == b"x"
    assert proxy.tunnel("host-10000.with-a-name-of-usual-length.test:80")[0] == 403


def test_names_that_are_none(world, proxy):
    """E02: refused as form, before policy and name server."""
    proxy.policy(**EVERYWHERE)
    asked, denied = len(world.names.asked), len(proxy.decisions())
    names = [b"evil.test\0.ok.test", b"evil.test%00.ok.test", b"evil.test\r\nX: y", b"ok.test ", b"\tok.test", b"a" * 256 + b".ok.test", b"ok..test", b".ok.test",
             b"ok.test\n", b"user@ok.test", b"b\xc3\xbccher.test", b"ok.test\\"]
    for name in names:
        assert status_of(proxy.ask(b"CONNECT " + name + b":443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n")) == 400, name
        assert status_of(proxy.ask(b"GET http://" + name + b":80/ HTTP/1.1\r\nHost: ok.test\r\n\r\n")) == 400, name
        if len(name) < 256:
            assert proxy.socks(name, 443) == 1, name
    assert world.names.asked[asked:] == []
    until(lambda: len(proxy.decisions(denied)) == 3 * len(names) - 1)
    assert {(said["verdict"], said["host"], said["port"]) for said in proxy.decisions(denied)} == {("deny", "", 0)}


def test_labels(proxy):
    """E03"""
    proxy.policy(allow=["*.ok.test:80"])
    for host, wanted in (("evilok.test", 403), ("ok.test.evil.test", 403), ("a.ok.test", 200), ("a.b.ok.test", 200), ("A.OK.Test.", 200), ("ok.test", 403)):
        assert status_of(proxy.ask(get(f"http://{host}/", "Connection: close"))) == wanted, host
    proxy.policy(allow=["ok.test"])
    assert proxy.tunnel("a.ok.test:80")[0] == 403
    proxy.tunnel("ok.test:80").close()


ADDRESSES = ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "0.0.0.0", "[::1]", "[::]", "localhost", "a.localhost", "localhost.", HERE, GATEWAY, "93.184.1.255",
             PRIVATE, "169.254.169.254", "100.100.100.200", "224.0.0.1", "255.255.255.255", "[::ffff:127.0.0.1]", "[::ffff:10.9.8.7]", "[64:ff9b::7f00:1]",
             "[64:ff9b::a09:807]", "[2002:7f00:1::]", "[2002:a09:807::1]", "[fe80::1]", "[ff02::1]", "[2606:4700::1]", "168.63.129.16", "[fd00:ec2::254]", f"[::ffff:{HERE}]", "[64:ff9b::5db8:101]", "[2002:5db8:101::1]"]


@pytest.mark.parametrize("mode", ["open", "allowlist"])
def test_addresses(world, proxy, mode):
    """E05: refused in every spelling, in every mode, also when the list names them."""
    named = [address for address in ADDRESSES if address[0] in "[12" and not address.startswith(("2130", "127.1"))] if mode == "allowlist" else []
    touched, asked = world.touched(), len(world.names.asked)
    proxy.policy(mode, named)
    for address in [*ADDRESSES, "[fe80::1%25lo]"]:
        for port in (80, 443):
            assert proxy.tunnel(f"{address}:{port}")[0] == 403, address
        assert status_of(proxy.ask(get(f"http://{address}/", "Connection: close"))) == 403, address
        if address[0] != "[":
            assert proxy.socks(address.encode(), 80) == REFUSED, address
    for literal in ("127.0.0.1", HERE, PRIVATE):
        assert proxy.socks(socket.inet_aton(literal), 80, kind=1) == REFUSED
    assert proxy.socks(socket.inet_pton(socket.AF_INET6, "::1"), 80, kind=4) == REFUSED
    assert (world.touched(), len(world.names.asked)) == (touched, asked)


def test_a_literal_must_be_listed(proxy):
    assert proxy.tunnel(f"{THERE}:80")[0] == 403
    proxy.policy(allow=[f"{THERE}:7"])
    with proxy.socks(socket.inet_aton(THERE), 7, kind=1) as tunnel:
        tunnel.sendall(b"x")
        assert tunnel.recv(1) == b"x"


@pytest.mark.parametrize("addresses", [["127.0.0.1"], [HERE], [GATEWAY], [PRIVATE], ["::1"], ["fe80::1"], ["::ffff:10.9.8.7"], ["169.254.169.254", "127.0.0.1"], ["2606:4700::1"]])
def test_names_of_such_addresses(world, proxy, addresses):
    touched = world.touched()
    world.names.names["rebound.test"] = addresses
    proxy.policy(**EVERYWHERE)
    since = len(proxy.decisions())
    status, text = proxy.tunnel("rebound.test:80")
    assert status == 403 and "its address is" in text and not any(address in text for address in addresses)
    until(lambda: proxy.decisions(since))
    said, = proxy.decisions(since)
    assert said["verdict"] == "deny" and said["address"].removeprefix("::ffff:") in [address.removeprefix("::ffff:") for address in addresses]
    assert world.touched() == touched


def test_an_address_that_the_machine_gets_later(world, proxy):
    proxy.policy(**EVERYWHERE)
    world.machine.run("ip", "address", "add", "93.184.1.77/24", "dev", "wire")
    touched = world.touched()
    assert proxy.tunnel("93.184.1.77:80")[0] == 403
    assert world.touched() == touched


def test_the_operators_own_networks(world, tmp_path):
    made = Proxy(world, tmp_path, settings=f"permit = {PRIVATE}/32\n")
    try:
        made.policy(allow=[PRIVATE, "127.0.0.1"])
        touched = world.touched()
        with made.tunnel(f"{PRIVATE}:80") as tunnel:
            tunnel.sendall(b"x")
            assert tunnel.recv(1) == b"x"
        assert made.tunnel("127.0.0.1:80")[0] == 403
        assert world.touched() == touched + 1
    finally:
        made.close()


def test_the_operators_own_networks_are_not_open(world, tmp_path):
    """Whoever has a name server could lead any session there: the host must be in a list."""
    world.names.names["own.test"] = [PRIVATE]
    made = Proxy(world, tmp_path, settings=f"permit = {PRIVATE}/32\n")
    try:
        touched = world.touched()
        made.policy(**EVERYWHERE)
        for place in (f"{PRIVATE}:80", "own.test:80"):
            assert status_of(made.ask(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())) == 403, place
        made.policy(**EVERYWHERE, allow=["other.test"])
        assert made.tunnel("own.test:80")[0] == 403
        made.policy(**EVERYWHERE, ask=True)
        assert made.tunnel(f"{PRIVATE}:80")[0] == 403 and not made.of("ask"), "no yes would open it"
        assert world.touched() == touched
        made.policy(**EVERYWHERE, allow=["own.test"])
        made.tunnel("own.test:80").close()
    finally:
        made.close()


def test_the_ceiling(world, tmp_path):
    made = Proxy(world, tmp_path, ceiling=1)
    try:
        made.policy(**EVERYWHERE)
        assert made.tunnel("ok.test:80")[0] == 403
        made.policy(allow=["ok.test"])
        made.tunnel("ok.test:80").close()
    finally:
        made.close()


# --- names ---


def test_rebinding(world, proxy):
    """E07: a first answer that is good, a second one that is not; the canary listens where the second one leads."""
    turns = {}

    def answer(question):
        turns[question[1]] = turns.get(question[1], 0) + 1
        return [THERE] if turns[question[1]] % 2 else ["127.0.0.1"]

    world.names.names["rebound.test"] = answer
    proxy.policy(allow=["rebound.test"])
    touched, asked = world.touched(), len(world.names.asked)
    got = [status_of(proxy.ask(get("http://rebound.test/", "Connection: close"))) for _ in range(1000)]
    assert world.touched() == touched
    assert (got.count(200), got.count(403)) == (500, 500)
    # Once for each family, and never again.
    assert len(world.names.asked) - asked == 2000


def test_rebinding_between_requests(world, proxy):
    """The answer changes while the program's connection goes on."""
    addresses = [THERE]
    world.names.names["rebound.test"] = lambda question: list(addresses)
    proxy.policy(allow=["rebound.test"])
    touched = world.touched()
    with proxy.connect() as connection:
        connection.sendall(get("http://rebound.test/1"))
        assert answers(connection, 1)[0][0] == 200
        addresses[:] = ["127.0.0.1"]
        connection.sendall(get("http://rebound.test/2"))
        assert answers(connection, 1)[0][0] == 403
        addresses[:] = [THERE]
        connection.sendall(get("http://rebound.test/3"))
        assert answers(connection, 1)[0][0] == 200
    assert world.touched() == touched


def test_other_answers(world, proxy):
    world.names.names.update({"alias.test": "=ok.test", "mixed.test": ["127.0.0.1", "10.9.8.7", THERE], "loop.test": "=rebound.test", "rebound.test": ["127.0.0.1"],
                              "many.test": [f"10.1.{n}.1" for n in range(200)], "six.test": ["2606:4700::2"], "empty.test": []})
    proxy.policy(**EVERYWHERE)
    for host, wanted in (("alias.test", 200), ("mixed.test", 200), ("loop.test", 403), ("many.test", 502), ("empty.test", 502), ("unknown.test", 502),
                         ("printer", 502), ("from-the-file.test", 200), ("six.test", 502)):
        assert status_of(proxy.ask(get(f"http://{host}/", "Connection: close"))) == wanted, host
    # No domain of the host's is searched.
    assert not [name for name in world.names.asked if name.endswith("search.test")]


def test_a_name_server_that_knows_one_family(world, proxy):
    """It says nothing to questions for the other one."""
    world.names.names["half.test"] = lambda question: [THERE] if question[1] == 1 else None
    proxy.policy(allow=["half.test"])
    began = time.monotonic()
    assert status_of(proxy.ask(get("http://half.test/", "Connection: close"))) == 200
    assert time.monotonic() - began < 3


def test_another_address_is_tried(world, proxy):
    """One that does not answer at all, and one that refuses, before the one that does."""
    world.names.names.update({"silent.test": ["2606:4700::dead", THERE], "refusing.test": ["2606:4700::2", THERE]})
    proxy.policy(allow=["silent.test", "refusing.test"])
    for host in ("silent.test", "refusing.test"):
        began = time.monotonic()
        assert status_of(proxy.ask(get(f"http://{host}/", "Connection: close"))) == 200
        assert time.monotonic() - began < 1.5, host


def test_what_does_not_answer(proxy):
    proxy.policy(**EVERYWHERE)
    since = len(proxy.decisions())
    assert proxy.tunnel("ok.test:9") == (502, "Glovebox: ok.test:9 is not reached: it does not take connections.\n")
    assert proxy.socks(b"ok.test", 9) == 5
    assert proxy.socks(b"unknown.test", 80) == 4
    until(lambda: len(proxy.decisions(since)) == 3)
    assert [said["verdict"] for said in proxy.decisions(since)] == ["allow"] * 3
    assert all(said["reason"] for said in proxy.decisions(since))


# --- plain HTTP ---


def test_host_is_that_of_the_address(world, proxy):
    """E10: every request judged afresh, on one connection."""
    assert status_of(proxy.ask(b"GET http://ok.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n")) == 400
    assert status_of(proxy.ask(b"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nHost: ok.test\r\n\r\n")) == 400
    assert status_of(proxy.ask(b"GET http://ok.test/ HTTP/1.1\r\n\r\n")) == 400
    assert status_of(proxy.ask(b"GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n")) == 400
    assert status_of(proxy.ask(b"GET http://ok.test/ HTTP/1.0\r\n\r\n")) == 200
    assert [line for line in world.web.heads[-1].split("\r\n") if line.startswith("Host")] == ["Host: ok.test"]
    heads = len(world.web.heads)
    with proxy.connect(get("http://ok.test/1") + get("http://evil.test/2") + get("http://ok.test/3") + get("http://ok.test:8000/4")) as connection:
        assert [status for status, _ in answers(connection, 4)] == [200, 403, 200, 200]
        connection.sendall(b"GET http://evil.test/5 HTTP/1.1\r\nHost: ok.test\r\n\r\n")
        assert [status for status, _ in answers(connection, 2)] == [400]
    assert [head.split()[1] for head in world.web.heads[heads:]] == ["/1", "/3", "/4"]
    assert "Host: ok.test:8000" in world.web.heads[-1].split("\r\n")


def test_what_is_passed_on(proxy):
    text = proxy.ask(get("http://OK.test:80/a?b=c", "User-Agent: x", "Connection: close, X-Hop", "X-Hop: 1", "Proxy-Authorization: Basic eA==", "TE: trailers", "Upgrade: h2c",
                         "Accept: */*", "Cookie: a=b", "Keep-Alive: 5"))
    head, _, body = text.partition(b"\r\n\r\n")
    assert json.loads(body) == {"line": "GET /a?b=c HTTP/1.1", "fields": ["Host: ok.test", "User-Agent: x", "Accept: */*", "Cookie: a=b", "Connection: close"], "body": ""}
    assert b"X-Seen: yes" in head


def test_bodies_of_requests(proxy):
    long = bytes(range(256)) * 1000
    chunks = b"5;x=y\r\nhello\r\n" + b"%x\r\n" % len(long) + long + b"\r\n0\r\nTrailer: x\r\n\r\n"
    for fields, sent, wanted in ((["Content-Length: 5"], b"hello", b"hello"), (["Content-Length: %d" % len(long)], long, long), (["Transfer-Encoding: chunked"], chunks, b"hello" + long),
                                 (["Content-Length: 0"], b"", b"")):
        with proxy.connect(get("http://ok.test/", *fields, method="POST", body=sent) + get("http://ok.test/after")) as connection:
            (first, body), (second, after) = answers(connection, 2)
        assert (first, second) == (200, 200) and json.loads(body)["body"] == wanted.decode("latin-1")
        assert json.loads(after)["line"] == "GET /after HTTP/1.1"
    assert status_of(proxy.ask(get("http://ok.test/", "Transfer-Encoding: chunked", "Connection: close", method="POST", body=b"5\nhello\r\n0\r\n\r\n"))) in (None, 502)


def test_a_body_that_waits_to_be_asked_for(proxy):
    with proxy.connect(get("http://ok.test/", "Content-Length: 5", "Expect: 100-continue", method="POST")) as connection:
        assert read_head(connection) == ("HTTP/1.1 100 Continue", b"")
        connection.sendall(b"hello")
        (status, body), = answers(connection, 1)
    assert status == 200 and json.loads(body)["body"] == "hello" and "Expect" not in str(json.loads(body)["fields"])


def test_an_answer_before_all_was_sent(world, proxy):
    """What of a body is not sent by then is no next request: the connection ends, unless all was."""
    def answer_early(connection):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.recv(1)
        time.sleep(0.1)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        connection.settimeout(5)
        with contextlib.suppress(OSError):
            everything(connection)

    deaf = Server(world.net, THERE, 8002, answer_early)
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    proxy.policy(allow=["ok.test:8002"])
    for size in range(20_000, 36_000, 1000):
        with proxy.connect(get("http://ok.test:8002/", f"Content-Length: {size}", method="POST")) as connection:
            connection.sendall(b"x" * size + get("http://ok.test:8002/"))
            connection.shutdown(socket.SHUT_WR)
            said = everything(connection)
        assert set(re.findall(rb"HTTP/1.1 (\d+)", said)) <= {b"200"}, (size, said)


def test_bodies_of_responses(world, proxy):
    ok = b"HTTP/1.1 200 OK\r\n"
    world.web.answers = {
        "/chunks": ok + b"Transfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n4\r\ndefg\r\n0\r\nX: y\r\n\r\n", "/close": b"HTTP/1.0 200 OK\r\n\r\nabcdefg",
        "/none": b"HTTP/1.1 204 No Content\r\n\r\n", "/same": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "/head": ok + b"Content-Length: 7\r\n\r\n",
        "/early": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + b"Content-Length: 7\r\n\r\nabcdefg", "/short": ok + b"Content-Length: 9\r\n\r\nabcdefg",
        "/cut": ok + b"Transfer-Encoding: chunked\r\n\r\n7\r\nabcdefg\r\n"}

    def fetch(path, method="GET", version="1.1"):
        head, _, body = proxy.ask(get(f"http://ok.test{path}", "Connection: close", method=method, version=version)).partition(b"\r\n\r\n")
        return head.split(b"\r\n"), body

    # In chunks of our own.
    assert fetch("/chunks")[1] in (b"7\r\nabcdefg\r\n0\r\n\r\n", b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")
    assert fetch("/chunks", version="1.0")[1] == b"abcdefg"
    assert fetch("/close")[1] == b"abcdefg"
    assert fetch("/none")[0][0] == b"HTTP/1.1 204 No Content" and not [line for line in fetch("/none")[0] if b"Length" in line]
    assert b"Content-Length: 7" in fetch("/same")[0] and fetch("/same")[1] == b""
    assert b"Content-Length: 7" in fetch("/head", method="HEAD")[0] and fetch("/head", method="HEAD")[1] == b""
    assert fetch("/early")[1] == b"abcdefg" and b"Link: x" not in fetch("/early")[0]
    # What breaks off does so here, too.
    assert b"Content-Length: 9" in fetch("/short")[0] and fetch("/short")[1] == b"abcdefg"
    assert fetch("/cut")[1] == b"7\r\nabcdefg\r\n"


def test_an_answer_that_goes_on_without_content(world, proxy):
    """Fields behind its last chunk, as fast as they are read: others have their turns, and it is cut."""
    until_s = time.monotonic() + 4

    def flood(connection):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n")
        while time.monotonic() < until_s:
            connection.sendall(b"A: b\r\n" * 10000)

    world.names.names["flood.test"] = [THERE]
    server = Server(world.net, THERE, 8001, flood)
    proxy.policy(allow=["ok.test", "flood.test:8001"])
    with proxy.connect(get("http://flood.test:8001/")) as connection:
        reading = threading.Thread(target=everything, args=[connection], daemon=True)
        reading.start()
        until(lambda: server.count == 1)
        for _ in range(5):
            began = time.monotonic()
            assert status_of(proxy.ask(get("http://ok.test/", "Connection: close"))) == 200
            assert time.monotonic() - began < 1 and began < until_s
            time.sleep(0.2)
        reading.join(1)
        assert not reading.is_alive() and time.monotonic() < until_s


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                                    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi", b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", b"ICY 200 OK\r\n\r\n",
                                    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx", b"HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n"])
def test_bad_responses(world, proxy, answer):
    world.web.answers = {"/bad": answer}
    assert status_of(proxy.ask(get("http://ok.test/bad"))) == 502


def test_what_http_refuses(proxy):
    assert status_of(proxy.ask(get("http://ok.test/", method="TRACE"))) == 400
    assert b"CONNECT" in proxy.ask(get("https://ok.test/"))
    text = proxy.ask(get("http://ok.test/", "Upgrade: websocket", "Connection: Upgrade, close"))
    assert status_of(text) == 501 and b"CONNECT" in text
    until(lambda: proxy.decisions()[-1] == {"verdict": "deny", "host": "ok.test", "port": 80, "method": "GET", "reason": "a WebSocket is opened through CONNECT"})
    assert proxy.ask(b"\x16\x03\x01\0\0") == proxy.ask(b"GET / HTTP/1.1\nHost: x\n\n") and status_of(proxy.ask(b"\0")) == 400


def test_methods_and_paths(proxy):
    proxy.policy(allow=[{"host": "ok.test", "ports": [80, 7], "methods": ["GET"], "paths": ["/v1"]}])
    for method, path, wanted in (("GET", "/v1/x?y=/../z", 200), ("POST", "/v1/x", 403), ("GET", "/v2", 403), ("GET", "/v1/../v2", 403), ("GET", "/v1/%2e%2e/v2", 403),
                                 ("GET", "/v1%2f..%2fv2", 403), ("GET", "/v1/..;/v2", 403), ("GET", "/v1//v2", 403)):
        assert status_of(proxy.ask(get(f"http://ok.test{path}", "Connection: close", method=method))) == wanted, path
    # What some servers take for the method or the path is refused where there are such rules, and goes through where there are none.
    for field in ("X-HTTP-Method-Override: DELETE", "x_http_method: DELETE", "X-Original-URL: /v2"):
        assert status_of(proxy.ask(get("http://ok.test/v1", "Connection: close", field))) == 403, field
    assert proxy.tunnel("ok.test:7")[0] == 403
    proxy.policy(allow=["ok.test"])
    assert status_of(proxy.ask(get("http://ok.test/v1", "Connection: close", "X-HTTP-Method-Override: DELETE"))) == 200


# --- tunnels ---


def client_hello(name):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = bool(name)
    context.verify_mode = ssl.CERT_NONE if not name else ssl.CERT_REQUIRED
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


def test_tls_of_the_same_name(world, proxy):
    hello = client_hello("ok.test")
    for pieces in ([hello], [hello[at:at + 1] for at in range(len(hello))], [hello + b"more"]):
        with proxy.tunnel("OK.test:443") as tunnel:
            for piece in pieces:
                tunnel.sendall(piece)
            sent, got = b"".join(pieces), b""
            while len(got) < len(sent):
                got += tunnel.recv(65536)
            assert got == sent
    with proxy.socks(b"ok.test", 443) as tunnel:
        tunnel.sendall(hello)
        assert tunnel.recv(65536) == hello


def test_all_at_once(world, proxy):
    """A program that does not wait for answers: what it sends too early is not lost."""
    hello = client_hello("ok.test")
    for text, answer in ((b"CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n\r\n", b"HTTP/1.1 200 Connection established\r\n\r\n"),
                         (b"\5\1\0" + b"\5\1\0\3\7ok.test\1\xbb", b"\5\0" + b"\5\0\0\1" + bytes(6))):
        with proxy.connect(text + hello) as tunnel:
            got = b""
            while len(got) < len(answer) + len(hello):
                got += tunnel.recv(65536)
            assert got == answer + hello


@pytest.mark.parametrize("first", [client_hello("evil.test"), client_hello("a.ok.test"), client_hello(None), b"GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n", b"SSH-2.0-x\r\n"],
                         ids=["other", "below", "none", "http", "ssh"])
def test_tls_of_another_name(world, proxy, first):
    seen, since = len(world.tls), len(proxy.decisions())
    with proxy.tunnel("ok.test:443") as tunnel:
        tunnel.sendall(first)
        assert everything(tunnel) == bytes([21, 3, 3, 0, 2, 2, 112])
    assert len(world.tls) == seen
    until(lambda: len(proxy.decisions(since)) == 2)
    assert [said["verdict"] for said in proxy.decisions(since)] == ["allow", "deny"]


def test_a_tunnel_that_is_not_used(world, proxy):
    """Browsers open them beforehand: nothing was refused."""
    since, closed = len(proxy.decisions()), len(proxy.of("closed"))
    proxy.tunnel("ok.test:443").close()
    with proxy.tunnel("ok.test:443") as tunnel:
        tunnel.sendall(client_hello("ok.test")[:50])
    until(lambda: len(proxy.of("closed")) == closed + 2)
    assert [said["verdict"] for said in proxy.decisions(since)] == ["allow", "allow"]


def test_other_ports_carry_anything(proxy):
    proxy.policy(allow=["ok.test:8443"])
    with proxy.tunnel("ok.test:8443") as tunnel:
        tunnel.sendall(b"anything")
        assert tunnel.recv(100) == b"anything"


def test_each_side_may_end_first(world, proxy):
    def says_all_then_reads(connection):
        connection.sendall(b"all that I have")
        connection.shutdown(socket.SHUT_WR)
        world.taken.append(everything(connection))

    server = Server(world.net, THERE, 7001, says_all_then_reads)
    proxy.policy(allow=["ok.test:7", "ok.test:7001"])
    with proxy.tunnel("ok.test:7") as tunnel:
        tunnel.sendall(b"x" * 1_000_000)
        tunnel.shutdown(socket.SHUT_WR)
        assert len(everything(tunnel)) == 1_000_000
    with proxy.tunnel("ok.test:7001") as tunnel:
        assert everything(tunnel) == b"all that I have"
        tunnel.sendall(b"y" * 100_000)
        tunnel.shutdown(socket.SHUT_WR)
        until(lambda: world.taken)
    assert world.taken.pop() == b"y" * 100_000 and server.count == 1


def test_a_slow_reader_costs_nobody_else(world, proxy):
    sent = []

    def pours(connection):
        with contextlib.suppress(OSError):
            while True:
                sent.append(connection.send(b"z" * 65536))

    Server(world.net, THERE, 7002, pours)
    proxy.policy(allow=["ok.test:7", "ok.test:7002"])
    slow = [proxy.tunnel("ok.test:7002") for _ in range(5)]

    def stands_still():
        before = len(sent)
        return not select.select([], [], [], 0.1)[0] and len(sent) == before

    until(lambda: sent and stands_still(), every_s=0)
    # Buffers of the kernel, and a piece each.
    assert sum(sent) < 5 * 8_000_000
    memory = int(next(line.split()[1] for line in open(f"/proc/{proxy.process.pid}/status", encoding="ascii") if line.startswith("VmRSS")))
    assert memory < 64_000, f"{memory} kB"
    began = time.monotonic()
    with proxy.tunnel("ok.test:7") as tunnel:
        for _ in range(20):
            tunnel.sendall(b"x")
            assert tunnel.recv(1) == b"x"
    assert time.monotonic() - began < 1
    for connection in slow:
        connection.close()


# --- caps ---


def test_connections_are_capped(proxy):
    proxy.policy(allow=["ok.test:7"], caps={"connections": 2})
    since = len(proxy.decisions())
    first, second = proxy.tunnel("ok.test:7"), proxy.tunnel("ok.test:7")
    assert proxy.tunnel("ok.test:7") == (503, "Glovebox: ok.test:7 is not reached: the session has met its cap on connections.\n")
    assert proxy.socks(b"ok.test", 7) == 1
    first.close()
    until(lambda: not isinstance(proxy.tunnel("ok.test:7"), tuple))
    second.close()
    until(lambda: {"verdict": "deny", "host": "ok.test", "port": 7, "method": "CONNECT", "reason": "cap: connections"} in proxy.decisions(since))


def test_more_programs_than_places_wait(proxy):
    """Those that say nothing take places, and no more than there are; who comes then is served once they go."""
    proxy.policy(allow=["ok.test:7"], caps={"connections": 4})
    silent = [proxy.connect() for _ in range(200)]
    asks = proxy.connect(b"CONNECT ok.test:7 HTTP/1.0\r\n\r\n", timeout_s=10)
    assert len(os.listdir(f"/proc/{proxy.process.pid}/fd")) < 120
    assert not select.select([asks], [], [], 0.2)[0]
    for connection in silent:
        connection.close()
    assert read_head(asks)[0].startswith("HTTP/1.1 200")
    asks.close()


def test_the_rate_is_capped(proxy):
    proxy.policy(allow=["ok.test:7"], caps={"bytes_s": 400_000})
    began = time.monotonic()
    with proxy.tunnel("ok.test:7") as tunnel:
        tunnel.sendall(b"x" * 300_000)
        tunnel.shutdown(socket.SHUT_WR)
        assert len(everything(tunnel)) == 300_000
    # Both ways together, but for what was saved.
    assert 1 < time.monotonic() - began < 4


def test_a_rate_that_is_raised(proxy):
    """Who waits for a slow one waits no longer."""
    proxy.policy(allow=["ok.test:7"], caps={"bytes_s": 10})
    with proxy.tunnel("ok.test:7") as tunnel:
        tunnel.sendall(b"x" * 10_000)
        assert not select.select([tunnel], [], [], 0.2)[0]
        proxy.policy(allow=["ok.test:7"], caps={"bytes_s": 1_000_000})
        tunnel.shutdown(socket.SHUT_WR)
        assert len(everything(tunnel)) == 10_000


def test_bytes_are_capped(proxy):
    used = usage(proxy)
    proxy.policy(allow=["ok.test:7"], caps={"bytes": used["up"] + used["down"] + 100_000})
    since = len(proxy.decisions())
    with proxy.tunnel("ok.test:7") as tunnel:
        with contextlib.suppress(OSError):
            tunnel.sendall(b"x" * 1_000_000)
        assert len(everything(tunnel)) < 100_000
    assert proxy.tunnel("ok.test:7")[0] == 503
    assert {"verdict": "deny", "host": "ok.test", "port": 7, "method": "CONNECT", "reason": "cap: bytes"} in [
        {name: value for name, value in said.items() if name != "address"} for said in proxy.decisions(since)]


def test_connections_have_a_rate(proxy):
    """Each that is ended here keeps one of the machine's ports, which are all sessions', for a minute."""
    began = time.monotonic()
    for _ in range(150):
        proxy.tunnel("ok.test:7").close()
    assert time.monotonic() - began > 1


def test_heads_of_answers_count(world, tmp_path):
    world.web.answers = {"/long": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: " + b"y" * 20_000 + b"\r\n\r\nhi"}
    made = Proxy(world, tmp_path)
    try:
        made.policy(allow=["ok.test"], caps={"bytes": 10_000})
        said = made.ask(get("http://ok.test/long", "Connection: close"))
        assert status_of(said) == 503 and b"cap on bytes" in said and b"yyy" not in said
        until(lambda: usage(made).get("down", 0) >= 20_000, every_s=0.01)
    finally:
        made.close()


# --- the stage ---


def test_questions(proxy):
    proxy.policy(allow=["ok.test"], ask=True)
    since, closed = len(proxy.of("ask")), len(proxy.decisions())
    waiting = [proxy.connect(get("http://ok.test/", "Connection: close")) for _ in range(3)]
    until(lambda: proxy.of("ask")[since:])
    question = proxy.of("ask")[since]
    assert question == {"id": question["id"], "host": "ok.test", "port": 80, "method": "GET"}
    assert not select.select(waiting, [], [], 0.2)[0]
    proxy.send(VERDICT, {"id": question["id"], "allow": True})
    assert [status_of(everything(made)) for made in waiting] == [200] * 3
    assert len(proxy.of("ask")) == since + 1 and proxy.decisions(closed)[0] == {"verdict": "ask", "host": "ok.test", "port": 80}
    # The next one is a new question, whose answer holds.
    refused = proxy.connect(get("http://ok.test/", "Connection: close"))
    until(lambda: proxy.of("ask")[since + 1:])
    proxy.send(VERDICT, {"id": proxy.of("ask")[-1]["id"], "allow": False, "session": True})
    assert status_of(everything(refused)) == 403
    assert proxy.tunnel("ok.test:80")[0] == 403
    assert len(proxy.of("ask")) == since + 2
    # What is refused anyway is not asked about.
    assert proxy.tunnel("evil.test:80")[0] == 403 and len(proxy.of("ask")) == since + 2
    for connection in waiting + [refused]:
        connection.close()


def test_a_question_that_is_given_up(proxy):
    """A program that has gone does not use up the answer: the stage hears that nobody waits. One that half-closes and is answered at once is served."""
    proxy.policy(allow=["ok.test"], ask=True)
    since = len(proxy.of("ask"))
    with proxy.connect(get("http://ok.test/", "Connection: close")) as patient:
        gone = proxy.connect(get("http://ok.test/", "Connection: close"))
        until(lambda: proxy.of("ask")[since:])
        gone.close()
        id = proxy.of("ask")[since]["id"]
        time.sleep(2.5)  # as long as rules may take
        assert {"id": id} not in proxy.of("left"), "one waits on"
    until(lambda: {"id": id} in proxy.of("left"))
    with proxy.connect(get("http://ok.test/", "Connection: close")) as half:
        half.shutdown(socket.SHUT_WR)
        until(lambda: proxy.of("ask")[since + 1:])
        proxy.send(VERDICT, {"id": proxy.of("ask")[-1]["id"], "allow": True})
        assert status_of(everything(half)) == 200


def test_an_address_that_no_yes_opens(proxy):
    proxy.policy(mode="open", ask=True)
    since = len(proxy.of("ask"))
    for place in ("10.0.0.1:80", "169.254.169.254:80", "[::1]:80"):
        assert proxy.tunnel(place)[0] == 403, place
    assert len(proxy.of("ask")) == since


def test_a_refused_tunnel_says_why_in_its_first_line(proxy):
    """Programs show no more of it: "Tunnel connection failed: 403 Forbidden: no entry …"."""
    proxy.policy(allow=["ok.test"])
    said = proxy.ask(b"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 403 Forbidden: no entry of the allow list names this host\r\n"), said


def test_a_new_policy(proxy):
    tunnel = proxy.tunnel("ok.test:7")
    proxy.policy(allow=["evil.test"])
    tunnel.sendall(b"x")
    assert tunnel.recv(1) == b"x"
    assert proxy.tunnel("ok.test:7")[0] == 403
    since = len(proxy.of("closed"))
    proxy.policy(allow=["evil.test"], cut=True)
    assert everything(tunnel) == b""
    until(lambda: proxy.of("closed")[since:])
    tunnel.close()


def test_the_stage_is_told(proxy):
    since, closed = len(proxy.decisions()), len(proxy.of("closed"))
    with proxy.tunnel("ok.test:7") as tunnel:
        tunnel.sendall(b"x" * 1000)
        tunnel.shutdown(socket.SHUT_WR)
        assert len(everything(tunnel)) == 1000
    assert status_of(proxy.ask(get("http://ok.test/secret?token=abc", "Authorization: Bearer abc", "Connection: close"))) == 200
    until(lambda: len(proxy.of("closed")[closed:]) == 2)
    assert proxy.decisions(since)[0] == {"verdict": "allow", "host": "ok.test", "port": 7, "method": "CONNECT", "rule": "ok.test:7", "address": THERE}
    first = proxy.of("closed")[closed]
    assert (first["host"], first["port"], first["up"], first["down"]) == ("ok.test", 7, 1000, 1000) and first["ms"] >= 0
    assert "abc" not in json.dumps(proxy.said) and "secret" not in json.dumps(proxy.decisions(since))
    until(lambda: usage(proxy)["connections"] == 0 and usage(proxy)["up"] >= 1000, within_s=5)


def test_what_cannot_be_told_waits(world, tmp_path):
    """While the stage does not read, nothing is let through that it could not be told, and nothing is kept for it without end."""
    made = Proxy(world, tmp_path)
    try:
        made.policy(allow=["ok.test:7"])
        made.reads = False
        # Whoever asks is answered until the link is full, also who asks nonsense.
        asked = [b"CONNECT evil.test:7 HTTP/1.0\r\n\r\n", b"nonsense\r\n\r\n"]
        waiting, kinds, answered = [], set(), 0
        while len(waiting) < 10 and answered < 20_000:
            kind = (answered + len(waiting)) % 2
            asks = made.connect(asked[kind])
            if select.select([asks], [], [], 0.1)[0]:
                answered += 1
                asks.close()
            else:
                waiting.append(asks)
                kinds.add(kind)
        assert 500 < answered < 20_000 and kinds == {0, 1}, (answered, kinds)
        made.reads = True
        assert all(read_head(asks)[0] for asks in waiting)
        # The last are told, too, and none is lost.
        until(lambda: len(made.decisions()) == answered + len(waiting))
        for asks in waiting:
            asks.close()
    finally:
        made.reads = True
        made.close()


def test_what_the_stage_may_not_say(world, tmp_path):
    """The form is not kept: the process ends, and nothing is let through."""
    for n, (kind, text) in enumerate([(POLICY, b'{"mode":"all"}'), (POLICY, b"{"), (VERDICT, b'{"id":0,"allow":true}'), (ASK, b"{}"), (DECISION, b"{}")]):
        folder = tmp_path / str(n)
        folder.mkdir()
        made = Proxy(world, folder)
        try:
            made.stage.sendall(FRAME.pack(len(text), kind, 0) + text)
            made.process.wait(10)
        finally:
            made.close()


def test_the_warden_ends(world, tmp_path):
    made = Proxy(world, tmp_path)
    try:
        made.policy(**EVERYWHERE)
        made.warden.close()
        assert made.process.wait(10) == 0
    finally:
        made.close()


def test_the_process_has_little(proxy):
    status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{proxy.process.pid}/status").read_text(encoding="ascii").splitlines() if ":\t" in line)
    assert (status["Seccomp"], status["NoNewPrivs"], status["CapEff"], status["CapBnd"]) == ("2", "1", "0" * 16, "0" * 16)
    assert status["Uid"].split() == [str(UID)] * 4 and status["Threads"] == "1" and status["Groups"].strip() == ""
