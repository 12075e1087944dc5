# SPDX-License-Identifier: GPL-2.0-or-later
"""Two kinds of programs: what an agent can start sees and does nothing to what the catalogue calls trusted."""
import os
import pathlib
import re

import pytest

import jail
from conftest import until
from page import Page

HERE = pathlib.Path(__file__).parent
TRUSTED = "/run/glovebox/trusted"
TRUSTED_GID = 1001
CANARY = "correct horse battery staple"
# What an untrusted client may do to a trusted one's window and to the display: nothing of what spy.pl tries.
ATTEMPTS = {"extensions", "screen", "window_picture", "fake_keys", "held_keys", "grab_keyboard", "grab_pointer", "grab_key",
            "grab_button", "remap", "modifiers", "root_property", "window_property", "send_key", "pointer_picture", "hosts", "access_control",
            "destroy", "kill"}


def put_spy(session):
    session.run("sh", "-c", "cat >spy.pl", stdin=(HERE / "spy.pl").read_text())


def read_attempts(text):
    """{attempt: what was done} of what spy.pl has said; "" for refused."""
    rows = [line.split(" ", 2) for line in text.splitlines()]
    return {row[0]: "" if row[1] == "refused" else row[2] for row in rows}


def window_of(session, app):
    return next(window for window in session.windows() if window["app"] == app)


def firefox_of(session):
    """Its first process, as a number of the host."""
    return min(pid for pid, program in jail.processes(session.id).items() if program == "firefox-esr")


def type_in_terminal(session, command):
    """Runs a command by a shell in a terminal; its output."""
    session.act({"action": "launch", "app": "terminal"}, {"action": "type", "text": f"{command} >out 2>&1; echo done >>out\n"})
    text = until(lambda: (text := session.exec("cat", "out")["stdout"]).endswith("done\n") and text)
    return text.removesuffix("done\n")


@pytest.fixture(params=["firefox", "chromium"])
def page(request, make_session):
    page = Page(make_session("desktop"), request.param)
    page.app = request.param
    page.window = window_of(page.session, page.app)
    put_spy(page.session)
    return page


def is_unharmed(page, text):
    """The browser is as it was, and gets keys."""
    page.session.do("focus_window", window=page.window["id"])
    page.session.do("type", text=text)
    return page.wait(lambda told: told["text"].endswith(text)) and window_of(page.session, page.app)["id"] == page.window["id"]


def test_a_command_reaches_nothing(page):
    page.session.do("key_down", keys="shift")
    said = read_attempts(page.session.run("perl", "spy.pl", "try", str(page.window["id"])))
    page.session.do("key_up", keys="shift")
    assert set(said) == ATTEMPTS
    assert {name: what for name, what in said.items() if what} == {}
    assert is_unharmed(page, CANARY)


def test_a_shell_in_a_terminal_reaches_nothing(page):
    said = read_attempts(type_in_terminal(page.session, f"perl spy.pl try {page.window['id']}"))
    assert set(said) == ATTEMPTS
    assert {name: what for name, what in said.items() if what} == {}
    assert is_unharmed(page, CANARY)


def test_keys_reach_no_listener(page):
    """By exec, and in a terminal: who asks for the keys of the screen and of the browser's windows gets none."""
    session, window = page.session, page.window["id"]
    session.run("sh", "-c", f"mkfifo stop; sleep 1000 >stop & perl spy.pl listen {window} <stop >heard 2>&1 &")
    session.act({"action": "launch", "app": "terminal"}, {"action": "type", "text": f"sleep 1000 | perl spy.pl listen {window} >heard2 2>&1\n"})
    for heard in ("heard", "heard2"):
        until(lambda: session.exec("cat", heard)["stdout"] == "listening\n")
    assert is_unharmed(page, CANARY)
    assert [session.run("cat", heard) for heard in ("heard", "heard2")] == ["listening\n"] * 2


def test_the_window_manager_hears_of_no_other_window(page):
    """Minimized and closed is what a program asks for of its own windows."""
    page.session.run("perl", "spy.pl", "ask", str(page.window["id"]))
    assert "minimized" not in window_of(page.session, page.app)["state"]
    assert is_unharmed(page, CANARY)


def test_with_the_cookie_of_the_display_it_could(make_session):
    """The same program with that cookie, which is in no jail of programs: so the attempts are real."""
    page = Page(make_session("desktop"), "firefox")
    session, window = page.session, window_of(page.session, "firefox")["id"]
    put_spy(session)
    jail.leak_cookie(session)
    session.run("sh", "-c", f"mkfifo stop; sleep 1000 >stop & XAUTHORITY=leaked perl spy.pl listen {window} <stop >heard 2>&1 &")
    until(lambda: session.exec("cat", "heard")["stdout"] == "listening\n")
    session.do("type", text=CANARY)
    until(lambda: session.run("cat", "heard").count("key") >= len(CANARY))
    editor = session.do("launch", app="editor")["window"]
    session.run("env", "XAUTHORITY=leaked", "perl", "spy.pl", "ask", str(editor))
    until(lambda: not any(window["id"] == editor and "minimized" not in window["state"] for window in session.windows()))
    said = read_attempts(session.run("env", "XAUTHORITY=leaked", "perl", "spy.pl", "try", str(window)))
    assert {name for name, what in said.items() if what} >= {"extensions", "screen", "window_picture", "fake_keys", "grab_keyboard",
                                                             "root_property", "access_control", "destroy"}, said


def test_files_of_the_trusted_are_closed(page):
    """Their home, and what /proc shows of the browser and its children, to a command and to a shell in a terminal."""
    session = page.session
    pids = session.run("sh", "-c", "pgrep -f 'firefox|chromium' | grep -vx $$").split()
    assert page.window["pid"] in map(int, pids) and len(pids) > 2
    places = f"{TRUSTED}/.config/user-dirs.dirs"
    names = [places, *(f"/proc/{pid}/{name}" for pid in pids for name in ("mem", "environ", "maps", "auxv", "stack", "syscall"))]
    command = f"for f in {' '.join(names)}; do head -c 1 $f >/dev/null 2>&1 && echo $f; done"
    looks = f"for p in {' '.join(pids)}; do readlink /proc/$p/root /proc/$p/cwd /proc/$p/exe /proc/$p/fd/*; done 2>/dev/null"
    for read in (lambda line: session.exec("sh", "-c", line)["stdout"], lambda line: type_in_terminal(session, f"sh -c '{line}'")):
        session.run("rm", "-f", "out")
        assert read(command) == ""
        session.run("rm", "-f", "out")
        assert read(looks) == ""
    for trick in (f"cp {places} x", f"mv {TRUSTED} x", f"ln {places} /run/user/1000/x", f"ln -s {TRUSTED} y && ls y/", f"cat /proc/self/root{places}",
                  f"chmod 777 {TRUSTED}", f"chgrp 1000 {TRUSTED}", f"echo x >{TRUSTED}/x", f"rm -rf {TRUSTED}", f"mv {TRUSTED} /run/glovebox/x",
                  f"unshare -Ur cat {places}", f"ls {TRUSTED}/", "XAUTHORITY=/dev/null xterm -e true",
                  f"perl -e '$) = $( = {TRUSTED_GID}; exit($) != {TRUSTED_GID})'"):
        assert session.exec("sh", "-c", trick)["exit_code"] != 0, trick
    assert is_unharmed(page, CANARY)


def test_the_launcher_gives_no_trust(make_session):
    """What is started through it is the app as it is listed, and its starter gets nothing of it."""
    session = make_session("desktop")
    session.run("/run/glovebox/bin/glovebox-launch", "firefox")
    pid = window_of(session, "firefox")["pid"]
    assert session.exec("cat", f"/proc/{pid}/environ")["exit_code"] != 0
    assert session.exec("ls", f"{TRUSTED}/")["exit_code"] != 0


def test_what_a_browser_opens_gives_no_trust(page):
    """It reads files for whoever asks it to, and lays what it cannot show where all may read it: none of them lets another program in."""
    session = page.session
    for name in ("xauth", "trusted/xauth"):
        session.do("launch", app=page.app, args=[f"file:///run/glovebox/{name}"])
        session.do("wait_settled", quiet_ms=500)
    found = session.run("find", "/home/user", "-newer", "spy.pl", "-type", "f", "-size", "-1024c").split()
    for name in ("/dev/null", *found):
        said = session.exec("env", f"XAUTHORITY={name}", "perl", "spy.pl", "try", str(page.window["id"]))
        assert {attempt: what for attempt, what in read_attempts(said["stdout"]).items() if what} == {}, name


def test_settings_of_others_are_not_the_browsers(make_session):
    """Modules that settings of the user name would be executed with the rights of the browser: it does not read these."""
    session = make_session("desktop")
    session.run("sh", "-c", "mkdir -p .config/gtk-3.0 .pki/nssdb .mozilla; echo >module.so; echo 'library=/home/user/module.so' >.pki/nssdb/pkcs11.txt\n"
                            "printf '[Settings]\\ngtk-modules=/home/user/module.so\\n' >.config/gtk-3.0/settings.ini")
    read_at = ("stat", "-c", "%n %x", "module.so", ".config/gtk-3.0/settings.ini", ".pki/nssdb/pkcs11.txt")
    before = session.run(*read_at)
    for app in ("firefox", "chromium"):
        session.do("launch", app=app)
        assert session.run(*read_at) == before, app
    assert {"firefox", "chromium"} <= {window["app"] for window in session.windows()}
    for pid, program in jail.processes(session.id).items():
        if program in ("firefox-esr", "chromium"):
            assert re.search(rf"^Gid:(\t\d+)\1\1\1$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M), program
    assert session.run("ls", "-A", "/home/user/.mozilla") == ""
    session.run("cat", "module.so")
    assert session.run(*read_at) != before


def test_environments_tell_which_cookie(make_session):
    """A browser's own names none, everybody else's the untrusted one, and the display's own is in no environment."""
    session = make_session("desktop", apps=["firefox", "editor"])
    cookie = pathlib.Path(f"/proc/{jail.part(session.id, 'Xvfb')}/root/tmp/xauth").read_bytes()[-16:]
    seen = {}
    for pid, program in jail.processes(session.id).items():
        environ = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        assert cookie not in environ and cookie.hex().encode() not in environ, program
        if match := re.search(rb"XAUTHORITY=([^\0]*)", environ):
            seen.setdefault(match[1].decode(), set()).add(os.readlink(f"/proc/{pid}/exe"))
    assert all(program.startswith("/usr/lib/firefox-esr/") for program in seen["/dev/null"]), seen
    assert "/usr/bin/mousepad" in seen["/run/glovebox/xauth"]


def test_untrusted_programs_are_ordinary_ones(make_session):
    """Neither a bell nor a mark ends a terminal, pings are answered, and the window manager is asked for a full screen."""
    session = make_session("minimal", apps=["terminal"])
    session.do("type", text="printf '\\a'; echo rung >rung\n")
    until(lambda: session.exec("test", "-e", "rung")["exit_code"] == 0)
    assert window_of(session, "terminal")["title"] == "Terminal"
    window = window_of(session, "terminal")
    session.do("drag", path=[[window["x"] + 20, window["y"] + 10], [window["x"] + 300, window["y"] + 100]])
    session.do("type", text="echo still >rung\n")
    until(lambda: session.exec("cat", "rung")["stdout"] == "still\n")
    session.do("launch", app="editor")
    assert "note" not in session.do("type", text="日本語")
    session.do("key", keys="F11")
    until(lambda: window_of(session, "editor")["state"] == ["fullscreen"])


def bus_call(session, address, dest, path, member, *args):
    """What dbus-send says to its call, or its error."""
    answer = session.exec("dbus-send", f"--bus={address}", "--print-reply", f"--dest={dest}", path, member, *args)
    return answer["stdout"] + answer["stderr"]


BUSES = ["DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS"]


@pytest.fixture(scope="module")
def bused(server):
    """A session, and the address of each of its buses."""
    session = server.api.new(image="desktop")
    yield session, {name: session.run("sh", "-c", f"echo ${name}").strip() for name in BUSES}
    session.end()


def test_no_bus_starts_a_program_of_the_agent(bused):
    """Nor one of the image that would start others: what a bus starts is in the group of the bus, which is never frozen."""
    session, addresses = bused
    session.run("sh", "-c", "cat >planted.service", stdin="[D-BUS Service]\nName=org.planted\nExec=/usr/bin/touch /home/user/ran\n")
    session.run("sh", "-c", "for d in $HOME/.local/share $XDG_RUNTIME_DIR; do mkdir -p $d/dbus-1/services && cp planted.service $d/dbus-1/services/; done")
    for address in addresses.values():
        for name in ("org.planted", "org.xfce.Thunar", "org.freedesktop.FileManager1", "org.a11y.Planted"):
            assert "ServiceUnknown" in bus_call(session, address, name, "/", "org.freedesktop.DBus.Peer.Ping"), name
    assert session.exec("test", "-e", "ran")["exit_code"] != 0
    for folder in ("/run/glovebox/bus", "/run/glovebox/bus/services", "/usr/share/dbus-1/services", "/usr/share/dbus-1/accessibility-services"):
        assert session.exec("cp", "planted.service", folder)["exit_code"] != 0, folder


@pytest.mark.parametrize("bus", BUSES)
@pytest.mark.parametrize("member, args", [("UpdateActivationEnvironment", ["dict:string:string:LD_PRELOAD,/home/user/x.so"]),
                                          ("ReloadConfig", []), ("Monitoring.BecomeMonitor", ["array:string:", "uint32:0"])])
def test_no_bus_is_steered(bused, bus, member, args):
    session, addresses = bused
    said = bus_call(session, addresses[bus], "org.freedesktop.DBus", "/org/freedesktop/DBus", f"org.freedesktop.DBus.{member}", *args)
    assert "AccessDenied" in said, said


def test_buses_still_serve(bused):
    """Settings are stored by a service that the session bus starts; the registry is on the other bus."""
    session, addresses = bused
    session_bus, a11y_bus = (addresses[name] for name in BUSES)
    for address, name in ((session_bus, "ca.desrt.dconf"), (session_bus, "org.xfce.Xfconf"), (session_bus, "org.a11y.Bus"),
                          (a11y_bus, "org.a11y.atspi.Registry")):
        assert "method return" in bus_call(session, address, name, "/", "org.freedesktop.DBus.Peer.Ping"), name
