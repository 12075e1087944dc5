# SPDX-License-Identifier: GPL-2.0-or-later
"""Looking for a secret in all that a server has written, said or has in memory, in whatever form it would lie there."""
import base64
import concurrent.futures
import os
import pathlib
import re
import subprocess
import zlib

from PIL import ImageChops

import jail
import recording

CHUNK = 16 << 20
OCR_SCALE = 2
LINE_PX = 48  # no line of text is higher
# Programs of the desktop, which a person types into, and the display and bus that carry it; all others of a server are looked into.
APPS = re.compile(r"firefox|Xvfb|dbus-daemon|Web Content|Isolated|WebExtensions|Privileged|Socket Process|RDD Process|Utility|forkserver|crashhelper")


def pieces_of_base64(data):
    """What of its Base64 is the same wherever it begins in a longer text."""
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + data)
        yield text[(4 if shift else 0):len(text) - 4]


def forms(secret):
    """{name: bytes}"""
    data = secret.encode()
    found = {
        "UTF-8": data, "UTF-16": secret.encode("utf-16-le"), "UTF-16, big end first": secret.encode("utf-16-be"),
        "code points or keysyms": secret.encode("utf-32-le"), "the same, big end first": secret.encode("utf-32-be"),
        "hex": data.hex().encode(),
        "key events of RFB": b"".join(b"\4" + bytes([down, 0, 0]) + ord(c).to_bytes(4, "big") for c in secret for down in (1, 0)),
        **{f"Base64, {shift}": piece for shift, piece in enumerate(pieces_of_base64(data))},
    }
    if len(data) > 200:
        # A piece is as bad as the whole.
        found |= {f"{name}, a piece": form[len(form) // 2:len(form) // 2 + 64] for name, form in found.items()}
        cut = (len(data) + 1).to_bytes(4, "big") + data + b"\0"
        found["extended clipboard"] = zlib.compress(cut)[64:256]
    return found


class Secrets:
    """The secrets that a test has typed; `find` names those that are in some bytes."""

    def __init__(self, **secrets):
        self.secrets = secrets
        self.forms = [(name, how, form) for name, secret in secrets.items() for how, form in forms(secret).items()]
        self.longest = max(len(form) for *_, form in self.forms)

    def find(self, data):
        return [f"{name} as {how}" for name, how, form in self.forms if form in data]

    # --- files ---

    def in_file(self, path):
        found, before = set(), b""
        with open(path, "rb") as file:
            while piece := file.read(CHUNK):
                found.update(self.find(before + piece))
                before = piece[-self.longest:]
        return [f"{path}: {what}" for what in sorted(found)]

    def in_files(self, folder):
        found = []
        for name in pathlib.Path(folder).rglob("*"):
            found += self.find(os.fsencode(name.name)) and [f"the name {name}"]
            if name.is_file() and not name.is_symlink():
                found += self.in_file(name)
        return found

    # --- processes ---

    def in_memory(self, pid):
        found, name = set(), jail.read(f"/proc/{pid}/comm").strip()
        try:
            memory = open(f"/proc/{pid}/mem", "rb", 0)
        except OSError:
            return []
        with memory:
            for line in jail.read(f"/proc/{pid}/maps").splitlines():
                start, end = (int(number, 16) for number in line.split()[0].split("-"))
                if line.split()[1][0] != "r" or "[v" in line:
                    continue
                before = b""
                while start < end:
                    try:
                        memory.seek(start)
                        piece = memory.read(min(CHUNK, end - start))
                    except (OSError, ValueError):
                        break
                    if not piece:
                        break
                    found.update(f"{what} in {line.split()[-1]}" for what in self.find(before + piece))
                    before = piece[-self.longest:]
                    start += len(piece)
        return [f"memory of {name} ({pid}): {what}" for what in sorted(found)]

    def in_processes(self, server):
        """All of the server's but the apps themselves, and what /proc tells of every process of the machine but this one's."""
        found = []
        for pid in jail.processes(jail.group_name(server)):
            if not APPS.search(jail.read(f"/proc/{pid}/comm")):
                found += self.in_memory(pid)
        found += self.in_memory(server.process.pid)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            for name in ("environ", "cmdline"):
                try:
                    what = self.find(pathlib.Path(f"/proc/{pid}/{name}").read_bytes())
                except OSError:
                    continue
                found += [f"{name} of {pid}: {one}" for one in what]
        return found

    # --- pictures ---

    def in_pictures(self, pictures):
        """Those that can be read, by {name: picture}: texts of five letters and more that are a part of a secret."""
        names, parts = [], []
        for at, (name, picture) in enumerate(pictures.items()):
            part = unread(picture, list(pictures.values())[:at])
            if part:
                names.append(name)
                parts.append(part)
        found = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name, text in zip(names, pool.map(read_picture, parts)):
                found += [f"picture {name}: {secret}" for secret, words in self.secrets.items() if is_in(words, text)]
        return found


def unread(picture, before):
    """The least that must be read of it when those before it are: the rows that the likest of them has not, and all of the lines of text that
    they may be a part of. None: it is one of them."""
    rows = [(0, picture.height)]
    for other in before:
        if other.size == picture.size:
            changed = ImageChops.difference(picture, other).getbbox()
            if not changed:
                return None
            rows.append((max(0, changed[1] - LINE_PX), min(picture.height, changed[3] + LINE_PX)))
    top, bottom = min(rows, key=lambda between: between[1] - between[0])
    return picture.crop((0, top, picture.width, bottom))


def read_picture(picture):
    """Its text, by tesseract."""
    large = picture.resize((picture.width * OCR_SCALE, picture.height * OCR_SCALE))
    command = ["tesseract", "-", "-", "--psm", "11", "-l", "eng"]
    data = b"P6 %d %d 255\n" % large.size + large.tobytes()
    done = subprocess.run(command, input=data, capture_output=True, check=True, env={**os.environ, "OMP_THREAD_LIMIT": "1"})
    return done.stdout.decode(errors="replace")


def is_in(words, text):
    """Are eight signs of it there, however they are written and spaced?"""
    plain = re.sub(r"[^a-z0-9]", "", text.lower())
    words = re.sub(r"[^a-z0-9]", "", words.lower())
    return any(words[at:at + 8] in plain for at in range(max(1, min(len(words), 64) - 7)))


def pictures_of(journal):
    """{name: picture} of all that a journal has."""
    made = {}
    for path in pathlib.Path(journal).glob("pictures*"):
        made |= {f"{path.name} {number}": picture for number, picture in recording.pictures(path.read_bytes()).items()}
    return made
