# SPDX-License-Identifier: GPL-2.0-or-later
"""request_human over MCP: a client that opens addresses gets that of the console, and its call comes back; others get the plain result."""
import pytest

from api import in_thread
from conftest import until
from mcp import MODERN, Client, image_of, modern, modern_headers, tool
from test_lease import Person, code_of

ASK = {"actions": [{"action": "request_human", "reason": "Sign in, please", "kind": "captcha"}]}
URL = {"elicitation": {"url": {}}}


class Handover:
    """A client of the stateless revision that asks for a person."""

    def __init__(self, session, caps=URL):
        self.session = session
        self.client = Client(session.agent, MODERN)
        self.caps = caps

    def send(self, arguments=ASK, **params):
        message = tool("computer", arguments)
        message["params"].update(params)
        modern(message, **{"io.modelcontextprotocol/clientCapabilities": self.caps})
        return self.client.start(message, modern_headers(message)).reply()

    def again(self, asked, action="accept", **params):
        return self.send(inputResponses={"handover": {"action": action}}, requestState=asked["requestState"], **params)


def test_the_address_of_the_console(server, session):
    handover = Handover(session)
    asked = handover.send().result
    request = asked["inputRequests"]["handover"]
    assert asked["resultType"] == "input_required" and request["method"] == "elicitation/create"
    assert request["params"]["mode"] == "url" and request["params"]["url"] == f"{server.url}/#session={session.id}"
    assert '"Sign in, please"' in request["params"]["message"]
    person = Person(session)
    thread, results = in_thread(lambda: handover.again(asked))
    person.take()
    person.give()
    thread.join()
    result = results[0].result
    assert result["resultType"] == "complete" and image_of(result)[0] == "image/png"
    # That was the look: the model goes on.
    assert handover.send({"actions": [{"action": "move", "x": 3, "y": 3}]}).result["structuredContent"]["ok"]


def test_its_user_declines(session):
    handover = Handover(session)
    asked = handover.send().result
    result = handover.again(asked, "decline").result
    assert result["isError"] and "declined" in result["content"][0]["text"]
    assert Person(session).lease()["holder"] == "agent"


def test_who_has_come_stays(session):
    """The client's user does not send a person away."""
    handover, person = Handover(session), Person(session)
    asked = handover.send().result
    person.take()
    thread, results = in_thread(lambda: handover.again(asked, "cancel"))
    assert person.lease()["holder"] == "human"
    person.give()
    thread.join()
    assert image_of(results[0].result)


@pytest.mark.parametrize("change", [lambda state: state[:-1] + ("0" if state[-1] != "0" else "1"), lambda state: "9" + state, lambda state: "x", lambda state: 7,
                                    lambda state: "a" * 5000], ids=["signature", "time", "none", "number", "long"])
def test_a_state_that_is_not_ours(session, change):
    handover = Handover(session)
    asked = handover.send().result
    error = handover.again({"requestState": change(asked["requestState"])}).error
    assert error["code"] == -32602
    assert Person(session).lease()["holder"] == "nobody"


def test_a_state_of_another_call(session, make_session):
    handover = Handover(session)
    asked = handover.send().result
    other = {"actions": [{"action": "request_human", "reason": "Something else", "kind": "captcha"}]}
    assert handover.send(other, inputResponses={}, requestState=asked["requestState"]).error["code"] == -32602
    assert Handover(make_session("minimal")).again(asked).error["code"] == -32602


def test_clients_that_open_nothing(session):
    """They get the result of the action, and a picture of nothing."""
    result = Handover(session, {"elicitation": {"form": {}}}).send().result
    assert result["resultType"] == "complete" and result["structuredContent"]["results"][0]["holder"] == "nobody"
    assert [block["type"] for block in result["content"]] == ["text"]
    assert code_of(session.shot) == "lease_held"


def test_the_legacy_way(server, session):
    client = Client(session.agent).begin("2025-11-25", capabilities=URL)
    error = client.post(tool("computer", ASK)).error
    assert error["code"] == -32042
    asked, = error["data"]["elicitations"]
    assert (asked["mode"], asked["url"]) == ("url", f"{server.url}/#session={session.id}") and asked["elicitationId"]
    person = Person(session)
    person.take()
    assert "lease_held" in client.fail("computer", ASK)
    person.give()
    assert "must_observe" in client.fail("computer", ASK)
    assert image_of(client.call("computer"))


def test_older_ones(session):
    client = Client(session.agent).begin("2025-06-18", capabilities=URL)
    assert client.call("computer", ASK)["structuredContent"]["results"][0]["holder"] == "nobody"


def test_a_long_call_that_is_interrupted(server, session):
    """It ends when the person takes over, and says so without a picture."""
    client = Client(session.agent).begin("2025-11-25")
    long = tool("computer", {"actions": [{"action": "wait", "duration_ms": 30000}]})
    person = Person(session)
    thread, results = in_thread(lambda: client.post(long).result)
    journal = server.state / "journals" / session.id / "journal.jsonl"
    until(lambda: b'"intent"' in journal.read_bytes())
    person.take()
    thread.join(5)
    assert results and results[0]["isError"] and "lease_lost" in repr(results[0])
    assert [block["type"] for block in results[0]["content"]] == ["text"]
    person.give()


def test_a_batch_in_a_hold(session):
    """Each message has its own answer, and none has anything of the screen."""
    client = Client(session.agent).begin("2025-03-26")
    person = Person(session)
    person.take()
    batch = [tool("computer", {}, 1), tool("computer", {"actions": [{"action": "move", "x": 1, "y": 1}]}, 2), tool("session_get", {}, 3)]
    answers = {one["id"]: one["result"] for one in client.post(batch).messages}
    assert all(answers[n]["isError"] and "lease_held" in repr(answers[n]) for n in (1, 2))
    assert '"human"' in answers[3]["content"][0]["text"] and "focus" not in answers[3]["content"][0]["text"]
    person.give()
