# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTTP server alone: plain, by TLS, and beside Python's own."""
import contextlib
import http.client
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile

from server import memory_mb, server as start_server
from table import Table

CONNECTIONS = 16     # of wrk
WRK_S = 5
IDLE_CONNECTIONS = 500


def wrk(table, what, how, url, *headers):
    """Requests for WRK_S on CONNECTIONS connections; the time of one, and how many there were."""
    words = [word for header in headers for word in ("-H", header)]
    text = subprocess.run(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{WRK_S}s", "--latency", *words, url], capture_output=True, text=True,
                          check=True).stdout
    found = {name: re.search(rf"{name}\s+([\d.]+\w*)", text) for name in ("50%", "90%", "Requests/sec:")}
    faults = "not all of them good" if "Non-2xx" in text or "Socket errors" in text else ""
    n = re.search(r"(\d+) requests in", text).group(1)
    table.add(what, how, n, found["50%"].group(1), found["90%"].group(1), f"{float(found['Requests/sec:'].group(1)):,.0f}", faults)


def connection_memory(table, how, daemon, context):
    """What an idle connection takes of the front's memory."""
    address, opened = daemon.operator.address, []
    front = daemon.pids("glovebox-front")
    before = memory_mb(front)
    for _ in range(IDLE_CONNECTIONS):
        connection = http.client.HTTPSConnection(address, context=context) if context else http.client.HTTPConnection(address)
        connection.request("GET", "/livez")
        connection.getresponse().read()
        opened.append(connection)
    table.add("memory of an idle connection", how, IDLE_CONNECTIONS, f"{(memory_mb(front) - before) * 1024 / IDLE_CONNECTIONS:.1f} KiB")
    for connection in opened:
        connection.close()


def peer(table, folder):
    """Python's own server."""
    (folder / "livez").write_text('{"live":true}')
    process = subprocess.Popen([sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", folder, "0"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        port = re.search(r"port (\d+)", process.stdout.readline().decode()).group(1)
        wrk(table, "GET /livez", "python3 -m http.server, a connection each", f"http://127.0.0.1:{port}/livez")
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def run(server, results):
    table = Table(f"HTTP on {CONNECTIONS} connections for {WRK_S} s", "what", "how", "n", "median", "90 % in", "a second", "note")
    results.append(table)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="glovebox-bench-")))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                        folder / "key", "-out", folder / "cert", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
        tls = stack.enter_context(start_server("--tls-cert", folder / "cert", "--tls-key", folder / "key"))
        context = ssl.create_default_context(cafile=folder / "cert")
        tls.operator.connection = http.client.HTTPSConnection(tls.operator.address, context=context)
        for how, daemon, secure in (("plain", server, None), ("TLS", tls, context)):
            caller = daemon.operator
            made = caller.call("POST", "/v1/sessions", {"image": "minimal"})
            token = f"Authorization: Bearer {made['tokens']['agent']}"
            wrk(table, "GET /livez", f"glovebox, {how}", f"{caller.url}/livez")
            wrk(table, "GET /v1/sessions/ID", f"glovebox, {how}", f"{caller.url}/v1/sessions/{made['id']}", token)
            connection_memory(table, f"glovebox, {how}", daemon, secure)
            caller.call("DELETE", f"/v1/sessions/{made['id']}")
        peer(table, folder)
