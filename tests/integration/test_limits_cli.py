# SPDX-License-Identifier: GPL-2.0-or-later
"""glovebox limits suggest, on made journals and on a server, and glovebox top."""
import hashlib
import json

import pytest

from test_cli import REFUSED, USAGE, cli  # noqa: F401: a fixture


def write_journal(folder, *lines):
    """A folder with a journal whose chain is right."""
    folder.mkdir(parents=True)
    before = bytes(32)
    with open(folder / "journal.jsonl", "w") as file:
        for seq, line in enumerate(lines, 1):
            text = json.dumps({"seq": seq, "time": "2026-11-30T12:00:00.000000Z", "mono_ms": seq, **line}, separators=(",", ":"))
            before = hashlib.sha256(before + text.encode()).digest()
            file.write(f'{text[:-1]},"hash":"{before.hex()}"}}\n')
    return str(folder)


def used(folder, image="minimal", labels=None, hits=None, **peaks):
    start = {"event": "start", "session": "s" + "a" * 15, "image": image, "spec": {"image": image, "labels": labels or {}}}
    early = {"event": "usage", "elapsed_ms": 1000, "cpu_ms": 5, "peaks": {name: value / 2 for name, value in peaks.items()}, "hits": {}}
    late = {"event": "usage", "elapsed_ms": 9000, "cpu_ms": 50, "peaks": peaks, "hits": hits or {}}
    return write_journal(folder, start, early, late, {"event": "end", "reason": "deleted"})


@pytest.fixture
def journals(tmp_path):
    """200 sessions of 1 to 200 MiB and processes: of 99 in 100 the most is 198."""
    return [used(tmp_path / str(n), labels={"job": "a" if n <= 100 else "b"}, memory_mb=n, pids=n, disk_mb=10, cpu=n / 100) for n in range(1, 201)]


def test_the_99th_percentile_with_a_margin(cli, journals):
    told = cli.json("limits", "suggest", *journals)
    assert (told["sessions"], told["left_out"], told["margin_percent"]) == (200, 0, 25)
    rows = {row["limit"]: row for row in told["rows"]}
    assert set(rows) == {"memory_mb", "pids", "disk_mb", "cpu"}
    assert (rows["pids"]["p99"], rows["pids"]["most"], rows["pids"]["met"], rows["pids"]["sessions"]) == (198, 200, 0, 200)
    # 198 and a quarter are 247.5, in steps of 16; of memory at least 256; of cpu 1.98 and a quarter, in tenths.
    assert told["spec"]["limits"] == {"cpu": 2.5, "memory_mb": 256, "pids": 256, "disk_mb": 16}
    assert cli.json("limits", "suggest", "--margin", "0", *journals)["spec"]["limits"]["pids"] == 208
    text = cli.run("limits", "suggest", *journals).stdout.decode().splitlines()
    assert text[0].split() == ["LIMIT", "SESSIONS", "P99", "MOST", "MET", "SUGGESTED"] and ["pids", "200", "198", "200", "0", "256"] in map(str.split, text)


def test_a_label_or_an_image(cli, journals, tmp_path):
    assert cli.json("limits", "suggest", "--label", "job=a", *journals)["rows"][2]["most"] == 100
    office = used(tmp_path / "office", image="office", memory_mb=3000, disk_mb=2000, pids=300, hits={"memory_mb": 4})
    told = cli.json("limits", "suggest", "--image", "office", office, *journals)
    assert told["sessions"] == 1 and {row["limit"]: row["met"] for row in told["rows"]} == {"memory_mb": 1, "pids": 0, "disk_mb": 0}
    # A disk is at most half of the memory: 2,500 in steps of 16 is 2,512.
    assert told["spec"]["limits"] == {"memory_mb": 5024, "disk_mb": 2512, "pids": 384}
    cli.run("limits", "suggest", "--image", "none", office, status=REFUSED)


def test_journals_that_say_nothing(cli, tmp_path, journals):
    old = write_journal(tmp_path / "old", {"event": "start", "image": "minimal"}, {"event": "end", "reason": "ttl"})
    assert cli.json("limits", "suggest", old, *journals)["left_out"] == 1
    refused = cli.run("limits", "suggest", old, status=REFUSED)
    assert b"1 left out" in refused.stderr and refused.stdout == b""
    # What was changed afterwards is no word of the server's.
    file = tmp_path / "7/journal.jsonl"
    file.write_text(file.read_text().replace('"pids":7', '"pids":9999'))
    assert cli.json("limits", "suggest", *journals)["rows"][2]["most"] == 200
    cli.run("limits", "suggest", str(tmp_path / "none"), status=USAGE)
    cli.run("limits", "suggest", "--margin", "-1", old, status=USAGE)


def test_of_a_server(cli, server):
    session = server.api.new(image="minimal", labels={"who": "suggest"}, limits={"pids": 100, "memory_mb": 300})
    session.run("sh", "-c", "for n in 1 2 3 4 5 6; do sleep 0.2 & done; wait")
    shown = next(line for line in cli.run("top").stdout.decode().splitlines() if line.startswith(session.id))
    assert "/100" in shown and "/300" in shown and "/65536" in shown
    assert [one["usage"]["limits"]["pids"]["value"] for one in cli.json("top") if one["id"] == session.id] == [100]
    cli.run("set", session.id, "--label", "who=other")
    session.end()
    cli.run("limits", "suggest", "--label", "who=suggest", status=REFUSED)
    told = cli.json("limits", "suggest", "--label", "who=other")
    assert told["sessions"] == 1 and told["spec"]["limits"]["memory_mb"] >= 256
    assert {row["limit"] for row in told["rows"]} >= {"memory_mb", "pids", "disk_mb", "inodes", "x_mb"}


def test_of_a_short_session(cli, server):
    """It has no average over 10 s of the processor: nothing is said of it, and 0 is not proposed."""
    session = server.api.new(image="minimal", labels={"who": "short"})
    session.run("sh", "-c", "n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done")
    session.end()
    told = cli.json("limits", "suggest", "--label", "who=short")
    assert "cpu" not in told["spec"]["limits"] and "memory_mb" in told["spec"]["limits"]
