# SPDX-License-Identifier: GPL-2.0-or-later
"""Knowing what is on the screen: windows, clipboards, trees of nodes, another size; and what it costs that apps tell their nodes."""
import json
import os
import pathlib
import re
import subprocess
import time

import life
import measure
import steps
from scene import FOLDER, page, put, windows
from server import TREE, Refused, descendants, memory_mb, say, session
from table import Table, Times, figure

OURS = steps.OURS
FEW, MANY = 3, 60      # windows
CLIPBOARD = 5_000_000  # bytes
ROUNDS = 10
SIZES = ((1024, 768), (1280, 800))
RESIZE_QUIET_MS = 100  # that the action waits for by itself
TREES = ("firefox", "chromium", "office-writer", "editor", "viewer")  # the last ones GTK and Qt
NODES = 2000           # that are asked for at most
WARM_UP_S = 15
TREE_ROUNDS, WALKS = 5, 2
LOADS, CLICKS = 5, 20
TERMINALS = "i=0; while [ $i -lt {n} ]; do xterm -geometry 20x3+$((i % 8 * 150))+$((i / 8 * 90)) -e cat & i=$((i + 1)); done >/dev/null 2>&1"
FAULTS = (Refused, measure.Failed, OSError, subprocess.SubprocessError)


def timed_ms(work, n=ROUNDS):
    return [life.timed_ms(work) for _ in range(n)]


def row(table, what, how, work, n=ROUNDS, **options):
    try:
        table.times(what, how, timed_ms(work, n), **options)
    except FAULTS as fault:
        table.failed(what, how, fault)


def quiet_program(screen, *argv, stdin=b""):
    """One that may leave a child behind, which would keep its output open."""
    subprocess.run([*screen.prefix, *argv], env={**os.environ, **screen.env}, input=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True, timeout=60)


# --- windows ---

def list_windows(table, screen, n):
    what = f"list of {n} windows"
    for way in (steps.Way(screen, steps.STAGE), steps.Way(screen, OURS)):
        try:
            found = measure.run((screen.http if way.is_http else screen.in_stage)(steps=[way.act({"action": "windows"}, name="m")], n=100), screen)["m"]
            table.times(what, way.how, found.ms, found.cpu_ms, found.bytes)
        except FAULTS as fault:
            table.failed(what, way.how, fault)
    row(table, what, "wmctrl -lGpx", lambda: screen.program("wmctrl", "-lGpx"), 30, against=OURS)


def windows_part(screen, table):
    made = screen.session
    for n in (FEW, MANY):
        made.act({"action": "exec", "argv": ["sh", "-c", TERMINALS.format(n=n - len(windows(made)))]})
        deadline = time.monotonic() + 60
        while len(windows(made)) < n and time.monotonic() < deadline:
            made.act({"action": "wait_settled"})
        list_windows(table, screen, len(windows(made)))


# --- clipboards ---

def clipboard_part(screen, table):
    made, text = screen.session, "Grün ist es. " * (CLIPBOARD // len("Grün ist es. ".encode()))
    data, what = text.encode(), f"clipboard, {CLIPBOARD // 1_000_000} MB"

    def get():
        if made.act({"action": "clipboard_get"})["results"][0].get("text") != text:
            raise Refused("another text came")

    def get_by_peer():
        done = subprocess.run([*screen.prefix, "xclip", "-selection", "clipboard", "-o"], env={**os.environ, **screen.env}, capture_output=True,
                              check=True, timeout=60)
        if done.stdout != data:
            raise Refused("another text came")

    def set_by_peer():
        quiet_program(screen, "xclip", "-selection", "clipboard", "-i", stdin=data)

    try:
        # By the client in C: Python takes longer to write so much JSON than the server to read it.
        found = measure.run(screen.http(steps=[steps.Way(screen, OURS).act({"action": "clipboard_set", "text": text}, name="m")], n=ROUNDS), screen)["m"]
        table.times(f"{what}: set", OURS, found.ms, found.cpu_ms, len(data))
    except FAULTS as fault:
        table.failed(f"{what}: set", OURS, fault)
    row(table, f"{what}: set", "xclip", set_by_peer, size=len(data), against=OURS)
    row(table, f"{what}: get what the other has set", OURS, get, size=len(data))
    made.act({"action": "clipboard_set", "text": text})
    row(table, f"{what}: get what the other has set", "xclip -o", get_by_peer, size=len(data), against=OURS)


# --- another size ---

def resize_part(screen, table):
    made, turn = screen.session, [0]

    def resize():
        width, height = SIZES[turn[0] % 2]
        turn[0] += 1
        if not made.act({"action": "resize_display", "width": width, "height": height})["results"][0]["settled"]:
            raise Refused("the windows did not follow")

    names = " and ".join(f"{width}x{height}" for width, height in SIZES)
    row(table, f"another size, {names}, {len(windows(made))} windows", OURS, resize, 2 * ROUNDS, note=f"{RESIZE_QUIET_MS} ms of quiet in it")


# --- trees ---

def bus_of(server):
    """The process of the session's accessibility bus, and its socket in its jail."""
    for pid in server.pids("dbus-daemon"):
        if b"accessibility" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
            continue
        for line in pathlib.Path(f"/proc/{pid}/net/unix").read_text().splitlines():
            if found := re.search(r" (/\S*at-spi\S*)$", line):
                return pid, pathlib.Path(found[1])
    raise Refused("there is no accessibility bus")


def walk_by_peer(server):
    """{"nodes", "ms"} of one walk of a Python program through all that the apps tell. It is the user that the bus takes it for."""
    pid, socket = bus_of(server)
    folder = os.open(f"/proc/{pid}/root{socket.parent}", os.O_PATH | os.O_DIRECTORY)
    try:
        done = subprocess.run(["nsenter", f"--user=/proc/{pid}/ns/user", "--setuid", "1000", "--setgid", "1000", "/usr/bin/python3", "-"],
                              input=(TREE / "tests/perf/walk.py").read_text(), env={**os.environ, "AT_SPI_BUS_ADDRESS": f"unix:path=/proc/self/fd/{folder}/{socket.name}"},
                              pass_fds=[folder], capture_output=True, text=True, check=False, timeout=120)
    finally:
        os.close(folder)
    if done.returncode != 0:
        raise Refused(done.stderr.strip() or "the walk failed")
    return json.loads(done.stdout)


def warm_up(ask):
    """An app that has just come up may be too busy to answer."""
    deadline = time.monotonic() + WARM_UP_S
    while True:
        try:
            return ask()
        except Refused:
            if time.monotonic() > deadline:
                raise


def tree_of(table, server, app):
    with session(server.operator, image="office") as made:
        if app in ("firefox", "chromium"):
            put(made, "page.html", page().encode())
        args = [f"file://{FOLDER}/page.html"] if app in ("firefox", "chromium") else []
        launched = made.act({"action": "launch", "app": app, "args": args}, {"action": "wait_settled", "timeout_ms": 20000}, timeout_ms=90000)
        ask_for = {"action": "tree", "window": launched["results"][0]["window"], "all": True, "max_nodes": NODES}
        nodes = []

        def ask():
            told = made.act(ask_for)["results"][0]
            nodes.append(len(told["nodes"]))
            if told["hung"] or not told["nodes"]:
                raise Refused(f"{nodes[-1]} nodes after {told['took_ms']} ms; hung: {told['hung']}")

        try:
            warm_up(ask)
            ms = timed_ms(ask, TREE_ROUNDS)
            table.times(f"tree of {app}", OURS, ms, note=f"{nodes[-1]} nodes, {figure(1000 * sorted(ms)[len(ms) // 2] / max(1, nodes[-1]))} µs each")
        except FAULTS as fault:
            table.failed(f"tree of {app}", OURS, fault)
        try:
            walks = [walk_by_peer(server) for _ in range(WALKS)]
            table.times(f"tree of {app}", "pyatspi", [walk["ms"] for walk in walks], against=OURS,
                        note=f"{walks[-1]['nodes']} nodes, {figure(1000 * walks[-1]['ms'] / max(1, walks[-1]['nodes']))} µs each")
        except FAULTS as fault:
            table.failed(f"tree of {app}", "pyatspi", fault)


# --- what it costs that they tell ---

def cost(server, table, how, accessibility):
    with session(server.operator, image="desktop", accessibility=accessibility) as made:
        put(made, "page.html", page().encode())
        before = sum(descendants(server.process.pid).values())
        loads = []
        for i in range(LOADS):
            start = time.perf_counter()
            made.act({"action": "launch", "app": "firefox", "args": [f"file://{FOLDER}/page.html"]}, {"action": "wait_settled", "timeout_ms": 20000},
                     timeout_ms=90000)
            loads.append(1000 * (time.perf_counter() - start))
        used = sum(descendants(server.process.pid).values()) - before
        window = windows(made)[0]
        y = window["y"] + 85 + 30
        # Elsewhere on the button each time: what is near the last click waits so as not to be a double click.
        clicks = [life.timed_ms(lambda x=window["x"] + 60 + 60 * (i % 4): made.act({"action": "click", "x": x, "y": y}, observe={"quiet_ms": steps.QUIET_MS}))
                  for i in range(CLICKS)]
        table.add(how, figure(sorted(loads)[LOADS // 2]) + " ms", f"{used / os.sysconf('SC_CLK_TCK') / LOADS:.2f} s",
                  f"{memory_mb(server.pids()):.0f} MB", figure(sorted(clicks)[CLICKS // 2]) + " ms")


def run(server, results):
    """Windows, clipboards, trees, another size."""
    table = Times("Knowing what is on the screen, 1280x800")
    results.append(table)
    with session(server.operator, image="desktop", display={"width": 1280, "height": 800}) as made, measure.screen_of(server, made) as screen:
        for part in (windows_part, clipboard_part, resize_part):
            before = time.monotonic()
            try:
                part(screen, table)
            except FAULTS as fault:
                table.failed(part.__name__.removesuffix("_part"), OURS, fault)
            say(f"   {part.__name__}: {time.monotonic() - before:.0f} s")
    for app in TREES:
        try:
            tree_of(table, server, app)
        except FAULTS as fault:
            table.failed(f"tree of {app}", OURS, fault)
    costs = Table("Firefox with a page, with and without telling its nodes", "what", "launch to settled", "CPU of one", "memory", "click to settled picture")
    results.append(costs)
    for how, accessibility in (("it tells", True), ("accessibility: false", False)):
        try:
            cost(server, costs, how, accessibility)
        except FAULTS as fault:
            costs.add(how, "failed", str(fault)[:120])
