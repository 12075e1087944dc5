# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that an ordinary user starts: the same sessions, with the user's subordinate ids, and control groups if they are delegated."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

import escape
from api import Refused
from conftest import BUILD, IMAGES, Server, until
from outside import Site

UID = 424242
OTHER = 424243  # another ordinary user
FIRST, MANY = 2000000000, 65536
SUBORDINATE = range(FIRST, FIRST + MANY)
LIMITS = {"memory", "pids", "cpu"}

# The user's own lists of users and ids, and the images at a place that the user can get to; then the groups; then what to run, as the user.
SCRIPT = """set -e
for list in passwd subuid subgid; do mount --bind "$1/$list" /etc/$list; done
mount --rbind "$2" "$1/images"
for group in $3; do echo $$ >"$group/cgroup.procs"; done
home=$1
shift 3
exec env -i PATH=/usr/bin:/bin HOME="$home" setpriv --reuid=%d --regid=%d --clear-groups "$@"
""" % (UID, UID)


def delegated(name):
    """A control group in each hierarchy that limits something, given to the user as a service manager does it."""
    root = pathlib.Path("/sys/fs/cgroup")
    whole = (root / "cgroup.controllers").exists()
    if whole:
        (root / "cgroup.subtree_control").write_text("+memory +pids +cpu")
    groups = [place / name for place in ([root] if whole else [root / part for part in ("memory", "pids", "cpu", "unified")])]
    for group in groups:
        group.mkdir()
        for file in (".", "cgroup.procs", "tasks", "cgroup.subtree_control", "cgroup.threads"):
            with contextlib.suppress(FileNotFoundError):
                os.chown(group / file, UID, UID)
    return groups


def give_back(groups):
    for group in groups:
        for inner in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
            inner.rmdir()
        group.rmdir()


class Home:
    """What a machine has of one ordinary user."""

    def __init__(self, ranges):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="glovebox-user-"))
        (self.path / "passwd").write_text(f"root:x:0:0:root:/root:/bin/sh\nvera:x:{UID}:{UID}::{self.path}:/bin/sh\n")
        for name in ("subuid", "subgid"):
            (self.path / name).write_text(ranges)
        for name in ("images", "bin"):
            (self.path / name).mkdir()
        for program in BUILD.iterdir():
            if program.is_file() and program.name.startswith("glovebox"):
                shutil.copy2(program, self.path / "bin" / program.name)
        os.chown(self.path, UID, UID)

    def through(self, images=IMAGES, groups=()):
        return ["unshare", "--mount", "sh", "-c", SCRIPT, "sh", self.path, images, " ".join(map(str, groups))]

    def server(self, *options, name="alone", images=IMAGES, groups=()):
        state = self.path / name
        state.mkdir(mode=0o700, exist_ok=True)
        os.chown(state, UID, UID)
        return Server(state, *options, programs=self.path / "bin", images=self.path / "images", through=self.through(images, groups))



@pytest.fixture(scope="module")
def home(prepared):
    home = Home(f"other:1000:5\nvera:{FIRST}:{MANY}\n")
    yield home
    shutil.rmtree(home.path)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    (folder / "index.html").write_text("from outside\n")
    site = Site(folder)
    yield site
    site.close()


@pytest.fixture(scope="module")
def users(home):
    """With groups of its own."""
    groups = delegated(f"glovebox-user-{os.getpid()}")
    server = home.server(name="users", groups=groups).start()
    yield server
    server.stop()
    give_back(groups)


@pytest.fixture(scope="module")
def hostile(home, tmp_path_factory):
    groups = delegated(f"glovebox-hostile-{os.getpid()}")
    with escape.images(tmp_path_factory.mktemp("escape") / "images") as images:
        server = home.server(name="hostile", images=images, groups=groups).start()
        yield server.api.new(image=escape.IMAGE)
        server.stop()
    give_back(groups)


def below(pid):
    """The processes that came from this one: {pid: (program, real uid)}."""
    found = {}
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{child}/status").read_text().splitlines())
        found[int(child)] = status["Name"].strip(), int(status["Uid"].split()[0])
        found |= below(child)
    return found


def test_a_session_of_it(users):
    session = users.api.new(image="desktop", apps=["firefox"])
    report = users.api.call("GET", session.path)["isolation_report"]
    assert report["missing"] == [] and set(report["in_force"]) >= LIMITS | {"disk", "freeze", "seccomp", "handover"}
    assert report["weaker"] == ["server_user"]
    assert session.run("id", "-u") == "1000\n" and session.shot().size == (1280, 800)
    uids = {}
    for name, uid in below(users.process.pid).values():
        uids.setdefault(name, set()).add(uid)
    assert uids.pop("gloveboxd") == {UID}
    parts = {name: uids[name] for name in ("glovebox-front", "glovebox-stage", "Xvfb", "glovebox-init")}
    assert all(len(uid) == 1 for uid in parts.values()) and len(set().union(*parts.values())) == 4, parts
    assert set().union(*uids.values()) <= set(SUBORDINATE)
    session.end()


def test_the_command_line_finds_its_token(users, home):
    token = home.path / ".config/glovebox/token"
    assert token.read_text() == (users.state / "operator.token").read_text() and token.stat().st_uid == UID and token.stat().st_mode & 0o077 == 0


def test_a_way_out(home, site):
    """Into the host's network, which the server itself has not left; everybody else has a network of its own."""
    (home.path / "ceilings").write_text("unlimited = 1\negress_permit = 127.0.0.1\n")
    server = home.server("--ceilings", home.path / "ceilings", name="outward").start()
    try:
        session = server.api.new(image="toolkits", egress={"mode": "allowlist", "allow": [f"127.0.0.1:{site.port}"]})
        assert session.run("curl", "-sS", "--noproxy", "", site.url(host="127.0.0.1")) == "from outside\n"
        networks = {}
        for pid, (name, _) in below(server.process.pid).items():
            networks.setdefault(os.readlink(f"/proc/{pid}/ns/net"), set()).add(name)
        assert networks[os.readlink("/proc/self/ns/net")] == {"gloveboxd", "glovebox-egress"}
        session.end()
    finally:
        server.stop()


def test_limits_hold(users):
    session = users.api.new(image="minimal", limits={"pids": 64})
    answer = session.exec("sh", "-c", "for i in $(seq 100); do sleep 100 & done; wait", timeout_ms=5000)
    assert "fork" in answer["stderr"].lower() or "resource" in answer["stderr"].lower(), answer
    session.end()


def doctor(home, groups=(), *options):
    """Its rows, and whether a session can run."""
    done = subprocess.run([*home.through(groups=groups), home.path / "bin/glovebox", "doctor", "--json", "--state", home.path / "doctor", "--images", home.path / "images",
                           *options], capture_output=True, text=True, timeout=60)
    answer = json.loads(done.stdout)
    assert answer["ok"] == (done.returncode == 0), done.stderr
    return {row["name"]: row["result"] for row in answer["rows"]}, answer["ok"]


def test_doctor(home):
    """What it finds in the namespaces that such a server would have."""
    groups = delegated(f"glovebox-doctor-{os.getpid()}")
    try:
        rows, good = doctor(home, groups)
        assert good and set(rows.values()) == {"ok"}, rows
    finally:
        give_back(groups)
    rows, good = doctor(home)
    assert not good and {name for name, result in rows.items() if result == "missing"} == {"memory limit", "process limit", "cpu limit"}
    (home.path / "ceilings").write_text("unlimited = 1\n")
    rows, good = doctor(home, (), "--ceilings", home.path / "ceilings")
    assert good and rows["memory limit"] == "ok" and rows["freeze and kill"] == "weaker"


@pytest.mark.parametrize("how", escape.HOW)
def test_what_hostile_programs_try(hostile, how):
    """The same battery as in the jail of a server of root's."""
    rows = escape.run(hostile, how)
    wrong = [row for row in rows if row.verdict != "ok"]
    assert len(rows) >= 150 and not wrong, escape.table(wrong)


@pytest.mark.parametrize("ranges, has", [("", 0), (f"vera:{FIRST}:100\n", 100), (f"{UID}:{FIRST}:4159\n", 4159), ("vera:x:y\n", 0)])
def test_too_few_ids(home, ranges, has):
    (home.path / "subuid").write_text(ranges)
    try:
        done = subprocess.run([*home.through(), home.path / "bin/gloveboxd", "--listen", "127.0.0.1:0", "--state", home.path / "none"],
                              capture_output=True, text=True, timeout=60)
    finally:
        (home.path / "subuid").write_text(f"vera:{FIRST}:{MANY}\n")
    assert done.returncode == 1 and f"has {has} subordinate ids" in done.stderr and "take 4160" in done.stderr and "usermod" in done.stderr
    assert not (home.path / "none").exists()


def test_without_groups(home):
    """Nothing limits such a session, so there is none, unless the operator said that there may be."""
    with contextlib.ExitStack() as stack:
        server = home.server().start()
        stack.callback(server.stop)
        with pytest.raises(Refused) as refused:
            server.api.new(image="minimal")
        assert refused.value.code == "unsupported" and all(name in refused.value.problem["detail"] for name in LIMITS)
        assert server.live_sessions() == set()
    (home.path / "ceilings").write_text("unlimited = 1\n")
    server = home.server("--ceilings", home.path / "ceilings").start()
    session = server.api.new(image="minimal")
    with pytest.raises(Refused) as refused:
        server.api.new(image="minimal", setup={"commands": ["setsid sleep 1000 &"]})
    assert refused.value.code == "unsupported" and refused.value.pointer == "/setup", refused.value.problem
    report = server.api.call("GET", session.path)["isolation_report"]
    assert set(report["missing"]) >= LIMITS and session.run("echo", "there") == "there\n"
    # Neither the outer process nor the server outlives the other.
    before = set(below(server.process.pid))
    assert server.kill(signal.SIGKILL) == -signal.SIGKILL
    server.assert_nothing_runs(within_s=10)
    until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in before))


def test_images_of_somebody_else(home, tmp_path):
    """The user and root may choose what runs in jails, nobody else."""
    images = tmp_path / "images"
    shutil.copytree(IMAGES / "manifests", images / "manifests")
    for name in ("minimal", "display"):
        tree, = IMAGES.glob(f"{name}-*")
        (images / tree.name).mkdir()
        (images / tree.name / "root").symlink_to("/")
    os.chown(images, OTHER, OTHER)
    (home.path / "ceilings").write_text("unlimited = 1\n")
    server = home.server("--ceilings", home.path / "ceilings", images=images).start()
    try:
        with pytest.raises(Refused) as refused:
            server.api.new(image="minimal")
        assert refused.value.code == "no_image" and "others" in refused.value.problem["detail"]
    finally:
        server.stop()
