# SPDX-License-Identifier: GPL-2.0-or-later
"""The way out of a session: what its programs reach through the proxy, what they do not, and what is told of it."""
import json
import os
import signal
import subprocess

import pytest

import jail
from api import Api, Refused, in_thread
from conftest import until
from outside import Site, make_module, make_wheel, start_server
from test_approvals import answer, card, cards
from test_cli import Cli
from test_journal import lines

CURL = ("curl", "-sS", "-m", "20", "-o", "-", "-w", "%{http_code}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    (folder / "site").mkdir()
    (folder / "site" / "ticking.html").write_text("<title>A clock outside</title><script>setInterval(() => fetch('/index.html', {cache: 'no-store'}), 100)</script>")
    (folder / "site" / "index.html").write_text("<title>A page outside</title>from outside\n")
    return folder


@pytest.fixture(scope="module")
def site(folder):
    site = Site(folder / "site")
    yield site
    site.close()


@pytest.fixture(scope="module")
def outside(prepared, folder):
    server = start_server(folder)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def session(outside, site):
    """One that may reach two names, and asks nobody."""
    session = outside.api.new(image="toolkits", egress={"mode": "allowlist", "allow": [f"ok.test:{site.port}", f"*.ok.test:{site.port}"]})
    yield session
    session.end()


def told(server, session, event="egress", **wanted):
    """Lines of the journal with these members."""
    return [line for line in lines(server, session) if line["event"] == event and all(line.get(name) == value for name, value in wanted.items())]


def egress_pid(session):
    return jail.part(session.id, "glovebox-egress")


def test_curl(outside, session, site):
    before = len(site.asked)
    assert session.run(*CURL, site.url()).endswith("from outside\n200")
    assert site.asked[before:] == [(f"ok.test:{site.port}", "/")]
    line, = told(outside, session, verdict="allow", host="ok.test")
    assert line["port"] == site.port and line["address"].startswith("127.0.0.1") and line["rule"] == f"ok.test:{site.port}"
    assert session.exec(*CURL, site.url(host="evil.test"))["stdout"].endswith("403")
    assert len(site.asked) == before + 1
    assert session.run(*CURL, "-x", "socks5h://127.0.0.1:3128", site.url()).endswith("from outside\n200")
    assert session.exec(*CURL, "-x", "socks5h://127.0.0.1:3128", site.url(host="evil.test"))["exit_code"] != 0
    until(lambda: told(outside, session, verdict="deny", host="evil.test"))
    state = until(lambda: (state := session.api.call("GET", session.path)["egress"])["denied"] and state)
    assert state["mode"] == "allowlist" and state["up"] and state["allowed"] >= 1 and state["bytes_down"] > 0, state


def test_a_close_is_told(outside, session, site):
    session.run(*CURL, site.url("/index.html?q=secret", host="www.ok.test"))
    line, = until(lambda: told(outside, session, "egress_closed", host="www.ok.test"))
    assert line["down"] > 0 and line["ms"] >= 0 and line["port"] == site.port
    # What was asked for is in no line of it; the command itself is.
    assert "secret" not in json.dumps([line for line in lines(outside, session) if line["event"].startswith("egress")])


def test_git_pip_npm(outside, session, site, folder):
    made = folder / "site" / "repository"
    run = {"check": True, "capture_output": True, "env": {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@ok.test",
                                                          "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@ok.test"}}
    subprocess.run(["git", "init", "-q", made], **run)
    (made / "file").write_text("from outside\n")
    for words in (["add", "file"], ["commit", "-qm", "one"], ["update-server-info"]):
        subprocess.run(["git", "-C", made, *words], **run)
    make_wheel(folder / "site")
    make_module(folder / "site", site)
    session.run("git", "clone", "-q", site.url("/repository/.git"), "cloned")
    assert session.run("cat", "cloned/file") == "from outside\n"
    session.run("pip", "install", "-q", "--no-input", "--disable-pip-version-check", "--target", "packages", "--index-url", site.url("/simple/"), "--trusted-host",
                "ok.test", "parcel", timeout_ms=60000)
    assert session.run("python3", "-c", "import parcel; print(parcel.HELLO)", env={"PYTHONPATH": "packages"}) == "from outside\n"
    session.run("npm", "install", "--no-audit", "--no-fund", "--registry", site.url("/registry/"), "parcel", timeout_ms=60000)
    assert session.run("node", "-p", "require('parcel')") == "from outside\n"


# Prints the name of each try that reached something.
TRIES = r"""
import errno, os, socket, sys
def tries():
    for family in (socket.AF_INET, socket.AF_INET6):
        hosts = ["127.0.0.1", "192.0.2.1", "169.254.169.254", "10.0.0.1", HOST] if family == socket.AF_INET else ["::1", "2001:db8::1", "fe80::1"]
        for host in hosts:
            for port in (PORT, 53, 80, 443):
                yield f"tcp {host} {port}", family, socket.SOCK_STREAM, 0, (host, port)
                yield f"udp {host} {port}", family, socket.SOCK_DGRAM, 0, (host, port)
    yield "icmp", socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP, ("192.0.2.1", 0)
    yield "raw", socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP, ("192.0.2.1", 0)
    yield "packet", 17, socket.SOCK_RAW, 0, None
    yield "netlink", 16, socket.SOCK_RAW, 0, (0, 0)
    yield "vsock", 40, socket.SOCK_STREAM, 0, None
for name, family, kind, protocol, place in tries():
    try:
        s = socket.socket(family, kind, protocol)
        s.settimeout(2)
        if place is None:
            print(name)
            continue
        s.connect(place)
        if kind == socket.SOCK_STREAM:
            print(name)
        else:
            s.send(b"x")
            s.recv(1)
            print(name)
    except OSError:
        pass
try:
    print(socket.getaddrinfo("data-in-a-name.ok.test", 80))
except OSError:
    pass
"""


def test_what_ignores_the_proxy_reaches_nothing(session, site):
    """E13: no route, no name, no socket of another kind; the canary of the host's loopback is not touched."""
    before = len(site.asked)
    own = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split()
    script = f"PORT = {site.port}\nHOST = {(own or ['192.0.2.2'])[0]!r}\n{TRIES}"
    assert session.run("env", "-i", "/usr/bin/python3", "-", stdin=script, timeout_ms=120000) == ""
    assert session.run("sh", "-c", "ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1").split() == ["lo"]
    assert session.run("sh", "-c", "tail -n +2 /proc/net/route") == ""
    assert len(site.asked) == before


def test_bad_lists_are_refused_by_entry(outside):
    """E01: at create, with the entry."""
    for entry in ("", "*", "*.com:0", " ok.test ", "https://ok.test/x", "ok.test:99999", 7, {"hosts": "ok.test"}):
        for allow in ([entry], ["ok.test", entry]):
            with pytest.raises(Refused) as refused:
                outside.api.new(image="minimal", egress={"mode": "allowlist", "allow": allow})
            assert refused.value.status == 422 or refused.value.status == 400
            assert refused.value.pointer.startswith(f"/egress/allow/{len(allow) - 1}"), (entry, refused.value.problem)
    for spec, pointer in (({"mode": "allowlist", "allow": None}, "/egress/allow"), ({"allow": ["ok.test"]}, "/egress/allow"),
                          ({"mode": "open", "caps": {"connections": 1000}}, "/egress/caps/connections")):
        with pytest.raises(Refused) as refused:
            outside.api.new(image="minimal", egress=spec)
        assert refused.value.pointer == pointer
    assert outside.live_sessions() <= {line["id"] for line in outside.api.call("GET", "/v1/sessions")["sessions"]}


def test_an_empty_list_lets_nothing_through(outside, site):
    for egress in ({"mode": "allowlist"}, {"mode": "allowlist", "allow": []}):
        session = outside.api.new(image="toolkits", egress=egress)
        assert session.exec(*CURL, site.url())["stdout"].endswith("403")
        session.end()


def test_a_long_list(outside, site):
    """E01: 10,000 entries, of which the last is the one."""
    many = [f"h{i}.many.test" for i in range(9999)]
    session = outside.api.new(image="toolkits", egress={"mode": "allowlist", "allow": [*many, f"ok.test:{site.port}"]})
    assert session.exec(*CURL, site.url())["stdout"].endswith("200")
    assert session.exec(*CURL, site.url(host="evil.test"))["stdout"].endswith("403")
    session.end()
    for allow in ([*many, "a.test", "b.test"], [f"{'a' * 60}.{'b' * 60}.h{i}.test" for i in range(6000)]):
        with pytest.raises(Refused) as refused:
            outside.api.new(image="minimal", egress={"mode": "allowlist", "allow": allow})
        assert refused.value.pointer == "/egress/allow"


@pytest.mark.parametrize("egress", [{"mode": "none"}, {"mode": "allowlist", "allow": ["other.test"]}])
def test_the_list_of_the_setup_phase_ends_with_it(outside, site, egress):
    """It reaches what its own list has and asks nobody; what comes after it does not, nor a connection that it left behind."""
    lasting = f"exec 9<>/dev/tcp/127.0.0.1/3128; printf 'GET {site.url()} HTTP/1.1\r\nHost: ok.test:{site.port}\r\n\r\n' >&9; setsid sleep 1000 <&9 >/dev/null 2>&1 &"
    session = outside.api.new(image="toolkits", egress=egress, approval={"mode": "boundary"}, setup={
        "commands": [[*CURL, site.url()], ["bash", "-c", lasting], [*CURL, site.url(host="evil.test")]],
        "egress": {"mode": "allowlist", "allow": [f"ok.test:{site.port}"]}})
    results = session.answer["setup"]
    assert results[0]["stdout"].endswith("200") and results[2]["stdout"].endswith("403")
    assert session.exec(*CURL, site.url())["stdout"].endswith("403")
    until(lambda: session.api.call("GET", session.path)["egress"]["connections"] == 0)
    assert session.api.call("GET", session.path)["egress"]["mode"] == egress["mode"]
    session.end()


def test_none_is_no_process_at_all(outside, site):
    session = outside.api.new(image="toolkits")
    running = jail.processes(session.id).values()
    assert "glovebox-egress" not in running and "glovebox-relay" not in running
    assert session.run("sh", "-c", "ls -d /run/egress; env | grep -i proxy; true") == ""
    assert session.exec("curl", "-sS", "-m", "5", "-x", "http://127.0.0.1:3128", site.url())["exit_code"] == 7
    assert "egress" not in session.api.call("GET", session.path)
    session.end()


def test_open_has_no_private_addresses(outside, site):
    session = outside.api.new(image="toolkits", egress={"mode": "open"}, approval={"mode": "never"})
    for host in ("169.254.169.254", "10.0.0.1", "[::1]", "192.168.0.1"):
        assert session.exec(*CURL, "--noproxy", "", f"http://{host}/")["stdout"].endswith("403"), host
    session.end()


def test_egress_and_relay_are_started_again(outside, session, site):
    pid = egress_pid(session)
    os.kill(pid, signal.SIGKILL)
    until(lambda: session.exec(*CURL, site.url())["stdout"].endswith("200"))
    assert egress_pid(session) != pid
    assert session.exec(*CURL, site.url(host="evil.test"))["stdout"].endswith("403")
    assert told(outside, session, "egress_lost")
    relay = jail.part(session.id, "glovebox-relay")
    os.kill(relay, signal.SIGKILL)
    until(lambda: session.exec(*CURL, site.url())["stdout"].endswith("200"))
    assert jail.part(session.id, "glovebox-relay") != relay


# Ends the relay again and again, and tries to listen in its place.
USURPER = """
import os, pathlib, signal, socket, time
ended, deadline = set(), time.monotonic() + 2
while time.monotonic() < deadline:
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if b"glovebox-relay" in (folder / "cmdline").read_bytes():
                os.kill(int(folder.name), signal.SIGKILL)
                ended.add(folder.name)
        except OSError:
            pass
    for address in ("127.0.0.1", "0.0.0.0"):
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            with socket.socket() as usurper:
                usurper.setsockopt(socket.SOL_SOCKET, option, 1)
                try:
                    usurper.bind((address, 3128))
                    usurper.listen()
                    print("it listens at", address)
                except OSError:
                    pass
print(len(ended))
"""


def test_nobody_listens_in_place_of_the_relay(session, site):
    """What the browsers send to the proxy is no agent's to see."""
    *listened, ended = session.run("python3", "-", stdin=USURPER).split("\n")[:-1]
    assert int(ended) >= 2 and listened == []
    until(lambda: session.exec(*CURL, site.url())["stdout"].endswith("200"))


def test_a_flood_does_not_fill_the_journal(outside, session, site):
    before = len(lines(outside, session))
    session.run("sh", "-c", "for i in $(seq 300); do echo url=http://evil.test:$i/; echo output=/dev/null; done >many; "
                            "for i in $(seq 300); do echo url=http://evil.test/; echo output=/dev/null; done >>many; curl -sS -K many", timeout_ms=120000)
    assert len([line for line in lines(outside, session)[before:] if line["event"].startswith("egress")]) < 200
    until(lambda: told(outside, session, "egress_rest"), within_s=30)


def test_caps(outside, site, folder):
    (folder / "site" / "large").write_bytes(os.urandom(5_000_000))
    (folder / "site" / "large.txt").write_text("outside " * 10_000)
    session = outside.api.new(image="toolkits", egress={"mode": "allowlist", "allow": [f"ok.test:{site.port}"], "caps": {"bytes": 100_000}})
    assert session.exec("curl", "-sS", "-m", "20", "-o", "large", site.url("/large"))["exit_code"] != 0
    assert int(session.run("stat", "-c", "%s", "large")) <= 100_000
    assert session.exec(*CURL, site.url())["stdout"][-3:] in ("403", "503")
    assert told(outside, session, "limit", limit="egress_bytes")
    # What is used up stays so for the next process.
    until(lambda: session.api.call("GET", session.path)["egress"]["bytes_down"] > 90_000)
    os.kill(egress_pid(session), signal.SIGKILL)
    until(lambda: told(outside, session, "egress_lost"))
    until(lambda: session.api.call("GET", session.path)["egress"]["up"])
    for _ in range(3):
        assert len(session.exec("curl", "-sS", "-m", "20", site.url("/large.txt"))["stdout"]) < 15_000
    session.end()


def test_a_rate_is_a_limit_that_is_met(outside, site, folder):
    """What waits for it is no mystery, and what is used of each cap is shown live."""
    (folder / "site" / "slow.txt").write_text("outside " * 20_000)
    session = outside.api.new(image="toolkits", egress={"mode": "allowlist", "allow": [f"ok.test:{site.port}"], "caps": {"bytes_s": 50_000, "bytes": 1_000_000}})
    assert len(session.exec("curl", "-sS", "-m", "20", site.url("/slow.txt"))["stdout"]) == 160_000
    until(lambda: told(outside, session, "limit", limit="egress_bytes_s"))
    limits = session.api.call("GET", session.path)["usage"]["limits"]
    assert limits["egress_bytes_s"]["hits"] >= 1 and limits["egress_bytes_s"]["value"] == 50_000
    assert limits["egress_connections"]["value"] == 256 and limits["egress_connections"]["hits"] == 0
    until(lambda: session.api.call("GET", session.path)["usage"]["limits"]["egress_bytes"]["used"] > 160_000)
    session.end()


# Connects until it has no descriptors, and keeps them until it is told to go.
HOARDER = """
import socket
mine = []
try:
    while len(mine) < 200:
        mine.append(socket.create_connection(("127.0.0.1", 3128)))
except OSError:
    pass
print(len(mine), flush=True)
open("go").read()
"""


def rests(session, pid):
    """That the process sleeps, and has slept on while the session ran a few commands."""
    def now():
        state = jail.read(f"/proc/{pid}/stat").rpartition(")")[2].split()[0]
        return state, jail.read(f"/proc/{pid}/schedstat")

    before = now()
    session.run("sh", "-c", "for n in 1 2 3 4 5; do /bin/true; done")
    return before[0] == "S" and now() == before


def test_the_relay_waits_for_descriptors(outside, site):
    """With few of them it takes fewer connections at once, and rests meanwhile."""
    session = outside.api.new(image="toolkits", egress={"mode": "allowlist", "allow": [f"ok.test:{site.port}"]}, limits={"open_files": 256})
    relay = jail.part(session.id, "glovebox-relay")
    session.run("sh", "-c", "cat >hoarder.py; mkfifo go; python3 hoarder.py >hoarded 2>&1 &", stdin=HOARDER)
    until(lambda: session.run("cat", "hoarded") == "200\n")
    until(lambda: len(os.listdir(f"/proc/{relay}/fd")) > 200)
    until(lambda: rests(session, relay), within_s=5)  # later they are ended, since they ask for nothing
    session.run("sh", "-c", "echo >go")
    until(lambda: session.exec(*CURL, site.url())["stdout"].endswith("200"))
    session.end()


def test_a_front_that_starts_again_counts_anew(site, prepared, tmp_path):
    server = start_server(tmp_path)
    counted = 'glovebox_egress_decisions_total{verdict="allowed"}'

    def metric():
        lines_of = [line for line in server.api.request("GET", "/metrics").body.decode().split("\n") if line.startswith(counted)]
        return int(lines_of[0].split()[-1]) if lines_of else 0

    try:
        session = server.api.new(image="toolkits", egress={"mode": "allowlist", "allow": [f"ok.test:{site.port}"]})
        for _ in range(3):
            assert session.exec(*CURL, site.url())["stdout"].endswith("200")
        until(lambda: metric() == 3)
        os.kill(jail.part(jail.group_name(server), "glovebox-front"), signal.SIGKILL)
        until(lambda: answers(session, site))
        until(lambda: answers(session, site) and metric() > 0)
        assert metric() <= session.api.call("GET", session.path)["egress"]["allowed"] - 3
    finally:
        server.stop()


def answers(session, site):
    try:
        return session.exec(*CURL, site.url())["stdout"].endswith("200")
    except OSError:
        return False


def test_a_large_body_and_a_half_close(session, site, folder):
    (folder / "site" / "large").write_bytes(os.urandom(5_000_000))
    assert session.run("sh", "-c", f"curl -sS {site.url('/large')} | sha256sum") == subprocess.run(
        ["sha256sum"], input=(folder / "site" / "large").read_bytes(), capture_output=True, check=True).stdout.decode()
    ended_early = (f"import socket; s = socket.create_connection(('127.0.0.1', 3128)); "
                   f"s.sendall(b'GET {site.url()} HTTP/1.1\\r\\nHost: ok.test:{site.port}\\r\\nConnection: close\\r\\n\\r\\n'); s.shutdown(1); "
                   "print(b''.join(iter(lambda: s.recv(999), b'')).decode())")
    assert "from outside" in session.run("python3", "-c", ended_early)
    session.run("python3", "-c", "import socket; held = [socket.create_connection(('127.0.0.1', 3128)) for _ in range(300)]")
    until(lambda: session.exec(*CURL, site.url())["stdout"].endswith("200"))


@pytest.fixture(scope="module")
def asking(outside, site):
    session = outside.api.new(image="toolkits", approval={"mode": "boundary"},
                              egress={"mode": "allowlist", "allow": [f"{name}:{site.port}" for name in ("ok.test", "www.ok.test", "other.test")]})
    yield session
    session.end()


@pytest.mark.parametrize("name, said, status", [("ok.test", "once", "200"), ("www.ok.test", "session", "200"), ("other.test", "deny", "403")])
def test_a_first_connection_asks_a_person(asking, site, name, said, status):
    thread, results = in_thread(asking.exec, *CURL, site.url(host=name))
    question = card(asking)
    assert question["action"] == {"action": "connect", "host": name, "port": site.port, "method": "GET"} and question["rule"] == "new-host", question
    assert question["session_words"] == f"connections to {name}:{site.port}, until the session ends"
    answer(asking, question, said)
    thread.join(30)
    assert results and results[0]["stdout"].endswith(status), results
    until(lambda: 'glovebox_egress_decisions_total{verdict="allowed"}' in asking.api.request("GET", "/metrics").body.decode())
    if said == "session":
        assert asking.exec(*CURL, site.url(host=name))["stdout"].endswith("200") and cards(asking) == []


def test_a_yes_is_for_the_next_one_when_the_first_has_given_up(outside, site):
    """A program has its own patience, and a person is seldom so fast. What nobody was asked about has no line that says so."""
    session = outside.api.new(image="toolkits", approval={"mode": "boundary"}, egress={"mode": "allowlist", "allow": [f"ok.test:{site.port}"]})
    assert session.exec("curl", "-sS", "-m", "3", site.url())["exit_code"] == 28
    question = until(lambda: (card := cards(session)) and not card[0]["waits"] and card[0])
    assert [line["host"] for line in told(outside, session, verdict="ask")] == ["ok.test"]
    answer(session, question, "once")
    assert session.exec(*CURL, site.url())["stdout"].endswith("200") and cards(session) == []
    thread, results = in_thread(session.exec, *CURL, site.url())
    answer(session, card(session), "deny")
    thread.join(30)
    assert results[0]["stdout"].endswith("403"), "once was once"
    session.end()
    session = outside.api.new(image="toolkits", egress={"mode": "allowlist", "allow": [f"ok.test:{site.port}"]})
    assert session.exec(*CURL, site.url())["stdout"].endswith("200")
    assert told(outside, session, verdict="allow") and not told(outside, session, verdict="ask")
    session.end()


def test_a_take_is_no_yes(outside, site):
    """An agent could have its connection wait, and then ask for a person."""
    session = outside.api.new(image="toolkits", approval={"mode": "boundary"}, egress={"mode": "allowlist", "allow": [f"evil.test:{site.port}"]})
    session.run("sh", "-c", f"setsid curl -sS -m 50 '{site.url('/away', host='evil.test')}' >/dev/null 2>&1 </dev/null &")
    card(session)
    person = Api(outside.url, session.tokens["controller"])
    person.call("POST", f"{session.path}/lease", {"action": "take"})
    line, = until(lambda: told(outside, session, verdict="deny", host="evil.test"))
    assert line["reason"] == "it was asked about and refused"
    assert not [path for _, path in site.asked if path == "/away"]
    session.end()


def test_an_operators_ceiling(prepared, tmp_path):
    server = start_server(tmp_path, "egress = allowlist\n")
    with pytest.raises(Refused) as refused:
        server.api.new(image="minimal", egress={"mode": "open"})
    assert refused.value.pointer == "/egress/mode" and "allowlist" in refused.value.problem["detail"]
    server.stop()


def test_the_command_line(outside, site, tmp_path):
    cli = Cli(outside)
    made = cli.json("new", "--image", "toolkits", "--allow", f"ok.test:{site.port}", "--allow", "*.other.test")
    shown = cli.json("show", made["id"])
    assert shown["egress"]["mode"] == "allowlist"
    assert cli.run("exec", made["id"], "--", *CURL, site.url()).stdout.endswith(b"200")
    cli.run("rm", made["id"])
    folder = outside.state / "journals" / made["id"]
    assert b"egress" in (folder / "journal.jsonl").read_bytes()
    cli.run("export", str(folder), "--output", str(tmp_path / "journal.zip"))
    cli.run("replay", str(folder))


@pytest.fixture(scope="module")
def browsing(outside, site):
    session = outside.api.new(image="desktop", egress={"mode": "allowlist", "allow": [f"ok.test:{site.port}"]})
    yield session
    session.end()


def titles(session):
    return [window["title"] for window in session.windows()]


def test_where_a_person_goes_is_private(outside, browsing, site):
    """What the browsers reach in a hold, and the ends of it, are in lines that no agent gets."""
    person = Api(outside.url, browsing.tokens["controller"])
    browsing.do("launch", app="chromium", args=[site.url("/ticking.html")])
    until(lambda: any(title.startswith("A clock outside") for title in titles(browsing)))
    before = len(lines(outside, browsing))
    person.call("POST", f"{browsing.path}/lease", {"action": "take"})
    asked = len(site.asked)
    until(lambda: len(site.asked) > asked + 5)
    person.call("POST", f"{browsing.path}/lease", {"action": "give"})
    until(lambda: person.call("GET", f"{browsing.path}/lease")["holder"] == "agent")
    found = lines(outside, browsing)[before:]
    first, last = [at for at, line in enumerate(found) if line["event"] == "lease"]
    held = [line for line in found[first:last] if line["event"].startswith("egress")]
    assert held and all(line["private"] for line in held), held
    assert sum(line.get("again", 1) for line in held) >= 5
    browsing.act(observe=True)
    for window in browsing.windows():
        browsing.do("close_window", window=window["id"])
    late = until(lambda: [line for line in lines(outside, browsing)[before + last:] if line["event"] == "egress_closed"])
    assert all(line["private"] for line in late), late


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_a_browser_loads_a_page(browsing, site, browser):
    before = len(site.asked)
    browsing.do("launch", app=browser, args=[site.url()])
    until(lambda: any(title.startswith("A page outside") for title in titles(browsing)))
    browsing.do("launch", app=browser, args=[site.url(host="evil.test")])
    until(lambda: "is refused: no entry of the allow list names this host" in json.dumps(browsing.do("tree", max_nodes=2000)))
    assert {host for host, _ in site.asked[before:]} == {f"ok.test:{site.port}"}
    for window in browsing.windows():
        browsing.do("close_window", window=window["id"])
