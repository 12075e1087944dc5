# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of server-sent events."""
import json

from raw import Wire, head


class Event:
    def __init__(self, number, name, data):
        self.number = number
        self.name = name
        self.data = data

    def __repr__(self):
        return f"{self.number} {self.name} {self.data}"


class NoStream(AssertionError):
    """The request was refused."""

    def __init__(self, answer):
        self.status = answer.status
        self.code = answer.json["code"]
        super().__init__(answer.body)


class Stream:
    """The events of a session, read with `api`, behind the event `last` (None: from now on)."""

    def __init__(self, api, session, last=None, timeout_s=20):
        self.wire = Wire(api.address, timeout_s)
        self.wire.send(head(api, target=f"{session.path}/events", last_event_id=last))
        self.answer = self.wire.answer(has_body=False)
        if not self.answer:
            raise ConnectionError
        if self.answer.status != 200:
            self.answer.body = self.wire.take(int(self.answer.headers["content-length"]))
            self.close()
            raise NoStream(self.answer)
        self.last = last
        self.text = ""
        self.comments = 0
        # The first block has the number only: from here on nothing is missed.
        assert self.block() is None
        self.start = self.last

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.wire.socket.close()

    def more(self):
        """One chunk more; EOFError after the last one, ConnectionError when the stream breaks off."""
        size = self.wire.take_line()
        if not size:
            raise ConnectionError
        if size == "0":
            raise EOFError
        self.text += self.wire.take(int(size, 16)).decode()
        self.wire.take_line()

    def block(self):
        """The next block as an event; None if it is none."""
        while "\n\n" not in self.text:
            self.more()
        block, _, self.text = self.text.partition("\n\n")
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        self.comments += "" in fields
        self.last = int(fields.get("id", self.last))
        return Event(self.last, fields["event"], json.loads(fields["data"])) if "data" in fields else None

    def next(self):
        while not (event := self.block()):
            pass
        return event

    def take(self, n):
        return [self.next() for _ in range(n)]

    def rest(self):
        """All events up to the end."""
        events = []
        while True:
            try:
                events.append(self.next())
            except EOFError:
                return events
