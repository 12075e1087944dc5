# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line, as its users run it."""
import json
import os
import pathlib
import pty
import subprocess

import pytest

from conftest import BUILD, IMAGES

DONE, REFUSED, USAGE, UNREACHABLE = 0, 1, 2, 3


class Cli:
    def __init__(self, server):
        self.environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GLOVEBOX_SERVER": server.url,
                            "GLOVEBOX_TOKEN_FILE": str(server.state / "operator.token")}

    def run(self, *words, status=DONE, **options):
        """Runs glovebox; it must end with this status. The finished process, with bytes in stdout and stderr."""
        options = {"env": self.environment, "timeout": 120, **options}
        if "stdin" not in options and "input" not in options:
            options["stdin"] = subprocess.DEVNULL
        done = subprocess.run([BUILD / "glovebox", *words], capture_output=True, **options)
        assert done.returncode == status, done
        return done

    def json(self, *words, **options):
        return json.loads(self.run("--json", *words, **options).stdout)


@pytest.fixture
def cli(server, tmp_path):
    return Cli(server)


def test_life_of_a_session(cli):
    made = cli.run("new", "--image", "minimal", "--label", "job=a b", "--size", "800x600", "--ttl", "600", "--idle", "0")
    session = made.stdout.decode().strip()
    assert made.stdout.decode() == session + "\n"
    assert f"glovebox shot {session}" in made.stderr.decode()
    row = next(line for line in cli.run("ls").stdout.decode().splitlines() if line.startswith(session))
    assert "ready" in row and "agent" in row and "minimal" in row and "800x600" in row and "a b" in row
    assert {one["id"]: one["idle_s"] for one in cli.json("ls")["sessions"]}[session] == 0
    assert "ready" in cli.run("show", session).stdout.decode()
    assert cli.json("show", session)["labels"] == {"job": "a b"}
    cli.run("rm", session)
    assert session not in cli.run("ls").stdout.decode()
    assert session in cli.run("ls", "--all").stdout.decode()
    assert cli.json("show", session)["state"] == "ended"
    assert cli.json("show", "s" + "a" * 15, status=REFUSED)["code"] == "not_found"


def test_who_has_the_controls_stands_in_the_list(cli, make_session):
    waiting, held = make_session("minimal", lease="human").id, make_session("minimal").id
    cli.run("lease", held, "take")
    rows = {line.split()[0]: line for line in cli.run("ls").stdout.decode().splitlines()}
    assert "waits" in rows[waiting] and "a person" in rows[held]


def test_pause_and_resume(cli, session):
    assert cli.run("pause", session.id).stdout == b""
    assert "paused" in cli.run("ls").stdout.decode()
    assert cli.json("exec", session.id, "--", "true", status=REFUSED)["code"] == "paused"
    assert cli.json("resume", session.id)["state"] == "ready"
    cli.run("exec", session.id, "--", "true")
    assert cli.json("pause", "s" + "a" * 15, status=REFUSED)["code"] == "not_found"


def test_new_takes_a_spec_and_options_over_it(cli, tmp_path):
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"image": "no-such-image", "labels": {"a": "1", "b": "1"}}))
    made = cli.json("new", "--spec", spec, "--image", "minimal", "--label", "b=2")
    try:
        assert made["labels"] == {"a": "1", "b": "2"}
        assert cli.run("rm", cli.run("new", "-q", "--image", "minimal").stdout.decode().strip()).stderr == b""
        assert set(made["tokens"]) == {"agent", "viewer", "controller"}
    finally:
        assert cli.json("rm", made["id"]) == {"removed": [made["id"]]}


def test_ls_chooses(cli, session):
    cli.run("set", session.id, "--label", "job=a b&c", "--label", "x=1")
    assert [row["id"] for row in cli.json("ls", "--label", "job=a b&c", "--label", "x=1")["sessions"]] == [session.id]
    assert cli.json("ls", "--label", "job=a b")["sessions"] == []
    assert [row["id"] for row in cli.json("ls", "--state", "ready", "--image", "minimal", "--owner", "operator", "--label", "x=1")["sessions"]] == [
        session.id]
    assert cli.json("ls", "--state", "ended,failed", "--label", "x=1")["sessions"] == []
    assert b"/state" in cli.run("ls", "--state", "nope", status=REFUSED).stderr


def test_set(cli, session):
    shown = cli.json("set", session.id, "--ttl", "1000", "--idle", "0", "--label", "a=1", "--label", "b=2")
    assert (shown["labels"], shown["idle_s"]) == ({"a": "1", "b": "2"}, 0)
    assert cli.run("set", session.id, "--unlabel", "a").stdout == b""
    assert cli.json("show", session.id)["labels"] == {"b": "2"}
    assert b"--label" in cli.run("set", session.id, status=USAGE).stderr
    assert b"NAME=VALUE" in cli.run("set", session.id, "--label", "x", status=USAGE).stderr


def test_new_makes_several(cli):
    ids = cli.run("new", "--image", "minimal", "--count", "2").stdout.decode().split()
    assert len(set(ids)) == 2
    cli.run("rm", *ids)


def test_grants(cli, session, tmp_path):
    done = cli.run("grant", session.id, "--role", "agent", "--ttl", "600", "--name", "run 7")
    (tmp_path / "token").write_bytes(done.stdout)
    cli.run("--token-file", tmp_path / "token", "exec", session.id, "true")
    row = next(row for row in cli.json("grants", session.id)["tokens"] if row["name"] == "run 7")
    listed = cli.run("grants", session.id).stdout.decode()
    assert f"{row['id']}  agent" in listed and "run 7" in listed and listed.count("\n") == 5
    assert row["id"] in done.stderr.decode() and done.stdout.decode().strip() not in listed
    revoke = done.stderr.decode().removeprefix("  take it back  glovebox ").split()
    assert revoke == ["revoke", session.id, row["id"]]
    cli.run(*revoke)
    cli.run("--token-file", tmp_path / "token", "show", session.id, status=REFUSED)
    assert cli.json("grant", session.id)["role"] == "viewer"
    assert b"/role" in cli.run("grant", session.id, "--role", "king", status=REFUSED).stderr
    link = cli.run("grant", session.id, "--link").stdout.decode()
    assert link.startswith(f"{session.api.url}/#code=") and len(link.split("=")[1]) == 24


def test_refusals_say_what_where_and_who(cli):
    refused = cli.run("new", "--image", "no-such-image", status=REFUSED)
    assert b"no-such-image" in refused.stderr and b"no_image" in refused.stderr and refused.stdout == b""
    assert cli.json("new", "--image", "no-such-image", status=REFUSED)["code"] == "no_image"


def test_rm_ends_the_others_when_one_is_not_there(cli, server):
    session = cli.json("new", "--image", "minimal")["id"]
    cli.run("rm", "s" + "a" * 15, session, status=REFUSED)
    assert session not in server.live_sessions()


def test_shot(cli, session, tmp_path):
    told = cli.run("shot", session.id, cwd=tmp_path)
    picture = (tmp_path / f"{session.id}.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert b"1280x800" in told.stderr and told.stdout == b""
    assert cli.run("shot", session.id, "-o", "-").stdout.startswith(b"\x89PNG")
    cli.run("shot", session.id, "-o", "/nonexistent/a.png", status=USAGE)


def test_an_act_whose_picture_cannot_be_written_is_not_done(cli, session, tmp_path):
    session.do("move", x=5, y=6)
    for file in "/nonexistent/a.png", tmp_path:
        done = cli.run("act", session.id, '{"action": "move", "x": 77, "y": 78}', "-o", file, status=USAGE)
        assert f"{file} cannot be written" in done.stderr.decode() and done.stdout == b""
    assert (session.do("cursor_position")["x"], session.do("cursor_position")["y"]) == (5, 6)


def test_shot_of_another_kind(cli, session, tmp_path):
    """What the picture is to be like is the server's to check; what had to become less says so."""
    cli.run("shot", session.id, "--format", "jpeg", "--quality", "50", cwd=tmp_path)
    assert (tmp_path / f"{session.id}.jpeg").read_bytes().startswith(b"\xff\xd8")
    assert b"  30x40  at 10,20,30,40 of 1280x800  frame=" in cli.run("shot", session.id, "--region", "10,20,30,40", "-o", tmp_path / "part.png").stderr
    raw = cli.run("shot", session.id, "--format", "raw", "--region", "10,20,30,40", "--no-cursor", "-o", "-").stdout
    assert raw == b"\x4a\x5f\x73" * (30 * 40)
    assert len(cli.run("shot", session.id, "--format", "raw", "--space", "640x400", "-o", "-").stdout) == 640 * 400 * 3
    small = cli.run("shot", session.id, "--format", "raw", "--max-bytes", "5000", "-o", tmp_path / "small.raw")
    assert b"not as asked: reason=max_bytes" in small.stderr and (tmp_path / "small.raw").stat().st_size <= 5000
    assert "max_bytes=5000" in cli.json("shot", session.id, "--max-bytes", "5000", "--format", "raw", "-o", tmp_path / "small.raw")["fallback"]
    for wrong, pointer in ((("--format", "gif"), b"/format"), (("--quality", "50"), b"/quality"), (("--region", "1,2"), b"/region"),
                           (("--space", "big"), b"/space"), (("--max-bytes", "1"), b"/max_bytes"), (("--format", "a&cursor=1"), b"/format")):
        # No file for what is refused: a format that is none is no name of one, either.
        assert pointer in cli.run("shot", session.id, "-o", tmp_path / "no.png", *wrong, status=REFUSED).stderr
    assert not (tmp_path / "no.png").exists()


def test_shot_of_a_window(cli, session, tmp_path):
    """It says how large the picture is and where on the screen that is, for a click on what is seen in it."""
    session.do("launch", app="terminal")
    window = session.windows()[0]
    number = str(window["id"])
    told = cli.json("shot", session.id, "--window", number, "-o", tmp_path / "a.png")
    frame = window["frame"]
    assert (told["size"], told["covered"]) == (f"{frame['width']}x{frame['height']}", False)
    assert told["region"] == f"{frame['x']},{frame['y']},{frame['width']},{frame['height']}"
    people = cli.run("shot", session.id, "--window", number, "-o", tmp_path / "a.png").stderr.decode()
    assert f"  {told['size']}  at {told['region']} of 1280x800  frame=" in people
    session.do("close_window", window=window["id"], force=True)
    assert b"no_window" in cli.run("shot", session.id, "--window", number, "-o", tmp_path / "b.png", status=REFUSED).stderr


def test_shot_does_not_write_to_a_terminal(cli, session):
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run([BUILD / "glovebox", "shot", session.id, "-o", "-"], env=cli.environment, stdout=theirs,
                              stderr=subprocess.PIPE, check=False)
        assert done.returncode == USAGE
        assert b"terminal" in done.stderr
    finally:
        os.close(ours)
        os.close(theirs)


def test_act(cli, session, tmp_path):
    action = json.dumps({"action": "move", "x": 30, "y": 40})
    assert cli.run("act", session.id, action).stdout.startswith(b"1 ok")
    both = cli.json("act", session.id, f'[{action}, {{"action": "cursor_position"}}]')
    assert both["ok"] and (both["results"][1]["x"], both["results"][1]["y"]) == (30, 40)
    whole = json.dumps({"actions": [{"action": "move", "x": 1, "y": 2}]})
    assert cli.json("act", session.id, "-", input=whole.encode())["done"] == 1
    (tmp_path / "list.json").write_text(whole)
    assert cli.json("act", session.id, "-f", tmp_path / "list.json")["done"] == 1
    assert b"y=2" in cli.run("act", session.id, '{"action": "cursor_position"}').stdout


def test_act_saves_the_picture(cli, session, tmp_path):
    cli.run("act", session.id, '{"action": "screenshot"}', "-o", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes() == cli.run("shot", session.id, "-o", "-").stdout


def test_act_refused(cli, session):
    wrong = cli.run("act", session.id, '{"action": "click", "x": 5000, "y": 1}', status=REFUSED)
    assert b"5000" in wrong.stderr and b"/actions/0/x" in wrong.stderr and b"caller" in wrong.stderr
    assert cli.json("act", session.id, '{"action": "hop"}', status=REFUSED)["code"] == "unknown_action"
    assert b"column 2" in cli.run("act", session.id, "{", status=USAGE).stderr


def test_exec(cli, session):
    assert cli.run("exec", session.id, "--", "echo", "-n", "a b").stdout == b"a b"
    assert cli.run("exec", session.id, "sh", "-c", "echo out; echo err >&2; exit 7", status=7).stderr == b"err\n"
    assert cli.run("exec", session.id, "--", "sh", "-c", "kill -9 $$", status=128 + 9)
    assert cli.run("exec", session.id, "--timeout", "200", "--", "sleep", "60", status=124)
    assert cli.run("exec", "-i", session.id, "cat", input="ä\n".encode()).stdout == "ä\n".encode()
    assert cli.run("exec", session.id, "--env", "A=b c", "--cwd", "/usr", "--", "sh", "-c", "echo $A; pwd").stdout == b"b c\n/usr\n"
    assert cli.json("exec", session.id, "false")["exit_code"] == 1
    cli.run("exec", session.id, "--", "/no/such/program", status=REFUSED)
    cli.run("exec", session.id, status=USAGE)


def test_exec_names_the_limit_that_was_met(cli):
    id = cli.run("new", "-q", "--spec", "-", input=b'{"image": "minimal", "limits": {"memory_mb": 256}}').stdout.decode().strip()
    said = cli.run("exec", id, "--", "sh", "-c", "head -c 400M /dev/zero | tail", status=128 + 9).stderr.decode()
    assert "glovebox: the limit memory_mb of 256 was met: the kernel has killed a program" in said, said
    met = cli.run("top", "--once").stdout.decode()
    assert any(line.startswith(id) and line.endswith("  memory_mb:1") for line in met.splitlines()), met
    cli.run("rm", id)


def test_terminal_sees_no_control_characters(cli, session):
    """What a program in the jail prints must not drive the user's terminal; a pipe gets the bytes."""
    words = ["exec", session.id, "--", "printf", r"a\033[31mb\302\233c\r\n\td\n"]
    assert cli.run(*words).stdout == b"a\x1b[31mb\xc2\x9bc\r\n\td\n"
    ours, theirs = pty.openpty()
    try:
        subprocess.run([BUILD / "glovebox", *words], env=cli.environment, stdout=theirs, check=True)
        seen = os.read(ours, 4096)
    finally:
        os.close(ours)
        os.close(theirs)
    assert seen.replace(b"\r\n", b"\n") == b"a\\x1b[31mb\\xc2\\x9bc\\x0d\n\td\n"


@pytest.mark.parametrize("words, said", [
    ([], "usage"), (["frobnicate"], "new, ls, show, set, pause, resume, lease, rm"), (["ls", "--nope"], "--json"), (["show"], "ID"),
    (["frobnicate"], "secret, limits, top, doctor"), (["approvals"], "takes one of: ls, show, allow, deny, rules"), (["secret", "get"], "takes one of: put, ls, rm"),
    (["help", "frobnicate"], "no command"), (["view", "s1", "--look"], "--look goes with --socket or --port"),
    (["view", "s1", "--port", "0", "--role", "controller"], "--role is of a link"), (["view", "s1", "--socket", "x", "--ttl", "9"], "--ttl is of a link"),
    (["lease", "s1", "--note", "x"], "--note goes with give"), (["lease", "s1", "give", "--kind", "login"], "--kind goes with take"),
    (["lease", "s1", "give", "--keep-running"], "--keep-running goes with take"), (["lease", "s1", "take", "--timeout", "1"], "--timeout goes with wait"),
    (["new", "--size", "big"], "WIDTHxHEIGHT"), (["new", "--label", "x"], "NAME=VALUE"), (["new", "--ttl", "soon"], "1.."),
    (["show", "../x"], "lower-case"), (["act", "s1"], "-f FILE"), (["new", "--spec", "/nonexistent"], "No such file"),
    (["--server", "gopher://x", "ls"], "http://"), (["--token-file", "/nonexistent", "ls"], "No such file"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_wrong_usage(cli, words, said):
    assert said in cli.run(*words, status=USAGE).stderr.decode()


def test_help(cli):
    shown = cli.run("--help").stdout.decode()
    names = [line[2:18].rstrip() for line in shown.split("\n\n")[1].splitlines()]
    assert {"new", "act", "run", "replay", "export", "mcp", "image build", "image ls", "doctor"} <= set(names)
    for name in names:
        usage = cli.run(*name.split(), "--help").stdout.decode().splitlines()[0]
        assert usage.startswith(f"usage: glovebox {name}") and usage == usage.rstrip()
        assert cli.run("help", *name.split()).stdout.decode().splitlines()[0] == usage
    for words in (["help", "approvals"], ["approvals", "--help"]):
        assert cli.run(*words).stdout.decode().count("usage: glovebox approvals ") == 5
    assert cli.run("--version").stdout.startswith(b"glovebox ")


def test_server_not_reachable(cli):
    cli.environment["GLOVEBOX_SERVER"] = "http://127.0.0.1:1"
    assert b"127.0.0.1:1" in cli.run("ls", status=UNREACHABLE).stderr
    assert cli.json("ls", status=UNREACHABLE)["code"] == "unreachable"


def test_an_empty_variable_is_none(cli, tmp_path):
    folder = tmp_path / ".config/glovebox"
    folder.mkdir(parents=True)
    (folder / "token").write_bytes(pathlib.Path(cli.environment["GLOVEBOX_TOKEN_FILE"]).read_bytes())
    cli.environment.update(HOME=str(tmp_path), GLOVEBOX_TOKEN_FILE="", GLOVEBOX_CACERT="")
    cli.run("ls")


def test_wrong_token(cli, tmp_path):
    (tmp_path / "token").write_text("wrong\n")
    refused = cli.run("--token-file", tmp_path / "token", "ls", status=REFUSED)
    assert b"unauthorized" in refused.stderr and str(tmp_path / "token").encode() in refused.stderr


def test_token_never_goes_to_a_proxy(cli):
    cli.environment["http_proxy"] = cli.environment["ALL_PROXY"] = "http://127.0.0.1:1"
    cli.run("ls")


def test_images_are_listed_without_a_server(cli):
    cli.environment["GLOVEBOX_SERVER"] = "http://127.0.0.1:1"
    names = {image["name"] for image in cli.json("image", "ls", "--images", IMAGES)["images"]}
    assert {"minimal", "desktop"} <= names
    assert b"desktop" in cli.run("image", "ls", "--images", IMAGES).stdout
