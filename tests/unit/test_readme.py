# SPDX-License-Identifier: GPL-2.0-or-later
"""README.md says what the code says."""
import json
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests"))
from readme import README, check_table  # noqa: E402


def test_errors():
    rows = re.findall(r'X\(ERR_\w+, "(\w+)", (\d+), "(\w+)", "([^"]*)"\)', (TREE / "session/base/err.h").read_text())
    assert len(rows) > 20
    check_table("errors", ["code", "status", "fix", "meaning"], [(f"`{code}`", status, fix, title) for code, status, fix, title in rows])


def test_files_that_are_named_exist():
    """Every path of the tree in backquotes or a link is there."""
    named = re.findall(r"(?:`|\]\()((?:session|display|input|apps|sandbox|tests|images|\.ci)/[\w./-]+)", README.read_text())
    assert named
    assert [path for path in named if not (TREE / path).exists()] == []


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
