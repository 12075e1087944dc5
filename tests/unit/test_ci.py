# SPDX-License-Identifier: GPL-2.0-or-later
"""What `.ci/run` makes of tests that fail: in a small tree, whose tests are what each test here writes into it."""
import os
import pathlib
import re
import shutil
import subprocess
import textwrap

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
# What a test of the small tree begins with: true once in its life.
FIRST = """
    import pathlib, pytest
    def first(name):
        mark = pathlib.Path(__file__).with_name(f".{name}")
        return not mark.exists() and not mark.write_text("")
"""


class Small:
    """The tree: its scripts are ours, but for the set-up and for make, which only say that they were called."""

    def __init__(self, folder):
        self.folder = folder
        for name in (".ci/run", "tests/run", "tests/pytest.ini"):
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(TREE / name, folder / name)
        for name in ("session/setup", "bin/make"):
            (folder / name).parent.mkdir()
            (folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >>calls\n')
            (folder / name).chmod(0o755)
        self.write("unit/test_good.py", "def test_good(): pass")
        self.write("images/test_other.py", "def test_other(): pass")
        self.write("integration/test_alone.py", "pytestmark = pytest.mark.alone\ndef test_alone(): pass")

    def write(self, name, text):
        (self.folder / "tests" / name).parent.mkdir(exist_ok=True)
        (self.folder / "tests" / name).write_text(textwrap.dedent(FIRST) + textwrap.dedent(text))

    def run(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run([".ci/run"], capture_output=True, text=True, cwd=self.folder, env={**environment, "PATH": path, "WORKERS": "2"}, check=False)
        calls = (self.folder / "calls").read_text().splitlines()
        return done, [call.removeprefix("bin/make ") for call in calls if call.startswith("bin/make")]


@pytest.fixture(name="small")
def small_tree(tmp_path):
    return Small(tmp_path)


ALL = ["check-host", "check-layers"]


def once_more(done):
    return re.findall("^== once more: (.*)$", done.stdout, re.M)


def test_all_is_well(small):
    done, made = small.run()
    assert (done.returncode, made, once_more(done)) == (0, ALL, []), done.stdout + done.stderr


def test_what_fails_once(small):
    """Whatever its name; it is named at the end."""
    small.write("unit/test_some.py", """
        @pytest.mark.parametrize("name", ["with space", "[x]", "a*b", "$(touch owned)", "a'b\\"c`d", "-rf", "new\\nline", "größe", "a::b"])
        def test_odd(name): assert not first("odd" + name.encode().hex())
        @pytest.fixture
        def thing(): assert not first("thing")
        def test_thing(thing): pass
    """)
    done, made = small.run()
    assert (done.returncode, made, len(once_more(done))) == (0, ALL, 10), done.stdout + done.stderr
    assert re.findall("^== failed once, and not the second time: (.*)$", done.stdout, re.M) == once_more(done)
    assert "10 passed" in done.stdout and not (small.folder / "owned").exists()


def test_what_fails_twice(small):
    small.write("unit/test_bad.py", "def test_bad(): assert False")
    done, made = small.run()
    assert done.returncode != 0 and made == [] and once_more(done) == ["tests/unit/test_bad.py::test_bad"]


def test_too_many(small):
    small.write("unit/test_bad.py", "@pytest.mark.parametrize('n', range(11))\ndef test_bad(n): assert not first(n)")
    done, made = small.run()
    assert done.returncode != 0 and made == [] and once_more(done) == []


FAILS_ONCE = "def test_unsteady(): assert not first('unsteady')"


@pytest.mark.parametrize("name, text", [
    ("integration/test_alone.py", "assert not first('file')\npytestmark = pytest.mark.alone\ndef test_alone(): pass"),  # nothing that is alone runs
    ("integration/test_alone.py", "import os\npytestmark = pytest.mark.alone\ndef test_alone(): os._exit(3) if first('process') else None"),
    ("integration/test_alone.py", "def test_not_alone(): pass"),  # there is none any more
    ("unit/test_file.py", "assert not first('file')\ndef test_file(): pass"),
], ids=["a file alone", "the run", "none", "a file"])
def test_what_was_not_run_is_not_made_good(small, name, text):
    """By tests that fail once beside it, and are done well the second time."""
    small.write("unit/test_some.py", FAILS_ONCE)
    small.write(name, text)
    done, made = small.run()
    assert done.returncode != 0 and made == [] and once_more(done) == [], done.stdout + done.stderr
