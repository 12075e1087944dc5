# SPDX-License-Identifier: GPL-2.0-or-later
"""The text format 0.0.4 of Prometheus, read as strictly as its own linter does."""
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
LINE = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)\Z")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|\Z)')
TYPES = ("counter", "gauge", "histogram")


def labels_of(text):
    found, at = [], 0
    while at < len(text or ""):
        match = LABEL.match(text, at)
        assert match, f"bad labels: {text}"
        found.append((match[1], match[2]))
        at = match.end()
    assert not (text or "").endswith(","), text
    names = [name for name, _ in found]
    assert len(set(names)) == len(names), f"a label twice: {text}"
    return frozenset(found)


def check_histogram(name, series):
    """Each set of labels has rising buckets up to +Inf, which is its count, and a sum."""
    groups = {}
    for (sample, labels), value in series.items():
        rest = frozenset(label for label in labels if label[0] != "le")
        kind = sample[len(name):]
        assert kind in ("_bucket", "_sum", "_count"), sample
        group = groups.setdefault(rest, {"_bucket": []})
        if kind == "_bucket":
            group["_bucket"].append((float(dict(labels)["le"]), value))
        else:
            assert kind not in group and rest == labels
            group[kind] = value
    for labels, group in groups.items():
        bounds = [bound for bound, _ in group["_bucket"]]
        counts = [count for _, count in group["_bucket"]]
        assert bounds == sorted(set(bounds)) and bounds[-1] == float("inf"), (name, labels, bounds)
        assert counts == sorted(counts), (name, labels, counts)
        assert counts[-1] == group["_count"], (name, labels, group)
        assert (group["_sum"] > 0) == (group["_count"] > 0), (name, labels, group)


def parse(text):
    """{(name, labels): value} of a whole text; labels are a frozenset of pairs."""
    series, families, types, helps = {}, [], {}, {}
    assert text.endswith("\n") and "\r" not in text
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            _, _, name, doc = line.split(" ", 3)
            assert NAME.match(name) and doc.strip() and name not in helps, line
            helps[name] = doc
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert kind in TYPES and name not in types and list(helps)[-1] == name, line
            types[name] = kind
            families.append(name)
            continue
        match = LINE.match(line)
        assert match, f"bad line: {line!r}"
        family = families[-1]
        suffixes = ("_bucket", "_sum", "_count") if types[family] == "histogram" else ("",)
        assert match["name"] in [family + suffix for suffix in suffixes], f"{line} is below {family}"
        key = (match["name"], labels_of(match["labels"]))
        assert key not in series, f"twice: {line}"
        series[key] = float(match["value"])
        assert types[family] == "gauge" or series[key] >= 0, line
    assert families == sorted(families) and set(families) == set(helps)
    for name, kind in types.items():
        assert (kind == "counter") == name.endswith("_total"), f"{name} is a {kind}"
        if kind == "histogram":
            check_histogram(name, {key: value for key, value in series.items() if key[0].startswith(name)})
    return series


class Metrics:
    """One reading, asked by name and labels; what is not there is 0."""

    def __init__(self, text):
        self.series = parse(text)

    def __call__(self, name, **labels):
        return self.series.get((name, frozenset(labels.items())), 0)

    def labels(self, name):
        """The labels of a name's series."""
        return [dict(labels) for key, labels in self.series if key == name]
