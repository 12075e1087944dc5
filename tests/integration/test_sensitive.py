# SPDX-License-Identifier: GPL-2.0-or-later
"""Sensitive by default: password fields of a browser, a toolkit and a terminal; pages that look like a login or a payment."""
import pytest

from api import Api, Refused
from conftest import until
from page import Page, open_page
from test_access import click, node, show_fields  # noqa: F401: a fixture
from test_approvals import answer, cards, counts, finish, parked

CANARY = "hush-canary-9"
PAGE = """<!doctype html><title>{title}</title>
<style>* {{ position: absolute; left: 150px; width: 200px; height: 40px; margin: 0 }} html, body {{ left: 0; width: 100%; height: 100% }}</style>
<input aria-label="User" style="top: 40px"><input id=p type="password" aria-label="Pass" style="top: 120px"
 oninput="document.title = 'held ' + this.value.length"><button style="top: 200px" onclick="document.title = 'paid'">Go</button>
"""
USER, PASS, BUTTON = ({"x": 250, "y": 165 + 80 * row} for row in range(3))


def focus(session):
    return Api(session.api.url, session.tokens["agent"]).call("GET", session.path)["focus"]


def page(make_session, title, **spec):
    session = make_session("desktop", **spec)
    session.run("sh", "-c", "cat >page.html", stdin=PAGE.format(title=title))
    open_page(session, "page.html", title)
    node(session, "password text", "Pass")
    return session


def refused(session, *actions, **options):
    with pytest.raises(Refused) as caught:
        pytest.fail(f"went through: {actions}: {session.try_act(*actions, **options)}, {focus(session)}")
    return caught.value


def titles(session):
    return [window["title"] for window in session.windows()]


def test_password_field_of_a_browser(make_session):
    """Text, single keys and pasting are refused, in one list with the click and alone; what moves on is not."""
    session = page(make_session, "a plain page")
    session.act({"action": "click", **USER}, {"action": "type", "text": "ada"}, {"action": "key", "keys": "ctrl+a"}, {"action": "key", "keys": "ctrl+c"})
    session.do("click", **PASS)
    until(lambda: focus(session).get("password"))
    for action in ({"action": "type", "text": CANARY}, {"action": "key", "keys": "x"}, {"action": "key", "keys": "ctrl+v"}, {"action": "key", "keys": "shift+Insert"},
                   {"action": "key_down", "keys": "x"}, {"action": "hold_key", "keys": "x", "duration_ms": 50}):
        error = refused(session, action)
        assert (error.status, error.code, error.problem["fix"]) == (409, "sensitive_field", "human"), action
        assert "type_secret" in error.problem["detail"] and "request_human" in error.problem["detail"] and CANARY not in error.problem["detail"]
    session.act({"action": "key", "keys": "Tab"}, {"action": "key", "keys": "shift+Tab"}, {"action": "key", "keys": "ctrl+a"})
    reply = session.try_act({"action": "click", **USER}, {"action": "click", **PASS}, {"action": "type", "text": CANARY})
    assert (reply["ok"], reply["done"], reply["results"][2]["error"]["code"]) == (False, 2, "sensitive_field")
    assert "a plain page" in titles(session)[0]
    assert cards(session) == []
    # What a mode that asks nobody does.
    session.end()
    free = page(make_session, "a plain page", approval={"mode": "never"})
    free.act({"action": "click", **PASS}, {"action": "type", "text": CANARY})
    until(lambda: f"held {len(CANARY)}" in titles(free)[0])


def test_password_field_behind_a_tab(make_session):
    """Name, Tab and password in one text: what is behind the Tab is refused, and the result says what was typed."""
    session = page(make_session, "a plain page")
    session.do("click", **USER)
    until(lambda: focus(session).get("role") == "entry")
    reply = session.try_act({"action": "type", "text": f"ada\t{CANARY}"})
    assert not reply["ok"] and reply["results"][0]["error"]["code"] == "sensitive_field" and reply["results"][0]["delivered"] == 4
    assert "held" not in titles(session)[0]


def test_pasting_by_the_middle_button(make_session):
    session = page(make_session, "a plain page")
    session.do("clipboard_set", text=CANARY, selection="primary")

    def try_it():
        error = refused(session, {"action": "click", **PASS, "button": "middle"})
        return error.code == "sensitive_field"
    assert try_it()
    assert "held" not in titles(session)[0]


def test_setting_a_password_field(make_session):
    session = page(make_session, "a plain page")
    field = node(session, "password text", "Pass")
    reply = session.try_act({"action": "set_node", "node": field["id"], "value": CANARY})
    error = reply["results"][0]["error"]
    assert (error["code"], error["fix"]) == ("sensitive_field", "human") and "password field" in error["detail"]


@pytest.mark.parametrize("image, app, kind", [("minimal", "editor", "3"), ("toolkits", "gtk4", "4p"), ("toolkits", "qt", "qt")])
def test_password_field_of_a_toolkit(show_fields, image, app, kind):  # noqa: F811
    session, (plain, _) = show_fields(image, app, kind, "sensitive")
    until(lambda: focus(session).get("password"))
    assert refused(session, {"action": "type", "text": CANARY}).code == "sensitive_field"
    click(session, plain)
    until(lambda: not focus(session).get("password"))
    session.do("type", text="ada")


def test_an_app_that_does_not_answer(show_fields):  # noqa: F811
    """What has the focus is not known, and may be a password field: nothing is written until that is known again. (Nobody is asked in such a session.)"""
    session, (plain, _) = show_fields("minimal", "editor", "3", "sensitive")
    until(lambda: focus(session).get("password"))
    session.run("pkill", "-STOP", "mousepad")
    for action in ({"action": "type", "text": CANARY}, {"action": "key", "keys": "ctrl+v"}):
        error = refused(session, action)
        assert error.code == "sensitive_field" and "not said in time" in error.problem["detail"], error.problem
    assert session.exec("pkill", "-CONT", "mousepad")["exit_code"] == 0
    until(lambda: focus(session).get("password"))
    assert "a password field" in refused(session, {"action": "type", "text": CANARY}).problem["detail"]
    click(session, plain)
    until(lambda: focus(session)["known"] and not focus(session).get("password"))
    session.do("type", text="ada")
    assert "ada" in str(session.do("tree"))


def pasting(place):
    return {"action": "type", "text": CANARY}, {"action": "click", "button": "middle", "x": place["x"] + 20, "y": place["y"] + 10}


def test_who_ends_what_tells_of_fields(show_fields):  # noqa: F811
    """Without accessibility, which the session had, any field may be one for passwords."""
    session, (_, hidden) = show_fields("minimal", "editor", "3", "sensitive")
    until(lambda: focus(session).get("password"))
    session.do("clipboard_set", text=CANARY, selection="primary")
    session.exec("sh", "-c", "pkill -KILL dbus-daemon; pkill -KILL glovebox-acces")
    until(lambda: not focus(session)["known"])
    for action in pasting(hidden):
        assert refused(session, action).code == "sensitive_field", action


def test_a_helper_that_comes_back_knows_nothing_of_older_apps(show_fields):  # noqa: F811
    """They are not on its bus, and their fields may be any."""
    session, (_, hidden) = show_fields("minimal", "editor", "3", "sensitive")
    until(lambda: focus(session).get("password"))
    session.do("clipboard_set", text=CANARY, selection="primary")
    helper = session.run("pgrep", "glovebox-acces")
    session.exec("pkill", "-KILL", "glovebox-acces")
    until(lambda: session.exec("pgrep", "glovebox-acces")["stdout"] not in ("", helper))
    until(lambda: session.try_act({"action": "tree"})["results"][0]["error"]["code"] != "unsupported")
    for action in pasting(hidden):
        assert refused(session, action).code == "sensitive_field", action


def test_a_click_that_is_seen_late(show_fields):  # noqa: F811
    """Which field was clicked is told after the press, by an app that was busy: what is typed next is held against that field."""
    session, (plain, hidden) = show_fields("minimal", "editor", "3", "sensitive")
    click(session, plain)
    until(lambda: focus(session)["known"] and not focus(session).get("password"))
    session.run("pkill", "-STOP", "mousepad")
    session.run("sh", "-c", "(sleep 1.2; pkill -CONT mousepad) >/dev/null 2>&1 &")
    click(session, hidden)
    assert refused(session, {"action": "type", "text": CANARY}).code == "sensitive_field"


def test_question_of_a_terminal(make_session):
    session = make_session("minimal", apps=["terminal"])
    session.do("type", text="read -s P; stty sane; echo got\n")
    until(lambda: focus(session).get("password"))
    assert refused(session, {"action": "type", "text": f"{CANARY}\n"}).code == "sensitive_field"
    session.do("key", keys="Return")
    until(lambda: focus(session)["known"] and not focus(session)["password"])
    session.do("type", text="echo shown\n")
    assert cards(session) == []


def test_login_page(make_session):
    """What is written there is asked about; clicks are not."""
    session = page(make_session, "Sign in to the shop")
    session.do("click", **USER)
    until(lambda: focus(session).get("role") == "entry")
    thread, results, asked = parked(session, {"action": "type", "text": "ada"})
    assert (asked["rule"], asked["app"]) == ("login", "firefox") and asked["window"]["title"].startswith("Sign in to the shop")
    assert asked["url"].endswith("page.html") and asked["target"] and asked["crop"]
    assert asked["session_words"] and "firefox" in asked["session_words"]
    answer(session, asked, "session")
    assert finish(thread, results)["ok"]
    session.do("type", text=" lovelace")
    assert counts(session)["asked"] == 1
    # The password field is refused all the same.
    session.do("click", **PASS)
    until(lambda: focus(session).get("password"))
    assert refused(session, {"action": "type", "text": CANARY}).code == "sensitive_field"


def test_payment_page(make_session):
    session = page(make_session, "Checkout")
    thread, results, asked = parked(session, {"action": "click", **BUTTON})
    assert asked["rule"] == "payment"
    answer(session, asked, "deny", reason="too dear")
    error = finish(thread, results)
    assert error.code == "denied" and "too dear" in error.problem["detail"]
    assert "paid" not in titles(session)[0]
    session.do("scroll", **BUTTON, dy=1)


def test_ordinary_work_asks_nobody(make_session):
    """An editor whose file is called login, a terminal, a page: nothing is asked in the mode that is the default."""
    session = make_session("desktop", apps=["editor", "terminal"])
    session.do("type", text="cd /tmp && ls; echo login; git status\n")
    session.run("sh", "-c", "echo $HOME; for i in 1 2; do echo $i; done")
    session.do("clipboard_set", text="x")
    session.do("key", keys="ctrl+shift+v")
    told = counts(session)
    assert (told["asked"], told["waiting"]) == (0, 0)


def test_the_state_tells_the_origin(make_session):
    """Of the page that has the keys, for whoever watches."""
    session = make_session("desktop")
    Page(session).session.do("wait_settled")
    until(lambda: focus(session).get("origin") == "http://127.0.0.1:8000")


def test_consent_page(make_session):
    """Giving somebody access to an account is asked about when it is pressed, not when it is looked at or written."""
    session = page(make_session, "Anna wants to read your mail", approval={"mode": "sensitive"})
    session.run("sh", "-c", "mkdir -p oauth && sed 's/Anna wants to read your mail/Anna asks/' page.html >oauth/authorize")
    session.act({"action": "key", "keys": "ctrl+l"}, {"action": "type", "text": "file:///home/user/oauth/authorize?client=anna\n"})
    until(lambda: titles(session)[0].startswith("Anna asks"))
    session.do("wait_settled", quiet_ms=300)
    until(lambda: (focus(session).get("role") or "").startswith("document"))
    thread, results, asked = parked(session, {"action": "click", **BUTTON})
    assert (asked["rule"], asked["app"]) == ("consent", "firefox") and "access to an account" in asked["why"]
    assert "/oauth/authorize?" in asked["url"]
    answer(session, asked, "deny", reason="not this one")
    error = finish(thread, results)
    assert error.code == "denied" and "not this one" in error.problem["detail"]
