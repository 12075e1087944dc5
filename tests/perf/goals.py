# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be reached, what was, and how far off that is."""
import statistics

import encoders
import toolkits
from steps import OURS, QUIET_MS, STAGE, TYPED
from table import Table, figure, percentile

SIZE = "1280x800"
SETTLED = f"click to settled picture, {QUIET_MS} ms of quiet"


def median(what, how):
    return lambda found: statistics.median(found[what, how])


def p95(what, how):
    return lambda found: percentile(found[what, how], 95)


def times(what, peer, how=OURS):
    """How many times our median the peer's is."""
    return lambda found: statistics.median(found[what, peer]) / statistics.median(found[what, how])


# what, ms at most, of the measured times
AT_MOST = (
    ("picture after one typed character, in the stage", 0.5, median("picture, one character typed", STAGE)),
    ("picture after one typed character, over HTTP", 1, median("picture, one character typed", OURS)),
    ("picture after a full repaint, in the stage", 3, median("picture, all repainted", STAGE)),
    ("picture after a full repaint, over HTTP, 95th percentile", 4, p95("picture, all repainted", OURS)),
    ("picture, unchanged, in the stage", 0.1, median("picture, unchanged", STAGE)),
    ("click, in the stage", 0.2, median("click", STAGE)),
    ("click, over HTTP", 0.5, median("click", OURS)),
    (f"{TYPED:,} characters sent, over HTTP", 40, median(f"type {TYPED:,} characters", OURS)),
    ("click to settled picture, beyond what the browser needs and the quiet time", 5, median(f"{SETTLED}: beyond", OURS)),
)
# what, times at least
AT_LEAST = (
    ("scrot against a picture after a full repaint, over HTTP", 15, times("picture, all repainted", "scrot")),
    ("scrot against a picture after one typed character, over HTTP", 60, times("picture, one character typed", "scrot")),
    ("scrot against a picture after one typed character, in the stage", 60, times("picture, one character typed", "scrot", STAGE)),
    ("xdotool against a click, over HTTP", 200, times("click", "xdotool")),
    ("xdotool against a click, in the stage", 200, times("click", "xdotool", STAGE)),
)


BYTES = 1.2  # times libpng's, at most


def far(ratio):
    return "reached" if ratio <= 1 else f"{figure(ratio)} times off"


def encoded(encoders):
    """The bytes of our PNG as a multiple of what libpng needs for it at its defaults, on the screen of SIZE."""
    rows = [dict(zip(encoders.head, row)) for row in encoders.rows]
    return next(float(row["times the bytes"]) for row in rows if row["picture"] == SIZE and row["how"] == "png, all stripes")


def typed(rows, typing):
    """The errors of ours in each editor."""
    for row in (dict(zip(typing.head, row)) for row in typing.rows):
        if row["how"] != toolkits.PEER:
            reached = "" if row["how"] == "failed" else "reached" if row["errors"] == "0" else "not reached"
            rows.add(f"errors in {row['characters']} characters into {row['into']}", "0", row["errors"] or "not measured", reached)


def table(results):
    """What is to be reached beside what these tables say; what was not measured is left out."""
    by_title = {one.title: one for one in results}
    rows = Table(f"To reach, {SIZE}, one session, medians", "what", "to reach", "measured", "that is")
    goals = ((AT_MOST, " ms", lambda got, want: got / want), (AT_LEAST, " times", lambda got, want: want / got)) if SIZE in by_title else ()
    for rules, unit, ratio in goals:
        for what, want, value in rules:
            try:
                got = value(by_title[SIZE].found)
                rows.add(what, f"{want:g}{unit}", f"{figure(got)}{unit}", far(ratio(got, want)))
            except KeyError:
                rows.add(what, f"{want:g}{unit}", "not measured", "")
    if toolkits.TITLE in by_title:
        typed(rows, by_title[toolkits.TITLE])
    if encoders.TITLE in by_title:
        try:
            got = encoded(by_title[encoders.TITLE])
            rows.add("bytes of a PNG against libpng's defaults", f"{BYTES:g} times", f"{figure(got)} times", far(got / BYTES))
        except (KeyError, StopIteration):
            rows.add("bytes of a PNG against libpng's defaults", f"{BYTES:g} times", "not measured", "")
    return rows
