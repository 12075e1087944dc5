# SPDX-License-Identifier: GPL-2.0-or-later
"""The front's audit log: who made, refused and ended what, chained, and with it where the journals are."""
import hashlib
import json

import pytest

from api import Api, Refused
from conftest import until

SECRETS = ("gbo_", "gbk_", "gba_", "gbv_", "gbc_", "gbx_")


def lines(server):
    """All lines, their chain checked (session/base/chain.h)."""
    before, found = b"\0" * 32, []
    for seq, line in enumerate((server.state / "front/audit.jsonl").read_text().splitlines(), 1):
        entry = json.loads(line)
        text = line.rsplit(',"hash":"', 1)[0] + "}"
        assert entry["seq"] == seq
        assert entry["hash"] == hashlib.sha256(before + text.encode()).hexdigest()
        before = bytes.fromhex(entry["hash"])
        found.append(entry)
    return found


def events(server, *names):
    return [entry for entry in lines(server) if entry["event"] in names]


def journal_head(server, session):
    last = json.loads((server.state / "journals" / session / "journal.jsonl").read_text().splitlines()[-1])
    return {"seq": last["seq"], "hash": last["hash"]}


def test_what_happens_outside_of_sessions(make_server, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"keys": [{"name": "team", "token_sha256": hashlib.sha256(b"gbk_team").hexdigest(), "images": ["minimal"]}]}))
    config.chmod(0o644)
    server = make_server("--config", config)
    team = Api(server.url, "gbk_team")
    for _ in range(3):
        with pytest.raises(Refused):
            Api(server.url, "gbo_canary-wrong").call("GET", "/v1/sessions")
    code = server.log_text().split("#code=")[1].split()[0]
    Api(server.url, None).call("POST", "/v1/console", {"code": code})
    with pytest.raises(Refused) as refused:
        team.call("POST", "/v1/sessions", {"image": "desktop", "labels": {"canary": "canary-label"}})
    session = team.new(image="minimal")
    made = team.call("POST", f"{session.path}/tokens", {"role": "viewer"})
    team.call("DELETE", f"{session.path}/tokens/{made['id']}")
    session.act({"action": "cursor_position"})
    # The journal's head, while the session lives.
    anchor = until(lambda: [entry for entry in events(server, "journals") if session.id in entry["heads"]], within_s=25)[-1]["heads"][session.id]
    written = (server.state / "journals" / session.id / "journal.jsonl").read_text().splitlines()
    assert json.loads(written[anchor["seq"] - 1])["hash"] == anchor["hash"]
    session.end()
    assert until(lambda: events(server, "unauthorized"))[0]["count"] == 3

    start = events(server, "start")[0]
    assert start["seq"] == 1 and start["config_sha256"] == hashlib.sha256(config.read_bytes()).hexdigest() and start["keys"] == 1
    assert len(events(server, "code_traded")) == 1
    refusal, = events(server, "create_refused")
    assert (refusal["owner"], refusal["role"], refusal["code"], refusal["pointer"]) == ("team", "owner", "forbidden", "/image")
    assert refusal["request"] == refused.value.problem["request_id"]
    create, = events(server, "create")
    assert (create["session"], create["owner"], create["image"]) == (session.id, "team", "minimal")
    assert [(entry["event"], entry["session"], entry["subject"]["token"]) for entry in events(server, "token_made", "token_revoked")] == [
        ("token_made", session.id, made["id"]), ("token_revoked", session.id, made["id"])]
    end, = events(server, "session_end")
    assert (end["session"], end["owner"], end["reason"]) == (session.id, "team", "deleted")
    assert end["journal"] == journal_head(server, session.id)
    text = (server.state / "front/audit.jsonl").read_text()
    assert "canary" not in text and not any(word in text for word in SECRETS)

    # A new start goes on with the same chain.
    server.stop()
    assert lines(server)[-1]["event"] == "stop"
    server.start()
    assert [entry["event"] for entry in lines(server)][-2:] == ["stop", "start"]
