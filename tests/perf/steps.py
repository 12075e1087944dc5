# SPDX-License-Identifier: GPL-2.0-or-later
"""One step of an agent, ours and its peers', on one display with the same content."""
import contextlib
import difflib
import io
import json
import pathlib
import sys
import urllib.parse

from PIL import Image, ImageChops

import measure
from measure import POINT, Failed, body
from scene import Scene
from server import PROGRAMS, Refused, say, session
from table import Times

SIZES = ((1024, 768), (1280, 800), (1920, 1080), (3840, 2160))
PAINT_MS = 20        # a terminal has drawn a character by then; the client sees to it that the picture differs
QUIET_MS = 50
REST_MS = 20         # in which window manager and application have done what a click gives them to do
LOOP_SLEEP_S = 2     # between act and look in the loops that vendors of models publish
TYPED = 1000
TYPED_FILE = "/home/user/typed"
OURS = "glovebox, HTTP"
STAGE = "glovebox, in the stage"


def typed_text():
    """1,000 characters of ASCII in lines that fit a terminal."""
    letters = [chr(code) for code in range(ord(" "), 127)]
    text = "".join(letters[7 * i % len(letters)] for i in range(TYPED))
    return "".join("\n" if i % 60 == 59 or i == TYPED - 1 else letter for i, letter in enumerate(text))


class Way:
    """One way to a session: the steps of a plan that go it."""

    def __init__(self, screen, how):
        self.screen = screen
        self.is_http = how == OURS
        self.how = how

    def act(self, *actions, options=None, **step):
        call = f"POST {self.screen.session.path}/act" if self.is_http else "act"
        return {"call": call, "body": body(*actions, **(options or {})), "contains": '"ok":true', **step}

    def look(self, query=None, **step):
        if not self.is_http:
            return {"call": "screenshot", "query": query or {}, **step}
        return {"call": f"GET {self.screen.session.path}/screenshot?{urllib.parse.urlencode(query or {})}", **step}

    def run(self, *steps, **plan):
        """The series of the steps that are named: {name: Series}."""
        plan = {"steps": steps, **self.screen.area, **plan}
        return measure.run(self.screen.http(**plan) if self.is_http else self.screen.in_stage(**plan), self.screen)


class Steps:
    """The rows of one size of a screen."""

    def __init__(self, table, screen, scene):
        self.table = table
        self.screen = screen
        self.scene = scene
        self.ways = [Way(screen, STAGE), Way(screen, OURS)]
        self.slow = max(1, scene.width * scene.height // 1_000_000)  # large screens get fewer rounds

    def row(self, what, steps, n=200, **plan):
        """Measures what `steps(way)` names "m", both ways."""
        for way in self.ways:
            try:
                series = way.run(*steps(way), n=max(10, n // self.slow), **plan)["m"]
                note = f"{series.same} pictures were as before" if series.same else ""
                self.table.times(what, way.how, series.ms, series.cpu_ms, series.bytes, note=note)
            except (Failed, Refused) as fault:
                self.table.failed(what, way.how, fault)

    def pictures(self):
        everywhere = {"x": 0, "y": 0, "width": self.scene.width, "height": self.scene.height}
        wait = {"pause_ms": PAINT_MS}
        # The terminal hides the pointer while it gets text, until there is a click.
        self.scene.session.act({"action": "click", **{side: self.scene.terminal[side] for side in ("x", "y")}}, {"action": "wait_settled"})
        self.row("picture, unchanged", lambda way: [way.look(name="m")], 300)
        self.row("picture, unchanged and known (304)", lambda way: [way.look(), way.look(name="m", match=True, expect=304)], 300)
        self.row("picture, pointer moved", lambda way: [way.act({"action": "move", **POINT}), way.look(name="m", differs=True)], **everywhere)
        self.row("picture, one character typed",
                 lambda way: [way.act({"action": "type", "text": "@c"}), wait, way.look(name="m", differs=True),
                              way.act({"action": "key", "keys": "BackSpace"}), wait, way.look(name="m", differs=True)], 60)
        for what, query in (("", {}), (", as JPEG", {"format": "jpeg"}), (", as WebP", {"format": "webp"})):
            self.row(f"picture, all repainted{what}", lambda way, query=query: [{"poke": True}, way.look(query, name="m", differs=True)],
                     100 if not query else 40, helper=self.screen.helper("repaint"))

    def input(self):
        self.row("click", lambda way: [way.act({"action": "click", **POINT}, name="m")], 300, **self.scene.terminal)
        self.row(f"click, {REST_MS} ms after the one before", lambda way: [way.act({"action": "click", **POINT}, name="m"), {"pause_ms": REST_MS}],
                 100, **self.scene.terminal)
        self.row("key", lambda way: [way.act({"action": "key", "keys": "a"}, name="m"), way.act({"action": "key", "keys": "BackSpace"})], 300)
        self.row("click and its picture", lambda way: [way.act({"action": "click", **POINT}, options={"observe": {"quiet_ms": 0}}, name="m")],
                 100, **self.scene.terminal)

    def settled(self):
        """A click on a button of the page: what the browser needs, and what we add to it."""
        what = f"click to settled picture, {QUIET_MS} ms of quiet"
        for way in self.ways:
            try:
                found = way.run(way.act({"action": "click", **POINT}, options={"observe": {"quiet_ms": QUIET_MS}}, name="m",
                                        quiet_ms=QUIET_MS), {"pause_ms": 4 * QUIET_MS}, n=30, **self.scene.button, helper=self.screen.helper("watch"))
                self.table.times(what, way.how, found["m"].ms, found["m"].cpu_ms, found["m"].bytes,
                                 note=f"{found['m'].same} without a change" if found["m"].same else "")
                self.table.times(f"{what}: drawing", way.how, found["drawn"].ms, note="what the browser needs")
                self.table.times(f"{what}: beyond", way.how, found["over"].ms, note="neither drawing nor quiet time")
            except (Failed, KeyError) as fault:
                self.table.failed(what, way.how, fault)
        self.scene.focus()

    def typing(self):
        """1,000 characters into a file by the terminal: how long, and whether they are all there."""
        text, n = typed_text(), 5
        for way in self.ways:
            self.scene.say(f"cat >{TYPED_FILE}")
            steps = [way.act({"action": "type", "text": text}, name="m"), way.act({"action": "wait_settled"})]
            self.typed(way.how, lambda: way.run(*steps, n=n, warm=0)["m"], text * n)
        for how, argv, rounds in (("xdotool type (12 ms between keys)", ["xdotool", "type", text], 1),
                                  ("xdotool type --delay 0", ["xdotool", "type", "--delay", "0", text], 3)):
            self.scene.say(f"cat >{TYPED_FILE}")
            self.typed(how, lambda: self.program(argv, rounds, warm=0), text * rounds)

    def typed(self, how, work, text):
        what = f"type {TYPED:,} characters"
        try:
            series = work()
            self.scene.session.act({"action": "wait_settled"}, {"action": "key", "keys": "ctrl+d"}, {"action": "wait_settled"},
                                   {"action": "key", "keys": "ctrl+c"}, {"action": "wait_settled"})
            there = self.scene.session.run("cat", TYPED_FILE)
        except (Failed, Refused) as fault:
            self.table.failed(what, how, fault)
            return
        right = sum(block.size for block in difflib.SequenceMatcher(None, text, there, autojunk=False).get_matching_blocks())
        note = "all there" if there == text else f"{len(text) - right:,} of {len(text):,} characters wrong or lost"
        self.table.times(what, how, series.ms, series.cpu_ms, against=OURS, note=note)

    def program(self, argv, n, file=None, warm=1):
        plan = {"steps": [{"name": "m", "argv": [str(word) for word in argv], **({"file": str(file)} if file else {})}], "n": n, "warm": warm,
                "pids": [self.screen.xvfb], **self.screen.area}
        return measure.run(plan, self.screen)["m"]

    def peers(self):
        display = self.screen.env["DISPLAY"]
        shot = self.screen.folder / "shot.png"
        n = max(5, 20 // self.slow)
        self.peer_pictures(n, shot, (("scrot", ["scrot", "-o", shot]), ("ImageMagick import", ["import", "-window", "root", shot]),
                                     ("maim", ["maim", shot]),
                                     ("ffmpeg x11grab, one frame", ["ffmpeg", "-v", "quiet", "-y", "-f", "x11grab", "-draw_mouse", "0", "-i", display,
                                                                    "-frames:v", "1", shot])))
        self.pil(n)
        click = ["xdotool", "mousemove", "@x", "@y", "click", "1"]
        loop = "xdotool mousemove @x @y click 1; sleep {}; scrot -o " + str(shot)
        for what, how, argv, rounds in (
                ("click", "xdotool", click, 10),
                ("key", "xdotool", ["xdotool", "key", "a"], 10),
                ("click and its picture", "xdotool, then scrot", ["sh", "-c", loop.format(0).replace("sleep 0; ", "")], max(5, 10 // self.slow)),
                (f"click to settled picture, {QUIET_MS} ms of quiet", f"usual loop: xdotool, sleep {LOOP_SLEEP_S}, scrot",
                 ["sh", "-c", loop.format(LOOP_SLEEP_S)], 3)):
            try:
                series = self.program(argv, rounds)
                self.table.times(what, how, series.ms, series.cpu_ms, against=OURS)
            except Failed as fault:
                self.table.failed(what, how, fault)

    def peer_pictures(self, n, shot, tools):
        for how, argv in tools:
            try:
                series = self.program(argv, n, shot)
                self.peer_picture(how, series.ms, series.cpu_ms, series.bytes)
            except Failed as fault:
                self.table.failed("picture, all repainted", how, fault)

    def peer_picture(self, how, ms, cpu_ms, size):
        """A peer makes all of a picture anew whatever has changed: a row under each of the two that it is compared with."""
        for what in ("picture, all repainted", "picture, one character typed"):
            self.table.times(what, how, ms, cpu_ms, size, against=OURS)

    def pil(self, n):
        """In a Python that runs already, as servers in Python use it."""
        try:
            found = json.loads(self.screen.program(sys.executable, str(pathlib.Path(__file__).with_name("pil.py")), str(n)))
            self.peer_picture("PIL ImageGrab, in Python", found["ms"], None, found["bytes"])
        except Failed as fault:
            self.table.failed("picture, all repainted", "PIL ImageGrab, in Python", fault)

    def limits(self):
        rows = {"memcpy": "copy of the frame in memory", "round_trip": "bare round trip to the X server",
                "shm": "whole frame from the X server by MIT-SHM", "loopback": "200 bytes there, 100 back over loopback TCP"}
        found = json.loads(self.screen.program(str(PROGRAMS / "limits"), "200"))
        for name, what in rows.items():
            self.table.times(what, "limit of this machine", [us / 1000 for us in found[name]])

    def truth(self):
        """Is our picture that of scrot, pixel by pixel, but for the pointer?"""
        shot = self.screen.folder / "truth.png"
        for _ in range(5):  # a clock may tick in between
            ours = [self.screen.session.screenshot("?cursor=false")]
            self.screen.program("scrot", "-o", str(shot))
            ours.append(self.screen.session.screenshot("?cursor=false"))
            theirs = Image.open(shot).convert("RGB")
            boxes = [ImageChops.difference(Image.open(io.BytesIO(data)).convert("RGB"), theirs).getbbox() for data in ours]
            if ours[0] == ours[1]:
                break
        same = None in boxes
        self.table.add("our picture and scrot's", "pixel by pixel", 1, "equal" if same else "DIFFERENT", "", "", "", "",
                       "" if same else f"within {boxes[0]}")
        return same


def size_of(server, width, height):
    """All rows of one size."""
    table = Times(f"{width}x{height}")
    size = {"width": width, "height": height}
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(session(server.operator, image="desktop", apps=["panel"], display=size, space=size))
        screen = stack.enter_context(measure.screen_of(server, made))
        scene = Scene(made, width, height)
        screen.area = scene.terminal
        steps = Steps(table, screen, scene)
        steps.truth()
        steps.limits()
        steps.pictures()
        steps.input()
        if (width, height) == SIZES[1]:
            steps.typing()
        steps.settled()
        steps.peers()
        steps.truth()
    return table


def run(server, results):
    """One step of an agent, and its peers on the same display."""
    for width, height in SIZES:
        say(f"-- {width}x{height}")
        try:
            results.append(size_of(server, width, height))
        except (Failed, Refused, OSError) as fault:
            say(f"{width}x{height} failed: {fault}")
            results.append(Times(f"{width}x{height}"))
            results[-1].failed("all", "glovebox", fault)
