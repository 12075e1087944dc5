# SPDX-License-Identifier: GPL-2.0-or-later
"""README.md and docs/ say what the code says, and lead where they say."""
import json
import os
import pathlib
import re
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests"))
from readme import block, broken_links, check_table, check_text, pages  # noqa: E402


def test_errors():
    rows = re.findall(r'X\(ERR_\w+, "(\w+)", (\d+), "(\w+)", "([^"]*)"\)', (TREE / "session/base/err.h").read_text())
    assert len(rows) > 20
    check_table("errors", ["code", "status", "fix", "meaning"], [(f"`{code}`", status, fix, title) for code, status, fix, title in rows])


def test_lease():
    header = (TREE / "session/stage/lease_rows.h").read_text()
    of_event = {name: words.strip() for name, words in re.findall(r"LEASE_(\w+), +/\* (.*?) \*/", header)}
    of_effect = dict(re.findall(r"LEASE_(\w+) = 1 << \d+, +/\* (.*?) \*/", header))
    rows = re.findall(r'X\((\w+), (\w+), (\w+), ([\w| ]+), "([^"]*)"\)', header)
    assert len(rows) > 12
    check_table("lease", ["who has them", "what happens", "who has them then", "epoch", "and"], [
        (holder.lower(), of_event[event], to.lower(), "+ 1" if "EPOCH" in effects else "",
         "; ".join([of_effect[effect] for effect in effects.split(" | ") if effect != "EPOCH"] + ([words] if words else [])))
        for holder, event, to, effects, words in rows])


def test_files_that_are_named_exist():
    """Every path of the tree in backquotes or a link is there."""
    named = [(page.name, path) for page in pages()
             for path in re.findall(r"(?:`|\]\()((?:session|display|input|apps|sandbox|tests|images|docs|\.ci)/[\w./-]+)", page.read_text())]
    assert len(named) > 40
    assert [(page, path) for page, path in named if not (TREE / path).exists()] == []


def markdown():
    """Every page of the tree, but what others wrote."""
    for folder, folders, files in os.walk(TREE):
        folders[:] = [name for name in folders if name not in (".git", "node_modules", "vendor") and not name.startswith("build")]
        yield from (pathlib.Path(folder, name) for name in files if name.endswith(".md"))


def test_links_lead_somewhere():
    """Each link of each page of the tree: the file is there, and in it the heading."""
    found = list(markdown())
    assert {*pages(), TREE / "CHANGELOG.md", TREE / "images/README.md", TREE / "sandbox/README.md"} <= set(found)
    assert [link for page in found for link in broken_links(TREE, page)] == []


def test_broken_links_are_found(tmp_path):
    page, other = tmp_path / "README.md", tmp_path / "docs" / "other.md"
    other.parent.mkdir()
    other.write_text("# A `name`, and *more*\n\n```\n# no heading\n```\n\n## Twice\n\n## Twice\n\n[up](../README.md#top) [out](../../etc)\n")
    good = "[a](docs/other.md) [b](docs/other.md#a-name-and-more) [c](docs/other.md#twice-1) [d](#top) [e](https://example.org/#x) `[f](g)`"
    page.write_text(f"# Top\n\n{good}\n\n    [code](nowhere)\n\n[h](#nothing) [i](docs/none.md) [j](docs/other.md#no-heading) [k](docs/other.md#twice-2)\n")
    assert broken_links(tmp_path, page) == [f"README.md: {link}" for link in ("#nothing", "docs/none.md", "docs/other.md#no-heading", "docs/other.md#twice-2")]
    assert broken_links(tmp_path, other) == ["docs/other.md: ../../etc"]


def test_every_page_is_found_from_the_first():
    """README.md leads to all of them, and each says in its first line for whom it is."""
    first = pages()[0].read_text()
    assert [page.name for page in pages()[1:] if f"](docs/{page.name}" not in first] == []
    assert [page.name for page in pages()[1:] if not re.match(r"# .+\n\nFor ", page.read_text())] == []
    assert len(first.splitlines()) <= 300


def test_pages_that_programs_name_exist():
    """What code, helps and scripts call docs/NAME.md is there."""
    sources = [path for folder in ("session", "display", "input", "apps", "sandbox", "tests") for path in (TREE / folder).rglob("*")
               if path.suffix in (".c", ".h", ".py", ".js", ".mjs", ".html", ".service") and "vendor" not in path.parts]
    named = {(path.name, page) for path in sources for page in re.findall(r"\bdocs/[a-z]+\.md", path.read_text()) if path.name != "test_readme.py"}
    assert named
    assert [(path, page) for path, page in named if not (TREE / page).exists()] == []


def test_blocks_to_run_are_run():
    """Each block that says so is asked for by a test, and there is one of each name."""
    marked = [name for page in pages() for name in re.findall(r"^<!-- run ([\w-]+) -->$", page.read_text(), re.M)]
    asked = {name for path in (TREE / "tests/integration").glob("*.py") for name in re.findall(r'\bblock\("([\w-]+)"\)', path.read_text())}
    assert sorted(marked) == sorted(asked)
    assert [name for name in marked if not block(name)] == []


def test_a_block_is_what_stands_there(tmp_path, monkeypatch):
    page = tmp_path / "README.md"
    page.write_text("a\n<!-- run one -->\n```js\nlet a = 1\n\n  b()\n```\n\n<!-- run two -->\n\n    glovebox ls\n\n      more\n\ntext\n    code\n")
    monkeypatch.setattr("readme.pages", lambda: [page])
    assert block("one") == "let a = 1\n\n  b()\n"
    assert block("two") == "glovebox ls\n\n  more\n"
    with pytest.raises(AssertionError, match="0 pages"):
        block("three")


def field(name, schema, required):
    """`count` (o) integer 1..3"""
    kind = schema.get("type", "")
    if "enum" in schema:
        kind = ", ".join(schema["enum"])
    elif "minimum" in schema and "maximum" in schema:
        kind += f" {schema['minimum']}..{schema['maximum']}"
    return f"`{name}`{'' if required else ' (o)'} {kind}".strip()


def test_actions():
    rows = []
    for action in json.loads((TREE / "build/actions.json").read_text())["actions"]:
        properties, required = action["schema"]["properties"], action["schema"]["required"]
        fields = "; ".join(field(name, properties[name], name in required) for name in properties if name != "action")
        rows.append((f"`{action['name']}`", fields, action["doc"]))
    check_table("actions", ["action", "fields (o: optional)", "what it does"], rows)


# What README.md tells of the newest section of tests/perf/RESULTS.md: its words for it, the row there, and its peer.
SPEED = (
    ("picture, nothing changed", "picture, unchanged", None),
    ("picture, one character typed", "picture, one character typed", "scrot"),
    ("picture, all repainted", "picture, all repainted", "scrot"),
    ("click", "click", "xdotool"),
    ("key", "key", "xdotool"),
    ("1,000 characters, all there", "type 1,000 characters", "xdotool type --delay 0"),
    ("click and its picture at once", "click and its picture", "xdotool, then scrot"),
    ("click and its settled picture", "click to settled picture, 50 ms of quiet", "usual loop: xdotool, sleep 2, scrot"),
)
# The same of what a section may have, of which nothing is measured in the stage alone.
KNOWING = (
    ("list of 60 windows", "list of 60 windows", "wmctrl -lGpx"),
    ("5 MB put on the clipboard", "clipboard, 5 MB: set", "xclip"),
    ("5 MB got from it", "clipboard, 5 MB: get what the other has set", "xclip -o"),
    ("nodes of a page in Firefox", "tree of firefox", "pyatspi"),
    ("nodes of Writer", "tree of office-writer", "pyatspi"),
)


def newest_results():
    """(title, machine, {(what, how): row as cells}) of the newest section at 1280x800."""
    text = (TREE / "tests/perf/RESULTS.md").read_text().split("\n## ")[1]
    title, machine = text.split("\n")[:3:2]
    found = {}
    for head in ("### 1280x800\n\n", "### Knowing what is on the screen, 1280x800\n\n"):
        table = text.partition(head)[2].split("\n\n")[0]
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.strip().split("\n")]
        found |= {(row[0], row[1]): dict(zip(rows[0], row)) for row in rows[2:]}
    return title, machine, found


def test_speed():
    title, machine, found = newest_results()
    lines = ["| what | in the stage | over HTTP | a peer | takes |", "| --- | --- | --- | --- | --- |"]
    for words, what, peer in SPEED:
        ours = [found[what, f"glovebox, {how}"]["median"] for how in ("in the stage", "HTTP")]
        theirs = found[what, peer] if peer else {}
        takes = f"{theirs['median']}, {theirs['ratio']} times as long" + (f"; {theirs['note']}" if theirs["note"] else "") if peer else ""
        lines.append(f"| {' | '.join([words, *ours, peer or '', takes])} |")
    for words, what, peer in KNOWING:
        if (what, peer) in found and found[what, peer]["ratio"]:
            theirs, ours = found[what, peer], [found.get((what, f"glovebox, {how}"), {"median": ""})["median"] for how in ("in the stage", "HTTP")]
            lines.append(f"| {' | '.join([words, *ours, peer, theirs['median'] + ', ' + theirs['ratio'] + ' times as long'])} |")
    check_text("speed", f"{title}: {machine.split(';')[0]}.\n\n" + "".join(f"{line}\n" for line in lines))
