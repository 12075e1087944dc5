# SPDX-License-Identifier: GPL-2.0-or-later
"""What a session notices while another one takes all it can get of something, and how soon that one is ended."""
import base64
import contextlib
import gzip
import threading
import time

from server import TREE, Caller, Refused, session
from table import Table, figure, percentile

THINGS = ("processors", "children", "threads", "memory", "sockets", "disk", "inodes", "files", "pixmaps", "clients", "output", "tunnels")
LIMITS = {"cpu": 1, "memory_mb": 512, "pids": 512, "disk_mb": 128, "x_mb": 384}
CLICKS = 300
HOARD_S = 300
SLOW_READERS = 20
TIMES = 2  # the click's 99th percentile beside the quiet one, at most
END_S = 5  # for the server to act by itself, and for an operator's DELETE


def clicks(one):
    times = []
    for i in range(CLICKS):
        started = time.perf_counter()
        one.act({"action": "click", "x": 100 + 300 * (i % 2), "y": 100 + i % 50})  # never a double click
        times.append(1000 * (time.perf_counter() - started))
    return times


def put(one):
    program = base64.b64encode(gzip.compress((TREE / "build/fixtures/hoard").read_bytes())).decode()
    one.run("sh", "-c", "base64 -d | gunzip >hoard && chmod +x hoard", stdin=program)


def hoard(one, thing):
    put(one)
    if thing == "output":
        threading.Thread(target=flood, args=(one,), daemon=True).start()
    else:
        one.run("sh", "-c", f"setsid ./hoard {thing} {HOARD_S} >{thing}.out 2>/dev/null </dev/null &")


def flood(one):
    """A command that says as much as it can, until its session ends."""
    caller = Caller(one.agent.url, one.agent.token)
    with contextlib.suppress(Refused, OSError):
        caller.call("POST", f"{one.path}/act", {"actions": [{"action": "exec", "argv": ["./hoard", "output", "100"], "timeout_ms": 110000}],
                                                 "timeout_ms": 120000})


def not_reading(one, opened):
    """Readers of the picture's stream that take nothing."""
    for _ in range(SLOW_READERS):
        connection = Caller(one.agent.url, one.agent.token).connection
        connection.request("GET", f"{one.path}/stream?format=png", headers={"Authorization": f"Bearer {one.agent.token}"})
        opened.append(connection)


def exhaustion(server, results):
    """One session that takes all it can get, beside one that clicks."""
    table = Table(f"One session takes all it can get; a click of another, {CLICKS} each (to reach: {TIMES} times the quiet p99 {END_S} s later, ended in {END_S} s)",
                  "what it takes", "quiet p99, just before", "p50 at once", "p99 at once", f"p50 {END_S} s later", f"p99 {END_S} s later", "times the quiet p99",
                  "deleted after", "that is")
    results.append(table)
    with session(server.operator, image="minimal") as other:
        clicks(other)
        for thing in (*THINGS, "slow readers"):
            try:
                row(server, table, other, thing)
            except (Refused, OSError) as fault:
                table.add(thing, "failed", str(fault)[:120], "", "", "", "", "", "")


def row(server, table, other, thing):
    quiet, opened = percentile(clicks(other), 99), []
    more = {"egress": {"mode": "allowlist", "allow": ["host.test"]}} if thing == "tunnels" else {}
    with session(server.operator, image="minimal", limits=LIMITS, **more) as offender:
        if thing == "slow readers":
            not_reading(offender, opened)
        else:
            hoard(offender, thing)
        begun = time.perf_counter()
        at_once = clicks(other)
        time.sleep(max(0, begun + END_S - time.perf_counter()))
        times = clicks(other)
        started = time.perf_counter()
        offender.operator.call("DELETE", offender.path)
        ended_s = time.perf_counter() - started
        offender.end = lambda: None
    for connection in opened:
        connection.close()
    ratio = percentile(times, 99) / quiet
    table.add(thing, figure_ms(quiet), figure_ms(percentile(at_once, 50)), figure_ms(percentile(at_once, 99)), figure_ms(percentile(times, 50)),
              figure_ms(percentile(times, 99)), f"{ratio:.1f}", f"{ended_s:.2f} s", "reached" if ratio <= TIMES and ended_s <= END_S else "not reached")


def figure_ms(value):
    return f"{figure(value)} ms"
