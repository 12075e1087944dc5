# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of ten lines in README.md, run as they stand there: the vendor's package, a stand-in of the model, a real session."""
import json

import pytest

from stand_in import StandIn
from readme import block
from vendors import DONE, Anthropic

PAGE = "about:license\n"
# A program: its vendor, its text, and a turn in which the model opens a page.
PROGRAMS = {
    "claude": (Anthropic, block("claude"), Anthropic.turn(("key", {"text": "ctrl+l"}), ("type", {"text": PAGE}), ("screenshot", {}))),
}
LOOK = {"claude": Anthropic.turn(("screenshot", {}))}


def journal(server, session_id):
    text = server.api.request("GET", f"/v1/sessions/{session_id}/journal").body.decode()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, server, tmp_path):
    vendor, text, opens = PROGRAMS[name]
    known = {session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]}
    with StandIn(tmp_path / name, vendor.vendor, [LOOK[name], opens, vendor.last()]) as model:
        (tmp_path / name / "program.mjs").write_text(text)
        done = model.run("program.mjs", GLOVEBOX_SERVER=server.url, GLOVEBOX_TOKEN_FILE=str(server.state / "operator.token"))
        assert (done.returncode, done.stdout) == (0, f"{DONE}\n"), done.stdout + done.stderr
        assert model.pictures()[-1].size == (1280, 800)
    made, = (session for session in server.api.call("GET", "/v1/sessions")["sessions"] if session["id"] not in known)
    assert (made["state"], made["image"]) == ("ended", "desktop")
    lines = journal(server, made["id"])
    typed = "".join(line["action"]["text"] for line in lines if line["event"] == "intent" and line["action"]["action"] == "type")
    assert typed.startswith(PAGE.strip())
    assert all(line["ok"] for line in lines if line["event"] == "result")


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_has_ten_lines(name):
    """Without the brackets that end a block, and empty ones."""
    assert len([line for line in PROGRAMS[name][1].splitlines() if line not in ("", "}")]) <= 10
