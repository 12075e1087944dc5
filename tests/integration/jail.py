# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server has on the host, seen from outside: processes, mounts, control groups, descriptors, files."""
import base64
import os
import pathlib

PF_EXITING = 0x4
GROUPS = pathlib.Path("/sys/fs/cgroup")


def read(path):
    """The text of a file of proc, or "" when its process is gone."""
    try:
        return pathlib.Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_alive(pid):
    """False too for one that is dying: what it had is gone, it only waits to be reaped."""
    stat = read(f"/proc/{pid}/stat")
    return bool(stat) and not int(stat[stat.rindex(")") + 2:].split()[6]) & PF_EXITING


def processes(mark):
    """{pid: program} of the processes whose control group's path has `mark` in it: a session's id, a server's name."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if mark in read(f"/proc/{pid}/cgroup") and is_alive(pid):
            found[int(pid)] = os.path.basename(read(f"/proc/{pid}/cmdline").split("\0")[0])
    return found


def part(mark, program):
    """The pid of the one process of this program."""
    pid, = [pid for pid, name in processes(mark).items() if name == program]
    return pid


def leak_cookie(session):
    """The X authority of the display itself, which only a fault could give to an agent, as a file of the session: XAUTHORITY=leaked."""
    cookie = pathlib.Path(f"/proc/{part(session.id, 'Xvfb')}/root/tmp/xauth").read_bytes()
    session.run("sh", "-c", "base64 -d >leaked", stdin=base64.b64encode(cookie).decode())


def groups(mark):
    """The control groups with `mark` in their path."""
    return sorted(folder for folder, _, _ in os.walk(GROUPS) if mark in folder)


def group_name(server):
    """The name of the server's folder of control groups."""
    return pathlib.Path((server.state / "groups").read_text().splitlines()[0]).name


def counts(server):
    """All that must be the same before and after a session."""
    warden = server.process.pid
    return {
        "processes": sorted(processes(group_name(server)).values()),
        "groups": groups(group_name(server)),
        "mounts": sorted(line.split(" ", 4)[4] for line in read(f"/proc/{warden}/mountinfo").splitlines()),
        "descriptors": len(os.listdir(f"/proc/{warden}/fd")),
        "sockets": sorted(os.listdir(server.state / "run")),
        "displays": sorted(os.listdir(f"/proc/{warden}/root{server.state}/share/x11")),
    }


def stage_of(session):
    """The process id of a session's stage, which its control group names."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if (entry / "comm").read_text() == "glovebox-stage\n" and session.id in (entry / "cgroup").read_text():
                return int(entry.name)
        except OSError:
            continue
    return None
