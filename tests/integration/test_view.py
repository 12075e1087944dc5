# SPDX-License-Identifier: GPL-2.0-or-later
"""Viewers through the whole server: what they see, what they may do, what becomes of them (V05, V07, V12)."""
import contextlib
import os
import pathlib
import re
import secrets
import signal
import struct
import threading
import time

import pytest
from PIL import ImageChops

import rfb
from api import Refused, picture_of
from conftest import until
from jail import leak_cookie, processes
from memory import copies, holders
from rfb import ALT, CLIPBOARD, COPY, CTRL, CURSOR, DESKTOP_SIZE, EXT_SIZE, LAST_RECT, QUALITY_6, RAW, SHIFT, TIGHT, ZRLE, Closed
from terminal import RawTerminal
from test_front_kills import answers, front_pid, new_front
from test_lease import Person

TEXT = "naïve 日本 🙂 \"$((40+2))\" `x` \\ é€ {[|]}~@"
RELEASE_S = 2


@pytest.fixture(scope="module")
def shared(server):
    session = server.api.new(image="desktop", apps=["terminal"])
    yield session
    session.end()


def shot(session, **query):
    fields = "&".join(f"{name}={value}" for name, value in query.items())
    return picture_of(session.agent.request("GET", f"{session.path}/screenshot?{fields}").body)


def difference(a, b):
    """The largest one of any channel of any pixel."""
    return max(high for _, high in ImageChops.difference(a, b).getextrema())


def views(session):
    """The processes of its viewers."""
    return {pid for pid, name in processes(session.id).items() if name == "glovebox-view"}


@contextlib.contextmanager
def holding(session, encodings=(RAW,), **fields):
    """A viewer whose person has the controls."""
    person = Person(session)
    with rfb.watch(session, encodings=encodings) as viewer:
        person.take(viewer=viewer.viewer, **{"kind": "other", "keep_running": True, **fields})
        try:
            yield viewer, person
        finally:
            if person.lease()["holder"] != "agent":
                person.give()
                session.act(observe={"quiet_ms": 0})


@pytest.mark.parametrize("encodings, far", [
    ((RAW,), 0), ((ZRLE, LAST_RECT), 0), ((TIGHT,), 0), ((TIGHT, COPY, LAST_RECT), 0), ((TIGHT, QUALITY_6), 60)], ids=str)
def test_the_picture_is_the_screens(shared, encodings, far):
    """Every encoding gives what the agent's own picture has, with the pointer apart."""
    shared.do("move", x=1279, y=799)
    shared.do("wait_settled", quiet_ms=300)
    with rfb.watch(shared, encodings=(*encodings, CURSOR)) as viewer:
        whole = viewer.whole().copy()
        assert {kind for kind, *_ in viewer.rects} & {encodings[0]}
        assert difference(whole, shot(shared, cursor="false")) <= far
        # And what changes comes by itself.
        shared.act({"action": "type", "text": "echo seen\n"}, {"action": "wait_settled"})
        want = shot(shared, cursor="false")
        viewer.until(lambda: difference(viewer.picture, want) <= far)


def test_the_pointer(shared):
    """Its image with its hot spot for who draws it, in the picture for who does not."""
    shared.do("move", x=40, y=700)
    with rfb.watch(shared, encodings=(RAW, CURSOR)) as viewer, rfb.watch(shared, encodings=(RAW,)) as old:
        viewer.whole()
        viewer.until(lambda: viewer.cursor and viewer.cursor[2] > 0)
        want = shot(shared)
        old.whole()
        old.until(lambda: difference(old.picture.crop((0, 660, 100, 740)), want.crop((0, 660, 100, 740))) <= 8)
        shared.do("move", x=60, y=700)
        want = shot(shared)
        old.until(lambda: difference(old.picture.crop((0, 660, 100, 740)), want.crop((0, 660, 100, 740))) <= 8)


def test_a_still_screen_costs_nothing(shared):
    """Nobody runs while nothing changes: neither stage nor view."""
    shared.do("wait_settled", quiet_ms=500)
    with rfb.watch(shared, encodings=(RAW, CURSOR)) as viewer:
        viewer.whole()
        viewer.until(lambda: viewer.cursor)
        viewer.request()
        pid, = views(shared)

        def switches():
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            return [line for line in status.splitlines() if "ctxt_switches" in line]

        def stands_still():
            before = switches()
            time.sleep(1)  # it is this second that is measured
            return switches() == before
        until(stands_still, within_s=5)


def test_where_it_lives(server, shared):
    """A uid of its own for each, no network, no file, no capability, not to be looked into."""
    with rfb.watch(shared) as one, rfb.watch(shared) as two:
        assert one.viewer != two.viewer
        pids = views(shared)
        assert len(pids) == 2
        uids = {os.stat(f"/proc/{pid}").st_uid for pid in pids}
        for pid in pids:
            status = dict(line.split(":\t") for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
            uid = int(status["Uid"].split()[0])
            uids.add(uid)
            assert uid > 1_900_000_000 and status["CapEff"] == status["CapBnd"] == "0000000000000000"
            assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
            assert os.listdir(f"/proc/{pid}/root/") in ([], ["etc", "usr"], []) or not any(pathlib.Path(f"/proc/{pid}/root/usr").iterdir())
            assert re.search(r"Max core file size +0 +0 ", pathlib.Path(f"/proc/{pid}/limits").read_text())
            assert pathlib.Path(f"/proc/{pid}/net/dev").read_text().count(":") == 1  # lo
            assert "views" in pathlib.Path(f"/proc/{pid}/cgroup").read_text()
        assert len(uids - {0}) == 2
    until(lambda: not views(shared))


def written(session):
    """All that is in the editor, by the agent's own keys."""
    session.act({"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})
    return session.do("clipboard_get")["text"]


def test_a_person_types(make_session):
    """Every sign as it is meant, whatever the layout has, and shortcuts with what the viewer holds."""
    session = make_session("desktop", apps=["editor"])
    with holding(session) as (viewer, _):
        viewer.type(TEXT)
        # A viewer that says Shift where its own layout needs it, and not where it does not.
        viewer.key(SHIFT, True)
        viewer.tap(ord("A"), ord("/"), ord("7"))
        viewer.key(SHIFT, False)
        viewer.type("\nlast")
        viewer.key(CTRL, True)
        viewer.tap(rfb.BACKSPACE)
        viewer.key(CTRL, False)
        viewer.type("end")
        settle(viewer)
    assert written(session) == TEXT + "A/7\nend"


def settle(viewer):
    """Until all that was said has been taken: what a view asks for is done in order, and the last thing is a size that is refused."""
    viewer.set_encodings(*viewer.encodings, EXT_SIZE)
    viewer.until(lambda: viewer.layout, incremental=False)
    viewer.layout = None
    viewer.resize(1, 1)
    viewer.until(lambda: viewer.layout and viewer.layout[0] == 1)


def test_one_who_only_looks(shared):
    """Keys, buttons and texts of a viewer, in any framing, reach nothing; also of one who could have the controls and has not."""
    terminal = RawTerminal(shared)
    shared.do("move", x=600, y=600)
    for role in ("viewer", "controller"):
        with rfb.watch(shared, role=role, encodings=(RAW, CLIPBOARD, EXT_SIZE)) as viewer:
            viewer.whole()
            viewer.type("no")
            viewer.click(100, 100)
            viewer.cut("no")
            viewer.cut_flags(rfb.NOTIFY | 1)
            viewer.resize(640, 480)
            viewer.until(lambda: viewer.layout and viewer.layout[0] == 1)
            assert viewer.layout[1] == 1  # prohibited
            assert (viewer.width, viewer.height) == (1280, 800)
    assert (shared.do("cursor_position")["x"], shared.do("cursor_position")["y"]) == (600, 600)
    assert shared.do("clipboard_get")["text"] != "no"
    terminal.expect("yes")


@pytest.mark.parametrize("way", ["close", "reset", "kill"])
def test_who_goes_lets_go(make_session, way):
    """V07: Ctrl and a button are down, and the viewer is gone: FIN, RST, or the view's own death. The next one types plain letters."""
    session = make_session("desktop", apps=["terminal"])
    terminal = RawTerminal(session)
    person = Person(session)
    viewer = rfb.watch(session)
    person.take(viewer=viewer.viewer, kind="other", keep_running=True)
    viewer.pointer(500, 400, 1)
    for keysym in (CTRL, ALT, SHIFT):
        viewer.key(keysym, True)
    with rfb.watch(session) as other:
        other.whole()
        began = time.monotonic()
        if way == "kill":
            os.kill(min(views(session)), signal.SIGKILL)  # the first one's: numbers grow
        else:
            getattr(viewer.stream, way)()
        until(lambda: person.lease()["viewer"] is None, within_s=RELEASE_S)
        assert time.monotonic() - began < RELEASE_S
        # The same person, by another viewer.
        person.take(viewer=other.viewer)
        other.pointer(500, 400)
        other.type("f")
        settle(other)
        person.give()
    session.act(observe={"quiet_ms": 0})
    assert terminal.got(1) == b"f"


@pytest.mark.parametrize("text", [TEXT, "line\nline\n", "x" * 100_000], ids=["signs", "lines", "long"])
def test_clipboard_of_a_holder(make_session, text):
    """V12: exact both ways with the extension: pasted into an app, and cut there."""
    session = make_session("desktop", apps=["editor"])
    with holding(session, encodings=(RAW, CLIPBOARD)) as (viewer, _):
        viewer.whole()
        viewer.offer(text)
        empty = viewer.whole().copy()
        shortcut(viewer, "v")
        # The app asks for it and goes on: what is pressed before it is there meets an empty page.
        viewer.until(lambda: difference(viewer.picture, empty) > 0)
        settle(viewer)
        shortcut(viewer, "a")
        shortcut(viewer, "x")
        viewer.until(lambda: viewer.text is not None)
        assert viewer.text == text


def shortcut(viewer, letter):
    viewer.key(CTRL, True)
    viewer.tap(ord(letter))
    viewer.key(CTRL, False)


def test_clipboards_go_back(shared):
    """What a person copied is not the agent's; what the agent had is there again."""
    shared.do("clipboard_set", text="the agent's")
    with holding(shared, encodings=(RAW, CLIPBOARD)) as (viewer, _):
        viewer.whole()
        viewer.offer("S3cret-Canary")
        viewer.whole()
    assert shared.do("clipboard_get")["text"] == "the agent's"
    assert "S3cret-Canary" not in str(shared.do("clipboard_get", selection="primary"))


def test_nothing_is_left_for_all_to_read(shared):
    """Neither in the cut buffers, which nobody owns, nor in the map of the keys, where signs that the layout lacks were."""
    shared.run("sh", "-c", "cat >spy.pl", stdin=(pathlib.Path(__file__).parent / "spy.pl").read_text())
    leak_cookie(shared)

    def left():
        return shared.run("env", "XAUTHORITY=leaked", "perl", "spy.pl", "left", "-")
    before = left()
    assert before.startswith("keys ") and len(before.split()) > 200
    with holding(shared) as (viewer, _):
        viewer.type("日本語é€")
        viewer.cut("S3cret-Canary")
        settle(viewer)
    # Signs stay on their keys until a terminal, which does not say when, must have read them.
    until(lambda: left() == before)
    assert "cut" not in before


def test_what_was_pasted_stays_in_no_memory(server, shared):
    """Neither where it came in, nor on its way, nor where it was until the person gave back."""
    text = secrets.token_hex(1000)
    pieces = [text[at:at + 24].encode() for at in (0, 976, 1976)]
    with holding(shared) as (viewer, _):
        viewer.cut(text)
        until(lambda: holders(server, pieces[1]))
        viewer.whole()
    assert [holders(server, piece) for piece in pieces] == [set()] * 3


def test_what_was_copied_stays_in_no_memory(server, make_session):
    """What a person has copied out of an app is with that app and the viewer."""
    session = make_session("desktop", apps=["editor"])
    text = secrets.token_hex(40)
    with holding(session) as (viewer, _):
        viewer.whole()
        viewer.type(text)
        shortcut(viewer, "a")
        shortcut(viewer, "c")
        viewer.until(lambda: viewer.text is not None)
        viewer.whole()
        assert viewer.text == text
    needle = text[8:40].encode()
    assert not holders(server, needle, but=("mousepad", "Xvfb", "glovebox-stage"))
    # libxcb keeps what it has read until it reads more: that is one, and there is no other.
    assert copies(server, "glovebox-stage", needle) <= 1


def test_a_text_copied_in_the_session(make_session):
    """It goes to the holder and to nobody else; and old viewers get what Latin-1 has."""
    session = make_session("desktop", apps=["editor"])
    with rfb.watch(session, encodings=(RAW, CLIPBOARD)) as watcher, holding(session) as (viewer, _):
        watcher.whole()
        viewer.whole()
        viewer.type("naïve 日本")
        shortcut(viewer, "a")
        shortcut(viewer, "c")
        viewer.until(lambda: viewer.text is not None)
        assert viewer.text == "naïve ??"
        watcher.whole()
        assert watcher.text is None


def test_sizes(make_session):
    """The viewer's picture follows the display; a holder may ask for another size, within the most that it can have."""
    session = make_session("minimal", display={"width": 800, "height": 600, "max_width": 1024, "max_height": 768})
    with rfb.watch(session, encodings=(RAW, EXT_SIZE)) as watcher, rfb.watch(session, encodings=(RAW, DESKTOP_SIZE)) as old:
        for viewer in (watcher, old):
            viewer.whole()
        session.do("resize_display", width=640, height=480)
        for viewer in (watcher, old):
            viewer.until(lambda: (viewer.width, viewer.height) == (640, 480))
            assert viewer.whole().size == (640, 480)
        with holding(session, encodings=(RAW, EXT_SIZE)) as (viewer, _):
            viewer.whole()
            viewer.resize(1000, 700)
            viewer.until(lambda: viewer.layout[:2] == (1, 0))
            viewer.resize(1025, 700)
            viewer.until(lambda: viewer.layout[1] != 0)
            assert (viewer.width, viewer.height) == (1000, 700)
            # An agent is told nothing of it while the hold lasts.
            state = session.agent.call("GET", session.path)
            assert [state["display"][side] for side in ("width", "height")] == [640, 480]
            assert state["space"] == {"width": 640, "height": 480}
    display = session.agent.call("GET", session.path)["display"]
    assert (display["width"], display["height"]) == (1000, 700)


def test_a_login_is_seen_by_the_holder_alone(make_session):
    """Security 20: others keep the picture that they had; afterwards they see again."""
    session = make_session("desktop", apps=["editor"])
    with rfb.watch(session, encodings=(RAW, CURSOR)) as watcher:
        before = watcher.whole().copy()
        with holding(session, encodings=(RAW, CURSOR), kind="login") as (viewer, _):
            viewer.whole()
            viewer.type("hidden\n")
            viewer.until(lambda: difference(viewer.picture, before) > 0)
            late = rfb.watch(session, encodings=(RAW, CURSOR))
            assert late.whole().getbbox() is None  # black
            assert difference(watcher.whole(), before) == 0
            late.close()
        session.do("wait_settled", quiet_ms=300)
        watcher.until(lambda: difference(watcher.picture, before) > 0)


@pytest.mark.parametrize("message", [
    b"\6\0\0\0\xff\xff\xff\xff" + b"x" * 8, b"\6\0\0\0\x7f\xff\xff\xff", b"\6\0\0\0\x11\xe1\xa3\0", b"\6\0\0\0\0\4\0\1", b"\x08\0\0\0", b"\x07", b"\x0b\0\0\0",
    b"\xfa\0\1\2", b"\2\0\xff\xff", b"\xfb\0\0\0\0\0\xff\0", b"\xff" * 64], ids=lambda message: message[:8].hex())
def test_hostile_messages(shared, message):
    """V05: closed at the head of the message, and nobody else notices."""
    with rfb.watch(shared) as other:
        other.whole()
        viewer = rfb.watch(shared)
        viewer.whole()
        viewer.send(message)
        with pytest.raises(Closed):
            while True:
                viewer.message()
        viewer.close()
        other.whole()


def test_four_that_do_not_read(shared):
    """They stand still by themselves: another viewer and the agent notice nothing, and memory stays what it was."""
    stuck = [rfb.watch(shared, encodings=(RAW,)) for _ in range(4)]
    for viewer in stuck:
        for _ in range(64):
            viewer.request(incremental=False)
    try:
        with rfb.watch(shared, encodings=(RAW, CURSOR)) as viewer:
            slowest = 0
            for _ in range(5):
                began = time.monotonic()
                shared.act({"action": "type", "text": "x"}, {"action": "wait_settled", "quiet_ms": 0})
                viewer.whole()
                slowest = max(slowest, time.monotonic() - began)
            assert slowest < 5
        until(lambda: len(views(shared)) == 4, within_s=RELEASE_S)  # the fifth ends
        for pid in views(shared):
            rss = int(next(line.split()[1] for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")))
            assert rss < 64 * 1024
    finally:
        for viewer in stuck:
            viewer.close()
    until(lambda: not views(shared), within_s=RELEASE_S)


def test_one_that_says_too_much(shared):
    """What nobody has the controls for is thrown away, and others are served meanwhile."""
    flood = struct.pack(">BBHH", 5, 0, 1, 1) * 20_000
    with rfb.watch(shared) as viewer:
        viewer.whole()
        done = threading.Event()

        def say():
            with contextlib.suppress(OSError):
                while not done.is_set():
                    viewer.send(flood)
        thread = threading.Thread(target=say)
        thread.start()
        try:
            began = time.monotonic()
            for _ in range(20):
                shared.do("cursor_position")
            assert time.monotonic() - began < 5
        finally:
            done.set()
            thread.join()


def test_a_front_that_dies(server, make_session):
    """Its viewers' connections end with it, and their views; by the new one they come back."""
    session = make_session("minimal")
    with rfb.watch(session) as viewer:
        viewer.whole()
        pid = front_pid(server)
        os.kill(pid, signal.SIGKILL)
        until(lambda: not views(session), within_s=RELEASE_S)
        new_front(server, pid)
    until(lambda: answers(server))
    with rfb.watch(session) as viewer:
        viewer.whole()


def test_no_view_outlives_the_server(make_server):
    server = make_server()
    session = server.api.new(image="minimal")
    viewer = rfb.watch(session)
    viewer.whole()
    pids = views(session)
    server.kill(signal.SIGKILL)
    server.assert_nothing_runs(within_s=RELEASE_S)
    viewer.close()
    assert pids


def test_at_most_sixteen(make_session):
    session = make_session("minimal")
    viewers = [rfb.watch(session) for _ in range(16)]
    with pytest.raises(Refused) as refused:
        rfb.ticket(session)
    assert (refused.value.status, refused.value.code) == (429, "viewer_limit")
    for viewer in viewers:
        viewer.close()
    until(lambda: not views(session))
    with rfb.watch(session) as viewer:
        viewer.whole()


def test_the_end_of_the_session(server, make_session):
    """Its viewers' processes go with it, and they are told."""
    session = make_session("minimal")
    viewer = rfb.watch(session)
    viewer.whole()
    pids = views(session)
    session.end()
    with pytest.raises(Closed):
        while True:
            viewer.request()
            viewer.message()
    assert pids and not [pid for pid in pids if pathlib.Path(f"/proc/{pid}").exists()]


def test_no_core_file(make_server):
    """Each process that has what a person types is felled by SIGSEGV: none leaves its memory on a disk."""
    assert not pathlib.Path("/proc/sys/kernel/core_pattern").read_text().startswith("|"), "a program of this host's takes core files, and gets them by no file"
    server = make_server()
    session = server.api.new(image="minimal", apps=["editor"])
    with rfb.watch(session, encodings=(RAW,)) as viewer:
        Person(session).take(viewer=viewer.viewer, kind="other")
        viewer.type("S3cret-Canary")
        settle(viewer)
        sought = {name: pid for pid, name in processes(session.id).items() if name in ("mousepad", "Xvfb", "glovebox-view", "glovebox-stage")}
        sought["glovebox-front"] = front_pid(server)
        assert len(sought) == 5, sought
        folders = {name: os.open(f"/proc/{pid}/cwd", os.O_RDONLY) for name, pid in sought.items()}
        for name in ("mousepad", "glovebox-view", "glovebox-front", "glovebox-stage", "Xvfb"):
            if is_first(sought[name]):
                # The kernel lets nobody send it such a signal.
                assert re.search(r"Max core file size +[01] +[01] ", pathlib.Path(f"/proc/{sought[name]}/limits").read_text()), name
                continue
            with contextlib.suppress(ProcessLookupError):
                os.kill(sought[name], signal.SIGSEGV)
            until(lambda name=name: is_over(sought[name]))
    found = {name: [file for file in os.listdir(folder) if file.startswith("core")] for name, folder in folders.items()}
    for folder in folders.values():
        os.close(folder)
    assert not any(found.values()), found


def is_first(pid):
    """Of a pid namespace of its own."""
    with contextlib.suppress(FileNotFoundError):
        return re.search(r"^NSpid:.*\t1$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
    return False


def is_over(pid):
    try:
        return ") Z " in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
