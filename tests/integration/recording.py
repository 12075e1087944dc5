# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of a journal, put together from its file by its documented form alone."""
import hashlib
import io
import json

from PIL import Image


def records(data):
    """Each whole record: its header, the header's text, its parts' PNGs."""
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        text = data[at:end]
        header = json.loads(text)
        at = end + 1
        parts = []
        for part in header["parts"]:
            parts.append(data[at:at + part["bytes"]])
            at += part["bytes"]
        if at > len(data):
            return
        yield header, text, parts


def whole_len(data):
    return sum(len(text) + 1 + sum(map(len, parts)) for _, text, parts in records(data))


def digest(header, text, parts):
    return hashlib.sha256(bytes.fromhex(header["salt"]) + text + b"".join(parts)).hexdigest()


def pictures(data):
    """{number: picture}; each drawn over the one before it, or anew."""
    made = {}
    for header, _, parts in records(data):
        if header["base"] is None:
            picture = Image.new("RGB", (header["width"], header["height"]))
            assert [(p["x"], p["y"], p["width"], p["height"]) for p in header["parts"]] == [(0, 0, *picture.size)]
        else:
            assert header["base"] == header["picture"] - 1
            picture = made[header["base"]].copy()
        for place, png in zip(header["parts"], parts, strict=True):
            part = Image.open(io.BytesIO(png)).convert("RGB")
            assert part.size == (place["width"], place["height"])
            picture.paste(part, (place["x"], place["y"]))
        made[header["picture"]] = picture
    assert sorted(made) == list(range(1, len(made) + 1))
    return made


def check(data, found):
    """The records of the file and the lines `found` of the journal fit together; the pictures."""
    told = [line for line in found if line["event"] == "picture"]
    kept = list(records(data))
    assert [line["picture"] for line in told] == [header["picture"] for header, _, _ in kept][:len(told)]
    for line, record in zip(told, kept):
        assert (line["frame"], line["digest"]) == (record[0]["frame"], digest(*record)), line
    known = 0
    for line in found:
        if line["event"] == "picture":
            known = line["picture"]
        for name in "before", "after":
            assert 1 <= line.get(name, 1) <= known or line["event"] == "start", f"a picture is named before it is told: {line}"
    return pictures(data)
