# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools of MCP for files on real sessions: they are the calls of the routes, by their rules, limits, holds and lines of the journal."""
import base64
import hashlib
import json
import threading

import pytest

from conftest import until
from mcp import MODERN, Client


@pytest.fixture(name="agent")
def client(session):
    return Client(session.agent)


@pytest.fixture(name="session", scope="module")
def shared_session(server):
    session = server.api.new(image="minimal", apps=[], limits={"memory_mb": 512, "disk_mb": 64})
    yield session
    session.end()


NAMES = ["plain", "with space", "ünïcödé", "-rf", "$(touch owned)", "a'b\"c`d", "new\nline", "*"]


@pytest.mark.parametrize("name", NAMES)
def test_files_of_any_name(session, agent, name):
    text = f"line of {name}\n" * 3
    assert agent.call("write_file", {"path": name, "content": text})["structuredContent"] == {"path": name, "size": len(text.encode())}
    found = agent.call("read_file", {"path": f"/home/user/{name}"})["structuredContent"]
    assert (found["text"], found["size"], found["media_type"]) == (text, len(text.encode()), "text/plain")
    assert session.run("cat", "--", name) == text
    assert session.exec("test", "-e", "owned")["exit_code"] == 1


@pytest.mark.parametrize("path", ["w/x", "./w/x", "w//x", "~/w/x", "/home/user/w/x", "/home/user/./w/x/"])
def test_ways_to_say_a_path(session, agent, path):
    agent.call("write_file", {"path": path, "content": path, "parents": True})
    assert session.run("cat", "/home/user/w/x") == path


def test_a_file_is_replaced_whole(session, agent):
    """The old file stays what it was for who has it open; its rights stay, and nothing else is left in its folder."""
    session.run("sh", "-c", "mkdir d; echo old >d/file; chmod 751 d/file; tail -f d/file >seen 2>/dev/null & until [ -s seen ]; do :; done")
    agent.call("write_file", {"path": "d/file", "content": "new"})
    assert session.run("cat", "d/file") == "new" and session.run("cat", "seen") == "old\n"
    assert session.run("stat", "-c", "%a", "d/file") == "751\n" and session.run("ls", "-A", "d") == "file\n"
    agent.call("write_file", {"path": "fresh", "content": ""})
    assert session.run("stat", "-c", "%a %s", "fresh") == "644 0\n"


def test_files_that_cannot_be(session, agent):
    session.run("sh", "-c", "mkdir dir; mkfifo pipe; echo x >locked; chmod 0 locked; echo >sole; echo secret >out; ln -s /etc/passwd leads; ln -s /etc way; ln -s out near; ln out two")
    for path, why in {"none": "there is no such file", "/etc/passwd": "only what is in /home/user and /tmp", "../x": "is refused"}.items():
        assert why in agent.fail("read_file", {"path": path}), path
    for path, why in {"dir": "it is a folder", "pipe": "no plain file", "locked": "its rights", "leads": "symbolic link", "way/passwd": "symbolic link", "near": "symbolic link",
                      "two": "more than one name", "/dev/zero": "only what is in", "/proc/self/environ": "only what is in", "a/../b": "is refused"}.items():
        assert why in agent.fail("read_file", {"path": path}), path
    for path, why in {"dir": "it is a folder", "pipe": "no plain file", "leads": "symbolic link", "way/x": "no folder", "none/x": "parents=true", "/usr/x": "only what is in",
                      "out/x": "no folder"}.items():
        assert why in agent.fail("write_file", {"path": path, "content": "z"}), path
    for path, why in {"none": "no such file or folder", "sole": "it is a file", "way": "symbolic link", "/": "is refused"}.items():
        assert why in agent.fail("list_files", {"path": path}), path
    assert session.run("cat", "out") == "secret\n" and session.run("sh", "-c", "ls -A /etc | grep -c '^x$'; true") == "0\n"
    for wrong in ({}, {"path": ""}, {"path": "a\0b"}, {"path": "a", "length": 3}, {"path": "a", "offset": -1}, {"path": "a", "colour": 1}):
        assert agent.fail("read_file", wrong).startswith("Nothing was done."), wrong
    for wrong in ({"path": "a"}, {"path": "a", "content": "%", "encoding": "base64"}, {"path": "a", "content": 5}, {"path": "a", "content": "", "parents": 1}):
        assert agent.fail("write_file", wrong).startswith("Nothing was done."), wrong
    assert session.exec("test", "-e", "a")["exit_code"] == 1


def test_parts_of_a_file(agent):
    """Read on from where the last part ended: all of it, and no character in two."""
    text = "".join(chr(0xE0 + n % 30) + "€𝄞x" for n in range(300))
    agent.call("write_file", {"path": "long", "content": text})
    parts, offset, more = [], 0, True
    while more:
        part = agent.call("read_file", {"path": "long", "offset": offset, "length": 101})["structuredContent"]
        assert part["offset"] == offset and part["size"] == len(text.encode()) and part["length"] <= 101
        parts.append(part["text"])
        offset += part["length"]
        more = part["more"]
        assert more is (offset < part["size"]) and (not more or part["length"] > 97)
    assert "".join(parts) == text
    beyond = agent.call("read_file", {"path": "long", "offset": 10**9})["structuredContent"]
    assert (beyond["length"], beyond["text"], beyond["more"]) == (0, "", False)
    empty = agent.call("write_file", {"path": "empty", "content": ""})["structuredContent"]
    assert empty["size"] == 0 and agent.call("read_file", {"path": "empty"})["structuredContent"]["text"] == ""


def test_what_is_left_out_is_told(session, agent):
    session.run("sh", "-c", "head -c 200000 /dev/zero | tr '\\0' a >much")
    first = agent.call("read_file", {"path": "much"})["structuredContent"]
    assert (first["length"], first["size"], first["more"]) == (65536, 200000, True)
    assert agent.call("read_file", {"path": "much", "length": 131072})["structuredContent"]["length"] == 131072
    assert "bad_field at /length" in agent.fail("read_file", {"path": "much", "length": 131073})
    last = agent.call("read_file", {"path": "much", "offset": 199999})["structuredContent"]
    assert (last["text"], last["more"]) == ("a", False)


def test_bytes_that_are_no_text(session, agent):
    for data in (bytes(range(256)) * 4, b"a\xffb", b"\xc3", b"a\0b", b"\xed\xa0\x80"):
        agent.call("write_file", {"path": "b in", "content": base64.b64encode(data).decode(), "encoding": "base64"})
        result = agent.call("read_file", {"path": "b in"})
        assert result["structuredContent"]["media_type"] == "application/octet-stream" and "text" not in result["structuredContent"]
        assert result["content"][1]["resource"] == {"uri": "file:///home/user/b%20in", "mimeType": "application/octet-stream", "blob": base64.b64encode(data).decode()}
        assert session.run("sha256sum", "b in").split()[0] == hashlib.sha256(data).hexdigest()
    assert "bad_field at /content" in agent.fail("write_file", {"path": "nul", "content": "a\0b"})


def png_of(n_bytes):
    """A file that begins as a PNG does."""
    return b"\x89PNG\r\n\x1a\n" + hashlib.shake_256(b"png").digest(n_bytes)


def test_pictures(session, agent):
    for name, size in (("small.png", 100), ("large.PNG", 700000), ("most.png", 2520 * 1024 - 8), ("more.png", 2520 * 1024 - 7)):
        png = png_of(size)
        assert session.agent.request("PUT", f"{session.path}/files/~/{name}", png, {"Content-Type": "application/octet-stream"}).status == 200
        result = agent.call("read_file", {"path": name})
        if name == "more.png":
            assert result["structuredContent"]["more"] is True and result["structuredContent"]["media_type"] == "application/octet-stream"
            far = agent.call("read_file", {"path": name, "offset": 2520 * 1024 - 1000, "length": 65536})["content"][1]["resource"]
            assert base64.b64decode(far["blob"]) == png[2520 * 1024 - 1000:]
        else:
            assert base64.b64decode(result["content"][1]["data"]) == png and result["content"][1]["mimeType"] == "image/png"
    agent.call("write_file", {"path": "text.png", "content": "no picture"})
    assert agent.call("read_file", {"path": "text.png", "offset": 3})["structuredContent"]["text"] == "picture"


def test_a_folder(agent, session):
    session.run("sh", "-c", "mkdir -p 'of files/sub' && cd 'of files' && echo 12345 >'größe\n\"x' && : >'  blank ' && ln -s x link && for i in $(seq 510); do : >\"f$i\"; done")
    found = agent.call("list_files", {"path": "of files"})["structuredContent"]
    assert found["more"] is True and len(found["entries"]) == 500
    session.run("sh", "-c", "cd 'of files' && rm f* && : >\"$(printf '\\377')\"")
    found = agent.call("list_files", {"path": "/home/user/of files"})["structuredContent"]
    assert found == {"path": "/home/user/of files", "more": False, "not_utf8": 1, "entries": [
        {"name": "  blank ", "type": "file", "size": 0}, {"name": "größe\n\"x", "type": "file", "size": 6}, {"name": "link", "type": "link", "size": 0}, {"name": "sub", "type": "folder", "size": 0}]}
    assert "of files" in [entry["name"] for entry in agent.call("list_files")["structuredContent"]["entries"]]


def test_room(session, agent):
    """What does not fit is refused, and the old file stays."""
    agent.call("write_file", {"path": "kept", "content": "old"})
    session.exec("sh", "-c", "cat /dev/zero >fill; sync")
    assert "disk_full" in agent.fail("write_file", {"path": "kept", "content": "x" * 500000})
    assert session.run("cat", "kept") == "old"
    session.run("rm", "fill")
    assert session.run("sh", "-c", "ls -A | grep -c glovebox; true") == "0\n"


def waiting(call):
    """Runs a call that a person is asked about: its result comes later."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    return lambda: (thread.join(), results[0])[1]


def test_rules(make_session):
    session = make_session("minimal", approval={"rules": [{"name": "diary", "verdict": "deny", "path": ["/home/user/diary*"]},
                                                          {"name": "out", "verdict": "ask", "path": ["/home/user/ask/*"], "actions": ["file_get"]},
                                                          {"name": "in", "verdict": "ask", "path": ["/tmp/ask*"], "actions": ["file_put"]}]})
    agent = Client(session.agent)
    session.run("sh", "-c", "mkdir ask; echo dear >diary.txt; echo answer >ask/me")
    for path in ("diary.txt", "./diary.txt", "~/diary.txt", "/home/user//diary.txt"):
        assert "denied" in agent.fail("read_file", {"path": path}), path
        assert "denied" in agent.fail("write_file", {"path": path, "content": "x"}), path
    assert session.run("cat", "diary.txt") == "dear\n"
    for tool, arguments, shown, answer in (("read_file", {"path": "ask/me"}, {"action": "file_get", "path": "/home/user/ask/me"}, "once"),
                                           ("read_file", {"path": "ask/me"}, {"action": "file_get", "path": "/home/user/ask/me"}, "deny"),
                                           ("write_file", {"path": "/tmp/ask", "content": "x"}, {"action": "file_put", "path": "/tmp/ask"}, "deny"),
                                           ("write_file", {"path": "/tmp/ask", "content": "x"}, {"action": "file_put", "path": "/tmp/ask"}, "once")):
        end = waiting(lambda: (agent.call if answer == "once" else agent.fail)(tool, arguments))
        card = until(lambda: session.api.call("GET", "/v1/approvals")["approvals"])[0]
        assert card["action"] == shown
        session.api.call("POST", f"/v1/approvals/{card['id']}", {"answer": answer})
        assert ("denied" in end()) if answer == "deny" else end()["structuredContent"]["size"]
        assert session.exec("test", "-e", "/tmp/ask")["exit_code"] == (0 if (tool, answer) == ("write_file", "once") else 1)


def test_what_goes_out_is_checked(server, make_session):
    """Masks are those of the routes."""
    secret = "correct-horse-battery-staple"
    server.api.request("PUT", "/v1/secrets/mcp_files", secret.encode(), {"Content-Type": "application/octet-stream"})
    session = make_session("minimal", secrets=["mcp_files"])
    agent = Client(session.agent)
    agent.call("write_file", {"path": "leaky", "content": f"it is {secret}!"})
    assert agent.call("read_file", {"path": "leaky"})["structuredContent"] == {
        "path": "leaky", "size": 15, "offset": 0, "length": 15, "more": False, "media_type": "text/plain", "text": "it is [masked]!"}
    agent.call("write_file", {"path": secret, "content": ""})
    assert secret not in json.dumps(agent.call("list_files"))
    server.api.request("DELETE", "/v1/secrets/mcp_files")


@pytest.mark.parametrize("version", [None, MODERN])
def test_a_hold(make_session, version):
    session = make_session("minimal")
    agent = Client(session.agent, version)
    agent.call("write_file", {"path": "held", "content": "before"})
    session.api.call("POST", f"{session.path}/lease", {"action": "take"})
    for tool, arguments in (("read_file", {"path": "held"}), ("write_file", {"path": "held", "content": "in it"}), ("list_files", None)):
        assert "lease_held" in agent.fail(tool, arguments), tool
    session.api.call("POST", f"{session.path}/lease", {"action": "give"})
    assert "must_observe" in agent.fail("write_file", {"path": "held", "content": "after"})
    assert agent.call("read_file", {"path": "held"})["structuredContent"]["text"] == "before"
    agent.call("computer")
    agent.call("write_file", {"path": "held", "content": "after"})
    assert session.run("cat", "held") == "after"


def test_the_journal_says_it(session, agent):
    agent.call("write_file", {"path": "told", "content": "vwxyz"})
    agent.call("read_file", {"path": "told", "offset": 1, "length": 4})
    agent.fail("read_file", {"path": "told/x"})
    agent.call("list_files", {"path": "~"})
    lines = [json.loads(line) for line in session.api.request("GET", f"{session.path}/journal").body.splitlines()]
    told = [(line["call"], line["path"], line["state"], line.get("bytes")) for line in lines if line["event"] == "file"][-8:]
    assert told == [("file_put", "/home/user/told", "begun", None), ("file_put", "/home/user/told", "done", 5), ("file_get", "/home/user/told", "begun", None),
                    ("file_get", "/home/user/told", "done", 4), ("file_get", "/home/user/told/x", "begun", None), ("file_get", "/home/user/told/x", "failed", 0),
                    ("file_get", "/home/user", "begun", None), ("file_get", "/home/user", "done", 0)]
    assert "wxyz" not in json.dumps(lines)
