# SPDX-License-Identifier: GPL-2.0-or-later
"""HTML and pictures of the clipboard in programs that keep them: pasted, and copied from one to another, trusted or not."""
import base64
import io
import json
import pathlib
import xml.etree.ElementTree as ElementTree

import pytest
from PIL import Image

from conftest import until
from pictures import box, centre

HERE = pathlib.Path(__file__).parent
YELLOW, BLUE = (0xFF, 0xCC, 0x00), (0x10, 0x40, 0xE0)
# One that keeps what is pasted, and sends it at ctrl+s.
RICH = """<!doctype html><meta charset="utf-8"><title>rich</title>
<div contenteditable style="position: absolute; inset: 0; background: #ffcc00; outline: 0"></div>
<script>
	const area = document.querySelector("div")
	document.onkeydown = event => {
		if (event.key === "s" && event.ctrlKey) {
			event.preventDefault()
			fetch("/", {method: "POST", body: JSON.stringify(area.innerHTML) + "\\n"})
		}
	}
</script>"""
DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text/></office:body></office:document>"""
STYLE, TEXT = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}", "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
COPY = [{"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"}]
PASTED = "<p>plain é 日本 <b>bold words</b></p>"


class Desk:
    """Writer with a document and Firefox with a page, in one session."""

    def __init__(self, session):
        self.session = session
        session.run("sh", "-c", "cat >form_server.pl", stdin=(HERE / "form_server.pl").read_text())
        session.run("perl", "form_server.pl", "8000", stdin=RICH)
        session.run("sh", "-c", "cat >document.fodt", stdin=DOCUMENT)
        self.writer = session.do("launch", app="office-writer", args=["document.fodt"])["window"]
        self.firefox = session.do("launch", app="firefox", args=["http://127.0.0.1:8000/"])["window"]
        session.do("click", **centre(until(lambda: box(session.shot(), YELLOW))))

    def go_to(self, window):
        """With nothing in it: what comes to Writer while it is busy may be lost, so each step is seen."""
        self.session.act({"action": "focus_window", "window": window}, {"action": "wait_settled"}, {"action": "key", "keys": "ctrl+a"},
                         {"action": "wait_settled"}, {"action": "key", "keys": "Delete"}, {"action": "wait_settled"})

    def paste(self):
        self.session.do("key", keys="ctrl+v")

    def document(self):
        self.session.act({"action": "key", "keys": "ctrl+s"}, {"action": "wait_settled"})
        return base64.b64decode(self.session.run("base64", "-w0", "document.fodt")).decode()

    def page(self):
        self.session.act({"action": "key", "keys": "ctrl+s"}, {"action": "wait_settled"})
        lines = self.session.run("sh", "-c", "cat received 2>/dev/null || true").splitlines()
        return json.loads(lines[-1]) if lines else ""


@pytest.fixture(name="desk", scope="module")
def shared_desk(server):
    session = server.api.new(image="office", apps=[])
    yield Desk(session)
    session.end()


def style_of(document, words, name):
    """That attribute of the style of a span of text."""
    root = ElementTree.fromstring(document)
    span = next(node for node in root.iter(TEXT + "span") if node.text == words)
    style = next(node for node in root.iter(STYLE + "style") if node.get(STYLE + "name") == span.get(TEXT + "style-name"))
    return style.find(STYLE + "text-properties").get(FO + name)


def words_of(document):
    """Its text, a line for each paragraph."""
    return "\n".join("".join(node.itertext()) for node in ElementTree.fromstring(document or DOCUMENT).iter(TEXT + "p"))


def picture(width=96, height=64):
    out = io.BytesIO()
    Image.new("RGB", (width, height), BLUE).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def test_html_pasted_into_writer(desk):
    desk.go_to(desk.writer)
    desk.session.do("clipboard_set", html=PASTED)
    text = until(lambda: desk.paste() or (text := desk.document()) and "bold words" in text and text)
    assert "plain é 日本" in text and style_of(text, "bold words", "font-weight") == "bold", text


def test_png_pasted_into_writer(desk):
    desk.go_to(desk.writer)
    desk.session.do("clipboard_set", png=picture())
    text = until(lambda: desk.paste() or (text := desk.document()) and "<draw:image" in text and text)
    assert "image/png" in text
    assert box(desk.session.shot(), BLUE)


def test_html_pasted_into_a_page(desk):
    desk.go_to(desk.firefox)
    desk.session.do("clipboard_set", html=PASTED)
    until(lambda: desk.paste() or "plain é 日本 <b>bold words</b>" in desk.page())


def test_html_from_writer_to_a_page(desk):
    """From a program that is not trusted to one that is: it keeps its marks. One that is too busy to answer in time is not waited for: again, then."""
    desk.go_to(desk.writer)
    desk.session.do("clipboard_set", html="<p>from <i>the writer</i></p>")
    until(lambda: desk.paste() or "the writer" in desk.document())

    def come():
        desk.session.act({"action": "focus_window", "window": desk.writer}, {"action": "wait_settled"}, *COPY, {"action": "wait_settled"})
        desk.go_to(desk.firefox)
        desk.paste()
        return "<i>the writer</i>" in desk.page()
    until(come)


def test_writer_that_has_copied(desk):
    """It takes what is typed and what is on the clipboard by then, not what it has copied itself."""
    desk.go_to(desk.writer)
    until(lambda: words_of(desk.document()) == "")
    desk.session.do("type", text="one")
    until(lambda: words_of(desk.document()) == "one")
    until(lambda: desk.session.act(*COPY, {"action": "clipboard_get"})["results"][-1]["owner"] == "app")
    desk.session.act({"action": "key", "keys": "End"}, {"action": "wait_settled"})
    for text, there in ((" two", "one two"), (" three é", "one two three é")):
        assert "note" not in desk.session.do("type", text=text)
        until(lambda there=there: words_of(desk.document()) == there)
    desk.session.do("clipboard_set", text=" four")
    desk.session.act({"action": "key", "keys": "ctrl+v"}, {"action": "wait_settled"})
    until(lambda: words_of(desk.document()) == "one two three é four")


def test_picture_of_a_page(desk):
    """What is copied in the browser's menu."""
    desk.session.run("sh", "-c", "base64 -d >picture.png", stdin=picture())
    desk.session.do("launch", app="firefox", args=["file:///home/user/picture.png"])
    where = until(lambda: box(desk.session.shot(), BLUE))
    desk.session.act({"action": "click", "button": "right", **centre(where)}, {"action": "wait_settled"}, {"action": "key", "keys": "y"})
    answer = until(lambda: (answer := desk.session.do("clipboard_get", format="png")) and "png" in answer["offered"] and answer)
    got = Image.open(io.BytesIO(base64.b64decode(answer["png"]))).convert("RGB")
    assert got.size == (96, 64) and got.getpixel((50, 30)) == BLUE
    desk.session.do("key", keys="ctrl+w")
