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

  const two = await visit({refusals: [401, 404]});
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
  const one = await visit({refusals: [404, 409, 410, 503]}), {page} = one; // a picture of a session that ends
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

await run({code, wall, hidden});
