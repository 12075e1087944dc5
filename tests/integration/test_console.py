# SPDX-License-Identifier: GPL-2.0-or-later
"""The console in a real browser: Debian's chromium, driven by playwright-core (tests/console), against the real server."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import cannot_run

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import npm  # noqa: E402

PERSON = TESTS / "console"
VISIT_S = 240


@pytest.fixture(scope="session")
def chromium():
    return shutil.which("chromium") or cannot_run("chromium is not installed")


@pytest.fixture
def visit(chromium, tmp_path):
    """Runs a scenario of tests/console/console.mjs to its end."""
    folder = npm.workshop(tmp_path / "visit", *PERSON.glob("*.mjs"))

    def run(name, server, **given):
        given = {"url": server.url, "operator": server.api.token, "chromium": chromium, "folder": str(tmp_path), **given}
        done = subprocess.run([npm.NODE, folder / "console.mjs", name, json.dumps(given)], capture_output=True, text=True, timeout=VISIT_S, cwd=folder, env=npm.ENV)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{sorted(tmp_path.glob('*.png'))}"
    return run


def test_a_person_comes_in_by_a_code(make_server, visit):
    server = make_server()
    session = server.api.new(image="minimal")
    visit("code", server, link=re.search(r"http\S+#code=\S+", server.log_text()).group(0))
    session.end()


def test_the_wall(make_server, visit):
    server = make_server()
    sessions = [server.api.new(image="minimal", apps=["terminal"]).id for _ in range(3)]
    visit("wall", server, sessions=sessions)


def test_a_hidden_tab_is_quiet(server, make_session, visit):
    make_session("minimal", apps=["terminal"])
    visit("hidden", server)


# --- one session


@pytest.fixture
def visit_session(visit, server, make_session):
    """Runs a scenario with a session of its own, a terminal in it."""
    def run(name, image="minimal", apps=("terminal",), **spec):
        session = make_session(image, apps=list(apps), **spec)
        visit(name, server, session=session.id, **session.tokens)
        return session
    return run


def test_a_person_takes_over_types_and_gives_back(visit_session):
    visit_session("drive")


def test_all_of_it_by_the_keyboard(visit_session):
    visit_session("keyboard")


def test_a_login_is_seen_by_who_logs_in_alone(visit_session):
    visit_session("login")


def test_the_agent_goes_on_without_a_person(visit_session):
    visit_session("decline")


def test_a_lost_connection_comes_back(visit_session):
    visit_session("lost")


@pytest.mark.long
def test_a_person_who_stays_longer_and_one_who_is_lost(visit_session):
    """The button by which a countdown begins anew; and half a minute without a screen, after which nobody has the controls."""
    visit_session("longer")


def test_pause_save_and_end(visit_session):
    visit_session("life")


def test_approvals_are_answered(visit_session):
    visit_session("approvals", approval={"mode": "always"})


def test_a_guest_comes_by_a_shared_link(visit_session):
    visit_session("share")


def test_the_clipboard_goes_both_ways(visit_session):
    visit_session("clipboard", image="desktop", apps=["editor"])


def test_it_fits_wide_and_narrow_light_and_dark(visit_session):
    visit_session("looks")
