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
FIRST = "filters"  # a layer that changes nothing while this holds is switched off together with it
# Nothing changes without these, and nothing is to: why.
SILENT = {"network": "the server itself lives in a network namespace with nothing but lo, and that is where a jail without one is"}
# With a full client's rights these end the session.
HARMFUL = ["destroy another", "end another", "unmap another", "reparent another"]
# What of outcomes is still a refusal. Others say that the call came through to where its arguments are judged.
REFUSALS = {"EPERM", "EACCES", "EROFS", "ENOSYS", "ENOENT", "ESRCH", "ENOSPC", "ECONNREFUSED", "ENETUNREACH", "ENXIO", "ENODEV", "EXDEV",
            "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EOPNOTSUPP", "held", "hidden", "killed", "refused"}


def run_all(folder, layer):
    """{(how, name): row} with the layer off, or with none off for ""."""
    skips = HARMFUL if "display" in layer else []
    os.environ["GLOVEBOX_LAYER_OFF"] = layer
    folder.mkdir()
    with escape.images(folder / "images", skips) as images:
        server = Server(folder / "state", "--images", images).start()
        try:
            session = server.api.new(image=escape.IMAGE)
            return {(how, row.name): row for how in escape.HOW for row in escape.run(session, how, skips)}
        finally:
            server.stop()


def changes(rows, before):
    """What is not as it was, held by another layer or not."""
    changed = {key: row for key, row in rows.items() if row.got != before[key].got}
    return [{key: row for key, row in changed.items() if (row.got in REFUSALS) == held} for held in (True, False)]


def show(title, rows, held, fell):
    print(f"\n== without {title}: {len(rows)} probes, {len(held) + len(fell)} changed; {len(held)} held by another layer, {len(fell)} not")
    for word, some in (("held", held), ("FELL", fell)):
        for (how, name), row in sorted(some.items()):
            print(f"{word}  {how:<8} {name:<52} {row.layer:<24} {row.expected:<13} {row.got}")


def try_without(place, layer, base, without_first):
    """What fell; None if the switch has no effect."""
    rows = run_all(place / layer.replace(" ", "-"), layer)
    held, fell = changes(rows, base)
    show(layer, rows, held, fell)
    if held or fell:
        return fell
    if layer in SILENT:
        print(f"nothing is to change: {SILENT[layer]}")
        return {}
    both = f"{FIRST}+{layer}"
    rows = run_all(place / both.replace(" ", "-"), both)
    held, fell = changes(rows, without_first)
    print("other layers hold all of it; without both:")
    show(both, rows, held, fell)
    return {} if held or fell else None


def main():
    alone, dead = {}, []
    with tempfile.TemporaryDirectory(prefix="glovebox-layers-") as place:
        place = pathlib.Path(place)
        base = run_all(place / "all", "")
        wrong = [row for row in base.values() if row.verdict != "ok"]
        print(f"== all layers on: {len(base)} probes, {len(wrong)} wrong")
        if wrong:
            print(escape.table(wrong))
        without_first = run_all(place / "first", FIRST)
        for layer in LAYERS:
            fell = try_without(place, layer, base, without_first)
            if fell is None:
                dead.append(layer)
            for key in fell or {}:
                alone.setdefault(key, []).append(layer)
    print(f"\n== {len(alone)} of {len(base)} probes have one layer only")
    for (how, name), layers in sorted(alone.items()):
        print(f"{how:<8} {name:<52} {', '.join(layers)}")
    if dead:
        print(f"\nswitched off without any effect: {', '.join(dead)}")
    return 1 if wrong or dead else 0


if __name__ == "__main__":
    sys.exit(main())
