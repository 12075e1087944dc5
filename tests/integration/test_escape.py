# SPDX-License-Identifier: GPL-2.0-or-later
"""What hostile programs try from inside the jail: the escape battery (tests/escape), by everybody who runs there."""
import base64
import gzip
import json
import os
import subprocess

import pytest

import escape
import hoard
import jail
from api import in_thread
from conftest import BUILD, Server, until

# Of who starts the server: none of it is for a jail (case X04).
HOST = {"AWS_SECRET_ACCESS_KEY": "canary", "SSH_AUTH_SOCK": "/run/canary", "GLOVEBOX_TOKEN": "canary", "CANARY_TOKEN": "canary"}
LEAST = {"command": 150, "app": 150, "browser": 150, "root": 150}


@pytest.fixture(scope="module")
def escapes(prepared, tmp_path_factory):
    """A server with an image with hostile apps."""
    folder = tmp_path_factory.mktemp("escape")
    with escape.images(folder / "images") as images:
        server = Server(folder / "state", "--images", images, env={**os.environ, **HOST}).start()
        yield server
        server.stop()


@pytest.fixture(scope="module")
def hostile(escapes):
    return escapes.api.new(image=escape.IMAGE)


@pytest.mark.parametrize("how", escape.HOW)
def test_battery(hostile, how):
    rows = escape.run(hostile, how)
    print(f"{how}: {len(rows)} probes\n{escape.table(rows)}")
    wrong = [row for row in rows if row.verdict != "ok"]
    assert not wrong, escape.table(wrong)
    assert len(rows) >= LEAST[how] and len({row.name for row in rows}) == len(rows)


def test_a_program_that_is_no_browser_cannot_become_root(hostile):
    result = hostile.exec(escape.BATTERY, "--root")
    assert (result["exit_code"], result["stdout"]) == (1, "root of a nested user namespace: EPERM\n")


def test_the_battery_runs_in_jails_alone(prepared):
    done = subprocess.run([BUILD / "glovebox-battery"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and "nothing was tried" in done.stderr


# In the way of all others on the display.

@pytest.fixture
def abused(escapes):
    """A session with the program that abuses its display, and an app that is not in its way."""
    session = escapes.api.new(image=escape.IMAGE, apps=["editor"])
    program = base64.b64encode(gzip.compress((BUILD / "fixtures/hostile").read_bytes())).decode()
    session.run("sh", "-c", "base64 -d | gunzip >hostile && chmod +x hostile", stdin=program)
    yield session
    session.end()


def abuse(session, how):
    """What it says."""
    session.run("sh", "-c", f"rm -f said; setsid ./hostile {how} >said 2>/dev/null </dev/null &")
    return until(lambda: session.exec("cat", "said")["stdout"])


def journal(server, session):
    return [json.loads(line) for line in (server.state / "journals" / session.id / "journal.jsonl").read_text().splitlines()]


def silences(server, session):
    return [line.get("ended", line["answers"]) for line in journal(server, session) if line["event"] == "display_silent"]


def is_answering(session):
    return session.agent.request("GET", f"{session.path}/screenshot").status == 200


def test_a_command_that_grabs_the_display_is_ended(escapes, abused):
    """And nothing else is: the app stays."""
    abused.run("touch", "/tmp/grab")
    assert abuse(abused, "grab") == "grabbed\n"
    until(lambda: is_answering(abused), within_s=20)
    assert silences(escapes, abused) == ["agent", True]
    assert "editor" in [window["app"] for window in abused.windows()]
    assert "hostile" not in jail.processes(abused.id).values()


def test_an_app_that_grabs_the_display_is_ended(escapes, abused):
    """After the agent's own processes, which did not do it; while it goes on, new work is refused."""
    abused.do("launch", app="grabber")
    abused.run("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & touch /tmp/grab")
    reply = until(lambda: (reply := abused.agent.request("GET", f"{abused.path}/screenshot")).status != 200 and reply, within_s=20)
    assert (reply.status, reply.json["code"]) == (503, "display_silent")
    until(lambda: is_answering(abused), within_s=20)
    assert silences(escapes, abused) == ["agent", "apps", True]
    assert abused.id in escapes.live_sessions() and not {"hostile", "mousepad", "sleep"} & set(jail.processes(abused.id).values())
    abused.do("launch", app="editor")


def test_an_app_that_is_a_fork_bomb_is_ended(escapes):
    """After the agent's own processes, which were not it."""
    session = escapes.api.new(image=escape.IMAGE, limits={"pids": 64})
    hoard.put(session)
    session.run("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &")
    in_thread(session.try_act, {"action": "launch", "app": "bomber"})  # which shows no window
    until(lambda: [line["ended"] for line in journal(escapes, session) if line["event"] == "limit" and "ended" in line] == ["agent", "apps"], within_s=30)
    until(lambda: not {"hoard", "sleep"} & set(jail.processes(session.id).values()))
    session.do("launch", app="editor")
    session.end()


def display_of(session):
    return {pid: name for pid, name in jail.processes(session.id).items() if "/desk/display" in jail.read(f"/proc/{pid}/cgroup")}


def test_nothing_of_the_display_starts_a_program(abused):
    """Neither the desktop's mouse and keys nor requests to the window manager and the server, with the display's own cookie: all is noexec there."""
    before, windows = display_of(abused), [window["id"] for window in abused.windows()]
    assert sorted(before.values()) == ["Xvfb", "glovebox-display", "openbox"]
    corner = {"x": 1270, "y": 790}
    for button in ("left", "middle", "right"):
        abused.act({"action": "click", **corner, "button": button}, {"action": "key", "keys": "Escape"})
    for keys in ("super+e", "Print", "alt+Escape", "alt+space", "super+d", "ctrl+alt+Left", "alt+F2", "super+F1"):
        abused.do("key", keys=keys)
    assert abuse(abused, "control") == "told\n"
    assert abuse(abused, "keyboard") == "no extension\n"
    jail.leak_cookie(abused)
    abused.run("sh", "-c", "rm said; XAUTHORITY=leaked setsid ./hostile keyboard >said 2>/dev/null </dev/null &")
    assert until(lambda: abused.exec("cat", "said")["stdout"]) == "not loaded\n"
    abused.act({"action": "key", "keys": "Escape"}, {"action": "move", "x": 20, "y": 30})
    assert is_answering(abused) and display_of(abused) == before
    assert [window["id"] for window in abused.windows()] == windows


def test_all_connections_are_taken(abused):
    """The stage has its own from the start."""
    said, n = abuse(abused, "connections").split()
    assert said == "taken" and 300 < int(n) < 512
    abused.act({"action": "move", "x": 20, "y": 30}, {"action": "click", "x": 20, "y": 30})
    assert is_answering(abused)


def test_pixmaps_meet_the_servers_own_limit(abused):
    """64 of 64 MiB each: the client is refused, the server lives."""
    server = jail.part(abused.id, "Xvfb")
    made, refused = (int(word) for word in abuse(abused, "pixmaps").split()[1::2])
    assert made + refused == 64 and made < 20, (made, refused)
    abused.act({"action": "move", "x": 20, "y": 30})
    assert is_answering(abused) and jail.part(abused.id, "Xvfb") == server
