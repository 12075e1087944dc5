# SPDX-License-Identifier: GPL-2.0-or-later
"""Share links: the link alone opens nothing, its code opens it once, and what came by it goes with it."""
import json
import os
import signal

import pytest

from api import Api, Refused
from conftest import until
from test_front_kills import front_pid
from websocket import open_view


def share(session, **fields):
    return session.api.call("POST", f"{session.path}/shares", {"role": "controller", **fields})


def trade(session, made, code=None):
    return Api(session.api.url, None).call("POST", "/v1/console", {"share": made["id"], "code": code or made["code"]})


def refused(session, made, code=None):
    with pytest.raises(Refused) as error:
        trade(session, made, code)
    assert (error.value.status, error.value.code, error.value.pointer) == (401, "unauthorized", "/code")
    return error.value.problem["detail"]


def another(code):
    """A code that is not this one."""
    return ("A" if code[0] != "A" else "B") + code[1:]


def listed(session):
    return session.api.call("GET", f"{session.path}/shares")["shares"]


def test_a_link_and_its_code(session):
    made = share(session, label="Ada", ttl_s=600)
    assert made["id"].startswith(f"{session.id}-") and made["link"] == f"/#share={made['id']}"
    assert listed(session) == [{key: value for key, value in made.items() if key != "code"}]
    traded = trade(session, made, made["code"].lower().replace("-", ""))  # as people type it
    assert (traded["role"], traded["session"]) == ("controller", session.id) and 590 < traded["expires_in_s"] <= 600
    assert Api(session.api.url, traded["token"]).call("GET", session.path)["id"] == session.id
    assert listed(session)[0]["used_at"] and listed(session)[0]["tries"] == 0


def test_the_link_alone_opens_nothing(session):
    made = share(session)
    for token in (made["id"], made["id"].split("-")[1], made["code"]):
        assert Api(session.api.url, token).request("GET", session.path).status == 401
    # Its code is none without its link, nor with another.
    with pytest.raises(Refused) as error:
        Api(session.api.url, None).call("POST", "/v1/console", {"code": made["code"]})
    assert error.value.status == 401
    refused(session, share(session), made["code"])
    assert trade(session, made)["role"] == "controller"


def test_a_code_is_good_once_and_for_few_tries(session):
    used, tried = share(session), share(session)
    trade(session, used)
    words = {refused(session, used)}
    for _ in range(5):
        words.add(refused(session, tried, another(tried["code"])))
    words.add(refused(session, tried))  # the right one, too late
    words.add(refused(session, {"id": f"{session.id}-aaaaaaaa"}, "AAAA-AAAA"))
    assert len(words) == 1  # nobody is told which it was
    assert [one["tries"] for one in listed(session)] == [0, 0]


def test_who_may_share(session):
    for role, status in (("agent", 403), ("viewer", 403), ("controller", 201)):
        assert Api(session.api.url, session.tokens[role]).request("POST", f"{session.path}/shares", {"role": "viewer"}).status == status
    for body in ({"role": "agent"}, {"role": "operator"}, {}, {"role": "viewer", "ttl_s": 0}, {"role": "viewer", "ttl_s": 50000}):
        assert session.api.request("POST", f"{session.path}/shares", body).status == 400, body


def test_what_came_by_a_link_goes_with_it(session):
    made, kept = share(session), share(session)
    one, two = (Api(session.api.url, trade(session, each)["token"]) for each in (made, kept))
    gone, stays = (open_view(api, session)[0] for api in (one, two))
    with gone, stays:
        assert [viewer["share"] for viewer in session.api.call("GET", f"{session.path}/viewers")["viewers"]] == [made["id"], kept["id"]]
        session.api.call("DELETE", f"{session.path}/shares/{made['id']}")
        assert gone.closed().code == 1008
        assert one.request("GET", session.path).status == 401
        assert two.request("GET", session.path).status == 200
        assert stays.recv(12).startswith(b"RFB 003.")
    assert [each["id"] for each in listed(session)] == [kept["id"]]
    assert session.api.request("DELETE", f"{session.path}/shares/{made['id']}").status == 404


def test_it_ends_in_time(session):
    made = share(session, ttl_s=2)
    token = Api(session.api.url, trade(session, made)["token"])
    websocket, _ = open_view(token, session)
    with websocket:
        assert websocket.closed().code == 1008
    until(lambda: listed(session) == [], within_s=5)
    assert token.request("GET", session.path).status == 401


def test_it_outlives_the_front(make_server):
    server = make_server()
    session = server.api.new(image="minimal")
    made, used = share(session), share(session)
    refused(session, made, another(made["code"]))
    token = Api(server.url, trade(session, used)["token"])
    os.kill(front_pid(server), signal.SIGKILL)
    until(lambda: alive(server), within_s=20)
    assert [one["tries"] for one in listed(session)] == [4, 0]
    refused(session, used)
    trade(session, made)
    session.api.call("DELETE", f"{session.path}/shares/{used['id']}")
    assert token.request("GET", session.path).status == 401
    log = server.log_text()
    session.end()
    server.stop()
    record = (server.state / "front" / "audit.jsonl").read_text()
    assert {"share_made", "share_revoked", "code_traded"} <= {json.loads(line)["event"] for line in record.splitlines()}
    assert not [code for code in (made["code"], used["code"]) if code in record + log]
    assert made["code"].encode() not in (server.state / "front" / "front.db").read_bytes()


def alive(server):
    try:
        return server.api.request("GET", "/readyz").status == 200
    except OSError:
        return False


def test_sixteen_of_a_session(session):
    for _ in range(16):
        last = share(session)
    assert session.api.request("POST", f"{session.path}/shares", {"role": "viewer"}).status == 429
    session.api.call("DELETE", f"{session.path}/shares/{last['id']}")
    share(session)


def test_an_ended_session_has_none(make_session):
    session = make_session()
    made = share(session)
    session.end()
    with pytest.raises(Refused) as error:
        trade(session, made)
    assert error.value.code in ("session_gone", "unauthorized")
    assert session.api.request("POST", f"{session.path}/shares", {"role": "viewer"}).status == 503
