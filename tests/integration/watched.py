# SPDX-License-Identifier: GPL-2.0-or-later
"""events.html in a browser of a session, and the events that it tells."""
import json

from conftest import until
from page import HERE, YELLOW, open_page
from pictures import box, centre


class Watched:
    """The page, served inside the jail, in Firefox, with the focus in its text area."""

    def __init__(self, session):
        self.session = session
        session.run("sh", "-c", "cat >form_server.pl", stdin=(HERE / "form_server.pl").read_text())
        session.run("perl", "form_server.pl", "8000", stdin=(HERE / "events.html").read_text())
        open_page(session, "http://127.0.0.1:8000/", "events")
        self.area = until(lambda: box(session.shot(), YELLOW))
        self.inside = centre(self.area)
        session.do("click", **self.inside)
        until(lambda: any(event["type"] == "click" for event in self.all()))
        self.seen = len(self.all())

    def all(self):
        result = self.session.exec("cat", "received")
        return [json.loads(line) for line in result["stdout"].split("\n")[:-1]] if result["exit_code"] == 0 else []

    def new(self, *kinds, until_type, n=1):
        """The events since the last look, of these kinds (all without any), once there are n of the type `until_type` among them."""
        def look():
            events = self.all()[self.seen:]
            return events if sum(event["type"] == until_type for event in events) >= n else None
        events = until(look)
        self.seen += len(events)
        return [event for event in events if not kinds or event["type"] in kinds]
