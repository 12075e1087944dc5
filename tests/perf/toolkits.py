# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of all kinds of characters into an app of each toolkit, read back: what is wrong of it, and how long it takes."""
import pathlib
import sys
import time

from server import say
from table import Table

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

from api import Api  # noqa: E402
from editors import EDITORS, difference, mixed  # noqa: E402

N_CHARS = 100_000
N_TEXTS = 20
READ_S = 240  # for what was typed to be read by the app


def n_wrong(wanted, got):
    return sum(a != b for a, b in zip(wanted, got)) + abs(len(wanted) - len(got))


def measure(table, api, name):
    image, app, kind = EDITORS[name]
    session = api.new(image=image)
    try:
        editor, wrong, typed_s, read_s = kind(session, app), 0, 0, 0
        for seed in range(N_TEXTS):
            text = mixed(N_CHARS // N_TEXTS, seed)
            editor.clear()
            start = time.monotonic()
            answer = session.act({"action": "type", "text": text}, timeout_ms=300_000)
            typed_s += time.monotonic() - start
            got = editor.text(text, READ_S)
            read_s += time.monotonic() - start
            wrong += n_wrong(text, got)
            for what in (difference(text, got), answer["results"][0].get("note")):
                if what:
                    say(f"  {name}, text {seed}: {what}")
        table.add(name, f"{N_CHARS:,}", wrong, f"{typed_s:.1f} s", f"{read_s:.1f} s", f"{N_CHARS / typed_s:,.0f}")
    finally:
        session.end()


def run(daemon, results):
    """Characters of all kinds into an app of each toolkit."""
    table = Table(f"Text into apps, {N_TEXTS} texts", "app", "characters", "wrong", "typed in", "saved after", "characters a second")
    results.append(table)
    api = Api(daemon.operator.url, daemon.operator.token)
    for name in EDITORS:
        measure(table, api, name)
