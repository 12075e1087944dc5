# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be reached, what was, and how far off that is."""
import statistics

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


def far(ratio):
    return "reached" if ratio <= 1 else f"{figure(ratio)} times off"


def table(steps, others=()):
    """`steps` is the table of times at 1280x800; `others` are (what, to reach, measured, ratio) of other parts, a ratio above 1 is not there."""
    rows = Table(f"To reach, {SIZE}, one session, medians", "what", "to reach", "measured", "that is")
    for what, want, value in AT_MOST:
        try:
            got = value(steps.found)
            rows.add(what, f"{want:g} ms", f"{figure(got)} ms", far(got / want))
        except KeyError:
            rows.add(what, f"{want:g} ms", "failed", "")
    for what, want, value in AT_LEAST:
        try:
            got = value(steps.found)
            rows.add(what, f"{want} times", f"{figure(got)} times", far(want / got))
        except KeyError:
            rows.add(what, f"{want} times", "failed", "")
    for what, want, got, ratio in others:
        rows.add(what, want, got, far(ratio))
    return rows
