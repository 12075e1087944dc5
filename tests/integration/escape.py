# SPDX-License-Identifier: GPL-2.0-or-later
"""The escape battery in a session: as a command of the agent, as an app, as an app that may nest namespaces as browsers do, and as root of
such namespaces."""
import collections
import contextlib
import json
import pathlib
import subprocess

from conftest import IMAGES, until

BATTERY = "/run/glovebox/bin/glovebox-battery"
IMAGE = "battery"
# By whom it is run, and as what: an app of the catalogue, its options, whether it is a trusted one.
HOSTILE = {"app": ([], False), "browser": ([], True), "root": (["--root"], True)}
HOW = ["command", *HOSTILE]
Row = collections.namedtuple("Row", "name layer expected got verdict")


def options(skips):
    return [word for skip in skips for word in ("--skip", skip)]


@contextlib.contextmanager
def images(folder, skips=()):
    """A folder of images in which `battery` is `minimal` with hostile apps in its catalogue; the roots are those of this machine."""
    folder = pathlib.Path(folder)
    (folder / "manifests").mkdir(parents=True)
    manifest = json.loads((IMAGES / "manifests/minimal.json").read_text())
    display = max(IMAGES.glob("display-" + "[0-9a-f]" * 12), key=lambda path: path.stat().st_mtime)
    places = {display: display.name, IMAGES / f"minimal-{manifest['hash'][:12]}": f"{IMAGE}-{manifest['hash'][:12]}"}
    manifest["name"] = IMAGE
    for name, (words, trusted) in HOSTILE.items():
        manifest["apps"].append({"name": f"hostile-{name}", "title": name, "class": f"Hostile-{name}", "trusted": trusted, "args": "none", "kind": "app",
                                 "argv": [BATTERY, *words, "--out", f"/tmp/{name}", *options(skips)]})
    for name, argv in (("grabber", ["/home/user/hostile", "grab"]), ("bomber", ["/home/user/hoard", "children", "60"])):
        manifest["apps"].append({"name": name, "title": name, "class": name, "trusted": False, "args": "none", "kind": "app", "argv": argv})
    (folder / "manifests" / f"{IMAGE}.json").write_text(json.dumps(manifest))
    mounted = []
    try:
        for source, name in places.items():
            (folder / name).mkdir()
            subprocess.run(["mount", "--bind", source, folder / name], check=True)
            mounted.append(folder / name)
        yield folder
    finally:
        for place in mounted:
            subprocess.run(["umount", place], check=True)


def parse(text):
    """The rows, and what the last line says."""
    *lines, last = text.splitlines()
    return [Row(*line.split("\t")) for line in lines], last


def run(session, how, skips=()):
    """The rows of the battery, run in one of the ways of HOW. `skips` are those of the images for all but "command"."""
    if how == "command":
        return parse(session.exec(BATTERY, *options(skips), timeout_ms=60000)["stdout"])[0]
    # It shows no window, so the launch fails in the end.
    session.agent.request("POST", f"{session.path}/act", {"actions": [{"action": "launch", "app": f"hostile-{how}"}]})
    text = until(lambda: (text := session.exec("cat", f"/tmp/{how}")["stdout"]).endswith(" wrong\n") and text)
    rows, last = parse(text)
    assert last.split()[0] == how, last
    return rows


def table(rows):
    return "\n".join(f"{row.verdict:<6} {row.name:<52} {row.layer:<24} {row.expected:<13} {row.got}" for row in rows)
