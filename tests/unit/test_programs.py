# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs each cmocka program as one test, so that the closing line counts them all."""
import pathlib
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
SOURCES = sorted((TREE / "tests/unit").glob("test_*.c"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_program(source):
    done = subprocess.run([TREE / "build/unit" / source.stem], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
