# SPDX-License-Identifier: GPL-2.0-or-later
"""The program that takes all it can get of one thing (tests/exhaust/hoard.c), in a session."""
import base64
import gzip

from api import in_thread
from conftest import BUILD

THINGS = ("processors", "children", "children-apart", "threads", "memory", "sockets", "memfds", "files", "disk", "inodes", "pixmaps", "clients", "output")


def put(session):
    program = base64.b64encode(gzip.compress((BUILD / "fixtures/hoard").read_bytes())).decode()
    session.run("sh", "-c", "base64 -d | gunzip >hoard && chmod +x hoard", stdin=program)


def start(session, thing, seconds):
    """Beside everything else; what it says goes to the file of its name. Output is for the session's own process to read, as that of a command."""
    if thing == "output":
        in_thread(session.try_act, {"action": "exec", "argv": ["./hoard", thing, str(seconds)]})
    else:
        session.run("sh", "-c", f"setsid ./hoard {thing} {seconds} >{thing}.out 2>{thing}.err </dev/null &")
