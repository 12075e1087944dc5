# SPDX-License-Identifier: GPL-2.0-or-later
"""typing.html in a browser of a session, and what it tells."""
import json
import pathlib

from conftest import until
from pictures import box, centre

HERE = pathlib.Path(__file__).parent
YELLOW = (0xFF, 0xCC, 0x00)


def open_page(session, address, title, browser="firefox"):
    """A page in a browser that is ready for it: the window has its title, and the screen has come to rest. A press that comes sooner is lost now
    and then."""
    session.do("launch", app=browser, args=[address])
    until(lambda: any(window["title"].startswith(title) for window in session.windows()), within_s=60)
    session.do("wait_settled", quiet_ms=300)


class Page:
    """The page, served inside the jail, in this browser, with the focus in its text area."""

    def __init__(self, session, browser="firefox"):
        self.session = session
        session.run("sh", "-c", "cat >form_server.pl", stdin=(HERE / "form_server.pl").read_text())
        session.run("perl", "form_server.pl", "8000", stdin=(HERE / "typing.html").read_text())
        open_page(session, "http://127.0.0.1:8000/", "typing", browser)
        self.box = until(lambda: box(session.shot(), YELLOW))
        self.place = centre(self.box)
        session.do("click", **self.place)
        until(self.told)

    def told(self):
        """What it has told last: {"text", "clicks"}; None before it has told anything."""
        result = self.session.exec("tail", "-n", "1", "received")
        return json.loads(result["stdout"]) if result["stdout"].endswith("\n") else None

    def wait(self, check):
        return until(lambda: (told := self.told()) and check(told) and told)
