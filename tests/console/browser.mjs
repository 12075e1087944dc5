// SPDX-License-Identifier: GPL-2.0-or-later
// A person at the console: Debian's chromium under playwright-core, and what must hold of every visit. What goes wrong beside the point of a test (an
// error in the console, a breach of the page's policy, a request to another host, a credential in an address) fails it as well.
import assert from "node:assert/strict";
import {chromium} from "playwright-core";

export const given = JSON.parse(process.argv[3] ?? "{}"); // {url, …}
const CREDENTIAL = /gb[a-z]_[A-Za-z0-9_-]{20}/;
const WAIT_MS = 30000;

// A refusal that a test provokes is written to the console by the browser itself; "cut": so is a stream that was cut.
function isExpected(text, refusals) {
  const [, status, net] = /^Failed to load resource: (?:the server responded with a status of (\d+)|net::(\w+))/.exec(text) ?? [];
  return status in refusals || (net === "ERR_INCOMPLETE_CHUNKED_ENCODING" && refusals.cut);
}

export class Visit {
  static async start(browser, {refusals = [], ...options} = {}) {
    const visit = new Visit();
    visit.faults = [];
    visit.refusals = Object.fromEntries(refusals.map((status) => [status, true]));
    visit.context = await browser.newContext({viewport: {width: 1360, height: 850}, ...options});
    visit.context.setDefaultTimeout(WAIT_MS);
    visit.page = await visit.context.newPage();
    visit.watch();
    return visit;
  }

  watch() {
    const {page} = this, note = (text) => this.faults.push(text);
    page.on("pageerror", (error) => note(`error: ${error.stack}`));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type()) && !isExpected(message.text(), this.refusals)) {
        note(`${message.type()}: ${message.text()} (${message.location().url})`);
      }
    });
    page.on("request", (request) => this.check(request.url()));
    page.on("websocket", (socket) => this.check(socket.url().replace(/^ws/, "http")));
    page.on("framenavigated", (frame) => { if (CREDENTIAL.test(frame.url())) note(`a credential in ${frame.url()}`); });
  }

  check(address) {
    if (/^(blob|data):/.test(address)) {
      return;
    }
    if (new URL(address).origin !== new URL(given.url).origin) {
      this.faults.push(`a request to ${address}`);
    }
    if (CREDENTIAL.test(address)) {
      this.faults.push(`a credential in ${address}`);
    }
  }

  // With a token, as a person who pasted it.
  async enter(token, fragment = "") {
    await this.page.goto(`${given.url}/${fragment}`);
    await this.page.getByLabel("Code or token").fill(token);
    await this.page.getByRole("button", {name: "Enter"}).click();
  }

  async open(token, session) {
    await this.enter(token, `#session=${session}`);
    await this.seesScreen();
  }

  // The live picture has come.
  async seesScreen() {
    await this.page.locator(".screen canvas").waitFor();
    await this.page.waitForFunction(() => document.querySelector(".screen .gap").hidden && document.querySelector(".screen canvas").width > 0);
  }

  async says(text) {
    await this.page.locator("#lease-title", {hasText: text}).waitFor();
  }

  async end() {
    await this.page.waitForTimeout(0);
    await this.context.close();
    assert.deepEqual(this.faults, []);
  }
}

// The API beside the browser, as an agent or an operator.
export async function api(token, method, path, body) {
  const reply = await fetch(`${given.url}${path}`, {method, body: body && JSON.stringify(body),
    headers: {Authorization: `Bearer ${token}`, ...(body ? {"Content-Type": "application/json"} : {})}});
  const type = reply.headers.get("Content-Type") ?? "";
  return {status: reply.status, body: type.includes("json") ? await reply.json() : Buffer.from(await reply.arrayBuffer())};
}

// Waits until the check is true, and gives what it gave.
export async function until(check, within = WAIT_MS) {
  for (const end = Date.now() + within; ;) {
    const value = await check();
    if (value) {
      return value;
    }
    assert.ok(Date.now() < end, `still not so after ${within} ms: ${check}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export async function run(scenarios) {
  const browser = await chromium.launch({executablePath: given.chromium ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"]});
  try {
    await scenarios[process.argv[2]]((options) => Visit.start(browser, options));
  } catch (error) {
    // How it looked to each of the people.
    const pages = browser.contexts().flatMap((context) => context.pages());
    await Promise.all(pages.map((page, i) => page.screenshot({path: `${given.folder}/failed-${i + 1}.png`})));
    throw error;
  } finally {
    await browser.close();
  }
}
