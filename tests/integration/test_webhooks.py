# SPDX-License-Identifier: GPL-2.0-or-later
"""Webhooks: what comes to a receiver, signed and in order, and what a receiver can do to the server: nothing."""
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest

import jail
from api import Api
from conftest import BUILD, until
from receiver import KEY, Receiver, is_signed
from test_approvals import ASK_CLICKS, CLICK, answer, finish, parked
from tls import make_certificate


@pytest.fixture
def receive():
    made = []

    def receive(*args, **options):
        made.append(Receiver(*args, **options))
        return made[-1]

    yield receive
    for receiver in made:
        receiver.close()


@pytest.fixture
def write(tmp_path, prepared):
    def write(*targets, allow=("127.0.0.1",), mode=0o600, **more):
        path = tmp_path / "webhooks.json"
        path.write_text(json.dumps({"webhooks": list(targets), "allow": list(allow), **more}))
        path.chmod(mode)
        return path
    return write


def hook(receiver, **more):
    return {"url": receiver.url(), "key": KEY, **more}


def child_of(server, program):
    """The process of the warden's with this name."""
    children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    return next((int(pid) for pid in children if jail.read(f"/proc/{pid}/comm").strip() == program), None)


def egress_pid(server):
    return child_of(server, "glovebox-egress")


def outcomes(server):
    text = server.api.request("GET", "/metrics").body.decode()
    return {line.split('"')[1]: int(line.split()[-1]) for line in text.splitlines() if line.startswith("glovebox_webhooks_total{")}


def make_and_end(server, n=1):
    sessions = [server.api.new(image="minimal") for _ in range(n)]
    for session in sessions:
        session.end()
    return [session.id for session in sessions]


def test_an_end_is_delivered(make_server, receive, write):
    receiver = receive()
    server = make_server("--webhooks", write(hook(receiver)))
    before = time.time()
    session, = make_and_end(server)
    receiver.wait(lambda events: len(events) == 1)
    event, headers, body, _ = receiver.got[0]
    assert event == {"id": event["id"], "event": "session", "session": session, "at": event["at"], "url": f"{server.url}/#session={session}",
                     "ended": {"state": "ended", "reason": "deleted"}}
    assert headers["Content-Type"] == "application/json" and headers["User-Agent"].startswith("glovebox/")
    assert not is_signed(KEY, headers["Glovebox-Signature"], body + b" ") and not is_signed("another-key-of-16", headers["Glovebox-Signature"], body)
    assert abs(int(headers["Glovebox-Signature"].split(",")[0][2:]) - before) < 60
    until(lambda: outcomes(server) == {"delivered": 1})
    # Its address has a secret in it, its key is one.
    assert "secret-path" not in server.log_text() and KEY not in server.log_text()


def test_no_webhooks_no_process(make_server):
    server = make_server()
    assert egress_pid(server) is None and outcomes(server) == {}


def test_by_tls_to_a_name(make_server, receive, write, tmp_path):
    certificate, key = make_certificate(tmp_path)
    receiver = receive(certificate=(certificate, key))
    target = hook(receiver) | {"url": receiver.url("https", "localhost")}
    server = make_server("--webhooks", write(target, ca=certificate.read_text()))
    make_and_end(server)
    receiver.wait(lambda events: len(events) == 1)


def test_a_certificate_of_nobody_known_is_refused(make_server, receive, write, tmp_path):
    certificate, key = make_certificate(tmp_path)
    receiver = receive(certificate=(certificate, key))
    server = make_server("--webhooks", write(hook(receiver) | {"url": receiver.url("https", "localhost")}, tries=1))
    make_and_end(server)
    until(lambda: outcomes(server) == {"failed": 1})
    assert receiver.got == [] and "webhook 1 (localhost): delivery" in server.log_text()


def test_only_the_events_that_are_wanted(make_server, receive, write):
    wants, does_not = receive(), receive()
    server = make_server("--webhooks", write(hook(wants, events=["session"]), hook(does_not, events=["lease", "approval"])))
    make_and_end(server, 2)
    wants.wait(lambda events: len(events) == 2)
    assert does_not.got == []


def test_tried_again_until_it_is_taken(make_server, receive, write):
    receiver = receive(lambda n, event: [500, 429, 204][n])
    server = make_server("--webhooks", write(hook(receiver)))
    make_and_end(server)
    receiver.wait(lambda events: len(events) == 3)
    ids = {event["id"] for event in receiver.events()}
    times = [at for *_, at in receiver.got]
    assert len(ids) == 1 and times[1] - times[0] > 0.9 and times[2] - times[1] > 3.5
    until(lambda: outcomes(server) == {"delivered": 1})
    assert server.log_text().count("; it is tried again") == 2


@pytest.mark.parametrize("status", [302, 307, 404, 410])
def test_not_followed_and_not_tried_again(make_server, receive, write, status):
    other = receive()

    def redirect(handler):
        handler.send_response(status)
        handler.send_header("Location", other.url())
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    receiver = receive(lambda n, event: redirect)
    server = make_server("--webhooks", write(hook(receiver)))
    make_and_end(server)
    until(lambda: outcomes(server) == {"failed": 1})
    assert len(receiver.got) == 1 and other.got == []
    assert f"it answered {status}" in server.log_text()


def flood(handler):
    """An answer without end; 2xx all the same."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"x" * 65536)
    except OSError:
        pass


def close(handler):
    handler.connection.close()
    handler.close_connection = True


def garbage(handler):
    handler.wfile.write(b"\xff\xfe\r\n\r\n" * 1000)


def test_a_flood_is_not_read(make_server, receive, write):
    receiver = receive(lambda n, event: flood)
    server = make_server("--webhooks", write(hook(receiver)))
    make_and_end(server)
    until(lambda: outcomes(server) == {"delivered": 1}, within_s=9)


@pytest.mark.parametrize("answer", [close, garbage])
def test_no_answer(make_server, receive, write, answer):
    receiver = receive(lambda n, event: answer if n == 0 else 204)
    server = make_server("--webhooks", write(hook(receiver)))
    make_and_end(server)
    receiver.wait(lambda events: len(events) == 2)
    until(lambda: outcomes(server) == {"delivered": 1})


def test_one_that_hangs_holds_up_nobody(make_server, receive, write):
    """Neither the other receiver, nor the server, nor for ever its own later events."""
    let_go = threading.Event()
    hangs, works = receive(lambda n, event: (lambda handler: let_go.wait(60)) if n == 0 else 204), receive()
    server = make_server("--webhooks", write(hook(hangs), hook(works)))
    started = time.monotonic()
    first, second = make_and_end(server, 2)
    works.wait(lambda events: len(events) == 2)
    # The other session's event goes beside the one that hangs.
    hangs.wait(lambda events: {event["session"] for event in events} == {first, second})
    assert time.monotonic() - started < 9
    hangs.wait(lambda events: [event["session"] for event in events].count(first) == 2)
    again = [at for event, *_, at in hangs.got if event["session"] == first]
    assert 10 < again[1] - again[0] < 15
    let_go.set()
    until(lambda: outcomes(server) == {"delivered": 4})


def test_killed_and_started_again(make_server, receive, write):
    receiver = receive()
    server = make_server("--webhooks", write(hook(receiver)))
    pid = until(lambda: egress_pid(server))
    os.kill(pid, signal.SIGKILL)
    # What is said meanwhile waits in the link.
    make_and_end(server)
    assert until(lambda: egress_pid(server)) != pid
    receiver.wait(lambda events: len(events) == 1)


def test_the_front_killed(make_server, receive, write):
    receiver = receive()
    server = make_server("--webhooks", write(hook(receiver)))
    session = server.api.new(image="minimal")
    os.kill(child_of(server, "glovebox-front"), signal.SIGKILL)
    until(lambda: server.live_sessions() == {session.id} if server_answers(server) else False)
    session.end()
    receiver.wait(lambda events: len(events) == 1)


def server_answers(server):
    try:
        server.api.call("GET", "/v1")
        return True
    except OSError:
        return False


def test_what_waits_at_the_end_is_delivered(make_server, receive, write):
    receiver = receive()
    server = make_server("--webhooks", write(hook(receiver)))
    session = server.api.new(image="minimal")
    server.stop()
    assert [event["session"] for event in receiver.events()] == [session.id]


def test_a_receiver_that_hangs_does_not_keep_the_server(make_server, receive, write):
    let_go = threading.Event()
    receiver = receive(lambda n, event: lambda handler: let_go.wait(60))
    server = make_server("--webhooks", write(hook(receiver)))
    server.api.new(image="minimal")
    started = time.monotonic()
    server.stop()
    let_go.set()
    assert time.monotonic() - started < 15


def test_its_jail(make_server, receive, write):
    """No capability, no file but what it needs, a uid of its own; the host's network, in which it listens nowhere."""
    server = make_server("--webhooks", write(hook(receive())))
    pid = until(lambda: egress_pid(server))
    status = dict(line.split(":\t", 1) for line in until(lambda: pathlib.Path(f"/proc/{pid}/status").read_text()).splitlines() if ":\t" in line)
    until(lambda: "Seccomp:\t2" in pathlib.Path(f"/proc/{pid}/status").read_text())
    status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    assert status["CapEff"] == status["CapBnd"] == status["CapPrm"] == "0" * 16 and status["NoNewPrivs"] == "1"
    assert len(set(status["Uid"].split())) == 1 and status["Uid"].split()[0] not in ("0", str(os.stat(f"/proc/{child_of(server, 'glovebox-front')}").st_uid))
    assert os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net")
    for kind in ("mnt", "pid", "ipc", "uts"):
        assert os.readlink(f"/proc/{pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}"), kind
    root = pathlib.Path(f"/proc/{pid}/root")
    assert {entry.name for entry in root.iterdir()} <= {"certs", "dev", "etc", "tmp", "usr", "lib", "lib64", "lib32", "libx32", "bin"}
    assert [entry.name for entry in (root / "dev").iterdir()] == ["urandom"]
    assert {entry.name for entry in (root / "etc").iterdir()} <= {"hosts", "resolv.conf", "ld.so.cache"}
    assert not (root / "usr").is_dir() or list((root / "usr").iterdir()) == []


def test_nobody_else_has_the_key(make_server, receive, write):
    """It is in the memory of the one process that signs."""
    receiver = receive()
    server = make_server("--webhooks", write(hook(receiver)))
    make_and_end(server)
    receiver.wait(lambda events: len(events) == 1)
    egress = egress_pid(server)
    children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    holders = {pid for pid in map(int, children) if KEY.encode() in memory_of(pid)}
    assert holders == {egress}


def memory_of(pid):
    found = bytearray()
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            start, end = (int(number, 16) for number in line.split()[0].split("-"))
            if "rw" not in line.split()[1]:
                continue
            try:
                memory.seek(start)
                found += memory.read(end - start)
            except OSError:
                continue
    return bytes(found)


@pytest.mark.parametrize("host", ["127.0.0.2", "localhost", "127.0.0.1"])
def test_addresses_that_are_not_allowed_start_nothing(write, tmp_path, host):
    path = write({"url": f"http://{host}:9/", "key": KEY}, allow=[])
    done = subprocess.run([BUILD / "gloveboxd", "--check-config", "--webhooks", path], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "/webhooks/0/url" in done.stderr and "allow" in done.stderr
    start = subprocess.run([BUILD / "gloveboxd", "--listen", "127.0.0.1:0", "--state", tmp_path / "state", "--webhooks", path],
                           capture_output=True, text=True, timeout=30)
    assert start.returncode == 1 and start.stdout == "" and "webhooks" in start.stderr


def test_a_name_that_leads_to_this_machine_is_refused(make_server, receive, write, tmp_path):
    """The address is what counts, at the moment of the connection: no request is sent."""
    certificate, key = make_certificate(tmp_path)
    receiver = receive(certificate=(certificate, key))
    name = next(line.split()[1] for line in pathlib.Path("/etc/hosts").read_text().splitlines()
                if line.split("#")[0].split()[1:] and line.split()[1] != "localhost")
    server = make_server("--webhooks", write(hook(receiver) | {"url": receiver.url("https", name)}, allow=[]))
    make_and_end(server)
    until(lambda: outcomes(server) == {"failed": 1})
    assert receiver.got == [] and "its address is" in server.log_text()


def test_check_config(write, tmp_path):
    path = write({"url": "https://hooks.example/", "key": KEY}, {"url": "https://hooks2.example/", "key": KEY})
    config = tmp_path / "config.json"
    config.write_text("{}")
    done = subprocess.run([BUILD / "gloveboxd", "--check-config", "--config", config, "--webhooks", path], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and "2 webhooks" in done.stdout and "0 keys" in done.stdout, done
    path.chmod(0o644)
    done = subprocess.run([BUILD / "gloveboxd", "--check-config", "--webhooks", path], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "chmod 600" in done.stderr


def test_where_people_reach_the_console(make_server, receive, write, tmp_path):
    receiver = receive()
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"public_url": "https://box.example.org/desk"}))
    server = make_server("--webhooks", write(hook(receiver)), "--config", config)
    session, = make_and_end(server)
    receiver.wait(lambda events: len(events) == 1)
    assert receiver.events()[0]["url"] == f"https://box.example.org/desk/#session={session}"


def test_who_waits_for_whom(make_server, receive, write):
    """Each change of who has the controls, in order, with the agent's words and nothing of the session."""
    receiver = receive()
    server = make_server("--webhooks", write(hook(receiver, events=["lease"])))
    session = server.api.new(image="minimal")
    session.do("request_human", kind="login", reason="the password of anna")
    person = Api(server.url, session.tokens["controller"])
    for n, action in enumerate(("take", "give"), 2):
        receiver.wait(lambda events, n=n: len(events) == n - 1)
        person.call("POST", f"{session.path}/lease", {"action": action})
    receiver.wait(lambda events: len(events) == 3)
    leases = [event["lease"] for event in receiver.events()]
    assert [lease["holder"] for lease in leases] == ["nobody", "human", "agent"]
    assert [lease["epoch"] for lease in leases] == [2, 3, 4]
    assert (leases[0]["kind"], leases[0]["reason"]) == ("login", "the password of anna")
    assert leases[0]["since"] <= receiver.events()[0]["at"][:-5] + "Z"
    assert all(set(lease) <= {"holder", "epoch", "kind", "since", "reason", "requested_by", "expires_at"} for lease in leases)
    assert all(event["url"].endswith(f"/#session={session.id}") for event in receiver.events())


def test_a_front_that_starts_again_tells_who_is_waited_for(make_server, receive, write):
    receiver = receive()
    server = make_server("--webhooks", write(hook(receiver, events=["lease"])))
    session, quiet = server.api.new(image="minimal"), server.api.new(image="minimal")
    session.do("request_human", reason="help")
    receiver.wait(lambda events: len(events) == 1)
    os.kill(child_of(server, "glovebox-front"), signal.SIGKILL)
    receiver.wait(lambda events: len(events) == 2)
    first, second = receiver.events()
    assert (second["session"], second["lease"]) == (session.id, first["lease"]) and second["id"] != first["id"]
    until(lambda: server_answers(server))
    quiet.end()
    assert len(receiver.events()) == 2


def test_a_list_says_who_has_the_controls(server, make_session):
    session = make_session("minimal")
    session.do("request_human", kind="captcha", reason="a puzzle")

    def listed():
        return next(one for one in server.api.call("GET", "/v1/sessions")["sessions"] if one["id"] == session.id)["lease"]

    assert until(lambda: (lease := listed())["holder"] == "nobody" and lease)["reason"] == "a puzzle"
    Api(server.url, session.tokens["controller"]).call("POST", f"{session.path}/lease", {"action": "take"})
    assert until(lambda: (lease := listed())["holder"] == "human" and lease)["epoch"] == 3


def test_a_session_that_waits_for_a_person_is_not_idle(server, make_session):
    """Its time without a call stands still in a hold, and is whole again afterwards."""
    session = make_session("minimal", idle_s=2)
    session.do("request_human", reason="help")
    started = time.monotonic()
    until(lambda: time.monotonic() - started > 5)
    person = Api(server.url, session.tokens["controller"])
    person.call("POST", f"{session.path}/lease", {"action": "take"})
    started = time.monotonic()
    until(lambda: time.monotonic() - started > 3)
    assert session.id in server.live_sessions()
    person.call("POST", f"{session.path}/lease", {"action": "give"})
    given = time.monotonic()
    until(lambda: session.id not in server.live_sessions(), within_s=15)
    assert time.monotonic() - given > 1.5
    assert server.api.call("GET", session.path)["reason"] == "idle"


def test_a_question_and_its_answer(make_server, receive, write):
    """What waits for an answer, and that it was answered: neither what is asked nor by whom."""
    receiver = receive()
    server = make_server("--webhooks", write(hook(receiver, events=["approval"])))
    session = server.api.new(image="minimal", approval=ASK_CLICKS)
    thread, results, asked = parked(session, CLICK)
    receiver.wait(lambda events: len(events) == 1)
    answer(session, asked, "deny", reason="not that one")
    assert finish(thread, results).code == "denied"
    receiver.wait(lambda events: len(events) == 2)
    first, second = receiver.events()
    assert (first["event"], first["session"], first["approval"]) == ("approval", session.id, {"id": asked["id"], "state": "waiting"})
    assert second["approval"] == {"id": asked["id"], "state": "denied"}
    assert all(set(event) == {"id", "event", "session", "at", "url", "approval"} for event in (first, second))
