# SPDX-License-Identifier: GPL-2.0-or-later
"""The set of npm packages that tests use is whole, and does not say where it came from."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests"))
import npm  # noqa: E402

LOCK = json.loads(npm.LOCK.read_text())["packages"]
WANTED = json.loads((npm.LOCK.parent / "package.json").read_text())["dependencies"]


def test_lock_names_versions_and_no_addresses():
    assert LOCK[""]["dependencies"] == WANTED
    assert [name for name, version in WANTED.items() if not re.fullmatch(r"\d+\.\d+\.\d+(-[\w.]+)?", version)] == []
    locked = {name: package for name, package in LOCK.items() if name}
    assert [name for name, package in locked.items() if "resolved" in package or "link" in package] == []
    assert [name for name, package in locked.items() if not package["integrity"].startswith("sha512-")] == []


def test_packages_are_there():
    npm.need()
    there = {name: json.loads((npm.MODULES / name / "package.json").read_text())["version"] for name in WANTED}
    assert there == WANTED


def test_node_is_new_enough():
    npm.need()
    version = subprocess.run([npm.NODE, "--version"], capture_output=True, text=True, check=True).stdout
    assert tuple(map(int, version.strip("v\n").split("."))) >= (22, 19, 0)


@pytest.mark.parametrize("program", ["redocly", "spectral", "conformance"])
def test_programs_run(program):
    done = npm.run(program, "--version", timeout=60)
    assert done.returncode == 0 and re.search(r"\d+\.\d+\.\d+", done.stdout), done.stdout + done.stderr


def test_missing_packages_fail_where_tests_must_run(monkeypatch, tmp_path):
    monkeypatch.setattr(npm, "NODE", tmp_path / "node")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="tests/npm/install makes it"):
        npm.need()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception):
        npm.need()
