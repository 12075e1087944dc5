# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of ten lines in README.md and docs/models.md, run as they stand there: the vendor's package, a stand-in of the model, a real session; and a click
of each vendor's by curl."""
import contextlib
import json
import os
import subprocess

import pytest

from api import in_thread
from conftest import until
from stand_in import StandIn
from readme import block
from vendors import DONE, Anthropic, Google, OpenAi

PAGE = "about:license\n"
# A program: its vendor, its text, and a turn in which the model opens a page.
PROGRAMS = {
    "claude": (Anthropic, block("claude"), Anthropic.turn(("key", {"text": "ctrl+l"}), ("type", {"text": PAGE}), ("screenshot", {}))),
    "openai": (OpenAi, block("openai"), OpenAi.turn({"type": "keypress", "keys": ["CTRL", "L"]}, {"type": "type", "text": PAGE})),
    "gemini": (Google, block("gemini"), Google.turn(("hotkey", {"keys": ["control", "l"]}), ("type", {"text": PAGE.strip(), "press_enter": True}))),
}
LOOK = {"claude": Anthropic.turn(("screenshot", {})), "openai": OpenAi.turn({"type": "screenshot"}), "gemini": Google.turn(("take_screenshot", {}))}


def journal(server, session_id):
    text = server.api.request("GET", f"/v1/sessions/{session_id}/journal").body.decode()
    return [json.loads(line) for line in text.splitlines()]


@contextlib.contextmanager
def played(name, server, folder, *turns):
    """Runs the program while the model says these turns: the stand-in, the finished program, and the session that it made."""
    vendor, text, _ = PROGRAMS[name]
    known = {session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]}
    with StandIn(folder / name, vendor.vendor, [*turns, vendor.last()]) as model:
        (folder / name / "program.mjs").write_text(text)
        done = model.run("program.mjs", GLOVEBOX_SERVER=server.url, GLOVEBOX_TOKEN_FILE=str(server.state / "operator.token"))
        made, = (session for session in server.api.call("GET", "/v1/sessions")["sessions"] if session["id"] not in known)
        yield model, done, made


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, server, tmp_path):
    with played(name, server, tmp_path, LOOK[name], PROGRAMS[name][2]) as (model, done, made):
        assert (done.returncode, done.stdout) == (0, f"{DONE}\n"), done.stdout + done.stderr
        assert model.pictures()[-1].size == (1280, 800)
    assert (made["state"], made["image"]) == ("ended", "desktop")
    lines = journal(server, made["id"])
    texts = [line["action"]["text"] for line in lines if line["event"] == "intent" and line["action"]["action"] == "type"]
    # A browser on a busy machine may not say in time what field it goes into: then the journal has the length alone.
    assert texts and all(text in (PAGE, PAGE.strip()) if isinstance(text, str) else text["bytes"] in (len(PAGE), len(PAGE.strip())) for text in texts)
    assert all(line["ok"] for line in lines if line["event"] == "result")


CHECK = {"id": "sc_1", "code": "malicious_instructions", "message": "The page asks for something else."}
CONFIRM = {"safety_decision": {"decision": "require_confirmation", "explanation": "This sends a message."}}
# Turns that a person must see first.
ASKING = {"openai": OpenAi.turn({"type": "type", "text": "no"}, checks=[CHECK]), "gemini": Google.turn(("type", {"text": "no", **CONFIRM}))}


def deny(server):
    shown = until(lambda: server.api.call("GET", "/v1/approvals?wait=10000")["approvals"], within_s=60)[0]
    server.api.call("POST", f"/v1/approvals/{shown['id']}", {"answer": "deny", "reason": "Not today."})


@pytest.mark.parametrize("name", ASKING)
def test_a_turn_that_needs_a_person_waits_for_one(name, server, tmp_path):
    """And nothing of it is done after a no, of which the model is told."""
    thread, _ = in_thread(deny, server)
    with played(name, server, tmp_path, ASKING[name]) as (model, done, made):
        thread.join()
        assert (done.returncode, done.stdout) == (0, f"{DONE}\n"), done.stdout + done.stderr
        assert "Not today." in json.dumps(model.requests()[-1])
    assert [line for line in journal(server, made["id"]) if line["event"] == "intent"] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_has_ten_lines(name):
    """Without the brackets that end a block, and empty ones."""
    assert len([line for line in PROGRAMS[name][1].splitlines() if line not in ("", "}")]) <= 10


def values(text):
    """JSON values that follow one another."""
    found, decoder = [], json.JSONDecoder()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def test_the_same_click_by_three_vendors(server):
    session = server.api.new(image="minimal")
    known = {"API": f"{server.url}/v1/sessions", "TOKEN": session.tokens["agent"], "ID": session.id}
    done = subprocess.run(["bash", "-e", "-c", block("computer")], env={**os.environ, **known}, capture_output=True, text=True, timeout=120, check=False)
    anthropic, (openai,), gemini = values(done.stdout)
    assert anthropic["content"] == [{"type": "text", "text": "Clicked."}]
    assert (openai["type"], openai["call_id"], gemini["functionResponse"]["name"]) == ("computer_call_output", "call_1", "click")
    clicks = [line["action"] for line in journal(server, session.id) if line["event"] == "intent"]
    assert [(click["action"], click["x"], click["y"]) for click in clicks] == [("click", 590, 405)] * 3
    session.end()
