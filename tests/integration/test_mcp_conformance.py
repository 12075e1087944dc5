# SPDX-License-Identifier: GPL-2.0-or-later
"""The official conformance suite of MCP, of both eras. It asks a server for tools, prompts and resources of fixed names: they are in tests/mcp,
linked into a front that is for tests alone."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, TREE, Server, cannot_run
from lets_in import LetsIn

sys.path.insert(0, str(TREE / "tests"))
import npm  # noqa: E402

FRONT = BUILD / "fixtures" / "glovebox-front"
SUITE_S = 600
# How many scenarios a revision is scored by: fewer would mean that some were not run.
SCORED = {"2025-11-25": 30, "2026-07-28": 37}


@pytest.fixture(scope="module")
def suite(prepared, tmp_path_factory):
    """The URL of a server with the fixtures, open to who has no token."""
    npm.need()
    if not FRONT.exists():
        cannot_run(f"{FRONT} is not built")
    folder = tmp_path_factory.mktemp("fixtures")
    programs = folder / "programs"
    programs.mkdir()
    for program in BUILD.glob("glovebox*"):
        if program.is_file() and program.suffix == "":
            shutil.copy2(program, programs)
    shutil.copy2(FRONT, programs)
    relay = LetsIn()
    server = Server(folder / "state", "--host", f"localhost:{relay.port}", programs=programs).start()
    relay.relay_to(server.api.address, server.api.token)
    yield f"{relay.url}/mcp"
    relay.stop()
    server.stop()


def faults(folder):
    """What the suite found, from its files: scenario, check, message."""
    for file in sorted(folder.rglob("checks.json")):
        for check in json.loads(file.read_text()):
            if check["status"] in ("FAILURE", "WARNING"):
                yield f"{file.parent.name}: {check['id']}: {check.get('errorMessage')} {json.dumps(check.get('details'))[:600]}"


@pytest.mark.parametrize("revision", SCORED)
def test_conformance(suite, tmp_path, revision):
    done = subprocess.run(npm.command("conformance", "server", "--url", suite, "--requirements", revision, "-o", tmp_path), env=npm.ENV,
                          capture_output=True, text=True, timeout=SUITE_S, check=False)
    assert done.returncode == 0, "\n".join([*faults(tmp_path), done.stdout[-6000:], done.stderr[-2000:]])
    summary, unscored = done.stdout.split("=== SUMMARY ===")[1].split("Not scored for")
    ran = dict(re.findall(r"^(\S+): (\d+) passed, 0 failed$", summary.replace("✓ ", ""), re.M))
    scored = set(ran) - {"Total"} - set(re.findall(r"[✓✗] (\S+) \(", unscored))
    assert len(scored) == SCORED[revision] and all(int(ran[name]) > 0 for name in scored), (scored, ran)


def test_the_inspector_tells_a_tool_that_clients_would_drop(suite):
    """One of the fixtures is such a tool: that it says nothing of the real ones (test_mcp_clients.py) means something."""
    done = npm.run("mcp-inspector", "--cli", suite, "--transport", "http", "--method", "tools/list", "--strict", stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0, done
    assert re.findall(r'^\w+: tool "(\w+)"', done.stderr, re.M) == ["untyped_tool"], done.stderr


def symbols(program):
    return subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout


def test_what_is_installed_has_no_fixtures():
    """Neither their code nor their texts; the front of the tests has both, so that this can fail."""
    for program in BUILD.glob("glovebox*"):
        if program.is_file() and program.suffix == "":
            assert "fixture" not in symbols(program), program
            assert b"test_simple_text" not in program.read_bytes(), program
    assert "fixture_plain" in symbols(FRONT) and "mcp_more" in symbols(BUILD / "glovebox-front")
    assert b"test_simple_text" in FRONT.read_bytes()
    makefile = pathlib.Path(TREE / "Makefile").read_text()
    assert "tests/mcp" not in "".join(line for line in makefile.splitlines() if line.startswith(("DIRS_", "PROGRAMS")))
