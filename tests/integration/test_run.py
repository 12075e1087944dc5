# SPDX-License-Identifier: GPL-2.0-or-later
"""The first command of README.md: what it prints works, and Ctrl-C leaves nothing, whenever it comes."""
import os
import re
import shlex
import signal
import subprocess

import pytest

from conftest import IMAGES, TREE, Server, children, until

RUN_S = 120


@pytest.fixture
def run(prepared, tmp_path):
    """Starts session/run as a terminal does: in a process group of its own, which Ctrl-C goes to."""
    server = Server(tmp_path / "state")
    server.state.mkdir(mode=0o700)
    (server.state / "images").symlink_to(IMAGES)
    server.children = children()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SUDO_")}
    process = subprocess.Popen([TREE / "session/run"], env={**environment, "STATE": str(server.state), "LISTEN": "127.0.0.1:0"},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)
    yield server, process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()


def read_until(process, wanted):
    """The lines up to the one that has `wanted` in it."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if wanted in line:
            return "".join(lines)
    raise AssertionError(f"ended without {wanted!r}:\n{''.join(lines)}")


def press_ctrl_c(server, process):
    os.killpg(process.pid, signal.SIGINT)
    process.wait(RUN_S)
    server.assert_nothing_runs()
    rest = process.stdout.read()
    assert list((server.state / "run").iterdir()) == [], rest
    return rest


def test_ctrl_c_ends_it_and_its_commands_work(run, tmp_path):
    server, process = run
    text = read_until(process, "Ctrl-C ends")
    assert re.search(r"^  http://127\.0\.0\.1:\d+/#code=[A-Z0-9]{4}-[A-Z0-9]{4}$", text, re.M)
    commands = re.findall(r"^  ((?:curl|build/glovebox) .*)$", text, re.M)
    assert [shlex.split(command)[0] for command in commands] == ["curl", "build/glovebox", "build/glovebox"]
    for command in commands:
        command = command.replace("-o desktop.png", f"-o {tmp_path}/desktop.png")
        done = subprocess.run(["bash", "-c", command], cwd=TREE, capture_output=True, text=True, timeout=RUN_S)
        assert done.returncode == 0, (command, done.stderr)
    assert (tmp_path / "desktop.png").read_bytes().startswith(b"\x89PNG")
    assert "has ended: the server is ending" in press_ctrl_c(server, process)


def test_ctrl_c_while_the_first_session_starts(run):
    server, process = run
    read_until(process, "== a first session")
    until(lambda: any((server.state / "journals").iterdir()))
    press_ctrl_c(server, process)
