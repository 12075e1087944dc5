# SPDX-License-Identifier: GPL-2.0-or-later
"""The real server on a port of its own, with a state folder of its own, and sessions of it."""
import contextlib
import ctypes
import os
import pathlib
import resource
import select
import selectors
import signal
import subprocess
import time

import pytest

import contract
from api import Api, Refused

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GLOVEBOX_BUILD", TREE / "build"))
IMAGES = pathlib.Path(os.environ.get("GLOVEBOX_IMAGES", "/var/lib/glovebox/images"))
START_S = 30
STOP_S = 30
PR_SET_CHILD_SUBREAPER = 36


def cannot_run(reason):
    """A test that cannot run is a failure where CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"cannot run here: {reason}", pytrace=False)
    pytest.skip(reason)


def children():
    """The children of this process: what a server left behind comes to it, since it is a subreaper. A thread that ends meanwhile
    hands its children to another: then they are listed again."""
    while True:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            tasks = list(pathlib.Path("/proc/self/task").iterdir())
            return {int(pid) for task in tasks for pid in (task / "children").read_text().split()}


def ended(pid, deadline):
    """True if the child has ended, or does so before the deadline; it is reaped."""
    handle = os.pidfd_open(pid)
    try:
        return bool(select.select([handle], [], [], max(0, deadline - time.monotonic()))[0]) and os.waitpid(pid, 0)[0] == pid
    finally:
        os.close(handle)


def until(check, within_s=60, every_s=0.05):
    """The first true value of check(), asked for again and again; a failure after `within_s`."""
    deadline = time.monotonic() + within_s
    while not (value := check()):
        assert time.monotonic() < deadline, f"still not so after {within_s} s: {value!r}"
        time.sleep(every_s)
    return value


def mounts(folder):
    return [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if str(folder) in line]


class Server:
    """A gloveboxd of our own. `stop` fails when it leaves anything behind."""

    def __init__(self, state, *options, programs=BUILD, images=IMAGES, through=(), env=None):
        self.state = pathlib.Path(state)
        self.options = options
        self.programs = programs
        self.images = images
        self.through = through  # a command that executes the server
        self.env = env
        self.process = None

    def start(self):
        self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.children = children()
        self.log = open(self.state.with_suffix(".log"), "ab+")
        self.process = subprocess.Popen(
            [*self.through, self.programs / "gloveboxd", "--listen", "127.0.0.1:0", "--state", self.state, "--images", self.images, *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, env=self.env)
        self.urls = self.wait_ready()
        self.url = self.urls[0]
        self.api = Api(self.url, (self.state / "operator.token").read_text().strip())
        if self.url.startswith("http:"):
            contract.learn(self.api)
        return self

    def wait_ready(self):
        """The URLs of the READY line."""
        deadline = time.monotonic() + START_S
        selector = selectors.DefaultSelector()
        selector.register(self.process.stdout, selectors.EVENT_READ)
        text = b""
        while b"\n" not in text:
            assert selector.select(max(0, deadline - time.monotonic())), f"not READY after {START_S} s\n{self.log_tail()}"
            piece = os.read(self.process.stdout.fileno(), 4096)
            assert piece, f"gloveboxd ended before READY with status {self.process.wait()}\n{self.log_tail()}"
            text += piece
        word, *urls = text.decode().split("\n")[0].split(" ")
        assert word == "READY", text
        return urls

    def live_sessions(self):
        """The ids of the sessions that have not ended."""
        sessions = self.api.call("GET", "/v1/sessions")["sessions"]
        return {session["id"] for session in sessions if session["state"] not in ("ended", "failed")}

    def log_text(self):
        self.log.flush()
        return self.state.with_suffix(".log").read_text(errors="replace")

    def log_tail(self):
        return "\n".join(self.log_text().splitlines()[-40:])

    def kill(self, signo):
        self.process.send_signal(signo)
        status = self.process.wait(STOP_S)
        self.process.stdout.close()
        return status

    def stop(self):
        """SIGTERM: status 0, and no process, mount, group or socket of it is left."""
        groups = (self.state / "groups").read_text().split("\n")
        status = self.kill(signal.SIGTERM)
        assert status == 0, f"gloveboxd ended with status {status}\n{self.log_tail()}"
        self.assert_nothing_runs()
        assert [group for group in groups if group and pathlib.Path(group).exists()] == []
        assert list((self.state / "run").glob("*")) == []
        self.log.close()

    def assert_nothing_runs(self, within_s=0):
        """No process of the server's is left after `within_s`, and no mount."""
        deadline = time.monotonic() + within_s
        # In any order, again and again: pid 1 of a namespace ends when all others of it have been reaped.
        while (left := {pid for pid in children() - self.children if not ended(pid, 0)}) and time.monotonic() < deadline:
            time.sleep(0.01)
        shown = left and subprocess.run(["ps", "-o", "pid,ppid,stat,args", *map(str, left)], capture_output=True, text=True).stdout
        assert not left, f"processes are left: {left}\n{shown}"
        assert mounts(self.state) == []


@pytest.fixture(scope="session", autouse=True)
def many_files():
    """Some tests open hundreds of connections; a login's soft limit may be less than it could be."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@pytest.fixture(scope="session", autouse=True)
def subreaper():
    """Processes whose parent died become children of the tests, where they can be counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@pytest.fixture(scope="session")
def prepared():
    """What every test here needs: root, the programs, the images."""
    if os.geteuid() != 0:
        cannot_run("gloveboxd needs root")
    if not (BUILD / "gloveboxd").exists():
        cannot_run("gloveboxd is not built")
    if not IMAGES.is_dir():
        cannot_run(f"there are no images in {IMAGES}")


@pytest.fixture
def make_server(prepared, tmp_path):
    """Starts servers of the test's own; each must end cleanly."""
    made = []

    def make(*options, name="state"):
        server = Server(tmp_path / name, *options).start()
        made.append(server)
        return server

    yield make
    for server in made:
        if server.process.poll() is None:
            server.stop()


@pytest.fixture(scope="session")
def server(prepared, tmp_path_factory):
    """The server that most tests share."""
    server = Server(tmp_path_factory.mktemp("glovebox") / "state").start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def contract_kept():
    """Every reply that the test got is as the OpenAPI document says."""
    contract.take_faults()
    yield
    found = contract.take_faults()
    if found:
        pytest.fail(f"{len(found)} replies are not as the OpenAPI document says:\n" + "\n".join(found[:20]), pytrace=False)


FAILED = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "call":
        item.stash[FAILED] = report.failed


def show(session, folder):
    """Leaves a picture of a session whose test failed, and says where."""
    picture = folder / f"{session.id}.png"
    try:
        session.shot().save(picture)
        print(f"session {session.id} looked like this: {picture}\n{session.windows()}")
    except Refused as refused:
        print(f"session {session.id} cannot be looked at: {refused}")


@pytest.fixture
def make_session(server, request, tmp_path):
    """Makes sessions that end with the test."""
    made = []

    def make(image="minimal", **spec):
        session = server.api.new(image=image, **spec)
        made.append(session)
        return session

    yield make
    alive = server.live_sessions()
    for session in made:
        if session.id not in alive:
            continue
        if request.node.stash.get(FAILED, False):
            show(session, tmp_path)
        session.end()


@pytest.fixture
def session(make_session):
    """A session of the image minimal."""
    return make_session("minimal")


@pytest.fixture
def desktop(make_session):
    """A session of the image desktop with Firefox on its start page."""
    return make_session("desktop", apps=["firefox"])
