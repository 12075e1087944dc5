# SPDX-License-Identifier: GPL-2.0-or-later
"""From the tarball to a server that was installed: `make dist`, `make`, `make install`, in folders of the test's own."""
import hashlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tarfile

import pytest

from conftest import BUILD, TREE, Server

sys.path.insert(0, str(TREE / "tests"))
from readme import broken_links, pages  # noqa: E402

PLACES = ["bin/glovebox", "sbin/gloveboxd", "lib/glovebox/bin/glovebox-front", "lib/glovebox/images/build",
          "lib/glovebox/images/recipes/minimal/recipe", "lib/systemd/system/glovebox.service", "share/doc/glovebox/LICENSE", "share/doc/glovebox/docs/operating.md",
          *(f"share/glovebox/adapters/{path.name}" for path in (TREE / "session/dialects/adapters").iterdir())]


def make(tree, *words):
    """A make of its own, whatever make runs the tests."""
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    return subprocess.run(["make", "-s", *map(str, words)], cwd=tree, env=env, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)


def made(tree, *words):
    done = make(tree, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def unpacked(prepared, tmp_path_factory):
    """The tree that the tarball holds, built."""
    folder = tmp_path_factory.mktemp("dist")
    tarball = pathlib.Path(made(TREE, "dist", f"B={folder}/first").strip())
    with tarfile.open(tarball) as tar:
        tar.extractall(folder)
    tree = folder / tarball.name.removesuffix(".tar.gz")
    # The same tree again, without what the first build leaves, and without git.
    again = pathlib.Path(made(tree, "dist", f"B={folder}/second").strip())
    assert digest(again) == digest(tarball)
    made(tree, f"-j{os.cpu_count()}", "OPT_release=-O0", "all")  # it is about the files, not the speed
    return tree


@pytest.fixture(scope="module")
def installed(unpacked, tmp_path_factory):
    """DESTDIR after an install; the unpacked tree is gone, so that nothing can be used from there."""
    dest = tmp_path_factory.mktemp("install")
    said = made(unpacked, "install", "OPT_release=-O0", f"DESTDIR={dest}")
    assert "/usr/local/share/glovebox/adapters" in said
    unpacked.rename(unpacked.with_name("away"))
    yield dest / "usr/local"
    unpacked.with_name("away").rename(unpacked)


def test_the_version_is_in_the_tarballs_name(unpacked):
    version = re.search(r"^## \[(\d[^]]*)\]", (TREE / "CHANGELOG.md").read_text(), re.M)[1]
    assert unpacked.name == f"glovebox-{version}"
    assert not (unpacked / ".git").exists() and not list(unpacked.rglob("__pycache__"))


@pytest.mark.parametrize("place", PLACES)
def test_places(installed, place):
    path = installed / place
    assert path.resolve().is_relative_to(installed) and path.is_file()
    assert path.stat().st_uid == 0 and path.stat().st_mode & 0o022 == 0


def test_pages(installed):
    """Those that are installed lead to each other."""
    folder = installed / "share/doc/glovebox"
    assert len(pages(folder)) == len(pages()) > 10
    assert [link for page in folder.rglob("*.md") for link in broken_links(folder, page)] == []


def test_recipes_are_the_same(installed):
    """So an image that the tree built is up to date for what was installed."""
    shown = subprocess.run(["diff", "-r", "--no-dereference", TREE / "images/recipes", installed / "lib/glovebox/images/recipes"], capture_output=True, text=True)
    assert shown.stdout + shown.stderr == ""
    done = subprocess.run([installed / "bin/glovebox", "image", "build", "no-such"], capture_output=True, text=True)
    assert done.returncode == 2 and "minimal" in done.stderr, done.stderr


def test_a_session(installed, tmp_path):
    """Started through its link, it finds its parts, and serves."""
    server = Server(tmp_path / "state", programs=installed / "sbin").start()
    try:
        words = [installed / "bin/glovebox", "--server", server.url, "--token-file", server.state / "operator.token"]
        new = subprocess.run([*words, "new", "--image", "minimal"], capture_output=True, text=True, timeout=60)
        assert new.returncode == 0, new.stderr
        ran = subprocess.run([*words, "exec", new.stdout.split()[0], "--", "echo", "here"], capture_output=True, text=True, timeout=60)
        assert ran.stdout == "here\n", ran.stderr
        tried = subprocess.run([*words, "selftest"], capture_output=True, text=True, timeout=120)
        assert tried.returncode == 0, tried.stdout + tried.stderr
    finally:
        server.stop()


def test_uninstall(installed, tmp_path, unpacked):
    dest = tmp_path / "dest"
    shutil.copytree(installed.parents[1], dest, symlinks=True)
    made(TREE, "uninstall", f"DESTDIR={dest}")
    assert [path for path in dest.rglob("*") if not path.is_dir()] == []


def test_weakened_programs_are_not_installed(tmp_path):
    """A program with the sanitizers' extra list of system calls, or with layers that can be switched off, is refused before anything is copied;
    and a tarball is not made while such a one is built."""
    source, layers = tmp_path / "weak.c", tmp_path / "layers.c"
    source.write_text("const int sanitizer_rows[] = {1, 2, 3};\nint main(void) { return sanitizer_rows[0]; }\n")
    layers.write_text('#define GLOVEBOX_LAYERS\n#include "session/base/layer.h"\nint main(void) { return layer_is_off("masks"); }\n')
    subprocess.run(["gcc", "-o", tmp_path / "gloveboxd", source], check=True)
    subprocess.run(["gcc", "-s", "-o", tmp_path / "stripped", source], check=True)
    subprocess.run(["gcc", "-O2", f"-I{TREE}", "-o", tmp_path / "layered", layers], check=True)
    for program in ("gloveboxd", "stripped", "layered"):
        done = subprocess.run([TREE / "session/dist", "0", tmp_path / "dist", tmp_path / program], capture_output=True, text=True)
        assert done.returncode == 1 and "refuse_weakened" in done.stderr and not list((tmp_path / "dist").glob("*.tar.gz"))
        done = subprocess.run([TREE / "session/install", tmp_path / program], env={**os.environ, "DESTDIR": str(tmp_path / "dest")},
                              capture_output=True, text=True)
        assert done.returncode == 1 and "not installed" in done.stderr
    assert not (tmp_path / "dest").exists()


def test_only_builds_for_it_can_switch_layers_off(prepared):
    programs = [BUILD / name for name in ("gloveboxd", "glovebox-stage", "glovebox-init")]
    assert subprocess.run([TREE / "session/refuse_weakened", *programs], check=False).returncode == 0
    for program in programs:
        assert b"GLOVEBOX_LAYER_OFF" not in program.read_bytes(), program


@pytest.mark.parametrize("weak", [False, True])
def test_a_program_shows_what_its_filters_allow(tmp_path, weak):
    """Filters that were compiled with the sanitizers' extra list bring the name that is looked for into every program that has them."""
    flags = ["-std=gnu17", "-D_GNU_SOURCE", f"-I{TREE}", *(["-DCONFINE_SANITIZER"] if weak else [])]
    rows, source, program = tmp_path / "filters.rows", tmp_path / "program.c", tmp_path / "program"
    subprocess.run(["gcc", *flags, "-o", tmp_path / "filters", *(TREE / "sandbox/filters").glob("*.c"), BUILD / "libbase.a", "-lseccomp"], check=True)
    rows.write_text(subprocess.run([tmp_path / "filters"], capture_output=True, text=True, check=True).stdout)
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", *flags, f'-DFILTER_ROWS="{rows}"', "-o", program, source, TREE / "sandbox/confine/filters.c", BUILD / "libbase.a"], check=True)
    names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    assert ("sanitizer_rows" in names) == weak and "confine_app_deny" in names
    assert subprocess.run([TREE / "session/refuse_weakened", program], capture_output=True, check=False).returncode == weak


def test_the_unit_gives_what_the_warden_keeps():
    """A capability that the unit takes away would be missed only when a session is made."""
    unit = (TREE / "session/glovebox.service").read_text()
    given = {word for line in re.findall(r"^CapabilityBoundingSet=(.*)", unit, re.M) for word in line.split()}
    kept = set(re.findall(r"^\t\{(CAP_\w+),", (TREE / "session/warden/settle.c").read_text(), re.M))
    assert kept and given == kept | {"CAP_NET_BIND_SERVICE"}


@pytest.mark.parametrize("abstract", [False, True])
def test_it_tells_the_service_manager(prepared, tmp_path, abstract):
    """Type=notify: READY=1 when it serves, also to a name of the network namespace that the warden leaves."""
    name = f"@glovebox-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name.replace("@", "\0"))
        manager.settimeout(20)
        server = Server(tmp_path / "state", env={**os.environ, "NOTIFY_SOCKET": name}).start()
        try:
            assert manager.recv(100) == b"READY=1"
            for pid in children_of(server):
                assert b"NOTIFY_SOCKET" not in pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        finally:
            server.stop()


def children_of(server):
    return pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()


def test_a_bad_notify_socket_is_refused(prepared, tmp_path):
    done = subprocess.run([BUILD / "gloveboxd", "--listen", "127.0.0.1:0", "--state", tmp_path / "state"], capture_output=True, text=True,
                          env={**os.environ, "NOTIFY_SOCKET": "here"}, timeout=20)
    assert done.returncode == 1 and "NOTIFY_SOCKET" in done.stderr
