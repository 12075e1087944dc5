# SPDX-License-Identifier: GPL-2.0-or-later
"""PNG files of a session as programs read them that share nothing with their maker: Pillow's reader, ImageMagick, two browsers."""
import base64
import io
import subprocess

import pytest
from PIL import Image, ImageChops

from conftest import until
from pictures import box

MAGENTA = (0xFF, 0x00, 0xFF)
PAGE = '<!doctype html><title>picture</title><body style="margin:0;background:#f0f"><img src="picture.png" style="display:block">'
HOME = "/home/user"


def get(session, query):
    reply = session.agent.request("GET", f"{session.path}/screenshot?{query}")
    assert reply.status == 200, reply.body
    return reply


def pair(session, query="cursor=false", png=""):
    """A PNG file (with more to say of it: `png`), and the bytes R, G, B of the same frame, with their size."""
    def both():
        file, raw = get(session, f"format=png&{query}{png}"), get(session, f"format=raw&{query}")
        return file.headers["Glovebox-At"] == raw.headers["Glovebox-At"] and (file.body, raw.body, raw.headers["Glovebox-Size"])

    file, raw, size = until(both)
    return file, raw, tuple(int(side) for side in size.split("x"))


def by_pillow(file):
    picture = Image.open(io.BytesIO(file))
    assert (picture.format, picture.mode) == ("PNG", "RGB")
    return picture.tobytes()


def by_imagemagick(file):
    done = subprocess.run(["convert", "png:-", "-depth", "8", "rgb:-"], input=file, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return done.stdout


def check(session, query="cursor=false", png=""):
    file, raw, _ = pair(session, query, png)
    assert by_pillow(file) == raw
    assert by_imagemagick(file) == raw


def test_each_change(make_session):
    """A terminal that is written to, scrolls, moves over an editor and closes: after each step, whatever of the picture was kept."""
    session = make_session("minimal")
    check(session)
    session.do("launch", app="editor")
    check(session)
    window = session.do("launch", app="terminal")["window"]
    for text in ("a", "b", "; echo; seq 1 40\n", "clear\n", "head -c 3000 /dev/urandom | base64\n", "printf '\\033[44m\\033[2J'\n"):
        session.act({"action": "type", "text": text}, observe={"picture": "none"})
        check(session)
    for x, y in ((0, 0), (31, 17), (200, 100)):
        session.do("move_window", window=window, x=x, y=y)
        check(session, "cursor=true")
    session.do("close_window", window=window)
    check(session)
    # Other sizes and places are pictures of their own.
    for query in ("space=333x207", "region=33,7,101,33&space=native", "space=1280x801"):
        check(session, f"cursor=false&{query}")
    check(session, png="&compression=small")


@pytest.mark.parametrize("browser", ["firefox", pytest.param("chromium", marks=pytest.mark.long)])
def test_browser(make_session, browser):
    """A browser shows the file as it is, pixel by pixel."""
    session = make_session("desktop")
    session.do("launch", app="terminal")
    session.act({"action": "type", "text": "ls -l --color=always /usr/bin | tail -60\n"}, observe={"picture": "none"})
    file, raw, size = pair(session, "cursor=false&region=150,100,900,500&space=native")
    assert by_pillow(file) == raw
    picture = Image.frombytes("RGB", size, raw)
    assert box(picture, MAGENTA) is None and len(picture.getcolors(1 << 20)) > 5
    session.run("sh", "-c", f"base64 -d >{HOME}/picture.png", stdin=base64.b64encode(file).decode())
    session.run("sh", "-c", f"cat >{HOME}/page.html", stdin=PAGE)
    session.do("launch", app=browser, args=[f"{HOME}/page.html"])

    def shown():
        _, raw, size = pair(session)
        screen = Image.frombytes("RGB", size, raw)
        ground = box(screen, MAGENTA)
        if not ground:
            return False
        # The page is around the picture, to the right of it and below: it begins where the picture does.
        part = screen.crop((ground[0], ground[1], ground[0] + picture.width, ground[1] + picture.height))
        return ImageChops.difference(part, picture).getbbox() is None

    until(shown)
