# SPDX-License-Identifier: GPL-2.0-or-later
"""Stored secrets: put once and told by nobody, typed into the one field that they are for, and looked for afterwards in all that the server wrote, said and holds."""
import base64
import contextlib
import io
import json
import os
import pathlib
import pty
import re
import secrets as random
import subprocess
import urllib.parse

import pytest
from PIL import Image

import recording
from api import Api, Refused, picture_of
from conftest import BUILD, until
from memory import assert_not_in_memory, memory_of, processes
from page import HERE, open_page
from tls import make_certificate, trusting

BLANK = (0x2E, 0x34, 0x40)
ORIGIN = "http://127.0.0.1:8000"
LOGIN = """<!doctype html><meta charset=utf-8><title>%s</title>
<body style="background:#fff;margin:0"><style>input{position:absolute;left:100px;width:400px;height:40px;font:20px monospace}</style>
<form method=post action=/form><input id=user name=user style="top:80px" value=me>
<input id=password name=password type=password style="top:160px">
<input id=go type=submit value="Log in" style="top:240px;width:120px"></form>
<div style="position:absolute;top:3000px">end</div>"""


def put(api, name, value, **rule):
    query = urllib.parse.urlencode(rule)
    return api.request("PUT", f"/v1/secrets/{name}?{query}" if rule else f"/v1/secrets/{name}", value,
                       headers={"Content-Type": "application/octet-stream"})


def refused(reply, status, code):
    assert (reply.status, (reply.json or {}).get("code")) == (status, code), reply.body
    return reply.json


@pytest.fixture
def canary():
    """A value that is nowhere by chance, of keys of a US keyboard, with what is escaped in it."""
    return f"Ca{random.token_hex(9)}%\"\\ +/~"


@pytest.fixture
def stored(server, canary):
    """Puts secrets that go with the test."""
    names = []

    def store(value=canary, name=None, **rule):
        name = name or f"test-{random.token_hex(4)}"
        reply = put(server.api, name, value.encode() if isinstance(value, str) else value, **rule)
        assert reply.status == 200, reply.body
        names.append(name)
        return name
    yield store
    for name in names:
        server.api.request("DELETE", f"/v1/secrets/{name}")


# --- the store

def test_put_list_replace_remove(server, stored, canary):
    name = stored(app="firefox", origin="https://shop.example")
    row = next(row for row in server.api.call("GET", "/v1/secrets")["secrets"] if row["name"] == name)
    assert (row["app"], row["origin"], row["field"], row["by"]) == ("firefox", "https://shop.example", "password", "operator")
    assert canary not in json.dumps(row) and str(len(canary)) not in json.dumps({**row, "name": "", "created_at": "", "changed_at": ""})
    file = server.state / "secrets" / name
    assert file.read_bytes() == canary.encode()
    assert (file.stat().st_mode & 0o7777, file.stat().st_uid, file.parent.stat().st_mode & 0o7777) == (0o600, 0, 0o700)
    stored(value=b"\x00\xff", name=name)
    assert file.read_bytes() == b"\x00\xff"
    row = next(row for row in server.api.call("GET", "/v1/secrets")["secrets"] if row["name"] == name)
    assert (row["app"], row["origin"], row["field"]) == (None, None, None)
    assert server.api.request("DELETE", f"/v1/secrets/{name}").status == 204
    assert not file.exists()
    refused(server.api.request("DELETE", f"/v1/secrets/{name}"), 404, "not_found")
    lines = [json.loads(line) for line in (server.state / "front" / "audit.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines if line.get("subject", {}).get("secret") == name] == ["secret_stored", "secret_stored", "secret_removed"]


@pytest.mark.parametrize("name, value, rule, code", [
    ("a", b"", {}, "bad_field"), ("a", b"x" * 4097, {}, "too_large"), ("1a", b"x", {}, "bad_field"), ("a.b", b"x", {}, "bad_field"),
    ("a" * 32, b"x", {}, "bad_field"), ("a", b"x", {"app": "firefox"}, "missing_field"), ("a", b"x", {"origin": ORIGIN}, "missing_field"),
    ("a", b"x", {"app": "firefox", "origin": "https://Shop.example"}, "bad_field"), ("a", b"x", {"app": "firefox", "origin": "shop.example"}, "bad_field"),
    ("a", b"x", {"app": "firefox", "origin": "https://shop.example/"}, "bad_field"), ("a", b"x", {"app": "../x", "origin": ORIGIN}, "bad_field"),
    ("a", b"x", {"field": "text"}, "bad_field"), ("a", b"x\n", {"app": "firefox", "origin": ORIGIN}, "bad_field"),
    ("a", "é".encode(), {"app": "firefox", "origin": ORIGIN}, "bad_field"), ("a", b"x", {"length": "1"}, "unknown_field"),
], ids=lambda value: repr(value)[:30])
def test_what_is_refused(server, name, value, rule, code):
    reply = put(server.api, name, value, **rule)
    assert reply.status >= 400 and reply.json["code"] == code, reply.body
    assert not (server.state / "secrets" / name).exists()


def test_only_bytes(server):
    refused(server.api.request("PUT", "/v1/secrets/a", {"value": "x"}), 415, "unsupported_media_type")


def test_roles(server, session, stored):
    name = stored()
    for token in session.tokens.values():
        api = Api(server.url, token)
        refused(put(api, name, b"x"), 403, "forbidden")
        refused(api.request("GET", "/v1/secrets"), 403, "forbidden")
        refused(api.request("DELETE", f"/v1/secrets/{name}"), 403, "forbidden")


def glovebox(server, *args, value=None):
    command = [BUILD / "glovebox", "--server", server.url, "--token-file", server.state / "operator.token", *args]
    return subprocess.run(command, input=value, capture_output=True, timeout=60)


def test_command_line(server, canary):
    done = glovebox(server, "secret", "put", "cli", "--app", "firefox", "--origin", "https://shop.example", value=canary.encode() + b"\n")
    assert done.returncode == 0 and not done.stdout, done
    assert (server.state / "secrets" / "cli").read_bytes() == canary.encode()
    listed = glovebox(server, "secret", "ls").stdout.decode()
    assert re.search(r"^cli +firefox +https://shop.example +password +- +- +2\d{3}-", listed, re.M), listed
    assert done.stderr == b""
    done = glovebox(server, "secret", "put", "cli", "--exact", value=b"x\n")
    assert done.returncode == 0 and b"used in setup alone" in done.stderr  # the rule that it had is gone with the value
    assert (server.state / "secrets" / "cli").read_bytes() == b"x\n"
    done = glovebox(server, "secret", "put", "cli", "--inject", "https://api.example", "--header", "X-Key", "--prefix", "k ", value=canary.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.search(r"^cli +- +- +- +https://api.example +X-Key +2", glovebox(server, "secret", "ls").stdout.decode(), re.M)
    assert glovebox(server, "secret", "put", "cli", "--header", "X-Key", value=canary.encode()).returncode == 1
    assert glovebox(server, "secret", "put", "cli", value=b"").returncode == 2
    assert glovebox(server, "secret", "put", "cli", value=b"x" * 4097).returncode == 2
    assert glovebox(server, "secret", "rm", "cli").returncode == 0
    assert glovebox(server, "secret", "rm", "cli").returncode == 1


def test_command_line_at_a_terminal(server):
    """What is typed is not shown."""
    ours, theirs = pty.openpty()
    command = [BUILD / "glovebox", "--server", server.url, "--token-file", server.state / "operator.token", "secret", "put", "tty"]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"value: " not in shown:
        shown += os.read(ours, 100)
    os.write(ours, b"unseen-value\n")
    with contextlib.suppress(OSError):  # its end
        while piece := os.read(ours, 100):
            shown += piece
    os.close(ours)
    assert process.wait(60) == 0 and b"unseen" not in shown, shown
    assert (server.state / "secrets" / "tty").read_bytes() == b"unseen-value"
    server.api.call("DELETE", "/v1/secrets/tty")


# --- where it must not be

@pytest.fixture(params=["plain", "tls"])
def reached(request, make_server, tmp_path):
    """A server of the test's own, by HTTP and by TLS."""
    if request.param == "plain":
        return make_server()
    certificate, key = make_certificate(tmp_path)
    server = make_server("--tls-cert", certificate, "--tls-key", key)
    server.api.context = trusting(certificate)
    return server


@pytest.mark.parametrize("size", [24, 2000, 4096])
def test_no_memory_keeps_it(reached, size):
    """After the call it is in no memory of the server, not where libmicrohttpd or GnuTLS had it, and not in what was freed."""
    server, name = reached, f"test-{random.token_hex(4)}"
    value = (random.token_hex(2048))[:size].encode()
    # The connection stays: what libmicrohttpd has read is not given back with it.
    connection = server.api.connect(30)
    connection.request("PUT", f"/v1/secrets/{name}", value, {"Authorization": f"Bearer {server.api.token}", "Content-Type": "application/octet-stream"})
    assert connection.getresponse().read() and (server.state / "secrets" / name).read_bytes() == value
    assert_not_in_memory(server, value[:24])
    assert_not_in_memory(server, value[-24:])
    connection.close()
    # The search finds what is there: the name, which the front keeps.
    front = next(pid for pid, program in processes(server.process.pid).items() if program == "glovebox-front")
    assert any(name.encode() in piece for piece in memory_of(front))


def test_what_is_refused_is_wiped_as_well(server):
    value = random.token_hex(16).encode()
    refused(put(server.api, "not.a.name", value), 400, "bad_field")
    refused(put(Api(server.url, "nobody"), "a", value), 401, "unauthorized")
    refused(server.api.request("PUT", "/v1/secretz/a", value), 404, "not_found")
    assert_not_in_memory(server, value)


# --- typed

def serve(session, name, port, title="login"):
    session.run("sh", "-c", f"mkdir -p {name}; cat >form_server.pl", stdin=(HERE / "form_server.pl").read_text())
    session.run("sh", "-c", f"cd {name} && exec perl ../form_server.pl {port}", stdin=LOGIN % title)


def node_of(session, role):
    def found():
        nodes = session.do("tree")["nodes"]
        return next((node for node in nodes if node["role"] == role and node.get("y", 0) > 100 and "off_screen" not in node.get("states", [])), None)
    return until(found)


def centre_of(node):
    return {"x": node["x"] + node["width"] // 2, "y": node["y"] + node["height"] // 2}


class Login:
    """A login page in Firefox."""

    def __init__(self, make_session, names, **spec):
        self.session = make_session("desktop", secrets=names, **{"approval": {"mode": "never"}, **spec})
        serve(self.session, "site", 8000)
        open_page(self.session, "http://127.0.0.1:8000/", "login")
        self.field = node_of(self.session, "password text")

    def click(self, role):
        self.session.do("click", **centre_of(node_of(self.session, role)))

    def type(self, name, **options):
        return self.session.try_act({"action": "type_secret", "name": name}, **options)

    def received(self):
        result = self.session.exec("cat", "site/received")
        return urllib.parse.parse_qs(result["stdout"]) if result["exit_code"] == 0 else {}


def sent(value):
    """As Firefox sends it in a form."""
    return urllib.parse.quote_plus(value).replace("~", "%7E")


def box_of(node, slack=0):
    return (node["x"] - slack, node["y"] - slack, node["x"] + node["width"] + slack, node["y"] + node["height"] + slack)


def is_blank(picture, node):
    return picture.crop(box_of(node, 4)).getcolors(4) == [((node["width"] + 8) * (node["height"] + 8), BLANK)]


def failing(answer, index=0):
    assert not answer["ok"], answer
    return answer["results"][index]["error"]


def test_typed_where_it_belongs(server, make_session, stored, canary):
    """A session's whole way: typed, blank in every picture, sent by the form, and blank no more when the page is left; then the canary is searched."""
    name = stored(app="firefox", origin=ORIGIN)
    login = Login(make_session, [name])
    session = login.session
    before = session.shot()
    assert not is_blank(before, login.field)
    login.click("password text")
    answer = login.type(name, observe=True)
    assert answer["ok"], answer
    assert set(answer["results"][0]) <= {"ok", "elapsed_ms", "node"}, answer
    assert answer["results"][0]["elapsed_ms"] == 2000, answer
    pictures = {"observed": picture_of(base64.b64decode(answer["observation"]["picture"]["data"]))}
    until(lambda: is_blank(session.shot(), login.field))
    pictures["shot"] = session.shot()
    box = {side: login.field[side] for side in ("x", "y", "width", "height")}
    zoomed = session.do("screenshot", region=box, space="native", format="raw")
    pictures["window"] = picture_of(base64.b64decode(session.do("screenshot", window=session.windows()[0]["id"], format="png")["picture"]["data"]))
    data = base64.b64decode(zoomed["picture"]["data"])
    assert set(data[i:i + 3] for i in range(0, len(data), 3)) == {bytes(BLANK)}
    # It went where it belongs.
    session.do("key", keys="enter")
    until(lambda: login.received().get("password"))
    assert session.run("wc", "-c", "site/received").split()[0] == str(len("user=me&password=" + sent(canary)))
    # The page is left: nothing is blank any more.
    until(lambda: BLANK not in {colour for _, colour in session.shot().getcolors(1 << 20)})
    # In what it said.
    said = session.exec("cat", "site/received")
    assert "[masked]" in said["stdout"], said
    check_nowhere(server, session, canary, [answer, said])


def check_nowhere(server, session, canary, replies):
    forms = [canary, urllib.parse.quote_plus(canary), urllib.parse.quote(canary), json.dumps(canary)[1:-1], base64.b64encode(canary.encode())[:-4].decode(),
             canary[:20]]
    journal = server.api.request("GET", f"{session.path}/journal").body.decode()
    assert '"action":"type_secret"' in journal
    texts = {"replies": json.dumps(replies), "journal": journal, "log": server.log_text(), "metrics": server.api.request("GET", "/metrics").body.decode()}
    texts |= {str(path): path.read_bytes().decode(errors="replace") for path in (server.state / "front").iterdir()}
    texts |= {str(path): path.read_bytes().decode(errors="replace") for path in (server.state / "journals" / session.id).iterdir()}
    for pid in processes(server.process.pid):
        for file in ("environ", "cmdline"):
            try:
                texts[f"{pid}/{file}"] = pathlib.Path(f"/proc/{pid}/{file}").read_bytes().decode(errors="replace")
            except (FileNotFoundError, ProcessLookupError):
                continue
    for where, text in texts.items():
        for form in forms:
            assert form not in text, where
    assert str(len(canary)) not in re.findall(r'"(?:bytes|delivered)":(\d+)', journal)


def test_no_picture_of_the_recording_has_it(server, make_session, stored):
    """With a field that shows what it holds: read by tesseract from every picture that was stored and sent."""
    value = "QUARTZ" + "".join(random.choice("ABCDEFGHKLMNPRSTUVWXYZ") for _ in range(8))
    name = stored(value=value, app="firefox", origin=ORIGIN, field="text")
    login = Login(make_session, [name])
    session = login.session
    login.click("entry")
    session.do("key", keys="ctrl+a")
    answer = login.type(name, observe=True)
    assert answer["ok"], answer
    session.do("scroll", dx=0, dy=2, x=600, y=500)
    shots = [session.shot() for _ in range(6)]
    session.do("scroll", dx=0, dy=-2, x=600, y=500)
    shots += [session.shot() for _ in range(6)]
    session.do("key", keys="enter")
    until(lambda: login.received().get("user") == ["[masked]"])
    session.look()
    session.end()
    shots += recorded(server, session)
    assert len(shots) > 14
    for shot in {shot.tobytes(): shot for shot in shots}.values():
        text = read(shot)
        assert "QUARTZ" not in text and value[6:] not in text


def read(picture):
    """The text in a picture of the page: without the browser's own."""
    data = io.BytesIO()
    picture.crop((0, 90, 700, 420)).save(data, "PNG")
    return subprocess.run(["tesseract", "-", "-"], input=data.getvalue(), capture_output=True, check=True, env={"OMP_THREAD_LIMIT": "1"}).stdout.decode()


def recorded(server, session):
    """All pictures of its recording."""
    return list(recording.pictures(server.api.request("GET", f"{session.path}/recording").body).values())


def test_the_reading_can_fail(make_session, stored):
    """Without a secret the same text in the same field is read."""
    login = Login(make_session, [])
    login.click("entry")
    login.session.do("key", keys="ctrl+a")
    login.session.do("type", text="QUARTZHILLS")
    until(lambda: "QUARTZ" in read(login.session.shot()))


def test_wrong_field_origin_app(make_session, stored):
    right, other_origin, other_app = (stored(app="firefox", origin=ORIGIN), stored(app="firefox", origin="http://127.0.0.1:8001"),
                                      stored(app="chromium", origin=ORIGIN))
    no_rule = stored()
    login = Login(make_session, [right, other_origin, other_app, no_rule])
    session = login.session
    before = session.exec("cat", "site/received")["exit_code"]
    login.click("entry")
    error = failing(login.type(right))
    assert error["code"] == "secret_refused" and "another kind of field" in error["detail"], error
    login.click("password text")
    for name, why in [(other_origin, "another origin"), (other_app, "another app"), (no_rule, "no app and no origin")]:
        error = failing(login.type(name))
        assert error["code"] == "secret_refused" and why in error["detail"], error
    # Nothing was typed: the field is as empty as it was.
    session.do("key", keys="enter")
    until(lambda: login.received())
    assert "password" not in login.received(), login.received()
    assert before != 0
    # A terminal is no place at all, and neither is the address bar.
    session.do("launch", app="terminal")
    error = failing(login.type(right))
    assert error["code"] == "secret_refused", error


def test_nobody_is_asked_where_it_cannot_be_typed(make_session, stored):
    """Field and page are looked at before a person is."""
    name = stored(app="firefox", origin=ORIGIN)
    login = Login(make_session, [name], approval={"mode": "sensitive"})
    login.click("entry")
    with pytest.raises(Refused) as caught:
        login.type(name)
    assert caught.value.code == "secret_refused" and "another kind of field" in caught.value.problem["detail"]
    person = Api(login.session.api.url, login.session.tokens["controller"])
    assert person.call("GET", f"/v1/approvals?session={login.session.id}")["approvals"] == []
    login.click("password text")
    with pytest.raises(Refused) as caught:
        login.type(name, timeout_ms=1000)
    assert caught.value.code == "approval_pending"


def test_unknown_to_the_session(make_session, stored):
    name = stored(app="firefox", origin=ORIGIN)
    session = make_session(approval={"mode": "never"})
    with pytest.raises(Refused) as caught:
        session.try_act({"action": "type_secret", "name": name})
    assert (caught.value.status, caught.value.code, caught.value.pointer) == (400, "bad_field", "/actions/0/name")


def test_page_that_went_elsewhere(make_session, stored, canary):
    """The field has the focus, and then the page of another origin is there: nothing is typed."""
    name = stored(app="firefox", origin=ORIGIN)
    login = Login(make_session, [name])
    session = login.session
    serve(session, "evil", 8001, title="elsewhere")
    login.click("password text")
    session.do("key", keys="ctrl+l")
    error = failing(login.type(name))
    assert error["code"] == "secret_refused", error
    session.do("type", text="http://127.0.0.1:8001/\n")
    until(lambda: any(window["title"].startswith("elsewhere") for window in session.windows()))
    session.do("wait_settled", quiet_ms=300)
    login.click("password text")
    error = failing(login.type(name))
    assert error["code"] == "secret_refused" and "another origin" in error["detail"], error


def test_replaced_later(server, make_session, stored, canary):
    """A session keeps what it began with."""
    name = stored(app="firefox", origin=ORIGIN)
    login = Login(make_session, [name])
    put(server.api, name, b"something-else", app="firefox", origin=ORIGIN)
    login.click("password text")
    assert login.type(name)["ok"]
    login.session.do("key", keys="enter")
    until(lambda: login.received().get("password"))
    assert login.session.run("wc", "-c", "site/received").split()[0] == str(len("user=me&password=" + sent(canary)))


# --- the result check

def test_masked_in_what_is_said(server, make_session, stored, canary):
    name = stored()
    session = make_session(secrets=[name])
    stdin = canary.encode()
    typed = {"plain": "cat", "base64": "base64 -w0", "shifted": "(printf x; cat) | base64 -w0", "lines": "base64 -w 20", "again": "cat; echo",
             "url": "perl -pe 's/([^A-Za-z0-9])/sprintf q(%%%02x), ord $1/ge'"}
    for form, command in typed.items():
        told = session.exec("sh", "-c", f"exec 2>&1; {command}", stdin=canary)["stdout"]
        assert "[masked]" in told and canary[:12] not in told, (form, told)
    assert session.exec("sh", "-c", "cat >&2", stdin=canary)["stderr"] == "[masked]"
    session.exec("true", canary)
    session.do("clipboard_set", text=f"<{canary}>")
    assert session.do("clipboard_get")["text"] == "<[masked]>"
    # For whoever made the session, too: nobody reads it back.
    reply = server.api.call("POST", f"{session.path}/act", {"actions": [{"action": "exec", "argv": ["cat"], "stdin": canary}]})
    assert reply["results"][0]["stdout"] == "[masked]"
    often = session.exec("sh", "-c", "c=$(cat); for i in 1 2 3 4 5; do echo \"$c\"; done", stdin=canary)["stdout"]
    assert often.startswith("[withheld"), often
    lines = [json.loads(line) for line in server.api.request("GET", f"{session.path}/journal").body.decode().splitlines()]
    found = [(line["rule"], line["secret"], line["hits"], line["done"]) for line in lines if line["event"] == "result_check"]
    assert ("secret", name, 1, "masked") in found and ("secret", name, 5, "withheld") in found, found
    assert ("intent", {"action": "exec", "argv": ["true", "[masked]"]}) in [(line["event"], line.get("action")) for line in lines], lines
    assert canary not in json.dumps(lines) and canary[:20] not in json.dumps(lines)


PEM = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"


def test_rules(server, make_session):
    text = f"{PEM}AKIAIOSFODNN7EXAMPLE 4111 1111 1111 1111"
    assert make_session().exec("cat", stdin=text)["stdout"] == "[masked]\n[masked] 4111 1111 1111 1111"
    session = make_session(results={"private_keys": "allow", "cloud_keys": "alert", "cards": "mask"})
    assert session.exec("cat", stdin=text)["stdout"] == f"{PEM}AKIAIOSFODNN7EXAMPLE [masked]"
    lines = [json.loads(line) for line in server.api.request("GET", f"{session.path}/journal").body.decode().splitlines()]
    assert [(line["rule"], line["done"]) for line in lines if line["event"] == "result_check"] == [("cloud_key", "noted"), ("card", "masked")]
