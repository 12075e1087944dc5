# SPDX-License-Identifier: GPL-2.0-or-later
"""A web site with a login, on the loopback of a session, as if that had a network: its process is none of the session's.

site_of_anna.py PORT LOG serves it; the first line of standard input is the password, "ready" is said when it listens, and LOG gets a JSON object
for each form that was sent."""
import contextlib
import http.server
import json
import subprocess
import sys
import urllib.parse

import jail

PORT = 8000
USER, PASSWORD, CODE, LOG_IN, INBOX, READ = "#ffcc00", "#00ccff", "#f4e8ff", "#0055ff", "#00ff7f", "#aa00aa"
COOKIE = "session=of-anna"
STYLE = """<style>
body { margin: 0; font: 32px sans-serif; }
* { position: absolute; border: 0; border-radius: 0; outline: 0; box-shadow: none; white-space: nowrap; }
input { left: 100px; width: 500px; height: 50px; color: #000000; font: 32px sans-serif; }
p { left: 100px; margin: 0; }
button, a { left: 100px; width: 160px; height: 50px; }
</style>"""
# What a person sees; its parts are found by their colours in a picture.
LOGIN = f"""<!doctype html><meta charset="utf-8"><title>Log in</title>{STYLE}
<form method="post" action="/login" autocomplete="off">
<p style="top: 20px">User</p><input name="user" style="top: 70px; background: {USER}">
<p style="top: 140px">Password</p><input name="password" type="password" style="top: 190px; background: {PASSWORD}">
<p style="top: 260px">Code</p><input name="code" style="top: 310px; background: {CODE}">
<button style="top: 390px; background: {LOG_IN}; color: {LOG_IN}">Log in</button>
</form>"""
INSIDE = f"""<!doctype html><meta charset="utf-8"><title>Inbox</title>{STYLE}
<body style="background: {INBOX}"><p style="top: 20px">Welcome Anna, you have mail</p>
<a href="/mail" style="top: 100px; background: {READ}; color: {READ}">Read</a>"""
MAIL = f"""<!doctype html><meta charset="utf-8"><title>Mail</title>{STYLE}<p style="top: 20px">The meeting is at nine</p>"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, page="", **headers):
        self.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(page.encode())))
        self.end_headers()
        self.wfile.write(page.encode())

    def do_GET(self):
        inside = COOKIE in (self.headers["Cookie"] or "")
        pages = {"/": INSIDE if inside else LOGIN, "/mail": MAIL if inside else None}
        page = pages.get(self.path)
        self.answer(200, page) if page else self.answer(404)

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode(), keep_blank_values=True))
        with open(self.server.log, "a", encoding="utf-8") as log:
            log.write(json.dumps(form) + "\n")
        good = form.get("user") == "anna" and form.get("password") == self.server.password
        self.answer(303, Location="/", **({"Set_Cookie": f"{COOKIE}; HttpOnly"} if good else {}))


def main():
    port, log = sys.argv[1:]
    password = sys.stdin.readline().rstrip("\n")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    server.password, server.log = password, log
    print("ready", flush=True)
    server.serve_forever()


class Site:
    """The site in this session's loopback; `password` lets anna in."""

    def __init__(self, session, password, log):
        self.log = log
        self.log.write_text("")
        inside = jail.part(session.id, "glovebox-init")
        self.process = subprocess.Popen(["nsenter", f"--net=/proc/{inside}/ns/net", sys.executable, __file__, str(PORT), str(log)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(password + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ready\n"

    url = f"http://127.0.0.1:{PORT}/"

    def forms(self):
        """What was sent so far."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def stop(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                stream.close()


if __name__ == "__main__":
    main()
