# SPDX-License-Identifier: GPL-2.0-or-later
"""The official MCP clients, run by mcp_driver.mjs and told what to do."""
import base64
import json
import pathlib
import queue
import subprocess
import sys
import threading

from api import picture_of
from conftest import BUILD, TREE

sys.path.insert(0, str(TREE / "tests"))
import npm  # noqa: E402

HERE = pathlib.Path(__file__).parent
ANSWER_S = 60


class Failed(AssertionError):
    def __init__(self, answer):
        self.code = answer.get("code")
        super().__init__(answer["error"])


class Client:
    """One client of the package `package` ("now" or "before"), in a process of its own."""

    def __init__(self, folder, package="now"):
        self.package = package
        npm.workshop(folder, HERE / "mcp_driver.mjs")
        self.process = subprocess.Popen([npm.NODE, "mcp_driver.mjs"], cwd=folder, env=npm.ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.n_asked = 0
        self.answers = {}
        self.progress = {}
        self.news = queue.Queue()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.news.put(json.loads(line))
        self.news.put(None)

    def begin(self, op, **fields):
        """Tells it to do something; its number."""
        self.n_asked += 1
        message = {"id": self.n_asked, "do": op, "from": self.package, **fields}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self.n_asked

    def wait(self, done):
        """Takes what it says until done() is true."""
        while not done():
            news = self.news.get(timeout=ANSWER_S)
            assert news, "the client has ended"
            if "of" in news:
                self.progress.setdefault(news.pop("of"), []).append(news)
            else:
                self.answers[news["id"]] = news

    def end(self, number):
        """What came of it."""
        self.wait(lambda: number in self.answers)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Failed(answer)
        return answer["result"]

    def do(self, op, **fields):
        return self.end(self.begin(op, **fields))

    def connect_http(self, server, mode="legacy", token=None):
        return self.do("connect", mode=mode, url=f"{server.url}/mcp", token=token or server.api.token)

    def connect_stdio(self, server, *words, mode="legacy"):
        return self.do("connect", mode=mode, command=str(BUILD / "glovebox"), args=["mcp", *words],
                       env={"GLOVEBOX_SERVER": server.url, "GLOVEBOX_TOKEN_FILE": str(server.state / "operator.token")})

    def tool(self, name, **args):
        """Calls a tool, which must not fail; its structuredContent, and the pictures of its content."""
        result = self.do("call", name=name, args=args)
        assert not result.get("isError"), result
        return result["structuredContent"], pictures(result)

    def close(self):
        return self.do("close")

    def kill(self):
        self.process.kill()
        self.finish()

    def finish(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self.thread.join()
        self.process.stdout.close()


def pictures(result):
    return [picture_of(base64.b64decode(item["data"])) for item in result["content"] if item["type"] == "image"]
