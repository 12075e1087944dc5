# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers are whole numbers in their range, as JSON writes them, wherever they stand; all else is refused before anything happens (case M03)."""
import pytest

# What is no whole number, as JSON text.
VALUES = ['"100"', '"11.5"', '"1e2"', '" 1"', '""', "100.5", "1.0", "-0.0", "1e2", "1e-400", "1e308", "null", "true", "false", "[]", "[1]", "{}",
          "9223372036854775808", "-9223372036854775809", "99999999999999999999999999"]
# What is no JSON.
TEXTS = ["1e999", "-1e999", "NaN", "Infinity", "-Infinity", "01", "+1", "0x10", "1_000", "1.", ".5", "1e", "-", "--1", "1;5", "", "1 2", "undefined"]
# Where numbers go: a call with a # for one of them, and the pointer to that; "/actions/1" comes before it.
PLACES = [
    ('{"action":"click","x":#,"y":1}', "/x"), ('{"action":"click","x":1,"y":#}', "/y"), ('{"action":"click","x":1,"y":1,"count":#}', "/count"),
    ('{"action":"move","x":#,"y":1}', "/x"), ('{"action":"move","x":1,"y":1,"duration_ms":#}', "/duration_ms"),
    ('{"action":"mouse_down","x":1,"y":#}', "/y"), ('{"action":"mouse_up","x":#,"y":1}', "/x"),
    ('{"action":"drag","path":[[1,1],[#,2]]}', "/path/1/0"), ('{"action":"drag","path":[[1,#],[1,2]]}', "/path/0/1"),
    ('{"action":"drag","path":[[1,1],[2,2]],"duration_ms":#}', "/duration_ms"),
    ('{"action":"scroll","dx":#,"dy":1}', "/dx"), ('{"action":"scroll","x":1,"y":#,"dy":1}', "/y"),
    ('{"action":"key","keys":"a","repeat":#}', "/repeat"), ('{"action":"hold_key","keys":"a","duration_ms":#}', "/duration_ms"),
    ('{"action":"type","text":"a","delay_ms":#}', "/delay_ms"), ('{"action":"wait","duration_ms":#}', "/duration_ms"),
    ('{"action":"screenshot","region":{"x":#,"y":0,"width":9,"height":9}}', "/region/x"),
    ('{"action":"screenshot","region":{"x":0,"y":0,"width":9,"height":#}}', "/region/height"),
    ('{"action":"wait_settled","quiet_ms":#}', "/quiet_ms"),
]
# Beside the actions, with the pointer as it is.
BESIDE = [
    ('"timeout_ms":#', "/timeout_ms"), ('"observe":{"quiet_ms":#}', "/observe/quiet_ms"),
    ('"observe":{"mask":[{"x":0,"y":#,"width":1,"height":1}]}', "/observe/mask/0/y"),
    ('"observe":{"region":{"x":0,"y":0,"width":#,"height":1}}', "/observe/region/width"),
    ('"space":{"width":#,"height":100}', "/space/width"), ('"seen":{"frame":#,"epoch":1,"episode":1}', "/seen/frame"),
]
# Of a query: text, which has no types, but the same numbers.
QUERY = ["", "x", "1.0", "1e2", "-0.0", "0x10", "NaN", "1e999", " 1", "+1", "%2B1", "-1", "99999999999999999999", "1,2"]


def refused(session, actions, beside=""):
    """The problem with which a call is refused that would press a key first. Nothing has moved and nothing is held."""
    session.do("move", x=77, y=88)
    body = f'{{"actions":[{{"action":"key_down","keys":"shift"}}{actions}]{beside}}}'
    reply = session.agent.request("POST", f"{session.path}/act", body)
    assert 400 <= reply.status < 500, (body, reply.body)
    place = session.do("cursor_position")
    assert (place["x"], place["y"]) == (77, 88)
    assert session.api.call("GET", session.path)["held"] == {"keys": [], "buttons": []}
    return reply.json


@pytest.mark.parametrize("action, pointer", PLACES)
def test_actions(session, action, pointer):
    for value in VALUES:
        problem = refused(session, "," + action.replace("#", value))
        assert (problem["code"], problem.get("pointer")) in (("bad_field", f"/actions/1{pointer}"), ("bad_json", None)), (value, problem)
    for text in TEXTS:
        assert refused(session, "," + action.replace("#", text))["code"] == "bad_json", text


@pytest.mark.parametrize("field, pointer", BESIDE)
def test_beside_the_actions(session, field, pointer):
    for value in VALUES:
        problem = refused(session, "", "," + field.replace("#", value))
        assert (problem["code"], problem.get("pointer")) in (("bad_field", pointer), ("bad_json", None)), (value, problem)
    for text in TEXTS:
        assert refused(session, "", "," + field.replace("#", text))["code"] == "bad_json", text


def test_points_and_rectangles_are_whole(session):
    for point in ("[]", "[1]", "[1,2,3]", '["1","2"]', '{"x":1,"y":2}', "1", "null", '"1,2"', "[[1,2]]"):
        problem = refused(session, f',{{"action":"drag","path":[[1,1],{point}]}}')
        assert problem["code"] == "bad_field" and problem["pointer"].startswith("/actions/1/path/1"), (point, problem)
    for region in ("[0,0,9,9]", '"0,0,9,9"', "{}", '{"x":0,"y":0,"width":9}', '{"x":0,"y":0,"width":9,"height":9,"z":0}', "null", "0"):
        problem = refused(session, f',{{"action":"screenshot","region":{region}}}')
        assert problem["pointer"].startswith("/actions/1/region"), (region, problem)


def test_queries(session):
    for name, rest in (("region", ",0,9,9"), ("space", "x100"), ("quality", "")):
        for value in QUERY:
            reply = session.agent.request("GET", f"{session.path}/screenshot?format=jpeg&{name}={value.replace(' ', '%20')}{rest}")
            assert reply.status == 400, (name, value, reply.status)
            assert name in (reply.json.get("pointer") or reply.json["detail"]), reply.json
    for region in ("0,0,9", "0,0,9,9,9", "0;0;9;9", "0,0,9,", ",,,", "0,0,0,9", "0,0,-9,9", "1279,0,2,1", "0,800,1,1"):
        assert session.agent.request("GET", f"{session.path}/screenshot?region={region}").status == 400, region
