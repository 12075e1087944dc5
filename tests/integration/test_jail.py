# SPDX-License-Identifier: GPL-2.0-or-later
"""The jails from inside, and their ends: whoever dies, nothing of a session stays."""
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

import pytest

import jail
from api import Refused, in_thread
from conftest import IMAGES, until
from test_rfb import as_role
from websocket import open_view

CYCLES = 200
CAP_SYS_RESOURCE = 24  # of linux/capability.h


def fields(text):
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


# The view from inside.

def test_no_rights(session):
    status = fields(session.run("cat", "/proc/self/status"))
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert status[name] == "0000000000000000", name
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert status["Uid"] == "1000\t1000\t1000\t1000"
    assert status["Groups"].strip() == ""
    assert session.run("id") == "uid=1000(user) gid=1000(user) groups=1000(user)\n"
    assert session.run("cat", "/proc/self/uid_map").split() == ["1000", session.run("cat", "/proc/self/uid_map").split()[1], "1"]
    core = core_limit()
    assert f"Max core file size        {core}                    {core}" in session.run("cat", "/proc/self/limits")


def core_limit():
    """1, which keeps core files from pipes too; under sudo, which sets 0, only where root may raise a limit."""
    may_raise = int(re.search(r"^CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text(), re.M)[1], 16) >> CAP_SYS_RESOURCE & 1
    return 0 if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0 and not may_raise else 1


def test_own_processes_alone(session):
    """pid 1 is init, nobody of the host or of the display is seen, and init's own is closed."""
    pids = [int(pid) for pid in session.run("sh", "-c", "ls /proc").split() if pid.isdigit()]
    assert max(pids) < 500
    assert session.run("cat", "/proc/1/comm").startswith("glovebox-init")
    for name in ("environ", "maps", "mem", "fd/4", "root", "cwd"):
        assert session.exec("cat", f"/proc/1/{name}")["exit_code"] != 0, name
    groups = session.run("cat", "/proc/self/cgroup").splitlines()
    assert "0::/agent" in groups
    assert all(line.split(":", 2)[2] in ("/", "/agent") for line in groups), groups


def test_mounts_show_nothing_of_the_host(server, session):
    lines = session.run("cat", "/proc/self/mountinfo").splitlines()
    for line in lines:
        for text in (str(server.state), str(IMAGES), "/var/lib/", "/home/user/", session.id, "ext4"):
            assert text not in line, line
    points = {line.split()[4]: line.split()[5].split(",") for line in lines}
    for point in ("/", "/dev", "/sys", "/proc/sys", "/tmp/.X11-unix", "/etc/machine-id"):
        assert "ro" in points[point], point
    for point, options in points.items():
        assert "nosuid" in options, point
    assert all("nodev" in points[point] for point in ("/", "/home", "/tmp", "/run", "/var/tmp", "/dev/shm"))
    assert set(session.run("ls", "/dev").split()) == {
        "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"}


def test_nothing_can_be_written_but_ones_own(session):
    for path in ("/x", "/etc/x", "/usr/x", "/root/x", "/var/lib/x", "/dev/x", "/sys/x", "/proc/sys/kernel/hostname", "/run/x",
                 "/run/glovebox/x", "/tmp/.X11-unix/x", "/etc/machine-id", "/proc/sysrq-trigger"):
        assert session.exec("sh", "-c", f"echo x >{path}")["exit_code"] != 0, path
    for path in ("/home/user/x", "/tmp/x", "/var/tmp/x", "/dev/shm/x", "/run/user/1000/x"):
        session.run("sh", "-c", f"echo x >{path}")


def test_loopback_alone(session):
    assert [line.split(":")[0].strip() for line in session.run("cat", "/proc/net/dev").splitlines()[2:]] == ["lo"]
    assert session.run("cat", "/proc/net/route").splitlines()[1:] == []
    # No abstract socket of an X server, here or elsewhere.
    assert "@" not in session.run("cat", "/proc/net/unix")
    assert session.run("ls", "/tmp/.X11-unix") == "X0\n"


def test_masked_proc(session):
    for name in ("kcore", "keys", "kallsyms", "timer_list", "cmdline", "diskstats", "partitions", "interrupts", "iomem", "zoneinfo",
                 "vmallocinfo", "config.gz"):
        assert session.exec("head", "-c", "10", f"/proc/{name}")["stdout"] == "", name
    for name, most in {"mnt": 0, "uts": 0, "cgroup": 0, "time": 0, "user": 512, "net": 512, "ipc": 512, "pid": 512}.items():
        assert int(session.run("cat", f"/proc/sys/user/max_{name}_namespaces")) == most


def test_home_and_identity(make_session):
    one, other = make_session("minimal"), make_session("minimal")
    ids = [s.run("cat", "/etc/machine-id").strip() for s in (one, other)]
    assert all(re.fullmatch("[0-9a-f]{32}", text) for text in ids) and ids[0] != ids[1]
    cookies = [s.run("od", "-An", "-tx1", "/run/glovebox/xauth") for s in (one, other)]
    assert cookies[0] != cookies[1]
    assert one.run("hostname") == "glovebox\n"
    assert one.run("stat", "-c", "%U %a", "/home/user", "/run/user/1000") == "user 700\nuser 700\n"
    assert ".profile" in one.run("ls", "-A", "/home/user")


def confinement(pid):
    """What a process is in: its user namespace, and how many system call filters it has."""
    return os.readlink(f"/proc/{pid}/ns/user"), int(fields(jail.read(f"/proc/{pid}/status"))["Seccomp_filters"])


def are_sandboxed(session, mark):
    """True once there are pages of a browser, each in a namespace of its own under one more filter than the jail's."""
    namespace, filters = confinement(jail.part(session.id, "glovebox-init"))
    pages = [pid for pid in jail.processes(session.id) if mark in jail.read(f"/proc/{pid}/cmdline")]
    try:
        found = [confinement(pid) for pid in pages]
    except (FileNotFoundError, KeyError):
        return False  # one has ended while we looked
    return found and all(own != namespace and more > filters for own, more in found)


@pytest.mark.parametrize("app, mark", [("firefox", "-isForBrowser"), ("chromium", "--type=renderer")])
def test_browsers_keep_their_own_sandboxes(make_session, app, mark):
    """Case W02."""
    session = make_session("desktop", apps=[app])
    until(lambda: are_sandboxed(session, mark))


# Filters of a process beside the warden's own, which all inherit: what init has from its builder and itself, all that it starts has, too.
FILTERS = {"glovebox-display": 0, "Xvfb": 1, "openbox": 1, "glovebox-stage": 1, "glovebox-view": 1, "glovebox-egress": 1, "glovebox-init": 2, "xterm": 3,
           "glovebox-relay": 4}


def test_each_process_has_its_own_filters(server, make_session):
    """That they are loaded at all: what they refuse is for test_confine.c and the battery."""
    session = make_session("minimal", apps=["terminal"], egress={"mode": "allowlist", "allow": []})
    _, own = confinement(server.process.pid)

    def found():
        return {name: confinement(pid)[1] - own for pid, name in jail.processes(session.id).items() if name in FILTERS}

    assert confinement(jail.part(jail.group_name(server), "glovebox-front"))[1] == own + 1
    with open_view(as_role(session, "viewer"), session)[0]:
        until(lambda: found().get("glovebox-view"))
        assert found() == FILTERS


# Limits.

def test_memory_limit(make_session):
    """What is too large dies, the session lives."""
    session = make_session("minimal", limits={"memory_mb": 256})
    result = session.exec("sh", "-c", "head -c 400m /dev/zero | tail -n 1 | wc -c; exit 3")
    assert result["stdout"].strip() != str(400 << 20)
    assert session.run("echo", "alive") == "alive\n"


def test_the_front_has_a_limit_too(server):
    """Of memory: callers can make it large."""
    folders = [folder for folder in jail.groups(jail.group_name(server)) if folder.endswith("/front")]
    limits = [jail.read(f"{folder}/{name}") for folder in folders for name in ("memory.limit_in_bytes", "memory.max")]
    assert [int(limit) for limit in limits if limit] == [768 << 20]


def test_what_answers_comes_first(server, session):
    """When the processor is short, the front before sessions, and stage and display before the jail."""
    name = jail.group_name(server)
    for group, more in ((f"{name}/front", 4), (f"{session.id}/stage", 4), (f"{session.id}/desk/display", 4), (f"{session.id}/desk/jail", 1)):
        folders = [folder for folder in jail.groups(name) if folder.endswith(group)]
        found = [int(text) / usual for folder in folders for file, usual in (("cpu.shares", 1024), ("cpu.weight", 100)) if (text := jail.read(f"{folder}/{file}"))]
        assert found == [more], (group, found)


def test_pids_limit(make_session):
    session = make_session("minimal", limits={"pids": 64})
    result = session.exec("sh", "-c", "for n in $(seq 100); do sleep 100 & done", timeout_ms=20000)
    assert "fork" in result["stderr"]
    name, = [line.split(":")[2] for line in jail.read(f"/proc/{jail.part(session.id, 'glovebox-init')}/cgroup").splitlines()
             if ":pids:" in line] or [None]
    if name:
        assert int(jail.read(f"/sys/fs/cgroup/pids{name}/pids.max")) == 64


def test_disk_limit(make_session):
    session = make_session("minimal", limits={"disk_mb": 16, "inodes": 1024})
    result = session.exec("sh", "-c", "head -c 32m /dev/zero >/home/user/big")
    assert "No space left" in result["stderr"]
    session.run("rm", "/home/user/big")
    result = session.exec("sh", "-c", "cd /tmp; for n in $(seq 3000); do : >f$n || exit 9; done")
    assert result["exit_code"] != 0 and "No space left" in result["stderr"]


# The display.

def sealed(lines):
    return lines and all("noexec" in line.split()[5].split(",") for line in lines) and lines


def test_display_is_sealed_and_alone(session):
    display = jail.part(session.id, "glovebox-display")
    # The warden is told to seal when the display is up, and answers to nobody when it has.
    lines = until(lambda: sealed(jail.read(f"/proc/{display}/mountinfo").splitlines()))
    assert all("ro" in line.split()[5].split(",") for line in lines if line.split()[4] in ("/", "/dev"))
    inside = {name for pid, name in jail.processes(session.id).items() if "/desk/display" in jail.read(f"/proc/{pid}/cgroup")}
    assert inside == {"glovebox-display", "Xvfb", "openbox"}
    for name in inside:
        status = fields(jail.read(f"/proc/{jail.part(session.id, name)}/status"))
        assert status["CapBnd"] == "0000000000000000" and status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", name


def test_uids_differ(server, session):
    """Apps, display, stage and front have a uid each, and none is anybody's."""
    uids = {name: fields(jail.read(f"/proc/{jail.part(session.id, name)}/status"))["Uid"].split()[0]
            for name in ("glovebox-init", "glovebox-display", "glovebox-stage")}
    uids["front"] = fields(jail.read(f"/proc/{jail.part(jail.group_name(server), 'glovebox-front')}/status"))["Uid"].split()[0]
    assert len(set(uids.values())) == 4
    assert all(int(uid) >= 1900000000 for uid in uids.values())


@pytest.mark.parametrize("program", ["glovebox-front", "glovebox-stage"])
def test_daemons_have_nothing(server, session, program):
    """No capability, an own network, and a root without a program or library."""
    pid = jail.part(session.id if program == "glovebox-stage" else jail.group_name(server), program)
    status = fields(jail.read(f"/proc/{pid}/status"))
    assert status["CapPrm"] == status["CapBnd"] == "0000000000000000" and status["Seccomp"] == "2"
    assert os.stat(f"/proc/{pid}/fd").st_uid == 0, "it is not undumpable"
    assert re.search(r"Max file size +1073741824 +1073741824 ", jail.read(f"/proc/{pid}/limits")), "its files have no bound"
    assert os.listdir(f"/proc/{pid}/root/usr") == []
    assert [line.split(":")[0].strip() for line in jail.read(f"/proc/{pid}/net/dev").splitlines()[2:]] == ["lo"]
    assert os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net")
    assert os.readlink(f"/proc/{pid}/ns/mnt") != os.readlink(f"/proc/{server.process.pid}/ns/mnt")


# The ends.

@pytest.mark.parametrize("program,reason", [
    ("glovebox-stage", "stage"), ("Xvfb", "display"), ("openbox", "display"), ("glovebox-display", "display"), ("glovebox-init", "apps")])
def test_a_part_dies(server, make_session, program, reason):
    before = jail.counts(server)
    session = make_session("minimal")
    session.run("sh", "-c", "(setsid sleep 1000 & setsid sh -c 'while :; do :; done' &) >/dev/null 2>&1")
    os.kill(jail.part(session.id, program), signal.SIGKILL)
    until(lambda: session.id not in server.live_sessions(), within_s=10)
    until(lambda: jail.counts(server) == before, within_s=5)
    assert not jail.processes(session.id)
    journal = server.state / "journals" / session.id
    front = os.stat(server.state / "front").st_uid
    assert {os.stat(path).st_uid for path in [journal, *journal.iterdir()]} == {front}
    with pytest.raises(Refused):
        session.run("true")


@pytest.mark.parametrize("program", ["glovebox-stage", "glovebox-init", "Xvfb"])
def test_a_part_dies_while_it_starts(server, program):
    before = jail.counts(server)
    name = jail.group_name(server)
    thread, results = in_thread(lambda: server.api.new(image="minimal"))
    os.kill(until(lambda: [pid for pid, what in jail.processes(name).items() if what == program], every_s=0.001)[0], signal.SIGKILL)
    thread.join()
    assert isinstance(results[0], Refused), "it was made before"
    assert (results[0].status, results[0].code) == (502, "session_failed"), results[0]
    until(lambda: jail.counts(server) == before, within_s=5)


def test_a_display_that_hangs(server, make_session):
    """No process ends, but the session is of no use any more."""
    before = jail.counts(server)
    session = make_session("minimal")
    os.kill(jail.part(session.id, "Xvfb"), signal.SIGSTOP)

    def is_over():
        session.agent.request("GET", f"{session.path}/screenshot")
        return session.id not in server.live_sessions()

    until(is_over, within_s=30)
    shown = server.api.call("GET", session.path)
    assert (shown["state"], shown["reason"]) == ("failed", "display_died")
    until(lambda: jail.counts(server) == before, within_s=5)


def test_destroy_answers_when_all_is_gone(server, make_session):
    before = jail.counts(server)
    session = make_session("minimal")
    session.run("sh", "-c", "(setsid sleep 1000 &) >/dev/null 2>&1")
    session.end()
    assert jail.counts(server) == before
    assert not jail.processes(session.id)


def test_front_dies(make_server):
    """Sessions go on, and the address serves again."""
    server = make_server()
    session = server.api.new(image="minimal")
    session.run("sh", "-c", "echo kept >/home/user/kept")
    for _ in range(2):
        front = jail.part(jail.group_name(server), "glovebox-front")
        os.kill(front, signal.SIGKILL)
        until(lambda: [pid for pid, name in jail.processes(jail.group_name(server)).items() if name == "glovebox-front" and pid != front],
              within_s=10)
        until(lambda: session.id in server.live_sessions(), within_s=10)
    assert session.run("cat", "/home/user/kept") == "kept\n"
    session.end()


def test_a_session_ends_while_no_front_is_there(make_server):
    """The next front finds out by itself."""
    server = make_server()
    lost, kept = server.api.new(image="minimal"), server.api.new(image="minimal")
    os.kill(jail.part(jail.group_name(server), "glovebox-front"), signal.SIGKILL)
    os.kill(jail.part(lost.id, "Xvfb"), signal.SIGKILL)
    until(lambda: server.live_sessions() == {kept.id}, within_s=10)
    assert kept.run("echo", "alive") == "alive\n"
    until(lambda: not jail.groups(lost.id), within_s=5)
    kept.end()


def test_warden_dies(make_server):
    """Processes and mounts are gone at once, groups and sockets at the next start before READY; journals stay."""
    server = make_server()
    sessions = [server.api.new(image="minimal") for _ in range(3)]
    sessions[0].run("sh", "-c", "(setsid sleep 1000 & setsid sh -c 'while :; do :; done' &) >/dev/null 2>&1")
    name = jail.group_name(server)
    assert len(jail.processes(name)) > 15
    server.kill(signal.SIGKILL)
    until(lambda: not jail.processes(name), within_s=2, every_s=0.01)
    server.assert_nothing_runs(within_s=5)
    assert jail.groups(name) and os.listdir(server.state / "run")
    server.start()
    assert os.listdir(server.state / "run") == []
    assert not [path for path in jail.groups(name) if any(session.id in path for session in sessions)]
    front = os.stat(server.state / "front").st_uid
    for session in sessions:
        assert os.stat(server.state / "journals" / session.id).st_uid == front
    assert not server.live_sessions()
    server.api.new(image="minimal").end()


def test_warden_dies_while_all_is_frozen(make_server):
    """A frozen jail dies with its warden too."""
    server = make_server()
    session = server.api.new(image="minimal")
    name = jail.group_name(server)
    freeze, = [path for path in jail.groups(session.id) if path.endswith("desk/jail") and os.path.exists(f"{path}/cgroup.freeze")]
    pathlib.Path(freeze, "cgroup.freeze").write_text("1")
    until(lambda: "frozen 1" in jail.read(f"{freeze}/cgroup.events"), within_s=5)
    server.kill(signal.SIGKILL)
    until(lambda: not jail.processes(name), within_s=2, every_s=0.01)
    server.assert_nothing_runs(within_s=5)
    server.start()


@pytest.mark.long
def test_many_cycles(server):
    """Made and ended again and again, some at the same time: nothing is left, nothing grows."""
    def cycle(_):
        server.api.new(image="minimal").end()

    cycle(0)
    before = jail.counts(server)
    memory = int(fields(jail.read(f"/proc/{server.process.pid}/status"))["VmRSS"].split()[0])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(cycle, range(CYCLES)))
    assert jail.counts(server) == before
    assert int(fields(jail.read(f"/proc/{server.process.pid}/status"))["VmRSS"].split()[0]) < memory + 2048


# Hostile images.

@pytest.fixture
def images(tmp_path):
    """A folder of images of our own: the host's display, and a root with what every root has."""
    folder = tmp_path / "images"
    (folder / "manifests").mkdir(parents=True)
    display = max(IMAGES.glob("display-" + "[0-9a-f]" * 12), key=lambda path: path.stat().st_mtime)
    subprocess.run(["cp", "-a", display, folder], check=True)
    return folder


def plant(folder, place, target):
    """An image `evil` whose `place` is a link to `target`, or a file where a folder belongs (None)."""
    root = folder / ("evil-" + "e" * 12) / "root"
    shutil.rmtree(root.parent, ignore_errors=True)
    for name in ("dev", "proc", "sys", "home", "tmp", "run", "var/tmp", "etc"):
        if not place.startswith(name) and not name.startswith(place):
            (root / name).mkdir(parents=True)
    for path in (root.parent, root):
        path.chmod(0o755)
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    if target is None:
        (root / place).write_text("a file")
    else:
        (root / place).symlink_to(target)
    (folder / "manifests" / "evil.json").write_text('{"name": "evil", "hash": "%s", "apps": [], "session_bus": false}' % ("e" * 64))


def test_links_of_an_image_lead_nowhere(make_server, images, tmp_path):
    """Every mount point must be a real folder: a session whose image says otherwise does not start, and the host is as it was."""
    canary = tmp_path / "canary"
    (canary / "tmp").mkdir(parents=True)
    (canary / "machine-id").write_text("host\n")
    server = make_server("--images", images)
    before = jail.counts(server)
    cases = [(place, canary) for place in ("dev", "proc", "sys", "home", "tmp", "run", "var", "var/tmp", "etc")]
    cases += [("etc/machine-id", canary / "machine-id"), ("home", "../../../.."), ("run", "/proc/1/root/tmp")]
    cases += [(place, None) for place in ("dev", "home", "tmp", "run")]
    listing = sorted(str(path) for path in canary.rglob("*"))
    for place, target in cases:
        plant(images, place, target)
        with pytest.raises(Refused) as refused:
            server.api.new(image="evil")
        assert refused.value.code == "session_failed", (place, refused.value)
        assert str(tmp_path) not in str(refused.value.problem), "a path of the host is told"
        until(lambda: jail.counts(server) == before, within_s=5)
    assert sorted(str(path) for path in canary.rglob("*")) == listing
    assert (canary / "machine-id").read_text() == "host\n"
    assert len(re.findall("of the image (goes over a link|is not a folder)", server.log_text())) == len(cases)


def test_an_image_that_others_can_write(make_server, images):
    server = make_server("--images", images)
    plant(images, "etc/hostname", None)
    root = images / ("evil-" + "e" * 12) / "root"
    for path in (root, root.parent, images):
        path.chmod(0o777)
        with pytest.raises(Refused) as refused:
            server.api.new(image="evil")
        assert (refused.value.code, "written by others" in refused.value.problem["detail"]) == ("no_image", True), path
        path.chmod(0o755)


def test_ceilings_hold(make_server, tmp_path):
    ceilings = tmp_path / "ceilings"
    ceilings.write_text("sessions = 1\nmemory_mb = 512\nttl_s = 60 # a minute\n")
    server = make_server("--ceilings", ceilings)
    with pytest.raises(Refused) as refused:
        server.api.new(image="minimal")
    assert (refused.value.code, refused.value.pointer) == ("bad_field", "/limits/memory_mb")
    assert "512" in refused.value.problem["detail"]
    session = server.api.new(image="minimal", ttl_s=60, limits={"memory_mb": 512})
    with pytest.raises(Refused) as refused:
        server.api.new(image="minimal", ttl_s=60, limits={"memory_mb": 512})
    assert refused.value.code == "limit_reached"
    session.end()


def test_the_wardens_own_rights(server):
    """It keeps what building jails takes, sees no network, and starts what it opened at its start alone."""
    status = fields(jail.read(f"/proc/{server.process.pid}/status"))
    kept = int(status["CapEff"], 16)
    for bit, name in {12: "NET_ADMIN", 13: "NET_RAW", 16: "SYS_MODULE", 17: "SYS_RAWIO", 22: "SYS_BOOT", 25: "SYS_TIME", 27: "MKNOD",
                      38: "PERFMON", 39: "BPF"}.items():
        assert bool(kept >> bit & 1) == (name == "NET_ADMIN"), name
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    assert os.readlink(f"/proc/{server.process.pid}/ns/net") != os.readlink("/proc/self/ns/net")


def test_a_jail_cannot_fill_the_log(make_server):
    """What its programs write to the standard error of their parents goes nowhere, and a display's lines are bounded."""
    server = make_server()
    session = server.api.new(image="minimal")
    before = len(server.log_text())
    session.exec("sh", "-c", "for fd in /proc/1/fd/1 /proc/1/fd/2; do yes forged >$fd; done", timeout_ms=2000)
    assert "forged" not in server.log_text()[before:]
    session.end()
