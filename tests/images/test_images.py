# SPDX-License-Identifier: GPL-2.0-or-later
"""Images: what images/build promises, on a recipe of its own that needs no network; and what is in the built images."""

import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
IMAGES = pathlib.Path(os.environ.get("GLOVEBOX_IMAGES", "/var/lib/glovebox/images"))

# A maker of trees that is quick, and that stops in the middle when it is told to.
MKTREE = """#!/bin/bash
set -e
mkdir -p "$2/out/root/etc"
cp "$(dirname "$0")/recipes/$1/content" "$2/out/root/etc/content"
printf 'thing\\t1.0\\n' >"$2/packages.tsv"
if [ -e "$(dirname "$0")/hang" ]; then
	echo hanging >&2
	exec tail -f /dev/null
fi
"""


class Builder:
    """A copy of images/ with the recipe `tiny`, and a folder of images."""

    def __init__(self, folder):
        self.source = folder / "images"
        self.images = folder / "built"
        self.source.mkdir()
        for name in ("build", "hash", "dpkg.conf"):
            shutil.copy(TREE / "images" / name, self.source / name)
        (self.source / "mktree").write_text(MKTREE)
        (self.source / "mktree").chmod(0o755)
        recipe = self.source / "recipes" / "tiny"
        recipe.mkdir(parents=True)
        (recipe / "recipe").write_text("base=\nneeds_mb=1\n")
        (recipe / "apps.json").write_text('{"session_bus": false, "apps": []}')
        self.content = recipe / "content"
        self.content.write_text("one")

    def command(self, *args):
        return [str(self.source / "build"), "--images", str(self.images), *args]

    def build(self, *args):
        return subprocess.run(self.command(*args), capture_output=True, text=True, timeout=60)

    def manifest(self):
        path = self.images / "manifests" / "tiny.json"
        return json.loads(path.read_text()) if path.exists() else None

    def folders(self):
        return sorted(p.name for p in self.images.iterdir() if p.name not in ("manifests", "locks"))


@pytest.fixture
def builder(tmp_path):
    return Builder(tmp_path)


def test_a_build_is_published_with_its_manifest(builder):
    done = builder.build("tiny")
    assert done.returncode == 0, done.stderr
    manifest = builder.manifest()
    assert manifest["name"] == "tiny" and manifest["arch"] == "amd64" and len(manifest["hash"]) == 64
    assert manifest["packages"] == [{"name": "thing", "version": "1.0"}]
    assert builder.folders() == [f"tiny-{manifest['hash'][:12]}"]
    assert (builder.images / builder.folders()[0] / "root/etc/content").read_text() == "one"


def test_an_unchanged_recipe_is_not_built_again(builder):
    builder.build("tiny")
    before = builder.manifest()
    again = builder.build("tiny")
    assert again.returncode == 0 and "up to date" in again.stderr
    assert builder.manifest() == before


def test_a_changed_recipe_is_built_and_the_old_tree_stays_until_gc(builder):
    builder.build("tiny")
    old = builder.folders()
    builder.content.write_text("two")
    assert builder.build("tiny").returncode == 0
    assert len(builder.folders()) == 2 and old[0] in builder.folders()
    assert builder.build("--gc").returncode == 0
    assert builder.folders() == [f"tiny-{builder.manifest()['hash'][:12]}"]


def test_a_forced_build_of_the_same_content_has_the_same_hash(builder):
    builder.build("tiny")
    before = builder.manifest()["hash"]
    assert builder.build("--force", "tiny").returncode == 0
    assert builder.manifest()["hash"] == before


def test_a_killed_build_leaves_no_image_and_the_next_one_cleans_up(builder):
    (builder.source / "hang").touch()
    with subprocess.Popen(builder.command("tiny"), stderr=subprocess.PIPE, text=True, start_new_session=True) as build:
        assert any("hanging" in line for line in build.stderr)
        os.killpg(build.pid, signal.SIGKILL)
    assert builder.manifest() is None
    assert [name for name in builder.folders() if name.startswith(".tmp.")] == builder.folders() != []
    (builder.source / "hang").unlink()
    assert builder.build("tiny").returncode == 0
    assert builder.folders() == [f"tiny-{builder.manifest()['hash'][:12]}"]


def test_an_unknown_recipe_is_refused_with_the_known_ones(builder):
    done = builder.build("no-such")
    assert done.returncode == 2 and "tiny" in done.stderr


def test_too_little_space_is_said_before_anything_is_made(builder):
    (builder.source / "recipes/tiny/recipe").write_text("base=\nneeds_mb=999999999\n")
    done = builder.build("tiny")
    assert done.returncode == 1 and "999999999 MB" in done.stderr
    assert builder.folders() == []


@pytest.fixture(scope="module", params=["minimal", "desktop", "display"])
def image(request):
    manifest = json.loads((IMAGES / "manifests" / f"{request.param}.json").read_text())
    return manifest, IMAGES / f"{request.param}-{manifest['hash'][:12]}" / "root"


def test_the_catalogue_names_programs_that_are_there(image):
    manifest, root = image
    for app in manifest["apps"]:
        assert set(app) == {"name", "title", "argv", "class", "trusted", "args", "kind"}, app
        assert app["args"] in ("none", "files", "urls", "files_urls") and app["kind"] in ("app", "terminal")
        program = root / app["argv"][0].lstrip("/")
        assert program.exists() and os.access(program, os.X_OK), program
        assert "--no-sandbox" not in app["argv"]
    assert {app["name"] for app in manifest["apps"] if app["trusted"]} <= {"firefox", "chromium"}


def test_no_program_changes_its_user_and_no_device_is_there(image):
    seen = 0
    for folder, _, files in os.walk(image[1]):
        seen += len(files)
        for name in files:
            mode = os.lstat(os.path.join(folder, name)).st_mode
            assert not mode & (stat.S_ISUID | stat.S_ISGID), f"{folder}/{name}"
            assert stat.S_ISREG(mode) or stat.S_ISLNK(mode), f"{folder}/{name}"
    assert seen > 50


def test_the_browsers_are_kept_quiet():
    manifest = json.loads((IMAGES / "manifests" / "desktop.json").read_text())
    etc = IMAGES / f"desktop-{manifest['hash'][:12]}" / "root" / "etc"
    firefox = json.loads((etc / "firefox/policies/policies.json").read_text())["policies"]
    chromium = json.loads((etc / "chromium/policies/managed/glovebox.json").read_text())
    assert firefox["DisableDeveloperTools"] and firefox["DisableTelemetry"] and not firefox["PasswordManagerEnabled"]
    assert firefox["ExtensionSettings"]["*"]["installation_mode"] == "blocked"
    assert chromium["DeveloperToolsAvailability"] == 2 and not chromium["PasswordManagerEnabled"]
    assert chromium["ExtensionInstallBlocklist"] == ["*"] and "javascript:*" in chromium["URLBlocklist"]


def test_the_window_manager_starts_nothing():
    manifest = json.loads((IMAGES / "manifests" / "display.json").read_text())
    root = IMAGES / f"display-{manifest['hash'][:12]}" / "root"
    config = (root / "etc/xdg/openbox/rc.xml").read_text()
    for word in ('"Execute"', '"ShowMenu"', '"Restart"', '"Exit"'):
        assert word not in config
    assert sorted(p.name for p in (root / "usr/bin").iterdir()) == ["Xvfb", "dash", "openbox", "sh", "xkbcomp"]
