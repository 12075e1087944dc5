# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs each cmocka program as one test, so that the closing line counts them all."""
import pathlib
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
SOURCES = sorted(path for folder in ("unit", "x") for path in (TREE / "tests" / folder).glob("test_*.c"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_program(source):
    done = subprocess.run([TREE / "build" / source.parent.name / source.stem], capture_output=True, text=True, timeout=120, cwd=TREE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
