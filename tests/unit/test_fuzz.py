# SPDX-License-Identifier: GPL-2.0-or-later
"""Each fuzz target runs on its corpus, on what else is recorded of its inputs, and on many that are made of these by chance."""
import pathlib
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
TARGETS = sorted(path.stem.removeprefix("fuzz_") for path in (TREE / "tests" / "fuzz").glob("fuzz_*.c"))
ALSO = {"dialects": ["tests/dialects"]}


@pytest.mark.parametrize("target", TARGETS)
def test_corpus(target):
    folders = [f"tests/fuzz/corpus/{target}", *ALSO.get(target, [])]
    assert any((TREE / folders[0]).iterdir())
    done = subprocess.run([TREE / "build" / "fuzz" / f"fuzz_{target}", "-runs=20000", *folders], capture_output=True, text=True, timeout=120, cwd=TREE, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
