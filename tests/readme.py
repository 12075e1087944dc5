# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of README.md that are made from the code's rows. UPDATE_README=1 writes them anew instead of failing."""
import os
import pathlib

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
