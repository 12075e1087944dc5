// SPDX-License-Identifier: GPL-2.0-or-later
// A call that is broken off by its signal once it is under way, and one after it.
import {session} from "./session.mjs";

const events = await fetch(`${session.server}${session.path}/events`, {headers: {Authorization: `Bearer ${session.token}`}});
const controller = new AbortController();
const wait = session.act([{action: "wait", duration_ms: 60000}], {signal: controller.signal});
for await (const chunk of events.body) {
  if (Buffer.from(chunk).includes("event: intent")) {
    break;
  }
}
controller.abort();
console.log(await wait.catch((error) => error.name));
const {results} = await session.act([{action: "cursor_position"}]);
console.log(results[0].ok);
