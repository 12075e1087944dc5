# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits of a session: what is met is said, and what one session takes the others do not lack (case X06)."""
import json
import time

import pytest

import hoard
import jail
from conftest import until
from outside import Site, start_server
from prometheus import Metrics

pytestmark = pytest.mark.alone

SMALL = {"cpu": 1, "memory_mb": 256, "pids": 96, "disk_mb": 32, "inodes": 2048, "open_files": 512, "x_mb": 256, "exec_ms": 20000}
# What each thing meets; None: only the program itself is told.
MEETS = {"processors": "cpu", "children": "pids", "children-apart": "pids", "threads": "pids", "memory": "memory_mb", "sockets": "memory_mb",
         "memfds": "memory_mb", "files": None, "disk": "disk_mb", "inodes": "inodes", "pixmaps": "x_mb", "clients": None, "output": None}
HOARD_S = 60
END_S = 5
# Limits of their own: descriptors are not to be what ends sockets, and there is a quarter of a processor beside whatever else runs.
OWN = {"sockets": {"open_files": 8192}, "processors": {"cpu": 0.25}}
OVER = {"cpu": 1.5}  # times the limit, in one look: they are not a second from each other to the tick


@pytest.fixture(scope="module")
def other(server):
    """The session that is to notice nothing."""
    session = server.api.new(image="minimal")
    yield session
    session.end()


def lines(session, *events):
    text = session.api.request("GET", f"{session.path}/journal").body.decode()
    return [line for line in map(json.loads, text.splitlines()) if line["event"] in events]


def use(session):
    return session.agent.call("GET", session.path)["usage"]["limits"]


def metric(server, name, **labels):
    return Metrics(server.api.request("GET", "/metrics").body.decode())(name, **labels)


def fill(session):
    """All processes that the session may have, by commands that do nothing."""
    session.exec("sh", "-c", "for n in $(seq 200); do setsid sleep 1000 >/dev/null 2>&1 & done")
    until(lambda: use(session)["pids"]["hits"])


def clicks(session, n=20):
    times = []
    for i in range(n):
        started = time.monotonic()
        session.act({"action": "click", "x": 100 + 300 * (i % 2), "y": 100 + i})  # never a double click
        times.append(time.monotonic() - started)
    return times


@pytest.mark.parametrize("thing", hoard.THINGS)
def test_one_takes_all_and_others_go_on(server, make_session, other, thing):
    """The offender is held by its own limit, which is said; the other acts on; the offender can be ended at once."""
    session = make_session("minimal", limits=(limits := SMALL | OWN.get(thing, {})))
    hoard.put(session)
    before = metric(server, "glovebox_limits_hit_total", limit=MEETS[thing])
    hoard.start(session, thing, HOARD_S)
    if MEETS[thing]:
        met = until(lambda: (now := use(session)[MEETS[thing]])["hits"] and now, within_s=30)
        assert met["value"] == limits[MEETS[thing]] and met["hit_at"] and 0 < met["used"] <= met["value"] * OVER.get(MEETS[thing], 1)
        line = until(lambda: [line for line in lines(session, "limit") if line["limit"] == MEETS[thing]])[0]
        assert line["value"] == limits[MEETS[thing]] and line["hits"] >= 1 and line["fix"]
        until(lambda: metric(server, "glovebox_limits_hit_total", limit=MEETS[thing]) > before)
    times = clicks(other)
    print(f"{thing}: a click of the other takes {1000 * max(times):.1f} ms at most")
    assert max(times) < 3
    assert session.agent.request("GET", session.path).status == 200, "the session itself is there"
    started = time.monotonic()
    session.end()
    assert time.monotonic() - started < END_S
    assert other.run("echo", "on") == "on\n"


def test_the_x_server_outlives_its_clients(make_session):
    """Pixmaps and connections until there are no more: the clients are refused, and the display serves on."""
    session = make_session("minimal", limits=SMALL)
    hoard.put(session)
    for thing, least in (("pixmaps", 20), ("clients", 100)):
        said = session.run("./hoard", thing, "2").split()
        assert said[0] == thing and int(said[1]) >= least, said
        assert said[2] != "nothing", "it was never refused"
    session.do("click", x=5, y=5)
    assert session.shot().size == (1280, 800)


def test_descriptors_of_one_process(make_session):
    session = make_session("minimal", limits=SMALL)
    hoard.put(session)
    assert session.run("./hoard", "files", "1") == "files 509 Too many open files\n"
    assert session.run("sh", "-c", "ulimit -Hn").strip() == "512"


def test_all_places_share_one_disk(make_session):
    """Home, /tmp, /var/tmp, /run/user and /dev/shm together have disk_mb and inodes."""
    session = make_session("minimal", limits=SMALL)
    for place in ("/home/user", "/var/tmp", "/run/user/1000", "/dev/shm"):
        session.run("sh", "-c", f"head -c 7m /dev/zero >{place}/part")
    result = session.exec("sh", "-c", "head -c 7m /dev/zero >/tmp/part")
    assert "No space left" in result["stderr"]
    assert [row["limit"] for row in result["limits"]] == ["disk_mb"] and result["limits"][0]["value"] == 32
    session.run("sh", "-c", "rm /dev/shm/part /tmp/part; head -c 7m /dev/zero >/tmp/part")


def test_a_file_that_does_not_fit_meets_the_disk(make_session):
    """Also one that is gone again before anybody looks how full it is."""
    session = make_session("minimal", limits=SMALL)
    session.run("sh", "-c", "head -c 20m /dev/zero >part")
    refused = session.agent.request("PUT", f"{session.path}/files/~/more", bytes(20 << 20), headers={"Content-Type": "application/octet-stream"})
    assert refused.status == 507
    assert use(session)["disk_mb"]["hits"] == 1 and [line["limit"] for line in lines(session, "limit")] == ["disk_mb"]


def test_a_failing_command_says_which_limit(make_session):
    session = make_session("minimal", limits={**SMALL, "exec_ms": 1500})
    hoard.put(session)
    killed = session.exec("./hoard", "memory", "20")
    assert killed["signal"] == 9 and [row["limit"] for row in killed["limits"]] == ["memory_mb"]
    assert killed["limits"][0]["value"] == 256 and "limits.memory_mb" in killed["limits"][0]["fix"]
    assert 200 < killed["limits"][0]["used"] <= 256, "what was used then, not what was left"
    slow = session.exec("sleep", "100", timeout_ms=1500)
    assert slow["timed_out"] and [row["limit"] for row in slow["limits"]] == ["exec_ms"]
    # One that fails for reasons of its own, and one that ends itself, met none.
    assert "limits" not in session.exec("false") and "limits" not in session.exec("sleep", "100", timeout_ms=100)
    fill(session)
    failed = session.try_act({"action": "exec", "argv": ["sh", "-c", "for n in 1 2 3; do sleep 0 & done; wait"]})["results"][0]
    assert failed["limits"] and failed["limits"][0]["limit"] == "pids", failed
    if "error" in failed:
        assert failed["error"]["limits"] == failed["limits"]


def test_lines_are_few(make_session):
    """A limit that is met thousands of times a second has a line at once, and one that tells who is ended for it."""
    session = make_session("minimal", limits=SMALL)
    hoard.put(session)
    session.exec("./hoard", "children", str(HOARD_S))
    hits = until(lambda: (now := use(session)["pids"]["hits"]) > 1000 and now)
    found = lines(session, "limit")
    assert [line.get("ended") for line in found] == [None, "agent"] and hits >= found[0]["hits"] + found[1]["hits"] > 1000
    assert use(session)["pids"]["peak"] >= SMALL["pids"] - 8
    session.end()
    usage = lines(session, "usage", "end")
    assert [line["event"] for line in usage] == ["usage", "end"]
    assert usage[0]["hits"]["pids"] >= hits and usage[0]["peaks"]["memory_mb"] > 1 and usage[0]["peaks"]["x_mb"] > 10


def endings(session):
    return [line["ended"] for line in lines(session, "limit") if "ended" in line]


def test_a_command_that_is_a_fork_bomb_is_ended(server, make_session):
    """With all that the agent started, and nothing else; who waits for it is told why."""
    session = make_session("desktop", apps=["editor"], limits=SMALL | {"memory_mb": 512})
    hoard.put(session)
    before = metric(server, "glovebox_security_events_total", event="ended")
    result = session.exec("./hoard", "children", str(HOARD_S))
    assert result["signal"] == 9 and [(row["limit"], row["ended"]) for row in result["limits"]] == [("pids", "agent")], result
    assert endings(session) == ["agent"]
    until(lambda: "hoard" not in jail.processes(session.id).values())
    assert "editor" in [window["app"] for window in session.windows()]
    assert session.run("echo", "on") == "on\n"
    until(lambda: metric(server, "glovebox_security_events_total", event="ended") > before)


def test_who_is_refused_now_and_then_is_not_ended(make_session):
    session = make_session("minimal", limits=SMALL)
    fill(session)
    before = use(session)["pids"]["hits"]
    for _ in range(5):
        session.try_act({"action": "exec", "argv": ["sh", "-c", "sleep 0 & sleep 0 & sleep 0 & wait"]})
    assert use(session)["pids"]["hits"] >= before + 5
    assert endings(session) == [] and "sleep" in jail.processes(session.id).values()


@pytest.fixture(scope="module")
def outside(prepared, tmp_path_factory):
    """A server with a way out, and a host that its sessions may reach."""
    folder = tmp_path_factory.mktemp("flood")
    (folder / "site").mkdir()
    site = Site(folder / "site")
    server = start_server(folder)
    yield server, site
    server.stop()
    site.close()


@pytest.mark.parametrize("allowed", [True, False], ids=["open tunnels", "refused requests"])
def test_the_way_out_is_one_sessions_alone(outside, allowed):
    """More tunnels than its caps, or requests that are refused as fast as they come: another session acts on, and reaches what it may."""
    server, site = outside
    to = f"ok.test:{site.port}"
    offender = server.api.new(image="minimal", limits=SMALL, egress={"mode": "allowlist", "allow": [to], "caps": {"connections": 8}})
    other = server.api.new(image="minimal", egress={"mode": "allowlist", "allow": [to]})
    hoard.put(offender)
    hoard.put(other)
    offender.run("sh", "-c", f"setsid ./hoard tunnels {HOARD_S} {to if allowed else 'evil.test:443'} >out 2>&1 </dev/null &")
    if allowed:
        met = until(lambda: (now := use(offender).get("egress_connections")) and now["hits"] and now)
        assert met["value"] == 8
        assert until(lambda: lines(offender, "limit"))[0]["limit"] == "egress_connections"
    else:
        until(lambda: offender.agent.call("GET", offender.path)["egress"]["denied"] > 100)
    times = clicks(other)
    print(f"tunnels: a click of the other takes {1000 * max(times):.1f} ms at most")
    assert max(times) < 3
    assert int(other.run("./hoard", "tunnels", "2", to).split()[1]) >= 1
    started = time.monotonic()
    offender.end()
    assert time.monotonic() - started < END_S
    other.end()


def test_limits_of_a_key_and_of_the_server(server):
    for name, value, words in (("inodes", 1023, "1024"), ("open_files", 5000000, "1048576"), ("x_mb", 8192, "allows 256..4096")):
        reply = server.api.request("POST", "/v1/sessions", {"image": "minimal", "limits": {name: value}})
        assert reply.status == 400 and reply.json["pointer"] == f"/limits/{name}" and words in reply.json["detail"], reply.json


def test_who_is_ended_first_when_memory_is_gone(make_session):
    """The agent's programs before what all of them need; nobody makes himself worth more than that."""
    session = make_session("minimal", apps=["terminal"])
    score = "cat /proc/self/oom_score_adj; echo -1 >/proc/self/oom_score_adj"
    told = session.exec("sh", "-c", score)
    assert told["stdout"] == "600\n" and told["exit_code"] != 0
    scores = {name: jail.read(f"/proc/{pid}/oom_score_adj").strip() for pid, name in jail.processes(session.id).items()}
    assert scores["glovebox-init"] == scores["Xvfb"] == scores["dbus-daemon"] == "0"
    assert scores["bash"] == "600", "an app that is not trusted is the agent's, and what it starts"
