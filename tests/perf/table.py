# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of what was measured, printed as they come and once more at the end."""
import statistics

from server import say


def figure(value):
    """Three figures that count."""
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, len(values) * percent // 100)]


class Table:
    """A table of Markdown under a title."""

    def __init__(self, title, *head):
        self.title = title
        self.head = head
        self.rows = []

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells] + [""] * (len(self.head) - len(cells)))
        say("  " + " | ".join(self.rows[-1]))

    def text(self):
        rows = [list(self.head), *self.rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.head))]
        lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
        lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
        return f"### {self.title}\n\n" + "\n".join(lines)


class Times(Table):
    """A table of times; `found` has the sorted milliseconds of each row by what and how."""

    def __init__(self, title):
        super().__init__(title, "what", "how", "n", "median", "p95", "ratio", "CPU", "bytes", "note")
        self.found = {}
        self.bytes = {}

    def times(self, what, how, ms, cpu_ms=None, size=0, against=None, note=""):
        """`against` is the `how` of the row that the ratio is to: how many times its median this one takes."""
        ms = sorted(ms)
        self.found[what, how] = ms
        self.bytes[what, how] = size
        base = self.found.get((what, against)) if isinstance(against, str) else self.found.get(against)
        ratio = f"{figure(statistics.median(ms) / statistics.median(base))}" if base else ""
        self.add(what, how, len(ms), f"{figure(statistics.median(ms))} ms", f"{figure(percentile(ms, 95))} ms", ratio,
                 "" if cpu_ms is None else f"{figure(cpu_ms)} ms", f"{size:,}" if size else "", note)

    def failed(self, what, how, fault):
        self.add(what, how, 0, "failed", "", "", "", "", str(fault).strip().splitlines()[-1][:160])


def from_markdown(title, text):
    """A table that a program printed."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    table = Table(title, *rows[0])
    for row in rows[2:]:
        table.add(*row)
    return table
