# SPDX-License-Identifier: GPL-2.0-or-later
"""glovebox run: files of acts, played on a session."""
import io
import json
import os
import signal
import subprocess

import pytest
from PIL import Image

from conftest import BUILD, until
from test_front_kills import front_pid, new_front
from test_cli import DONE, REFUSED, UNREACHABLE, USAGE, Cli


@pytest.fixture
def cli(server):
    return Cli(server)


def written(tmp_path, value, name="steps.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def sessions(server):
    return {session["id"] for session in server.api.call("GET", "/v1/sessions")["sessions"]}


def test_a_list_of_actions_on_a_session(cli, session, tmp_path):
    file = written(tmp_path, [{"action": "move", "x": 11, "y": 12}, {"action": "cursor_position"}])
    done = cli.run("run", file, "--session", session.id)
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "step 1" and lines[-1] == "1 step done"
    assert lines[1].startswith("1 ok") and lines[2].startswith("2 ok") and "x=11  y=12" in lines[2]
    assert session.id in [row["id"] for row in cli.json("ls")["sessions"]]


def test_steps_on_a_session_of_its_own(cli, server, tmp_path):
    """Acts in each of their forms, in order; the session is there for them alone."""
    before = sessions(server)
    file = written(tmp_path, {"spec": {"image": "no-such-image", "env": {"WORD": "spec", "OTHER": "kept"}}, "steps": [
        {"action": "exec", "argv": ["sh", "-c", "echo $WORD $OTHER >word"]},
        [{"action": "move", "x": 5, "y": 6}, {"action": "cursor_position"}],
        {"actions": [{"action": "exec", "argv": ["cat", "word"]}], "timeout_ms": 9000},
    ]})
    answer = cli.json("run", file, "--image", "minimal", "--env", "WORD=option", "--size", "640x480", "--label", "job=7")
    assert answer["ok"] and answer["of"] == 3
    assert [step["done"] for step in answer["steps"]] == [1, 2, 1]
    assert answer["steps"][2]["results"][0]["stdout"] == "option kept\n"
    assert answer["steps"][0]["native"] == {"width": 640, "height": 480}
    made = sessions(server) - before
    assert made == {answer["session"]}
    ended = cli.json("show", answer["session"])
    assert ended["state"] == "ended" and ended["labels"] == {"job": "7"}


def test_from_standard_input(cli, session):
    done = cli.run("run", "-", "--session", session.id, input=b'{"steps": [{"action": "move", "x": 1, "y": 2}]}')
    assert done.stdout.decode().splitlines()[-1] == "1 step done"


def test_stops_at_the_first_failure(cli, session, tmp_path):
    file = written(tmp_path, {"steps": [
        [{"action": "move", "x": 1, "y": 1}],
        [{"action": "move", "x": 2, "y": 2}, {"action": "wait_window", "title": "no such window", "timeout_ms": 50}, {"action": "move", "x": 3, "y": 3}],
        [{"action": "move", "x": 4, "y": 4}]]})
    done = cli.run("run", file, "--session", session.id, status=REFUSED)
    assert done.stdout.decode().splitlines()[-1] == "stopped at step 2 of 3"
    assert "action 2" in done.stderr.decode()
    position = session.do("cursor_position")
    assert (position["x"], position["y"]) == (2, 2)


def test_a_command_that_fails_is_no_failure_of_its_step(cli, session, tmp_path):
    done = cli.run("run", written(tmp_path, [{"action": "exec", "argv": ["false"]}]), "--session", session.id)
    assert "exit_code=1" in done.stdout.decode()


@pytest.mark.parametrize("file, words", [
    ("{", "line 1"),
    ("7", ""),
    ('{"steps": []}', "1 to 10000"),
    ('{"steps": [7]}', "a step must be"),
    ('{"stepz": []}', "steps"),
    ('{"steps": [{"actions": [], "check_only": true}]}', "check_only"),
    ('{"spec": 7, "steps": [{"action": "wait", "duration_ms": 1}]}', "spec"),
    ('{"spec": {"count": 2}, "steps": [{"action": "wait", "duration_ms": 1}]}', "one session"),
    ('[{"action": "klick"}]', "klick"),
    ('[{"action": "click", "x": "1", "y": 2}]', "integer"),
    ('[{"action": "click", "x": 1, "y": 2, "z": 3}]', '"z" is not a field of this object; its fields: x, y, button, count, hold, action'),
    ('[{"action": "wait"}]', "duration_ms"),
    ('[{"action": "click", "button": "fourth"}]', "fourth"),
    ('[{"action": "wait", "duration_ms": 70000}]', "70000"),
    ('{"steps": [{"action": "wait", "duration_ms": 1}, {"actions": [{"action": "wait", "duration_ms": -1}]}]}', "/steps/1/actions/0/duration_ms"),
    ('{"steps": [{"actions": [], "observe": {"quiet_ms": "x"}}]}', "/steps/0/observe/quiet_ms"),
])
def test_a_wrong_file_makes_nothing(cli, server, tmp_path, file, words):
    before = sessions(server)
    done = cli.run("run", written(tmp_path, file), "--image", "minimal", status=USAGE)
    assert words in done.stderr.decode() and done.stdout == b""
    assert sessions(server) == before


def test_what_only_a_session_knows_is_checked_before_the_first_step(cli, server, session, tmp_path):
    """A point outside of the screen in the last step: no step is done, and a session that was made for them is gone."""
    session.do("move", x=9, y=9)
    file = written(tmp_path, {"steps": [[{"action": "move", "x": 1, "y": 1}], [{"action": "click", "x": 5000, "y": 1}]]})
    done = cli.run("run", file, "--session", session.id, status=USAGE)
    assert done.stderr.decode().splitlines()[1:] == ["  code bad_field, at /actions/0/x, to be mended by: caller", "  in step 2 of 2"]
    assert "5000 is not allowed" in done.stderr.decode()
    assert session.do("cursor_position")["x"] == 9
    before = server.live_sessions()
    cli.run("run", file, "--image", "minimal", status=USAGE)
    assert server.live_sessions() == before


def test_options_that_do_not_go_together(cli, session, tmp_path):
    file = written(tmp_path, [{"action": "wait", "duration_ms": 1}])
    assert "--image is for a new session" in cli.run("run", file, "--session", session.id, "--image", "minimal", status=USAGE).stderr.decode()
    cli.run("run", tmp_path / "missing.json", status=USAGE)
    assert cli.json("run", file, "--session", "s" + "a" * 15, status=USAGE)["code"] == "not_found"
    assert cli.json("run", file, "--image", "no-such-image", status=REFUSED)["code"] == "no_image"
    cli.environment["GLOVEBOX_SERVER"] = "http://127.0.0.1:1"
    cli.run("run", file, "--image", "minimal", status=UNREACHABLE)


def test_keep_leaves_the_session(cli, server, tmp_path):
    done = cli.run("run", written(tmp_path, [{"action": "move", "x": 1, "y": 1}]), "--image", "minimal", "--keep")
    session = done.stdout.decode().splitlines()[-1].split(" ")[1]
    assert session in server.live_sessions()
    cli.run("rm", session)


def test_a_folder_of_pictures_and_the_journal(cli, server, tmp_path):
    folder = tmp_path / "out"
    file = written(tmp_path, {"spec": {"image": "minimal", "display": {"width": 640, "height": 480}}, "steps": [
        {"action": "move", "x": 1, "y": 1}, [{"action": "screenshot", "format": "jpeg"}]]})
    answer = cli.json("run", file, "-o", folder)
    assert Image.open(folder / "step-001.png").size == (640, 480)
    assert Image.open(folder / "step-002.jpg").format == "JPEG"
    kept = (server.state / "journals" / answer["session"] / "journal.jsonl").read_bytes()
    saved = (folder / "journal.jsonl").read_bytes()
    assert kept.startswith(saved) and b'"result"' in saved
    assert "data" not in answer["steps"][0]["observation"]["picture"]
    assert json.loads((folder / "session.json").read_text())["id"] == answer["session"]


def test_an_answer_that_is_lost_is_asked_for_again(server, tmp_path):
    """The front dies in the middle of an act: it is done once, and its results come all the same."""
    cli = Cli(server)
    file = written(tmp_path, {"spec": {"image": "minimal"}, "steps": [[{"action": "exec", "argv": ["sh", "-c", "echo x >>count; sleep 1.5; cat count"]}]]})
    before = server.live_sessions()
    process = subprocess.Popen([BUILD / "glovebox", "--json", "run", file], env=cli.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    made = until(lambda: server.live_sessions() - before)
    journal = server.state / "journals" / made.pop() / "journal.jsonl"
    until(lambda: journal.exists() and b'"intent"' in journal.read_bytes())
    pid = front_pid(server)
    os.kill(pid, signal.SIGKILL)
    new_front(server, pid)
    out, err = process.communicate(timeout=30)
    assert process.returncode == DONE, err
    assert json.loads(out)["steps"][0]["results"][0]["stdout"] == "x\n"
    assert journal.read_bytes().count(b'"event":"intent"') == 1


def test_ctrl_c_ends_the_session_it_made(cli, server, tmp_path):
    before = server.live_sessions()
    file = written(tmp_path, [{"action": "wait", "duration_ms": 50000}])
    process = subprocess.Popen([BUILD / "glovebox", "run", file, "--image", "minimal"], env=cli.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    made = until(lambda: server.live_sessions() - before)
    journal = server.state / "journals" / made.pop() / "journal.jsonl"
    until(lambda: journal.exists() and b'"wait"' in journal.read_bytes())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGINT
    assert server.live_sessions() == before
