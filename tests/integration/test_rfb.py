# SPDX-License-Identifier: GPL-2.0-or-later
"""Views of sessions over WebSocket: as RFB, and as hostile clients open them (cases V05, V07, V14)."""
from api import Api
from rfb import Rfb
from websocket import open_view


def as_role(session, role):
    return Api(session.api.url, session.tokens[role], session.api.context)


def test_a_view_shows_the_session(session):
    websocket, _ = open_view(as_role(session, "viewer"), session)
    with websocket:
        assert Rfb(websocket).whole().tobytes() == session.shot().tobytes()
