# SPDX-License-Identifier: GPL-2.0-or-later
"""glovebox selftest: the battery and the checks beside it, through a server that runs."""
import json
import subprocess

import pytest

from conftest import BUILD

pytestmark = pytest.mark.alone


def selftest(server, *words):
    command = [BUILD / "glovebox", "--server", server.url, "--token-file", server.state / "operator.token", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_host_is_tried(server):
    before = server.live_sessions()
    done = selftest(server, "--json", "selftest")
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    assert [row for row in answer["rows"] if not row["ok"]] == []
    assert (done.returncode, answer["ok"], answer["wrong"]) == (0, True, 0)
    names = [row["name"] for row in answer["rows"]]
    assert len(names) > 150 and {"unshare user", "X: picture of the screen", "files of another session", "processes", "a command beside a busy session"} <= set(names)
    assert server.live_sessions() == before


def test_for_people(server):
    done = selftest(server, "selftest")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["PROBE", "LAYER", "EXPECTED", "GOT", "OK"] and lines[-1].endswith(" checks, 0 wrong")


def test_an_image_that_is_not_there(server):
    done = selftest(server, "selftest", "--image", "no-such")
    assert (done.returncode, done.stdout) == (1, "") and "no-such" in done.stderr
