# SPDX-License-Identifier: GPL-2.0-or-later
"""A click and the picture that comes with it, on a page that answers late, for ever or not at all."""
import base64
import pathlib

import pytest

from api import picture_of
from conftest import until
from page import open_page
from pictures import box, centre

HERE = pathlib.Path(__file__).parent
EMPTY = (0x00, 0xFF, 0x7F)
BUTTONS = {50: (0xFF, 0xCC, 0x00), 300: (0x00, 0x55, 0xFF), 3000: (0xAA, 0x00, 0xAA)}
FOR_EVER = (0x00, 0x55, 0x00)
NEVER = (0x55, 0x00, 0x00)


class Page:
    def __init__(self, session):
        self.session = session
        session.run("sh", "-c", "cat >form_server.pl", stdin=(HERE / "form_server.pl").read_text())
        session.run("perl", "form_server.pl", "8000", stdin=(HERE / "settle.html").read_text())
        open_page(session, "http://127.0.0.1:8000/", "settle")
        until(lambda: box(session.shot(), EMPTY))
        self.first = session.look()
        self.result = box(self.first, EMPTY)

    def click(self, colour, **observe):
        """The observation of a click on the button of this colour, and the colour of the result in its picture."""
        observation = self.session.act({"action": "click", **centre(box(self.first, colour))}, observe=observe)["observation"]
        place = centre(self.result)
        return observation, picture_of(base64.b64decode(observation["picture"]["data"])).getpixel((place["x"], place["y"]))

    def changed(self, observation):
        """Whether it says that the result has changed."""
        left, top, right, bottom = self.result
        return any(r["x"] < right and left < r["x"] + r["width"] and r["y"] < bottom and top < r["y"] + r["height"] for r in observation["changed"])


@pytest.fixture
def page(make_session):
    return Page(make_session("desktop"))


def test_an_answer_is_waited_for(page):
    for after_ms, quiet_ms in ((50, 2000), (300, 2500), (3000, 5000)):
        observation, shown = page.click(BUTTONS[after_ms], quiet_ms=quiet_ms, timeout_ms=60000)
        assert observation["settled"] and shown == BUTTONS[after_ms], (after_ms, shown)
        assert observation["elapsed_ms"] >= after_ms + quiet_ms - 2 and page.changed(observation), (after_ms, observation["elapsed_ms"])


def test_one_that_comes_too_late_is_told_of(page):
    """Quiet for as long as was asked for, and nothing has changed: the answer says so, and the next look has it."""
    observation, shown = page.click(BUTTONS[3000], quiet_ms=150)
    assert (observation["settled"], page.changed(observation), shown) == (True, False, EMPTY)
    later = page.session.act(observe={"quiet_ms": 5000, "timeout_ms": 60000}, seen=observation["at"])["observation"]
    assert later["settled"] and page.changed(later)
    assert box(picture_of(base64.b64decode(later["picture"]["data"])), BUTTONS[3000])


def test_a_page_that_does_not_answer(page):
    observation, shown = page.click(NEVER, quiet_ms=150)
    assert (observation["settled"], page.changed(observation), shown) == (True, False, EMPTY)


def test_a_page_that_never_rests(page):
    observation, _ = page.click(FOR_EVER, quiet_ms=2000, timeout_ms=2500)
    assert not observation["settled"] and observation["elapsed_ms"] >= 2500 and page.changed(observation)
    left, top, right, bottom = page.result
    mask = [{"x": left, "y": top, "width": right - left, "height": bottom - top}]
    observation = page.session.act(observe={"quiet_ms": 200, "timeout_ms": 20000, "mask": mask})["observation"]
    assert observation["settled"]
    observation, shown = page.click(FOR_EVER, quiet_ms=1000, timeout_ms=20000)
    assert observation["settled"] and shown == EMPTY
