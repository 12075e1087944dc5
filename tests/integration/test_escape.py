# SPDX-License-Identifier: GPL-2.0-or-later
"""What hostile programs try from inside the jail: the escape battery (tests/escape), by everybody who runs there."""
import os

import pytest

import escape
from conftest import Server

# Of who starts the server: none of it is for a jail (case X04).
HOST = {"AWS_SECRET_ACCESS_KEY": "canary", "SSH_AUTH_SOCK": "/run/canary", "GLOVEBOX_TOKEN": "canary", "CANARY_TOKEN": "canary"}
LEAST = {"command": 150, "app": 150, "browser": 150, "root": 150}


@pytest.fixture(scope="module")
def hostile(prepared, tmp_path_factory):
    """A session of an image with hostile apps."""
    folder = tmp_path_factory.mktemp("escape")
    with escape.images(folder / "images") as images:
        server = Server(folder / "state", "--images", images, env={**os.environ, **HOST}).start()
        yield server.api.new(image=escape.IMAGE)
        server.stop()


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
    import subprocess
    from conftest import BUILD
    done = subprocess.run([BUILD / "glovebox-battery"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and "nothing was tried" in done.stderr
