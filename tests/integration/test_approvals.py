# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions to people: rules that ask, parked calls, cards and their answers."""
import io
import json
import time

import pytest
from PIL import Image

from api import Api, Refused, in_thread
from conftest import until
from stream import Stream
from test_audit import events
from test_cli import REFUSED, Cli
from test_journal import lines

CLICK = {"action": "click", "x": 100, "y": 100}
ASK_CLICKS = {"mode": "never", "rules": [{"name": "clicks", "verdict": "ask", "actions": ["click"], "why": "clicks are asked about here"}]}


def person(session):
    return Api(session.api.url, session.tokens["controller"])


def cards(session, **query):
    return person(session).call("GET", f"/v1/approvals?session={session.id}" + "".join(f"&{name}={value}" for name, value in query.items()))["approvals"]


def card(session):
    """The one question that is open."""
    found = until(lambda: cards(session, wait=10000))
    assert len(found) == 1, found
    return found[0]


def answer(session, approval, what, **more):
    return person(session).call("POST", f"/v1/approvals/{approval['id']}", {"answer": what, **more})


def counts(session):
    return person(session).call("GET", f"/v1/approvals?session={session.id}")["counts"][0]


def parked(session, *actions, **options):
    """An act that waits for a person; its thread, its results and the card."""
    thread, results = in_thread(lambda: session.try_act(*actions, **options))
    return thread, results, card(session)


def finish(thread, results):
    thread.join(60)
    assert results, "the call has not ended"
    return results[0]


def approvals(server, session):
    return [line for line in lines(server, session) if line["event"] == "approval"]


def test_once(server, make_session):
    """The card says what, where and why; a yes lets this one through and no other."""
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, asked = parked(session, {"action": "move", "x": 5, "y": 5}, CLICK, headers={"Idempotency-Key": "k1"})
    assert (asked["rule"], asked["why"], asked["state"], asked["waits"]) == ("clicks", "clicks are asked about here", "waiting", True)
    assert asked["action"] == CLICK and asked["at"]["epoch"] == 1 and asked["session"] == session.id
    assert asked["target"]["x"] <= 100 < asked["target"]["x"] + asked["target"]["width"]
    assert asked["caller"]["role"] == "agent" and not results
    answered = answer(session, asked, "once")
    assert answered["state"] == "allowed" and answered["by"]["role"] == "controller"
    reply = finish(thread, results)
    assert reply["ok"] and reply["done"] == 2
    intent = [line for line in lines(server, session) if line["event"] == "intent"][-1]
    assert intent["verdict"] == {"rule": "clicks", "approval": asked["id"], "for_session": False}
    assert [line["state"] for line in approvals(server, session)] == ["waiting", "allowed"]
    assert approvals(server, session)[1]["actor"]["role"] == "controller"
    thread, results, asked = parked(session, CLICK)
    answer(session, asked, "deny")
    assert finish(thread, results).code == "denied"
    told = counts(session)
    assert (told["asked"], told["answered"], told["once"], told["denied"], told["yes_share"]) == (2, 2, 1, 1, 0.5)
    assert told["median_ms"] >= 0 and told["waiting"] == 0


def test_no_with_a_reason(make_session):
    """The agent reads the reason. Of a list what came before is done; a first action that is refused refuses the call."""
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, asked = parked(session, CLICK)
    answer(session, asked, "deny", reason="not that button")
    refused = finish(thread, results)
    assert (refused.status, refused.code, refused.pointer, refused.problem["fix"]) == (403, "denied", "/actions/0", "human")
    assert "\"not that button\"" in refused.problem["detail"]
    thread, results, asked = parked(session, {"action": "move", "x": 7, "y": 8}, CLICK, {"action": "move", "x": 1, "y": 1})
    answer(session, asked, "deny", reason="no")
    reply = finish(thread, results)
    assert (reply["ok"], reply["done"], len(reply["results"]), reply["results"][1]["error"]["code"]) == (False, 1, 2, "denied")
    position = session.do("cursor_position")
    assert (position["x"], position["y"]) == (7, 8)


def test_others_wait_or_look(server, make_session):
    """While one waits: acts are refused at once, looks go on, and a second approver is told who was first."""
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, asked = parked(session, CLICK)
    begun = time.monotonic()
    with pytest.raises(Refused) as refused:
        session.act({"action": "move", "x": 3, "y": 3})
    assert (refused.value.status, refused.value.code) == (409, "waiting_for_approval")
    assert time.monotonic() - begun < 5
    session.shot()
    assert session.act({"action": "screenshot"}, {"action": "windows"}, observe=True)["done"] == 2
    answer(session, asked, "once")
    with pytest.raises(Refused) as second:
        server.api.call("POST", f"/v1/approvals/{asked['id']}", {"answer": "deny"})
    assert second.value.code == "conflict" and "controller" in second.value.problem["detail"]
    assert finish(thread, results)["ok"]
    session.act({"action": "move", "x": 3, "y": 3})


def test_a_limit_and_the_same_again(make_session):
    """The call ends at its limit, its card lives on, and the same call joins it: by its key, and without one."""
    session = make_session("minimal", approval=ASK_CLICKS)
    for headers in ({"Idempotency-Key": "again"}, None):
        with pytest.raises(Refused) as pending:
            session.try_act(CLICK, timeout_ms=300, headers=headers)
        assert (pending.value.status, pending.value.code) == (409, "approval_pending")
        waiting = card(session)
        assert waiting["waits"] is False
        session.act({"action": "move", "x": 30, "y": 30})
        answer(session, waiting, "once")
        assert session.try_act(CLICK, headers=headers)["ok"]
        assert cards(session) == []
    assert counts(session)["asked"] == 2
    with pytest.raises(Refused):
        session.try_act(CLICK, timeout_ms=300)
    waiting = card(session)
    thread, results = in_thread(lambda: session.try_act(CLICK))
    until(lambda: card(session)["waits"])
    assert card(session)["id"] == waiting["id"]
    answer(session, waiting, "once")
    assert finish(thread, results)["ok"]


def test_nobody_answers(make_session):
    session = make_session("minimal", approval={**ASK_CLICKS, "timeout_s": 1})
    with pytest.raises(Refused) as expired:
        session.try_act(CLICK)
    assert expired.value.code == "denied" and "nobody" in expired.value.problem["detail"]
    assert counts(session)["expired"] == 1 and cards(session) == []


def test_the_screen_has_changed(make_session):
    """A yes for what is not there any more sends nothing: there is a new card."""
    session = make_session("minimal", apps=["terminal"], approval=ASK_CLICKS)
    window = session.windows()[0]
    session.do("move_window", window=window["id"], x=0, y=0)
    session.act({"action": "type", "text": "clear; sleep 4; yes $(seq -s. 30) | head -n 99\n"}, observe=True)
    around = (CLICK["x"] - 20, CLICK["y"] - 20, CLICK["x"] + 20, CLICK["y"] + 20)
    thread, results, first = parked(session, CLICK)
    before = session.shot().crop(around).tobytes()
    until(lambda: session.shot().crop(around).tobytes() != before)
    answer(session, first, "once")
    second = until(lambda: [found for found in cards(session) if found["id"] != first["id"]])[0]
    assert not results and second["state"] == "waiting" and second["at"]["frame"] > first["at"]["frame"]
    gone = person(session).call("GET", f"/v1/approvals/{first['id']}")
    assert gone["state"] == "withdrawn" and "changed" in gone["reason"]
    answer(session, second, "once")
    assert finish(thread, results)["ok"]


def test_for_the_session(make_session):
    """It holds for the same rule and the same program, in words on the card; never for a shell, nor a program without its whole path."""
    rules = [{"name": "uname", "verdict": "ask", "actions": ["exec"], "argv": ["uname*", "id*"]}]
    session = make_session("minimal", approval={"mode": "never", "rules": rules})
    thread, results, asked = parked(session, {"action": "exec", "argv": ["/bin/uname", "-a"]})
    assert "/bin/uname" in asked["session_words"] and asked["not_session_why"] is None
    assert asked["crop"] is None and asked["target"] is None
    answer(session, asked, "session")
    assert finish(thread, results)["ok"]
    assert session.exec("/bin/uname", "-r")["exit_code"] == 0
    assert counts(session)["asked"] == 1
    thread, results, asked = parked(session, {"action": "exec", "argv": ["/bin/sh", "-c", "true; uname -r"]})
    assert asked["session_words"] is None and "shell" in asked["not_session_why"]
    with pytest.raises(Refused) as refused:
        answer(session, asked, "session")
    assert (refused.value.code, refused.value.pointer) == ("conflict", "/answer")
    answer(session, asked, "once")
    assert finish(thread, results)["results"][0]["exit_code"] == 0
    thread, results, asked = parked(session, {"action": "exec", "argv": ["id"]})
    assert asked["session_words"] is None and "whole path" in asked["not_session_why"]
    answer(session, asked, "deny")
    finish(thread, results)
    assert session.exec("true")["exit_code"] == 0


def test_commands_that_are_not_understood(make_session):
    session = make_session("minimal", approval={"mode": "never", "rules": [{"name": "rm", "verdict": "deny", "argv": ["rm -rf *"]}]})
    with pytest.raises(Refused) as refused:
        session.exec("sh", "-c", "cd /tmp && rm -rf x")
    assert refused.value.code == "denied"
    assert session.exec("sh", "-c", "cd /tmp && echo 'rm -rf x'")["exit_code"] == 0
    thread, results, asked = parked(session, {"action": "exec", "argv": ["sh", "-c", "x=rm; $x -rf y"]})
    assert asked["unclear"] is True and asked["rule"] == "rm"
    answer(session, asked, "deny")
    assert finish(thread, results).code == "denied"


def test_crop(make_session):
    """For people alone, with the target marked."""
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, asked = parked(session, CLICK)
    reply = person(session).request("GET", asked["crop"])
    assert reply.status == 200 and reply.headers["Content-Type"] == "image/png" and "no-store" in reply.headers["Cache-Control"]
    picture = Image.open(io.BytesIO(reply.body)).convert("RGB")
    region, target = asked["crop_region"], asked["target"]
    assert picture.size == (region["width"], region["height"])
    assert picture.getpixel((target["x"] - region["x"] - 2, target["y"] - region["y"] + 5)) == (0xE0, 0x21, 0x8A)
    for token, status in ((session.tokens["agent"], 403), (session.tokens["viewer"], 403), (None, 401)):
        for method, path, body in (("GET", asked["crop"], None), ("GET", f"/v1/approvals/{asked['id']}", None), ("GET", "/v1/approvals", None),
                                   ("POST", f"/v1/approvals/{asked['id']}", {"answer": "once"})):
            assert Api(session.api.url, token).request(method, path, body).status == status
    assert not results
    answer(session, asked, "deny")
    finish(thread, results)


def test_of_other_sessions(make_session):
    one, other = make_session("minimal", approval=ASK_CLICKS), make_session("minimal")
    thread, results, asked = parked(one, CLICK)
    assert cards(other) == []
    for method, path, body in (("GET", f"/v1/approvals/{asked['id']}", None), ("POST", f"/v1/approvals/{asked['id']}", {"answer": "once"}),
                               ("GET", asked["crop"], None), ("GET", f"/v1/approvals?session={one.id}", None)):
        assert person(other).request(method, path, body).status == 404
    assert [found["id"] for found in one.api.call("GET", "/v1/approvals")["approvals"]] == [asked["id"]]
    answer(one, asked, "deny")
    finish(thread, results)


def test_events_have_no_content(make_session):
    session = make_session("minimal", approval={"mode": "never", "rules": [{"name": "typing", "verdict": "ask", "actions": ["type"]}]})
    with Stream(session.agent, session) as stream:
        thread, results, asked = parked(session, {"action": "type", "text": "canary text"})
        assert asked["action"]["text"] == "canary text"
        answer(session, asked, "deny", reason="canary reason")
        finish(thread, results)
        events = stream.take(2)
    assert [(event.name, event.data["state"]) for event in events] == [("approval", "waiting"), ("approval", "denied")]
    assert "canary" not in repr(events)


def test_a_take_over_withdraws(make_session):
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, asked = parked(session, CLICK)
    person(session).call("POST", f"{session.path}/lease", {"action": "take"})
    refused = finish(thread, results)
    assert refused.code in ("lease_lost", "lease_held")
    assert person(session).call("GET", f"/v1/approvals/{asked['id']}")["state"] == "withdrawn"
    with pytest.raises(Refused) as late:
        answer(session, asked, "once")
    assert late.value.code == "conflict"
    person(session).call("POST", f"{session.path}/lease", {"action": "give"})
    until(lambda: session.agent.request("POST", f"{session.path}/act", {"actions": [], "observe": True}).status == 200)
    thread, results, asked = parked(session, CLICK)
    answer(session, asked, "once")
    assert finish(thread, results)["ok"]


@pytest.mark.parametrize("how", ("pause", "cancel", "end", "leave"))
def test_withdrawn(server, make_session, how):
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, asked = parked(session, CLICK)
    if how == "pause":
        person(session).call("POST", f"{session.path}/pause")
        assert finish(thread, results).code in ("paused", "cancelled")
        person(session).call("POST", f"{session.path}/resume")
    elif how == "cancel":
        assert session.agent.call("POST", f"{session.path}/cancel")["cancelled"] is True
        assert finish(thread, results).code == "cancelled"
    elif how == "end":
        session.end()
        assert finish(thread, results).code == "session_gone"
        return
    else:
        answer(session, asked, "deny")
        finish(thread, results)
        connection = session.agent.connect(5)
        connection.request("POST", f"{session.path}/act", json.dumps({"actions": [CLICK]}),
                           {"Authorization": f"Bearer {session.agent.token}", "Content-Type": "application/json"})
        asked = card(session)
        connection.close()
    gone = until(lambda: (state := person(session).call("GET", f"/v1/approvals/{asked['id']}"))["state"] == "withdrawn" and state)
    assert gone["waits"] is False
    with pytest.raises(Refused) as refused:
        answer(session, asked, "once")
    assert refused.value.code == "conflict"
    session.act({"action": "move", "x": 9, "y": 9})


def test_check_only_says_the_verdict(make_session):
    session = make_session("minimal", approval={"rules": [{"name": "no-exec", "verdict": "deny", "actions": ["exec"], "why": "none here"}, *ASK_CLICKS["rules"]]})
    reply = session.try_act(CLICK, {"action": "exec", "argv": ["true"]}, {"action": "move", "x": 1, "y": 1}, check_only=True)
    assert [(verdict["verdict"], verdict["rule"]) for verdict in reply["verdicts"]] == [("ask", "clicks"), ("deny", "no-exec"), ("allow", "")]
    assert cards(session) == []
    with pytest.raises(Refused) as refused:
        session.exec("true")
    assert refused.value.code == "denied" and "none here" in refused.value.problem["detail"]


def test_always(make_session):
    session = make_session("minimal", approval={"mode": "always"})
    session.shot()
    assert session.windows() is not None
    thread, results, asked = parked(session, {"action": "key", "keys": "ctrl+a"})
    assert asked["rule"] == "always"
    answer(session, asked, "once")
    assert finish(thread, results)["ok"]


def test_faults(server):
    for rules, code, pointer in (([{"verdict": "ask", "titel": ["x"]}], "unknown_field", "/approval/rules/0/titel"),
                                 ([{"verdict": "ask", "reach": ["x"]}], "bad_field", "/approval/rules/0/reach/0"),
                                 ([{"verdict": "ask", "actions": ["clik"]}], "unknown_action", "/approval/rules/0/actions/0"),
                                 ([{"verdict": "ask", "keys": ["contrl+w"]}], "unknown_key", "/approval/rules/0/keys/0"),
                                 ([{"verdict": "ask", "place": ["bank"]}], "bad_field", "/approval/rules/0/place/0")):
        with pytest.raises(Refused) as refused:
            server.api.new(image="minimal", approval={"rules": rules})
        assert (refused.value.code, refused.value.pointer) == (code, pointer)
    for query in ("wait=x", "wait=-1", "wait=60001", "session=s4v6kq2mzx7hw3pd"):
        assert server.api.request("GET", f"/v1/approvals?{query}").status in (400, 404)
    for path in ("/v1/approvals/nothing", "/v1/approvals/s4v6kq2mzx7hw3pd.1", "/v1/approvals/.1"):
        assert server.api.request("GET", path).status == 404


def test_rules_of_the_configuration(make_server, tmp_path):
    """They come first, and can be read."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"approval": {"rules": [{"name": "house", "verdict": "deny", "actions": ["exec"]}],
                                               "places": [{"kind": "login", "title": ["*door*"]}, {"kind": "payment", "title": ["till*"]},
                                                          {"kind": "consent", "title": ["deal*"]}]}}))
    server = make_server("--config", config)
    told = server.api.call("GET", "/v1/approvals/rules")
    assert told["operator"][0]["name"] == "house" and told["places"][0]["title"] == ["*door*"]
    assert [rule["name"] for rule in told["modes"]["sensitive"]][:2] == ["password-field", "stored-secret"]
    session = server.api.new(image="minimal", approval={"mode": "never", "rules": [{"verdict": "allow", "actions": ["exec"]}]})
    with pytest.raises(Refused) as refused:
        session.exec("true")
    assert refused.value.code == "denied" and "house" in refused.value.problem["detail"]
    session.end()


def test_metrics(server, make_session):
    def asked():
        text = server.api.request("GET", "/metrics").body.decode()
        return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("glovebox_approvals_total")}
    before = asked()
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, found = parked(session, CLICK)
    answer(session, found, "once")
    finish(thread, results)
    after = asked()
    for what in ("asked", "once"):
        name = f'glovebox_approvals_total{{what="{what}"}}'
        assert after[name] == before.get(name, 0) + 1


def test_the_command_line_and_the_audit_log(server, make_session):
    cli = Cli(server)
    session = make_session("minimal", approval=ASK_CLICKS)
    thread, results, asked = parked(session, CLICK)
    listed = cli.run("approvals", "ls", "--session", session.id)
    assert asked["id"] in listed.stdout.decode()
    assert listed.stderr.decode().strip() == f"{session.id}: 1 asked, 0 answered, 0 expired"  # of no answers there is no share
    assert cli.json("approvals", "show", asked["id"])["action"] == CLICK
    assert cli.json("approvals", "rules")["modes"]["never"] == []
    cli.run("approvals", "deny", asked["id"], "--reason", "not now")
    assert "not now" in finish(thread, results).problem["detail"]
    cli.run("approvals", "allow", asked["id"], status=REFUSED)
    thread, results, asked = parked(session, CLICK)
    cli.run("approvals", "allow", asked["id"])
    assert finish(thread, results)["ok"]
    told = [entry for entry in events(server, "approval") if entry["session"] == session.id]
    assert [(entry["subject"]["answer"], entry["role"]) for entry in told] == [("deny", "operator"), ("once", "operator")]
    assert "not now" not in repr(told)


def test_what_a_model_reads(make_session):
    """In the form of its vendor; that nobody has answered yet is for the harness, which sends the call again."""
    session = make_session("minimal", approval=ASK_CLICKS)
    clicks = {
        "computer_20250124": {"type": "tool_use", "id": "toolu_01", "name": "computer", "input": {"action": "left_click", "coordinate": [100, 100]}},
        "openai": {"type": "computer_call", "call_id": "1", "actions": [{"type": "click", "button": "left", "x": 100, "y": 100}]},
        "gemini": {"name": "click", "args": {"x": 500, "y": 500}, "id": "f1"}}

    for dialect, click in clicks.items():
        thread, results = in_thread(lambda d=dialect, c=click: session.agent.request("POST", f"{session.path}/computer?dialect={d}", c))
        answer(session, card(session), "deny", reason=f"not by {dialect}")
        reply = finish(thread, results)
        assert reply.status == 200 or dialect == "openai", reply.body
        assert f"not by {dialect}" in reply.body.decode(), reply.body[:500]
        assert dialect != "computer_20250124" or reply.json["is_error"] is True
