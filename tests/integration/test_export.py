# SPDX-License-Identifier: GPL-2.0-or-later
"""`glovebox export`: archives of a journal, taken apart by Python's own modules, and the page in them opened from a file."""
import base64
import hashlib
import html.parser
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile

import pytest

import jail
import recording
from api import picture_of
from conftest import BUILD, TREE, until
from test_cli import REFUSED, UNREACHABLE, USAGE, Cli
from test_journal import lines

sys.path.insert(0, str(TREE / "tests"))
from readme import block  # noqa: E402

HOSTILE = "</script><script>document.title='run'</script> <img src=x onerror=\"document.title='run'\"> \u2028\u2029&amp;"
MARK = (0xE5, 0x00, 0x8A)


@pytest.fixture
def cli(server):
    return Cli(server)


@pytest.fixture
def recorded(server, make_session):
    """A session that has ended, with a failed call and hostile texts in its journal."""
    session = make_session("minimal", apps=["terminal"], space={"width": 640, "height": 400})
    session.act({"action": "click", "x": 320, "y": 200}, {"action": "type", "text": HOSTILE}, observe=True)
    session.act({"action": "drag", "path": [[10, 10], [20, 30], [40, 50]]}, {"action": "exec", "argv": ["echo", HOSTILE]})
    session.try_act({"action": "move", "x": 1, "y": 1}, {"action": "wait", "duration_ms": 9000}, {"action": "move", "x": 2, "y": 2},
                    {"action": "move", "x": 3, "y": 3}, timeout_ms=100)
    session.act(observe={"picture": "none"})
    session.end()
    return session


def folder(server, session):
    return server.state / "journals" / session.id


class Page(html.parser.HTMLParser):
    """The elements of a page that could load or run something, and its texts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.styles, self.inside = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = {"script": self.scripts, "style": self.styles}.get(tag)
        if self.inside is not None:
            self.inside.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside is not None:
            self.inside[-1] += data


def page_of(archive, session):
    text = archive.read(f"{session.id}/index.html").decode()
    page = Page(text)
    return text, page, json.loads(page.scripts[0])


def test_what_is_in_it(server, cli, recorded, tmp_path):
    file = tmp_path / "out.zip"
    done = cli.run("export", recorded.id, "-o", str(file))
    assert done.stdout == b"" and str(file) in done.stderr.decode()
    home = folder(server, recorded)
    found = lines(server, recorded)
    made = recording.check((home / "pictures").read_bytes(), found)
    named = {line[name] for line in found for name in ("before", "after") if name in line and line["event"] != "ready"}
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        names = [f"{recorded.id}/{name}" for name in ("session.json", "journal.jsonl", "pictures", "index.html")]
        assert set(archive.namelist()) == {*names, *(f"{recorded.id}/png/{n:06}.png" for n in named)}
        for name in "journal.jsonl", "pictures":
            assert archive.read(f"{recorded.id}/{name}") == (home / name).read_bytes()
        for n in named:
            assert picture_of(archive.read(f"{recorded.id}/png/{n:06}.png")).tobytes() == made[n].tobytes()
        document = json.loads(archive.read(f"{recorded.id}/session.json"))
        kept = json.loads((home / "session.json").read_text())
        assert {**document, "started_at": None} == {**kept, "started_at": None}
        _, _, data = page_of(archive, recorded)
    assert data["head"]["session"] == recorded.id and data["head"]["missing"] == [] and data["head"]["end"] == "deleted"
    steps = data["steps"]
    assert [(step["kind"], step["call"]) for step in steps] == [
        ("action", 1), ("action", 1), ("look", 1), ("action", 2), ("action", 2), ("action", 3), ("action", 3), ("left_out", 3), ("look", 4)]
    assert steps[0]["marks"] == [{"x": 641, "y": 401}], "the mark is at the pixel of the picture that was clicked"
    assert steps[3]["marks"] == [{"x": x, "y": y} for x, y in ((21, 21), (41, 61), (81, 101))]
    assert steps[1]["action"] == {"action": "type", "text": HOSTILE} and steps[1]["ok"] is True
    assert (steps[6]["ok"], steps[6]["error"], steps[7]["n"]) == (False, "timeout", 2)
    for step, line in zip([step for step in steps if step["kind"] == "action"], [line for line in found if line["event"] == "result"]):
        assert step["after"] == line["after"]
    again = tmp_path / "again.zip"
    cli.run("export", recorded.id, "-o", str(again))
    assert again.read_bytes() == file.read_bytes()
    # An archive is a journal, too; and so is the folder.
    for source in file, home:
        shown = cli.json("export", str(source), "-o", str(tmp_path / "other.zip"))
        assert (shown["steps"], shown["pictures"], shown["missing"], shown["broken"]) == (len(steps), len(named), 0, None)


def test_the_page_runs_nothing_but_its_own(cli, recorded, tmp_path):
    cli.run("export", recorded.id, "-o", str(tmp_path / "out.zip"))
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        text, page, data = page_of(archive, recorded)
    assert data["steps"][1]["action"]["text"] == HOSTILE
    raw = text[text.index('id="data">'):text.index("</script>")]
    assert "<" not in raw and "\u2028" not in text and "\u2029" not in text
    assert len(page.scripts) == 2 and len(page.styles) == 1
    policy, = (attrs["content"] for tag, attrs in page.elements if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy")
    for source, kind in (page.scripts[1], "script-src"), (page.styles[0], "style-src"):
        assert f"{kind} 'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'; img-src 'self' file:;") and "unsafe" not in policy and "http" not in policy
    for tag, attrs in page.elements:
        assert not {name for name in attrs if name.startswith("on") or name in ("src", "href", "style")}, (tag, attrs)
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text


def test_osworld(server, cli, recorded, tmp_path):
    file = tmp_path / "run.zip"
    shown = cli.json("export", recorded.id, "--format", "osworld", "-o", str(file))
    found = lines(server, recorded)
    made = recording.check((folder(server, recorded) / "pictures").read_bytes(), found)
    results = [line for line in found if line["event"] == "result"]
    intents = [line for line in found if line["event"] == "intent"]
    look = next(line for line in found if line["event"] == "observation")
    with zipfile.ZipFile(file) as archive:
        steps = [json.loads(line) for line in archive.read(f"{recorded.id}/traj.jsonl").decode().splitlines()]
        assert shown["steps"] == len(steps) == len(results) == 6
        for n, (step, intent, result) in enumerate(zip(steps, intents, results), 1):
            assert list(step) == ["step_num", "action_timestamp", "action", "reward", "done", "info", "screenshot_file"]
            assert step["step_num"] == n and step["action"] == intent["action"] and step["reward"] == 0.0
            assert step["done"] is (n == 6) and step["info"]["ok"] is result["ok"]
            assert re.fullmatch(r"\d{8}@\d{12}", step["action_timestamp"])
            assert step["action_timestamp"] == re.sub(r"[-:.Z]", "", intent["time"]).replace("T", "@") + "000"
            assert step["screenshot_file"] == f"step_{n}_{step['action_timestamp']}.png"
            after = look["after"] if n == 2 else result["after"]
            assert picture_of(archive.read(f"{recorded.id}/{step['screenshot_file']}")).tobytes() == made[after].tobytes()
        assert len(archive.namelist()) == 1 + len(steps)


def test_a_journal_that_was_cut_off(server, make_session, cli, tmp_path):
    """Of a session whose stage was killed: what is there is exported, and what is not is said."""
    session = make_session("minimal", apps=["terminal"])
    session.act({"action": "type", "text": "x"}, observe=True)
    os.kill(jail.part(session.id, "glovebox-stage"), signal.SIGKILL)
    until(lambda: session.id not in server.live_sessions())
    copy = tmp_path / "copy"
    shutil.copytree(folder(server, session), copy)
    pictures = (copy / "pictures").read_bytes()
    (copy / "pictures").write_bytes(pictures[:-10])
    with (copy / "journal.jsonl").open("ab") as file:
        file.write(b'{"seq":99,"torn')
    done = cli.run("export", str(copy), "-o", str(tmp_path / "out.zip"))
    assert "1 pictures are not in the journal" in done.stderr.decode()
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.testzip() is None
        data = json.loads(Page(archive.read("copy/index.html").decode()).scripts[0])
    last = max(header["picture"] for header, _, _ in recording.records(pictures))
    assert data["head"]["missing"] == [last] and "end" not in data["head"] and len(data["steps"]) == 2


def test_a_journal_that_was_changed(server, recorded, cli, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder(server, recorded), copy)
    text = (copy / "journal.jsonl").read_text()
    (copy / "journal.jsonl").write_text(text.replace('"x":320', '"x":321', 1))
    shown = cli.json("export", str(copy), "-o", str(tmp_path / "out.zip"))
    assert shown["broken"] and shown["steps"] == 0
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert json.loads(Page(archive.read("copy/index.html").decode()).scripts[0])["head"]["broken"] == shown["broken"]


def test_a_session_without_acts_or_pictures(make_session, cli, tmp_path):
    session = make_session("minimal", record={"pictures": False})
    session.end()
    for words in (), ("--format", "osworld"):
        shown = cli.json("export", session.id, "-o", str(tmp_path / "out.zip"), *words)
        assert (shown["steps"], shown["pictures"], shown["missing"]) == (0, 0, 0)
        assert zipfile.ZipFile(tmp_path / "out.zip").testzip() is None


def test_what_is_refused(server, recorded, cli, tmp_path):
    out = str(tmp_path / "out.zip")
    for words, status, text in (
            ([str(tmp_path / "nothing"), "-o", out], USAGE, "nothing"),
            ([str(tmp_path), "-o", out], USAGE, ""),
            (["NOT AN ID", "-o", out], USAGE, "no folder, no zip and no id of a session"),
            ([recorded.id, "--format", "mp4", "-o", out], USAGE, "page and osworld"),
            ([], USAGE, "usage"),
            (["s" + 15 * "a", "-o", out], REFUSED, "not_found"),
            ([recorded.id, "-o", str(tmp_path / "no" / "folder.zip")], REFUSED, "cannot be written"),
            ([recorded.id, "-o", out, "--server", "http://127.0.0.1:1"], UNREACHABLE, "")):
        done = cli.run("export", *words, status=status)
        assert done.stdout == b"" and text in done.stderr.decode(), done
    assert list(tmp_path.iterdir()) == []


def test_the_lines_of_the_page(recorded, cli, tmp_path):
    environment = {**cli.environment, "PATH": f"{BUILD}:{os.environ['PATH']}", "ID": recorded.id}
    subprocess.run(["sh", "-ec", block("export")], check=True, env=environment, cwd=tmp_path)
    for name, inside in ("run.zip", "index.html"), ("osworld.zip", "traj.jsonl"):
        assert f"{recorded.id}/{inside}" in zipfile.ZipFile(tmp_path / name).namelist()


@pytest.mark.parametrize("browser", ["firefox", pytest.param("chromium", marks=pytest.mark.long)])
def test_the_page_in_a_browser(make_session, recorded, cli, tmp_path, browser):
    """From a file, without a server: it shows the pictures, the point that was clicked, and goes on by the keys; no text of the journal runs."""
    cli.run("export", recorded.id, "-o", str(tmp_path / "out.zip"))
    viewer = make_session("desktop")
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        for name in archive.namelist():
            path = "shown/" + name.partition("/")[2]
            if name.endswith((".html", ".png")):
                viewer.run("sh", "-c", f"mkdir -p $(dirname {path}) && base64 -d >{path}", stdin=base64.b64encode(archive.read(name)).decode())
        own = picture_of(archive.read(f"{recorded.id}/png/000001.png"))
    home = viewer.run("pwd").strip()
    viewer.do("launch", app=browser, args=[f"file://{home}/shown/index.html"])

    def title():
        return [window["title"] for window in viewer.windows() if window["title"].startswith(f"Session {recorded.id}")]

    def marked():
        """Is the colour of marks to be seen, beside the picture's own?"""
        return MARK in {colour for _, colour in viewer.shot().getcolors(1 << 24)}

    assert MARK not in {colour for _, colour in own.getcolors(1 << 24)}
    until(title)
    until(marked)  # the first step is a click
    clicked = viewer.look()
    viewer.act({"action": "key", "keys": "Right"})
    until(lambda: not marked())
    viewer.act({"action": "key", "keys": "Left"})
    until(marked)
    assert clicked.getpixel((5, 500)) == viewer.look().getpixel((5, 500))
    viewer.act({"action": "key", "keys": "Right"}, {"action": "wait_settled"})
    assert title(), "a text of the journal has run"
