# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact text: mixed Unicode into an editor of each toolkit, which is read back and compared (tests/integration/editors.py)."""
import difflib
import pathlib
import sys
import time

import measure
from server import Refused, say
from table import Table, figure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from api import Api  # noqa: E402
from editors import EDITORS, difference, mixed, start  # noqa: E402

TITLE = "Typing of mixed Unicode"
CHARACTERS = 10_000
ALL_CHARACTERS = 100_000
PIECE = 1_000          # browsers take the longer for a character the more there are
PEER_CHARACTERS = 300  # enough to lose some
READ_S = 240           # for what was typed to be read by the app
PEER_READ_S = 10
PEER = "xdotool type --delay 0"


def wrong(wanted, got):
    """How many characters are lost, changed or too many."""
    if wanted == got:
        return 0
    same = sum(block.size for block in difflib.SequenceMatcher(None, wanted, got, autojunk=False).get_matching_blocks())
    return max(len(wanted), len(got)) - same


def by_us(session):
    return lambda text: session.act({"action": "type", "text": text}, timeout_ms=300_000)


def by_peer(screen):
    return lambda text: screen.program("xdotool", "type", "--delay", "0", "--", text)


def row(table, name, how, editor, work, texts, within_s):
    """`within_s`: how long what was typed may take to arrive; a peer's never does, as a rule."""
    errors, typed_s, there_s, characters = 0, 0, 0, sum(map(len, texts))
    for text in texts:
        editor.clear()
        before = time.monotonic()
        work(text)
        typed_s += time.monotonic() - before
        got = editor.text(text, within_s)
        there_s += time.monotonic() - before
        errors += wrong(text, got)
        if got != text:
            say(f"   {name}, {how}: {difference(text, got)}")
    table.add(name, how, f"{characters:,}", errors, f"{figure(typed_s)} s", f"{figure(there_s)} s", f"{characters / typed_s:,.0f}")


def measure_editor(server, table, name, characters):
    made = []

    def make(image):
        made.append(Api(server.operator.url, server.operator.token).new(image=image))
        return made[-1]

    try:
        editor = start(make, name)
        row(table, name, "glovebox, HTTP", editor, by_us(made[0]), [mixed(PIECE, i) for i in range(characters // PIECE)], READ_S)
        with measure.screen_of(server, made[0]) as screen:
            row(table, name, PEER, editor, by_peer(screen), [mixed(PEER_CHARACTERS)], PEER_READ_S)
    except (AssertionError, Refused, measure.Failed, OSError) as fault:
        table.add(name, "failed", "", "", "", str(fault).splitlines()[0][:120])
    finally:
        for one in made:
            one.end()


def run(server, results, characters=CHARACTERS):
    """10,000 characters into each, errors counted."""
    table = Table(TITLE, "into", "how", "characters", "errors", "typed in", "saved after", "characters a second")
    results.append(table)
    for name in EDITORS:
        before = time.monotonic()
        measure_editor(server, table, name, characters)
        say(f"   {name}: {time.monotonic() - before:.0f} s")


def run_all(server, results):
    """100,000 characters into each, errors counted: some 15 minutes."""
    run(server, results, ALL_CHARACTERS)
