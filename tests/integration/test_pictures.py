# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures in every format and from every place that gives them, within the limits of models, and never silently another one."""
import base64
import io
import pathlib

import pytest
from PIL import Image, ImageChops, ImageStat

from api import Refused, in_thread
from conftest import until
from pictures import box

HERE = pathlib.Path(__file__).parent
MODEL_SIDE = 2000
MODEL_BASE64 = 5_000_000
YELLOW = (0xFF, 0xCC, 0x00)
MEDIA = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp", "raw": "application/octet-stream"}


def decoded(data, form, size):
    """A picture by another decoder than ours; raw is RGB without anything around it."""
    if form == "raw":
        assert len(data) == size[0] * size[1] * 3
        return Image.frombytes("RGB", size, data)
    picture = Image.open(io.BytesIO(data))
    picture.load()
    assert picture.format.lower() == form and picture.mode == "RGB" and picture.size == size
    return picture


def get(session, headers=None, **query):
    """A picture by GET: the reply and the picture, checked against what the headers say of it."""
    words = "&".join(f"{name}={value}" for name, value in query.items())
    reply = session.agent.request("GET", f"{session.path}/screenshot?{words}", headers=headers)
    if reply.status >= 400:
        raise Refused(reply)
    form = {media: name for name, media in MEDIA.items()}[reply.headers["Content-Type"]]
    size = tuple(int(side) for side in reply.headers["Glovebox-Size"].split("x"))
    return reply, form, decoded(reply.body, form, size)


def of_object(picture):
    """The picture of an observation or a result."""
    return decoded(base64.b64decode(picture["data"], validate=True), picture["format"], (picture["width"], picture["height"]))


def mean_difference(one, other):
    return max(ImageStat.Stat(ImageChops.difference(one, other)).mean)


@pytest.fixture(scope="module")
def desk(server):
    """A terminal on the plain desktop; nothing moves."""
    session = server.api.new(image="minimal")
    session.act({"action": "launch", "app": "terminal"},
                {"action": "type", "text": "PS1=; clear; printf '\\033]11;#ffcc00\\007\\033[?25l'; exec sleep 1000\n"}, observe={"picture": "none"})
    until(lambda: box(session.shot(), YELLOW))
    yield session
    session.end()


FORMATS = [
    ({}, 0), ({"format": "png"}, 0), ({"format": "png", "compression": "small"}, 0), ({"format": "webp"}, 0), ({"format": "raw"}, 0),
    ({"format": "jpeg"}, 3), ({"format": "jpeg", "quality": 100}, 1), ({"format": "webp", "quality": 80}, 3),
]


@pytest.mark.parametrize("fields, off", FORMATS, ids=lambda value: str(value))
def test_formats(desk, fields, off):
    """The same picture in every format, from all three places that give one."""
    right = desk.shot()
    reply, form, by_get = get(desk, **fields)
    assert form == fields.get("format", "png")
    assert "Glovebox-Fallback" not in reply.headers
    by_action = desk.do("screenshot", **fields)["picture"]
    by_observation = desk.act(observe=fields)["observation"]["picture"]
    quality = {"jpeg": 80}.get(form) if "quality" not in fields else fields["quality"]
    for picture in (by_action, by_observation):
        assert "fallback" not in picture and picture.get("quality") == quality
        assert base64.b64decode(picture["data"]) == reply.body
    assert mean_difference(by_get, right) <= off


def test_small_is_smaller(desk):
    sizes = [len(get(desk, **fields)[0].body) for fields in ({"format": "png", "compression": "small"}, {"format": "png"}, {"format": "raw"})]
    assert sizes[0] < sizes[1] < sizes[2] == 1280 * 800 * 3
    assert len(get(desk, format="jpeg", quality=20)[0].body) < len(get(desk, format="jpeg")[0].body)


@pytest.mark.parametrize("fields, pointer", [
    ({"format": "gif"}, "/format"), ({"format": "PNG"}, "/format"), ({"format": ""}, "/format"), ({"quality": 80}, "/quality"),
    ({"format": "png", "quality": 80}, "/quality"), ({"format": "raw", "quality": 80}, "/quality"), ({"format": "jpeg", "quality": 0}, "/quality"),
    ({"format": "webp", "quality": 101}, "/quality"), ({"format": "jpeg", "compression": "small"}, "/compression"),
    ({"compression": "best"}, "/compression"), ({"max_bytes": 1023}, "/max_bytes"), ({"max_bytes": 50331649}, "/max_bytes"),
])
def test_wrong_fields(desk, fields, pointer):
    """Refused the same way everywhere, with the rule in the text, and nothing happens."""
    frame = desk.act()["at"]["frame"]
    actions = [{"action": "move", "x": 1, "y": 1}]
    for ask, prefix in ((lambda: get(desk, **fields), ""), (lambda: desk.act(*actions, observe=fields), "/observe"),
                        (lambda: desk.act(*actions, {"action": "screenshot", **fields}), "/actions/1")):
        with pytest.raises(Refused) as refused:
            ask()
        assert (refused.value.status, refused.value.pointer) == (400, prefix + pointer)
    assert desk.act()["at"]["frame"] == frame


def test_limit_of_bytes(desk):
    """A limit is kept in every format, by less quality first, and the reply says what was asked for."""
    for limit, fields in ((5000, {}), (5000, {"format": "png"}), (5000, {"format": "jpeg", "quality": 100}), (1024, {"format": "webp", "quality": 100}),
                          (5000, {"format": "raw"})):
        reply, form, picture = get(desk, max_bytes=limit, **fields)
        told = dict(part.split("=") for part in reply.headers["Glovebox-Fallback"].split(", "))
        assert told == {"reason": "max_bytes", "max_bytes": str(limit), "format": fields.get("format", "png"), "width": "1280", "height": "800"}
        assert len(reply.body) <= limit and form == (fields or {"format": "jpeg"})["format"]
        inline = desk.act(observe={"max_bytes": limit, **fields})["observation"]["picture"]
        assert inline["fallback"]["asked"]["format"] == fields.get("format", "png")
        assert (inline["fallback"]["asked"]["width"], inline["fallback"]["asked"]["height"]) == (1280, 800)
        assert inline["fallback"]["max_bytes"] == limit and inline["fallback"]["reason"] == "max_bytes"
        assert of_object(inline).size == picture.size
        # The same shape, and coordinates stay those of the space.
        assert abs(picture.width / picture.height - 1.6) < 0.1
        assert reply.headers["Glovebox-Space"] == "1280x800"
    assert get(desk, max_bytes=3_000_000)[1] == "png"


def test_limits_are_told(server):
    limits = server.api.call("GET", "/v1")["limits"]
    assert {name: limits[name] for name in ("picture_bytes", "picture_inline_bytes", "picture_usual_bytes", "model_side_px")} == {
        "picture_bytes": 50331648, "picture_inline_bytes": 12582912, "picture_usual_bytes": 3750000, "model_side_px": MODEL_SIDE}


def test_pointer_of_an_app(desk):
    """Case S02: over text it is the bar that the app set, beside it the arrow; both at the place that is reported, and none if not wanted."""
    window = desk.windows()[0]

    def shape(x, y):
        """Where the pointer is drawn, relative to the place where it is said to be."""
        desk.do("move", x=x, y=y)
        result = desk.do("cursor_position")
        assert (result["x"], result["y"]) == (x, y)
        with_it, without = get(desk)[2], get(desk, cursor="false")[2]
        left, top, right, bottom = ImageChops.difference(with_it, without).getbbox()
        return left - x, top - y, right - x, bottom - y

    arrow = shape(1200, 700)
    bar = shape(window["x"] + window["width"] // 2, window["y"] + window["height"] // 2)
    assert arrow != bar
    # The arrow points from its hot spot; the bar has it inside.
    assert arrow[0] <= 0 < arrow[2] and arrow[1] <= 0 < arrow[3] and abs(arrow[0]) <= 1 and abs(arrow[1]) <= 1
    assert bar[0] < 0 < bar[2] and bar[1] < 0 < bar[3]
    assert shape(1200, 700) == arrow
    assert shape(1279, 799) == (arrow[0], arrow[1], 1, 1)
    assert shape(0, 0) == (max(arrow[0], 0), max(arrow[1], 0), arrow[2], arrow[3])


def test_tags(desk):
    """The tag is of all that shapes the bytes; what changes elsewhere leaves a part as it is."""
    asked = [{}, {"format": "png"}, {"format": "png", "compression": "small"}, {"format": "jpeg"}, {"format": "jpeg", "quality": 81},
             {"format": "jpeg", "quality": 81, "max_bytes": 5000}, {"format": "webp"}, {"format": "raw"}, {"max_bytes": 5000}, {"cursor": "false"},
             {"region": "0,0,100,100"}, {"space": "640x400"}]
    desk.do("move", x=600, y=500)
    tags = [get(desk, **fields)[0].headers["ETag"] for fields in asked]
    assert len(set(tags)) == len(tags)
    for fields, tag in zip(asked, tags):
        words = "&".join(f"{name}={value}" for name, value in fields.items())
        again = desk.agent.request("GET", f"{desk.path}/screenshot?{words}", headers={"If-None-Match": tag})
        assert (again.status, again.body) == (304, b"")
        other = asked[(asked.index(fields) + 1) % len(asked)]
        assert get(desk, headers={"If-None-Match": tag}, **other)[0].status == 200
    corner = get(desk, region="0,0,50,50")[0]
    desk.do("move", x=700, y=500)
    desk.do("move", x=720, y=500)
    assert get(desk)[0].headers["Glovebox-At"] != corner.headers["Glovebox-At"]
    kept = desk.agent.request("GET", f"{desk.path}/screenshot?region=0,0,50,50", headers={"If-None-Match": corner.headers["ETag"]})
    assert kept.status == 304


def show_noise(session, width, height):
    session.run("sh", "-c", "cat >x_window.pl", stdin=(HERE / "x_window.pl").read_text())
    session.run("perl", "x_window.pl", "1", env={"NOISE": f"{width}x{height}"})


def test_many_large_slow_pictures(make_session):
    """Those of an encoder that takes much time and memory are made one at a time, and the session is none the worse for the largest."""
    session = make_session("minimal", display={"width": 4096, "height": 4096})
    show_noise(session, 4096, 4096)
    asked = [in_thread(session.agent.request, "GET", f"{session.path}/screenshot?format=webp&space={4096 - n}x4096") for n in range(4)]
    for thread, _ in asked:
        thread.join()
    assert [(reply.status, reply.headers["Glovebox-Size"]) for _, (reply,) in asked] == [(200, f"{4096 - n}x4096") for n in range(4)]
    session.do("cursor_position")


@pytest.mark.parametrize("display, space", [((3840, 2160), (2000, 1125)), ((4096, 1080), (2000, 527)), ((2160, 3840), (1125, 2000))])
def test_large_noisy_screens(make_session, display, space):
    """Case S05: what a caller gets that asks for nothing special is a picture that every model takes, and says what became of it."""
    session = make_session("minimal", display={"width": display[0], "height": display[1]})
    show_noise(session, *display)
    assert len(get(session, format="png", space="native")[0].body) > 0.9 * 3 * display[0] * display[1]
    observation = session.act(observe=True)["observation"]
    for picture in (observation["picture"], session.do("screenshot")["picture"]):
        assert (picture["width"], picture["height"]) == space and max(space) <= MODEL_SIDE
        assert len(picture["data"]) <= MODEL_BASE64
        assert of_object(picture).size == space
        # Noise has as many bytes as pixels have.
        if 3 * space[0] * space[1] > MODEL_BASE64 * 3 // 4:
            assert picture["format"] == "jpeg" and picture["fallback"]["asked"] == {"format": "png", "width": space[0], "height": space[1]}
        else:
            assert picture["format"] == "png" and "fallback" not in picture
    assert observation["native"] == {"width": display[0], "height": display[1]}
    reply, form, _ = get(session)
    assert form == picture["format"] and len(reply.body) * 4 / 3 <= MODEL_BASE64
    assert ("Glovebox-Fallback" in reply.headers) == ("fallback" in picture)
    # Asked for, a larger one comes: all of it by GET, and within what an answer may have.
    assert get(session, format="raw", space="native")[2].size == display
    assert session.do("screenshot", format="jpeg", space="native")["picture"]["width"] == display[0]
    refused = session.try_act({"action": "screenshot", "format": "raw", "space": "native"}, observe={"format": "png", "space": "native"})
    assert refused["results"][0]["error"]["code"] == refused["observation"]["error"]["code"] == "too_large"


def test_zoom_is_native(make_session):
    """A region in the display's own pixels is cut out of them, not made larger from a small picture."""
    session = make_session("minimal", display={"width": 1920, "height": 1080}, space={"width": 960, "height": 540})
    show_noise(session, 1920, 1080)
    whole = get(session, format="png", space="native", cursor="false")[2]
    reply, _, zoom = get(session, format="png", space="native", cursor="false", region="100,50,200,100")
    assert ImageChops.difference(zoom, whole.crop((200, 100, 600, 300))).getbbox() is None
    assert reply.headers["Glovebox-Region"] == "100,50,200,100" and reply.headers["Glovebox-Size"] == "400x200"
