# SPDX-License-Identifier: GPL-2.0-or-later
"""The lease and those who watch: whose keys count, from when on, and what becomes of a person whose viewer is gone."""
import os
import signal
import time

import pytest

import loggers
from api import Api, in_thread
from conftest import until
from jail import part
from rfb import watch
from test_lease import Person, code_of, look, other

SHIFT = 0xFFE1


class Listener:
    """What a program of the group apps gets of keys. (A terminal is the agent's, and stands still in a hold.)"""

    def __init__(self, session):
        session.act({"action": "launch", "app": "editor"}, observe={"picture": "none"})
        self.session = session

    def text(self):
        look(self.session)
        self.session.act({"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})
        return self.session.do("clipboard_get")["text"] or ""


def echo(viewer):
    """What the viewer has sent so far has been read, and the screen after it."""
    viewer.whole()


def test_keys_count_for_the_holder_alone(make_session):
    session = make_session("desktop")
    listener = Listener(session)
    person = Person(session)
    with watch(session) as viewer, watch(session) as second:
        viewer.type("before")
        echo(viewer)
        lease = person.take(viewer=viewer.viewer)
        assert lease["viewer"] == viewer.viewer and lease["holder"] == "human"
        second.type("second")
        echo(second)
        viewer.type("mine ")
        echo(viewer)
        person.give()
        viewer.type("after")
        echo(viewer)
    assert listener.text() == "mine "


@pytest.mark.parametrize("how", [{"kind": "other"}, {"kind": "login", "keep_running": True}, {"kind": "login"}])
def test_a_program_that_has_all_keys(make_session, how):
    """One of the agent's has grabbed the keyboard: it would get what is typed when it goes on."""
    session = make_session("desktop")
    listener = Listener(session)
    loggers.put(session)
    session.run("sh", "-c", "setsid perl spy.pl grab - >heard 2>&1 </dev/null &")
    until(lambda: "pointer" in session.exec("cat", "heard")["stdout"])
    assert session.run("cat", "heard") == "keyboard done grabbed\npointer done grabbed\n"
    person = Person(session)
    with watch(session) as viewer:
        person.take(viewer=viewer.viewer, **how)
        viewer.type("mine ")
        echo(viewer)
        person.give()
    look(session)
    assert session.run("cat", "heard") == "keyboard done grabbed\npointer done grabbed\n"
    # A login ends the editor as well, which may run code of the agent.
    assert listener.text() == ("" if how == {"kind": "login"} else "mine ")


KEPT = [{"kind": "other"}, {"kind": "login", "keep_running": True}]


@pytest.mark.parametrize("how", KEPT, ids=["other", "login"])
def test_who_listens_on_the_accessibility_bus(make_session, how):
    """What apps tell while it stands still would wait for it there: it is ended, and the person is told."""
    session = make_session("minimal")
    listener = Listener(session)
    loggers.put(session)
    session.run("sh", "-c", "sleep 1000 >/dev/null 2>&1 & setsid ./overhear >heard 2>&1 </dev/null &")
    until(lambda: "listening" in session.exec("cat", "heard")["stdout"])
    session.do("type", text="heard ")
    until(lambda: "heard " in session.run("cat", "heard"))
    person = Person(session)
    with watch(session) as viewer:
        lease = person.take(viewer=viewer.viewer, **how)
        assert lease["ended"] == ["overhear"] and "sleep" in lease["programs"] and "overhear" not in lease["programs"], lease
        viewer.type("mine ")
        echo(viewer)
        person.give()
    assert listener.text() == "heard mine "
    assert "mine" not in session.run("cat", "heard")
    assert "ended" not in session.agent.call("GET", f"{session.path}/lease")


# A connection to the accessibility bus whose process has left it to a child: AUTH, Hello, and then all that comes.
HANDED_ON = r"""
use Socket;
my ($path) = $ENV{AT_SPI_BUS_ADDRESS} =~ /path=([^,]*)/;
socket(my $bus, PF_UNIX, SOCK_STREAM, 0) or die;
connect($bus, pack_sockaddr_un($path)) or die;
my $fields = '';
for (['1', 'o', '/org/freedesktop/DBus'], ['6', 's', 'org.freedesktop.DBus'], ['2', 's', 'org.freedesktop.DBus'], ['3', 's', 'Hello']) {
	my ($code, $kind, $text) = @$_;
	$fields .= "\0" x (-length($fields) % 8) . pack('C C a1 x L/a* x', $code, 1, $kind, $text);
}
syswrite($bus, "\0AUTH EXTERNAL " . unpack('H*', $>) . "\r\n");
sysread($bus, my $ok, 4096);
syswrite($bus, "BEGIN\r\n" . pack('a1 C C C L L L', 'l', 1, 0, 1, 0, 1, length($fields)) . $fields . "\0" x (-length($fields) % 8));
sysread($bus, my $name, 4096);
exit 0 if fork;
open(my $said, '>', 'handed');
syswrite($said, "on the bus\n") if $name =~ /:1\./;
sleep 1000;
"""


def test_a_connection_that_was_handed_on(make_session):
    """Nobody knows who has it: all that is the agent's is ended."""
    session = make_session("minimal")
    session.run("sh", "-c", "cat >handed.pl", stdin=HANDED_ON)
    # So many that they do not end in a moment.
    session.run("sh", "-c", "for n in $(seq 100); do sleep 1000 >/dev/null 2>&1 & done; setsid perl handed.pl >/dev/null 2>&1 </dev/null &")
    until(lambda: session.exec("cat", "handed")["stdout"] == "on the bus\n")
    person = Person(session)
    assert person.take(kind="other")["programs"] == []
    person.give()
    look(session)
    assert session.exec("pgrep", "sleep")["exit_code"] == 1


# A child that has ended and that its parent does not take away.
LEFT = """
pipe(my $end, my $start);
$0 = 'parent';
if (!fork) { $0 = 'child'; exit }
close $start;
<$end>;
open(my $said, '>', 'left');
sleep 1000;
"""


def test_what_has_ended_is_no_program(make_session):
    session = make_session("minimal")
    session.run("sh", "-c", "cat >left.pl; setsid perl left.pl >/dev/null 2>&1 </dev/null &", stdin=LEFT)
    until(lambda: session.exec("test", "-e", "left")["exit_code"] == 0)
    assert Person(session).take(kind="other")["programs"] == ["parent"]


def test_a_window_that_nobody_sees(make_session):
    """One of the agent's lies over the screen: it would get the person's clicks when it goes on."""
    session = make_session("minimal")
    listener = Listener(session)
    loggers.put(session)
    session.run("sh", "-c", "setsid perl spy.pl cover - >heard 2>&1 </dev/null &")
    until(lambda: "cover" in session.exec("cat", "heard")["stdout"])
    session.do("click", x=600, y=400)
    until(lambda: session.run("cat", "heard") == "cover done 1\nbutton 1\n")
    person = Person(session)
    with watch(session) as viewer:
        person.take(viewer=viewer.viewer, kind="other")
        viewer.click(600, 400)
        viewer.type("mine ")
        echo(viewer)
        person.give()
    look(session)
    assert listener.text() == "mine "
    assert session.run("cat", "heard") == "cover done 1\nbutton 1\n"


@pytest.mark.parametrize("kind", ["other", "login"])
def test_what_a_file_manager_was_told_to_run(make_session, kind):
    """It is the agent's, however it was started: it stands still, and is ended for a login."""
    session = make_session("desktop")
    session.run("sh", "-c", "cat >x.desktop && chmod +x x.desktop",
                stdin="[Desktop Entry]\nType=Application\nName=x\nExec=sh -c \"setsid sh -c 'while :; do date +%%s%%N >>ticks; sleep 0.1; done' & sleep 1000\"\n")
    session.act({"action": "launch", "app": "files"}, {"action": "type", "text": "x.desk"}, {"action": "key", "keys": "enter"}, observe={"picture": "none"})
    until(lambda: session.exec("test", "-s", "ticks")["exit_code"] == 0)
    person = Person(session)
    person.take(kind=kind)
    before = time.time_ns()
    time.sleep(1)
    assert ("sleep" in person.lease()["programs"]) == (kind == "other")
    after = time.time_ns()
    person.give()
    look(session)
    ticks = [int(tick) for tick in session.run("cat", "ticks").split()]
    assert not [tick for tick in ticks if before < tick < after]
    if kind == "other":
        until(lambda: int(session.run("tail", "-n1", "ticks")) > after)


def test_a_login_ends_apps_that_load_code(make_session):
    """What a toolkit finds in the agent's home runs in every app but the browsers."""
    session = make_session("desktop", apps=["editor", "panel"])
    person = Person(session)
    assert person.lease()["apps"] == ["Editor"]
    person.take(kind="login")
    until(lambda: person.lease()["apps"] == [])
    person.give()
    look(session)
    assert session.exec("pgrep", "-x", "mousepad")["exit_code"] == 1
    assert session.exec("pgrep", "-x", "tint2")["exit_code"] == 0
    session.do("launch", app="editor")
    person.take(kind="login", keep_running=True)
    assert person.lease()["apps"] == ["Editor"]
    person.give()


def test_an_app_of_several_programs(make_session):
    """The office is a program that starts another one: that is the app, and a person can use it."""
    session = make_session("office")
    session.act({"action": "launch", "app": "office-writer"}, observe={"picture": "none"})
    person = Person(session)
    person.take()
    assert "soffice.bin" not in person.lease()["programs"]
    person.give()
    look(session)
    assert session.run("sh", "-c", "cat /proc/$(pgrep soffice.bin)/cgroup").strip().endswith("/apps")


def test_when_somebody_types(session):
    """The countdown of an idle person begins anew with each key: that moves for people alone."""
    person = Person(session)
    with watch(session) as viewer:
        person.take(viewer=viewer.viewer)
        assert person.lease()["expires_at"]
        for api in (session.agent, Api(session.api.url, session.tokens["viewer"])):
            assert api.call("GET", f"{session.path}/lease")["expires_at"] is None
            assert api.call("GET", session.path)["lease"]["expires_at"] is None


def test_a_take_finds_the_viewer(session):
    person = Person(session)
    with watch(session) as viewer:
        assert person.take()["viewer"] == viewer.viewer
    with watch(session, "viewer"):
        until(lambda: person.lease()["viewer"] is None)
    assert code_of(other(session).take, viewer="v1") in ("bad_field", "lease_held")


def test_another_ones_viewer(session):
    with watch(session) as viewer:
        assert code_of(other(session).take, viewer=viewer.viewer) == "bad_field"
    assert Person(session).lease()["holder"] == "agent"


def test_a_viewer_without_controls(session):
    person = Person(session)
    with watch(session, controls=False) as viewer:
        assert code_of(person.take, viewer=viewer.viewer) == "bad_field"
        assert person.take()["viewer"] is None


def test_a_viewer_that_dies_and_comes_back(session):
    """What it held is let go of, and the person has thirty seconds."""
    person = Person(session)
    with watch(session) as viewer:
        person.take(viewer=viewer.viewer)
        viewer.key(SHIFT, True)
        echo(viewer)
    lost = until(lambda: (lease := person.lease()) and not lease["viewer"] and lease)
    assert lost["holder"] == "human" and lost["epoch"] == 2
    with watch(session) as viewer:
        until(lambda: person.lease()["viewer"] == viewer.viewer)
        assert person.lease()["epoch"] == 2
    until(lambda: not person.lease()["viewer"])
    told = person.lease(wait_epoch=2, timeout_ms=40000)
    assert (told["holder"], told["epoch"], told["expires_at"]) == ("nobody", 3, None)
    assert code_of(session.shot) == "lease_held"


@pytest.mark.long
def test_on_lost(make_session):
    session = make_session("minimal", on_lost={"return_after_s": 1})
    person = Person(session)
    with watch(session) as viewer:
        person.take(viewer=viewer.viewer)
    assert person.lease(wait_epoch=2, timeout_ms=60000)["holder"] == "nobody"
    assert person.lease(wait_epoch=3, timeout_ms=20000)["holder"] == "agent"
    look(session)


def test_a_login_is_the_holders_to_see(session):
    person = Person(session)
    thumbnail = f"{session.path}/thumbnail"
    person.take(kind="login")
    assert person.api.request("GET", thumbnail).status == 200
    for api in (session.api, other(session).api):
        reply = api.request("GET", thumbnail)
        assert (reply.status, reply.json["code"]) == (423, "lease_held")
    person.take(share=True)
    assert session.api.request("GET", thumbnail).status == 200
    person.take(share=False)
    session.api.call("POST", f"{session.path}/lease", {"action": "clear"})
    # Half a password may stand there.
    assert person.api.request("GET", thumbnail).status == 423


def test_a_display_that_does_not_answer(session):
    """X stands still: the lease goes on without it."""
    person = Person(session)
    server = part(session.id, "Xvfb")
    os.kill(server, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        assert person.take()["holder"] == "human"
        assert code_of(session.shot) == "lease_held"
        assert person.lease()["holder"] == "human"
        assert time.monotonic() - begun < 3
    finally:
        os.kill(server, signal.SIGCONT) # before the session is ended because of it
    assert person.give()["holder"] == "agent"
    assert time.monotonic() - begun < 9
    look(session)


def test_an_answer_that_was_being_made(session):
    """A picture that was asked for before the take and is ready after it is nobody's any more."""
    person = Person(session)
    server = part(session.id, "Xvfb")
    os.kill(server, signal.SIGSTOP)
    try:
        thread, results = in_thread(session.shot)
        time.sleep(0.3)  # it waits for X meanwhile, which takes two seconds at most
        assert thread.is_alive()
        person.take()
    finally:
        os.kill(server, signal.SIGCONT)
    thread.join()
    assert results[0].code == "lease_lost"
