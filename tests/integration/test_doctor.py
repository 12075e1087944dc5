# SPDX-License-Identifier: GPL-2.0-or-later
"""glovebox doctor: it says what this host can do, as a session finds it, and turns red with a mend where something is broken."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, IMAGES, mounts

FIELDS = {"name", "purpose", "result", "value", "effect", "mend"}
RESULTS = {"ok", "weaker", "missing", "unknown"}


def doctor(*words, programs=BUILD, listen="127.0.0.1:0", **options):
    return subprocess.run([programs / "glovebox", "doctor", "--listen", listen, *map(str, words)], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, **options)


def look(*words, **options):
    """The exit status, and the rows by their names."""
    done = doctor("--json", *words, **options)
    answer = json.loads(done.stdout)
    rows = {row["name"]: row for row in answer["rows"]}
    assert len(rows) == len(answer["rows"]), "two rows have one name"
    for row in rows.values():
        assert set(row) == FIELDS and row["result"] in RESULTS and row["purpose"]
        assert row["result"] == "ok" or (row["effect"] and row["mend"]), row
    assert answer["ok"] == (done.returncode == 0)
    return done.returncode, rows


@pytest.fixture(scope="module")
def healthy(prepared):
    status, rows = look("--images", IMAGES)
    assert status == 0, [row for row in rows.values() if row["result"] == "missing"]
    return rows


def groups():
    return {path for path in pathlib.Path("/sys/fs/cgroup").rglob("*glovebox-probe*")}


def test_a_session_can_run_here(healthy):
    assert {"uids", "files of a jail", "nested namespaces", "system call filters", "image minimal", "network"} <= set(healthy)
    assert healthy["architecture"]["value"] == "x86_64"
    assert healthy["kernel"]["value"] == os.uname().release


def test_it_agrees_with_a_session(healthy, session):
    report = session.api.call("GET", f"/v1/sessions/{session.id}")["isolation_report"]
    said = {match[1]: row["result"] == "ok" for row in healthy.values() if (match := re.fullmatch(r"(\w+) in isolation_report", row["purpose"]))}
    assert set(said) == {"memory", "pids", "cpu", "swap_off", "freeze", "handover", "landlock_ports", "landlock_scopes"}
    assert {name for name, holds in said.items() if holds} == set(report["in_force"]) & set(said)
    assert {name for name, holds in said.items() if not holds} == set(report["missing"]) & set(said)


def test_it_leaves_nothing(prepared):
    before = groups()
    look("--images", IMAGES)
    assert groups() == before and mounts("glovebox-probe") == []
    assert list(pathlib.Path("/tmp").glob("glovebox-probe-*")) == []


def test_a_server_that_runs_is_seen(server):
    _, rows = look("--state", server.state, "--images", IMAGES, listen=server.url.removeprefix("http://"))
    assert f"pid {server.process.pid}" in rows["state folder"]["value"]
    assert rows["port"]["result"] == "weaker" and f"pid {server.process.pid}" in rows["port"]["value"]


@pytest.mark.parametrize("account", ["/etc/passwd", "/etc/group"])
def test_uids_that_somebody_has(prepared, tmp_path, account):
    """The ceilings name a range in which a mapped account of this host lies."""
    taken = next(int(line.split(":")[2]) for line in pathlib.Path(account).read_text().splitlines() if line.startswith(("nobody:", "nogroup:")))
    assert taken == 65534
    ceilings = tmp_path / "ceilings"
    ceilings.write_text("uid_base = 65536\nsessions = 1\n")
    assert look("--images", IMAGES, "--ceilings", ceilings)[1]["uids"]["result"] == "ok"
    ceilings.write_text("uid_base = 65530\n")
    status, rows = look("--images", IMAGES, "--ceilings", ceilings)
    assert status == 1 and rows["uids"]["result"] == "missing"
    assert "allowed 65536" in rows["uids"]["value"] and "uid_base" in rows["uids"]["mend"]


def test_subordinate_uids_that_overlap(prepared, tmp_path):
    """In a mount namespace of its own, with another /etc/subuid."""
    subuid = tmp_path / "subuid"
    subuid.write_text("somebody:1900000000:65536\n")
    target = pathlib.Path("/etc/subuid")
    if not target.exists():
        target = pathlib.Path("/etc/passwd")
        subuid.write_text(target.read_text() + "somebody:x:1900000064:0::/:/bin/false\n")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", f'mount --bind {subuid} {target} && exec "$@"', "sh", BUILD / "glovebox", "doctor",
                           "--json", "--images", IMAGES], capture_output=True, text=True, timeout=60)
    row = next(row for row in json.loads(done.stdout)["rows"] if row["name"] == "uids")
    assert done.returncode == 1 and row["result"] == "missing" and "somebody" in row["value"]


def test_images_that_are_not_there(prepared, tmp_path):
    status, rows = look("--images", tmp_path / "none")
    assert status == 1 and rows["images"]["result"] == "missing"
    assert rows["images"]["mend"] == f"sudo glovebox image build --images {tmp_path}/none display minimal"


def test_an_image_without_its_tree(prepared, tmp_path):
    (tmp_path / "manifests").mkdir()
    for name in ("display", "minimal"):
        shutil.copy(IMAGES / f"manifests/{name}.json", tmp_path / "manifests")
    (tmp_path / f"display-{json.loads((IMAGES / 'manifests/display.json').read_text())['hash'][:12]}" / "root").mkdir(parents=True)
    status, rows = look("--images", tmp_path)
    assert status == 1 and rows["image display"]["result"] == "ok" and rows["image minimal"]["result"] == "missing"
    assert "image build" in rows["image minimal"]["mend"]


def test_a_program_that_is_not_there(prepared, tmp_path):
    for name in ("glovebox", "gloveboxd", "glovebox-front", "glovebox-stage", "glovebox-display", "glovebox-view", "glovebox-egress", "glovebox-launch", "glovebox-access", "glovebox-files"):
        shutil.copy(BUILD / name, tmp_path)
    status, rows = look("--images", IMAGES, programs=tmp_path)
    assert status == 1 and rows["programs"]["result"] == "missing" and "glovebox-init" in rows["programs"]["value"]


def test_limits_of_the_caller(prepared):
    done = subprocess.run(["sh", "-c", 'ulimit -n 4096; exec "$@"', "sh", BUILD / "glovebox", "doctor", "--json", "--images", IMAGES],
                          capture_output=True, text=True, timeout=60)
    row = next(row for row in json.loads(done.stdout)["rows"] if row["name"] == "open files")
    assert done.returncode == 1 and row["result"] == "missing" and "ulimit -Hn" in row["mend"]


def test_namespaces_that_are_forbidden(prepared):
    """Without CAP_SYS_ADMIN nothing of it works, and it says so instead of failing."""
    done = subprocess.run(["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", BUILD / "glovebox", "doctor", "--json", "--images", IMAGES],
                          capture_output=True, text=True, timeout=60)
    rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    assert done.returncode == 1
    for name in ("mount namespace", "files of a jail", "net namespace", "memory limit", "process limit", "cpu limit"):
        assert rows[name]["result"] == "missing", rows[name]
    for name in ("capabilities", "control groups", "no swap"):
        assert rows[name]["result"] == "weaker", rows[name]
    assert "isolation_report" in rows["no swap"]["effect"] and "unlimited = 1" in rows["memory limit"]["mend"]


def test_as_a_user(prepared):
    """What takes root is said to be unknown, and that is no yes."""
    status, rows = look("--images", IMAGES, user=65534, group=65534, extra_groups=[])
    unknown = {name for name, row in rows.items() if row["result"] == "unknown"}
    assert status == 1 and {"control groups", "mount namespace", "files of a jail"} <= unknown
    assert rows["architecture"]["result"] == "ok" and all("sudo" in rows[name]["mend"] for name in unknown)


def test_for_people(prepared):
    done = doctor("--images", IMAGES)
    assert done.returncode == 0 and done.stdout.endswith("\nSessions can run here.\n") and "\033" not in done.stdout
    assert re.search(r"^ok +kernel +\d", done.stdout, re.M)
