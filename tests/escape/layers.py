# SPDX-License-Identifier: GPL-2.0-or-later
"""The escape battery with one layer off at a time, in a build of MODE=layers: which other layer holds, and which probes have only that one.
Root; GLOVEBOX_BUILD and GLOVEBOX_IMAGES as for the tests. Status 1 if all layers on are not right, or a layer that is off changes nothing."""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import escape  # noqa: E402
from conftest import Server  # noqa: E402

# As the code names them (layer_is_off), and what is left when one is off.
LAYERS = ["filters", "landlock", "namespace limits", "capabilities", "mount flags", "read-only", "masks", "network", "resource limits",
          "display trust"]
# What of outcomes is still a refusal. Others say that the call came through to where its arguments are judged.
REFUSALS = {"EPERM", "EACCES", "EROFS", "ENOSYS", "ENOENT", "ESRCH", "ENOSPC", "ECONNREFUSED", "ENETUNREACH", "ENXIO", "ENODEV", "EXDEV",
            "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EOPNOTSUPP", "held", "hidden", "killed", "refused"}


def run_all(folder, layer):
    """{(how, name): row} with the layer off, or with none off for ""."""
    os.environ["GLOVEBOX_LAYER_OFF"] = layer
    folder.mkdir()
    with escape.images(folder / "images") as images:
        server = Server(folder / "state", "--images", images).start()
        try:
            session = server.api.new(image=escape.IMAGE)
            return {(how, row.name): row for how in escape.HOW for row in escape.run(session, how)}
        finally:
            server.stop()


def show(layer, rows):
    """Prints what changed; the probes that worked."""
    changed = {key: row for key, row in rows.items() if row.verdict != "ok"}
    held = {key: row for key, row in changed.items() if row.got in REFUSALS}
    fell = {key: row for key, row in changed.items() if row.got not in REFUSALS}
    print(f"\n== without {layer}: {len(rows)} probes, {len(changed)} changed; {len(held)} held by another layer, {len(fell)} not")
    for title, some in (("held", held), ("FELL", fell)):
        for (how, name), row in sorted(some.items()):
            print(f"{title}  {how:<8} {name:<52} {row.layer:<24} {row.expected:<13} {row.got}")
    return changed, fell


def main():
    alone = {}
    dead = []
    with tempfile.TemporaryDirectory(prefix="glovebox-layers-") as place:
        place = pathlib.Path(place)
        base = run_all(place / "all", "")
        wrong = [row for row in base.values() if row.verdict != "ok"]
        print(f"== all layers on: {len(base)} probes, {len(wrong)} wrong")
        if wrong:
            print(escape.table(wrong))
        for layer in LAYERS:
            changed, fell = show(layer, run_all(place / layer.replace(" ", "-"), layer))
            if not changed:
                dead.append(layer)
            for key in fell:
                alone.setdefault(key, []).append(layer)
    print(f"\n== {len(alone)} of {len(base)} probes have one layer only")
    for (how, name), layers in sorted(alone.items()):
        print(f"{how:<8} {name:<52} {', '.join(layers)}")
    if dead:
        print(f"\nswitched off without any effect: {', '.join(dead)}")
    return 1 if wrong or dead else 0


if __name__ == "__main__":
    sys.exit(main())
