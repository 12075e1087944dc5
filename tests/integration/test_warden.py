# SPDX-License-Identifier: GPL-2.0-or-later
"""How gloveboxd starts, what it refuses to start with, and what it leaves on the way."""
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess

import pytest

import jail
from conftest import BUILD, IMAGES, Server, until

GLOVEBOXD = BUILD / "gloveboxd"


def run(*words, **options):
    return subprocess.run([GLOVEBOXD, *map(str, words)], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL, **options)


@pytest.fixture(autouse=True)
def ready(prepared):
    """All of it needs root and the programs."""


@pytest.mark.parametrize("words", [["--no-such"], ["--listen"], ["--state", ""], ["word"], ["--version=1"]])
def test_wrong_usage(words):
    done = run(*words)
    assert done.returncode == 2
    assert "option" in done.stderr and "usage:" in done.stderr and done.stdout == ""


def test_version_and_help():
    assert run("--version").stdout.startswith("gloveboxd ")
    assert "--listen" in run("--help").stdout


def test_root_alone(tmp_path):
    done = run("--state", tmp_path / "state", user=65534, group=65534, extra_groups=[])
    assert done.returncode == 1 and "root" in done.stderr
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("where,word", [("0.0.0.0:0", "needs TLS"), ("10.1.2.3:0", "needs TLS"), ("[::]:0", "needs TLS"), ("here", "ADDR:PORT"),
                                        ("127.0.0.1:99999", "ADDR:PORT")])
def test_addresses_that_are_refused(tmp_path, where, word):
    done = run("--listen", where, "--state", tmp_path / "state")
    assert done.returncode == 1 and word in done.stderr


def test_ceilings_behind_a_nul_byte_are_not_passed_over(tmp_path):
    (tmp_path / "ceilings").write_bytes(b"ttl_s = 60\n\0memory_mb = 512\n")
    done = run("--listen", "127.0.0.1:0", "--state", tmp_path / "state", "--ceilings", tmp_path / "ceilings")
    assert done.returncode == 1 and "NUL byte" in done.stderr


def test_a_taken_port_names_its_holder(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("--listen", f"127.0.0.1:{taken.getsockname()[1]}", "--state", tmp_path / "state")
    assert done.returncode == 1
    assert f"pid {os.getpid()} (" in done.stderr


def test_one_server_a_folder(make_server):
    server = make_server()
    done = run("--listen", "127.0.0.1:0", "--state", server.state)
    assert done.returncode == 1
    assert f"pid {server.process.pid}" in done.stderr
    assert server.api.call("GET", "/v1/sessions")["sessions"] == []


def test_the_folder_is_closed_to_others(make_server, tmp_path):
    (tmp_path / "state").mkdir(mode=0o755)
    server = make_server()
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in server.state.iterdir()}
    assert stat.S_IMODE(server.state.stat().st_mode) == 0o700
    assert modes["operator.token"] == modes["lock"] == modes["groups"] == "0o600"
    assert modes["front"] == "0o700"
    assert modes["run"] == modes["journals"] == "0o750"


def test_the_token_stays_the_same_and_must_be_roots_alone(make_server):
    server = make_server()
    token = server.state / "operator.token"
    text = token.read_text()
    server.stop()
    server.start()
    assert token.read_text() == text
    server.stop()
    token.chmod(0o644)
    done = run("--listen", "127.0.0.1:0", "--state", server.state, "--images", IMAGES)
    assert done.returncode == 1 and "operator.token" in done.stderr
    token.unlink()
    server.start()
    assert token.read_text() != text


def test_nothing_of_its_environment_goes_on(make_server, monkeypatch):
    """Neither by environment nor by arguments; the token is in neither (case X04)."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-4711")
    monkeypatch.setenv("LD_PRELOAD", "")
    server = make_server()
    session = server.api.new(image="minimal")
    token = (server.state / "operator.token").read_text().strip()
    for pid in jail.processes(jail.group_name(server)):
        environment = jail.read(f"/proc/{pid}/environ")
        assert "canary-4711" not in environment and "LD_PRELOAD" not in environment, pid
        assert token not in environment + jail.read(f"/proc/{pid}/cmdline")
    session.end()


def test_a_folder_of_images_that_it_makes_itself(make_server, tmp_path):
    """Images that are built later are seen, without a new start."""
    server = make_server("--images", tmp_path / "images")
    assert server.api.call("GET", "/v1/images") == {"images": []}
    shutil.copy(IMAGES / "manifests" / "minimal.json", tmp_path / "images" / "manifests")
    assert [image["name"] for image in server.api.call("GET", "/v1/images")["images"]] == ["minimal"]


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_all(make_server, signo):
    server = make_server()
    server.api.new(image="minimal").run("sh", "-c", "(setsid sleep 1000 &) >/dev/null 2>&1")
    name = jail.group_name(server)
    assert server.kill(signo) == 0
    assert not jail.processes(name) and not jail.groups(name)
    assert os.listdir(server.state / "run") == []
    server.assert_nothing_runs()


def accepts(port):
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def test_without_standard_descriptors(tmp_path):
    """Started with all three closed it serves, and no file of its own is taken for one of them."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = subprocess.Popen(["sh", "-c", f"exec {GLOVEBOXD} --listen 127.0.0.1:{port} --state {tmp_path}/state <&- >&- 2>&-"])
    until(lambda: accepts(port))
    until(lambda: (tmp_path / "state/front/front.db").exists())
    assert {os.readlink(f"/proc/{server.pid}/fd/{fd}") for fd in range(3)} == {"/dev/null"}
    server.terminate()
    assert server.wait(10) == 0


def test_a_program_that_is_missing(tmp_path):
    for name in ("gloveboxd", "glovebox-front", "glovebox-stage", "glovebox-init"):
        os.link(BUILD / name, tmp_path / name) if BUILD.stat().st_dev == tmp_path.stat().st_dev else \
            (tmp_path / name).write_bytes((BUILD / name).read_bytes())
        (tmp_path / name).chmod(0o755)
    done = subprocess.run([tmp_path / "gloveboxd", "--listen", "127.0.0.1:0", "--state", tmp_path / "state"], capture_output=True, text=True,
                          timeout=30)
    assert done.returncode == 1 and "glovebox-display" in done.stderr


def in_own_mounts(tmp_path, script):
    """Runs a script with an /etc/passwd of our own, which knows the user `tester`."""
    (tmp_path / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\ntester:x:4242:4242::%s:/bin/sh\n" % (tmp_path / "home"))
    return subprocess.run(["unshare", "--mount", "sh", "-c", f"mount --bind {tmp_path}/passwd /etc/passwd && {script}"],
                          capture_output=True, text=True, timeout=60)


@pytest.fixture
def sudo_start(tmp_path):
    """Starts a server as sudo would for `tester`, until it is READY, and ends it."""
    home = tmp_path / "home"
    home.mkdir()
    for path in (tmp_path, *tmp_path.parents):
        if path.is_relative_to("/tmp") and path != pathlib.Path("/tmp"):
            path.chmod(0o755)
    os.chown(home, 4242, 4242)
    state = tmp_path / "state"

    def start():
        done = in_own_mounts(tmp_path, f"SUDO_UID=4242 {GLOVEBOXD} --listen 127.0.0.1:0 --state {state} --images {IMAGES} >{tmp_path}/out & "
                                       f"until grep -q READY {tmp_path}/out; do kill -0 $! || exit 1; done; kill $!; wait $!")
        assert done.returncode == 0, done.stderr
        return home, (state / "operator.token").read_text(), done.stderr
    return start


def test_the_user_behind_sudo_gets_the_token(sudo_start):
    home, token, _ = sudo_start()
    given = home / ".config/glovebox/token"
    assert given.read_text() == token
    for path in (given, given.parent, given.parent.parent):
        assert path.stat().st_uid == 4242
    assert stat.S_IMODE(given.stat().st_mode) == 0o600


def test_no_link_of_the_users_is_followed_as_root(sudo_start, tmp_path):
    """~/.config leads to a folder of root's: nothing is written there, and the server starts all the same."""
    (tmp_path / "roots").mkdir(mode=0o755)
    (tmp_path / "home").is_dir()
    (tmp_path / "home" / ".config").symlink_to(tmp_path / "roots")
    _, _, said = sudo_start()
    assert list((tmp_path / "roots").iterdir()) == []
    assert "gets no token" in said


def test_a_front_that_does_not_come_up(tmp_path):
    """gloveboxd ends with an error and leaves nothing."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("gloveboxd", "glovebox-stage", "glovebox-init", "glovebox-display", "glovebox-view", "glovebox-egress"):
        (programs / name).write_bytes((BUILD / name).read_bytes())
        (programs / name).chmod(0o755)
    (programs / "glovebox-front").write_bytes(pathlib.Path("/bin/false").read_bytes())
    (programs / "glovebox-front").chmod(0o755)
    state = tmp_path / "state"
    done = subprocess.run([programs / "gloveboxd", "--listen", "127.0.0.1:0", "--state", state, "--images", IMAGES], capture_output=True, text=True,
                          timeout=30)
    assert done.returncode == 1 and "the front ended before it served" in done.stderr
    assert "READY" not in done.stdout
    assert not (state / "groups").exists()


def test_restart_after_a_crash_keeps_the_address(tmp_path):
    """A server that was killed can listen on the same port again at once."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = Server(tmp_path / "state", "--listen", f"127.0.0.1:{port}").start()
    assert server.urls[1].endswith(f":{port}")
    server.api.call("GET", "/v1/sessions")
    server.kill(signal.SIGKILL)
    server.assert_nothing_runs(within_s=5)
    server.start()
    server.stop()
