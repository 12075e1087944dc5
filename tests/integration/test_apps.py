# SPDX-License-Identifier: GPL-2.0-or-later
"""Apps and commands inside a session: launch, windows, exec, and what they see of the world outside."""
import json
import pathlib
import threading
import time

import pytest

from api import Refused
from conftest import IMAGES, until

HERE = pathlib.Path(__file__).parent
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/user", "USER": "user", "LOGNAME": "user", "SHELL": "/bin/bash",
    "LANG": "C.UTF-8", "TERM": "xterm-256color", "DISPLAY": ":0", "XAUTHORITY": "/run/glovebox/xauth",
    "XDG_RUNTIME_DIR": "/run/user/1000", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus", "GNOME_ACCESSIBILITY": "1",
    "ACCESSIBILITY_ENABLED": "1", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
    "AT_SPI_BUS_ADDRESS": "unix:path=/run/user/1000/at-spi/bus",
}
CANARY = "canary-5f0c"


def catalogue(image):
    manifest = IMAGES / "manifests" / f"{image}.json"
    return [app["name"] for app in json.loads(manifest.read_text())["apps"]] if manifest.exists() else ["?"]


def refused(session, action, **fields):
    """The refusal of an action before it is begun."""
    with pytest.raises(Refused) as caught:
        session.try_act({"action": action, **fields})
    return caught.value


def failure(session, action, **fields):
    """The error of an action that was begun and failed."""
    answer = session.try_act({"action": action, **fields})
    assert not answer["ok"], answer
    return answer["results"][0]["error"]


def of_app(session, name):
    return [window for window in session.windows() if window["app"] == name]


def pids(session, pattern):
    """Numbers of the processes whose command line matches, but for the search itself."""
    out = session.exec("pgrep", "-f", "--", pattern)["stdout"]
    return {int(pid) for pid in out.split()}


# launch


@pytest.mark.filterwarnings("ignore:record_property")  # the times are for who reads the report
@pytest.mark.parametrize("image, app", [(image, app) for image in ("minimal", "desktop") for app in catalogue(image)] +
                         [("office", app) for app in catalogue("office") if app not in catalogue("desktop")])
def test_every_app_of_the_catalogue(make_session, record_property, image, app):
    """A new session, its first launch: a window of that app, and no dialog before it (W05, W06)."""
    session = make_session(image)
    start = time.monotonic()
    result = session.do("launch", app=app)
    record_property("launch_ms", round(1000 * (time.monotonic() - start)))
    found, = of_app(session, app)
    assert (found["id"], found["pid"]) == (result["window"], result["pid"])
    assert found["title"] and found["width"] > 0 and found["height"] > 0
    assert "modal" not in found["state"]


def test_arguments(session):
    session.run("sh", "-c", "cat >'$(id) \"; `x` ä.txt'", stdin="hello\n")
    session.do("launch", app="editor", args=["$(id) \"; `x` ä.txt"])
    until(lambda: "$(id) \"; `x` ä.txt" in of_app(session, "editor")[0]["title"])
    for bad, word in (("-x", "begin with"), ("../etc/passwd", "absolute path"), ("a\nb", "control"), ("", "absolute path")):
        problem = refused(session, "launch", app="editor", args=["/etc/hosts", bad])
        assert (problem.code, problem.pointer) == ("bad_field", "/actions/0/args/1")
        assert word in problem.problem["detail"]
    assert refused(session, "launch", app="terminal", args=["x"]).pointer == "/actions/0/args"


def test_unknown_app(session):
    problem = refused(session, "launch", app="termnal")
    assert (problem.status, problem.pointer) == (400, "/actions/0/app")
    assert "Did you mean terminal?" in problem.problem["detail"]
    assert "editor" in problem.problem["detail"]


def test_url_goes_to_the_running_browser(desktop):
    """A second launch hands over to the first: a tab of the same window, and the page is there."""
    before, = of_app(desktop, "firefox")
    desktop.run("sh", "-c", "cat >page.html", stdin="<title>handed over</title>")
    result = desktop.do("launch", app="firefox", args=["page.html"])
    assert (result["window"], result["pid"]) == (before["id"], before["pid"])
    until(lambda: "handed over" in of_app(desktop, "firefox")[0]["title"])
    for bad in ("javascript:alert(1)", "about:config", "chrome://global", "data:text/html,x"):
        assert refused(desktop, "launch", app="firefox", args=[bad]).code == "bad_field"


def test_a_new_window_of_the_running_browser(desktop):
    until(lambda: "Glovebox" in of_app(desktop, "firefox")[0]["title"])
    before, = of_app(desktop, "firefox")
    result = desktop.do("launch", app="firefox")
    assert result["window"] != before["id"] and result["pid"] == before["pid"]
    assert {window["id"] for window in of_app(desktop, "firefox")} == {before["id"], result["window"]}


def test_killed_browser_comes_back_without_a_dialog(desktop):
    """W05: kill -9, launch again: one ordinary window, which takes an address."""
    before, = of_app(desktop, "firefox")
    for _ in range(2):
        desktop.run("kill", "-9", str(before["pid"]))
        until(lambda: not of_app(desktop, "firefox"))
        result = desktop.do("launch", app="firefox")
        assert result["pid"] != before["pid"]
        before, = desktop.windows()
        assert before["app"] == "firefox" and "modal" not in before["state"]
    desktop.run("sh", "-c", "cat >page.html", stdin="<title>usable</title>")
    until(lambda: takes_address(desktop, "file:///home/user/page.html", "usable"), within_s=40)


def takes_address(session, url, title, within_s=5):
    """Types an address; a browser that has just come may not take the first keys."""
    session.act({"action": "key", "keys": "ctrl+l"}, {"action": "type", "text": f"{url}\n"})
    deadline = time.monotonic() + within_s
    while title not in session.windows()[0]["title"] and time.monotonic() < deadline:
        session.act(observe={"picture": "none"})
    return title in session.windows()[0]["title"]


def test_groups(desktop):
    """What an agent runs, by exec or in a terminal, is in one group; the catalogue's programs are in another."""
    terminal = desktop.do("launch", app="terminal")["pid"]
    firefox = of_app(desktop, "firefox")[0]["pid"]
    agent = desktop.run("cat", "/proc/self/cgroup")
    assert desktop.run("cat", f"/proc/{terminal}/cgroup") == agent
    assert desktop.run("cat", f"/proc/{firefox}/cgroup") != agent
    assert desktop.run("cat", "/proc/1/cgroup") != desktop.run("cat", f"/proc/{firefox}/cgroup")


def test_launcher_of_a_panel(session):
    launch = "/run/glovebox/bin/glovebox-launch"
    session.run(launch, "editor")
    assert of_app(session, "editor")
    result = session.exec(launch, "no-such-app")
    assert result["exit_code"] == 1
    assert "not an app of this image" in result["stderr"]
    assert session.exec(launch, "../sh")["exit_code"] == 1
    assert session.exec(launch)["exit_code"] == 2


# windows


def put_windows(session, count, *properties):
    session.run("sh", "-c", "cat >x_window.pl", stdin=(HERE / "x_window.pl").read_text())
    session.run("perl", "x_window.pl", str(count), *properties)


def test_window_facts(session):
    launched = session.do("launch", app="terminal")
    shell = session.do("exec", argv=["sh", "-c", "cat /proc/%d/comm" % launched["pid"]])["stdout"]
    window, = session.windows()
    assert window["id"] == launched["window"]
    assert window["class"] == "XTerm" and window["app"] == "terminal" and window["title"] == "Terminal"
    assert window["focused"] is True and window["state"] == [] and window["layer"] == "normal"
    assert shell == "xterm\n"
    assert 0 <= window["x"] < window["x"] + window["width"] <= 1280
    assert 0 <= window["y"] < window["y"] + window["height"] <= 800


def test_window_in_another_space(make_session):
    session = make_session("minimal", space={"width": 640, "height": 400})
    session.do("launch", app="terminal")
    half, = session.windows()
    whole, = session.act({"action": "windows"}, space={"width": 1280, "height": 800})["results"][0]["windows"]
    for name in ("x", "y", "width", "height"):
        assert abs(2 * half[name] - whole[name]) <= 2, (name, half, whole)


@pytest.mark.parametrize("properties, title", [
    (["_NET_WM_NAME", "UTF8_STRING", "61fffe62"], "a\ufffd\ufffdb"),
    (["_NET_WM_NAME", "UTF8_STRING", "c080eda080"], "\ufffd" * 5),
    (["_NET_WM_NAME", "UTF8_STRING", "610062"], "a\ufffdb"),
    (["_NET_WM_NAME", "STRING", "e697a5"], "日"),
    (["WM_NAME", "STRING", "636166e9"], "café"),
    (["WM_NAME", "COMPOUND_TEXT", "ff"], "ÿ"),
    (["WM_NAME", "UTF8_STRING", "e697a5"], "日"),
    (["_NET_WM_NAME", "UTF8_STRING", "e697a5" * 1000], "日" * 341),
    (["_NET_WM_NAME", "UTF8_STRING", "1b5b306d0a07"], "\x1b[0m\n\x07"),
    (["_NET_WM_NAME", "UTF8_STRING", "", "WM_NAME", "STRING", "78"], "x"),
    ([], ""),
], ids=["not utf8", "overlong and surrogate", "nul", "wrong type", "latin-1", "compound text", "utf8 in WM_NAME", "long", "controls",
        "empty", "none"])
def test_hostile_titles(session, properties, title):
    """H05: whatever a window calls itself, the answer is valid UTF-8, and bounded."""
    put_windows(session, 1, *properties, "WM_CLASS", "STRING", "69006be900")
    window = until(session.windows)[0]
    assert (window["title"], window["class"], window["app"]) == (title, "ké", None)
    assert window["pid"] in pids(session, "x_window")


def test_many_windows(session):
    put_windows(session, 400, "_NET_WM_NAME", "UTF8_STRING", "ff" * 2000)
    windows = until(lambda: len(session.windows()) == 256 and session.windows())
    assert len({window["id"] for window in windows}) == 256
    assert all(len(window["title"].encode()) <= 1024 for window in windows)


def test_windows_that_vanish(session):
    """A list made while windows come and go has whole entries only."""
    session.run("sh", "-c", "cat >x_window.pl", stdin=(HERE / "x_window.pl").read_text())
    session.run("sh", "-c", "cat >loop", stdin="while :; do perl x_window.pl 20 WM_NAME STRING 78; pkill -f 'x_window.pl 20'; done\n")
    session.run("sh", "-c", "sh loop >/dev/null 2>&1 &")
    for _ in range(100):
        for window in session.windows():
            assert window["width"] == 100 and window["title"] in ("", "x")


# exec


def test_exec_results(session):
    result = session.exec("sh", "-c", "echo out; echo err >&2; exit 7")
    assert {key: result[key] for key in ("stdout", "stderr", "exit_code", "signal", "timed_out", "truncated")} == {
        "stdout": "out\n", "stderr": "err\n", "exit_code": 7, "signal": None, "timed_out": False, "truncated": False}
    result = session.exec("sh", "-c", "kill -9 $$")
    assert (result["exit_code"], result["signal"]) == (None, 9)


def test_exec_is_no_shell(session):
    """K13: quotes, dollars and newlines arrive as they are."""
    words = ["'\"$HOME `id` $(id) \\ %s %n ; & |", "", "a\nb", "*", "~", "日本"]
    assert session.run("printf", "%s\\0", *words) == "".join(word + "\0" for word in words)


def test_exec_text(session):
    text = "ä日🚀\n" * 20000
    assert session.run("cat", stdin=text) == text
    assert session.run("cat") == ""
    assert session.exec("true", stdin=text)["exit_code"] == 0
    assert session.run("printf", r"\377\300\200a\0b") == "\ufffd\ufffd\ufffda\0b"


def test_exec_bounds(session):
    result = session.exec("sh", "-c", "yes ä | head -c 1000000; echo short >&2")
    assert result["truncated"] and result["stderr"] == "short\n"
    assert 262143 <= len(result["stdout"].encode()) <= 262144 and set(result["stdout"]) == {"ä", "\n"}


def test_the_session_limits_how_long_a_command_runs(make_session):
    session = make_session(limits={"exec_ms": 200})
    assert session.exec("sleep", "987")["timed_out"] is True
    with pytest.raises(Refused) as refused:
        session.exec("true", timeout_ms=201)
    assert refused.value.problem["pointer"] == "/actions/0/timeout_ms" and "200 ms" in refused.value.problem["detail"]


def test_exec_time_limit(session):
    start = time.monotonic()
    result = session.exec("sh", "-c", "echo begun; sleep 987 & sleep 987", timeout_ms=300)
    assert time.monotonic() - start < 5
    assert (result["stdout"], result["timed_out"], result["exit_code"], result["signal"]) == ("begun\n", True, None, 9)
    assert pids(session, "sleep 987") == set()
    answer = session.try_act({"action": "exec", "argv": ["sh", "-c", "echo begun; sleep 987"]}, timeout_ms=300)
    assert (answer["ok"], answer["results"][0]["error"]["code"], answer["results"][0]["stdout"]) == (False, "timeout", "begun\n")


def test_exec_leaves_a_child_behind(session):
    start = time.monotonic()
    assert session.run("sh", "-c", "sleep 987 & echo done") == "done\n"
    assert time.monotonic() - start < 5
    assert len(pids(session, "sleep 987")) == 1


def test_exec_places(session):
    assert session.run("pwd") == "/home/user\n"
    assert session.run("pwd", cwd="/usr") == "/usr\n"
    assert session.run("sh", "-c", "echo $A$LANG", env={"A": "b ", "LANG": "C"}) == "b C\n"
    for fields, code, pointer in [
            ({"argv": ["no-such-program"]}, "not_found", "argv/0"),
            ({"argv": ["/etc/passwd"]}, "bad_field", "argv/0"),
            ({"argv": ["true"], "cwd": "/no/such"}, "not_found", "cwd"),
            ({"argv": ["true"], "cwd": "/etc/passwd"}, "bad_field", "cwd")]:
        error = failure(session, "exec", **fields)
        assert (error["code"], error["pointer"]) == (code, f"/actions/0/{pointer}")


@pytest.mark.parametrize("fields, pointer, word", [
    ({"argv": "ls -l"}, "argv", '["sh","-c","LINE"]'),
    ({"argv": []}, "argv", "1 to"),
    ({"argv": [""]}, "argv/0", "empty"),
    ({"argv": ["a\0b"]}, "argv/0", "NUL"),
    ({"argv": ["true"], "stdin": "\0"}, "stdin", "NUL"),
    ({"argv": ["true"], "cwd": "usr"}, "cwd", "absolute"),
    ({"argv": ["true"], "env": {"A-B": "x"}}, "env", "variable"),
    ({"argv": ["true"], "timeout_ms": 300001}, "timeout_ms", "300000"),
    ({"argv": ["true", "x" * 100000]}, "argv", "98304"),
])
def test_exec_refusals(session, fields, pointer, word):
    problem = refused(session, "exec", **fields)
    assert (problem.status, problem.pointer) == (400, f"/actions/0/{pointer}")
    assert word in problem.problem["detail"]


@pytest.mark.parametrize("text", [r'"\ud83d"', r'"\udc00"', b'"\xff\xfe"', b'"\xc0\x80"', b'"\xed\xa0\x80"'])
def test_exec_bad_encoding(session, text):
    body = b'{"actions":[{"action":"exec","argv":["true",' + (text.encode() if isinstance(text, str) else text) + b"]}]}"
    assert session.agent.request("POST", f"{session.path}/act", body).status == 400


def test_exec_cancel(session):
    """A cancel ends the command within one event, and so does a caller who leaves."""
    answers = []
    caller = threading.Thread(target=lambda: answers.append(session.try_act({"action": "exec", "argv": ["sleep", "987"]})))
    caller.start()
    until(lambda: session.agent.call("POST", f"{session.path}/cancel")["cancelled"])
    caller.join(5)
    assert answers[0]["results"][0]["error"]["code"] == "cancelled"
    assert pids(session, "sleep 987") == set()


def test_exec_caller_who_leaves(session):
    with pytest.raises(TimeoutError):
        session.agent.request("POST", f"{session.path}/act", {"actions": [{"action": "exec", "argv": ["sleep", "987"]}]}, timeout_s=1)
    until(lambda: pids(session, "sleep 987") == set())


def test_many_commands(session):
    """400 commands, each with its own output and exit code; nothing of them is left."""
    actions = [{"action": "exec", "argv": ["sh", "-c", f"echo {i}; exit {i % 256}"]} for i in range(200)]
    for _ in range(2):
        results = session.act(*actions, timeout_ms=120000)["results"]
        assert [(r["stdout"], r["exit_code"]) for r in results] == [(f"{i}\n", i % 256) for i in range(200)]
    assert session.run("sh", "-c", "ps -eo stat= | grep -c Z || true") == "0\n"


# X04: nothing of the host


def test_environment_is_made_not_inherited(monkeypatch, make_server):
    for name in ("AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "LD_PRELOAD_X", "DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY", "HTTP_PROXY",
                 "NO_AT_BRIDGE", "DISPLAY"):
        monkeypatch.setenv(name, CANARY)
    server = make_server()
    session = server.api.new(image="minimal", apps=["editor"], env={"SPEC": "a=b"})
    seen = dict(line.split("=", 1) for line in session.run("env", "-0").split("\0") if line)
    assert seen == {**ENVIRONMENT, "SPEC": "a=b"}
    everything = session.run("sh", "-c", "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'")
    assert "xauth" in everything and CANARY not in everything
    secrets = [server.api.token, *session.tokens.values()]
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_text(errors="replace")
        except OSError:
            continue
        assert not any(secret in text for secret in secrets), path
    session.end()


def test_descriptors(session):
    """A command has its three descriptors and no other; ls has the folder that it reads beside them."""
    lines = session.run("ls", "-l", "/proc/self/fd").splitlines()[1:]
    ends = [line.split(" -> ")[1].split(":")[0] for line in lines]
    assert ends[:3] == ["/dev/null", "pipe", "pipe"]
    assert [end for end in ends[3:] if not end.startswith("/proc/")] == []
