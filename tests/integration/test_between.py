# SPDX-License-Identifier: GPL-2.0-or-later
"""What a session finds of another session, of the one before it in its place, and of the host: nothing (cases X02, X04, X13)."""
import contextlib
import mmap
import os
import pathlib
import socket
import subprocess

import pytest

import jail
from conftest import Server, until

HERE = pathlib.Path(__file__).resolve().parent
OF_HOST, OF_ANNA = "gbxhost7341canary", "gbxanna9925canary"
PORT = 34567
# What a caller of the server may have in the environment, and what must not come to anybody of its sessions.
PLANTED = {"AWS_SECRET_ACCESS_KEY": OF_HOST, "GITHUB_TOKEN": OF_HOST, "SSH_AUTH_SOCK": f"/tmp/{OF_HOST}", "HTTP_PROXY": f"http://{OF_HOST}", "https_proxy": OF_HOST,
           "LD_LIBRARY_PATH": f"/{OF_HOST}", "DBUS_SESSION_BUS_ADDRESS": f"unix:path=/{OF_HOST}", "XAUTHORITY": f"/{OF_HOST}", "DISPLAY": f":{len(OF_HOST)}",
           "WAYLAND_DISPLAY": OF_HOST, "PYTHONPATH": f"/{OF_HOST}", "MAIL": OF_HOST, "GLOVEBOX_TOKEN": OF_HOST, "LC_ALL": "C", "TMPDIR": "/tmp"}
MAY_HAVE = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
            "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "AT_SPI_BUS_ADDRESS", "GNOME_ACCESSIBILITY", "ACCESSIBILITY_ENABLED", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "NO_AT_BRIDGE", "GTK_A11Y", "PWD",
            "OLDPWD", "SHLVL", "_"}
# Of the server's own processes, beside what its log is to be like.
DAEMONS_MAY_HAVE = {"GLOVEBOX_UID", "GLOVEBOX_LOG", "GLOVEBOX_LOG_FORMAT", "PATH", "HOME", "LANG", "DISPLAY", "XAUTHORITY"} | MAY_HAVE


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """Things of the host with the canary in or on them, as long as the tests last."""
    with contextlib.ExitStack() as stack:
        for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run"):
            path = pathlib.Path(folder, f"{OF_HOST}-{os.getpid()}")
            path.write_text(OF_HOST)
            stack.callback(path.unlink)
        named = stack.enter_context(socket.socket(socket.AF_UNIX))
        named.bind(f"\0{OF_HOST}")
        named.listen()
        port = stack.enter_context(socket.create_server(("127.0.0.1", PORT)))
        process = subprocess.Popen(["sh", "-c", "exec cat", OF_HOST], stdin=subprocess.PIPE, env={**os.environ, "CANARY": OF_HOST})
        stack.callback(process.wait)
        stack.callback(process.stdin.close)
        shared = stack.enter_context(mmap.mmap(-1, 4096))
        shared.write(OF_HOST.encode())
        yield port


@pytest.fixture(scope="module")
def server(prepared, host, tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("between") / "state", env={**os.environ, **PLANTED}).start()
    yield server
    server.stop()


def plant(session):
    """Traces of a session that another one is not to find, in every place that there is."""
    for place in ("/home/user", "/tmp", "/var/tmp", "/run/user/1000", "/dev/shm"):
        session.run("sh", "-c", f"echo {OF_ANNA} >{place}/{OF_ANNA}")
    # A process of that name, an abstract socket, a port; the shared memory and queues that it can make; a name on the bus.
    session.run("sh", "-c", "cat >hold.pl", stdin=f"""
        use Socket; use IO::Socket::INET; use IO::Socket::UNIX;
        $0 = "{OF_ANNA}";
        my $port = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => {PORT}, Listen => 5) or die $!;
        my $named = IO::Socket::UNIX->new(Local => "\\0{OF_ANNA}", Listen => 5) or die $!;
        open(my $ready, '>', 'holding'); close $ready;
        sleep 1000;""")
    session.run("sh", "-c", "setsid perl hold.pl >/dev/null 2>&1 </dev/null &")
    session.run("sh", "-c", f"ipcmk -M 4096 -p 666 >/dev/null 2>&1; dbus-send --session --print-reply --dest=org.freedesktop.DBus / "
                            f"org.freedesktop.DBus.RequestName string:org.{OF_ANNA} uint32:0")
    session.do("clipboard_set", text=OF_ANNA)
    session.do("clipboard_set", text=OF_ANNA, selection="primary")
    until(lambda: session.exec("test", "-e", "holding")["exit_code"] == 0)


@pytest.fixture(scope="module")
def anna(server):
    session = server.api.new(image="minimal", env={"CANARY": OF_ANNA}, labels={"who": OF_ANNA})
    plant(session)
    yield session
    if session.id in server.live_sessions():
        session.end()


@pytest.fixture(scope="module")
def bert(server, anna):
    session = server.api.new(image="minimal")
    yield session
    session.end()


def finds(session):
    """{what: words} of neighbour.pl, which looks for both canaries, and for the ids of the other sessions."""
    session.run("sh", "-c", "cat >/tmp/look.pl", stdin=(HERE / "neighbour.pl").read_text())
    # What it looks for is on its own command line: so it gets halves.
    words = " ".join(f'"$(printf %s%s {word[:5]} {word[5:]})"' for word in (OF_HOST, OF_ANNA))
    result = session.exec("sh", "-c", f"exec perl /tmp/look.pl {words}")
    assert result["exit_code"] == 0 and result["stdout"].endswith("done\n"), result
    return [line for line in result["stdout"].splitlines() if not line.startswith(("variables: ", "processes: ")) and line != "done"], result["stdout"]


def is_own(line):
    """The words are on the command line of the one who looks."""
    return line.startswith("/proc/") and "/cmdline: " in line


def test_the_probe_finds_what_is_there(anna):
    """In her own session all that was planted is found: else the tests below would say nothing."""
    found, _ = finds(anna)
    places = {line.split(": ")[0] for line in found if line.endswith(OF_ANNA)}
    for place in ("/home/user", "/tmp", "/var/tmp", "/run/user/1000", "/dev/shm"):
        assert f"{place}/{OF_ANNA}" in places, places
    assert {"name", "environment", "/proc/net/unix"} <= places, places
    assert any(place.endswith("/environ") for place in places)


def test_a_neighbour_finds_nothing(bert):
    found, text = finds(bert)
    assert [line for line in found if not is_own(line)] == []
    names = next(line for line in text.splitlines() if line.startswith("processes: ")).split()[1:]
    assert set(names) <= {"glovebox-init", "dbus-daemon", "dbus-broker", "glovebox-access", "glovebox-acces", "at-spi2-registr", "at-spi-bus-laun", "sh", "perl",
                          "exec perl"}, names


def test_the_environment_is_an_allow_list(bert, server):
    _, text = finds(bert)
    variables = next(line for line in text.splitlines() if line.startswith("variables: ")).split()[1:]
    assert set(variables) <= MAY_HAVE, set(variables) - MAY_HAVE
    for pid, name in jail.processes(jail.group_name(server)).items():
        if name in ("gloveboxd", OF_ANNA):
            continue
        own = jail.read(f"/proc/{pid}/environ").split("\0")
        # What Anna's spec says is her session's.
        assert {pair.split("=")[0] for pair in own if pair and OF_ANNA not in pair} <= DAEMONS_MAY_HAVE, (name, own)
        assert not any(OF_HOST in pair for pair in own), name


def test_no_token_on_a_command_line(server, anna, bert):
    """Of no process of the host: not the operator's, no session's, and no cookie."""
    secrets = [server.api.token, anna.agent.token, bert.agent.token]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                text = pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
                assert not any(secret.encode() in text for secret in secrets), (pid, name)


def connects(session, how):
    code = f"use Socket; {how} or die; print 'connected'"
    return session.exec("perl", "-e", code)["stdout"] == "connected"


def test_no_socket_leads_there(anna, bert):
    """Abstract ones, ports of loopback, displays by TCP: each is its own session's alone."""
    to_port = f"socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, sockaddr_in({PORT}, inet_aton('127.0.0.1')))"
    to_name = "socket(S, PF_UNIX, SOCK_STREAM, 0) && connect(S, pack('Sa*', 1, \"\\0%s\"))"
    assert connects(anna, to_port) and connects(anna, to_name % OF_ANNA)
    assert not connects(bert, to_port)
    for name in (OF_ANNA, OF_HOST, "/tmp/.X11-unix/X0", "/tmp/.X11-unix/X1"):
        assert not connects(bert, to_name % name), name
    for port in (6000, 6001, 7070):
        assert not connects(bert, f"socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, sockaddr_in({port}, inet_aton('127.0.0.1')))"), port
    assert bert.run("ls", "-A", "/tmp/.X11-unix") == "X0\n"


def test_clipboard_bus_and_shared_memory(anna, bert):
    names = "dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames"
    assert "org.freedesktop.DBus" in bert.run("sh", "-c", names) and OF_ANNA not in bert.run("sh", "-c", names)
    assert anna.do("clipboard_get")["text"] == OF_ANNA
    told = bert.act({"action": "clipboard_get"})["results"][0]
    assert OF_ANNA not in str(told)
    assert bert.run("sh", "-c", "ls -A /dev/shm") == ""
    assert OF_ANNA not in str(bert.windows())


def test_no_time_of_last_use(anna, bert):
    """What all sessions of an image share does not tell who read it when."""
    file = "/usr/share/common-licenses/GPL-2"
    stat = ("stat", "-c", "%X %Y %Z", file)
    before = bert.run(*stat)
    anna.run("sh", "-c", f"cat {file} >/dev/null")
    assert anna.run(*stat) == bert.run(*stat) == before


def test_who_comes_after_finds_nothing(server, anna, bert):
    """A session in the place of one that has ended, with the same uids: nothing of it is left, and nothing there is older than its own start."""
    uid = os.stat(f"/proc/{jail.part(anna.id, 'glovebox-init')}/fd").st_uid
    slot = jail.read(f"/proc/{jail.part(anna.id, 'glovebox-init')}/status").split("Uid:\t")[1].split("\t")[0]
    anna.end()
    after = server.api.new(image="minimal")
    try:
        assert jail.read(f"/proc/{jail.part(after.id, 'glovebox-init')}/status").split("Uid:\t")[1].split("\t")[0] == slot, uid
        found, _ = finds(after)
        assert [line for line in found if not is_own(line)] == []
        started = int(after.run("stat", "-c", "%Y", "/run/glovebox"))
        old = after.exec("find", "/home/user", "/tmp", "/var/tmp", "/run", "/dev/shm", "!", "-newermt", f"@{started - 2}", "-not", "-path",
                         "/run/glovebox/bin*")["stdout"]
        assert old == "", old
        assert OF_ANNA not in str(after.act({"action": "clipboard_get"})["results"][0])
    finally:
        after.end()
