# SPDX-License-Identifier: GPL-2.0-or-later
"""README.md: tables that are made from the code's rows (UPDATE_README=1 writes them anew instead of failing), and blocks that tests run."""
import os
import pathlib
import re
import textwrap

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"


def check_table(name, head, rows):
    """The table between <!-- NAME --> and <!-- /NAME --> must have exactly these rows."""
    lines = [head, ["---"] * len(head), *rows]
    check_text(name, "".join(f"| {' | '.join(line)} |\n" for line in lines))


def check_text(name, wanted):
    """What stands between <!-- NAME --> and <!-- /NAME --> must be this."""
    text = README.read_text()
    before, rest = text.split(f"<!-- {name} -->\n", 1)
    found, after = rest.split(f"<!-- /{name} -->", 1)
    if os.environ.get("UPDATE_README"):
        README.write_text(f"{before}<!-- {name} -->\n{wanted}<!-- /{name} -->{after}")
    else:
        assert found == wanted, f"README.md's part {name} is not what the tree says; UPDATE_README=1 writes it anew"


def block(name):
    """The text of the code block, fenced or indented, that follows the line <!-- run NAME -->, for a test to run as it stands."""
    found = re.findall(rf"^<!-- run {name} -->\n+(?:```\w*\n(.*?)^```$|((?:    [^\n]*\n|\n)+))", README.read_text(), re.M | re.S)
    assert len(found) == 1, f"README.md has {len(found)} blocks to run as {name}"
    fenced, indented = found[0]
    return fenced or textwrap.dedent(indented).strip("\n") + "\n"
