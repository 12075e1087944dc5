# SPDX-License-Identifier: GPL-2.0-or-later
"""Images: what images/build promises, on a recipe of its own that needs no network; and what is in the built images."""

import json
import os
import pathlib
import re
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
mkdir -p "$1/out/root/etc"
cat "${@:2}"/content >"$1/out/root/etc/content"
printf 'thing\\t1.0\\n' >"$1/packages.tsv"
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


def test_the_tree_of_the_manifest_is_the_newest_of_its_name(builder):
    """The warden takes the newest root of displays: that of a recipe which went back to what it was, too."""
    def newest():
        return max(builder.folders(), key=lambda name: (builder.images / name).stat().st_mtime_ns)

    for content in ("one", "two", "one"):
        builder.content.write_text(content)
        assert builder.build("tiny").returncode == 0
        assert newest() == f"tiny-{builder.manifest()['hash'][:12]}"
    os.utime(builder.images / newest(), (1, 1))
    assert "up to date" in builder.build("tiny").stderr
    assert newest() == f"tiny-{builder.manifest()['hash'][:12]}"


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


def hanging_build(builder):
    """A build that has begun its tree and does not end, and the pid of what it waits for."""
    (builder.source / "hang").touch()
    # A shell cannot trap what was ignored when it began, as SIGINT is in what another shell left in the background.
    build = subprocess.Popen(builder.command("tiny"), stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert any("hanging" in line for line in build.stderr)
    return build


def test_what_a_build_started_ends_with_it(builder):
    with hanging_build(builder) as build:
        build.kill()
        assert build.stderr.read() == ""  # end of file: nobody holds the pipe any more
    (builder.source / "hang").unlink()
    assert builder.build("tiny").returncode == 0
    assert builder.folders() == [f"tiny-{builder.manifest()['hash'][:12]}"]


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_build_that_is_asked_to_end_cleans_up_itself(builder, signo):
    with hanging_build(builder) as build:
        build.send_signal(signo)
        assert build.wait(timeout=10) == 128 + signo if signo != signal.SIGHUP else 143
    assert builder.folders() == [] and builder.manifest() is None


def test_builds_of_one_image_wait_for_each_other(builder):
    first = hanging_build(builder)
    with subprocess.Popen(builder.command("tiny"), stderr=subprocess.PIPE, text=True) as second:
        assert "waiting for it" in second.stderr.readline()
        (builder.source / "hang").unlink()
        with first:
            first.terminate()
        assert second.wait(timeout=30) == 0
    assert builder.folders() == [f"tiny-{builder.manifest()['hash'][:12]}"]


def test_the_hash_covers_what_counts_and_not_the_time(tmp_path):
    def tree_hash():
        return subprocess.run([TREE / "images/hash", tmp_path], check=True, capture_output=True, text=True).stdout

    file = tmp_path / "a b"
    file.write_text("x")
    (tmp_path / "link").symlink_to("one")
    seen = [tree_hash()]
    os.utime(file, (1, 1))
    assert tree_hash() == seen[0]
    for change in (
        lambda: file.write_text("y"),
        lambda: file.chmod(0o711),
        lambda: os.chown(file, 7, 0),
        lambda: os.chown(file, 7, 7),
        lambda: ((tmp_path / "link").unlink(), (tmp_path / "link").symlink_to("two")),
        lambda: file.rename(tmp_path / "a\nb"),
        lambda: (tmp_path / "empty").mkdir(),
    ):
        change()
        seen.append(tree_hash())
    assert len(set(seen)) == len(seen)


def sources(folder, files):
    """What images/sources prints on a host whose apt knows these sources and has no package lists yet."""
    (folder / "parts").mkdir()
    (folder / "lists").mkdir()
    for name, text in files.items():
        (folder / "parts" / name).write_text(text)
    conf = folder / "apt.conf"
    conf.write_text(
        f'Dir::Etc::SourceList "/dev/null"; Dir::Etc::SourceParts "{folder}/parts"; Dir::State::Lists "{folder}/lists";'
    )
    done = subprocess.run(
        [TREE / "images/sources"], env={**os.environ, "APT_CONFIG": str(conf)}, check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines(), done.stderr


def test_only_debian_bookworm_is_taken_from_the_hosts_sources(tmp_path):
    lines, _ = sources(
        tmp_path,
        {
            "debian.sources": "Types: deb\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\nComponents: main\n"
            "Signed-By: /etc/keys/own.gpg\n\n"
            "Types: deb deb-src\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates trixie\n"
            "Components: main contrib\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
            "other.list": "deb http://other.example/tool bookworm main\ndeb http://other.example/linux/debian bookworm stable\n",
            "second.list": "deb [signed-by=/etc/keys/own.gpg] http://second.example/debian bookworm main\n",
        },
    )
    assert sorted(lines) == [
        "deb [signed-by=/etc/keys/own.gpg] http://mirror.example/debian-security/ bookworm-security main",
        "deb [signed-by=/etc/keys/own.gpg] http://second.example/debian/ bookworm main",
        "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian/ bookworm main",
        "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian/ bookworm-updates main",
    ]


def test_a_host_of_another_release_uses_debians_own_mirror(tmp_path):
    lines, said = sources(tmp_path, {"a.list": "deb http://mirror.example/debian trixie main\n"})
    assert lines == [
        f"deb http://deb.debian.org/{part} {suite} main"
        for part, suite in (("debian/", "bookworm"), ("debian/", "bookworm-updates"), ("debian-security/", "bookworm-security"))
    ]
    assert "no source of Debian 12" in said


def test_an_unknown_recipe_is_refused_with_the_known_ones(builder):
    done = builder.build("no-such")
    assert done.returncode == 2 and "tiny" in done.stderr


def test_too_little_space_is_said_before_anything_is_made(builder):
    (builder.source / "recipes/tiny/recipe").write_text("base=\nneeds_mb=999999999\n")
    done = builder.build("tiny")
    assert done.returncode == 1 and "999999999 MB" in done.stderr
    assert builder.folders() == []


@pytest.fixture(scope="module", params=["minimal", "desktop", "office", "toolkits", "display"])
def image(request):
    manifest = json.loads((IMAGES / "manifests" / f"{request.param}.json").read_text())
    return manifest, IMAGES / f"{request.param}-{manifest['hash'][:12]}" / "root"


def test_the_catalogue_names_programs_that_are_there(image):
    manifest, root = image
    for app in manifest["apps"]:
        assert set(app) - {"runs"} == {"name", "title", "argv", "class", "trusted", "args", "kind"}, app
        assert app["args"] in ("none", "files", "urls", "files_urls") and app["kind"] in ("app", "terminal")
        paths = [app["argv"][0], *app.get("runs", [])]
        for program in (root / path.lstrip("/") for path in paths if not path.startswith("/run/")):
            assert program.exists() and os.access(program, os.X_OK), program
        assert app["trusted"] or "runs" not in app, app
        assert "--no-sandbox" not in app["argv"]
    assert {app["name"] for app in manifest["apps"] if app["trusted"]} <= {"firefox", "chromium", "panel", "gtk4"}


def test_no_program_changes_its_user_and_no_device_is_there(image):
    seen = 0
    for folder, _, files in os.walk(image[1]):
        seen += len(files)
        for name in files:
            mode = os.lstat(os.path.join(folder, name)).st_mode
            assert not mode & (stat.S_ISUID | stat.S_ISGID), f"{folder}/{name}"
            assert stat.S_ISREG(mode) or stat.S_ISLNK(mode), f"{folder}/{name}"
    assert seen > 50


def test_a_session_can_mount_over_its_folders(image):
    for name in ("dev", "proc", "sys", "run", "tmp", "etc", "home", "home/user"):
        assert stat.S_ISDIR(os.lstat(image[1] / name).st_mode), name
    for name in ("etc/machine-id", "etc/resolv.conf"):
        assert stat.S_ISREG(os.lstat(image[1] / name).st_mode) and (image[1] / name).stat().st_size == 0, name
    assert "user:x:1000:1000:" in (image[1] / "etc/passwd").read_text()


def built(name):
    manifest = json.loads((IMAGES / "manifests" / f"{name}.json").read_text())
    return IMAGES / f"{name}-{manifest['hash'][:12]}" / "root"


@pytest.mark.parametrize(
    "text, family",
    [("日", "Noto Sans CJK"), ("한", "Noto Sans CJK"), ("😀", "Noto Color Emoji"), ("ह", "Noto Sans Devanagari"), ("é", "Liberation")],
)
def test_the_cache_of_fonts_knows_the_fonts_of_the_desktop(text, family):
    asked = ["/usr/sbin/chroot", built("desktop"), "/usr/bin/fc-list", f":charset={ord(text):x}", "family"]
    assert family in subprocess.run(asked, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def keymap(tmp_path_factory):
    """The prepared keyboard map: the signs of each code, as the X server will have them."""
    text = tmp_path_factory.mktemp("keymap") / "us.xkb"
    xkm = built("display") / "usr/share/glovebox/keymap/us.xkm"
    subprocess.run(["xkbcomp", "-w", "0", "-xkb", xkm, text], check=True)
    codes = {name: int(code) for name, code in re.findall(r"<(\w+)> = (\d+);", text.read_text())}
    signs = re.findall(r"key <(\w+)> {[^}]*?\[ +([^]]*?) *\]", text.read_text())
    return {codes[name]: re.split(r",\s*", row) for name, row in signs}


def test_the_keyboard_is_the_recipes_to_the_byte(tmp_path):
    recipe, made = TREE / "images/recipes/display", tmp_path / "us.xkm"
    for n in range(5):  # xkbcomp alone gives other bytes now and then
        subprocess.run(["xkbcomp", "-w", "0", "-xkm", recipe / "keymap/us.xkb", made], check=True, env={**os.environ, "N": "x" * n})
        subprocess.run([recipe / "settle-map", made], check=True)
        assert (built("display") / "usr/share/glovebox/keymap/us.xkm").read_bytes() == made.read_bytes()


def test_the_keyboard_leaves_codes_for_typing(keymap):
    empty = set(range(8, 256)) - set(keymap)
    assert len(empty) >= 70
    assert not empty & {8, 166, 167, 180, 181, 182}
    assert all(keymap[code] == ["VoidSymbol"] for code in (8, 166, 167, 180, 181, 182))


def test_the_keyboard_has_common_signs_ready(keymap):
    for pair in (["a", "A"], ["adiaeresis", "Adiaeresis"], ["oe", "OE"], ["leftdoublequotemark", "rightdoublequotemark"],
                 ["EuroSign", "sterling"], ["ellipsis", "enfilledcircbullet"]):
        assert pair in keymap.values(), pair
    assert keymap[36] == ["Return"] and keymap[64][0] == "Alt_L" and keymap[107] == ["Print"]


def test_the_stand_in_copies_a_map_and_takes_no_path_for_a_layout(tmp_path):
    root = built("display")
    out = root / "tmp" / "out.xkm"
    asked = ["/usr/sbin/chroot", root, "/usr/bin/xkbcomp", "-w", "1", "-xkm", "-", "/tmp/out.xkm"]
    try:
        subprocess.run(asked, check=True, input=b"names " * 10000)
        assert out.read_bytes() == (root / "usr/share/glovebox/keymap/us.xkm").read_bytes()
        for layout in ("../keymap/us", "", "no-such", "a" * 100):
            assert subprocess.run(asked, env={"GLOVEBOX_LAYOUT": layout}, stderr=subprocess.DEVNULL, input=b"").returncode == 1
    finally:
        out.unlink(missing_ok=True)


def test_the_browsers_are_kept_quiet():
    etc = built("desktop") / "etc"
    firefox = json.loads((etc / "firefox/policies/policies.json").read_text())["policies"]
    chromium = json.loads((etc / "chromium/policies/managed/glovebox.json").read_text())
    assert firefox["DisableDeveloperTools"] and firefox["DisableTelemetry"] and not firefox["PasswordManagerEnabled"]
    assert firefox["ExtensionSettings"]["*"]["installation_mode"] == "blocked"
    assert chromium["DeveloperToolsAvailability"] == 2 and not chromium["PasswordManagerEnabled"]
    assert chromium["ExtensionInstallBlocklist"] == ["*"] and "javascript://*" in chromium["URLBlocklist"]


def test_what_the_window_manager_loads_late_is_loaded_at_its_start():
    preloaded = (built("display") / "etc/ld.so.preload").read_text().split()
    assert preloaded and all((built("display") / name.lstrip("/")).is_file() for name in preloaded)


def test_the_window_manager_starts_nothing():
    root = built("display")
    config = (root / "etc/xdg/openbox/rc.xml").read_text()
    for word in ('"Execute"', '"ShowMenu"', '"Restart"', '"Exit"'):
        assert word not in config
    assert sorted(p.name for p in (root / "usr/bin").iterdir()) == ["Xvfb", "dash", "openbox", "sh", "xkbcomp"]
