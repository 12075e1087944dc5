// SPDX-License-Identifier: GPL-2.0-or-later
// What a person does at the console, each under its name: node console.mjs NAME '{"url": …}'. test_console.py runs them.
import assert from "node:assert/strict";
import {api, given, run, until} from "./browser.mjs";

const text = (page, selector) => page.locator(selector).innerText();

// --- coming in

async function code(visit) {
  const one = await visit();
  await one.page.goto(given.link);
  await one.page.getByRole("link", {name: /^Open session/}).waitFor();
  assert.equal(new URL(one.page.url()).hash, "");
  assert.match(await one.page.evaluate(() => sessionStorage.getItem("glovebox.token")), /^gbo_/);
  assert.equal(await one.page.evaluate(() => localStorage.length + document.cookie.length), 0);
  await one.page.reload();
  await one.page.getByRole("link", {name: /^Open session/}).waitFor();
  await one.page.getByRole("button", {name: "Log out"}).click();
  await one.page.getByRole("heading", {name: "Come in"}).waitFor();
  assert.equal(await one.page.evaluate(() => sessionStorage.length), 0);
  await one.end();

  const two = await visit({refusals: [401]});
  await two.page.goto(given.link);
  await two.page.getByRole("alert").filter({hasText: "request "}).waitFor();
  assert.equal(new URL(two.page.url()).hash, "");
  await two.page.getByLabel("Code or token").fill("gbo_wrong");
  await two.page.getByRole("button", {name: "Enter"}).click();
  await two.page.getByRole("alert").filter({hasText: "request "}).waitFor();
  await two.end();
}

// --- the wall

// Is there more than one colour in the picture?
const isDrawn = (image) => image.evaluate((node) => {
  const canvas = document.createElement("canvas");
  canvas.width = node.naturalWidth;
  canvas.height = node.naturalHeight;
  if (!canvas.width) {
    return false;
  }
  const context = canvas.getContext("2d");
  context.drawImage(node, 0, 0);
  return new Set(new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size > 20;
});

async function wall(visit) {
  const one = await visit({refusals: [409, 410, 503]}), {page} = one; // a picture of a session that ends
  await one.enter(given.operator);
  const cards = page.locator(".card");
  await until(async () => (await cards.count()) >= given.sessions.length);
  for (const session of given.sessions) {
    const card = cards.filter({hasText: session});
    await until(() => isDrawn(card.locator("img")));
    assert.match(await card.innerText(), /The agent has the controls/);
  }
  await page.screenshot({path: `${given.folder}/wall.png`});
  // A session that ends goes to those that have.
  await api(given.operator, "DELETE", `/v1/sessions/${given.sessions[0]}`);
  await page.getByText("1 session has ended").waitFor();
  // By the keyboard: the first card is behind the brand and the way out.
  await page.keyboard.press("Tab");
  await until(async () => { await page.keyboard.press("Tab"); return page.evaluate(() => document.activeElement.className === "cover"); });
  await page.keyboard.press("Enter");
  await page.waitForURL(/#session=s/);
  await one.seesScreen(); // a browser warns of a connection that is left before it is there
  await page.getByRole("link", {name: "All sessions"}).click();
  await cards.first().waitFor();
  await one.end();
}

// A tab that nobody sees asks for no picture: an hour of it passes at once.
async function hidden(visit) {
  const one = await visit(), {page} = one;
  await page.clock.install();
  await one.enter(given.operator);
  await until(async () => { await page.clock.runFor(500); return isDrawn(page.locator(".card img").first()); });
  const asked = {thumbnail: 0, sessions: 0};
  page.on("request", (request) => { asked[new URL(request.url()).pathname.split("/").at(-1)] += 1; });
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", {get: () => window.away, configurable: true});
    window.away = true;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await page.clock.runFor(5000); // what was under way
  asked.thumbnail = asked.sessions = 0;
  await until(async () => { await page.clock.runFor(20000); return asked.sessions >= 4; });
  assert.equal(asked.thumbnail, 0);
  await page.evaluate(() => { window.away = false; document.dispatchEvent(new Event("visibilitychange")); });
  await until(async () => { await page.clock.runFor(500); return asked.thumbnail > 0; });
  await one.end();
}

// --- one session

const path = `/v1/sessions/${given.session}`;
const agent = (method, part, body) => api(given.agent, method, `${path}${part}`, body);
const act = (actions, more = {}) => agent("POST", "/act", {actions, ...more});

// How far the live picture is from what the server says is on the screen: the mean difference of a colour.
const distance = (page) => page.evaluate(async ({url, token}) => {
  const reply = await fetch(url, {headers: {Authorization: `Bearer ${token}`}});
  const bitmap = await createImageBitmap(await reply.blob());
  const live = document.querySelector(".screen canvas");
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d", {willReadFrequently: true});
  const [one, two] = [bitmap, live].map((source) => {
    context.drawImage(source, 0, 0);
    return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
  });
  if (live.width !== bitmap.width || live.height !== bitmap.height) {
    return Infinity;
  }
  return one.reduce((sum, value, i) => sum + Math.abs(value - two[i]), 0) / one.length;
}, {url: `${path}/screenshot?space=native&cursor=false`, token: given.agent});

async function wayOut(page) {
  for (const key of ["Control", "Alt", "Shift"]) await page.keyboard.down(key);
  for (const key of ["Shift", "Alt", "Control"]) await page.keyboard.up(key);
}

const focusIn = (page, selector) => page.evaluate((text) => Boolean(document.activeElement?.closest(text)), selector);

// The agent looks, as it must, and reads a file.
async function agentReads(file) {
  await until(async () => (await act([], {observe: true})).status === 200);
  const {body} = await act([{action: "exec", argv: ["cat", file]}]);
  return body.results[0].stdout;
}

async function drive(visit) {
  const one = await visit(), {page} = one;
  await one.open(given.controller, given.session);
  await one.says("The agent has the controls");
  await until(async () => (await distance(page)) < 3);
  await act([{action: "type", text: "echo by the agent\n"}]);
  await page.locator(".actions").getByText("Type text").waitFor();
  await until(async () => (await distance(page)) < 3);

  // What is pressed before the controls are there goes nowhere.
  await page.locator(".screen canvas").click({position: {x: 300, y: 200}});
  await page.keyboard.type("rm typed\n");
  await page.getByRole("button", {name: "Take over"}).click();
  await one.says("You have the controls");
  assert.equal((await agent("GET", "/screenshot")).status, 423);
  assert.ok(await focusIn(page, ".screen"));
  await page.keyboard.type("echo From the console, ");
  // Out and in again: what was down then is not down any more.
  await wayOut(page);
  assert.ok(await focusIn(page, "#give"));
  await page.locator(".screen canvas").click({position: {x: 300, y: 200}});
  await page.keyboard.type("by a person >typed");
  await page.keyboard.press("Enter");
  await until(() => isDrawn(page.locator(".preview img")));
  await wayOut(page);
  assert.ok(await focusIn(page, "#give"));
  await page.keyboard.press("Enter");
  await one.says("The agent has the controls");
  assert.equal((await act([{action: "key", keys: "a"}])).body.code, "must_observe");
  // Neither Control nor Alt is down any more: what the agent types is text.
  await act([], {observe: true});
  await act([{action: "type", text: "echo and the agent >>typed\n"}]);
  assert.equal(await until(async () => { const told = await agentReads("typed"); return told.includes("agent") && told; }), "From the console, by a person\nand the agent\n");
  await page.locator(".actions .hole").first().waitFor();
  await one.end();
}

// All of it without a mouse.
async function keyboard(visit) {
  const one = await visit(), {page} = one;
  const tabTo = (selector) => until(async () => (await focusIn(page, selector)) || (await page.keyboard.press("Tab"), false));
  await page.goto(`${given.url}/#session=${given.session}`);
  await page.getByLabel("Code or token").waitFor();
  await page.keyboard.type(given.controller);
  await page.keyboard.press("Enter");
  await one.seesScreen();
  await tabTo("#take");
  assert.ok(await page.evaluate(() => document.activeElement.matches(":focus-visible") && getComputedStyle(document.activeElement).outlineStyle !== "none"));
  await page.keyboard.press("Enter");
  await one.says("You have the controls");
  await until(() => focusIn(page, ".screen"));
  await page.keyboard.type("echo keys >typed\n");
  await page.keyboard.press("Tab"); // goes to the session, not through the page
  assert.ok(await focusIn(page, ".screen"));
  await wayOut(page);
  await until(() => focusIn(page, "#give"));
  await page.keyboard.press("Space");
  await one.says("The agent has the controls");
  assert.equal(await agentReads("typed"), "keys\n");
  // End asks once more, and Escape is a no.
  await tabTo(".bar .buttons");
  await page.getByRole("button", {name: "End…"}).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({state: "hidden"});
  assert.equal((await agent("GET", "")).body.state, "ready");
  await one.end();
}

// The agent asks for a login; one person logs in, another looks on from the wall and from the page.
async function login(visit) {
  // 423 in the log-in; 409: a picture that was under way when it began.
  const other = await visit({refusals: [409, 423]}), wall = await visit({refusals: [409, 423]}), one = await visit();
  await other.open(given.viewer, given.session);
  assert.doesNotMatch(await text(other.page, ".sentence"), /step in/); // it cannot
  await wall.enter(given.operator);
  await until(() => isDrawn(wall.page.locator(".card img").first()));
  await act([{action: "exec", argv: ["sh", "-c", "sleep 600 >/dev/null 2>&1 &"]}]);
  const asked = act([{action: "request_human", kind: "login", reason: "Sign in as <b>anna</b> at https://shop.example/"}]);

  await other.says("The agent asks for a person to log in");
  await wall.page.getByRole("heading", {name: "Waiting for you"}).waitFor();
  await wall.page.waitForFunction(() => document.title === "(1) Glovebox");
  assert.equal(await text(wall.page, ".card blockquote:visible"), "Sign in as <b>anna</b> at https://shop.example/");
  await one.open(given.controller, given.session);
  await one.says("The agent asks for you to log in");
  assert.equal(await text(one.page, ".more .said blockquote"), "Sign in as <b>anna</b> at https://shop.example/");
  assert.equal(await one.page.locator(".said a").count(), 0);
  assert.ok(await one.page.getByLabel("I will log in").isChecked());
  await one.page.locator("#fate", {hasText: /ended first: .*sleep/}).waitFor();
  await one.page.getByRole("button", {name: "Take over"}).click();
  await one.says("You have the controls");
  await one.page.getByText("Nobody but you sees this screen").waitFor();

  await other.says("Another person has the controls");
  await other.page.locator(".gap", {hasText: "Somebody is logging in"}).waitFor();
  assert.equal(await other.page.getByRole("button", {name: "Take over"}).count(), 0);
  await wall.page.locator(".note", {hasText: "Somebody is logging in"}).waitFor();
  await one.page.getByRole("button", {name: "Give back"}).click();
  await one.says("The agent has the controls");
  await other.page.locator(".gap").waitFor({state: "hidden"});
  await wall.page.locator(".card img[src]").first().waitFor();
  assert.equal((await asked).status, 200);
  for (const visited of [one, other, wall]) await visited.end();
}

// A person who does not want to: the agent goes on without.
async function decline(visit) {
  const one = await visit();
  await one.open(given.controller, given.session);
  const asked = act([{action: "request_human", kind: "captcha", reason: "A picture with traffic lights"}]);
  await one.says("The agent asks for you to prove");
  await one.page.getByRole("button", {name: "Let it go on"}).click();
  await one.says("The agent has the controls");
  assert.equal((await asked).status, 200);
  await one.end();
}

// The connection is lost while a person holds: the page comes back by itself, and the person still holds.
async function lost(visit) {
  const one = await visit(), {page} = one;
  await one.open(given.controller, given.session);
  await page.getByRole("button", {name: "Take over"}).click();
  await one.says("You have the controls");
  const {body} = await api(given.operator, "GET", `${path}/viewers`);
  assert.equal((await api(given.operator, "DELETE", `${path}/viewers/${body.viewers[0].viewer}`)).status, 204);
  await page.locator(".gap", {hasText: "was lost"}).waitFor();
  await one.seesScreen();
  await one.says(/^You have the controls\.$/);
  await until(() => focusIn(page, ".screen"));
  await page.keyboard.type("echo back >typed");
  await page.keyboard.press("Enter");
  await page.getByRole("button", {name: "Give back"}).click();
  await one.says("The agent has the controls");
  await until(async () => (await agentReads("typed")) === "back\n");
  await one.end();
}

// The time of a person who does nothing runs out, as the page is told here; the button begins it anew. Then the person is gone for good.
async function longer(visit) {
  const one = await visit(), two = await visit(), {page} = one;
  let soon = true;
  await page.route((url) => [path, `${path}/lease`].includes(url.pathname), async (route) => {
    soon &&= !route.request().postData()?.includes("extend");
    const reply = await route.fetch();
    const body = await reply.json().catch(() => null), lease = body?.lease ?? body;
    if (!soon || !lease?.expires_at || lease.holder !== "human") {
      return route.fulfill({response: reply});
    }
    lease.expires_at = new Date(Date.now() + 50000).toISOString();
    return route.fulfill({response: reply, json: body});
  });
  await one.open(given.controller, given.session);
  await page.getByRole("button", {name: "Take over"}).click();
  await one.says("You have the controls");
  await page.getByText(/\d+ s left\./).waitFor();
  const before = (await api(given.controller, "GET", `${path}/lease`)).body.expires_at;
  await until(() => Date.parse(before) <= Date.now() + 15 * 60000 - 1500); // times are told to the second
  await page.getByRole("button", {name: "Stay longer"}).click();
  await until(async () => (await api(given.controller, "GET", `${path}/lease`)).body.expires_at > before);
  await page.getByRole("button", {name: "Stay longer"}).waitFor({state: "hidden"});
  await two.open(given.operator, given.session);
  await two.says("Another person has the controls");
  await one.end();
  await two.page.getByText(/They have no screen open: \d+ s left/).waitFor();
  await two.page.locator("#lease-title", {hasText: "Nobody has the controls"}).waitFor({timeout: 45000});
  assert.equal((await api(given.controller, "GET", `${path}/lease`)).body.holder, "nobody");
  await two.end();
}

// Pausing, going on, saving what there is, and the end.
async function life(visit) {
  const one = await visit({refusals: [409, 503, "cut"]}), {page} = one, bar = page.locator(".bar");
  await one.open(given.controller, given.session);
  await page.getByRole("button", {name: "Pause"}).click();
  await bar.getByText("paused").waitFor();
  await page.locator(".gap", {hasText: "Paused"}).waitFor();
  await page.getByRole("button", {name: "Resume"}).click();
  await bar.getByText("running").waitFor();
  await page.locator(".gap").waitFor({state: "hidden"});
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", {name: "Save journal"}).click()]);
  assert.equal(saved.suggestedFilename(), `${given.session}.jsonl`);
  await page.getByRole("button", {name: "End…"}).click();
  await page.getByRole("button", {name: "Keep it"}).click();
  assert.equal((await agent("GET", "")).body.state, "ready");
  await page.getByRole("button", {name: "End…"}).click();
  await page.getByRole("button", {name: "End it"}).click();
  await page.locator(".gap", {hasText: "This session has ended"}).waitFor();
  assert.equal(await page.getByRole("button", {name: "Take over"}).count(), 0);
  await bar.getByText("somebody ended it").waitFor();
  for (const over of ["Open to whoever has the controls", "Invite somebody", "Not live now"]) {
    await page.getByText(over).waitFor({state: "hidden"});
  }
  await one.end();
}

async function approvals(visit) {
  const one = await visit(), other = await visit(), {page} = one;
  await other.open(given.viewer, given.session);
  await one.open(given.controller, given.session);
  const click = act([{action: "click", x: 300, y: 300}]);
  const card = page.locator(".ask");
  await card.getByText("Click at 300, 300").waitFor();
  await until(() => isDrawn(card.locator("img")));
  await one.says("The agent waits for your answer");
  await other.says("The agent waits for a person's answer");
  assert.match(await page.title(), /^\(!\) /);
  // A key beside the buttons answers nothing: y only goes to Once.
  await card.focus();
  await page.keyboard.press("y");
  assert.equal((await api(given.controller, "GET", `/v1/approvals?session=${given.session}`)).body.approvals[0].state, "waiting");
  await card.getByRole("button", {name: "Once"}).click();
  await card.waitFor({state: "detached"});
  assert.equal((await click).body.ok, true);

  const typed = act([{action: "type", text: "no"}]);
  await card.getByText("Type").first().waitFor();
  await card.getByLabel("Reason that the agent reads").fill("Not on this page");
  await card.getByRole("button", {name: "Deny"}).click();
  const refused = await typed;
  assert.equal(refused.body.code ?? refused.body.results[0].error.code, "denied");
  assert.match(JSON.stringify(refused.body), /Not on this page/);
  await card.waitFor({state: "detached"});
  await other.says("The agent has the controls");
  await other.end();

  // That an agent has looked, as it must after a person, is told though it is no event.
  await page.getByRole("button", {name: "Take over"}).click();
  await one.says("You have the controls");
  await page.getByRole("button", {name: "Give back"}).click();
  await page.locator(".sentence", {hasText: "It must look at the screen"}).waitFor();
  await page.locator("#fate", {hasText: "When you take over"}).waitFor();
  assert.equal((await agent("GET", "/screenshot")).status, 200);
  await page.locator(".sentence", {hasText: "It works by itself"}).waitFor();
  await one.end();
}

async function share(visit) {
  const one = await visit(), {page} = one;
  await one.open(given.operator, given.session);
  await page.getByText("Invite somebody").click();
  await page.getByLabel("For whom").fill("Ben");
  await page.getByRole("button", {name: "Make a link"}).click();
  await page.locator(".made .code").waitFor();
  const [link, code] = await page.locator(".made code").allInnerTexts();
  const guest = await visit({refusals: [401, "cut"]});
  await guest.page.goto(link);
  await guest.page.getByRole("heading", {name: "You are invited"}).waitFor();
  assert.equal(new URL(guest.page.url()).hash, "");
  await guest.page.getByLabel("Code").fill("AAAA-AAAA");
  await guest.page.getByRole("button", {name: "Enter"}).click();
  await guest.page.getByRole("alert").filter({hasText: "request "}).waitFor();
  await guest.page.getByLabel("Code").fill(code);
  await guest.page.getByRole("button", {name: "Enter"}).click();
  await guest.seesScreen();
  assert.equal(await guest.page.getByRole("button", {name: "Take over"}).count(), 0);
  await page.getByText("1 other viewer looks on").waitFor();
  await page.getByRole("button", {name: "Revoke"}).click();
  await guest.page.getByRole("heading", {name: "Come in"}).waitFor();
  await guest.end();
  await one.end();
}

// The clipboard of the session, both ways, for the holder alone.
async function clipboard(visit) {
  const one = await visit(), {page} = one, words = "naïve 日本 🙂 — clip";
  await one.open(given.controller, given.session);
  assert.equal(await page.getByLabel("Into the session").isVisible(), false);
  await page.getByRole("button", {name: "Take over"}).click();
  await one.says("You have the controls");
  await page.getByLabel("Into the session").fill(words);
  await page.getByRole("button", {name: "Put on its clipboard"}).click();
  await page.locator(".screen canvas").click({position: {x: 300, y: 200}});
  // The session asks for the text when it hears that there is one: the first Ctrl+V may come before it.
  await until(async () => {
    for (const chord of ["Control+a", "Control+v", "Control+a", "Control+c"]) await page.keyboard.press(chord);
    return (await page.locator("#copied").inputValue()) === words;
  });
  await page.getByRole("button", {name: "Give back"}).click();
  await one.says("The agent has the controls");
  assert.equal(await page.getByLabel("Into the session").isVisible(), false);
  assert.equal(await page.locator("#copied").inputValue(), "");
  await act([], {observe: true});
  const kept = await act([{action: "clipboard_get"}]);
  assert.ok(!JSON.stringify(kept.body).includes("naïve"), JSON.stringify(kept.body));
  await one.end();
}

// Both colours, a wide window and a phone: nothing stands beside the page.
async function looks(visit) {
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, viewport] of Object.entries({wide: {width: 1360, height: 850}, phone: {width: 360, height: 740}})) {
      const one = await visit({colorScheme, viewport});
      const fits = async (what) => {
        await one.page.screenshot({path: `${given.folder}/${what}-${colorScheme}-${name}.png`});
        const [wide, room] = await one.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(wide <= room, `${what} is ${wide} px wide in a window of ${room}`);
      };
      await one.page.goto(given.url);
      await one.page.getByLabel("Code or token").waitFor();
      await fits("enter");
      await one.enter(given.operator);
      await until(() => isDrawn(one.page.locator(".card img").first()));
      await fits("wall");
      await one.page.goto(`${given.url}/#session=${given.session}`);
      await one.seesScreen();
      await fits("session");
      const [red] = await one.page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
      assert.equal(red > 128, colorScheme === "light");
      await one.end();
    }
  }
}

await run({code, wall, hidden, drive, keyboard, login, decline, lost, longer, life, approvals, share, clipboard, looks});
