# SPDX-License-Identifier: GPL-2.0-or-later
"""What sessions take to start and to end, and what they take while nothing happens."""
import concurrent.futures
import os
import time

from server import Refused, Session, descendants, memory_mb, session, start_xvfb, stop_xvfb
from table import Table, Times, figure

STARTS = 5           # of each kind of session
AT_ONCE = 20         # sessions
IDLE_S = 10


def timed_ms(work, *arguments):
    start = time.perf_counter()
    work(*arguments)
    return 1000 * (time.perf_counter() - start)


def starts(server, results):
    """From create to ready, and the end of it."""
    table = Times("Starting and ending")
    results.append(table)
    kinds = (("minimal", {"image": "minimal"}), ("desktop with Firefox", {"image": "desktop", "apps": ["firefox"]}))
    for name, spec in kinds:
        made, created, ended = [], [], []
        try:
            for _ in range(STARTS):
                created.append(timed_ms(lambda: made.append(Session(server.operator, **spec))))
                ended.append(timed_ms(made.pop().end))
        except Refused as fault:
            table.failed("create to ready", f"glovebox, {name}", fault)
            continue
        table.times("create to ready", f"glovebox, {name}", created)
        table.times("end", f"glovebox, {name}", ended)
    servers, times = [], []
    for _ in range(STARTS):
        times.append(timed_ms(lambda: servers.append(start_xvfb()[0])))
        stop_xvfb(servers.pop())
    table.times("create to ready", "Xvfb alone, not jailed", times)
    at_once(server, table)


def at_once(server, table):
    made, created, faults = [], [], []

    def create(_):
        try:
            created.append(timed_ms(lambda: made.append(Session(server.operator, image="minimal"))))
        except (Refused, OSError) as fault:
            faults.append(str(fault))

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        whole = timed_ms(lambda: list(pool.map(create, range(AT_ONCE))))
        list(pool.map(lambda s: s.end(), made))
    note = f"all after {figure(whole)} ms" + (f"; {len(faults)} failed: {faults[0][:100]}" if faults else "")
    if created:
        table.times(f"create to ready, {AT_ONCE} at once", "glovebox, minimal", created, note=note)
    else:
        table.failed(f"create to ready, {AT_ONCE} at once", "glovebox, minimal", note)


def usage(server):
    """(CPU seconds in IDLE_S, MB) of the server and all below it, once it does no longer get less: what has just started is not idle."""
    used = None
    for _ in range(6):
        before = descendants(server.process.pid)
        time.sleep(IDLE_S)  # the length of the measurement
        after = descendants(server.process.pid)
        earlier, used = used, sum(ticks - before.get(pid, 0) for pid, ticks in after.items()) / os.sysconf("SC_CLK_TCK")
        if used < 0.01 * IDLE_S or (earlier is not None and used > 0.8 * earlier):
            break
    return used, memory_mb(after)


def idle(server, results):
    """While nothing happens."""
    table = Table("Idle", "what", "n", "CPU of a core, each", "memory, each")
    results.append(table)
    before = usage(server)

    def row(kind, n):
        after = usage(server)
        table.add(kind, n, f"{max(0, (after[0] - before[0]) / IDLE_S / n * 100):.2f} %", f"{(after[1] - before[1]) / n:.1f} MB")

    table.add("server without a session", 1, f"{before[0] / IDLE_S * 100:.2f} %", f"{before[1]:.1f} MB")
    made = []
    try:
        made += [Session(server.operator, image="minimal") for _ in range(AT_ONCE)]
        row("session, minimal", len(made))
    except Refused as fault:
        table.add("session, minimal", 0, "failed", str(fault)[:120])
    finally:
        for one in made:
            one.end()
    try:
        with session(server.operator, image="desktop", apps=["firefox"]):
            row("session, desktop with Firefox", 1)
    except Refused as fault:
        table.add("session, desktop with Firefox", 0, "failed", str(fault)[:120])
