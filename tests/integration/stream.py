# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of server-sent events: of what happens in a session, and of its picture."""
import base64
import io
import json

from PIL import Image

import contract
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

    def __init__(self, api, session, last=None, part="events", **wire):
        self.wire = Wire(api.address, **{"timeout_s": 20, **wire})
        self.target = f"{session.path}/{part}"
        self.wire.send(head(api, target=self.target, last_event_id=last))
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
        # The first block has at most the number: from here on nothing is missed.
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
        if "id" in fields:
            self.last = int(fields["id"])
        if "data" not in fields:
            return None
        data = json.loads(fields["data"])
        contract.check_event("GET", self.target, fields["event"], data)
        return Event(self.last, fields["event"], data)

    def next(self):
        """The next event, which must come before two comments have."""
        before = self.comments
        while not (event := self.block()):
            assert self.comments < before + 2, "nothing new"
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


class Mirror(Stream):
    """The picture of a session, kept by what its stream tells: `picture` is as of the event that was last read."""

    def __init__(self, api, session, query="", **options):
        super().__init__(api, session, part=f"stream{query}", **options)
        self.picture = None

    def next(self):
        event = super().next()
        if event.name == "frame":
            assert event.number == event.data["at"]["frame"]
            self.paste(event.data)
        return event

    def paste(self, data):
        if data["whole"]:
            self.picture = Image.new("RGB", (data["width"], data["height"]))
        assert self.picture.size == (data["width"], data["height"])
        for tile in data["tiles"]:
            size = tile["width"], tile["height"]
            pixels = base64.b64decode(tile["data"])
            part = Image.frombytes("RGB", size, pixels) if tile["format"] == "raw" else Image.open(io.BytesIO(pixels))
            assert part.size == size and part.mode == "RGB"
            assert tile["x"] >= 0 and tile["x"] + size[0] <= data["width"] and tile["y"] >= 0 and tile["y"] + size[1] <= data["height"]
            self.picture.paste(part, (tile["x"], tile["y"]))
