# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of the bench's own, what its operator asks of it, and what its processes use. Nothing here is measured to less than a millisecond."""
import contextlib
import http.client
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

TREE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = TREE / "build/perf"
IMAGES = pathlib.Path(os.environ.get("STATE", "/var/lib/glovebox")) / "images"
KEPT_S = 15          # a connection that was idle for longer may be closed already


def say(text):
    print(text, file=sys.stderr, flush=True)


class Refused(Exception):
    pass


class Caller:
    """A caller with a token on one kept connection."""

    def __init__(self, url, token):
        self.url = url
        self.address = urllib.parse.urlsplit(url).netloc
        self.token = token
        self.connection = http.client.HTTPConnection(self.address, timeout=330)
        self.used_at = 0

    def request(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if time.monotonic() - self.used_at > KEPT_S:
            self.connection.close()
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        data = response.read()
        self.used_at = time.monotonic()
        if response.status >= 400:
            raise Refused(f"{response.status} {data[:300].decode(errors='replace')}")
        return data

    def call(self, method, path, body=None):
        data = self.request(method, path, body)
        return json.loads(data) if data else None


class Session:
    """A session, made by `operator` and driven on a connection of its agent's."""

    def __init__(self, operator, **spec):
        self.operator = Caller(operator.url, operator.token)
        answer = self.operator.call("POST", "/v1/sessions", spec)
        self.id = answer["id"]
        self.path = f"/v1/sessions/{self.id}"
        self.agent = Caller(operator.url, answer["tokens"]["agent"])

    def act(self, *actions, **options):
        answer = self.agent.call("POST", f"{self.path}/act", {"actions": actions, **options})
        if not answer["ok"]:
            raise Refused(json.dumps(answer["results"][-1:] + [answer.get("observation")])[:500])
        return answer

    def screenshot(self, query=""):
        return self.agent.request("GET", f"{self.path}/screenshot{query}")

    def run(self, *argv, stdin=""):
        """The standard output of a command in the session."""
        result = self.act({"action": "exec", "argv": argv, "stdin": stdin})["results"][0]
        if result.get("exit_code", 0) != 0:
            raise Refused(f"{argv[0]}: {json.dumps(result)[:300]}")
        return result["stdout"]

    def end(self):
        self.operator.call("DELETE", self.path)
        self.operator.connection.close()
        self.agent.connection.close()


@contextlib.contextmanager
def session(operator, **spec):
    made = Session(operator, **spec)
    try:
        yield made
    finally:
        made.end()


class Server:
    """A gloveboxd that serves: its process, its state folder, its operator."""

    def __init__(self, process, state, url):
        self.process = process
        self.state = pathlib.Path(state)
        self.operator = Caller(url, (self.state / "operator.token").read_text().strip())

    def pids(self, *names):
        """Its processes of these names, all without one."""
        found = descendants(self.process.pid)
        return {pid for pid in found if not names or name_of(pid) in names}


@contextlib.contextmanager
def server(*options):
    with tempfile.TemporaryDirectory(prefix="glovebox-bench-") as state:
        with open(f"{state}.log", "wb") as log:
            process = subprocess.Popen([TREE / "build/gloveboxd", "--listen", "127.0.0.1:0", "--state", state, "--images", IMAGES, *options],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        try:
            word, _, url = process.stdout.readline().decode().strip().partition(" ")
            if word != "READY":
                sys.exit(f"gloveboxd does not start; see {state}.log")
            yield Server(process, state, url)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            process.stdout.close()
    os.unlink(f"{state}.log")


def start_xvfb():
    """An X server of our own that takes connections: (process, display)."""
    process = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return process, f":{process.stdout.readline().decode().strip()}"


def stop_xvfb(process):
    """Tells it more than once: one that has only just come up forgets a signal."""
    while process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
    process.stdout.close()


def name_of(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def descendants(pid):
    """The processes below this one, itself included: {pid: ticks of CPU so far}."""
    parents, ticks = {}, {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            child = int(stat.parent.name)
            parents[child] = int(fields[1])
            ticks[child] = int(fields[11]) + int(fields[12])
    found = {pid}
    while grown := {child for child, parent in parents.items() if parent in found} - found:
        found |= grown
    return {child: ticks[child] for child in found if child in ticks}


def memory_mb(pids):
    """Memory of these processes; what several share is shared out among them."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / 1024


def package_version(name):
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True, check=False)
    return f"{name} {asked.stdout or 'absent'}"


PACKAGES = ("xvfb", "xdotool", "wmctrl", "xclip", "python3-pyatspi", "scrot", "maim", "imagemagick", "ffmpeg", "python3-pil", "wrk")


def machine(operator):
    """The machine, in words, and the version of the server."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cpu = next((line.partition(":")[2].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "?")
    version = operator.call("GET", "/v1").get("version", "?")
    words = (f"{os.cpu_count()} cores ({cpu}), {memory:.0f} GiB, Linux {platform.release()}, {system}; "
             f"{', '.join(package_version(name) for name in PACKAGES)}; load before {os.getloadavg()[0]:.1f}")
    return words, version
