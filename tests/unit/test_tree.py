# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tree promises about itself: its layers, what each program links, its scripts, its pages."""
import os
import pathlib
import re
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
# A folder, and what nothing in it may reach through its includes.
MUST_NOT_KNOW = [
    ("session/base", ["session/warden", "session/stage", "session/front", "session/dialects", "session/cli", "session/replay", "display", "input", "apps", "sandbox"]),
    ("display", ["input", "apps", "sandbox/jail", "session/stage", "session/front"]),
    ("input", ["display", "apps", "sandbox/jail", "session/stage", "session/front"]),
    ("apps", ["display", "input", "sandbox/jail", "session/stage", "session/front"]),
    ("sandbox", ["display", "input", "apps", "session/stage", "session/front", "session/cli"]),
    ("sandbox/confine", ["sandbox/filters", "sandbox/jail", "sandbox/egress"]),
    ("sandbox/filters", ["sandbox/jail", "sandbox/egress", "session/warden"]),
    ("sandbox/egress", ["sandbox/jail", "session/warden", "session/journal", "session/policy"]),
    ("session/front", ["session/stage", "display", "input", "apps", "sandbox/jail"]),
    ("session/stage", ["session/front", "sandbox/jail"]),
    ("session/mcp", ["session/front", "session/stage", "session/warden", "session/cli", "display", "input", "apps", "sandbox"]),
    ("session/dialects", ["session/stage", "session/front", "session/journal", "display", "input/input.h", "input/hands.h", "apps", "sandbox"]),
    ("session/policy", ["session/warden", "session/stage", "session/front", "session/journal", "session/cli", "display", "input", "apps", "sandbox"]),
    ("session/replay", ["session/warden", "session/stage", "session/front", "session/journal", "session/cli", "display", "input", "apps", "sandbox"]),
    ("session/cli", ["session/warden", "session/stage", "session/front", "display", "input", "apps", "sandbox"]),
]
# Headers that describe a link: no code behind them, so that both of its ends may read them.
JOINTS = {"session/warden/proto.h", "session/stage/link.h", "display/view/proto.h", "apps/init/proto.h", "sandbox/egress/hook.h", "sandbox/egress/link.h"}

# A program, and libraries that must not be in it.
MUST_NOT_LINK = [
    ("gloveboxd", ["jansson", "microhttpd", "X11", "xcb", "png", "curl", "sqlite3"]),
    ("glovebox-front", ["X11", "xcb", "png", "curl"]),
    ("glovebox-stage", ["microhttpd", "curl", "sqlite3"]),
    ("glovebox", ["microhttpd", "X11"]),
    ("glovebox-egress", ["microhttpd", "X11", "xcb", "png", "sqlite3"]),
    ("glovebox-view", ["jansson", "microhttpd", "X11", "xcb", "curl", "sqlite3"]),
    ("glovebox-init", ["c"]),
]


def sources():
    for folder in ("session", "display", "input", "apps", "sandbox"):
        yield from (path for path in (TREE / folder).rglob("*.[ch]"))


def includes(path):
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
        yield name if (TREE / name).exists() else os.path.relpath((path.parent / name).resolve(), TREE)


def reached(path, seen):
    """All headers of the tree that a file includes, and those that these include; joints are not looked into."""
    for name in includes(path):
        if name not in seen and (TREE / name).exists():
            seen.add(name)
            if name not in JOINTS:
                reached(TREE / name, seen)
    return seen - JOINTS


@pytest.mark.parametrize("folder, strangers", MUST_NOT_KNOW, ids=[row[0] for row in MUST_NOT_KNOW])
def test_layers(folder, strangers):
    files = [path for path in sources() if path.is_relative_to(TREE / folder)]
    assert files, f"{folder} has no sources: the row is out of date"
    wrong = [f"{path.relative_to(TREE)} reaches {header}" for path in files for header in sorted(reached(path, set()))
             if any(header == stranger or header.startswith(f"{stranger}/") for stranger in strangers)]
    assert wrong == []


def test_every_source_says_what_it_is():
    wrong = [str(path.relative_to(TREE)) for path in sources()
             if not re.match(r"/\* SPDX-License-Identifier: GPL-2\.0-or-later \*/\n/\*", path.read_text())]
    assert wrong == []


@pytest.mark.parametrize("program, strangers", MUST_NOT_LINK, ids=[row[0] for row in MUST_NOT_LINK])
def test_links(program, strangers):
    path = TREE / "build" / program
    assert path.exists(), f"{path} is not built"
    shown = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    linked = re.findall(r"\(NEEDED\).*\[lib([^\]]*)\.so[^\]]*\]", shown)
    assert linked or program == "glovebox-init"
    assert [name for name in linked if name.split("-")[0] in strangers] == []


def test_no_program_compiles_filters():
    """They carry what was compiled while they were built; static ones too."""
    names = re.search(r"^PROGRAMS := (.*)", (TREE / "Makefile").read_text(), re.M)[1].split()
    wrong = []
    for path in (TREE / "build" / name for name in names):
        linked = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        if "libseccomp" in linked or re.search(r" seccomp_\w+$", symbols, re.M):
            wrong.append(path.name)
    assert len(names) > 10 and wrong == []


def test_only_the_warden_builds_jails():
    makefile = (TREE / "Makefile").read_text()
    assert re.findall(r"^DIRS_(\S+).*\bsandbox/jail\b", makefile, re.M) == ["gloveboxd"]


def scripts():
    for folder, folders, files in os.walk(TREE):
        folders[:] = [name for name in folders if name not in (".git", "node_modules") and not name.startswith("build")]
        for name in files:
            path = pathlib.Path(folder, name)
            if path.is_symlink():
                continue  # of an image's root: it leads to a place there
            with open(path, "rb") as file:
                if re.match(rb"#!.*\b(ba)?sh\b", file.readline()):
                    yield path


def test_scripts_are_clean():
    found = sorted(scripts())
    assert found
    done = subprocess.run(["shellcheck", "-x", *found], capture_output=True, text=True, cwd=TREE, check=False)
    assert done.returncode == 0, done.stdout


def test_nothing_is_left_to_do():
    """No promise of later work in the code."""
    words = re.compile("|".join(("TO" "DO", "FIX" "ME", "XX" "X:")))
    assert [str(path.relative_to(TREE)) for path in sources() if words.search(path.read_text())] == []
