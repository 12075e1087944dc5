# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a session over the API: read, written, listed, packed, unpacked and deleted; what is refused, and that nothing leads out."""
import contextlib
import hashlib
import http.client
import io
import json
import socket
import tarfile
import threading
import urllib.parse

import pytest

from api import Refused
from conftest import until

MIB = 1 << 20
BYTES = {"Content-Type": "application/octet-stream"}
TAR = {"Content-Type": "application/x-tar"}
SECRET = "correct-horse-battery-staple"


@pytest.fixture(name="session", scope="module")
def shared_session(server):
    server.api.request("PUT", "/v1/secrets/files_test", SECRET.encode(), BYTES)
    session = server.api.new(image="minimal", apps=[], secrets=["files_test"], limits={"memory_mb": 1024, "disk_mb": 200})
    yield session
    session.end()
    server.api.request("DELETE", "/v1/secrets/files_test")


def url(session, path, **query):
    return f"{session.path}/files/{urllib.parse.quote(path)}" + (f"?{urllib.parse.urlencode(query)}" if query else "")


def get(session, path, headers=None, **query):
    return session.agent.request("GET", url(session, path, **query), headers=headers)


def put(session, path, body, headers=None, **query):
    return session.agent.request("PUT", url(session, path, **query), body, {**BYTES, **(headers or {})})


def drop(session, path, **query):
    return session.agent.request("DELETE", url(session, path, **query))


def code(reply):
    return reply.status, (reply.json or {}).get("code")


def archive(*entries, form=tarfile.PAX_FORMAT):
    """A tar of (name, content) for files, (name, None) for folders, (name, ("link", target))."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.mtime = 1700000000
            if content is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            elif isinstance(content, tuple):
                info.type, info.linkname = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "fifo": tarfile.FIFOTYPE}[content[0]], content[1]
            else:
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return out.getvalue()


def entries(body):
    with tarfile.open(fileobj=io.BytesIO(body)) as tar:
        return {member.name: (member.type, member.linkname, tar.extractfile(member).read() if member.isfile() else b"", member.mode) for member in tar}


def test_a_file_goes_in_and_out(session):
    for content in (b"", b"twelve bytes", bytes(range(256)) * 1000, b"x" * (3 * MIB + 17)):
        done = put(session, "~/in/and/out.bin", content, parents="true")
        assert done.status == 200 and done.json["path"] == "/home/user/in/and/out.bin" and done.json["bytes"] == len(content), done.json
        reply = get(session, "home/user/in/and/out.bin")
        assert reply.status == 200 and reply.body == content
        assert reply.headers["Content-Length"] == str(len(content))
        assert reply.headers["Content-Type"] == "application/octet-stream"
        assert reply.headers["Content-Disposition"] == "attachment"
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in reply.headers["Content-Security-Policy"]
    assert session.run("stat", "-c", "%a %U %s", "/home/user/in/and/out.bin") == f"644 user {3 * MIB + 17}\n"
    assert session.run("find", "/home/user", "-name", ".glovebox*") == ""
    head = session.agent.request("HEAD", url(session, "~/in/and/out.bin"))
    assert head.status == 200 and head.headers["Content-Length"] == str(3 * MIB + 17) and head.body == b""


def test_names_round_trip(session):
    for name in ("a b", "größe", "日本 🚀", "100%", "a+b&c=d;e,f", "?#[]@!$'()*", "new\nline", "‮abc", "~", "-rf", "\\", "'\"", "x" * 255):
        assert put(session, f"tmp/names/{name}", name.encode(), parents="true").status == 200, name
        assert get(session, f"tmp/names/{name}").body == name.encode()
    listed = get(session, "tmp/names").json
    assert listed["path"] == "/tmp/names" and not listed["more"]
    assert sorted(entry["name"] for entry in listed["entries"]) == sorted(session.run("ls", "-1", "--zero", "/tmp/names").split("\0")[:-1])
    session.run("sh", "-c", "printf x >/tmp/names/$(printf '\\377')")
    assert get(session, "tmp/names").json["not_utf8"] == 1
    assert drop(session, "tmp/names", recursive="true").json["deleted"] == 15


def test_a_mode_and_what_stays(session):
    assert put(session, "~/script", b"#!/bin/sh\necho run\n", mode="755").json["created"] is True
    assert session.run("/home/user/script") == "run\n"
    assert put(session, "~/script", b"#!/bin/sh\necho again\n").json["created"] is False
    assert session.run("/home/user/script") == "again\n"
    for mode in ("999", "7", "u+x", ""):
        assert code(put(session, "~/script", b"", mode=mode)) == (400, "bad_field"), mode
    assert session.run("/home/user/script") == "again\n"


def test_ranges(session):
    content = bytes(i % 251 for i in range(600000))
    put(session, "~/ranged", content)
    tag = get(session, "~/ranged").headers["ETag"]
    for asked, wanted in {"bytes=0-0": content[:1], "bytes=10-19": content[10:20], "bytes=599990-": content[-10:], "bytes=-5": content[-5:],
                          "bytes=599999-9999999999999999999999": content[-1:], "bytes=0-": content}.items():
        reply = get(session, "~/ranged", {"Range": asked})
        start = len(content) - len(wanted) if asked.startswith("bytes=-") else int(asked[6:].split("-")[0])
        assert (reply.status, reply.body) == (206, wanted), asked
        assert reply.headers["Content-Range"] == f"bytes {start}-{start + len(wanted) - 1}/{len(content)}"
    for ignored in ("bytes=5-4", "bytes=a-b", "lines=1-2", "bytes=1-2,4-5", "bytes=-"):
        assert get(session, "~/ranged", {"Range": ignored}).status == 200, ignored
    assert code(get(session, "~/ranged", {"Range": "bytes=600000-"})) == (416, "bad_range")
    assert get(session, "~/ranged", {"Range": "bytes=0-9", "If-Range": tag}).status == 206
    assert get(session, "~/ranged", {"Range": "bytes=0-9", "If-Range": '"other"'}).status == 200
    assert get(session, "~/ranged", {"If-None-Match": tag}).status == 304
    for asked in ("bytes=0-9", "bytes=600000-"):
        head = session.agent.request("HEAD", url(session, "~/ranged"), headers={"Range": asked})
        assert (head.status, head.headers["Content-Length"], head.headers.get("Content-Range")) == (200, "600000", None), asked
    put(session, "~/ranged", content[::-1])
    assert get(session, "~/ranged", {"If-None-Match": tag}).status == 200


def test_where_paths_lead(session):
    session.run("sh", "-c", "cd && mkdir -p D && ln -sfn /etc L && ln -sfn /etc/shadow S && ln -sfn /proc/self/environ P && ln -sfn b a && ln -sfn a b && "
                "ln -sfn D inside && mkfifo -m 600 F 2>/dev/null; echo two >two; ln -f two three; truncate -s 1T sparse; "
                "perl -MIO::Socket::UNIX -e 'unlink \"K\"; IO::Socket::UNIX->new(Local => \"K\", Listen => 1)'; chmod 0 two_not 2>/dev/null; true")
    for path, wanted in {"~/L/shadow": 409, "~/L": 409, "~/S": 409, "~/P": 409, "~/a": 409, "~/a/x": 409, "~/inside/x": 409, "~/F": 409, "~/K": 409, "~/two": 409,
                         "~/sparse": 413, "etc/shadow": 403, "home/other": 403, "proc/self/environ": 403, "run/glovebox/xauth": 403, "~/none": 404,
                         "~/none/x": 404, "home": 403, "root": 403, "notes.txt": 403}.items():
        assert get(session, path).status == wanted, (path, get(session, path).json)
        if path not in ("~/none", "~/none/x", "~/sparse"):
            assert put(session, path, b"x").status == wanted, path
    assert code(put(session, "~/none/x", b"x")) == (404, "not_found")
    assert code(put(session, "~/D", b"x")) == (409, "conflict")
    assert code(put(session, "~", b"x")) == (409, "conflict")
    assert code(put(session, "~/script/x", b"x", parents="true")) == (409, "conflict")
    assert session.run("sh", "-c", "cat ~/two; stat -c %h ~/two; ls ~/D; ls -d ~/none 2>&1; true").startswith("two\n2\n")
    raw = session.agent.request
    for path in ("home/user/%2e%2e/x", "home/user/../x", "home/user/a%00b", "home/user/a%2fb", "home/user//x", "home/user/./x", "home/user/%ff", "home/user/" + "x" * 5000,
                 "home/user/" + "x" * 256, "/".join(["home", "user"] + ["d"] * 80), "home/user/"):
        for method in ("GET", "PUT", "DELETE"):
            reply = raw(method, f"{session.path}/files/{path}", b"x" if method == "PUT" else None, BYTES if method == "PUT" else None)
            assert reply.status in (400, 404), (path[:40], reply.status)
    session.run("sh", "-c", "cd && rm -rf L S P a b inside F K two three sparse D")


def test_deleting(session):
    session.run("sh", "-c", "cd && mkdir -p del/a/b && echo 1 >del/a/b/c && chmod 555 del/a/b && ln -s /etc del/link && mkfifo del/f; ln -s del todel")
    assert code(drop(session, "~/del")) == (409, "conflict")
    assert code(drop(session, "~/todel/a")) == (409, "conflict")
    assert drop(session, "~/todel").json["deleted"] == 1
    assert drop(session, "~/del", recursive="true").json["deleted"] == 6
    assert session.run("sh", "-c", "ls /etc/passwd; ls ~/del 2>&1; true").startswith("/etc/passwd\n")
    for path, status in {"~/del": 404, "~": 409, "tmp": 409, "etc/passwd": 403}.items():
        assert drop(session, path, recursive="true").status == status, path
    assert code(drop(session, "~/x", recursive="yes")) == (400, "bad_field")


def test_an_archive_goes_in_and_out(session):
    body = archive(("./", None), ("./a/", None), ("./a/größe \U0001f680", b"content"), ("./a/" + "l" * 200, b"long"), ("b", b"y" * 700000), ("link", ("link", "a/b")),
                   ("deep/in/it", b"implied"))
    for form in ("new", "again"):
        done = put(session, "~/unpacked", body, TAR)
        assert done.status == 200, (form, done.json)
        assert done.json["entries"] == 7
    got = get(session, "~/unpacked", {"Accept": "application/x-tar"})
    assert got.status == 200 and got.headers["Content-Type"] == "application/x-tar" and got.headers["Content-Disposition"] == "attachment"
    found = entries(got.body)
    assert {name: value[2] for name, value in found.items() if value[0] == tarfile.REGTYPE} == {
        "a/größe \U0001f680": b"content", "a/" + "l" * 200: b"long", "b": b"y" * 700000, "deep/in/it": b"implied"}
    assert found["link"][:2] == (tarfile.SYMTYPE, "a/b")
    assert got.headers["Glovebox-Entries"] == str(len(found)) == "8" and got.headers["Glovebox-Skipped"] == "0"
    assert entries(get(session, "~/unpacked", format="tar").body).keys() == found.keys()
    session.run("sh", "-c", "cd ~/unpacked && ln -s /etc out && ln b hard && mkfifo f && ln -s ../.. up && ln -s a/../../x odd")
    got = get(session, "~/unpacked", format="tar")
    assert got.headers["Glovebox-Skipped"] == "6" and "b" not in entries(got.body)
    assert code(get(session, "~/unpacked/a/" + "l" * 200, format="tar")) == (409, "conflict")
    assert code(put(session, "~/no/such/place", body, TAR)) == (404, "not_found")
    assert put(session, "~/no/such/place", body, TAR, parents="true").status == 200
    assert session.run("stat", "-c", "%Y", "/home/user/no/such/place/b") == "1700000000\n"
    drop(session, "~/no", recursive="true")


def test_an_archive_is_refused_as_a_whole(session):
    bad = {"absolute": ("/etc/x", b""), "up": ("../x", b""), "up within": ("a/../../x", b""), "link out": ("l", ("link", "/etc")), "link up": ("l", ("link", "../x")),
           "hard": ("h", ("hard", "first")), "fifo": ("f", ("fifo", "")), "twice": ("first", b"again")}
    for name, entry in bad.items():
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT):
            reply = put(session, "~/refused", archive(("first", b"x"), entry, form=form), TAR)
            assert code(reply) == (400, "bad_request"), (name, reply.json)
            assert get(session, "~/refused").status == 404, name
    through = archive(("d", ("link", "e")), ("e", None), ("d/x", b"through"))
    assert code(put(session, "~/refused", through, TAR)) == (400, "bad_request")
    whole = archive(("first", b"x" * 5000))
    for cut in (0, 100, 512, 2000, 5632):
        assert code(put(session, "~/refused", whole[:cut], TAR)) == (400, "bad_request"), cut
    assert code(put(session, "~/refused", b"no tar at all" * 1000, TAR)) == (400, "bad_request")
    assert get(session, "~/refused").status == 404
    # What is there and does not fit: nothing of the archive is unpacked.
    session.run("sh", "-c", "mkdir -p ~/fits/a && ln -s /etc ~/fits/l && mkdir ~/fits/file")
    for name in ("l/x", "file", "l"):
        reply = put(session, "~/fits", archive(("aa", b"first"), (name, b"x")), TAR)
        assert code(reply) == (409, "conflict"), (name, reply.json)
        assert get(session, "~/fits/aa").status == 404, name
    assert session.run("find", "/home/user", "/tmp", "-name", ".glovebox*") == ""
    drop(session, "~/fits", recursive="true")


def test_room(session):
    session.run("sh", "-c", "head -c 150M /dev/zero >~/filler")
    assert code(put(session, "~/large", b"x" * (60 * MIB))) == (507, "disk_full")
    assert code(put(session, "~/large", b"", {"Content-Length": str(201 * MIB), "Expect": "100-continue"})) == (413, "too_large")
    assert session.run("sh", "-c", "ls -a ~ | grep -c glovebox; true") == "0\n"
    session.run("rm", "/home/user/filler")
    # Packed and unpacked, an archive needs hardly more room than its files.
    assert put(session, "~/roomy", archive(("x", b"x" * (120 * MIB))), TAR).status == 200
    assert drop(session, "~/roomy", recursive="true").status == 200


def test_no_more_names(make_session):
    session = make_session("minimal", limits={"inodes": 1024})
    session.exec("sh", "-c", "cd /tmp && seq 2000 | xargs touch")
    reply = put(session, "~/one", b"")
    assert code(reply) == (507, "disk_full") and "limits.inodes" in reply.json["detail"]


def test_an_archive_that_grows(session):
    """What comes into a folder while it is packed does not make the archive larger than all that the session may have."""
    session.run("sh", "-c", "mkdir -p ~/grows/b && truncate -s 100M ~/grows/a")
    connection = session.agent.connect(60)
    connection.request("GET", url(session, "~/grows", format="tar"), headers={"Authorization": f"Bearer {session.agent.token}"})
    response = connection.getresponse()
    session.run("sh", "-c", "for i in c d; do truncate -s 90M ~/grows/b/$i; done")
    n = 0
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        while piece := response.read(MIB):
            n += len(piece)
    connection.close()
    assert 180 * MIB < n < 201 * MIB
    drop(session, "~/grows", recursive="true")


def test_what_goes_out_is_checked(session):
    key = b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 1600 + b"\n-----END PRIVATE KEY-----\n"
    plain = b"a" * 70000
    for at in (0, 65536 - 5, 196608 - 3, 262144 - 10, 900000):
        content = b"x" * at + SECRET.encode() + b" and " + key + b"end"
        put(session, "~/leaky", content)
        reply = get(session, "~/leaky")
        assert reply.body == b"x" * at + b"[masked] and [masked]\nend", (at, len(reply.body), reply.body[-200:])
        assert reply.headers["Glovebox-Masked"] == "true" and reply.headers["Content-Length"] == str(len(reply.body))
        ranged = get(session, "~/leaky", {"Range": f"bytes={at + 2}-{at + 5}"})
        assert ranged.body == b"aske"
        assert entries(get(session, "~", format="tar").body)["leaky"][2] == reply.body
    put(session, "~/leaky", plain)
    assert "Glovebox-Masked" not in get(session, "~/leaky").headers
    put(session, "~/leaky", b"\n".join([SECRET.encode()] * 4))
    assert code(get(session, "~/leaky")) == (403, "denied")
    assert "leaky" not in entries(get(session, "~", format="tar").body)
    put(session, f"~/{SECRET}", b"its name")
    session.run("ln", "-s", f"{SECRET}/x", "/home/user/leads")
    assert SECRET not in json.dumps(get(session, "~").json) and SECRET.encode() not in get(session, "~", format="tar").body
    lines = session.api.request("GET", f"{session.path}/journal").body
    assert SECRET.encode() not in lines and b'"rule":"secret"' in lines
    drop(session, "~/leaky")
    drop(session, f"~/{SECRET}")
    drop(session, "~/leads")


def test_digests(session):
    """Of what went in and out, as it went; none where it had a secret, which could be guessed by it, and none of what was not whole."""
    def last():
        lines = [json.loads(line) for line in session.api.request("GET", f"{session.path}/journal").body.splitlines()]
        return [line for line in lines if line["event"] == "file"][-1].get("sha256")

    for call, hashed in ((lambda: put(session, "~/digest", bytes(range(256)) * 1000), bytes(range(256)) * 1000), (lambda: get(session, "~/digest", {"Range": "bytes=1-3"}), b"\1\2\3"),
                         (lambda: put(session, "~/digest", b""), b""), (lambda: get(session, "~/digest"), b""),
                         (lambda: put(session, "~/digest", b"the " + SECRET.encode()), None), (lambda: get(session, "~/digest"), b"the [masked]"),
                         (lambda: put(session, "~/d", archive(("x", b"y")), TAR, parents="true"), archive(("x", b"y"))), (lambda: get(session, "~/none"), None),
                         (lambda: get(session, "~/d"), None), (lambda: session.agent.request("HEAD", url(session, "~/digest")), None)):
        call()
        assert last() == (None if hashed is None else hashlib.sha256(hashed).hexdigest()), hashed
    body = get(session, "~/d", format="tar").body
    assert last() == hashlib.sha256(body).hexdigest()
    drop(session, "~/digest")
    drop(session, "~/d", recursive="true")


def test_rules(make_session):
    session = make_session("minimal", approval={"rules": [{"name": "diary", "verdict": "deny", "path": ["/home/user/diary*"]},
                                                          {"name": "out", "verdict": "ask", "path": ["/home/user/ask/*"], "actions": ["file_get"]}]})
    assert code(put(session, "~/diary.txt", b"x")) == (403, "denied")
    assert code(get(session, "~/diary.txt")) == (403, "denied")
    put(session, "~/ask/me", b"answer", parents="true")
    thread, replies = threaded(lambda: get(session, "~/ask/me"))
    card = until(lambda: session.api.call("GET", "/v1/approvals")["approvals"])[0]
    assert card["action"] == {"action": "file_get", "path": "/home/user/ask/me"} and card["rule"] == "out"
    session.api.call("POST", f"/v1/approvals/{card['id']}", {"answer": "once"})
    thread.join()
    assert replies[0].body == b"answer"
    # A folder is asked about for what may be in it, and what is allowed of it for the session is that alone.
    for number, call in enumerate((lambda: get(session, "~/ask", format="tar"), lambda: get(session, "~", format="tar"), lambda: put(session, "~", archive(("diary", b"")), TAR))):
        thread, replies = threaded(call)
        card = until(lambda: session.api.call("GET", "/v1/approvals")["approvals"])[0]
        assert card["action"]["tree"] and card["unclear"] and card["rule"] == ["out", "diary", "diary"][number]
        assert number or "file_get of all in /home/user/ask" in card["session_words"]
        session.api.call("POST", f"/v1/approvals/{card['id']}", {"answer": "deny"})
        thread.join()
        assert code(replies[0]) == (403, "denied"), number


def threaded(function):
    replies = []
    thread = threading.Thread(target=lambda: replies.append(function()))
    thread.start()
    return thread, replies


def test_who_may(session):
    for role in ("viewer", "controller"):
        other = type(session.agent)(session.agent.url, session.tokens[role])
        for method in ("GET", "PUT", "DELETE"):
            assert other.request(method, url(session, "~/x"), b"" if method == "PUT" else None, BYTES if method == "PUT" else None).status == 403
    assert session.api.request("GET", url(session, "~")).status == 200
    reply = session.agent.request("PUT", url(session, "~/x"), b"{}", {"Content-Type": "application/json"})
    assert code(reply) == (415, "unsupported_media_type")
    for name, value, wanted in (("Content-Range", "bytes 0-2/10", "bad_request"), ("If-Match", '"x"', "bad_request"), ("If-None-Match", "*", "bad_request"),
                                ("Content-Encoding", "gzip", "unsupported_media_type")):
        assert code(put(session, "~/whole", b"abc", {name: value}))[1] == wanted and get(session, "~/whole").status == 404, name
    assert code(get(session, "~/x", format="zip")) == (400, "bad_field")
    assert code(get(session, "~/x", colour="red")) == (400, "unknown_field")


def test_a_hold(session):
    put(session, "~/held", b"before")
    session.api.call("POST", f"{session.path}/lease", {"action": "take"})
    for method in ("GET", "PUT", "DELETE"):
        reply = session.agent.request(method, url(session, "~/held"), b"in it" if method == "PUT" else None, BYTES if method == "PUT" else None)
        assert code(reply) == (423, "lease_held"), method
    session.api.call("POST", f"{session.path}/lease", {"action": "give"})
    assert code(put(session, "~/held", b"after")) == (409, "must_observe")
    assert get(session, "~/held").body == b"before"
    session.act(observe=True)
    assert put(session, "~/held", b"after").status == 200


def test_a_hold_in_the_middle(session):
    connection = session.agent.connect(60)
    connection.putrequest("PUT", url(session, "~/half"))
    for name, value in {"Authorization": f"Bearer {session.tokens['agent']}", **BYTES, "Content-Length": "1000"}.items():
        connection.putheader(name, value)
    connection.endheaders(b"x" * 500)
    until(lambda: session.run("sh", "-c", "ls -a ~ | grep -c glovebox; true") == "1\n")
    session.api.call("POST", f"{session.path}/lease", {"action": "take"})
    connection.send(b"y" * 500)
    reply = connection.getresponse()
    assert reply.status in (409, 423), reply.read()
    connection.close()
    session.api.call("POST", f"{session.path}/lease", {"action": "give"})
    session.act(observe=True)
    assert get(session, "~/half").status == 404
    assert session.run("sh", "-c", "ls -a ~ | grep -c glovebox; true") == "0\n"


def test_who_is_silent(make_session):
    """In the middle of an upload: hears of the session's end when that comes, and not when its own time is over."""
    session = make_session("minimal")
    connection = session.agent.connect(20)
    connection.putrequest("PUT", url(session, "~/silent"))
    for name, value in {"Authorization": f"Bearer {session.tokens['agent']}", **BYTES, "Content-Length": "1000"}.items():
        connection.putheader(name, value)
    connection.endheaders(b"x" * 500)
    until(lambda: session.run("sh", "-c", "ls -a ~ | grep -c glovebox; true") == "1\n")
    session.end()
    reply = connection.getresponse()
    assert (reply.status, json.loads(reply.read())["code"]) == (503, "session_gone")
    connection.close()


REFUSED_EARLY = {"none/x": (404, "not_found"), "/etc/x": (403, "forbidden")}


@pytest.mark.parametrize("path", REFUSED_EARLY)
@pytest.mark.parametrize("sent", [200000, 40 * MIB], ids=["then silent", "much more"])
def test_who_is_refused_before_the_end(server, session, path, sent):
    """Hears why a second after nothing more came; who sends on and on is cut off. The front serves on."""
    with socket.create_connection(server.api.address.split(":"), timeout=20) as connection:
        target = url(session, path if path.startswith("/") else f"~/{path}").replace("//", "/")
        connection.sendall(f"PUT {target} HTTP/1.1\r\nHost: {server.api.address}\r\nAuthorization: Bearer {session.tokens['agent']}\r\n"
                           f"Content-Type: application/octet-stream\r\nContent-Length: {60 * MIB}\r\n\r\n".encode())
        with contextlib.suppress(ConnectionError):
            connection.sendall(bytes(sent))
            status, code = REFUSED_EARLY[path]
            said = connection.makefile("rb").read()
            assert said.startswith(f"HTTP/1.1 {status} ".encode()) and f'"code":"{code}"'.encode() in said, said
    assert session.run("echo", "on") == "on\n" and "the front ended" not in server.log_text()


@pytest.mark.long
@pytest.mark.parametrize("form", [None, "tar"])
def test_who_does_not_read_on(session, form):
    """Whoever takes nothing of a file for a minute is cut off, and its helper ends, however much of it waits on the way."""
    put(session, "~/long/file", b"z" * (40 * MIB), parents="true")
    connection = session.agent.connect(60)
    path = url(session, "~/long", format=form) if form else url(session, "~/long/file")
    connection.request("GET", path, headers={"Authorization": f"Bearer {session.tokens['agent']}"})
    reply = connection.getresponse()
    assert reply.read(MIB)
    until(lambda: session.run("sh", "-c", "pgrep -c glovebox-files; true") == "0\n", within_s=100, every_s=1)
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        reply.read()
    connection.close()
    drop(session, "~/long", recursive="true")


def test_who_leaves(session):
    for send in (b"x" * 500, b"x" * (2 * MIB)):
        connection = session.agent.connect(60)
        connection.putrequest("PUT", url(session, "~/left"))
        for name, value in {"Authorization": f"Bearer {session.tokens['agent']}", **BYTES, "Content-Length": str(100 * MIB)}.items():
            connection.putheader(name, value)
        connection.endheaders(send)
        until(lambda: session.run("sh", "-c", "ls -a ~ | grep -c glovebox; true") == "1\n")
        connection.close()
        until(lambda: session.run("sh", "-c", "ls -a ~ | grep -c glovebox; true") == "0\n")
    assert get(session, "~/left").status == 404
    put(session, "~/long", b"z" * (40 * MIB))
    connection = session.agent.connect(60)
    connection.request("GET", url(session, "~/long"), headers={"Authorization": f"Bearer {session.tokens['agent']}"})
    assert connection.getresponse().read(MIB) == b"z" * MIB
    connection.close()
    until(lambda: session.run("sh", "-c", "pgrep -c glovebox-files; true") == "0\n")
    drop(session, "~/long")


def test_the_journal_says_it(session):
    put(session, "~/told", b"12345")
    get(session, "~/told")
    drop(session, "~/told")
    lines = [json.loads(line) for line in session.api.request("GET", f"{session.path}/journal").body.splitlines()]
    hashed = {line["call"]: line["sha256"] for line in lines if line["event"] == "file" and line["path"] == "/home/user/told" and "sha256" in line}
    assert hashed == dict.fromkeys(("file_put", "file_get"), hashlib.sha256(b"12345").hexdigest())
    told = [(line["call"], line["state"], line.get("bytes")) for line in lines if line["event"] == "file" and line["path"] == "/home/user/told"]
    assert told == [("file_put", "begun", None), ("file_put", "done", 5), ("file_get", "begun", None), ("file_get", "done", 5), ("file_delete", "begun", None),
                    ("file_delete", "done", 0)]
    text = session.api.request("GET", "/metrics").body.decode()
    assert 'glovebox_files_total{what="file_put"}' in text and 'glovebox_file_bytes_total{what="file_get"}' in text


RACE = r"""
set -e
cd /home/user && rm -rf race && mkdir -p race/real && echo inside >race/real/shadow && echo inside >race/file && ln -s /etc race/link && ln -s /etc/shadow race/flink && echo go
perl -e '
  chdir "/home/user/race"; require "syscall.ph" if 0;
  for (my $i = 0; $i < 100000; $i++) {
    rename "real", "aside"; rename "link", "real"; rename "real", "link"; rename "aside", "real";
    rename "file", "f2"; rename "flink", "file"; rename "file", "flink"; rename "f2", "file";
  }
  open my $f, ">", "../race.done"; close $f'
"""


def test_a_race_of_links(session):
    """A folder and a file change places with links to /etc 100,000 times, while they are read, written, packed and deleted."""
    thread, _ = threaded(lambda: session.exec("sh", "-c", RACE, timeout_ms=120000))
    until(lambda: get(session, "~/race").status == 200)
    answers, rounds = {}, 0
    while get(session, "~/race.done").status == 404:
        for reply in (get(session, "~/race/real/shadow"), get(session, "~/race/file")):
            answers[reply.status] = answers.get(reply.status, 0) + 1
            assert reply.status in (200, 404, 409), reply.json
            assert reply.status != 200 or reply.body == b"inside\n", reply.body
        assert put(session, "~/race/real/new", b"new").status in (200, 404, 409)
        packed = get(session, "~/race", format="tar")
        assert packed.status in (200, 409)
        if packed.status == 200:
            assert b"root:" not in packed.body
        rounds += 1
    thread.join()
    assert rounds > 10 and answers.get(200), (rounds, answers)
    assert session.run("ls", "/etc/shadow", "/etc/passwd") == "/etc/passwd\n/etc/shadow\n"
    assert session.exec("ls", "/etc/new")["exit_code"] == 2
    drop(session, "~/race", recursive="true")
