# SPDX-License-Identifier: GPL-2.0-or-later
"""The front is killed again and again under load: no session is lost, no call is lost or done twice, no event is missed.

GLOVEBOX_KILLS in the environment says how often; 1,000 take some ten minutes."""
import http.client
import os
import pathlib
import random
import signal
import statistics
import threading
import time

from conftest import until
from stream import Stream
from test_journal import lines

KILLS = int(os.environ.get("GLOVEBOX_KILLS", "25"))
SESSIONS = 3
LOST = (OSError, http.client.HTTPException)


def front_pid(server):
    """The pid of the front, or None while there is none."""
    warden = server.process.pid
    for pid in pathlib.Path(f"/proc/{warden}/task/{warden}/children").read_text().split():
        try:
            if pathlib.Path(f"/proc/{pid}/comm").read_text() == "glovebox-front\n":
                return int(pid)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return None


def new_front(server, than):
    return until(lambda: (pid := front_pid(server)) and pid != than and pid, every_s=0.002)


def answers(server):
    """Asks until there is an answer, as a client does whose connection was cut."""
    while True:
        try:
            return server.api.request("GET", "/livez", timeout_s=20).status
        except LOST:
            time.sleep(0.001)


class Load(threading.Thread):
    """One session with a caller whose calls count up in a file, each sent until it is answered."""

    def __init__(self, session, done):
        super().__init__()
        self.session = session
        self.done = done
        self.n = self.again = self.replayed = 0
        self.error = None

    def send(self):
        body = {"actions": [{"action": "exec", "argv": ["sh", "-c", f"echo {self.n} >>count"]}]}
        while True:
            try:
                return self.session.agent.request("POST", f"{self.session.path}/act", body, headers={"Idempotency-Key": f"k{self.n}"})
            except LOST:
                self.again += 1

    def run(self):
        try:
            while not self.done.is_set():
                reply = self.send()
                assert reply.status == 200 and reply.json["ok"], reply.body
                self.replayed += "Idempotency-Replayed" in reply.headers
                self.n += 1
        except BaseException as error:
            self.error = error


class Watch(threading.Thread):
    """A reader of a session's events that comes back whenever its stream breaks off."""

    def __init__(self, session):
        super().__init__()
        self.session = session
        self.events = []
        self.breaks = 0
        self.error = None

    def run(self):
        last = 0
        try:
            while True:
                try:
                    with Stream(self.session.agent, self.session, last) as stream:
                        while True:
                            self.events.append(stream.next())
                            last = stream.last
                except EOFError:
                    return
                except LOST:
                    self.breaks += 1
        except BaseException as error:
            self.error = error


def kill_fronts(server, n):
    """Kills that many, at any moment of a life: from its first instructions on. How long it took to an answer, for each one that was
    waited for (ms)."""
    chance, times, pid = random.Random(4711), [], front_pid(server)
    for i in range(n):
        os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        pid = new_front(server, pid)
        if i % 5 < 4:
            assert answers(server) == 200
            times.append(1000 * (time.monotonic() - killed))
        time.sleep(chance.uniform(0, 0.15))
    assert answers(server) == 200
    return sorted(times)


def test_a_front_that_keeps_dying(make_server):
    """New ones come at once, but not without end."""
    server = make_server()
    pid, began = front_pid(server), time.monotonic()
    for _ in range(20):
        os.kill(pid, signal.SIGKILL)
        pid = new_front(server, pid)
    assert 1.5 < time.monotonic() - began
    assert answers(server) == 200


def check(server, session, load, watch):
    assert load.error is None and watch.error is None, (load.error, watch.error)
    found = lines(server, session)
    found = [line for line in found if line["event"] != "picture"]
    names = [line["event"] for line in found]
    # The last call of the test itself reads the file.
    assert names == ["start", "ready"] + (load.n + 1) * ["call", "intent", "result"] + ["usage", "end"]
    assert all(line["ok"] for line in found if line["event"] == "result")
    assert [event.number for event in watch.events] == [line["seq"] for line in found]
    assert [event.name for event in watch.events] == names


def test_killed_again_and_again(make_server):
    server = make_server()
    sessions = [server.api.new(image="minimal") for _ in range(SESSIONS)]
    done = threading.Event()
    loads, watches = [Load(session, done) for session in sessions], [Watch(session) for session in sessions]
    for thread in loads + watches:
        thread.start()
    began = time.monotonic()
    times = kill_fronts(server, KILLS)
    took_s = time.monotonic() - began
    done.set()
    for load in loads:
        load.join(60)
    assert server.live_sessions() == {session.id for session in sessions}
    for session, load in zip(sessions, loads):
        assert session.run("cat", "count").split() == [str(i) for i in range(load.n)]
        session.end()
    for watch in watches:
        watch.join(60)
    for session, load, watch in zip(sessions, loads, watches):
        check(server, session, load, watch)
    print(f"{KILLS} kills in {took_s:.0f} s: {sum(load.n for load in loads)} calls, sent again {sum(load.again for load in loads)} times, "
          f"{sum(load.replayed for load in loads)} answered from their records; {sum(len(watch.events) for watch in watches)} events over "
          f"{sum(watch.breaks for watch in watches)} broken streams; from a kill to an answer: median {statistics.median(times):.0f} ms, "
          f"99 of 100 within {times[len(times) * 99 // 100]:.0f} ms, {times[-1]:.0f} ms at most")
