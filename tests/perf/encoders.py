# SPDX-License-Identifier: GPL-2.0-or-later
"""Our encoders and libpng on one picture after the other, in one process (tests/perf/encoders.c)."""
import pathlib
import subprocess
import tempfile

from scene import Scene
from server import PROGRAMS, Refused, session
from table import Table, from_markdown

TITLE = "Encoders, alone"
SIZES = ((1280, 800), (1920, 1080))
ROUNDS = 9


def run(server, results):
    """What it takes to encode the pictures of the steps."""
    with tempfile.TemporaryDirectory(prefix="glovebox-bench-") as folder:
        files = []
        try:
            for width, height in SIZES:
                size = {"width": width, "height": height}
                with session(server.operator, image="desktop", apps=["panel"], display=size, space=size) as made:
                    Scene(made, width, height)
                    files.append(pathlib.Path(folder, f"{width}x{height}"))
                    files[-1].write_bytes(made.screenshot("?format=png"))
            done = subprocess.run([PROGRAMS / "encoders", str(ROUNDS), *files], capture_output=True, text=True, check=True)
            results.append(from_markdown(TITLE, done.stdout))
        except (Refused, OSError, subprocess.CalledProcessError) as fault:
            results.append(Table(TITLE, "picture", "how", "fault"))
            results[-1].add("all", "failed", fault)
