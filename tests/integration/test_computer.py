# SPDX-License-Identifier: GPL-2.0-or-later
"""What models of other vendors send, done on a real session and answered in their form."""


def block(name, ident="toolu_1", **given):
    return {"type": "tool_use", "id": ident, "name": name, "toolset_name": "computer", "input": given}


def post(session, body, dialect=None, headers=None):
    """The answer of a call that must succeed."""
    path = f"{session.path}/computer" + (f"?dialect={dialect}" if dialect else "")
    return session.agent.call("POST", path, body, headers=headers)


def test_a_member_moves_the_pointer(session):
    assert post(session, block("mouse_move", coordinate=[123, 45])) == {
        "type": "tool_result", "tool_use_id": "toolu_1", "toolset_name": "computer",
        "content": [{"type": "text", "text": "Moved the mouse."}]}
    assert session.do("cursor_position")["x"] == 123
