# SPDX-License-Identifier: GPL-2.0-or-later
"""What a model gets wrong is told to it, what a harness gets wrong is refused, and nothing that is wrong is done."""
import concurrent.futures

import pytest

from computer import NOT_EXECUTED, call, done, failed, pointer, post, said, send, shown
from conftest import until

TOOLSET = "computer_toolset_20260801"


@pytest.mark.parametrize("body, dialect, status, code, place", [
    ({"foo": 1}, None, 400, "bad_field", None), ([], None, 400, "bad_field", None), ("5", None, 400, "bad_field", None),
    ("null", None, 400, "bad_field", None), ('"key"', None, 400, "bad_field", None),
    (call("screenshot"), "computer", 400, "bad_field", "/dialect"), (call("screenshot"), "", 400, "bad_field", "/dialect"),
    (call("screenshot"), "computer_20241022", 400, "bad_field", None), ({"action": "screenshot"}, TOOLSET, 400, "bad_field", None),
    ([call("screenshot", ident="")], None, 400, "bad_field", "/0/id"), ({"content": [call("screenshot", ident=5)]}, None, 400, "bad_field", "/content/0/id"),
    ({"content": "no call"}, TOOLSET, 400, "bad_field", None), ({"content": []}, TOOLSET, 400, "bad_field", "/content"),
    ("", None, 400, "bad_json", None), ("{", None, 400, "bad_json", None), ('{"action": "key", "action": "type"}', None, 400, "bad_json", None),
    ('{"action": "type", "text": "\\ud83d"}', None, 400, "bad_json", None), (b'{"action": "type", "text": "\xff"}', None, 400, "bad_json", None),
    ('{"action\\u0000": "type"}', None, 400, "bad_json", None), ("[" * 33 + "]" * 33, None, 400, "bad_json", None), ("[" * 500000, None, 400, "bad_json", None),
    ('{"action": "type", "text": "' + 1048576 * "x" + '"}', None, 413, "too_large", None),
], ids=lambda value: str(value)[:40])
def test_what_the_harness_gets_wrong(session, body, dialect, status, code, place):
    before = pointer(session)
    path = f"{session.path}/computer" + (f"?dialect={dialect}" if dialect is not None else "")
    reply = session.agent.request("POST", path, body)
    assert (reply.status, reply.json["code"], reply.json.get("pointer")) == (status, code, place), reply.body
    assert reply.headers.get_content_type() == "application/problem+json"
    assert pointer(session) == before


ODD = [None, True, -1, 1.5, 1e300, -9223372036854775808, 9223372036854775807, "", "x", "\0", "\u202e", "a" * 5000, [], [[]], [1, 2], [1] * 300, {}, {"a": {"b": []}},
       [None, None], ["1", "2"], [-1, -1], [1e18, 5], "ctrl+" * 40]
MEMBERS = ["key", "hold_key", "type", "cursor_position", "mouse_move", "left_mouse_down", "left_mouse_up", "left_click", "left_click_drag", "right_click",
           "middle_click", "double_click", "triple_click", "scroll", "wait", "screenshot", "zoom"]
FIELDS = ["coordinate", "start_coordinate", "text", "key", "duration", "repeat", "scroll_direction", "scroll_amount", "region", "x"]


@pytest.mark.parametrize("name", MEMBERS)
def test_what_the_model_gets_wrong(session, name):
    """Any value in any member: an answer in the form of the vendor, with an error that it takes; never a refusal, and the session lives."""
    for field in FIELDS:
        for value in ODD if field == FIELDS[0] else ODD[1:]:  # null is as if it were not there
            if (name, field) in (("wait", "duration"), ("hold_key", "duration")) and value == 1.5:
                continue  # it is right
            result = post(session, call(name, **{field: value}))
            assert result["tool_use_id"] == "toolu_1"
            if "is_error" in result:
                assert 0 < len(said(result)) <= 4096
    assert session.agent.call("GET", session.path)["state"] == "ready"


def test_many_calls_in_one_turn(session):
    """As many as an act takes; one that is more ends the turn, and nothing is lost of what was before."""
    results = post(session, [call("cursor_position", f"t{i}") for i in range(300)])
    assert len(results) == 300
    good = [i for i, result in enumerate(results) if "is_error" not in result]
    assert good == list(range(len(good))) and len(good) > 250
    assert failed(results[len(good)]).endswith("too many actions in one turn")
    assert {failed(result) for result in results[len(good) + 1:]} == {NOT_EXECUTED}


def test_who_may(server, session):
    for role in ("viewer", "controller"):
        reply = server.api.request("POST", f"{session.path}/computer", call("screenshot"), headers={"Authorization": f"Bearer {session.tokens[role]}"})
        assert (reply.status, reply.json["code"]) == (403, "forbidden")


def test_cancel_in_a_batch(session):
    """What runs stops, the buttons are let go, and the rest is not done."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(post, session, [call("left_mouse_down", "a"), call("wait", "b", duration=90), call("mouse_move", "c", coordinate=[7, 7])])
        until(lambda: session.agent.call("GET", session.path)["held"]["buttons"])
        session.agent.call("POST", f"{session.path}/cancel")
        results = running.result()
    assert said(results[0]) == "Left mouse button pressed."
    assert failed(results[1]) == "The action was cancelled before it was done."
    assert failed(results[2]) == NOT_EXECUTED
    assert session.agent.call("GET", session.path)["held"]["buttons"] == []
    assert pointer(session) != (7, 7)


def test_paused(server, session):
    server.api.call("POST", f"{session.path}/pause")
    reply = send(session, call("screenshot"))
    assert (reply.status, reply.json["code"]) == (409, "paused")
    server.api.call("POST", f"{session.path}/resume")
    shown(post(session, call("screenshot")))


def test_a_screen_that_has_changed(make_session):
    """With the session's guard the model is told to look again, and nothing is done."""
    session = make_session("minimal", guard="last")
    shown(post(session, call("screenshot")))
    session.api.call("POST", f"{session.path}/act", {"actions": [{"action": "launch", "app": "terminal"}]})
    window = session.api.call("POST", f"{session.path}/act", {"actions": [{"action": "windows"}]})["results"][0]["windows"][0]
    at = [window["x"] + 20, window["y"] + 20]
    before = session.api.call("POST", f"{session.path}/act", {"actions": [{"action": "cursor_position"}]})["results"][0]
    results = post(session, [call("left_click", "a", coordinate=at), call("type", "b", text="x")])
    assert failed(results[0]) == ("Not done: the screen near the target has changed since the last screenshot. Take a new screenshot and decide again.")
    assert failed(results[1]) == NOT_EXECUTED
    after = session.api.call("POST", f"{session.path}/act", {"actions": [{"action": "cursor_position"}]})["results"][0]
    assert (after["x"], after["y"]) == (before["x"], before["y"])
    shown(post(session, call("screenshot")))
    assert done(session, "left_click", coordinate=at) == "Clicked."
