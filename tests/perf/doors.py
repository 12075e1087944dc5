# SPDX-License-Identifier: GPL-2.0-or-later
"""The same step by each way in: our own actions, the objects of models, MCP; and what the recording adds to it."""
import contextlib
import json

import measure
from measure import POINT, Failed, body
from server import Refused, session
from steps import REST_MS
from table import Times

TITLE = "Ways in, 1280x800"
ACT = "act"
TOOLSET = "Anthropic, toolset"
QUIET = {"observe": {"quiet_ms": 0}}
MODERN = "2026-07-28"


def text(value):
    """A body as the text of a plan: the points of a round are numbers in it."""
    return json.dumps(value).replace('"@x"', "@x").replace('"@y"', "@y")


def mcp(arguments):
    """A call of the computer tool by the newest revision of MCP."""
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    return text({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "computer", "arguments": arguments, "_meta": meta}})


def ways(made):
    """(what, how, step of a plan)."""
    path, click = made.path, {"action": "click", **POINT}
    at = ["@x", "@y"]
    computer = f"POST {path}/computer"
    block = {"type": "tool_use", "id": "t", "toolset_name": "computer", "name": "left_click", "input": {"coordinate": at}}
    look = {"type": "tool_use", "id": "u", "toolset_name": "computer", "name": "screenshot", "input": {}}
    call = {"type": "computer_call", "id": "c", "call_id": "c", "status": "completed", "actions": [{"type": "click", "button": "left", **POINT}]}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "computer"}
    here, settled, typed = "click and its picture at once", "click and its settled picture", "one character"
    yield typed, ACT, {"call": f"POST {path}/act", "body": body({"action": "type", "text": "@c"}), "contains": '"ok":true'}
    yield "click", ACT, {"call": f"POST {path}/act", "body": body(click), "contains": '"ok":true'}
    yield "click", TOOLSET, {"call": computer, "body": text(block), "contains": "Clicked."}
    yield "click", "MCP", {"call": "POST /mcp", "body": mcp({"actions": [click], "observe": False}), "headers": headers, "contains": '"ok":true'}
    yield here, ACT, {"call": f"POST {path}/act", "body": body(click, **QUIET), "contains": '"ok":true'}
    yield here, "MCP", {"call": "POST /mcp", "body": mcp({"actions": [click], **QUIET}), "headers": headers, "contains": '"ok":true'}
    yield settled, ACT, {"call": f"POST {path}/act", "body": body(click, observe=True), "contains": '"ok":true'}
    yield settled, TOOLSET, {"call": computer, "body": text([block, look]), "contains": "Clicked."}
    yield settled, "OpenAI, computer", {"call": computer, "body": text(call), "contains": "computer_screenshot"}
    yield settled, "MCP", {"call": "POST /mcp", "body": mcp({"actions": [click]}), "headers": headers, "contains": '"ok":true'}


def measure_all(server, table, recording):
    """All ways into one session; without pictures in the journal, our own actions alone."""
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(session(server.operator, image="desktop", apps=["terminal", "panel"], record={"pictures": recording}))
        screen = stack.enter_context(measure.screen_of(server, made))
        (window,) = [window for window in made.act({"action": "windows"})["results"][0]["windows"] if window["app"] == "terminal"]
        area = {side: window[side] for side in ("x", "y", "width", "height")}
        made.act({"action": "click", "x": area["x"] + 40, "y": area["y"] + 40}, {"action": "wait_settled"})
        for what, how, step in ways(made):
            if not recording and how != ACT:
                continue
            how = how if recording else f"{how}, nothing of it recorded in pictures"
            try:
                plan = screen.http(steps=[{**step, "name": "m"}, {"pause_ms": REST_MS}], n=30 if "settled" in what else 100, **area)
                series = measure.run(plan, screen)["m"]
                table.times(what, how, series.ms, series.cpu_ms, series.bytes, against=ACT)
            except (Failed, Refused) as fault:
                table.failed(what, how, fault)


def run(server, results):
    """One step by act, by the objects of models and by MCP, with the recording and without."""
    results.append(table := Times(TITLE))
    for recording in (True, False):
        measure_all(server, table, recording)
