# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of sessions: filters, pages, and what a token may see of them."""
import urllib.parse

import pytest

from api import Refused


def ids(api, **query):
    return [row["id"] for row in api.call("GET", f"/v1/sessions?{urllib.parse.urlencode(query)}")["sessions"]]


@pytest.fixture(scope="module")
def three(server):
    """Three sessions, oldest first, the last of them ended."""
    made = [server.api.new(image="minimal", labels={"test": "lists", **labels})
            for labels in ({"n": "1", "a b&c": "ä=,"}, {"n": "2"}, {"n": "1"})]
    made[2].end()
    yield [session.id for session in made]
    for session in made[:2]:
        session.end()


def test_filters(server, three):
    mine = {"label.test": "lists"}
    assert ids(server.api, **mine) == three
    assert ids(server.api, **mine, **{"label.n": "1"}) == [three[0], three[2]]
    assert ids(server.api, **mine, **{"label.a b&c": "ä=,"}) == three[:1]
    assert ids(server.api, **mine, **{"label.none": ""}) == []
    assert ids(server.api, **mine, state="ready") == three[:2]
    assert ids(server.api, **mine, state="ended,failed") == three[2:]
    assert ids(server.api, **mine, state="starting") == []
    assert ids(server.api, **mine, state="ended,ready", owner="operator", image="minimal") == three
    assert ids(server.api, **mine, owner="nobody") == ids(server.api, **mine, image="desktop") == []


def test_pages(server, three):
    path = "/v1/sessions?label.test=lists"
    whole = server.api.call("GET", path)
    assert ([row["id"] for row in whole["sessions"]], whole["total"], whole["next"]) == (three, 3, None)
    first = server.api.call("GET", f"{path}&limit=2")
    assert ([row["id"] for row in first["sessions"]], first["total"], first["next"]) == (three[:2], 3, three[1])
    second = server.api.call("GET", f"{path}&limit=2&after={first['next']}")
    assert ([row["id"] for row in second["sessions"]], second["total"], second["next"]) == (three[2:], 3, None)
    last = server.api.call("GET", f"{path}&after={three[2]}")
    assert (last["sessions"], last["total"], last["next"]) == ([], 3, None)
    assert ids(server.api, **{"label.test": "lists", "limit": 3}) == three


def test_a_token_of_a_session_sees_that_one(server, session, three):
    shown = session.agent.call("GET", "/v1/sessions")
    assert ([row["id"] for row in shown["sessions"]], shown["total"], shown["next"]) == ([session.id], 1, None)
    assert ids(session.agent, **{"label.test": "lists"}) == []
    with pytest.raises(Refused) as refused:
        ids(session.agent, after=three[0])
    assert refused.value.pointer == "/after"


@pytest.mark.parametrize("query, code, pointer", [
    ("state=", "bad_field", "/state"), ("state=ready,", "bad_field", "/state"), ("state=live", "bad_field", "/state"),
    ("limit=0", "bad_field", "/limit"), ("limit=1025", "bad_field", "/limit"), ("limit=-1", "bad_field", "/limit"),
    ("limit=1e2", "bad_field", "/limit"), ("limit=", "bad_field", "/limit"), ("limit=99999999999999999999", "bad_field", "/limit"),
    ("after=x", "bad_field", "/after"), ("after=", "bad_field", "/after"), ("label=x", "unknown_field", "/label"),
    ("labels.x=y", "unknown_field", "/labels.x"), ("a/b~=y", "unknown_field", "/a~1b~0"), ("owner=a&owner=b", "bad_request", None)])
def test_bad_queries(server, query, code, pointer):
    with pytest.raises(Refused) as refused:
        server.api.call("GET", f"/v1/sessions?{query}")
    assert (refused.value.status, refused.value.code, refused.value.pointer or None) == (400, code, pointer)
