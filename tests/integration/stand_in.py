# SPDX-License-Identifier: GPL-2.0-or-later
"""A stand-in of a vendor's model (tests/adapters/stand_in.mjs), and programs in Node that use the vendor's package against it."""
import base64
import json
import os
import subprocess
import sys

from api import picture_of
from conftest import TREE

sys.path.insert(0, str(TREE / "tests"))
import npm  # noqa: E402

ADAPTERS = TREE / "session/dialects/adapters"
PROGRAMS = TREE / "tests/adapters"
PROGRAM_S = 120


class StandIn:
    """Plays `turns`, one a request; the folder is a project that has the vendor's package and, in ./glovebox, the adapters."""

    def __init__(self, folder, vendor, turns):
        self.folder = npm.workshop(folder, *PROGRAMS.glob("*.mjs"))
        (folder / "glovebox").mkdir()
        for file in ADAPTERS.glob("*.mjs"):
            (folder / "glovebox" / file.name).write_bytes(file.read_bytes())
        (folder / "turns.json").write_text(json.dumps(turns))
        self.process = subprocess.Popen([npm.NODE, folder / "stand_in.mjs", vendor, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url, f"the stand-in ended with status {self.process.wait()}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(30)

    def run(self, program, **env):
        """A program of the folder, to its end: the finished process with its output as text."""
        keys = {name: "stand-in" for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")}
        urls = {"ANTHROPIC_BASE_URL": self.url, "OPENAI_BASE_URL": f"{self.url}/v1", "GOOGLE_GEMINI_BASE_URL": self.url}
        return subprocess.run([npm.NODE, self.folder / program], env={**os.environ, **keys, **urls, **env}, cwd=self.folder,
                              capture_output=True, text=True, timeout=PROGRAM_S, stdin=subprocess.DEVNULL, check=False)

    def on(self, session, program, **env):
        """The same, on a session of the test's."""
        known = {"server": session.api.url, "token": session.tokens["agent"], **{name: session.answer[name] for name in ("id", "space", "display")}}
        return self.run(program, TEST_SESSION=json.dumps(known), **env)

    def requests(self):
        """The bodies that came, in order."""
        return [json.loads(line) for line in (self.folder / "requests").read_text().splitlines()]

    def pictures(self):
        """The pictures in the last request, in order."""
        return [picture_of(base64.b64decode(data)) for data in pngs(self.requests()[-1])]


def pngs(value):
    """All PNGs in Base64 that a JSON value holds, as data URLs, too."""
    if isinstance(value, str):
        data = value.removeprefix("data:image/png;base64,")
        return [data] if data.startswith("iVBORw0KGgo") else []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [data for item in items for data in pngs(item)]
