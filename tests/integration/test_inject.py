# SPDX-License-Identifier: GPL-2.0-or-later
"""Secrets that glovebox-egress puts into requests: they come to their host in the header that is theirs, and to nobody else; in the session they are nowhere."""
import base64
import contextlib
import json
import os
import pathlib
import re
import secrets as random
import signal
import urllib.parse

import pytest

import jail
from api import Refused
from conftest import BUILD, IMAGES, Server, until
from memory import holders, memory_of
from tls import make_certificate
from upstream import Upstream

VALUE = f"Ca{random.token_hex(12)}%+/x"
NAMES = ("api.test", "other.test", "wrong.test")
# In the image's own words: what of a request goes in comes from standard input.
TLS = """exec openssl s_client -quiet -proxy 127.0.0.1:3128 -connect "$1" -servername "$2" -CAfile "$3" -verify_return_error -verify_hostname "$2" 2>/dev/null"""
PLAIN = "exec 3<>/dev/tcp/127.0.0.1/3128 && cat >&3 && cat <&3"


def put(api, name, value, **rule):
    return api.request("PUT", f"/v1/secrets/{name}?{urllib.parse.urlencode(rule)}", value, headers={"Content-Type": "application/octet-stream"})


class World:
    """A server on a host that knows three more names, and trusts one authority more; what they lead to."""

    def __init__(self, folder):
        self.certificate, key = make_certificate(folder, names="DNS:api.test,DNS:other.test")
        self.secure, self.plain = Upstream((self.certificate, key)), Upstream()
        self.origin, self.plain_origin = f"https://api.test:{self.secure.port}", f"http://api.test:{self.plain.port}"
        trusted = folder / "certs"
        trusted.mkdir()
        (trusted / "ca-certificates.crt").write_text(pathlib.Path("/etc/ssl/certs/ca-certificates.crt").read_text() + self.certificate.read_text())
        (folder / "hosts").write_text(f"127.0.0.1 localhost {' '.join(NAMES)}\n")
        (folder / "ceilings").write_text("egress_permit = 127.0.0.1\n")
        (folder / "ceilings").chmod(0o600)
        # The host's own files, as this server alone sees them.
        program = folder / "programs" / "gloveboxd"
        program.parent.mkdir()
        program.write_text(f"""#!/bin/sh
exec unshare --mount --propagation private sh -c 'mount --bind {folder}/hosts "$(realpath /etc/hosts)" && mount --bind {trusted} /etc/ssl/certs && exec "$@"' sh {BUILD}/gloveboxd "$@"
""")
        program.chmod(0o700)
        self.server = Server(folder / "state", "--ceilings", folder / "ceilings", programs=program.parent).start()
        for name, rule in {"api-key": (self.origin, "Authorization", "Bearer "), "plain-key": (self.plain_origin, "X-Api-Key", "")}.items():
            assert put(self.server.api, name, VALUE, inject=rule[0], header=rule[1], prefix=rule[2]).status == 200

    def close(self):
        for upstream in (self.secure, self.plain):
            upstream.close()
        self.server.stop()

    def spec(self, image="minimal", **more):
        places = [f"{name}:{upstream.port}" for name in NAMES for upstream in (self.secure, self.plain)]
        return {"image": image, "secrets": ["api-key", "plain-key"], "egress": {"mode": "allowlist", "allow": places}, **more}


@pytest.fixture(scope="module")
def world(prepared, tmp_path_factory):
    world = World(tmp_path_factory.mktemp("inject"))
    yield world
    world.close()


@pytest.fixture(scope="module")
def session(world):
    session = world.server.api.new(**world.spec())
    yield session
    session.end()


def send(session, world, request, name="api.test", trust="/run/egress/bundle.pem"):
    """A request by TLS as openssl makes it; what came back."""
    done = session.exec("sh", "-c", TLS, "sh", f"{name}:{world.secure.port}", name, trust, stdin=request)
    return done["stdout"]


def get(path, name="api.test", method="GET", **fields):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {name}", "Connection: close", *(f"{field.replace('_', '-')}: {value}" for field, value in fields.items())]
    return "\r\n".join(lines) + "\r\n\r\n"


def decisions(world, session):
    """Of its journal."""
    lines = world.server.api.request("GET", f"{session.path}/journal").body.decode().splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == "egress"]


# --- rules

@pytest.mark.parametrize("rule, pointer", [
    ({"inject": "https://api.test"}, "/header"),
    ({"header": "Authorization"}, "/inject"),
    ({"inject": "api.test", "header": "Authorization"}, "/inject"),
    ({"inject": "https://10.0.0.1", "header": "Authorization"}, "/inject"),
    ({"inject": "https://*.test", "header": "Authorization"}, "/inject"),
    ({"inject": "http://localhost", "header": "Authorization"}, "/inject"),
    ({"inject": "https://app.localhost:8443", "header": "Authorization"}, "/inject"),
    ({"inject": "https://api.test", "header": "Host"}, "/header"),
    ({"inject": "https://api.test", "header": "A\r\nB"}, "/header"),
    ({"inject": "https://api.test", "header": "Authorization", "prefix": "a\nb"}, "/prefix"),
    ({"prefix": "Bearer "}, "/prefix"),
    ({"inject": "https://api.test", "header": "Authorization", "app": "firefox", "origin": "https://api.test"}, "/inject"),
])
def test_rules_that_are_refused(world, rule, pointer):
    reply = put(world.server.api, "refused", VALUE, **rule)
    assert (reply.status, reply.json["pointer"]) == (400, pointer), reply.json
    assert "refused" not in {row["name"] for row in world.server.api.call("GET", "/v1/secrets")["secrets"]}


@pytest.mark.parametrize("value", [b"1234567", b"12345678\r\nX: y", b" 12345678", b"12345678\xff"])
def test_values_that_are_refused(world, value):
    assert put(world.server.api, "refused", value, inject="https://api.test", header="Authorization").status == 400


def test_a_rule_is_told(world):
    row = next(row for row in world.server.api.call("GET", "/v1/secrets")["secrets"] if row["name"] == "api-key")
    assert (row["inject"], row["header"], row["prefix"], row["app"]) == (world.origin, "Authorization", "Bearer ", None)


@pytest.mark.parametrize("egress", [{}, {"mode": "none"}, {"mode": "allowlist", "allow": ["api.test"]}, {"mode": "allowlist", "allow": ["other.test:1"]}])
def test_without_a_way_to_its_host_nothing_is_made(world, egress):
    before = world.server.live_sessions()
    with pytest.raises(Refused) as refused:
        world.server.api.new(image="minimal", secrets=["api-key"], egress=egress)
    assert (refused.value.status, refused.value.code, refused.value.pointer) == (400, "bad_field", "/secrets/0")
    assert world.origin in refused.value.problem["detail"]
    assert world.server.live_sessions() == before


# --- requests

def test_it_comes_by_tls(world, session):
    """Behind the session's own field, which does not come, nor one that looks like it."""
    answer = send(session, world, get("/ok", Authorization="Bearer STOLEN", authorization="x", Range="bytes=0-1", Accept_Encoding="gzip", X_Mine="stays", Connection="Authorization"))
    assert answer.startswith("HTTP/1.1 200") and answer.endswith("hello")
    assert world.secure.values("Authorization") == [f"Bearer {VALUE}"]
    assert world.secure.values("X-Mine") == ["stays"] and world.secure.values("Range") == [] and world.secure.values("Accept-Encoding") == ["identity"]
    assert world.secure.values("Host") == [f"api.test:{world.secure.port}"]


def test_two_requests_of_one_connection(world, session):
    answer = send(session, world, get("/ok").replace("Connection: close\r\n", "") + get("/ok"))
    assert answer.count("hello") == 2
    assert [dict(got[2])["Authorization"] for got in world.secure.got[-2:]] == [f"Bearer {VALUE}"] * 2


def test_a_request_with_a_body_is_the_last_of_its_connection(world, session):
    """A server that does not read the body would take it for a request, and the head of the next one, with the value, for the rest of that."""
    before = len(world.secure.got)
    inner = "POST /store HTTP/1.1\r\nHost: api.test\r\nContent-Length: 120\r\n\r\n"
    for method in ("GET", "POST"):
        asks = get("/ok", method=method, Content_Length=str(len(inner))).replace("Connection: close\r\n", "")
        answer = send(session, world, asks + inner + get("/ok"))
        assert answer.count("HTTP/1.1 200") == 1 and "Connection: close" in answer, answer
    assert len(world.secure.got) == before + 2 and ("Connection", "close") in world.secure.got[-1][2]


def test_an_answer_whose_end_is_that_of_the_connection(world, session):
    """What is whole ends with the word of TLS that it does: programs take all else for broken off."""
    done = session.exec("sh", "-c", TLS, "sh", f"api.test:{world.secure.port}", "api.test", "/run/egress/bundle.pem", stdin=get("/close"))
    assert done["stdout"].endswith("hello") and done["exit_code"] == 0, done


def test_what_is_counted_says_nothing_of_it(world):
    """The bytes of a request are those that the session sent."""
    session = world.server.api.new(**world.spec())

    def sent():
        return session.api.call("GET", session.path)["egress"]["bytes_up"]

    request = get(f"{world.plain_origin}/ok", f"api.test:{world.plain.port}")
    for n in (1, 2):
        session.exec("bash", "-c", PLAIN, stdin=request)
        until(lambda n=n: sent() >= n * len(request))
        assert sent() == n * len(request)
    session.end()


def test_it_comes_by_plain_http(world, session):
    where = f"{world.plain_origin}/ok"
    answer = session.exec("bash", "-c", PLAIN, stdin=get(where, f"api.test:{world.plain.port}", X_Api_Key="STOLEN"))["stdout"]
    assert answer.endswith("hello")
    assert world.plain.values("X-Api-Key") == [VALUE] and world.plain.values("Authorization") == []
    assert world.plain.got[-1][1] == "/ok"


def test_other_hosts_get_nothing(world, session):
    """Nor is their TLS taken apart: it is their own certificate that is seen."""
    own = "/tmp/own.pem"
    session.run("sh", "-c", f"cat >{own}", stdin=world.certificate.read_text())
    assert send(session, world, get("/ok", "other.test"), "other.test", own).endswith("hello")
    assert world.secure.values("Authorization") == []
    # To the host of the secret their certificate is never seen.
    assert send(session, world, get("/ok"), trust=own) == ""
    assert send(session, world, get("/ok"), trust="/run/egress/ca.pem").endswith("hello")


def test_a_tunnel_to_it_is_for_it_alone(world, session):
    """TLS for another name, or for none, does not begin; and what names another host within goes nowhere."""
    before = len(world.secure.got)
    for name in ("-servername other.test", "-noservername"):
        tls = TLS.replace('-servername "$2"', name).replace('-verify_hostname "$2"', "")
        assert session.exec("sh", "-c", tls, "sh", f"api.test:{world.secure.port}", "", "/run/egress/bundle.pem", stdin=get("/ok"))["stdout"] == ""
    assert send(session, world, get("/ok", "other.test")).split()[1] in ("400", "403", "421")
    assert send(session, world, get(f"https://other.test:{world.secure.port}/ok", "other.test")).split()[1] in ("400", "403", "421")
    assert len(world.secure.got) == before


def test_the_host_is_who_it_says(world, tmp_path):
    """A certificate of nobody known: nothing is sent there."""
    fake = Upstream(make_certificate(tmp_path, names="DNS:api.test"))
    assert put(world.server.api, "fake-key", VALUE, inject=f"https://api.test:{fake.port}", header="Authorization").status == 200
    session = world.server.api.new(image="minimal", secrets=["fake-key"], egress={"mode": "allowlist", "allow": [f"api.test:{fake.port}"]})
    done = session.exec("sh", "-c", TLS, "sh", f"api.test:{fake.port}", "api.test", "/run/egress/bundle.pem", stdin=get("/ok"))
    assert done["stdout"].startswith("HTTP/1.1 502") and "certificate" in done["stdout"]
    assert fake.got == []
    session.end()
    fake.close()


@pytest.mark.parametrize("path", ["/echo", "/echo64", "/header", "/slow"])
def test_an_answer_with_the_value_is_cut(world, session, path):
    answer = send(session, world, get(path))
    assert VALUE not in answer and "[masked]" not in answer, answer
    assert base64.b64encode(VALUE.encode()).decode()[4:12] not in answer
    # Not even a part of it that would be of use.
    assert VALUE[:6] not in answer and " after" not in answer
    assert world.secure.values("Authorization") == [f"Bearer {VALUE}"]
    until(lambda: re.search(r'^glovebox_security_events_total\{event="returned"\} [1-9]', world.server.api.request("GET", "/metrics").body.decode(), re.M))
    until(lambda: any("api-key" in line.get("reason", "") and line["verdict"] == "deny" for line in decisions(world, session)))


def test_what_cannot_be_looked_through_is_refused(world, session):
    assert send(session, world, get("/gzip")).startswith("HTTP/1.1 502")
    assert send(session, world, get("/part", Request_Range="bytes=7-10")).startswith("HTTP/1.1 502") and world.secure.values("Request-Range") == []
    before = len(world.secure.got)
    assert send(session, world, get("/echo", method="TRACE")).split()[1] in ("400", "403", "405", "501")
    assert len(world.secure.got) == before


def test_each_session_has_its_own_authority(world, session):
    other = world.server.api.new(**world.spec())
    mine, theirs = (each.run("cat", "/run/egress/ca.pem") for each in (session, other))
    assert mine != theirs
    other.run("sh", "-c", "cat >/tmp/theirs.pem", stdin=mine)
    assert send(other, world, get("/ok"), trust="/tmp/theirs.pem") == ""
    shown = session.run("openssl", "x509", "-noout", "-text", stdin=mine)
    assert "X509v3 Name Constraints: critical" in shown and "DNS:api.test" in shown and "other.test" not in shown
    # Its key is not there.
    assert set(session.run("ls", "-A", "/run/egress").split()) == {"ca.pem", "bundle.pem", "chromium.json", "proxy.sock"}
    for path in ("/run/egress/ca.pem", "/run/egress/bundle.pem", "/run/egress/new"):
        assert session.exec("sh", "-c", f"echo >>{path}")["exit_code"] != 0
    other.end()


def test_without_such_a_secret_there_is_none(world):
    session = world.server.api.new(image="minimal", egress=world.spec()["egress"])
    assert session.exec("test", "-e", "/run/egress/ca.pem")["exit_code"] == 1
    assert "BEGIN CERTIFICATE" in session.run("cat", "/run/egress/bundle.pem")
    assert send(session, world, get("/ok")).endswith("hello")
    assert world.secure.values("Authorization") == []
    session.end()


def test_it_is_no_variable_of_the_setup(world):
    """That would be in the session."""
    with pytest.raises(Refused) as refused:
        world.server.api.new(**world.spec(), setup={"commands": ["true"], "secrets": {"TOKEN": "api-key"}})
    assert (refused.value.code, refused.value.pointer) == ("bad_field", "/setup/secrets/TOKEN")


def test_in_the_setup_phase_alone(world):
    """What only that may reach needs the secret then, and not later."""
    ask = ["sh", "-c", f"printf '{get('/setup').encode('unicode_escape').decode()}' | ({TLS}) || true", "sh", f"api.test:{world.secure.port}", "api.test", "/run/egress/bundle.pem"]
    before = len(world.secure.got)
    session = world.server.api.new(image="minimal", secrets=["api-key"], setup={"commands": [ask], "egress": world.spec()["egress"]})
    assert [got[1] for got in world.secure.got[before:]] == ["/setup"] and world.secure.values("Authorization") == [f"Bearer {VALUE}"]
    assert "200" not in send(session, world, get("/ok")) and len(world.secure.got) == before + 1
    session.end()


# --- the value

def test_it_is_nowhere_in_the_session(world, session):
    """Neither told from inside (what is said is masked: nothing is) nor found from outside."""
    send(session, world, get("/echo"))
    said = session.run("sh", "-c", "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; grep -rsh . /run /tmp /home /etc/environment 2>/dev/null; true")
    assert "[masked]" not in said and len(said) > 100000  # the bundle at the least
    names = holders(world.server, VALUE.encode())
    assert names and names <= {"glovebox-egress", "glovebox-stage"}, names
    inside = [pid for pid, name in jail.processes(session.id).items() if os.path.exists(f"/proc/{pid}/root/run/egress")]
    assert inside
    for pid in inside:
        for piece in (*memory_of(pid), pathlib.Path(f"/proc/{pid}/environ").read_bytes()):
            assert VALUE.encode() not in piece
    root = pathlib.Path(f"/proc/{inside[0]}/root")
    for folder in ("run", "tmp", "home", "var/tmp"):
        for path in (root / folder).rglob("*"):
            if path.is_file() and not path.is_symlink():
                assert VALUE.encode() not in path.read_bytes(), path


def mappings(pid):
    """Each with its address, flags and bytes, as far as they can be read."""
    for text in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", pathlib.Path(f"/proc/{pid}/smaps").read_text(), flags=re.M)[1:]:
        start, end = (int(part, 16) for part in text.split()[0].split("-"))
        with open(f"/proc/{pid}/mem", "rb", 0) as memory, contextlib.suppress(OSError, OverflowError):
            memory.seek(start)
            yield text.splitlines()[0], set(re.search(r"^VmFlags:(.*)", text, re.M)[1].split()), memory.read(end - start)


def test_only_its_own_egress_has_it(world, session):
    """In memory that is locked ("lo") and not dumped ("dd"), also after requests and answers; that of a session that does not name it has none."""
    for path in ("/ok", "/echo", "/header"):
        send(session, world, get(path))
    pid = jail.part(session.id, "glovebox-egress")
    until(lambda: all({"lo", "dd"} <= flags for _, flags, data in mappings(pid) if VALUE.encode() in data))
    assert any(VALUE.encode() in data for *_, data in mappings(pid))
    other = world.server.api.new(image="minimal", egress=world.spec()["egress"])
    pid = jail.part(other.id, "glovebox-egress")
    assert not any(VALUE.encode() in piece for piece in memory_of(pid))
    other.end()


def test_it_is_in_no_journal_and_no_log(world, session):
    send(session, world, get("/ok?token=in-the-query"))
    lines = until(lambda: [line for line in decisions(world, session) if line.get("secret") == "api-key"])
    assert {(line["host"], line["port"], line["verdict"]) for line in lines} >= {("api.test", world.secure.port, "allow")}
    journal = world.server.api.request("GET", f"{session.path}/journal").body.decode()
    assert VALUE not in journal and "in-the-query" not in "".join(map(json.dumps, decisions(world, session)))
    assert VALUE not in world.server.log_text()


def test_a_new_process_in_its_place(world, session):
    """The authority stays, since what trusts it has read it."""
    before = session.run("cat", "/run/egress/ca.pem")
    pid = jail.part(session.id, "glovebox-egress")
    os.kill(pid, signal.SIGKILL)
    until(lambda: [new for new, name in jail.processes(session.id).items() if name == "glovebox-egress" and new != pid])
    until(lambda: send(session, world, get("/ok")).endswith("hello"))
    assert session.run("cat", "/run/egress/ca.pem") == before
    assert world.secure.values("Authorization") == [f"Bearer {VALUE}"]


# --- programs

@pytest.fixture(scope="module")
def tools(world):
    session = world.server.api.new(**world.spec("toolkits"))
    yield session
    session.end()


@pytest.mark.parametrize("program, path", [
    ("curl -sS ORIGIN/ok", "/ok"),
    ("python3 -c 'import urllib.request; print(urllib.request.urlopen(\"ORIGIN/ok\").read().decode())'", "/ok"),
    ("git ls-remote ORIGIN/some.git", "/some.git/info/refs?service=git-upload-pack"),
    ("pip download --no-cache-dir --retries 0 --index-url ORIGIN/simple nothing", "/simple/nothing/"),
    ("npm --fetch-retries=0 --registry=ORIGIN/npm/ view nothing", "/npm/nothing"),
], ids=["curl", "python", "git", "pip", "npm"])
def test_programs_trust_it(world, tools, program, path):
    """As they are: nothing but their environment says so. What they make of the answer is another matter."""
    world.secure.got.clear()
    done = tools.exec("sh", "-c", program.replace("ORIGIN", world.origin))
    assert path in [got[1] for got in world.secure.got], done
    assert all(dict(got[2])["Authorization"] == f"Bearer {VALUE}" for got in world.secure.got)
    assert "curl" not in program or done["stdout"] == "hello"


# --- browsers

@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_browsers_trust_it(world, browser):
    session = world.server.api.new(**world.spec("desktop"))
    session.do("launch", app=browser, args=[f"{world.origin}/page"])
    until(lambda: any(window["title"].startswith("the secret came") for window in session.windows()), within_s=60)
    session.end()
