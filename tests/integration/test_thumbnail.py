# SPDX-License-Identifier: GPL-2.0-or-later
"""The small picture for people: who gets it, what it is like, and that it is nobody's look."""
import io

import pytest
from PIL import Image, ImageChops, ImageStat

from api import Api, Refused, picture_of
from conftest import until


def thumbnail(session, role="viewer", **headers):
    return Api(session.api.url, session.tokens[role]).request("GET", f"{session.path}/thumbnail", headers=headers)


def test_it_shows_the_screen_small(make_session):
    session = make_session("minimal", display={"width": 1200, "height": 800})
    reply = thumbnail(session)
    assert (reply.status, reply.headers["Content-Type"], reply.headers["Cache-Control"]) == (200, "image/jpeg", "no-store")
    assert Image.open(io.BytesIO(reply.body)).size == (480, 320) and len(reply.body) < 40_000
    small, screen = picture_of(reply.body), session.shot().resize((480, 320))
    assert max(ImageStat.Stat(ImageChops.difference(small, screen)).mean) < 6


def test_a_small_screen_is_not_made_larger(make_session):
    session = make_session("minimal", display={"width": 300, "height": 200})
    assert picture_of(thumbnail(session).body).size == (300, 200)


def test_it_is_sent_when_the_screen_has_changed(make_session):
    session = make_session("minimal", apps=["terminal"])
    session.do("wait_settled", quiet_ms=1000, timeout_ms=10000)

    def known():
        tag = thumbnail(session).headers["ETag"]
        again = thumbnail(session, **{"If-None-Match": tag})
        return (again.status, again.body) == (304, b"") and tag
    tag = until(known)
    session.do("type", text="seq 30\n")
    until(lambda: thumbnail(session, **{"If-None-Match": tag}).status == 200)


def test_an_agent_has_its_own_pictures(session):
    assert thumbnail(session, "agent").status == 403
    assert thumbnail(session, "controller").status == 200


def test_it_is_no_look(make_session):
    """With guard last, an act is guarded by the last picture that its token got; a thumbnail that the same token gets is none."""
    session = make_session("minimal", guard="last", apps=["terminal"])
    box = {"x": 690, "y": 490, "width": 20, "height": 20}
    act = {"actions": [{"action": "click", "x": 700, "y": 500}]}
    session.do("wait_settled", quiet_ms=500, timeout_ms=10000)
    assert session.api.request("GET", f"{session.path}/screenshot").status == 200
    before = session.shot().crop((box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]))
    session.do("type", text="yes | head -c 9000 | tr -d '\\n'\n")
    until(lambda: ImageChops.difference(before, session.shot().crop((box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]))).getbbox())
    assert session.api.request("GET", f"{session.path}/thumbnail").status == 200
    with pytest.raises(Refused) as refused:
        session.api.call("POST", f"{session.path}/act", act)
    assert refused.value.code == "stale_target"
    assert session.api.request("GET", f"{session.path}/screenshot").status == 200
    assert session.api.call("POST", f"{session.path}/act", act)["ok"]
