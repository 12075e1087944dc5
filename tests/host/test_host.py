# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's own kernel with systemd and cgroup v2 alone, in an emulated machine: what `make install` installs, used as an operator would.
The machine is booted once; tests/host/guest runs in it and reports, and the tests here judge."""
import base64
import io
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from PIL import Image, ImageChops

TREE = pathlib.Path(__file__).resolve().parents[2]
STATE = pathlib.Path(os.environ.get("STATE", "/var/lib/glovebox"))
BOOT_S = 900  # without KVM every second of work takes ten and more
LAYERS = {"memory", "pids", "cpu", "disk", "swap_off", "freeze", "seccomp", "handover"}
TOO_NEW = {"landlock_ports": "landlock of ports", "landlock_scopes": "landlock of signals"}  # for Debian's kernel 6.1: in a report, and of doctor
COMMAND = "/bin/sh -c 'mkdir -p /mnt && mount /dev/vdb /mnt && exec /mnt/guest'"


def run(*words, **options):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **options)
    assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


def make_payload(folder):
    """The second disk: what `make install` installs, the images of this machine, and the script."""
    content = folder / "content"
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    run("make", "-s", "-C", TREE, "install", f"DESTDIR={content}/dest", env=env)
    shutil.copy(TREE / "tests/host/guest", content / "guest")
    images = content / "state/images"
    (images / "manifests").mkdir(parents=True)
    for name in ("display", "minimal"):
        manifest = STATE / f"images/manifests/{name}.json"
        shutil.copy(manifest, images / "manifests")
        run("cp", "-a", STATE / f"images/{name}-{json.loads(manifest.read_text())['hash'][:12]}", images)
    run("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", content, folder / "payload.ext4", "2G")
    shutil.rmtree(content)
    return folder / "payload.ext4"


def boot(debian, payload, folder):
    """Runs the machine until it turns itself off; what it reported, and its console's last lines."""
    report, console = folder / "report", folder / "console"
    words = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2048", "-nodefaults", "-no-reboot",
             "-display", "none", "-monitor", "none", "-kernel", debian / "vmlinuz", "-initrd", debian / "initrd",
             "-append", f'root=/dev/vda rw console=ttyS0 quiet panic=-1 systemd.run="{COMMAND}"',
             "-drive", f"file={debian}/root.ext4,format=raw,if=virtio,snapshot=on", "-drive", f"file={payload},format=raw,if=virtio",
             "-serial", f"file:{console}", "-serial", f"file:{report}"]
    try:
        subprocess.run([*map(str, words)], timeout=BOOT_S, check=True, stdin=subprocess.DEVNULL)
    except subprocess.SubprocessError as error:
        pytest.fail(f"{error}\n{report.read_text(errors='replace')[-2000:]}\n{console.read_text(errors='replace')[-4000:]}", pytrace=False)
    return parse(report.read_text()), console.read_text(errors="replace")[-4000:]


def parse(text):
    facts = {}
    for line in text.splitlines():
        name, _, value = line.partition("\t")
        facts[name] = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)
    return facts


@pytest.fixture(scope="session")
def facts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("host")
    debian = pathlib.Path(run(TREE / "tests/host/disk", STATE / "host").splitlines()[-1])
    payload = make_payload(folder)
    found, console = boot(debian, payload, folder)
    payload.unlink()
    assert found.get("end") == "yes", f"it ended early; the last it said was {list(found)[-3:]}\n{console}"
    print({name: value for name, value in found.items() if name.endswith(".at")})
    return found


def done(facts, name):
    """What a command printed that had to succeed."""
    assert facts[f"{name}.status"] == "0", f"{name}: {facts[name]}\n{facts[f'{name}.err']}\n{facts['journal'][-2000:]}"
    return facts[name]


def lines(facts, name):
    return facts[name].splitlines()


def picture(facts, name):
    return Image.open(io.BytesIO(base64.b64decode(facts[name]))).convert("RGB")


def test_the_host_is_what_it_should_be(facts):
    assert re.match(r"6\.1\..* x86_64$", facts["kernel"])
    assert "cgroup2" in facts["hierarchies"] and " cgroup " not in facts["hierarchies"]


def test_systemd_starts_it(facts):
    done(facts, "start")
    assert {"ActiveState=active", "SubState=running", "Result=success"} <= set(lines(facts, "unit"))


@pytest.mark.parametrize("way", ["warden", "scope"])
def test_the_warden_sits_in_a_leaf(facts, way):
    """Only a group without processes hands its controllers down."""
    assert re.fullmatch(r"0::/system\.slice/[^/]+\.(service|scope)/glovebox-[0-9a-f]{16}/warden", facts[f"{way}.cgroup"].strip())


@pytest.mark.parametrize("way", ["new", "second", "scope"])
def test_a_session_has_all_of_its_limits(facts, way):
    report = json.loads(done(facts, way))["isolation_report"]
    assert set(report["in_force"]) >= LAYERS and set(report["missing"]) == set(TOO_NEW)


def test_the_limit_is_in_the_group(facts):
    assert int(done(facts, "memory")) == 3072 * 1024 * 1024


def test_launch_click_and_type(facts):
    assert json.loads(done(facts, "launch"))["ok"]
    assert json.loads(done(facts, "typing"))["ok"]
    assert done(facts, "typed") == "Glovebox wörks 42"


def test_what_runs_inside_has_no_rights(facts):
    text = done(facts, "who")
    assert text.startswith("1000\n0::/agent\n") and "CapEff:\t0000000000000000" in text and "NoNewPrivs:\t1" in text and "Seccomp:\t2" in text


def test_doctor_agrees(facts):
    answer = json.loads(done(facts, "doctor"))
    assert answer["ok"], [row for row in answer["rows"] if row["result"] == "missing"]
    # The server holds the port.
    assert {row["name"] for row in answer["rows"] if row["result"] != "ok"} == {"port", *TOO_NEW.values()}


def test_no_command_makes_a_namespace(facts):
    assert facts["nested.status"] == "1" and "Operation not permitted" in facts["nested.err"]


def test_pause(facts):
    done(facts, "pause")
    assert done(facts, "frozen").split() == ["frozen", "1"]
    assert facts["while_paused.status"] == "1" and json.loads(facts["while_paused"])["code"] == "paused"
    done(facts, "resume")
    assert done(facts, "thawed") == "again"


def test_pictures(facts):
    before, after = picture(facts, "picture.before"), picture(facts, "picture.after")
    assert before.size == after.size == (1280, 800)
    assert before.getextrema() != ((0, 0),) * 3, "the desktop is black"
    drawn = ImageChops.difference(before, after).convert("L").point(lambda value: 255 if value else 0)
    # A terminal of 80x24, and letters in it: of two colours at least, and not just a frame.
    assert drawn.histogram()[255] > 100_000
    left, top, right, bottom = drawn.getbbox()
    counts = sorted(after.crop((left, top, right, bottom)).getcolors(1 << 20), reverse=True)
    assert len(counts) > 2 and counts[1][0] > 200


def test_nothing_of_a_session_is_left(facts):
    done(facts, "rm")
    assert lines(facts, "session.groups") != lines(facts, "idle.groups")
    assert len(lines(facts, "session.processes")) > len(lines(facts, "idle.processes"))
    for what in ("groups", "processes", "mounts", "warden_mounts"):
        assert lines(facts, f"removed.{what}") == lines(facts, f"idle.{what}"), what


def test_nothing_is_left_when_the_warden_is_killed(facts):
    for what in ("groups", "processes", "mounts", "warden_mounts"):
        assert lines(facts, f"restarted.{what}") == lines(facts, f"idle.{what}"), what


def test_it_ends_cleanly(facts):
    done(facts, "stop")
    assert {"ActiveState=inactive", "Result=success"} == set(lines(facts, "stopped"))
    assert facts["scope.end"] == "0", facts["scope.log"]
    for when in ("stopped", "last"):
        assert facts[f"{when}.groups"] == facts[f"{when}.processes"] == ""
        assert facts[f"{when}.mounts"] == facts["first.mounts"]


def test_the_kernel_had_nothing_to_say(facts):
    assert facts["dmesg"] == ""
