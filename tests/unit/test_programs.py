# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs each cmocka program as one test, so that the closing line counts them all; as many at a time as there are processors."""
import concurrent.futures
import os
import pathlib
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
SOURCES = sorted((path for folder in ("unit", "x") for path in (TREE / "tests" / folder).glob("test_*.c")), reverse=True)


def run(source):
    program = TREE / "build" / source.parent.name / source.stem
    return subprocess.run([program], capture_output=True, text=True, timeout=300, cwd=TREE, check=False)


@pytest.fixture(scope="module")
def runs(request):
    """Of the chosen programs, each begun when a processor is free."""
    chosen = [item.callspec.params["source"] for item in request.session.items if item.path == request.path]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {source: pool.submit(run, source) for source in chosen}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_program(source, runs):
    done = runs[source].result()
    assert done.returncode == 0, done.stdout + done.stderr
