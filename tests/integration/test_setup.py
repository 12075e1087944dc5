# SPDX-License-Identifier: GPL-2.0-or-later
"""The setup phase: commands before the apps and the agent, with secrets of their own; what they leave behind, and what becomes of one that fails."""
import json

import pytest

from api import Refused

BYTES = {"Content-Type": "application/octet-stream"}
VALUE = "a-value-for-the-setup-alone"


@pytest.fixture(name="secret", scope="module")
def stored_secret(server):
    server.api.request("PUT", "/v1/secrets/setup_test", VALUE.encode(), BYTES)
    yield "setup_test"
    server.api.request("DELETE", "/v1/secrets/setup_test")


def test_it_runs_before_the_agent(server, secret):
    session = server.api.new(image="minimal", apps=[], secrets=[secret], setup={
        "commands": ["echo $TOKEN >~/token && echo \"said $TOKEN\"", ["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & setsid sh -c 'sleep 1000' & echo $0", "a b"],
                     "until [ $(pgrep -c sleep) = 2 ]; do :; done; pgrep -c sleep >~/before; id -u >~/who"],
        "secrets": {"TOKEN": secret}})
    try:
        results = session.answer["setup"]
        assert [result["exit_code"] for result in results] == [0, 0, 0]
        assert results[0]["stdout"] == "said [masked]\n" and results[1]["stdout"] == "a b\n"
        # What they made is there; what they started, and their environment, is not.
        assert session.run("sh", "-c", "cat ~/before ~/who; pgrep -c sleep; env | grep -c TOKEN; true").split() == ["2", "1000", "0", "0"]
        assert session.run("wc", "-c", "/home/user/token") == f"{len(VALUE) + 1} /home/user/token\n"
        journal = server.api.request("GET", f"{session.path}/journal").body
        assert VALUE.encode() not in journal
        lines = [json.loads(line) for line in journal.splitlines()]
        assert [(line["index"], line["state"]) for line in lines if line["event"] == "setup"] == [(i, state) for i in range(3) for state in ("begun", "done")]
        assert [line["event"] for line in lines].index("ready") > max(i for i, line in enumerate(lines) if line["event"] == "setup")
        shown = server.api.call("GET", session.path)
        assert shown["setup"] == results and VALUE not in json.dumps(shown)
    finally:
        session.end()


def test_no_app_is_left(server):
    session = server.api.new(image="desktop", apps=[], setup={"commands": ["/run/glovebox/bin/glovebox-launch editor 2>&1 || true"]})
    try:
        assert "setup phase" in session.answer["setup"][0]["stdout"]
        assert session.windows() == [] and session.run("/run/glovebox/bin/glovebox-launch", "editor") == ""
    finally:
        session.end()


def test_a_secret_at_the_cut(server, secret):
    """Of what a command says the end is kept, and of a secret that lies at the cut nothing."""
    session = server.api.new(image="minimal", apps=[], secrets=[secret], setup={
        "commands": [f"printf %s \"$TOKEN\"; head -c {2000 - len(VALUE) + 3} /dev/zero | tr '\\0' x"], "secrets": {"TOKEN": secret}})
    try:
        assert VALUE[3:] not in json.dumps(session.answer)
        assert VALUE[3:].encode() not in server.api.request("GET", f"{session.path}/journal").body
        said = session.exec("sh", "-c", f"head -c {262144 - len(VALUE) + 3} /dev/zero | tr '\\0' x; printf %s%s {VALUE[:5]} {VALUE[5:]}")
        assert said["truncated"] and set(said["stdout"]) == {"x"}
    finally:
        session.end()


@pytest.mark.parametrize("command, words", [
    ("echo out; echo \"wrong: $TOKEN\" >&2; exit 3", ["status 3", "wrong: [masked]"]), ("kill -KILL $$", ["signal 9"]), (["/no/such/program"], ["/no/such/program"]),
    ("echo waiting; sleep 100", ["time limit", "waiting"])])
def test_one_that_fails(server, secret, command, words):
    before = server.live_sessions()
    with pytest.raises(Refused) as refused:
        server.api.new(image="minimal", apps=[], secrets=[secret], setup={"commands": ["true", command, "touch /tmp/never"], "secrets": {"TOKEN": secret}, "timeout_s": 2})
    assert (refused.value.status, refused.value.code, refused.value.pointer) == (422, "setup_failed", "/setup/commands/1"), refused.value.problem
    assert all(word in refused.value.problem["detail"] for word in words), refused.value.problem
    assert VALUE not in json.dumps(refused.value.problem)
    assert server.live_sessions() == before


def test_one_that_meets_a_limit(server):
    with pytest.raises(Refused) as refused:
        server.api.new(image="minimal", apps=[], limits={"disk_mb": 32}, setup={"commands": ["head -c 64M /dev/zero >~/big"]})
    assert "status 1 at the session's limit disk_mb" in refused.value.problem["detail"], refused.value.problem


def test_what_is_refused(server):
    for setup, pointer in ({"commands": "true"}, "/setup/commands"), ({"commands": [[]]}, "/setup/commands/0"), ({"commands": ["a\0b"]}, "/setup/commands/0"), \
            ({"commands": [], "secrets": {"A": "none"}}, "/setup/secrets/A"), ({"commands": [], "timeout_s": 0}, "/setup/timeout_s"):
        with pytest.raises(Refused) as refused:
            server.api.new(image="minimal", apps=[], setup=setup)
        assert (refused.value.code, refused.value.pointer) == ("bad_field", pointer), refused.value.problem


def test_its_way_out_is_its_own(server):
    session = server.api.new(image="minimal", apps=[], setup={"commands": ["env | grep -c ^https_proxy="], "egress": {"mode": "allowlist", "allow": ["example.org"]}})
    try:
        assert session.answer["setup"][0]["stdout"] == "1\n"
        assert session.answer["egress"]["mode"] == "none"
    finally:
        session.end()
    with pytest.raises(Refused) as refused:
        server.api.new(image="minimal", apps=[], setup={"commands": ["true"], "egress": {"mode": "allowlist", "allow": ["https://x"]}})
    assert refused.value.pointer.startswith("/setup/egress/allow"), refused.value.problem
