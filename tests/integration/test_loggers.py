# SPDX-License-Identifier: GPL-2.0-or-later
"""The loggers that test_story.py runs do log: with what they must not have, and without a hold, they get what is typed and copied."""
import pytest

import jail
import loggers
from conftest import until
from page import Page

MARK = "gbxmark"
CANARY = f"{MARK}walpurga7391"


@pytest.fixture
def page(make_session):
    page = Page(make_session("desktop"), "firefox")
    loggers.put(page.session)
    return page


def test_with_the_cookie_of_the_display(page):
    """Keys by core events or XInput 2 and by RECORD; texts by selections, and where they are in memory that may be read."""
    session = page.session
    jail.leak_cookie(session)
    loggers.start_by_exec(session, MARK, "export XAUTHORITY=leaked;")
    session.do("type", text=CANARY)
    session.do("key", keys="ctrl+a")
    session.do("key", keys="ctrl+c")
    page.wait(lambda told: told["text"] == CANARY)
    for name in ("log", "record"):
        until(lambda: "keys" in loggers.traces(session.run("cat", f"heard-{name}-exec"), CANARY))
    until(lambda: f"CLIPBOARD {CANARY}" in session.run("cat", "heard-log-exec"))
    # Of its own domain alone: the shell that started it, with the mark on its command line.
    assert "memory /proc/" in session.run("cat", "heard-log-exec")


def test_what_the_accessibility_bus_tells(page):
    """Texts of fields, as they are typed."""
    session = page.session
    loggers.start_by_exec(session, MARK)
    session.do("type", text=CANARY)
    page.wait(lambda told: told["text"] == CANARY)
    until(lambda: CANARY in session.run("cat", "heard-overhear-exec"))
