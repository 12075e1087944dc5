# SPDX-License-Identifier: GPL-2.0-or-later
"""glovebox replay: recorded sessions, played again on fresh ones."""
import base64
import hashlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree
import zipfile

import pytest
from PIL import Image, ImageChops

from conftest import BUILD, TREE, until
from test_front_kills import front_pid, new_front
from test_cli import DONE, REFUSED, UNREACHABLE, USAGE, Cli

sys.path.insert(0, str(TREE / "tests"))
from readme import block  # noqa: E402

AS_RECORDED = ["--env", "LEFT=100", "--env", "TEXT=Save Cancel", "--env", "STATUS=0"]
SIZE = {"width": 640, "height": 480}
# What the environment says decides where a window is, what is in it, and how a command ends.
STEPS = {
    "spec": {"image": "minimal", "display": SIZE, "env": {"LEFT": "100", "TEXT": "Save Cancel", "STATUS": "0"}},
    "steps": [
        {"actions": [
            {"action": "exec", "argv": ["sh", "-c", "xterm -title form -geometry 40x8+$LEFT+60 -e sh -c 'printf \"$TEXT\\n\"; exec cat' >/dev/null 2>&1 &"]},
            {"action": "wait_window", "title": "form", "timeout_ms": 20000}], "observe": {"quiet_ms": 500}},
        {"actions": [{"action": "click", "x": 200, "y": 120}], "observe": True},
        {"actions": [{"action": "type", "text": "Ada\n"}], "observe": True},
        {"actions": [{"action": "exec", "argv": ["sh", "-c", "exit $STATUS"]}], "observe": True},
    ]}


@pytest.fixture
def cli(server):
    return Cli(server)


def record(cli, folder, steps):
    file = folder / "steps.json"
    file.write_text(json.dumps(steps))
    cli.run("run", file, "-o", folder / "run")
    for path in (folder / "run").glob("step-*"):
        path.unlink()
    return folder / "run"


@pytest.fixture(scope="module")
def recorded(server, tmp_path_factory):
    """The journal of STEPS; a test that changes it takes a copy."""
    return record(Cli(server), tmp_path_factory.mktemp("recorded"), STEPS)


@pytest.fixture
def journal(recorded, tmp_path):
    return shutil.copytree(recorded, tmp_path / "journal")


def zipped(folder, path, inside=""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("journal.jsonl", "pictures", "session.json"):
            archive.write(folder / name, inside + name)
    return path


def replay(cli, journal, *options, given=AS_RECORDED, status=DONE):
    answer = json.loads(cli.run("--json", "replay", journal, *given, *options, status=status).stdout)
    return answer["replay"], answer["steps"]


def verdicts(steps):
    return [step["verdict"] for step in steps]


def test_passes_and_leaves_no_session(cli, server, recorded):
    before = server.live_sessions()
    done = cli.run("replay", recorded, *AS_RECORDED)
    lines = done.stdout.decode().splitlines()
    assert lines[-1] == "passed: 4 steps, 4 passed; 4 compared by picture"
    assert [line.split()[:2] for line in lines[:-1]] == [[str(i), "passed"] for i in range(1, 5)]
    assert 'type "Ada' in lines[2]
    assert server.live_sessions() == before


def test_the_same_as_zip_and_from_the_server(cli, recorded, tmp_path):
    for inside in ("", "folder/"):
        head, steps = replay(cli, zipped(recorded, tmp_path / "one.zip", inside))
        assert head["verdict"] == "passed" and verdicts(steps) == 4 * ["passed"] and head["journal"] == "one.zip"
    cli.run("export", recorded, "-o", tmp_path / "exported.zip")
    assert replay(cli, tmp_path / "exported.zip")[0]["verdict"] == "passed"
    session = json.loads((recorded / "session.json").read_text())["id"]
    head, steps = replay(cli, session)
    assert head["verdict"] == "passed" and verdicts(steps) == 4 * ["passed"]


def test_the_lines_of_the_page(cli, tmp_path):
    """The block in docs/journal.md, as it stands there, in an empty folder."""
    environment = {**cli.environment, "PATH": f"{BUILD}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-e", "-c", block("replay")], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "passed: 2 steps, 2 passed; 2 compared by picture"
    assert ElementTree.parse(tmp_path / "result.xml").getroot().get("failures") == "0"
    assert "<title>Replay of hello</title>" in (tmp_path / "result.html").read_text()


def test_a_session_that_a_model_drove(cli, server, make_session):
    """What came in another vendor's form is replayed as what it did."""
    session = make_session("minimal", apps=["terminal"])
    for number, actions in enumerate((
            [{"type": "click", "button": "left", "x": 300, "y": 300}, {"type": "type", "text": "echo hi"}, {"type": "keypress", "keys": ["ENTER"]}],
            [{"type": "screenshot"}], [{"type": "type", "text": "echo ho"}, {"type": "keypress", "keys": ["ENTER"]}])):
        session.agent.call("POST", f"{session.path}/computer", {"type": "computer_call", "call_id": f"c{number}", "status": "completed", "actions": actions})
    session.end()
    head, steps = replay(cli, session.id, given=[])
    assert verdicts(steps) == 3 * ["passed"] and head["compared"] == 3
    assert steps[0]["title"] == 'click 300, 300 button="left"; type "echo hi" into terminal; key ["ENTER"] into terminal'


DIVERGENCES = {
    # what is given, the first step that differs, where the difference is, what lies in its box
    "the window 40 pixels to the right": (["LEFT=140", "TEXT=Save Cancel", "STATUS=0"], 1, "after"),
    "another label": (["LEFT=100", "TEXT=Sawe Cancel", "STATUS=0"], 1, "after"),
    "two buttons swapped": (["LEFT=100", "TEXT=Cancel Save", "STATUS=0"], 1, "after"),
    "a command that fails quietly": (["LEFT=100", "TEXT=Save Cancel", "STATUS=1"], 4, "result"),
}


@pytest.mark.parametrize("name", DIVERGENCES)
def test_divergence(cli, recorded, tmp_path, name):
    """R08: it is told at the first step that differs, with both pictures, and nothing is called a success."""
    given, first, where = DIVERGENCES[name]
    folder, junit = tmp_path / "out", tmp_path / "junit.xml"
    head, steps = replay(cli, recorded, "-o", folder, "--junit", junit, "--wait", "1500",
                         given=[word for pair in given for word in ("--env", pair)], status=REFUSED)
    assert head["verdict"] == "differs"
    assert verdicts(steps) == (first - 1) * ["passed"] + ["differs"] + (4 - first) * ["not_played"]
    step = steps[first - 1]
    assert step["where"] == where and step["reason"]
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    cases = suite.findall("testcase")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", str(4 - first))
    assert cases[first - 1].find("failure").get("message") == step["reason"]
    assert [case.find("failure") is None for case in cases] == [i != first - 1 for i in range(4)]
    if where == "result":
        assert [result["same"] for result in step["results"]] == [False]
        assert step["results"][0]["expected"]["exit_code"] == 0 and step["results"][0]["actual"]["exit_code"] == 1
        return
    expected = Image.open(folder / f"{step['expected']}.png").convert("RGB")
    actual = Image.open(folder / f"step-{step['actual']}.png").convert("RGB")
    box = ImageChops.difference(expected, actual).getbbox()
    assert step["box"]["x"] == box[0] and step["box"]["y"] == box[1] and step["box"]["width"] == box[2] - box[0]
    assert step["differing"] > 0 and expected.size == (640, 480)
    marked = Image.open(folder / f"step-{step['difference']}.png").convert("RGB")
    assert sum(pixel == (220, 20, 30) for pixel in marked.getdata()) == step["differing"]
    assert (folder / "journal.jsonl").exists() and (folder / "pictures").exists()


def test_another_size_is_refused_before_anything_is_made(cli, server, recorded, tmp_path):
    before = {session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]}
    spec = tmp_path / "spec.json"
    spec.write_text('{"display": {"width": 800, "height": 600, "max_width": 800, "max_height": 600}}')
    done = cli.run("replay", recorded, *AS_RECORDED, "--spec", spec, status=USAGE)
    assert "640x480" in done.stderr.decode() and "800x600" in done.stderr.decode()
    assert {session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]} == before


def test_a_session_that_no_server_would_make(cli, recorded, tmp_path):
    spec = tmp_path / "spec.json"
    for wrong, words in ({"labels": 7}, "labels"), ({"isolation": "none-such"}, "isolation"):
        spec.write_text(json.dumps(wrong))
        done = cli.run("replay", recorded, *AS_RECORDED, "--spec", spec, status=USAGE)
        assert done.stdout == b"" and words in done.stderr.decode()


def test_keep_going(cli, recorded):
    head, steps = replay(cli, recorded, "-k", "--wait", "200", given=["--env", "LEFT=100", "--env", "TEXT=Save Cancel", "--env", "STATUS=7"], status=REFUSED)
    assert verdicts(steps) == ["passed", "passed", "passed", "differs"]
    head, steps = replay(cli, recorded, "-k", "--wait", "200", given=["--env", "LEFT=140", "--env", "TEXT=x", "--env", "STATUS=7"], status=REFUSED)
    assert verdicts(steps) == 4 * ["differs"] and head["differing"] == 4


def test_how_much_may_differ(cli, recorded, journal):
    """A share of pixels, regions of all steps and of one."""
    other = ["--env", "LEFT=100", "--env", "TEXT=Sawe Cancel", "--env", "STATUS=0"]
    _, steps = replay(cli, recorded, "-k", "--wait", "200", given=other, status=REFUSED)
    share, box = steps[0]["share"], steps[0]["box"]
    assert 0 < share < 0.001
    head, _ = replay(cli, recorded, "--max-diff", str(share * 101), given=other)
    assert head["verdict"] == "passed"
    replay(cli, recorded, "--max-diff", str(share * 99), "--wait", "200", given=other, status=REFUSED)
    replay(cli, recorded, "--ignore", ",".join(str(box[name]) for name in ("x", "y", "width", "height")), given=other)
    (journal / "ignore.json").write_text(json.dumps({"steps": {"1": [box], "2": [box]}}))
    _, steps = replay(cli, journal, "--wait", "200", given=other, status=REFUSED)
    assert verdicts(steps) == ["passed", "passed", "differs", "not_played"]


@pytest.mark.parametrize("options, words", [
    (["--wait", "x"], "wait"), (["--tolerance", "256"], "tolerance"), (["--max-diff", "101"], "max-diff"), (["--ignore", "1,2,3"], "--ignore"),
    (["--ignore", "639,0,2,1"], "--ignore"), (["--ignore-file", "/nonexistent"], "/nonexistent"), (["--stdin", "x"], "--stdin"),
    (["--spec", "/nonexistent"], "/nonexistent"), (["--env", "=x"], "--env"), (["--junit", "/nonexistent/a.xml"], "/nonexistent/a.xml cannot be written: No such"),
    (["--report", "/tmp"], "/tmp cannot be written: it is a folder"),
])
def test_wrong_usage(cli, recorded, options, words):
    """Nothing is played then."""
    done = cli.run("replay", recorded, *AS_RECORDED, *options, status=USAGE)
    assert words in done.stderr.decode() and done.stdout == b""


def test_options_are_listed_by_whole_names(cli, recorded):
    listed = cli.run("replay", recorded, "--upd", status=USAGE).stderr.decode().rstrip("\n").split("the options are ")[1].split()
    known = cli.run("replay", "--help").stdout.decode()
    assert {"--keep-going", "--update", "--server"} <= set(listed) and [name for name in listed if f"{name} " not in known] == []


def test_another_image_is_not_taken_from_a_spec(cli, recorded, tmp_path):
    (tmp_path / "spec.json").write_text('{"image": "desktop"}')
    done = cli.run("replay", recorded, *AS_RECORDED, "--spec", tmp_path / "spec.json", status=USAGE)
    assert "names another image than the recording, which is of minimal" in done.stderr.decode()


def test_the_recording_is_not_written_over(cli, journal):
    before = {path.name: path.read_bytes() for path in journal.iterdir()}
    assert "--update" in cli.run("replay", journal, *AS_RECORDED, "-o", f"{journal}/../journal", status=USAGE).stderr.decode()
    assert {path.name: path.read_bytes() for path in journal.iterdir()} == before


def made_lines(*lines):
    """A journal of these, chained."""
    text, before = b"", bytes(32)
    for seq, line in enumerate(lines, 1):
        raw = json.dumps({"seq": seq, **line}, separators=(",", ":")).encode()
        before = hashlib.sha256(before + raw).digest()
        text += raw[:-1] + b',"hash":"%s"}\n' % before.hex().encode()
    return text


def test_text_of_a_journal_does_not_drive_the_terminal(cli, tmp_path):
    (tmp_path / "journal.jsonl").write_bytes(made_lines(
        {"event": "start", "image": "\x1b[31m\x9b\n", "spec": {"display": SIZE}, "native": SIZE}, {"event": "call", "request": "r", "actions": 0}))
    assert cli.run("replay", tmp_path, status=USAGE).stderr == b"glovebox: the server has no image \\x1b[31m\\xc2\\x9b\\x0a\n"


def test_a_server_that_cannot_give_the_pictures(cli):
    """Why not is told, and that it was the server."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            lines = self.path.endswith("/journal")
            body = made_lines({"event": "start"}) if lines else b'{"code":"internal","detail":"the disk is gone"}'
            self.send_response(200 if lines else 500)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            done = [cli.run(command, "s" + "a" * 15, "--server", f"http://127.0.0.1:{server.server_port}", status=UNREACHABLE)
                    for command in ("export", "replay")]
        finally:
            server.shutdown()
            thread.join()
    assert all(b"the disk is gone" in one.stderr for one in done)


def test_zips_that_are_refused(cli, tmp_path):
    path = tmp_path / "made.zip"
    for method, n, words in ((zipfile.ZIP_BZIP2, 1, "neither stored nor deflated"), (zipfile.ZIP_STORED, 16385, "too many entries"),
                             (zipfile.ZIP_DEFLATED, 0, "no journal.jsonl")):
        with zipfile.ZipFile(path, "w", method) as archive:
            for i in range(n):
                archive.writestr(f"{i}", b"x" * 100)
        assert words in cli.run("replay", path, status=USAGE).stderr.decode()


def test_journals_that_are_refused(cli, server, journal, tmp_path):
    assert "no folder, no zip" in cli.run("replay", tmp_path / "missing", status=USAGE).stderr.decode()
    cli.run("replay", "s" + "a" * 15, status=USAGE)
    assert "LEFT" in cli.run("replay", journal, status=USAGE).stderr.decode()
    text = (journal / "journal.jsonl").read_bytes()
    (journal / "journal.jsonl").write_bytes(text.replace(b'"x":200', b'"x":201'))
    done = cli.run("replay", journal, *AS_RECORDED, status=USAGE)
    assert "the chain of hashes is broken" in done.stderr.decode() and "--broken" in done.stderr.decode()
    (journal / "journal.jsonl").write_bytes(text)
    cli.environment["GLOVEBOX_SERVER"] = "http://127.0.0.1:1"
    cli.run("replay", journal, *AS_RECORDED, status=UNREACHABLE)


def chained(lines):
    """Lines with their chain made anew."""
    import hashlib
    before, out = bytes(32), b""
    for line in lines:
        text = json.dumps({name: value for name, value in line.items() if name != "hash"}, separators=(",", ":")).encode()
        before = hashlib.sha256(before + text).digest()
        out += text[:-1] + b',"hash":"' + before.hex().encode() + b'"}\n'
    return out


def changed(journal, change):
    lines = [json.loads(line) for line in (journal / "journal.jsonl").read_text().splitlines()]
    change(lines)
    (journal / "journal.jsonl").write_bytes(chained(lines))


def test_another_image_is_refused(cli, server, journal):
    def change(lines):
        lines[0]["image_hash"] = "0" * 64

    changed(journal, change)
    before = server.live_sessions()
    done = cli.run("replay", journal, *AS_RECORDED, status=USAGE)
    assert "minimal is another one now" in done.stderr.decode() and "--any-image" in done.stderr.decode()
    assert server.live_sessions() == before
    assert replay(cli, journal, "--any-image")[0]["verdict"] == "passed"


def test_text_that_was_not_recorded(cli, tmp_path):
    folder = record(cli, tmp_path, {"spec": {"image": "minimal", "record": {"text": "none"}}, "steps": [{"action": "type", "text": "hunter2"}]})
    assert b"hunter2" not in (folder / "journal.jsonl").read_bytes()
    done = cli.run("replay", folder, status=USAGE)
    assert "action 1.1 (CALL.ACTION) typed 7 bytes that were not recorded" in done.stderr.decode() and '"text": "plain"' in done.stderr.decode()
    given = tmp_path / "given"
    given.write_text("hunter2\n")
    report = cli.run("replay", folder, "--text", f"1.1={given}", "-o", tmp_path / "new").stdout.decode()
    assert "type 7 bytes, not recorded" in report and "hunter2" not in report
    assert b"hunter2" not in (tmp_path / "new" / "journal.jsonl").read_bytes()


def test_clipboards_are_given(cli, tmp_path):
    """HTML with its text, a PNG: read again in the replay by what pastes them."""
    picture = base64.b64encode((TREE / "tests/fuzz/corpus/content/png").read_bytes()).decode()
    html, text = "<b>hunter é</b>", "hunter é"
    folder = record(cli, tmp_path, {"spec": {"image": "minimal"}, "steps": [
        [{"action": "clipboard_set", "html": html, "text": text}], [{"action": "clipboard_set", "png": picture, "selection": "primary"}],
        [{"action": "launch", "app": "terminal"}], [{"action": "clipboard_set", "text": f"echo {text}\n", "selection": "primary"},
                                                   {"action": "key", "keys": "shift+Insert"}]]})
    lines = (folder / "journal.jsonl").read_text()
    assert "hunter" not in lines and picture not in lines
    options = []
    for place, given in (("1.1.text", text), ("1.1.html", f"{html}\n"), ("2.1", f"{picture}\n"), ("4.1", f"echo {text}\n")):
        said = cli.run("replay", folder, *options, status=USAGE).stderr.decode()
        assert f"action {place[:3]} (CALL.ACTION)" in said and "into the clipboard" in said and f"--text {place}=FILE" in said, said
        (tmp_path / place).write_text(given)
        options += ["--text", f"{place}={tmp_path / place}"]
    new = tmp_path / "new"
    cli.run("replay", folder, *options, "-o", new)
    for file in new.iterdir():
        assert file.is_dir() or b"hunter" not in file.read_bytes(), file
    # Another text is another screen.
    (tmp_path / "4.1").write_text("echo other\n")
    cli.run("replay", folder, *options, "--wait", "500", status=REFUSED)
    (tmp_path / "2.1").write_text("no PNG")
    cli.run("replay", folder, *options, "--wait", "500", status=REFUSED)


def test_input_of_commands_is_given(cli, tmp_path):
    folder = record(cli, tmp_path, {"spec": {"image": "minimal"}, "steps": [
        [{"action": "exec", "argv": ["sh", "-c", "test $(wc -c) -eq 6"], "stdin": "secret"}]]})
    assert "--stdin 1.1=FILE" in cli.run("replay", folder, status=USAGE).stderr.decode()
    for text, status in (("secret", DONE), ("wrong", REFUSED)):
        (tmp_path / "input").write_text(text)
        cli.run("replay", folder, "--stdin", f"1.1={tmp_path / 'input'}", status=status)


def test_without_pictures_the_results_are_compared(cli, tmp_path):
    folder = record(cli, tmp_path, {"spec": {"image": "minimal", "env": {"STATUS": "3"}, "record": {"pictures": False}}, "steps": [
        {"actions": [{"action": "exec", "argv": ["sh", "-c", "exit $STATUS"]}], "observe": True}]})
    head, steps = replay(cli, folder, given=["--env", "STATUS=3"])
    assert head["compared"] == 0 and steps[0]["note"] == "its picture was not compared: the recording has no picture of it"
    replay(cli, folder, given=["--env", "STATUS=4"], status=REFUSED)


def test_pictures_that_were_changed_are_no_success(cli, journal):
    pictures = bytearray((journal / "pictures").read_bytes())
    pictures[-30] ^= 1
    (journal / "pictures").write_bytes(pictures)
    _, steps = replay(cli, journal, status=REFUSED)
    assert "it is not the one that the journal noted" in next(step["reason"] for step in steps if step["verdict"] == "differs")


def test_a_caret_that_blinks(cli, tmp_path):
    """xterm's blinks here, and is recorded in whatever state it was; a letter beside it still counts."""
    start = "xterm -bc -bcn 300 -bcf 400 -geometry 40x8+60+60 -title form -e sh -c 'printf \"$TEXT\"; exec cat' >/dev/null 2>&1 &"
    folder = record(cli, tmp_path, {"spec": {"image": "minimal", "display": SIZE, "env": {"TEXT": "abc"}}, "steps": [
        {"actions": [{"action": "exec", "argv": ["sh", "-c", start]}, {"action": "wait_window", "title": "form", "timeout_ms": 20000},
                     {"action": "click", "x": 200, "y": 120}], "observe": {"quiet_ms": 250}},
        {"actions": [{"action": "type", "text": "d"}], "observe": {"quiet_ms": 250}}]})
    for _ in range(3):
        assert replay(cli, folder, given=["--env", "TEXT=abc"])[0]["verdict"] == "passed"
    replay(cli, folder, "--wait", "2500", given=["--env", "TEXT=abd"], status=REFUSED)


def test_a_clock_that_ticks(cli, tmp_path):
    """Its hours, minutes and seconds are others now; what is in another line counts."""
    clock = "xterm -geometry 40x8+60+60 -title form -e sh -c 'printf \"\\n\\n\\n$TEXT\"; while :; do printf \"\\033[H$HOUR:59:%02d\" $(date +%-S); sleep 0.2; done' >/dev/null 2>&1 &"
    folder = record(cli, tmp_path, {"spec": {"image": "minimal", "display": SIZE, "env": {"TEXT": "abc", "HOUR": "10"}}, "steps": [
        {"actions": [{"action": "exec", "argv": ["sh", "-c", clock]}, {"action": "wait_window", "title": "form", "timeout_ms": 20000}],
         "observe": {"quiet_ms": 400}}]})
    _, steps = replay(cli, folder, given=["--env", "TEXT=abc", "--env", "HOUR=12"])
    assert [place["why"] for place in steps[0]["hidden"]] == ["ticks"]
    replay(cli, folder, given=["--env", "TEXT=abd", "--env", "HOUR=12"], status=REFUSED)


def test_the_panel_has_a_clock(cli, tmp_path):
    """Which may show another minute: its corner is left out, unless it is wanted; without a panel nothing is."""
    for apps, options, regions in ((["panel"], [], [{"x": 1208, "y": 766, "width": 72, "height": 34}]), (["panel"], ["--clock"], None), ([], [], None)):
        folder = tmp_path / f"{len(apps)}{len(options)}"
        folder.mkdir()
        journal = record(cli, folder, {"spec": {"image": "desktop", "apps": apps}, "steps": [{"actions": [{"action": "move", "x": 9, "y": 9}]}]})
        head, _ = replay(cli, journal, *options, given=[])
        assert head["ignored"].get("regions") == regions


def test_an_editor_of_gtk(cli, tmp_path):
    """Its caret blinks, its menu is open at the end."""
    folder = record(cli, tmp_path, {"spec": {"image": "desktop", "apps": ["editor"]}, "steps": [
        {"actions": [{"action": "click", "x": 700, "y": 450}, {"action": "type", "text": "Dear Ada,\nhow are you?"}], "observe": True},
        {"actions": [{"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"}, {"action": "key", "keys": "End"},
                     {"action": "key", "keys": "ctrl+v"}], "observe": True},
        {"actions": [{"action": "key", "keys": "alt+f"}], "observe": True}]})
    head, steps = replay(cli, folder, given=[])
    assert head["verdict"] == "passed" and head["compared"] == 3 and verdicts(steps) == 3 * ["passed"]


def test_update_accepts_new_pictures(cli, server, journal, tmp_path):
    (journal / "notes.txt").write_text("mine")
    other = ["--env", "LEFT=140", "--env", "TEXT=Save Cancel", "--env", "STATUS=0"]
    old = json.loads((journal / "session.json").read_text())["id"]
    head, steps = replay(cli, journal, "--update", "--wait", "300", given=other)
    assert head["updated"] and "differs" in verdicts(steps)
    assert json.loads((journal / "session.json").read_text())["id"] == head["session"] != old
    assert (journal / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["journal"]
    assert replay(cli, journal, given=other)[0]["verdict"] == "passed"
    replay(cli, journal, "--wait", "300", status=REFUSED)


def test_update_of_a_zip(cli, recorded, tmp_path):
    path = zipped(recorded, tmp_path / "one.zip")
    other = ["--env", "LEFT=100", "--env", "TEXT=Sawe Cancel", "--env", "STATUS=0"]
    assert replay(cli, path, "--update", "--wait", "300", given=other)[0]["updated"]
    assert [path.name for path in tmp_path.iterdir()] == ["one.zip"]
    assert zipfile.ZipFile(path).testzip() is None and "one/index.html" in zipfile.ZipFile(path).namelist()
    assert replay(cli, path, given=other)[0]["verdict"] == "passed"


def test_no_update_when_results_differ(cli, journal):
    before = {path.name: path.read_bytes() for path in journal.iterdir()}
    for left in ("100", "140"):
        given = ["--env", f"LEFT={left}", "--env", "TEXT=Save Cancel", "--env", "STATUS=1"]
        head, steps = replay(cli, journal, "--update", "--wait", "500", given=given, status=REFUSED)
        assert head["updated"] is False and verdicts(steps)[-1] == "differs" and steps[-1]["results_differ"]
        assert {path.name: path.read_bytes() for path in journal.iterdir()} == before


def test_ctrl_c_ends_the_session_and_changes_nothing(cli, server, journal):
    before, files = server.live_sessions(), {path.name: path.read_bytes() for path in journal.iterdir()}
    process = subprocess.Popen([BUILD / "glovebox", "replay", journal, "--update", "--wait", "60000", "--env", "LEFT=1", "--env", "TEXT=x", "--env", "STATUS=0"],
                               env=cli.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    made = until(lambda: server.live_sessions() - before)
    lines = server.state / "journals" / made.pop() / "journal.jsonl"
    until(lambda: lines.exists() and b'"wait_window"' in lines.read_bytes())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGINT
    assert server.live_sessions() == before
    assert {path.name: path.read_bytes() for path in journal.iterdir()} == files


def test_a_front_that_dies_meanwhile(cli, server, recorded):
    """Looks and acts are asked for again; nothing is done twice."""
    before = server.live_sessions()
    process = subprocess.Popen([BUILD / "glovebox", "--json", "replay", recorded, *AS_RECORDED], env=cli.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    made = until(lambda: server.live_sessions() - before)
    journal = server.state / "journals" / made.pop() / "journal.jsonl"
    for event in (b'"wait_window"', b'"observation"'):
        until(lambda: journal.exists() and event in journal.read_bytes(), every_s=0.002)
        pid = front_pid(server)
        os.kill(pid, signal.SIGKILL)
        new_front(server, pid)
    out, err = process.communicate(timeout=60)
    assert process.returncode == DONE, out + err
    assert journal.read_bytes().count(b'"event":"intent"') == 5


def test_a_server_that_ends_meanwhile(make_server, recorded, tmp_path):
    server = make_server()
    cli = Cli(server)
    junit = tmp_path / "junit.xml"
    process = subprocess.Popen([BUILD / "glovebox", "--json", "replay", recorded, "--wait", "60000", "--junit", junit, "--env", "LEFT=1", "--env", "TEXT=x",
                                "--env", "STATUS=0"], env=cli.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    made = until(server.live_sessions)
    lines = server.state / "journals" / made.pop() / "journal.jsonl"
    until(lambda: lines.exists() and b'"wait_window"' in lines.read_bytes())
    server.kill(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == UNREACHABLE
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert suite.get("errors") == "1" and suite.findall("testcase")[0].find("error") is not None


PAGE = """cat >page.html <<END
<!doctype html><title>Form</title><style>body{font:20px sans-serif;margin:60px} button,input{font:inherit;padding:12px;margin:8px}</style>
<input autofocus id=i><br><button onclick="s.textContent=this.textContent+' '+i.value">$ONE</button><button
 onclick="s.textContent=this.textContent+' '+i.value">$TWO</button><p id=s>-</p>
END"""


def test_a_form_in_firefox(cli, tmp_path, make_session):
    """With a caret and the panel's clock; the report opens from a file, shows both pictures and runs nothing that was recorded."""
    folder = record(cli, tmp_path, {"spec": {"image": "desktop", "env": {"ONE": "Save", "TWO": "Quit"}, "record": {"text": "always"}}, "steps": [
        {"actions": [{"action": "exec", "argv": ["sh", "-c", PAGE]}, {"action": "launch", "app": "firefox", "args": ["page.html"]},
                     {"action": "wait_window", "title": "Form", "timeout_ms": 60000}], "observe": {"quiet_ms": 1500, "timeout_ms": 60000}},
        {"actions": [{"action": "click", "x": 200, "y": 200}, {"action": "type", "text": "Ada<script>document.title=1</script>"}],
         "observe": {"quiet_ms": 1500, "timeout_ms": 60000}},
        {"actions": [{"action": "click", "x": 110, "y": 275}], "observe": {"quiet_ms": 1500, "timeout_ms": 60000}}]})
    assert replay(cli, folder, "--wait", "30000", given=["--env", "ONE=Save", "--env", "TWO=Quit"])[0]["verdict"] == "passed"
    page = tmp_path / "report.html"
    _, steps = replay(cli, folder, "--report", page, "-k", "--wait", "1000", given=["--env", "ONE=Quit", "--env", "TWO=Save"], status=REFUSED)
    assert steps[0]["verdict"] == "differs" and steps[0]["where"] == "after"
    session = make_session("desktop")
    text = page.read_text()
    for at in range(0, len(text), 300000):
        session.run("sh", "-c", "cat >>report.html", stdin=text[at:at + 300000])
    session.do("launch", app="firefox", args=["report.html"])
    title = until(lambda: next((window["title"] for window in session.windows() if window["title"].startswith("Replay of run")), None))
    assert "Firefox" in title
    # Beside the red of the verdict, (180, 35, 24), that of the pixels that differ, which the page makes smaller.
    until(lambda: sum(red > 190 and green < 110 and blue < 110 for red, green, blue in session.look().getdata()) > 20)
    assert next(window["title"] for window in session.windows() if "Firefox" in window["title"]) == title
