# SPDX-License-Identifier: GPL-2.0-or-later
"""Text in the list that launches its app: a window is shown before it takes keys."""
import pytest

from editors import EDITORS, difference

TEXT = "The first keys to a new window.\nAnd a second line."


@pytest.mark.parametrize("name", ["writer", "firefox", "chromium", "gtk3", "qt"])
def test_launch_and_type(make_session, name):
    image, app, kind = EDITORS[name]
    for _ in range(2):
        session = make_session(image)
        assert difference(TEXT, kind(session, app, TEXT).text(TEXT)) == ""
        session.end()
