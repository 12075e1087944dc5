# SPDX-License-Identifier: GPL-2.0-or-later
"""`glovebox view`, and VNC viewers that people have, through it: TigerVNC's and gvncviewer. (noVNC is in test_console.py, with a person at it.)"""
import io
import os
import signal
import socket
import stat
import subprocess

import pytest
from PIL import Image, ImageChops

from conftest import BUILD, until
from rfb import Rfb, des_key
from terminal import RawTerminal
from test_cli import Cli
from tls import make_certificate

SCREEN = 1400, 1000


class Desk:
    """A person's own X display, with a window manager."""

    def __init__(self, folder):
        read, write = os.pipe()
        self.log = open(folder / "desk.log", "wb")
        self.programs = [subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "{}x{}x24".format(*SCREEN), "-nolisten", "tcp"],
                                          pass_fds=[write], stderr=self.log)]
        os.close(write)
        with open(read, encoding="ascii") as display:
            number = display.readline().strip()  # number and newline come apart
        self.env = {**os.environ, "DISPLAY": f":{number}", "HOME": str(folder), "NO_AT_BRIDGE": "1",
                    "GDK_BACKEND": "x11", "XDG_RUNTIME_DIR": str(folder)}
        self.start("openbox")

    def start(self, *argv):
        program = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.programs.append(program)
        return program

    def do(self, *words):
        """xdotool: what it says, or None when it fails."""
        done = subprocess.run(["xdotool", *words], env=self.env, capture_output=True, text=True, timeout=30)
        return done.stdout.strip() if done.returncode == 0 else None

    def window(self, name):
        """A window whose title has this, once it is there."""
        return until(lambda: self.do("search", "--onlyvisible", "--name", name), within_s=20).split()[-1]

    def picture(self, window="root"):
        done = subprocess.run(["import", "-silent", "-window", window, "png:-"], env=self.env, capture_output=True, timeout=30)
        return Image.open(io.BytesIO(done.stdout)).convert("RGB") if done.returncode == 0 else None

    def end(self):
        for program in reversed(self.programs):
            program.kill()
            program.wait()
        self.log.close()


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)
    yield desk
    desk.end()


class View:
    """A `glovebox view` that runs; what it has printed."""

    def __init__(self, server, *words, at=()):
        self.process = subprocess.Popen([BUILD / "glovebox", *at, "view", *words], env=Cli(server).environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.first = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(10) == 0, self.process.stderr.read()


def connect(address):
    stream = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
    stream.settimeout(20)
    stream.connect(address)
    return stream


def encrypt(password):
    def answer(challenge):
        done = subprocess.run(["openssl", "enc", "-provider", "legacy", "-provider", "default", "-des-ecb", "-nopad", "-K", des_key(password).hex()],
                              input=challenge, capture_output=True, check=True)
        return done.stdout
    return answer


def is_shown(shown, wanted):
    """Where `wanted` is in a window's picture, give or take the pointer and what decorates the window; None: nowhere."""
    if shown is None or shown.width < wanted.width or shown.height < wanted.height:
        return None
    room = shown.width - wanted.width
    for y in range(shown.height - wanted.height + 1):
        for x in {*range(min(room + 1, 8)), *range(max(0, room // 2 - 2), min(room, room // 2 + 2) + 1)}:  # at the left, or in the middle
            part = shown.crop((x, y, x + wanted.width, y + wanted.height))
            if part.crop((0, 0, 64, 64)).tobytes() != wanted.crop((0, 0, 64, 64)).tobytes():
                continue
            different = sum(ImageChops.difference(part, wanted).convert("L").point(lambda value: value > 8 and 255).histogram()[1:])
            if different < 2000:
                return x, y
    return None


def make(make_session):
    session = make_session("desktop", apps=["terminal"], display={"width": 1000, "height": 700})
    return session, RawTerminal(session)


def take(session):
    """Whoever watches as the operator takes the controls."""
    viewer = until(lambda: [one for one in session.api.call("GET", f"{session.path}/viewers")["viewers"] if one["controls"]])[-1]
    session.api.call("POST", f"{session.path}/lease", {"action": "take", "viewer": viewer["viewer"], "kind": "other", "keep_running": True})


def bytes_in(session):
    text = session.api.request("GET", "/metrics").body.decode()
    return int(next(line for line in text.splitlines() if line.startswith('glovebox_view_bytes_total{direction="in"}')).split()[1])


def type_into(desk, window, session, text):
    """Types into a viewer's window. The terminal stands still in a hold: that nothing more comes from the viewer is what can be waited for."""
    desk.do("windowactivate", "--sync", window, "mousemove", "--window", window, "500", "400")
    until(lambda: desk.do("getactivewindow") == window)
    before = bytes_in(session)
    desk.do("type", "--delay", "30", text)
    seen = []

    def has_come():
        seen.append(bytes_in(session))
        return seen[-1] >= before + 16 * len(text) and len(seen) > 4 and len(set(seen[-4:])) == 1
    until(has_come, within_s=20, every_s=0.2)


def give(session):
    session.api.call("POST", f"{session.path}/lease", {"action": "give"})
    session.act(observe={"quiet_ms": 0})


def shows(desk, window, session):
    """The window has the session's picture."""
    return until(lambda: is_shown(desk.picture(window), session.shot()), within_s=20, every_s=0.3)


# --- the command

def test_a_link_for_a_person(server, session):
    link, code = Cli(server).run("view", session.id, "--role", "controller", "--label", "Ada").stdout.decode().splitlines()
    share = Cli(server).json("view", session.id)
    assert link.startswith(f"{server.url}/#share={session.id}-") and code.startswith("code ")
    assert [one["label"] for one in session.api.call("GET", f"{session.path}/shares")["shares"]] == ["Ada", None]
    token = session.api.call("POST", "/v1/console", {"share": share["id"], "code": share["code"]})
    assert (token["role"], token["session"]) == ("viewer", session.id)


def test_a_socket_is_the_users_own(server, session, tmp_path):
    path = str(tmp_path / "view")
    with View(server, session.id, "--socket", path) as view:
        assert view.first == path and stat.S_IMODE(os.stat(path).st_mode) == 0o600
        with Rfb(connect(path)) as one, Rfb(connect(path)) as two:
            assert one.whole().tobytes() == two.whole().tobytes() == session.shot().tobytes()
            assert len(session.api.call("GET", f"{session.path}/viewers")["viewers"]) == 2
        until(lambda: session.api.call("GET", f"{session.path}/viewers")["viewers"] == [])
        Cli(server).run("view", session.id, "--socket", path, status=2)
    assert not os.path.exists(path)


def test_by_tls_and_by_a_unix_socket(make_server, tmp_path):
    """Wherever the server is, viewers find the session at a socket of their own machine."""
    pair = make_certificate(tmp_path)
    server = make_server("--listen", f"unix:{tmp_path}/s", "--tls-cert", pair[0], "--tls-key", pair[1])
    done = Cli(server).run("--server", f"unix:{tmp_path}/s", "new", "--image", "minimal")
    for n, at in enumerate((["--cacert", str(pair[0])], ["--server", f"unix:{tmp_path}/s"])):
        path = str(tmp_path / f"view{n}")
        with View(server, done.stdout.decode().strip(), "--socket", path, at=at) as view:
            assert view.first == path
            with Rfb(connect(path)) as viewer:
                assert len(viewer.whole().getcolors(1 << 20)) > 1
    assert Cli(server).run("view", done.stdout.decode().strip(), "--socket", str(tmp_path / "none"), status=3).stderr


def test_a_port_has_a_password(server, session):
    with View(server, session.id, "--port", "0") as view:
        password = view.process.stdout.readline().split()[1]
        address = "127.0.0.1", int(view.first.rsplit(":", 1)[1])
        assert len(password) == 8
        with Rfb(connect(address), answer=encrypt(password)) as viewer:
            assert viewer.kinds == [2]
            assert viewer.whole().tobytes() == session.shot().tobytes()
        with pytest.raises(AssertionError):
            Rfb(connect(address), answer=encrypt("WRONGONE"))


def test_look_only(server, session, tmp_path):
    with View(server, session.id, "--look", "--socket", str(tmp_path / "view")), Rfb(connect(str(tmp_path / "view"))) as viewer:
        viewer.whole()
        assert [one["controls"] for one in session.api.call("GET", f"{session.path}/viewers")["viewers"]] == [False]


def test_what_is_wrong_is_said_at_once(server, session):
    Cli(server).run("view", "s" + "a" * 15, "--port", "0", status=1)
    Cli(server).run("view", session.id, "--port", "0", "--socket", "/tmp/x", status=2)
    Cli(server).run("view", session.id, "--role", "operator", status=1)


# --- viewers

def test_tigervnc(server, make_session, desk, tmp_path):
    session, terminal = make(make_session)
    with View(server, session.id, "--socket", str(tmp_path / "view")):
        desk.start("xtigervncviewer", "-Shared", "-RemoteResize=0", "-AutoSelect=0", "-PreferredEncoding=ZRLE", "-NoJPEG=1", "-FullColor=1",
                   str(tmp_path / "view"))
        window = desk.window("TigerVNC")
        assert shows(desk, window, session)
        take(session)
        type_into(desk, window, session, "Hello, World")
        give(session)
        assert terminal.got(12) == b"Hello, World"
        # The desktop gets another size, and the window shows all of it.
        session.do("resize_display", width=800, height=600)
        assert shows(desk, window, session)


def test_gvncviewer(server, make_session, desk):
    session, terminal = make(make_session)
    with View(server, session.id, "--port", "0") as view:
        password = view.process.stdout.readline().split()[1]
        port = int(view.first.rsplit(":", 1)[1])
        desk.start("gvncviewer", f"127.0.0.1:{port - 5900}")
        dialog = desk.window("Authentication required|Password|Credentials")
        desk.do("windowactivate", "--sync", dialog, "type", "--delay", "30", password)
        desk.do("key", "Return")
        window = until(lambda: next((one for one in (desk.do("search", "--onlyvisible", "--class", "gvncviewer") or "").split()
                                     if one != dialog and is_shown(desk.picture(one), session.shot())), None), within_s=30, every_s=0.3)
        take(session)
        type_into(desk, window, session, "Hello, World")
        give(session)
        assert terminal.got(12) == b"Hello, World"
        # Its window keeps its size, and shows a desktop of another one scaled: the picture follows, and nothing breaks.
        before = desk.picture(window)
        session.do("resize_display", width=800, height=600)
        until(lambda: desk.picture(window).tobytes() != before.tobytes(), within_s=20, every_s=0.3)
        session.do("resize_display", width=1000, height=700)
        assert shows(desk, window, session)
