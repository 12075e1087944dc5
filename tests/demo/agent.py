# SPDX-License-Identifier: GPL-2.0-or-later
"""agent.py URL CONSOLE FOLDER PID [auto]: an agent without a model, which wants to read a mail. It comes as far as the password, asks for a
person, waits, and goes on inside; then all that the server wrote, said and has in memory is searched for that password. FOLDER has the
server's state and log, PID is gloveboxd's. With `auto` a browser of its own is the person at the console."""
import io
import json
import pathlib
import secrets
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "integration"), str(HERE.parent)]
import canary  # noqa: E402
import jail  # noqa: E402
import npm  # noqa: E402
import site_of_anna as site  # noqa: E402
from PIL import Image  # noqa: E402
from pictures import box, centre  # noqa: E402

WAIT_S = 600
BARS_PX = 110  # of the browser, above the page


def say(*words):
    print("agent:", *words, flush=True)


class Api:
    """The server, spoken to with one token; `heard` is all that came back."""

    def __init__(self, url, token):
        self.url, self.token, self.heard = url, token, []

    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        head = {"Authorization": f"Bearer {self.token}", **({"Content-Type": "application/json"} if data else {})}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, data, head, method=method), timeout=WAIT_S) as reply:
                status, text = reply.status, reply.read()
        except urllib.error.HTTPError as refused:
            status, text = refused.code, refused.read()
        self.heard.append(text)
        return status, text

    def call(self, method, path, body=None):
        status, text = self.request(method, path, body)
        answer = json.loads(text or "{}")
        if status >= 400:
            sys.exit(f"{method} {path}: {answer.get('title')}: {answer.get('detail')}")
        return answer


class Agent(Api):
    def __init__(self, url, session):
        super().__init__(url, session["tokens"]["agent"])
        self.path = f"/v1/sessions/{session['id']}"

    def do(self, action, **fields):
        """One action; its result, good or not."""
        return self.call("POST", f"{self.path}/act", {"actions": [{"action": action, **fields}]})["results"][0]

    def shot(self):
        return Image.open(io.BytesIO(self.request("GET", f"{self.path}/screenshot")[1])).convert("RGB")

    def find(self, colour):
        """Where something of this colour is, once it is there."""
        wanted = tuple(bytes.fromhex(colour[1:]))
        for _ in range(300):
            if found := box(self.shot(), wanted):
                return centre(found)
            time.sleep(0.1)
        sys.exit("the page does not look as it should")

    def click(self, colour):
        return self.do("click", **self.find(colour))


def work(agent):
    """Up to the password, and on from there."""
    say("opens the site")
    agent.do("launch", app="firefox", args=[site.Site.url])
    agent.click(site.PASSWORD)
    while not agent.call("GET", agent.path).get("focus", {}).get("password"):
        time.sleep(0.1)
    status, text = agent.request("POST", f"{agent.path}/act", {"actions": [{"action": "type", "text": "some password"}]})
    if status < 400:
        sys.exit("a password field took what an agent typed")
    say("may not type here:", json.loads(text)["detail"])
    agent.do("request_human", kind="login", reason="I need somebody to log anna in")
    say("has asked for a person, and waits")


def wait_for_person(agent):
    """Until the controls are the agent's again."""
    while (lease := agent.call("GET", f"{agent.path}/lease"))["holder"] != "agent":
        told = lease["holder"]
        lease = agent.call("GET", f"{agent.path}/lease?wait_epoch={lease['epoch']}&timeout_ms=60000")
        if lease["holder"] == "human" != told:
            say("somebody has the controls; a look at the screen is answered with", agent.request("GET", f"{agent.path}/screenshot")[0])


def go_on(agent):
    say("has the controls again, and looks")
    agent.click(site.READ)
    agent.do("wait_window", title="Mail", timeout_ms=20000)
    page = agent.shot().crop((0, BARS_PX, 1280, 800))
    say("reads the mail:", " ".join(canary.read_picture(page).split()))


def search(password, folder, pid, agent, session, operator):
    """Where the password is. Ends the session, so that its journal is whole."""
    sought = canary.Secrets(password=password)
    server = type("Server", (), {"state": folder / "state", "process": type("Process", (), {"pid": pid})})
    in_memory = sought.in_processes(server)
    operator.call("DELETE", agent.path)
    places = {"what came to the agent": sought.find(b"\n".join(agent.heard)), "the log": sought.in_file(folder / "log"),
              "memory of the server's processes": in_memory, "journal, recording and all other files": sought.in_files(server.state),
              "text in the recorded pictures": sought.in_pictures(canary.pictures_of(server.state / "journals" / session["id"]))}
    for place, found in places.items():
        print(f"  {place}: {'NOT FOUND' if not found else found}")
    return not any(places.values())


def main():
    url, console, folder, pid = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
    is_auto = sys.argv[5:] == ["auto"]
    operator = Api(url, (folder / "state" / "operator.token").read_text().strip())
    session = operator.call("POST", "/v1/sessions", {"image": "desktop", "idle_s": 0})
    agent = Agent(url, session)
    password = "swan-" + secrets.token_hex(6)
    place = site.Site(type("Session", (), {"id": session["id"]}), password, folder / "site.log")
    person = None
    try:
        print(f"\nA server is at {url}. Its console, for you (the link works once):\n  {console}\n", flush=True)
        work(agent)
        if is_auto:
            given = {"url": url, "session": session["id"], "token": session["tokens"]["controller"], "password": password, "code": "123456"}
            person = subprocess.Popen([npm.NODE, npm.workshop(folder / "person", *(HERE.parent / "console").glob("*.mjs")) / "story.mjs", "story",
                                       json.dumps(given)], cwd=folder / "person")
        else:
            print(f"\n  You: open the console, choose the session, press Take over, log anna in with the password\n    {password}\n"
                  "  and give the controls back.\n", flush=True)
        wait_for_person(agent)
        go_on(agent)
        if person and person.wait(60) != 0:
            sys.exit("the person at the console failed")
        print(f"\nThe password was typed and taken by the site: {[form['password'] == password for form in place.forms()] == [True]}. It is now searched for in")
        sys.exit(0 if search(password, folder, pid, agent, session, operator) else 1)
    finally:
        place.stop()
        if person:
            person.kill()


if __name__ == "__main__":
    main()
