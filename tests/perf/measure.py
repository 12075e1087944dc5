# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans for tests/perf/client.c, and the display of a session as programs outside of it see it."""
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

from server import PROGRAMS

POINT = {"x": "@x", "y": "@y"}  # a point of the plan's area that differs from round to round


class Failed(Exception):
    pass


class Series:
    """What the client measured under one name."""

    def __init__(self, answer):
        self.ms = [us / 1000 for us in answer["us"]]
        self.bytes = answer["bytes"]
        self.cpu_ms = answer["cpu_us"] / 1000
        self.same = answer["same"]


def body(*actions, **options):
    """An act as the text of a plan: the points of a round are numbers in it."""
    text = json.dumps({"actions": actions, **options}, ensure_ascii=False)
    return text.replace('"@x"', "@x").replace('"@y"', "@y")


def command(plan, screen=None):
    """(argv, environment) of a client that runs the plan, which comes by its standard input."""
    return [*(screen.prefix if screen else []), PROGRAMS / "client"], {**os.environ, **(screen.env if screen else {})}


def read(text):
    answer = json.loads(text)
    return {step["name"]: Series(step) for step in answer["steps"]}


def run(plan, screen=None):
    """{name: Series} of a plan; its programs and its helper see the screen."""
    argv, env = command(plan, screen)
    done = subprocess.run(argv, input=json.dumps(plan), capture_output=True, text=True, env=env, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr or f"the client ended with {done.returncode}")
    return read(done.stdout)


class Screen:
    """The display of the only session of a server, for programs outside of it: the same one that its stage sees."""

    def __init__(self, server, made, folder):
        (self.xvfb,) = server.pids("Xvfb")
        (self.stage,) = server.pids("glovebox-stage")
        (self.front,) = server.pids("glovebox-front")
        self.socket = str(server.state / "run" / made.id / "stage.sock")
        self.session = made
        self.folder = pathlib.Path(folder)
        self.pids = [self.front, self.stage, self.xvfb]
        # In the display's namespace of System V's shared memory, or no tool could have any with it.
        self.prefix = ["nsenter", f"--ipc=/proc/{self.xvfb}/ns/ipc"]
        self.env = {}

    def open(self, number):
        authority = self.folder / "authority"
        authority.write_bytes(pathlib.Path(f"/proc/{self.xvfb}/root/tmp/xauth").read_bytes())
        link = pathlib.Path(f"/tmp/.X11-unix/X{number}")
        link.parent.mkdir(mode=0o1777, exist_ok=True)
        link.symlink_to(f"/proc/{self.xvfb}/root/tmp/.X11-unix/X0")
        self.env = {"DISPLAY": f":{number}", "XAUTHORITY": str(authority)}
        return link

    def helper(self, mode):
        return [*self.prefix, str(PROGRAMS / "helper"), mode]

    def http(self, **plan):
        return {"target": self.session.agent.address, "token": self.session.agent.token, "pids": self.pids, **plan}

    def in_stage(self, **plan):
        return {"target": self.socket, "pids": [self.stage, self.xvfb], **plan}

    def program(self, *argv):
        """Runs one program that sees the display: its standard output."""
        done = subprocess.run([*self.prefix, *argv], env={**os.environ, **self.env}, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{argv[0]}: {done.stderr or done.returncode}")
        return done.stdout


@contextlib.contextmanager
def screen_of(server, made):
    with tempfile.TemporaryDirectory(prefix="glovebox-bench-") as folder:
        screen = Screen(server, made, folder)
        link = screen.open(10000 + os.getpid() % 50000)
        try:
            yield screen
        finally:
            link.unlink()
