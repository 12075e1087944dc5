# SPDX-License-Identifier: GPL-2.0-or-later
"""Posting what Anthropic's models send, and reading what comes back."""
import base64

from api import picture_of

NOT_EXECUTED = "Not executed: an earlier computer action in this turn failed."


def call(name, ident="toolu_1", **given):
    """A tool_use block of the toolset."""
    return {"type": "tool_use", "id": ident, "name": name, "toolset_name": "computer", "input": given}


def old(action, ident="toolu_1", **given):
    """A tool_use block of the older tool."""
    return {"type": "tool_use", "id": ident, "name": "computer", "input": {"action": action, **given}}


def send(session, body, dialect=None, headers=None):
    """The reply, whatever it is."""
    path = f"{session.path}/computer" + (f"?dialect={dialect}" if dialect else "")
    return session.agent.request("POST", path, body, headers=headers)


def post(session, body, dialect=None, headers=None):
    """The answer of a call that is taken."""
    reply = send(session, body, dialect, headers)
    assert reply.status == 200, reply.body
    return reply.json


def said(result):
    """The one text of a result."""
    assert [block["type"] for block in result["content"]] == ["text"], result
    return result["content"][0]["text"]


def shown(result):
    """The one picture of a result."""
    assert [block["type"] for block in result["content"]] == ["image"], str(result)[:500]
    assert "is_error" not in result
    source = result["content"][0]["source"]
    assert (source["type"], source["media_type"]) == ("base64", "image/png")
    return picture_of(base64.b64decode(source["data"]))


def done(session, name, **given):
    """One member that goes well; what is said of it."""
    result = post(session, call(name, **given))
    assert "is_error" not in result, result
    assert (result["type"], result["tool_use_id"], result["toolset_name"]) == ("tool_result", "toolu_1", "computer")
    return said(result)


def failed(result):
    """What is said of a call that failed."""
    assert result["is_error"] is True, str(result)[:500]
    return said(result)


def pointer(session):
    at = session.do("cursor_position")
    return at["x"], at["y"]
