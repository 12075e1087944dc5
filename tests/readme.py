# SPDX-License-Identifier: GPL-2.0-or-later
"""README.md and docs/: tables that are made from the code's rows (UPDATE_README=1 writes them anew instead of failing), blocks that tests run, links."""
import os
import pathlib
import re
import textwrap

TREE = pathlib.Path(__file__).resolve().parents[1]


def pages(tree=TREE):
    """What users read."""
    return [tree / "README.md", *sorted((tree / "docs").glob("*.md"))]


def the_page(mark):
    """The one page that has this line."""
    found = [page for page in pages() if re.search(rf"^{re.escape(mark)}$", page.read_text(), re.M)]
    assert len(found) == 1, f"{len(found)} pages have {mark}"
    return found[0]


def check_table(name, head, rows):
    """The table between <!-- NAME --> and <!-- /NAME --> must have exactly these rows."""
    lines = [head, ["---"] * len(head), *rows]
    check_text(name, "".join(f"| {' | '.join(line)} |\n" for line in lines))


def check_text(name, wanted):
    """What stands between <!-- NAME --> and <!-- /NAME --> must be this."""
    page = the_page(f"<!-- {name} -->")
    before, rest = page.read_text().split(f"<!-- {name} -->\n", 1)
    found, after = rest.split(f"<!-- /{name} -->", 1)
    if os.environ.get("UPDATE_README"):
        page.write_text(f"{before}<!-- {name} -->\n{wanted}<!-- /{name} -->{after}")
    else:
        assert found == wanted, f"{page.name}'s part {name} is not what the tree says; UPDATE_README=1 writes it anew"


def block(name):
    """The text of the code block, fenced or indented, that follows the line <!-- run NAME -->, for a test to run as it stands."""
    page = the_page(f"<!-- run {name} -->")
    found = re.findall(rf"^<!-- run {name} -->\n+(?:```\w*\n(.*?)^```$|((?:    [^\n]*\n|\n)+))", page.read_text(), re.M | re.S)
    assert len(found) == 1, f"{page.name} has {len(found)} blocks to run as {name}"
    fenced, indented = found[0]
    return fenced or textwrap.dedent(indented).strip("\n") + "\n"


def prose(page):
    """A page without its code, in which neither # nor ]( means anything."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]+`", lambda code: re.sub(r"[][()]", "", code[0]), re.sub(r"^(?: {4}|\t)[^-*\s].*$", "", text, flags=re.M))


def anchors(page):
    """What can stand behind # in a link to a page: its headings as the usual viewers name them, and names of its own."""
    known = set(re.findall(r'<a id="([^"]+)">', prose(page)))
    for heading in re.findall(r"^#+ +(.*?) *$", prose(page), re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        known.add(next(name for name in (slug, *(f"{slug}-{n}" for n in range(1, 100))) if name not in known))
    return known


def broken_links(tree, page):
    """Links of a page that lead to nothing in the tree, or out of it; those to the web are not looked at."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if re.match(r"\w+:", link):
            continue
        if not target.is_relative_to(tree.resolve()) or not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{page.relative_to(tree)}: {link}")
    return broken
