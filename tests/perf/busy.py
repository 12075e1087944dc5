# SPDX-License-Identifier: GPL-2.0-or-later
"""50 sessions at once, each with an agent that acts and looks as fast as it gets answers."""
import concurrent.futures
import contextlib
import json
import os
import subprocess
import time

import measure
from measure import Failed, body
from server import Refused, Session, descendants
from table import Table, Times, figure

SESSIONS = 50
LENGTH_S = 8
SIZE = {"width": 1280, "height": 800}
# What one agent does again and again, alone and among 50: name, call, body.
LOOPS = ((("type a character", "act", body({"action": "type", "text": "@c"})), ("a picture right after", "screenshot", "")),
         (("click and its picture in one call", "act", body({"action": "click", "x": "@x", "y": "@y"}, observe={"quiet_ms": 0})),))


def plan(made, loop, **more):
    steps = [{"name": name, "call": f"{'POST' if text else 'GET'} {made.path}/{call}", "body": text, "contains": '"ok":true' if text else ""}
             for name, call, text in loop]
    return {"target": made.agent.address, "token": made.agent.token, "steps": steps, "x": 400, "y": 250, "width": 300, "height": 200, **more}


def drive(plans):
    """All plans at once, each in a process of its own: a list of {name: Series}."""
    argv, env = measure.command(plans[0])
    started = [subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in plans]
    try:
        with concurrent.futures.ThreadPoolExecutor(len(plans)) as pool:
            texts = list(pool.map(lambda pair: pair[0].communicate(json.dumps(pair[1])), zip(started, plans)))
    finally:
        for process in started:
            process.kill()
            process.wait()
    for process, (_, fault) in zip(started, texts):
        if process.returncode != 0:
            raise Failed(fault or f"a client ended with {process.returncode}")
    return [measure.read(text) for text, _ in texts]


def cpu_s(server):
    return sum(descendants(server.process.pid).values()) / os.sysconf("SC_CLK_TCK")


def load(times, totals, server, sessions, loop):
    """Drives these sessions for a while: a row for each step, and one for all."""
    how = f"glovebox, HTTP, {len(sessions)} session{'s' if len(sessions) > 1 else ''}"
    before = cpu_s(server)
    found = drive([plan(made, loop, seconds=LENGTH_S, start_at=time.time() + 1 + len(sessions) / 25) for made in sessions])
    used_s = cpu_s(server) - before
    for name, _, _ in loop:
        times.times(name, how, sum((one[name].ms for one in found), []), size=found[0][name].bytes)
    rounds = [len(one[loop[0][0]].ms) for one in found]
    calls = len(loop) * sum(rounds)
    totals.add(", ".join(name for name, _, _ in loop), how, f"{calls / LENGTH_S:,.0f}", f"{figure(1000 * used_s / calls)} ms",
               f"{min(rounds)} to {max(rounds)}", f"{sum(rounds) ** 2 / len(rounds) / sum(n * n for n in rounds):.3f}")


def run(server, results):
    """One session, and 50 of them, each driven without a pause."""
    times = Times(f"One session, and {SESSIONS} busy ones (minimal, {SIZE['width']}x{SIZE['height']}, a terminal)")
    totals = Table("The same, in all", "what", "how",
                   "calls a second", "CPU a call, apps included", "rounds of a session", "fairness (Jain's index, 1 is equal)")
    results += [times, totals]
    with contextlib.ExitStack() as stack:
        def create(_):
            made = Session(server.operator, image="minimal", apps=["terminal"], display=SIZE, space=SIZE)
            stack.callback(made.end)
            return made

        try:
            made = [create(0)]
            for loop in LOOPS:
                load(times, totals, server, made, loop)
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                made += pool.map(create, range(SESSIONS - 1))
            for loop in LOOPS:
                load(times, totals, server, made, loop)
        except (Failed, Refused, OSError) as fault:
            times.failed("acting and looking", f"{SESSIONS} sessions", fault)
