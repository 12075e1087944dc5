# SPDX-License-Identifier: GPL-2.0-or-later
"""A picture that a caller keeps by what the stream tells is the one that a screenshot shows."""
import contextlib
import itertools
import os
import random
import re
import signal
import sys

import pytest
from PIL import ImageChops, ImageStat

import jail
from api import Api, in_thread
from conftest import TREE, until
from raw import Wire, assert_problem, ask, head
from stream import Mirror, NoStream
from test_events import front_of, n_connections
from test_seeing import BACKGROUND, difference, shot

sys.path.insert(0, str(TREE / "tests"))
from readme import block  # noqa: E402

# As what a stream is asked for; the picture of each is checked against a screenshot of the same parameters.
VIEWS = ["", "?format=raw&cursor=false", "?space=640x400", "?format=webp&space=1000x333", "?region=100,50,301,207",
         "?region=200,100,640,480&space=native&cursor=false", "?format=raw&region=7,9,1111,773&space=411x999"]
CHANGES = 50


def frame_of(reply):
    return int(reply.headers["Glovebox-At"].split(",")[0].removeprefix("frame="))


class Check:
    """Compares one stream with screenshots of the same parameters."""

    def __init__(self, session, query, mirror):
        self.session = session
        self.query = re.sub("format=[a-z]*&", "", query)  # as PNG
        self.mirror = mirror
        self.same_frame = 0

    def catch_up(self):
        """Reads events until the picture is that of a screenshot that was taken before. Pictures of one frame are the same at once."""
        reply, picture = shot(self.session, self.query)
        while self.mirror.last < frame_of(reply) and difference(self.mirror.picture, picture):
            self.mirror.next()
        if self.mirror.last > frame_of(reply):
            return self.catch_up()
        assert difference(self.mirror.picture, picture) is None, f"{self.query}: frame {self.mirror.last} is not frame {frame_of(reply)}"
        self.same_frame += self.mirror.last == frame_of(reply)
        return picture


def memory(session):
    """Of the session's stage, in KiB."""
    with open(f"/proc/{jail.part(session.id, 'glovebox-stage')}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1])


def change(session, random_):
    """Something that changes the screen, the pointer, or nothing."""
    x, y = random_.randrange(1280), random_.randrange(800)
    return random_.choice([
        {"action": "move", "x": x, "y": y},
        {"action": "type", "text": random_.choice("abcdefgh") * random_.randrange(1, 9)},
        {"action": "type", "text": "\n"},
        {"action": "type", "text": f"seq {random_.randrange(100)}\n"},
        {"action": "scroll", "x": 300, "y": 300, "dx": 0, "dy": random_.randrange(-4, 5) or 1},
        {"action": "key", "keys": "ctrl+l"},
        {"action": "click", "x": x, "y": y, "button": random_.choice(["left", "right"])},
        {"action": "key", "keys": "Escape"},
        {"action": "drag", "path": [[300, 300], [x, y]]},
    ])


def test_it_is_what_a_screenshot_shows(make_session):
    """Exactly, to the last pixel, whatever changes, in all spaces, with the pointer and without it."""
    session = make_session(apps=["terminal"])
    random_ = random.Random(4)
    with contextlib.ExitStack() as stack:
        checks = [Check(session, view, stack.enter_context(Mirror(session.agent, session, view))) for view in VIEWS]
        for check in checks:
            first = check.mirror.next()
            assert first.name == "frame" and first.data["whole"] and len(first.data["tiles"]) == 1
        for _ in range(CHANGES):
            for _ in range(random_.randrange(1, 4)):
                session.try_act(change(session, random_))
            for check in random_.sample(checks, 2):
                check.catch_up()
        for check in checks:
            check.catch_up()
    assert sum(check.same_frame for check in checks) > CHANGES


def test_what_an_event_says(session):
    with Mirror(session.agent, session, "?cursor=false&space=640x400") as mirror:
        assert mirror.answer.headers["content-type"] == "text/event-stream"
        data = mirror.next().data
        assert data["at"] == {"frame": mirror.last, "epoch": 1, "episode": 1}
        assert (data["space"], data["native"]) == ({"width": 1280, "height": 800}, {"width": 1280, "height": 800})
        assert (data["width"], data["height"], data["whole"]) == (640, 400, True)
        tile, = data["tiles"]
        assert {key: tile[key] for key in ("x", "y", "width", "height", "format")} == {"x": 0, "y": 0, "width": 640, "height": 400, "format": "png"}
        assert mirror.picture.getcolors() == [(640 * 400, BACKGROUND)]
        session.act({"action": "launch", "app": "terminal"})
        data = mirror.next().data
        assert not data["whole"] and 1 <= len(data["tiles"]) <= 16


def test_jpeg(session):
    """Its tiles are of the quality that is asked for, and fit."""
    session.act({"action": "launch", "app": "terminal"}, observe={"picture": "none"})
    sizes = []
    for quality in 10, 95:
        with Mirror(session.agent, session, f"?format=jpeg&quality={quality}") as mirror:
            event = mirror.next()
            sizes.append(len(event.data["tiles"][0]["data"]))
            session.act({"action": "move", "x": 300, "y": 400 + quality}, {"action": "type", "text": "ls /\n"}, observe={"picture": "none"})
            picture = session.shot()

            def error(mirror=mirror, picture=picture):
                return sum(ImageStat.Stat(ImageChops.difference(mirror.picture, picture)).mean) / 3
            while error() > 30 / quality:
                mirror.next()
            assert {tile["format"] for tile in event.data["tiles"]} == {"jpeg"}
    assert sizes[0] * 2 < sizes[1]


def test_the_pointer(session):
    """It is where it was and where it is: two small rectangles, of one event; without it there is none."""
    session.do("move", x=100, y=100)
    with Mirror(session.agent, session) as mirror, Mirror(session.agent, session, "?cursor=false") as without:
        mirror.next()
        without.next()
        for x, y in (600, 400), (1279, 799), (0, 0):
            session.do("move", x=x, y=y)
            data = mirror.next().data
            assert not data["whole"] and len(data["tiles"]) == 2
            assert all(tile["width"] < 64 and tile["height"] < 64 for tile in data["tiles"])
            assert difference(mirror.picture, session.shot()) is None
        # The one that has no pointer was told nothing of all that: its next event is another change.
        session.act({"action": "launch", "app": "terminal"})
        assert without.next().data["tiles"][0]["width"] >= 64


def test_a_still_screen(server, session):
    """Nothing is sent, and no process works, while nothing happens."""
    def ticks():
        return sum(int(field) for pid in (jail.part(session.id, "glovebox-stage"), front_of(server))
                   for field in open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[11:13])
    with Mirror(session.agent, session, timeout_s=30) as mirror:
        mirror.next()
        before = ticks()
        assert mirror.block() is None and mirror.comments == 1
        assert ticks() - before <= 2


def test_parameters_that_are_refused(session):
    for query, pointer in [("max_fps=0", "/max_fps"), ("max_fps=61", "/max_fps"), ("max_fps=", "/max_fps"), ("max_fps=1e1", "/max_fps"),
                           ("max_fps=-1", "/max_fps"), ("max_fps=030", "/max_fps"), ("cursor=maybe", "/cursor"), ("region=1,2,3", "/region"),
                           ("region=0,0,1281,1", "/region"), ("space=0x9", "/space/width"), ("format=gif", "/format"), ("quality=50", "/quality"), ("format=jpeg&quality=0", "/quality")]:
        answer = ask(session.agent, head(session.agent, target=f"{session.path}/stream?{query}"))
        assert assert_problem(answer, 400, "bad_field")["pointer"] == pointer
    for query in "fps=3", "max_bytes=100000", "compression=small":
        answer = ask(session.agent, head(session.agent, target=f"{session.path}/stream?{query}"))
        assert "max_fps" in answer.json["detail"] and answer.status == 400


def test_who_may_read(server, session, make_session):
    other = make_session()
    for role in "viewer", "controller":
        with pytest.raises(NoStream) as refused:
            Mirror(Api(server.url, session.tokens[role]), session)
        assert refused.value.code == "forbidden"
    with pytest.raises(NoStream) as refused:
        Mirror(session.agent, other)
    assert refused.value.code == "forbidden"
    for api in session.agent, server.api:
        with Mirror(api, session) as mirror:
            assert mirror.next().data["whole"]


def test_the_number_of_readers(session):
    """Sixteen, those of the events among them; all are told the same, and one that leaves makes room."""
    with contextlib.ExitStack() as stack:
        mirrors = [stack.enter_context(Mirror(session.agent, session)) for _ in range(16)]
        for part in "stream", "events":
            answer = ask(session.agent, head(session.agent, target=f"{session.path}/{part}"))
            assert_problem(answer, 429, "limit_reached")
        session.do("move", x=100, y=100)
        picture = session.shot()
        for mirror in mirrors:
            while not mirror.picture or difference(mirror.picture, picture):
                mirror.next()
        mirrors[0].close()

        def open_one():
            with contextlib.suppress(NoStream):
                return stack.enter_context(Mirror(session.agent, session))
        assert until(open_one).next().data["whole"]


def test_coming_back(session):
    """With the last id or without it, there and then: a whole picture."""
    with Mirror(session.agent, session) as mirror:
        mirror.next()
    for last in mirror.last, 0, 10 ** 17, "x":
        with Mirror(session.agent, session, last=last) as mirror:
            assert mirror.next().data["whole"]


def test_a_pause(session):
    """No frame while the session is paused, and the same stream goes on after it."""
    with Mirror(session.agent, session, "?cursor=false") as mirror:
        mirror.next()
        session.exec("sh", "-c", "(while :; do date; done) >/dev/null 2>&1 &")
        session.api.call("POST", f"{session.path}/pause")
        with pytest.raises(NoStream) as refused:
            Mirror(session.agent, session)
        assert refused.value.code == "paused"
        session.api.call("POST", f"{session.path}/resume")
        session.act({"action": "launch", "app": "terminal"})
        assert mirror.next().name == "frame"


@pytest.mark.parametrize("reason, spec", [("deleted", {}), ("ttl", {"ttl_s": 3})])
def test_the_end(make_session, reason, spec):
    session = make_session(**spec)
    with Mirror(session.agent, session) as mirror:
        mirror.next()
        if reason == "deleted":
            session.end()
        *_, end = mirror.rest()
    assert (end.name, end.data) == ("end", {"state": "ended", "reason": reason})


def test_a_display_that_dies(make_session):
    session = make_session()
    with Mirror(session.agent, session) as mirror:
        mirror.next()
        os.kill(jail.part(session.id, "Xvfb"), signal.SIGKILL)
        with contextlib.suppress(ConnectionError):
            *_, end = mirror.rest()
            assert (end.name, end.data["state"]) == ("end", "failed") and end.data["reason"]


def test_after_the_front_was_killed(make_server):
    """The stream breaks off, and who comes back has the whole picture."""
    server = make_server()
    session = server.api.new(image="minimal")
    with Mirror(session.agent, session) as mirror:
        mirror.next()
        os.kill(front_of(server), signal.SIGKILL)
        with pytest.raises(ConnectionError):
            mirror.rest()
    with Mirror(session.agent, session, last=mirror.last) as mirror:
        assert mirror.next().data["whole"]
    session.end()


def test_a_token_that_is_revoked(session):
    """Its stream is cut at once, others go on."""
    made = session.api.call("POST", f"{session.path}/tokens", {"role": "agent"})
    with Mirror(Api(session.api.url, made["token"]), session) as mirror, Mirror(session.agent, session) as other:
        mirror.next()
        other.next()
        session.api.call("DELETE", f"{session.path}/tokens/{made['id']}")
        with pytest.raises(ConnectionError):
            mirror.rest()
        session.do("move", x=300, y=300)
        assert other.next().name == "frame"


def test_readers_that_do_not_read(server, make_session):
    """Four that take nothing change nothing for others. One that reads on has the newest picture soon, not a queue; the others are cut off."""
    session = make_session()
    session.act({"action": "launch", "app": "terminal"})
    with contextlib.ExitStack() as stack:
        before = n_connections(server)
        stopped = [stack.enter_context(Mirror(session.agent, session, receive_bytes=4096)) for _ in range(4)]
        reader = stack.enter_context(Mirror(session.agent, session, timeout_s=60))
        thread, events = in_thread(reader.rest)
        session.do("type", text="PS1=; clear; SECONDS=0; while [ $SECONDS -lt 5 ]; do seq 60; done; clear; touch ended\n")
        until(lambda: session.exec("test", "-e", "ended")["exit_code"] == 0)
        assert session.act(observe={"timeout_ms": 30000, "picture": "none"})["observation"]["settled"]
        slow, n_frames, picture = stopped[0], 0, session.shot()
        while not slow.picture or difference(slow.picture, picture):
            slow.next()
            n_frames += 1
        place = itertools.cycle(((100, 700), (700, 700)))

        def are_cut_off():
            """Once there is more for them than buffers hold: so there is always something new."""
            x, y = next(place)
            session.do("move", x=x, y=y)
            return n_connections(server) <= before + 4  # two readers have one to the front and one to the stage each

        until(are_cut_off, within_s=60)
        picture = session.shot()
        until(lambda: difference(reader.picture, picture) is None)
        session.end()
        thread.join()
    assert n_frames < 10 < len(events[0])


def test_the_largest_frames(session):
    """Readers that ask for as much as there is and take none of it: others are told all the same, and none of it is made for the next ones."""
    before = memory(session)
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(Mirror(session.agent, session, "?format=raw&space=4096x4096", receive_bytes=4096))
        mirror = stack.enter_context(Mirror(session.agent, session))
        mirror.next()
        for x in range(100, 1100, 100):
            session.do("move", x=x, y=x // 2)
            mirror.next()
        Check(session, "", mirror).catch_up()
        assert memory(session) - before < 300 * 1024


def test_readers_that_leave_in_the_middle(session):
    """Of the head, of a frame, of a chunk: nothing is left of them."""
    for n in 1, 200, 1000, 5000:
        for _ in range(8):
            with Wire(session.agent.address, receive_bytes=4096) as wire:
                wire.send(head(session.agent, target=f"{session.path}/stream"))
                wire.take(n)

    def all_fit():
        with contextlib.suppress(NoStream), contextlib.ExitStack() as stack:
            return [stack.enter_context(Mirror(session.agent, session)) for _ in range(16)]
    until(all_fit)
    session.do("move", x=1, y=1)


def test_the_example(session):
    """That of docs/pictures.md, as it stands there, until it has a frame."""
    names = {"API": f"{session.api.url}/v1/sessions", "ID": session.id, "TOKEN": session.agent.token}
    session.do("move", x=300, y=300)
    expected = session.shot()
    exec(block("stream") + "    if data: break\n", names)  # noqa: S102: it is ours
    assert difference(names["picture"], expected) is None


def test_head(session):
    answer = ask(session.agent, head(session.agent, "HEAD", f"{session.path}/stream"), has_body=False)
    assert answer.status == 200 and answer.headers["content-type"] == "text/event-stream"
