# SPDX-License-Identifier: GPL-2.0-or-later
"""What an action meets, in its result and in the journal; and passwords, which are in neither."""
import hashlib
import json
import pathlib

import pytest

from api import Api
from conftest import until
from page import open_page
from stream import Stream
from test_cli import DONE, REFUSED, USAGE, Cli
from test_journal import lines
from test_replay import record, replay

HERE = pathlib.Path(__file__).parent
CANARY = "hush-canary-7"
FORM = """<!doctype html><title>sign in</title>
<style>* {{ position: absolute; left: {left}px; width: 200px; height: 40px; margin: 0 }} html, body {{ left: 0; width: 100%; height: 100% }}</style>
<input aria-label="User" style="top: 40px"><input type="password" aria-label="Pass" style="top: 120px"
 oninput="crypto.subtle.digest('SHA-256', new TextEncoder().encode(this.value)).then(d => document.title = [...new Uint8Array(d)].map(b => b.toString(16).padStart(2, '0')).join(''))">
<button style="top: 200px">{label}</button><div contenteditable aria-label="Notes" style="top: 280px">private note</div>
"""
USER, PASS, BUTTON, NOTES = ({"x": 250, "y": 165 + 80 * row} for row in range(4))
WORDS = {"action": "click", "x": 250, "y": 165 + 160}


@pytest.fixture(scope="module")
def firefox(server):
    """A page with a form, in Firefox."""
    session = server.api.new(image="desktop", idle_s=0, approval={"mode": "never"})
    session.run("sh", "-c", "cat >page.html", stdin=FORM.format(left=150, label="Sign in"))
    open_page(session, "page.html", "sign in")
    until(lambda: (session.do("click", **BUTTON).get("node") or {}).get("name") == "Sign in")
    yield session
    session.end()


def met(session, action, **fields):
    """The result of an action once its app has answered in time: on a busy machine one is late now and then."""
    return until(lambda: (result := session.do(action, **fields)).get("node") and result)


def results(server, session):
    return [line for line in lines(server, session) if line["event"] == "result"]


def last_intent(server, session):
    return [line for line in lines(server, session) if line["event"] == "intent"][-1]["action"]


def holds(node, place):
    bounds = node["bounds"]
    return 0 <= place["x"] - bounds["x"] < bounds["width"] and 0 <= place["y"] - bounds["y"] < bounds["height"]


def state(session, role="agent"):
    return Api(session.api.url, session.tokens[role]).call("GET", session.path)


def focus(session):
    return state(session)["focus"]


def everything(server, session, events):
    """All that is kept of a session: its files, those of the front, the log, the events."""
    kept = [path.read_bytes() for folder in (server.state / "journals" / session.id, server.state / "front") for path in folder.rglob("*") if path.is_file()]
    return b"".join([*kept, server.log_text().encode(), repr(events).encode(), json.dumps(state(session)).encode()])


def test_a_click_says_what_it_met(server, firefox):
    """In the reply and in the journal, role and label and the place of it; by other vendors' forms as well."""
    node = met(firefox, "click", **BUTTON)["node"]
    assert (node["role"], node["name"]) == ("push button", "Sign in")
    assert holds(node, BUTTON)
    assert results(server, firefox)[-1]["node"] == node

    def by_a_model():
        firefox.agent.call("POST", f"{firefox.path}/computer", {"type": "computer_call", "call_id": "c1", "status": "completed", "actions": [
            {"type": "click", "button": "left", **BUTTON}]})
        return results(server, firefox)[-1]["node"]
    assert until(by_a_model) == node
    assert met(firefox, "scroll", **BUTTON, dy=1)["node"] == node
    drag = until(lambda: (result := met(firefox, "drag", path=[[BUTTON["x"], BUTTON["y"]], [USER["x"], USER["y"]]], duration_ms=50))["node_to"] and result)
    assert drag["node"] == node and drag["node_to"]["name"] == "User"
    assert results(server, firefox)[-1]["node_to"] == drag["node_to"]
    assert "node" not in firefox.do("move", **BUTTON)


def test_places_are_of_the_call(firefox):
    native = met(firefox, "click", **BUTTON)["node"]["bounds"]
    half = until(lambda: firefox.act({"action": "click", "x": BUTTON["x"] // 2, "y": BUTTON["y"] // 2}, space={"width": 640, "height": 400})["results"][0]["node"])
    assert half["bounds"] == {name: value // 2 for name, value in native.items()}


def test_no_value_is_told(server, firefox):
    """What stands in a field is no name of it, and a password field has none."""
    assert met(firefox, "click", **PASS)["node"] == {"role": "password text"}
    assert "private note" not in json.dumps(met(firefox, "click", **NOTES))
    firefox.act({"action": "click", **USER}, {"action": "type", "text": "ada"})
    typed = results(server, firefox)[-1]["node"]
    assert (typed["role"], typed["name"]) == ("entry", "User")


def test_the_state_tells_the_focus(firefox):
    firefox.act({"action": "click", **USER})
    until(lambda: focus(firefox) == {"known": True, "role": "entry", "password": False, "editable": True, "terminal": False, "app": "firefox"})
    firefox.act({"action": "click", **PASS})
    until(lambda: focus(firefox) == {"known": True, "role": "password text", "password": True, "editable": True, "terminal": False, "app": "firefox"})
    assert state(firefox, "viewer")["focus"]["password"] is True


def test_a_password_in_a_page_is_kept_nowhere(server, firefox):
    """Typed right after the click, in one list; by single keys; and behind a Tab."""
    title = hashlib.sha256((CANARY + "x").encode()).hexdigest()
    with Stream(firefox.agent, firefox) as stream:
        firefox.act({"action": "click", **PASS}, {"action": "key", "keys": "ctrl+a"}, {"action": "type", "text": CANARY}, {"action": "key", "keys": "x"})
        until(lambda: any(title in window["title"] for window in firefox.windows()))
        firefox.act({"action": "click", **USER}, {"action": "type", "text": f"ada\t{CANARY}"})
        firefox.do("type", text=CANARY)
        typed = [line["action"] for line in lines(server, firefox) if line["event"] == "intent" and {"text", "keys"} & set(line["action"])][-5:]
        events = stream.take(len(typed))
    hidden = {"bytes": len(CANARY), "why": "password"}
    assert typed == [{"action": "key", "keys": "ctrl+a"}, {"action": "type", "text": hidden}, {"action": "key", "keys": {"bytes": 1, "why": "password"}},
                     {"action": "type", "text": {"bytes": 4 + len(CANARY), "why": "unknown"}}, {"action": "type", "text": hidden}]
    assert CANARY.encode() not in everything(server, firefox, events)


def test_a_question_of_a_terminal(server, make_session):
    """A shell that reads a password; what comes before and after it is kept. On an image without any accessibility of its own."""
    session = make_session("minimal", apps=["terminal"], approval={"mode": "never"})
    session.do("type", text="read -s P; printf %s \"$P\" | sha256sum >sum; stty -a >tty\n")
    until(lambda: focus(session).get("password"))
    with Stream(session.agent, session) as stream:
        session.do("type", text=f"{CANARY}\n")
        wanted = hashlib.sha256(CANARY.encode()).hexdigest()
        until(lambda: session.exec("cat", "sum")["stdout"].startswith(wanted) and session.exec("test", "-s", "tty")["exit_code"] == 0)
        until(lambda: not focus(session)["password"])
        session.do("type", text="echo shown\n")
        events = stream.take(3)
    kept = [line["action"]["text"] for line in lines(server, session) if line["event"] == "intent" and line["action"]["action"] == "type"]
    assert kept == [f"read -s P; printf %s \"$P\" | sha256sum >sum; stty -a >tty\n", {"bytes": len(CANARY) + 1, "why": "password"}, "echo shown\n"]
    assert CANARY.encode() not in everything(server, session, events)
    assert focus(session) == {"known": True, "role": "terminal", "password": False, "editable": True, "terminal": True, "app": "terminal"}


@pytest.mark.parametrize(("text", "kept"), (("plain", {"bytes": 6, "why": "unknown"}), ("always", "abcdef"), ("none", {"bytes": 6})))
def test_an_app_that_says_nothing(server, make_session, text, kept):
    """A window of plain X, which no accessibility knows and which is no terminal: nobody can tell what it does with keys."""
    session = make_session("minimal", record={"text": text})
    session.run("sh", "-c", "cat >x_window.pl", stdin=(HERE / "x_window.pl").read_text())
    session.run("perl", "x_window.pl", "1", "WM_NAME", "STRING", b"plain".hex())
    session.do("wait_window", title="plain")
    session.do("type", text="abcdef")
    assert last_intent(server, session)["text"] == kept
    assert focus(session) == {"known": False}


def test_nodes_that_are_not_to_be_kept(server, make_session):
    session = make_session("desktop", record={"nodes": False}, apps=["editor"])
    node = until(lambda: session.do("click", x=640, y=400).get("node"))
    assert node["role"]
    assert [line for line in results(server, session) if "node" in line] == []


def test_an_app_that_hangs(server, make_session):
    """Its clicks go through all the same, and say that it did not answer; when it answers again, they have its nodes again."""
    session = make_session("desktop", apps=["editor"])
    place = {"x": 640, "y": 400}
    node = until(lambda: session.do("click", **place).get("node"))
    pid = str(session.windows()[0]["pid"])
    session.run("kill", "-STOP", pid)
    for step in range(4):
        result = session.do("click", x=place["x"] + 30 * step, y=place["y"])
        assert (result["node"], result["node_reason"]) == (None, "late")
    assert results(server, session)[-1]["node_reason"] == "late"
    session.run("kill", "-CONT", pid)
    until(lambda: session.do("click", **place).get("node") == node)


@pytest.fixture
def cli(server):
    return Cli(server)


def steps_of(left, label, more=""):
    page = FORM.format(left="${LEFT}", label="$LABEL") + "$MORE\n"
    return {"spec": {"image": "desktop", "approval": {"mode": "never"}, "env": {"LEFT": left, "LABEL": label, "MORE": more}}, "steps": [
        {"actions": [{"action": "exec", "argv": ["sh", "-c", f"cat >page.html <<END\n{page}END"]}, {"action": "launch", "app": "firefox", "args": ["page.html"]},
                     {"action": "wait_window", "title": "sign in", "timeout_ms": 20000}], "observe": {"quiet_ms": 1500, "timeout_ms": 20000}},
        {"actions": [{"action": "scroll", "x": 640, "y": 600, "dy": 1}], "observe": True},
        {"actions": [WORDS], "observe": True}, {"actions": [{"action": "click", **PASS}, {"action": "type", "text": CANARY}], "observe": {"quiet_ms": 1500, "timeout_ms": 20000}}]}


def given(left="150", label="Sign in", more=""):
    return ["--env", f"LEFT={left}", "--env", f"LABEL={label}", "--env", f"MORE={more}"]


@pytest.fixture(scope="module")
def signed_in(server, tmp_path_factory):
    """A recording that knows what was clicked: the first answer of a browser is late on a busy machine."""
    def one():
        folder = record(Cli(server), tmp_path_factory.mktemp("nodes"), steps_of("150", "Sign in"))
        clicks = [line for line in map(json.loads, (folder / "journal.jsonl").read_text().splitlines()) if line["event"] == "result" and "node" in line]
        return all(line["node"] for line in clicks[-3:]) and folder
    return until(one, within_s=120)


def test_replay_of_a_password(cli, signed_in, tmp_path):
    """It is asked for, played, and in none of what a replay writes."""
    assert CANARY.encode() not in (signed_in / "journal.jsonl").read_bytes()
    said = cli.run("replay", signed_in, *given(), status=USAGE).stderr.decode()
    assert "into a password field, which journals never keep" in said and "--text 4.2=FILE" in said
    (tmp_path / "given").write_text(f"{CANARY}\n")
    new, page = tmp_path / "new", tmp_path / "report.html"
    done = cli.run("replay", signed_in, *given(), "--text", f"4.2={tmp_path / 'given'}", "-o", new, "--report", page, "--junit", tmp_path / "junit.xml")
    text = done.stdout.decode()
    assert 'button "Sign in" at 250, 325' in text and "type 13 bytes, not recorded into password text" in text
    assert 'button "Sign in" at 250, 325' in page.read_text().replace('\\"', '"') and 'button &quot;Sign in&quot;' in (tmp_path / "junit.xml").read_text()
    for file in (page, tmp_path / "junit.xml", *new.iterdir()):
        assert CANARY.encode() not in file.read_bytes()


def test_what_is_gone(cli, signed_in, tmp_path):
    (tmp_path / "given").write_text(CANARY)
    _, steps = replay(cli, signed_in, "--wait", "1500", "-k", "--text", f"4.2={tmp_path / 'given'}", given=given(label="Go on"), status=REFUSED)
    assert steps[2]["verdict"] == "differs" and steps[2]["where"] == "before"
    assert steps[2]["node"]["state"] == "gone" and steps[2]["reason"].startswith('push button "Sign in" is gone; ')


def test_what_has_moved(cli, signed_in):
    """It stops there, and says where to."""
    (signed_in / "given").write_text(CANARY)
    said = cli.run("replay", signed_in, "-k", "--wait", "1500", "--text", f"4.2={signed_in / 'given'}", *given(left="400"), status=REFUSED).stdout.decode()
    assert 'push button "Sign in" has moved: it is at 500, 325 now; before it ' in said


def test_follow(cli, signed_in, tmp_path):
    (tmp_path / "given").write_text(CANARY)
    _, steps = replay(cli, signed_in, "--wait", "1500", "-k", "--follow", "--text", f"4.2={tmp_path / 'given'}", given=given(left="400"), status=REFUSED)
    assert [step["verdict"] for step in steps[2:]] == ["passed", "passed"]
    assert "was followed" in steps[2]["note_before"] and steps[2]["points"] == [{"x": 500, "y": 325}]
