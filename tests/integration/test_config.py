# SPDX-License-Identifier: GPL-2.0-or-later
"""The operator's configuration: what gloveboxd takes, what the keys in it may do and see, and what comes of them later."""
import hashlib
import json
import os
import signal
import subprocess

import pytest

from api import Api, Refused, Session
from conftest import BUILD, until

GLOVEBOXD = BUILD / "gloveboxd"


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


def key(name, **more):
    return {"name": name, "token_sha256": digest(f"gbk_{name}"), **more}


@pytest.fixture
def write(tmp_path, prepared):
    def write(content, name="config.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        path.chmod(0o644)
        return path
    return write


def check(path, **options):
    return subprocess.run([GLOVEBOXD, "--check-config", "--config", path], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
                          **options)


def test_check(write):
    done = check(write({"keys": [key("team"), key("admin", role="operator")], "hosts": ["box.example"], "defaults": {"ttl_s": 60}}))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1 and "2 keys, 1 host name, defaults" in done.stdout


@pytest.mark.parametrize("content, words", [
    ('{\n "keys": [,]}', ["line 2, column 11", "a JSON value"]),
    ('{"keys": 1}', ["/keys", "1 is not allowed", "list"]),
    ({"keys": [key("Team")]}, ["/keys/0/name", '"Team"', "a-z"]),
    ({"keys": [{"name": "a", "token_sha256": "gbk_canary"}]}, ["/keys/0/token_sha256", "64"]),
    ({"hosts": ["a:1"]}, ["/hosts/0", '"a:1"', "without a port"]),
], ids=["syntax", "type", "name", "hash", "host"])
def test_what_is_wrong_is_told_and_starts_nothing(write, tmp_path, content, words):
    path = write(content)
    done = check(path)
    assert done.returncode == 1 and done.stdout == ""
    said = done.stderr.splitlines()[0]
    assert said.startswith(f"{path}: ") and all(word in said for word in words), said
    assert "canary" not in done.stderr
    start = subprocess.run([GLOVEBOXD, "--listen", "127.0.0.1:0", "--state", tmp_path / "state", "--config", path], capture_output=True, text=True,
                           timeout=30, stdin=subprocess.DEVNULL)
    assert start.returncode == 1 and start.stdout == ""
    assert start.stderr.splitlines()[0] == said
    assert not (tmp_path / "state").exists()


def test_all_faults_are_told(write):
    path = write({"keys": [key("team", role="boss", sessions=-1, wat=1)], "host": []})
    said = check(path).stderr.splitlines()
    for pointer in ("/keys/0/role", "/keys/0/sessions", "/keys/0/wat", "/host"):
        assert len([line for line in said if line.startswith(f"{path}: {pointer}: ")]) == 1, (pointer, said)
    path = write({"keys": [key("team"), key("team", isolation=["jail", "box"]), key("A")], "hosts": ["a b", "c d"], "defaults": {"isolation": "vm"}})
    assert [line.split(": ")[1] for line in check(path).stderr.splitlines()[:-1]] == [
        "/hosts/0", "/hosts/1", "/defaults/isolation", "/keys/1/name", "/keys/1/token_sha256", "/keys/1/isolation/1", "/keys/2/name"]


def test_whose_file_it_is(write, tmp_path):
    path = write({})
    os.chown(path, 4242, 4242)
    assert "belongs to another user" in check(path).stderr
    os.chown(path, 0, 0)
    path.chmod(0o664)
    assert "can be written by others" in check(path).stderr
    path.chmod(0o600)
    assert check(path).returncode == 0
    (tmp_path / "link").symlink_to(path)
    assert check(tmp_path / "link").returncode == 0
    path.write_text("")
    assert "is empty" in check(path).stderr
    path.write_text(" " * (1024 * 1024 + 1))
    assert "more than the 1048576 bytes" in check(path).stderr
    assert "is not a file" in check(tmp_path).stderr
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in check(tmp_path / "pipe").stderr
    assert "No such file" in check(tmp_path / "nothing").stderr
    assert check(tmp_path / "nothing").returncode == 1


def test_check_needs_a_file(prepared):
    done = subprocess.run([GLOVEBOXD, "--check-config"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and "--config" in done.stderr


@pytest.fixture
def team_server(make_server, write):
    """A server with the keys team, other and admin."""
    path = write({"keys": [key("team", sessions=1, images=["minimal"], ttl_s=600, limits={"memory_mb": 1024}), key("other"),
                           key("admin", role="operator")],
                  "hosts": ["box.example"], "defaults": {"image": "minimal"}})
    server = make_server("--config", path)
    server.config = path
    return server


def as_key(server, name):
    return Api(server.url, f"gbk_{name}")


def ids(api):
    return {session["id"] for session in api.call("GET", "/v1/sessions")["sessions"]}


def refusal(api, method, path, body=None):
    with pytest.raises(Refused) as refused:
        api.call(method, path, body)
    return refused.value


def test_an_owner_sees_its_own_alone(team_server):
    team, other, admin = (as_key(team_server, name) for name in ("team", "other", "admin"))
    mine = team.new()
    theirs = other.new()
    assert mine.answer["owner"] == "team" and mine.answer["image"] == "minimal"
    assert ids(team) == {mine.id} and ids(other) == {theirs.id}
    assert ids(admin) == ids(team_server.api) == {mine.id, theirs.id}
    assert admin.call("GET", mine.path)["owner"] == "team"

    # Another's session is like one that is not there, whatever is asked of it, and stays as it is.
    nobody = "saaaaaaaaaaaaaaa"
    for method, rest, body in [("GET", "", None), ("DELETE", "", None), ("POST", "/act", {"actions": []}), ("POST", "/cancel", None),
                               ("GET", "/screenshot", None)]:
        foreign = refusal(team, method, theirs.path + rest, body)
        missing = refusal(team, method, f"/v1/sessions/{nobody}{rest}", body)
        assert (foreign.status, foreign.code) == (missing.status, missing.code) == (404, "not_found")
        assert foreign.problem["detail"].replace(theirs.id, nobody) == missing.problem["detail"]
    assert theirs.run("echo", "here") == "here\n"

    # Its own it may use like the operator.
    assert team.call("POST", f"{mine.path}/act", {"actions": [{"action": "cursor_position"}]})["ok"]
    assert team.call("GET", "/v1/images")["images"]
    line = [json.loads(line) for line in (team_server.state / "journals" / mine.id / "journal.jsonl").read_text().splitlines()]
    assert [entry["actor"]["role"] for entry in line if entry["event"] == "intent"] == ["owner"]
    mine.end()
    assert team_server.live_sessions() == {theirs.id}
    theirs.end()


def test_quotas(team_server):
    team = as_key(team_server, "team")
    assert team.call("GET", "/v1")["key"] == {"name": "team", "sessions": 1, "images": ["minimal"], "ttl_s": 600, "limits": {"memory_mb": 1024}}
    assert team_server.api.call("GET", "/v1")["key"] is None
    for spec, pointer, words in [({"image": "desktop"}, "/image", ["desktop", "minimal"]), ({"ttl_s": 601}, "/ttl_s", ["601", "600"]),
                                 ({"limits": {"memory_mb": 1025}}, "/limits/memory_mb", ["1025", "1024"])]:
        refused = refusal(team, "POST", "/v1/sessions", spec)
        assert (refused.status, refused.code, refused.pointer) == (403, "forbidden", pointer)
        assert all(word in refused.problem["detail"] for word in words + ["team"])
    session = team.new()
    assert session.answer["expires_at"] is not None
    refused = refusal(team, "POST", "/v1/sessions", {})
    assert (refused.status, refused.code) == (429, "quota_exceeded")
    assert "team" in refused.problem["detail"]
    assert os.listdir(team_server.state / "run") == [session.id]
    refused = refusal(team, "PATCH", session.path, {"ttl_s": 601})
    assert (refused.code, refused.pointer) == ("forbidden", "/ttl_s") and "team" in refused.problem["detail"]
    team.call("PATCH", session.path, {"ttl_s": 300})
    team_server.api.call("PATCH", session.path, {"ttl_s": 6000})
    session.end()
    team.new().end()


def test_hosts_of_the_configuration(team_server):
    for host, status in [("box.example", 200), ("box.example:443", 200), ("evil.example", 421)]:
        assert team_server.api.request("GET", "/livez", headers={"Host": host}).status == status
    for origin, status in [("http://box.example:443", 200), ("http://evil.example", 403)]:
        assert team_server.api.request("GET", "/livez", headers={"Origin": origin}).status == status


def test_a_new_token(write, make_server):
    """What `glovebox token` prints is what the configuration takes."""
    def new(*words):
        return subprocess.run([BUILD / "glovebox", "token", *words], capture_output=True, text=True, check=True, env={}).stdout

    made = json.loads(new("--json"))
    assert made["token"].startswith("gbk_") and made["token_sha256"] == digest(made["token"])
    assert new("--operator").split()[1].startswith("gbo_")
    assert new() != new()
    server = make_server("--config", write({"keys": [{"name": "ci", "token_sha256": made["token_sha256"].upper()}]}))
    assert ids(Api(server.url, made["token"])) == set()
    assert made["token"] not in server.log_text()


def front_of(server):
    """The pid of the front."""
    shown = subprocess.run(["pgrep", "-P", str(server.process.pid), "-f", "glovebox-front"], capture_output=True, text=True).stdout.split()
    return int(shown[0]) if shown else None


def test_a_front_that_starts_again_has_the_same_configuration(team_server):
    """Also when the file has changed meanwhile: a new one is read when the server starts."""
    session = as_key(team_server, "team").new()
    team_server.config.write_text("no longer JSON")
    front = front_of(team_server)
    os.kill(front, signal.SIGKILL)
    until(lambda: front_of(team_server) not in (None, front))

    def answers():
        try:
            return as_key(team_server, "team").call("GET", session.path)["state"] == "ready"
        except OSError:
            return False
    until(answers)
    assert refusal(as_key(team_server, "other"), "GET", session.path).code == "not_found"
    session.end()


def test_a_key_that_is_gone(team_server, write):
    """Its token opens nothing any more; what it made is listed for the operator, under its name."""
    team = as_key(team_server, "team")
    session = team.new()
    session.end()
    team_server.stop()
    write({"keys": [key("other")]})
    team_server.start()
    assert refusal(Api(team_server.url, "gbk_team"), "GET", "/v1/sessions").status == 401
    assert ids(as_key(team_server, "other")) == set()
    assert [(s["id"], s["owner"]) for s in team_server.api.call("GET", "/v1/sessions")["sessions"]] == [(session.id, "team")]
    assert Session(team_server.api, session.answer).id == session.id
