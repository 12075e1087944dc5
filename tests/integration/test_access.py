# SPDX-License-Identifier: GPL-2.0-or-later
"""What apps say of themselves: trees, what is done to nodes, which field has the focus; and apps that hang, lie or die (W12 and its kind)."""
import base64
import contextlib
import gzip
import json
import pathlib

import pytest

from api import Refused
from conftest import BUILD, until

PAGE = """<!doctype html><title>Form page</title><label>User <input id=u value=ada></label>
<label>Password <input id=p type=password value=hunter2></label><input type=checkbox id=c><label for=c>Remember</label>
<select aria-label=Size><option>One<option>Two</select><input type=range min=0 max=10 value=3 aria-label=Volume>
<button onclick="document.title='pressed'">Go</button><p>Hello <a href="#x">a link</a> world</p>
<textarea aria-label=Notes>some notes</textarea><div style="height:3000px"></div><p>far below</p>"""


def ask_tree(session, space="native", **fields):
    return session.try_act({"action": "tree", **fields}, space=space)["results"][0]


def tree(session, **fields):
    """Of an app that answers: on a busy machine one may be silent for a while."""
    return until(lambda: (told := ask_tree(session, **fields)) and not told.get("hung") and told)


def nodes(session, role=None, name=None, **fields):
    """Nodes of the active window with this role and name; none while it has no tree."""
    told = tree(session, **fields).get("nodes", [])
    return [node for node in told if role in (None, node["role"]) and name in (None, node.get("name"))]


def node(session, role, name=None, **fields):
    return until(lambda: nodes(session, role, name, **fields))[0]


def focus(session):
    return session.api.call("GET", session.path)["focus"]


def centre(node):
    return node["x"] + node["width"] // 2, node["y"] + node["height"] // 2


def click(session, node):
    x, y = centre(node)
    return session.act({"action": "click", "x": x, "y": y})["results"][0]


def failure(session, action, **fields):
    answer = session.try_act({"action": action, **fields})
    assert not answer["ok"], answer
    return answer["results"][0]["error"]


def open_page(session, app="firefox", page=PAGE):
    session.exec("sh", "-c", "cat >/home/user/form.html", stdin=page)
    session.act({"action": "launch", "app": app, "args": ["/home/user/form.html"]})
    node(session, "entry", "User")


@pytest.fixture(scope="module")
def firefox(server):
    session = server.api.new(image="desktop")
    open_page(session)
    yield session
    session.end()


def below(pid):
    """(name, environment) of all processes that descend from one, as root sees them."""
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            folder = pathlib.Path(f"/proc/{child}")
            yield (folder / "comm").read_text().strip(), (folder / "environ").read_bytes()
            yield from below(child)


def test_no_x_connection(server, make_session):
    """The registry, the launcher and the helper have no way to the display, and apps find the bus that was started for them."""
    session = make_session("minimal")
    session.act({"action": "launch", "app": "editor"})
    node(session, "frame")
    found = set()
    for name, environment in below(server.process.pid):
        if name in ("glovebox-access", "at-spi-bus-laun", "at-spi2-registr"):
            found.add(name)
            assert b"DISPLAY=" not in environment and b"XAUTHORITY=" not in environment, name
    assert len(found) == 3, found


def test_tree_of_a_page(firefox):
    told = tree(firefox)
    by_role = {(each["role"], each.get("name")): each for each in told["nodes"]}
    assert (told["truncated"], told["hung"]) == (False, [])
    assert by_role["entry", "User"]["value"] == "ada"
    assert "editable" in by_role["entry", "User"]["states"]
    assert by_role["slider", "Volume"]["value"] == "3"
    assert by_role["link", "a link"]["width"] > 0
    assert "off_screen" in next(each for each in told["nodes"] if each.get("value") == "far below")["states"]
    password = by_role["password text", "Password"]
    assert "value" not in password and "password" in password["states"]
    assert "hunter2" not in str(told)
    depths = [each["depth"] for each in told["nodes"]]
    assert depths[0] == 0 and all(after <= before + 1 for before, after in zip(depths, depths[1:]))


def test_places_are_where_clicks_hit(firefox):
    """In the session's space and in another one."""
    for space in ({"width": 1280, "height": 800}, {"width": 640, "height": 400}):
        told = tree(firefox, space=space)["nodes"]
        notes = next(each for each in told if each.get("name") == "Notes")
        x, y = centre(notes)
        firefox.act({"action": "click", "x": x, "y": y}, space=space)
        until(lambda: focus(firefox).get("editable") and focus(firefox)["role"] == "entry")
        firefox.act({"action": "key", "keys": "Escape"})


def test_limits_of_a_tree(firefox):
    few = tree(firefox, max_nodes=5)
    assert (len(few["nodes"]), few["truncated"]) == (5, True)
    flat = tree(firefox, max_depth=1)
    assert {each["depth"] for each in flat["nodes"]} <= {0, 1} and flat["truncated"]
    assert len(tree(firefox, all=True)["nodes"]) > len(tree(firefox)["nodes"])


def test_press_and_set(firefox):
    assert firefox.act({"action": "set_node", "node": node(firefox, "slider", "Volume")["id"], "value": "7"})["results"][0]["value"] == "7"
    firefox.act({"action": "press_node", "node": node(firefox, "push button", "Go")["id"]})
    until(lambda: nodes(firefox, "document web", "pressed"))


@pytest.mark.parametrize("image, app, role", [
    ("minimal", "editor", "text"), ("desktop", "viewer", "spin button"), ("toolkits", "gtk4", "text"), ("toolkits", "qt", "text"),
    ("office", "office-writer", "document text"), ("office", "office-calc", "document spreadsheet"),
])
def test_every_toolkit(make_session, image, app, role):
    """A tree with places, and a click there meets the node. A sheet, with its 2^31 cells, is no different."""
    session = make_session(image)
    session.do("launch", app=app)
    wanted = until(lambda: [each for each in nodes(session, role) if each.get("width")])[0]
    told = tree(session)
    assert len(told["nodes"]) > 10, told
    x, y = centre(wanted)
    met = until(lambda: session.do("click", x=x, y=y)["node"])
    if app != "office-calc":
        assert (met["role"], met.get("bounds")) == (role, {name: wanted[name] for name in ("x", "y", "width", "height")}) or role != "text"
    assert met["role"] != "frame"


def test_chromium(make_session):
    """Its first focus event may be missing; a password field is known all the same."""
    session = make_session("desktop")
    open_page(session, "chromium")
    password = node(session, "password text", "Password")
    assert "value" not in password
    until(lambda: (click(session, password)["node"] or {}).get("role") == "password text")
    until(lambda: focus(session).get("password"))
    assert "hunter2" not in str(tree(session, all=True))


def test_set_text(make_session):
    session = make_session("minimal", apps=["editor"])
    text = node(session, "text")["id"]
    for value in ("Grace ✓\nsecond line", "", "x" * 16000):
        told = session.do("set_node", node=text, value=value)
        assert (told["node"], told.get("value", "")) == (text, value[:2000])
        assert told.get("value_cut", False) == (len(value) > 2000)
    with pytest.raises(Refused):
        session.do("set_node", node=text, value="x" * 16385)


def test_menus_and_tool_bars(make_session, firefox):
    """Names are as one reads them (GTK ends those of menu items with blanks), and what cannot be pressed now says so; what can, says by what."""
    session = make_session("minimal", apps=["editor"])
    session.do("press_node", node=node(session, "menu", "File")["id"])
    told = until(lambda: (now := {each.get("name", "").strip(): each for each in nodes(session, "menu item")}).keys() >= {"Save As...", "Detach Tab"} and now)
    assert not [each for each in told.values() if each["name"] != each["name"].strip()]
    assert ("actions" in told["Save As..."], "disabled" in told["Save As..."].get("states", [])) == (True, False)
    assert ("actions" in told["Detach Tab"], "disabled" in told["Detach Tab"].get("states", [])) == (False, True)
    assert node(firefox, "push button", "Reload")["actions"] == ["default"]


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_set_text_of_a_page(make_session, browser):
    """Browsers set no texts: the field gets the focus and the keys, if it is sure to have them."""
    session = make_session("desktop")
    open_page(session, browser)
    user, notes, password = node(session, "entry", "User"), node(session, "entry", "Notes"), node(session, "password text", "Password")
    for field, value in ((user, "Grace ✓"), (user, ""), (notes, "one\ntwo"), (user, "Bob"), (notes, "y" * 300)):
        told = session.do("set_node", node=field["id"], value=value)
        assert (told["node"], told["by"], told.get("value", "")) == (field["id"], "typing", value)
    for field, value in ((user, "a\nb"), (user, "a\tb"), (notes, "a\tb")):
        error = failure(session, "set_node", node=field["id"], value=value)
        assert (error["code"], error["pointer"]) == ("conflict", "/actions/0/value")
    assert "password field" in failure(session, "set_node", node=password["id"], value="x")["detail"]
    assert node(session, "entry", "User")["value"] == "Bob"
    session.act({"action": "launch", "app": "editor"})
    text = node(session, "text")["id"]
    editor = next(each for each in session.windows() if each["class"] == "Mousepad")["id"]
    answer = session.try_act({"action": "set_node", "node": user["id"], "value": "elsewhere"})["results"][0]
    if browser == "firefox":
        assert "does not get the focus" in answer["error"]["detail"]
    else:  # it raises its window by itself
        assert answer["value"] == "elsewhere"
    assert node(session, "text", window=editor)["id"] == text and "elsewhere" not in str(tree(session, window=editor))


@pytest.fixture
def show_fields(make_session):
    """Shows two fields of a toolkit, the second of which hides what is typed and has the focus: (session, the fields as its tree tells them)."""
    def show(image, app, kind, mode="never"):
        session = make_session(image, env={"LD_PRELOAD": "/home/user/fields.so", "FIELDS": kind}, approval={"mode": mode})
        library = base64.b64encode(gzip.compress((BUILD / "fixtures/fields.so").read_bytes())).decode()
        session.run("sh", "-c", "base64 -d | gunzip >/home/user/fields.so", stdin=library)
        session.do("launch", app=app)
        if kind == "qt":  # its own window has that title, too, at first
            session.do("wait_window", title="Untitled")
            session.do("focus_window", window=session.do("wait_window", title="FeatherPad")["window"])
        fields = until(lambda: len(found := [each for each in tree(session).get("nodes", []) if "editable" in each.get("states", [])]) == 2 and found)
        return session, sorted(fields, key=lambda each: each["y"])
    return show


@pytest.mark.parametrize("image, app, kind", [("minimal", "editor", "3"), ("toolkits", "gtk4", "4p"), ("toolkits", "qt", "qt")])
def test_password_field_of_a_toolkit(show_fields, image, app, kind):
    session, (plain, hidden) = show_fields(image, app, kind)
    assert hidden["role"] == "password text" and "password" in hidden["states"], hidden
    until(lambda: focus(session).get("password"))
    session.act({"action": "type", "text": "hunter2"})
    assert "hunter2" not in str(tree(session, all=True))
    assert "password field" in failure(session, "set_node", node=hidden["id"], value="x")["detail"]
    assert session.do("set_node", node=plain["id"], value="Ada")["by"] == "accessibility"
    assert "hunter2" not in str(session.try_act({"action": "press_node", "node": hidden["id"]}))
    click(session, plain)
    until(lambda: focus(session).get("password") is False or (kind == "4p" and not focus(session)["known"]))


def test_a_field_of_gtk4_that_may_hide(show_fields):
    """A GtkEntry that hides what is typed tells it, and cannot be made out: of fields of one line there no text is told, and nothing is known of the focus."""
    session, (plain, hidden) = show_fields("toolkits", "gtk4", "4")
    session.act({"action": "type", "text": "hunter2"})
    assert "hunter2" not in str(tree(session, all=True))
    told = session.do("set_node", node=plain["id"], value="Ada")
    assert told["by"] == "accessibility" and "value" not in told
    for field in (plain, hidden):
        click(session, field)
        until(lambda: "focused" in next(each for each in tree(session)["nodes"] if each["id"] == field["id"])["states"])  # noqa: B023
        assert focus(session) == {"known": False}


def open_menu(session, kind):
    """Opens one, and returns the name of an item that does no harm."""
    if kind == "menu bar":
        click(session, node(session, "menu", "File"))
        return "Save As"
    if kind == "qt":
        click(session, node(session, "menu item", "File"))
        return "New"
    if kind == "drop-down":
        click(session, until(lambda: [each for each in nodes(session, "combo box", "Size") if "width" in each])[0])
        return "Two"
    x, y = centre(node(session, "text") if kind == "text" else node(session, "link", "a link"))
    session.do("click", x=x, y=y, button="right")
    return {"text": "Select All", "firefox": "Copy Link", "chromium": "Copy link address"}[kind]


@pytest.mark.parametrize("image, app, kind", [
    ("minimal", "editor", "menu bar"), ("minimal", "editor", "text"), ("toolkits", "qt", "qt"), ("desktop", "firefox", "drop-down"),
    ("desktop", "firefox", "firefox"), ("desktop", "chromium", "drop-down"), ("desktop", "chromium", "chromium"),
])
def test_menus(make_session, image, app, kind):
    """An open menu is in the tree of its window, where it is on the screen, and met there."""
    session = make_session(image)
    if image == "desktop":
        open_page(session, app)
    else:
        session.do("launch", app=app)
    name = open_menu(session, kind)
    item = until(lambda: [each for each in nodes(session, "menu item") if each.get("name", "").startswith(name) and "width" in each])[0]
    x, y = centre(item)
    popup = until(lambda: session.do("windows")["popups"])[0]
    assert popup["x"] <= x < popup["x"] + popup["width"] and popup["y"] <= y < popup["y"] + popup["height"]
    met = session.do("click", x=x, y=y)
    assert met["node"]["name"].startswith(name) if met["node"] else met["node_reason"] == "late", met
    until(lambda: not session.do("windows")["popups"])


def test_each_place_is_hit(make_session):
    """A click at the centre of a node is a click on it."""
    session = make_session("desktop")
    open_page(session)

    def state(role, name):
        return next(each for each in tree(session)["nodes"] if (each["role"], each.get("name")) == (role, name))

    click(session, state("check box", "Remember"))
    until(lambda: "checked" in state("check box", "Remember").get("states", []))
    click(session, state("slider", "Volume"))
    until(lambda: state("slider", "Volume").get("value") == "5")
    for role, name in (("entry", "User"), ("entry", "Notes"), ("password text", "Password")):
        click(session, state(role, name))
        until(lambda: focus(session).get("role") == role and "focused" in state(role, name).get("states", []))  # noqa: B023
    click(session, state("push button", "Go"))
    until(lambda: nodes(session, "document web", "pressed"))


def test_what_is_refused(firefox):
    password = node(firefox, "password text", "Password")["id"]
    assert "password field" in failure(firefox, "set_node", node=password, value="x")["detail"]
    text = next(each for each in tree(firefox)["nodes"] if each["role"] == "paragraph")["id"]
    assert failure(firefox, "press_node", node=text)["code"] == "conflict"
    unknown = failure(firefox, "press_node", node=4294967295)
    assert (unknown["code"], unknown["pointer"]) == ("not_found", "/actions/0/node")
    button = node(firefox, "push button", "Go")["id"]
    assert "it has: default" in failure(firefox, "press_node", node=button, name="explode")["detail"]
    missing = failure(firefox, "tree", window=4294967295)
    assert (missing["code"], missing["pointer"]) == ("no_window", "/actions/0/window")
    for fields in ({"max_nodes": 0}, {"max_nodes": 5001}, {"timeout_ms": 0}, {"window": "x"}):
        with pytest.raises(Refused):
            firefox.act({"action": "tree", **fields})


def test_focus_of_fields(firefox):
    for role, name, password in (("password text", "Password", True), ("entry", "User", False), ("entry", "Notes", False)):
        field = node(firefox, role, name)
        until(lambda: (click(firefox, field)["node"] or {}).get("role") == role)  # noqa: B023
        told = until(lambda: (now := focus(firefox)).get("role") == role and now)  # noqa: B023
        assert (told["known"], told["password"], told["editable"]) == (True, password, True)


def test_a_gone_node_is_no_other(firefox):
    """A node whose page has gone is 404, also when others are where it was."""
    button = node(firefox, "push button", "Go")["id"]
    firefox.exec("sh", "-c", "cat >/home/user/other.html", stdin="<title>Other</title><button>Stop</button>")
    firefox.act({"action": "key", "keys": "ctrl+l"}, {"action": "type", "text": "file:///home/user/other.html\n"})
    node(firefox, "push button", "Stop")
    assert until(lambda: failure(firefox, "press_node", node=button)["code"] == "not_found")
    assert nodes(firefox, "document web", "Other")


def test_an_app_that_hangs_costs_its_silence_once(make_session):
    session = make_session("desktop")
    session.act({"action": "launch", "app": "editor"})
    node(session, "text")
    session.exec("pkill", "-STOP", "mousepad")
    first, second = ask_tree(session), ask_tree(session)
    assert first["hung"] and second["hung"], (first, second)
    assert second["took_ms"] < first["took_ms"] / 2, (first, second)
    assert session.exec("pkill", "-CONT", "mousepad")["exit_code"] == 0
    assert node(session, "text")


@pytest.fixture(scope="module")
def lies(server):
    """A session with the program of tests/access in it, and an honest editor."""
    session = server.api.new(image="minimal", apps=["editor"])
    program = base64.b64encode(gzip.compress((BUILD / "fixtures/liar").read_bytes())).decode()
    session.run("sh", "-c", "base64 -d | gunzip >/home/user/liar && chmod +x /home/user/liar", stdin=program)
    yield session
    session.end()


@pytest.mark.parametrize("kind, most_nodes", [
    ("endless", 500), ("cycle", 1), ("silent", 0), ("huge", 500), ("message", 0), ("wrong", 1), ("vanish", 1), ("flood", 500), ("forge", 1),
])
def test_an_app_that_lies(lies, kind, most_nodes):
    """Whatever it says, a tree ends in its time and bounds, and the editor has its tree and focus afterwards."""
    lies.exec("sh", "-c", f"/home/user/liar {kind} >/dev/null 2>&1 &")
    window = lies.do("wait_window", **{"class": "Liar"})["window"]
    try:
        answer = lies.try_act({"action": "tree", "window": window, "timeout_ms": 2500}, {"action": "click", "x": 200, "y": 200})
        told = answer["results"][0]
        assert len(told.get("nodes", [])) <= most_nodes and len(json.dumps(told)) < 4 << 20, told
        if kind in ("endless", "huge"):
            assert told.get("truncated"), (len(told.get("nodes", [])), {**told, "nodes": told.get("nodes", [])[:2]})
        if kind == "forge":  # its window is its own all the same
            assert told["ok"], told
        if kind == "silent":
            assert told["hung"]
        for each in told.get("nodes", []):
            assert -1000000 <= each.get("x", 0) <= 1000000 and len(each.get("name", "")) <= 512
            lies.try_act({"action": "press_node", "node": each["id"]}, {"action": "set_node", "node": each["id"], "value": "x"}, timeout_ms=5000)
            break
    finally:
        lies.run("pkill", "-KILL", "liar")
    editor = until(lambda: [each for each in lies.windows() if each["class"] == "Mousepad"])[0]["id"]
    until(lambda: not [each for each in lies.windows() if each["class"] == "Liar"])
    lies.do("focus_window", window=editor)
    until(lambda: nodes(lies, "text", window=editor))
    until(lambda: focus(lies).get("role") == "text")


def test_the_helper_comes_back(make_session):
    session = make_session("minimal")
    session.act({"action": "launch", "app": "editor"})
    old = node(session, "text")["id"]
    helper = session.run("pgrep", "glovebox-access")
    session.run("pkill", "-KILL", "glovebox-access")
    until(lambda: session.exec("pgrep", "glovebox-access")["stdout"] not in ("", helper))
    until(lambda: failure(session, "tree")["code"] != "unsupported")  # what is launched before that is not on its bus
    session.act({"action": "launch", "app": "editor"})
    assert node(session, "text")["id"] > old
    assert failure(session, "press_node", node=old)["code"] == "not_found"
    until(lambda: focus(session)["known"])


def test_terminals_that_ask_for_a_password(make_session):
    """Echo off and line by line is a password prompt; a shell's own line is not, and windows without any of it are not known to be none."""
    session = make_session("minimal", apps=["terminal"], approval={"mode": "never"})
    until(lambda: focus(session).get("terminal") and not focus(session)["password"])
    session.act({"action": "type", "text": "read -s secret\n"})
    until(lambda: focus(session)["password"])
    session.act({"action": "type", "text": "hunter2\n"})
    until(lambda: focus(session)["known"] and not focus(session)["password"])
    assert failure(session, "tree")["code"] == "not_found"


def test_nobody_is_asked_about_a_terminal_again(make_session):
    """It is not on the bus: that is known until somebody comes to it."""
    session = make_session("minimal")
    session.do("launch", app="terminal")
    registry = session.run("pgrep", "-f", "at-spi2-registryd").split()[0]
    shown = session.windows()[0]
    place = {"x": shown["x"] + shown["width"] // 2, "y": shown["y"] + shown["height"] // 2}

    def woken():
        lines = session.run("cat", f"/proc/{registry}/status").splitlines()
        return next(line for line in lines if line.startswith("voluntary_ctxt_switches"))

    def is_known():
        before = woken()
        result = session.do("click", **place)
        assert (result["node"], result["node_reason"]) == (None, "none"), result
        return woken() == before

    until(is_known)
    session.run("touch", "new.txt")
    session.do("launch", app="editor", args=["new.txt"])
    shown = session.windows()[0]
    until(lambda: session.do("click", x=shown["x"] + shown["width"] // 2, y=shown["y"] + shown["height"] // 2).get("node"))


def test_switched_off(make_session):
    session = make_session("minimal", accessibility=False, apps=["editor"])
    assert session.exec("pgrep", "-f", "at-spi|glovebox-access")["stdout"] == ""
    error = failure(session, "tree")
    assert (error["code"], error["detail"]) == ("unsupported", "accessibility is off in this session, or its image has no session bus")
    assert focus(session) == {"known": False}
