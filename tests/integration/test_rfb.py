# SPDX-License-Identifier: GPL-2.0-or-later
"""Views of sessions over WebSocket: who gets one, what ends it, and hostile clients (cases V05, V07, V14)."""
import json
import os
import pathlib
import socket
import struct
import time

import pytest

from api import Api, Refused
from conftest import until
from raw import Wire, assert_problem
from rfb import CTRL, Rfb
from terminal import RawTerminal
from tls import TlsWire, make_certificate, trusting
from websocket import CLOSE, PING, Closed, frame, handshake, open_view, upgrade

def as_role(session, role):
    return Api(session.api.url, session.tokens[role], session.api.context)


def make_ticket(session, role="controller", **wish):
    return as_role(session, role).call("POST", f"{session.path}/rfb", wish)


def viewers(session):
    return session.api.call("GET", f"{session.path}/viewers")["viewers"]


def no_viewers(session):
    until(lambda: viewers(session) == [], within_s=10)


def take(session, **fields):
    return as_role(session, "controller").call("POST", f"{session.path}/lease", {"action": "take", **fields})


def is_child(pid, server):
    return int((pid / "stat").read_text().rsplit(")", 1)[1].split()[1]) == server.process.pid


def front_of(server):
    """The process of the front."""
    for pid in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (pid / "comm").read_text().strip() == "glovebox-front" and is_child(pid, server):
                return pid
        except OSError:
            continue
    raise AssertionError("there is no front")


# --- who gets one

TICKET_S = 30


@pytest.fixture(name="old", scope="module", autouse=True)
def old_ticket(server):
    """A session, a ticket of its, and when it was made: before all tests of this file, so that it gets old meanwhile."""
    session = server.api.new(image="minimal")
    yield session, make_ticket(session), time.monotonic()
    session.end()


def test_a_view_shows_the_session(session):
    websocket, _ = open_view(as_role(session, "viewer"), session)
    with websocket:
        assert Rfb(websocket).whole().tobytes() == session.shot().tobytes()
        assert [(viewer["role"], viewer["controls"]) for viewer in viewers(session)] == [("viewer", False)]
    no_viewers(session)


def test_a_viewer_never_has_controls(session):
    with pytest.raises(Refused) as refused:
        make_ticket(session, "viewer", controls=True)
    assert (refused.value.status, refused.value.code, refused.value.pointer) == (403, "forbidden", "/controls")
    assert make_ticket(session, "viewer")["controls"] is False
    assert make_ticket(session, "controller")["controls"] is True
    assert make_ticket(session, "controller", controls=False)["controls"] is False


def test_an_agent_has_no_view(session):
    with pytest.raises(Refused) as refused:
        make_ticket(session, "agent")
    assert (refused.value.status, refused.value.code) == (403, "forbidden")


def refusal(api, target, ticket, status, code, **fields):
    answer, websocket = upgrade(api, target, ticket, **fields)
    assert websocket is None
    return assert_problem(answer, status, code)


def test_a_ticket_is_good_once(session):
    api, target = session.api, f"{session.path}/rfb"
    ticket = make_ticket(session)["ticket"]
    _, websocket = upgrade(api, target, ticket)
    with websocket:
        problem = refusal(api, target, ticket, 401, "unauthorized")
        assert ticket not in json.dumps(problem)
    refusal(api, target, None, 401, "unauthorized")
    refusal(api, target, "AAAAA-BBBBB-CCCCC-DDDDD", 401, "unauthorized")
    refusal(api, target, "x" * 5000, 401, "unauthorized")
    # The token itself is no ticket, and a ticket no token.
    refusal(api, target, session.tokens["controller"], 401, "unauthorized")
    assert Api(api.url, make_ticket(session)["ticket"]).request("GET", session.path).status == 401


def test_a_ticket_of_another_session_is_used_up(make_session):
    one, other = make_session(), make_session()
    ticket = make_ticket(one)["ticket"]
    refusal(one.api, f"{other.path}/rfb", ticket, 401, "unauthorized")
    refusal(one.api, f"{one.path}/rfb", ticket, 401, "unauthorized")
    # The operator's, too, who could have had one for the other.
    ticket = one.api.call("POST", f"{one.path}/rfb", {})["ticket"]
    refusal(one.api, f"{other.path}/rfb", ticket, 401, "unauthorized")


def test_a_ticket_is_of_one_kind(session):
    link = session.api.call("POST", f"{session.path}/tickets", {"role": "viewer"})["ticket"]
    refusal(session.api, f"{session.path}/rfb", link, 401, "unauthorized")
    ticket = make_ticket(session)["ticket"]
    with pytest.raises(Refused) as refused:
        Api(session.api.url, None).call("POST", "/v1/console", {"code": ticket})
    assert refused.value.status == 401
    # Neither was used up by that.
    assert Api(session.api.url, None).call("POST", "/v1/console", {"code": link})["role"] == "viewer"


def test_a_ticket_goes_with_its_token(session):
    made = session.api.call("POST", f"{session.path}/tokens", {"role": "viewer"})
    ticket = Api(session.api.url, made["token"]).call("POST", f"{session.path}/rfb", {})["ticket"]
    session.api.call("DELETE", f"{session.path}/tokens/{made['id']}")
    refusal(session.api, f"{session.path}/rfb", ticket, 401, "unauthorized")


@pytest.mark.parametrize("fields, status, code", [
    ({"origin": "https://evil.test"}, 403, "bad_origin"),
    ({"origin": "null"}, 403, "bad_origin"),
    ({"host": "evil.test"}, 421, "misdirected"),
    ({"sec_websocket_version": "8"}, 426, "upgrade_required"),
    ({"sec_websocket_version": None}, 426, "upgrade_required"),
    ({"upgrade": None}, 426, "upgrade_required"),
    ({"upgrade": "h2c"}, 426, "upgrade_required"),
    ({"connection": "keep-alive"}, 426, "upgrade_required"),
    ({"sec_websocket_key": None}, 400, "bad_request"),
    ({"sec_websocket_key": "short"}, 400, "bad_request"),
    ({"sec_websocket_protocol": "chat"}, 400, "bad_request"),
    ({"sec_websocket_protocol": "binary"}, 401, "unauthorized"),
])
def test_an_upgrade_that_is_refused(session, fields, status, code):
    ticket = make_ticket(session)["ticket"]
    problem = refusal(session.api, f"{session.path}/rfb", ticket, status, code, **fields)
    assert ticket not in json.dumps(problem)
    # What was refused for its form has used nothing up.
    _, websocket = upgrade(session.api, f"{session.path}/rfb", ticket)
    websocket.close()


def test_426_says_the_version(session):
    answer, _ = upgrade(session.api, f"{session.path}/rfb", "x", sec_websocket_version="7")
    assert (answer.headers["upgrade"], answer.headers["sec-websocket-version"]) == ("websocket", "13")


@pytest.mark.parametrize("change", [("GET ", "HEAD "), ("HTTP/1.1", "HTTP/1.0"), ("GET ", "POST ")])
def test_an_upgrade_is_a_get_by_http_11(session, change):
    text, _ = handshake(session.api, f"{session.path}/rfb", make_ticket(session)["ticket"])
    with Wire(session.api.address) as wire:
        wire.send(text.replace(*change))
        answer = wire.answer(has_body=False)
        assert answer is None or answer.status in (401, 426), answer.status


def test_its_own_origin_may(session):
    text = f"http://{session.api.address}"
    _, websocket = upgrade(session.api, f"{session.path}/rfb", make_ticket(session)["ticket"], origin=text)
    websocket.close()


def test_by_tls(make_server, tmp_path):
    certificate, key = make_certificate(tmp_path)
    server = make_server("--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key)
    server.api.context = trusting(certificate)
    session = server.api.new(image="minimal")
    websocket, _ = open_view(as_role(session, "viewer"), session, TlsWire(server.api.address, server.api.context, timeout_s=20))
    with websocket:
        assert Rfb(websocket).whole().tobytes() == session.shot().tobytes()
    no_viewers(session)
    # A connection that is cut without a word of TLS, too.
    websocket, _ = open_view(as_role(session, "viewer"), session, TlsWire(server.api.address, server.api.context, timeout_s=20))
    websocket.wire.socket.detach()
    session.end()


# --- what ends one

def test_a_viewer_is_thrown_out(session):
    websocket, made = open_view(as_role(session, "viewer"), session)
    with websocket:
        Rfb(websocket)
        as_role(session, "controller").call("DELETE", f"{session.path}/viewers/{made['viewer']}")
        assert websocket.closed().code == 1008
    no_viewers(session)
    with pytest.raises(Refused) as refused:
        session.api.call("DELETE", f"{session.path}/viewers/{made['viewer']}")
    assert refused.value.code == "not_found"


def test_a_view_ends_with_its_token(session):
    revoked = session.api.call("POST", f"{session.path}/tokens", {"role": "viewer"})
    short = session.api.call("POST", f"{session.path}/tokens", {"role": "viewer", "ttl_s": 2})
    one, _ = open_view(Api(session.api.url, revoked["token"]), session)
    two, _ = open_view(Api(session.api.url, short["token"]), session)
    kept, _ = open_view(as_role(session, "viewer"), session)
    with one, two, kept:
        session.api.call("DELETE", f"{session.path}/tokens/{revoked['id']}")
        assert (one.closed().code, two.closed().code) == (1008, 1008)
        assert Rfb(kept).whole()


def test_a_view_ends_with_its_session(make_session):
    session = make_session()
    websocket, _ = open_view(as_role(session, "viewer"), session)
    with websocket:
        session.end()
        assert websocket.closed().code == 1001


def test_a_view_ends_with_its_process(session, server):
    websocket, _ = open_view(as_role(session, "viewer"), session)
    with websocket:
        Rfb(websocket)
        views = [pid for pid in pathlib.Path("/proc").glob("[0-9]*")
                 if (pid / "comm").exists() and (pid / "comm").read_text().strip() == "glovebox-view" and is_child(pid, server)]
        assert len(views) == 1
        os.kill(int(views[0].name), 9)
        assert websocket.closed().code == 1011
    assert session.act()["ok"]


def test_a_view_ends_with_the_server(make_server):
    server = make_server()
    session = server.api.new(image="minimal")
    websocket, _ = open_view(as_role(session, "viewer"), session)
    with websocket:
        Rfb(websocket)
        server.stop()
        assert websocket.closed().code in (1001, 1011, None)


def test_a_client_says_goodbye(session):
    websocket, _ = open_view(as_role(session, "viewer"), session)
    with websocket:
        websocket.wire.send(frame(struct.pack(">H", 1000), CLOSE))
        assert websocket.closed().code == 1000
    no_viewers(session)


def test_the_record_has_who_and_when(make_server):
    server = make_server()
    session = server.api.new(image="minimal")
    websocket, made = open_view(as_role(session, "controller"), session)
    Rfb(websocket)
    websocket.close()
    no_viewers(session)
    metrics = server.api.request("GET", "/metrics").body.decode()
    assert "glovebox_views_open 0" in metrics and "glovebox_views_opened_total 1" in metrics
    session.end()
    log = server.log_text()
    server.stop()
    record = [json.loads(line) for line in (server.state / "front" / "audit.jsonl").read_text().splitlines()]
    opened, closed = [line for line in record if line["event"] in ("view_opened", "view_closed")]
    assert (opened["session"], opened["viewer"], opened["role"], opened["controls"]) == (session.id, made["viewer"], "controller", True)
    assert (closed["viewer"], closed["why"]) == (made["viewer"], "lost")
    assert made["ticket"] not in json.dumps(record) + log


# --- what a viewer sends reaches nothing

def pointer(session):
    result = session.do("cursor_position")
    return result["x"], result["y"]


def test_nothing_of_a_viewer_reaches_the_session(make_session):
    """Every kind of message, whole, in pieces, byte by byte, and while somebody else has the controls."""
    session = make_session("desktop")
    place, size = pointer(session), session.shot().size
    messages = [struct.pack(">BBxxI", 4, 1, ord("x")), struct.pack(">BBxxI", 4, 0, ord("x")), struct.pack(">BBHH", 5, 1, 50, 60),
                struct.pack(">BBHH", 5, 0, 51, 61), struct.pack(">BxxxI", 6, 5) + b"stolen"[:5],
                struct.pack(">BxHHBxIHHHHI", 251, 640, 480, 1, 0, 0, 0, 640, 480, 0)]
    framings = {"whole": lambda data: frame(data), "one": lambda data: b"".join(frame(bytes([byte])) for byte in data),
                "fragments": lambda data: frame(data[:3], fin=False) + frame(data[3:], 0),
                "with pings": lambda data: frame(data[:1], fin=False) + frame(b"?", PING) + frame(data[1:], 0),
                "all at once": lambda data: frame(b"".join(messages))}
    for hold in (False, True):
        if hold:
            take(session)
        for name, framing in framings.items():
            websocket, _ = open_view(as_role(session, "viewer"), session)
            with websocket:
                rfb = Rfb(websocket)
                for message in messages:
                    websocket.wire.send(framing(message))
                try:
                    assert rfb.whole().size == size, name  # so all that was sent before has been read
                except Closed:
                    pass  # a view that takes no such message may say so
    as_role(session, "controller").call("POST", f"{session.path}/lease", {"action": "give"})
    assert session.look().size == size
    assert pointer(session) == place
    assert session.do("clipboard_get").get("text") != "stole"
    assert session.api.call("GET", session.path)["held"] == {"keys": [], "buttons": []}


# --- hostile frames

@pytest.mark.parametrize("data, code", [
    pytest.param(frame(b"RFB", kind=1), 1003, id="text"),
    pytest.param(frame(b"x", length=1 << 40), 1009, id="a terabyte"),
    pytest.param(frame(b"x", masked=False), 1002, id="unmasked"),
    pytest.param(frame(b"x", rsv=4), 1002, id="reserved bits"),
    pytest.param(frame(b"x", kind=3), 1002, id="a reserved kind"),
    pytest.param(frame(b"x", kind=0), 1002, id="a continuation of nothing"),
    pytest.param(b"GET / HTTP/1.1\r\n\r\n", 1002, id="garbage"),
])
def test_hostile_frames(session, data, code):
    websocket, _ = open_view(as_role(session, "controller"), session)
    with websocket:
        websocket.wire.send(data)
        assert websocket.closed().code == code
    no_viewers(session)
    assert session.act()["ok"]


def memory_kb(server):
    status = (front_of(server) / "status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def test_floods_cost_no_memory(server, session):
    """Of fragments, of pings whose answers are not read, of bytes that come slowly."""
    before = memory_kb(server)
    websockets = [open_view(as_role(session, "controller"), session)[0] for _ in range(3)]
    until_s = time.monotonic() + 3
    slow = iter(frame(b"RFB 003.008\n\1\1" + b"\2\0\0\0" * 10000))
    floods = [frame(b"", fin=False) + frame(b"", 0, fin=False) * 2000, frame(b"x" * 100, PING) * 500]
    for websocket in websockets:
        websocket.wire.socket.settimeout(0.2)
    while time.monotonic() < until_s:
        for websocket, flood in zip(websockets, floods):
            try:
                websocket.wire.socket.send(flood)
            except (socket.timeout, OSError):
                pass
        websockets[2].wire.socket.send(bytes([next(slow)]))
    assert session.act()["ok"]
    assert memory_kb(server) - before < 4096
    for websocket in websockets:
        websocket.close()
    no_viewers(session)


# --- those who do not read, and those who vanish

def test_twenty_that_never_read(make_server, make_session):
    """They cost the front a few megabytes in all, and a good viewer and the agent go on."""
    server = make_server()
    sessions = [server.api.new(image="minimal") for _ in range(2)]
    good, _ = open_view(as_role(sessions[0], "viewer"), sessions[0])
    rfb = Rfb(good)
    before = memory_kb(server)
    dead = []
    for session in sessions:
        for _ in range(10):
            wire = Wire(server.api.address, timeout_s=20, receive_bytes=4096)
            websocket, _ = open_view(as_role(session, "viewer"), session, wire)
            stream = Rfb(websocket)
            for _ in range(20):
                stream.request(incremental=False)  # 4 MB each, and nobody reads
            dead.append(websocket)
    took = []
    for _ in range(20):
        began = time.monotonic()
        assert sessions[0].act()["ok"]
        rfb.whole()
        took.append(time.monotonic() - began)
    grown = memory_kb(server) - before
    print(f"20 that never read: front {before} + {grown} kB; a whole picture and an act beside them {max(took) * 1000:.0f} ms at worst")
    assert grown < 20 * 1024
    assert max(took) < 5
    for websocket in dead:
        websocket.close()
    good.close()
    for session in sessions:
        session.end()


def silent_total(server):
    text = server.api.request("GET", "/metrics").body.decode()
    return int(next(line for line in text.splitlines() if line.startswith("glovebox_views_silent_total ")).split()[1])


def test_a_silent_viewer_lets_go(server, make_session):
    """Case V07: what it holds is let go of within two seconds of its last word; a word brings it back, and without one it is given up in time."""
    session = make_session("desktop", apps=["terminal"])
    terminal = RawTerminal(session)
    websocket, made = open_view(as_role(session, "controller"), session)
    rfb = Rfb(websocket)
    take(session, viewer=made["viewer"], kind="other", keep_running=True)
    n = silent_total(server)
    rfb.key(CTRL, True)
    rfb.whole()
    began = time.monotonic()
    until(lambda: silent_total(server) > n, within_s=5, every_s=0.02)
    assert time.monotonic() - began < 3  # 1.4 s, and the metrics' own answer, which may take a second
    rfb.whole()  # pings are answered again
    rfb.tap(ord("f"))
    rfb.whole()
    as_role(session, "controller").call("POST", f"{session.path}/lease", {"action": "give"})
    session.act(observe={"quiet_ms": 0})
    assert terminal.got(1) == b"f"
    assert viewers(session)
    began = time.monotonic()
    until(lambda: not viewers(session), within_s=20, every_s=0.2)
    assert 13 < time.monotonic() - began < 18
    websocket.close()


def test_what_pings_cost(make_session):
    """One with controls is asked a few times a second, one without every few seconds."""
    session = make_session()
    acts, _ = open_view(as_role(session, "controller"), session)
    looks, _ = open_view(as_role(session, "viewer"), session)
    with acts, looks:
        for websocket, n in ((acts, (5, 10)), (looks, (0, 1))):
            websocket.wire.socket.settimeout(0.1)
            websocket.n_pings = 0
            until_s = time.monotonic() + 3
            while time.monotonic() < until_s:
                try:
                    websocket.step()
                except socket.timeout:
                    pass
            assert n[0] <= websocket.n_pings <= n[1], websocket.n_pings


def test_a_view_that_asks_for_all_sees_what_changes(make_session):
    """Also a viewer that never asks for changes alone."""
    session = make_session("minimal", apps=["terminal"])
    websocket, _ = open_view(as_role(session, "viewer"), session)
    with websocket:
        viewer = Rfb(websocket)
        before = viewer.whole().tobytes()
        session.act({"action": "type", "text": "echo something else\n"}, observe=True)
        until(lambda: viewer.whole().tobytes() != before)
        until(lambda: viewer.whole().tobytes() == session.shot().tobytes())


# --- what takes its time

def test_a_ticket_gets_old(old):
    session, ticket, made = old
    time.sleep(max(0, made + TICKET_S + 1 - time.monotonic()))  # its life is a time, and nothing that could be waited for
    refusal(session.api, f"{session.path}/rfb", ticket["ticket"], 401, "unauthorized")
