# SPDX-License-Identifier: GPL-2.0-or-later
"""Clicks land where they are sent, as what they were sent; what makes no sense is refused before anything happens."""
import pytest

from api import Refused
from page import Page

SIZE = (1280, 800)


def where(session):
    result = session.do("cursor_position")
    return result["x"], result["y"]


def test_the_pointer_is_where_it_was_sent(session):
    for x, y in ((0, 0), (SIZE[0] - 1, 0), (0, SIZE[1] - 1), (SIZE[0] - 1, SIZE[1] - 1), (123, 456)):
        session.do("move", x=x, y=y)
        assert where(session) == (x, y)


def test_the_pointer_in_a_space_of_another_size(make_session):
    session = make_session("minimal", space={"width": 1000, "height": 500})
    for x, y in ((0, 0), (999, 0), (0, 499), (999, 499), (500, 250), (333, 111)):
        session.do("move", x=x, y=y)
        assert where(session) == (x, y)


@pytest.fixture
def page(make_session):
    return Page(make_session("desktop"))


def test_an_app_gets_the_click_at_its_pixel(page):
    left, top, right, bottom = page.box
    # Each at a place of its own, far from the others: none waits for another.
    places = [(left, top), (right - 20, top + 3), (left + 7, bottom - 20), (right - 30, bottom - 40)]
    before = len(page.told()["clicks"])
    page.session.act(*({"action": "click", "x": x, "y": y} for x, y in places))
    clicks = page.wait(lambda told: len(told["clicks"]) >= before + len(places))["clicks"][before:]
    assert [(x, y) for _, _, x, y in clicks] == places


def test_double_clicks_and_single_clicks(page):
    """A double click selects a word, a triple click the paragraph; clicks of two actions are single ones."""
    session = page.session
    session.do("type", text="word " * 300)
    page.wait(lambda told: told["text"] == "word " * 300)
    for count, selected in ((2, "word"), (3, "word word")):
        before = len(page.told()["clicks"])
        session.do("click", **page.place, count=count)
        clicks = page.wait(lambda told: len(told["clicks"]) >= before + count)["clicks"][before:]
        assert [click[0] for click in clicks] == list(range(1, count + 1))
        assert clicks[-1][1].startswith(selected)
    before = len(page.told()["clicks"])
    for _ in range(2):
        session.do("click", **page.place)
    session.act({"action": "click", **page.place}, {"action": "click", **page.place})
    clicks = page.wait(lambda told: len(told["clicks"]) >= before + 4)["clicks"][before:]
    assert [click[0] for click in clicks] == [1, 1, 1, 1]


def refused(session, actions):
    """The problem with which a call is refused; `actions` is JSON text. Nothing has moved."""
    session.do("move", x=77, y=88)
    reply = session.agent.request("POST", f"{session.path}/act", f'{{"actions":[{{"action":"key_down","keys":"shift"}},{actions}]}}')
    assert 400 <= reply.status < 500, reply.body
    assert where(session) == (77, 88)
    assert session.api.call("GET", session.path)["held"] == {"keys": [], "buttons": []}
    return reply.json


COORDINATES = ['"100"', '"11.5"', "100.5", "null", "true", "[1]", "[1,2]", '{"x":1}', '"__import__"', "-1", "1280", "1e3", "1e308", "-0.0",
               "99999999999999999999"]
NO_NUMBERS = ["NaN", "1e999", "Infinity", "01", "0x10", ""]
POINTS = ["[1]", "[1,2,3]", '["1","2"]', "[100.5,200]", "[null,1]", "[true,1]", '"[1,2]"', '{"x":1,"y":2}', "[1,800]"]
BUTTONS = ["9999", "0", "-1", "1", '"left "', '"LEFT"', '"primary"', '""', "null", '["left"]']


def test_coordinates_are_whole_numbers_on_the_screen(session):
    for x in COORDINATES:
        problem = refused(session, f'{{"action":"click","x":{x},"y":1}}')
        assert problem["code"] in ("bad_field", "bad_json") and problem.get("pointer", "/actions/1/x") == "/actions/1/x", (x, problem)


def test_numbers_are_those_of_json(session):
    for x in NO_NUMBERS:
        problem = refused(session, f'{{"action":"move","x":{x},"y":1}}')
        assert problem["code"] == "bad_json", (x, problem)


def test_points_of_a_path_are_two_coordinates(session):
    for point in POINTS:
        problem = refused(session, f'{{"action":"drag","path":[[1,1],{point}]}}')
        assert problem["code"] == "bad_field" and problem["pointer"].startswith("/actions/1/path/1"), (point, problem)


def test_buttons_have_names(session):
    for action in ("click", "mouse_down", "drag"):
        path = ',"path":[[1,1],[2,2]]' if action == "drag" else ""
        for button in BUTTONS:
            problem = refused(session, f'{{"action":"{action}","button":{button}{path}}}')
            assert (problem["code"], problem["pointer"]) == ("bad_field", "/actions/1/button"), (button, problem)
            assert "left middle right back forward" in problem["detail"]


def test_one_coordinate_alone_is_refused(session):
    assert refused(session, '{"action":"click","x":1}')["pointer"] == "/actions/1/y"
    assert refused(session, '{"action":"scroll","y":1,"dy":1}')["pointer"] == "/actions/1/x"


def test_a_button_that_is_held_is_not_clicked(session):
    answer = session.try_act({"action": "mouse_down"}, {"action": "click"})
    assert answer["results"][1]["error"]["code"] == "conflict"
    assert session.api.call("GET", session.path)["held"] == {"keys": [], "buttons": []}
    with pytest.raises(Refused):
        session.do("click", count=4)
