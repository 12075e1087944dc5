# SPDX-License-Identifier: GPL-2.0-or-later
"""The API by TLS and over Unix sockets: who may connect how, and what clients that misbehave cost (cases V14, H06)."""
import datetime
import json
import os
import pathlib
import signal
import socket
import ssl
import stat
import subprocess
import time

import pytest

import jail
from api import Api, in_thread
from conftest import BUILD, IMAGES, until
from raw import Wire, assert_problem, head, post
from tls import TlsWire, UnixWire, make_certificate, trusting

FDS_OF_A_FRONT = 64  # more than it has without any connection


def front_pid(server):
    """The front's pid as it is here."""
    return next(pid for pid in jail.processes(jail.group_name(server)) if jail.read(f"/proc/{pid}/comm").strip() == "glovebox-front")


def fds(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secure(make_server, pair):
    """A server by TLS."""
    server = make_server("--tls-cert", pair[0], "--tls-key", pair[1])
    server.api.context = trusting(pair[0])
    return server


def test_a_session_by_tls(secure):
    assert secure.url.startswith("https://127.0.0.1:")
    assert f"console: {secure.url}/#code=" in secure.log_text()
    session = secure.api.new(image="minimal")
    assert session.run("echo", "by TLS") == "by TLS\n"
    assert session.shot().size == (1280, 800)
    # More than one record, both ways, and more than lies between TLS and HTTP.
    text = "x" * 300000
    assert len(session.exec("cat", stdin=text)["stdout"]) == 256 * 1024
    session.end()
    # An origin is by https here.
    for origin, status in ((secure.url, 200), (secure.url.replace("https", "http"), 403)):
        assert secure.api.request("GET", "/v1", headers={"Origin": origin}).status == status


def test_a_stream_by_tls(secure):
    """A frame that is larger than all that lies between, and a small one after it, at once."""
    session = secure.api.new(image="minimal")
    connection = session.agent.connect(20)
    connection.request("GET", f"{session.path}/stream?format=raw", headers={"Authorization": f"Bearer {session.agent.token}"})
    frames = (json.loads(line[6:]) for line in connection.getresponse() if line.startswith(b"data: "))
    whole = next(frames)
    assert whole["whole"] and len(whole["tiles"][0]["data"]) == 1280 * 800 * 4
    for x in 5, 500:
        session.do("move", x=x, y=5)
        assert len(next(frames)["tiles"]) == 2
    connection.close()
    session.end()


def context_of(certificate, lowest, highest, protocols=()):
    context = trusting(certificate)
    context.minimum_version, context.maximum_version = lowest, highest
    if lowest < ssl.TLSVersion.TLSv1_2:
        context.set_ciphers("ALL:@SECLEVEL=0")
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


def test_versions_and_protocols(secure, pair):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        for offered, chosen in (((), None), (("h2", "http/1.1"), "http/1.1")):
            with TlsWire(secure.api.address, context_of(pair[0], version, version, offered)) as wire:
                assert wire.socket.selected_alpn_protocol() == chosen
                wire.send(head(secure.api) * 3)
                assert [wire.answer().status for _ in range(3)] == [200] * 3
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        with pytest.raises((ssl.SSLError, OSError)):
            TlsWire(secure.api.address, context_of(pair[0], version, version))
    # A client that speaks HTTP/2 only is told in the handshake.
    with pytest.raises(ssl.SSLError):
        TlsWire(secure.api.address, context_of(pair[0], ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3, ("h2",)))


def test_both_sides_say_goodbye(secure, pair):
    with TlsWire(secure.api.address, trusting(pair[0])) as wire:
        wire.send(head(secure.api, connection="close"))
        assert wire.answer().status == 200
        assert wire.socket.recv(1) == b""  # with a close-notify: without, this is an error
    # A client that says its goodbye first gets the reply all the same.
    with TlsWire(secure.api.address, trusting(pair[0])) as wire:
        wire.send(head(secure.api, target="/livez"))
        assert wire.answer().status == 200
        plain = wire.socket.unwrap()
        assert plain.recv(1) == b""
        plain.close()


def test_a_caller_that_leaves_cancels_its_call(secure, pair):
    session = secure.api.new(image="minimal")
    body = json.dumps({"actions": [{"action": "key_down", "keys": "shift"}, {"action": "wait", "duration_ms": 60000}]})
    with TlsWire(secure.api.address, trusting(pair[0])) as wire:
        wire.send(post(secure.api, f"{session.path}/act", body))
        until(lambda: secure.api.call("GET", session.path)["held"]["keys"])
    until(lambda: secure.api.call("GET", session.path)["held"]["keys"] == [])
    session.end()


def test_plain_http_on_the_port_of_tls(secure):
    with Wire(secure.api.address) as wire:
        wire.send(head(secure.api, target="/livez", token=False))
        answer = wire.answer()
        assert answer.status == 400 and "https://" in answer.json["detail"]
        assert wire.is_closed()
    for data in (b"\x16", b"\x16\x03\x01\xff\xff" + bytes(70000), b"\x16\x03\x01\x00\x05hello", bytes(100000)):
        with Wire(secure.api.address, timeout_s=5) as wire:
            try:
                wire.send(data)
                wire.socket.shutdown(socket.SHUT_WR)
                wire.rest()
            except OSError:
                pass
    assert secure.api.request("GET", "/livez").status == 200


def test_silent_clients_cost_nothing(make_server, pair):
    """No CPU, no descriptor when they are gone, and no longer than the time limit."""
    server = make_server("--tls-cert", pair[0], "--tls-key", pair[1], "--request-timeout-ms", "1500")
    server.api.context = trusting(pair[0])
    assert server.api.request("GET", "/livez").status == 200
    pid = front_pid(server)
    base = fds(pid)
    wires = []
    for i in range(30):
        wires.append(Wire(server.api.address) if i % 3 else TlsWire(server.api.address, trusting(pair[0])))
        if i % 3 == 1:
            wires[-1].send(b"\x16\x03\x01\x01\x00\x01\x00\x00\xfc\x03\x03" + bytes(20))  # half a hello, then silence
    used, started = cpu_s(pid), time.monotonic()
    until(lambda: fds(pid) == base, within_s=10)
    assert time.monotonic() - started > 1
    assert cpu_s(pid) - used < 0.2
    for wire in wires:
        wire.socket.close()
    # Dropped without a goodbye, in the handshake and after it.
    for i in range(30):
        wire = Wire(server.api.address) if i % 2 else TlsWire(server.api.address, trusting(pair[0]))
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
        wire.send(b"\x16\x03" if i % 2 else head(server.api)[:40])
        wire.socket.close()
    until(lambda: fds(pid) == base)


def test_a_reader_that_stops_is_cut_off_by_tls(secure, pair):
    """What it does not read waits in the kernel, bounded; a deadline of 15 s and more ends it, others are served meanwhile."""
    session = secure.api.new(image="minimal")
    wire = TlsWire(secure.api.address, trusting(pair[0]), receive_bytes=4096)
    wire.send(head(secure.api, target="/v1") * 200)
    pid = front_pid(secure)
    until(lambda: wire.socket.pending() == 0)
    used = cpu_s(pid)
    times = []
    for _ in range(20):
        started = time.monotonic()
        session.shot()
        times.append(time.monotonic() - started)
    assert max(times) < 2, times
    assert cpu_s(pid) - used < 1
    wire.socket.close()
    session.end()


# --- what it does not start with ---


def refused(tmp_path, *words):
    done = subprocess.run([BUILD / "gloveboxd", "--state", tmp_path / "refused", "--images", IMAGES, *map(str, words)], capture_output=True,
                          text=True, timeout=30, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 1 and done.stdout == "", done
    return done.stderr


def test_certificates_that_are_refused(prepared, tmp_path, pair):
    certificate, key = pair
    other, other_key = make_certificate(tmp_path, "other")
    now = datetime.datetime.now(datetime.timezone.utc)
    old = make_certificate(tmp_path, "old", start=now - datetime.timedelta(days=40))
    early = make_certificate(tmp_path, "early", start=now + datetime.timedelta(days=1))
    locked = tmp_path / "locked.key"
    subprocess.run(["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:x", "-out", locked], check=True)
    (tmp_path / "empty").write_text("")
    (tmp_path / "huge").write_bytes(b"x" * 300000)
    for cert, of, text in ((tmp_path / "none", key, "none"), (certificate, tmp_path / "none", "none"), (tmp_path, key, "not a file"),
                           (certificate, other_key, "do not belong together"), (tmp_path / "empty", key, "not a certificate"),
                           (certificate, tmp_path / "empty", "not a certificate"), (key, certificate, "not a certificate"),
                           (tmp_path / "huge", key, "larger than"), (certificate, locked, "encrypted"),
                           (*old, "expired on"), (*early, "not valid before")):
        said = refused(tmp_path, "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", of)
        assert text in said, (cert, of, said)


def test_addresses_of_others_need_tls(prepared, tmp_path, make_server, pair):
    assert "--tls-cert FILE" in refused(tmp_path, "--listen", "0.0.0.0:0")
    server = make_server("--listen", "0.0.0.0:0", "--insecure-plain-http")
    port = server.urls[1].rsplit(":", 1)[1]
    assert server.urls[1] == f"http://0.0.0.0:{port}"
    for host, status in ((f"127.0.0.1:{port}", 200), (f"192.0.2.7:{port}", 200), (f"evil.test:{port}", 421)):
        assert Api(f"http://127.0.0.1:{port}", None).request("GET", "/livez", headers={"Host": host}).status == status
    server.stop()
    server = make_server("--listen", "[::]:0", "--host", "box.example.org", "--tls-cert", pair[0], "--tls-key", pair[1], name="secure")
    port = server.urls[1].rsplit(":", 1)[1]
    api = Api(f"https://localhost:{port}", server.api.token, trusting(pair[0]))
    for host, status in ((f"[2001:db8::1]:{port}", 200), (f"box.example.org:{port}", 200), (f"evil.test:{port}", 421)):
        assert api.request("GET", "/livez", headers={"Host": host}).status == status
    assert "NAME:PORT" in refused(tmp_path, "--listen", "127.0.0.1:0", "--host", "http://x")


def test_a_renewed_certificate(make_server, tmp_path):
    """SIGHUP has new files read; a bad pair leaves the old one in force, also for a front that starts again."""
    certificate, key = make_certificate(tmp_path)
    server = make_server("--tls-cert", certificate, "--tls-key", key)
    session = Api(server.url, server.api.token, trusting(certificate)).new(image="minimal")
    old, (new, new_key) = trusting(certificate), make_certificate(tmp_path, "new")
    new.replace(certificate)
    server.process.send_signal(signal.SIGHUP)
    until(lambda: "do not belong together" in server.log_text())
    assert answers(Api(server.url, None, old))
    kill_front(server)
    until(lambda: answers(Api(server.url, None, old)))
    new_key.replace(key)
    server.process.send_signal(signal.SIGHUP)
    server.api.context = trusting(certificate)
    until(lambda: answers(server.api))
    assert not answers(Api(server.url, None, old))
    certificate.write_text("half a file")
    kill_front(server)
    until(lambda: answers(server.api))
    assert server.live_sessions() == {session.id}


def kill_front(server):
    front = front_pid(server)
    os.kill(front, signal.SIGKILL)
    until(lambda: front not in jail.processes(jail.group_name(server)))


def answers(api):
    try:
        return api.request("GET", "/livez").status == 200
    except OSError:
        return False


# --- Unix sockets ---


def ask_unix(path, data):
    with UnixWire(path) as wire:
        wire.send(data)
        return wire.answer()


def test_a_unix_socket(make_server, tmp_path):
    path = tmp_path / "api.sock"
    server = make_server("--listen", f"unix:{path}")
    assert server.urls[1] == f"unix:{path}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and path.stat().st_uid == 0
    api = server.api
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:7070"):
        assert ask_unix(path, head(api, host=host)).status == 200
        assert ask_unix(path, head(api, host=host, origin=f"http://{host}")).status == 200
    assert_problem(ask_unix(path, head(api, host="evil.test")), 421, "misdirected")
    assert_problem(ask_unix(path, head(api, host="localhost", origin="http://evil.test")), 403, "bad_origin")
    assert_problem(ask_unix(path, head(api, host="localhost:1", origin="http://localhost:2")), 403, "bad_origin")
    # The file is no token.
    assert_problem(ask_unix(path, head(api, host="localhost", token=False)), 401, "unauthorized")
    # More of them than one address may have.
    wires = [UnixWire(path) for _ in range(300)]
    assert ask_unix(path, head(api, host="localhost")).status == 200
    for wire in wires:
        wire.socket.close()
    done = subprocess.run([BUILD / "gloveboxd", "--state", tmp_path / "other", "--listen", f"unix:{path}"], capture_output=True, text=True,
                          timeout=30, check=False)
    assert done.returncode == 1 and "somebody listens" in done.stderr
    server.stop()
    assert not path.exists()


def test_a_unix_socket_after_a_kill(make_server, tmp_path):
    path = tmp_path / "api.sock"
    server = make_server("--listen", f"unix:{path}")
    server.kill(signal.SIGKILL)
    server.assert_nothing_runs(within_s=5)
    assert path.exists()
    server.start()
    assert ask_unix(path, head(server.api, host="localhost")).status == 200


# --- the command line ---


def glovebox(*words, **environment):
    return subprocess.run([BUILD / "glovebox", *map(str, words)], capture_output=True, text=True, timeout=30, check=False,
                          env={**os.environ, **environment}, stdin=subprocess.DEVNULL)


def test_the_command_line_by_tls_and_unix_socket(make_server, pair, tmp_path):
    path = tmp_path / "api.sock"
    server = make_server("--listen", f"unix:{path}", "--tls-cert", pair[0], "--tls-key", pair[1])
    token = ("--token-file", server.state / "operator.token")
    for words in (("--server", server.url, "--cacert", pair[0]), ("--server", f"unix:{path}")):
        done = glovebox("ls", "--json", *words, *token)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["sessions"] == []
    assert glovebox("ls", *token, GLOVEBOX_SERVER=server.url, GLOVEBOX_CACERT=str(pair[0])).returncode == 0
    done = glovebox("ls", "--server", server.url, *token)
    assert done.returncode == 3 and "certificate" in done.stderr and "--cacert" in done.stderr
    done = glovebox("ls", "--server", f"unix:{path}x", *token)
    assert done.returncode == 3 and f"unix:{path}x" in done.stderr
    for server_url in ("unix:", "unix:relative", "ftp://x"):
        done = glovebox("ls", "--server", server_url, *token)
        assert done.returncode == 2 and "unix:/" in done.stderr, done
