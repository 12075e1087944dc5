// SPDX-License-Identifier: GPL-2.0-or-later
// The server's API: a token in a header, JSON, problem objects, server-sent events by fetch. The token is in sessionStorage alone, and in no URL.
import {sleep} from "./dom.js";

const TOKEN = "glovebox.token";
const ROLES = {gba: "agent", gbv: "viewer", gbc: "controller", gbo: "operator", gbk: "owner", gbx: "operator"};

// A refusal: its message is the problem's own words.
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `the server answered ${status}`);
    this.status = status;
    this.problem = problem;
    this.code = problem.code;
    this.request = problem.request_id;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (text) => sessionStorage.setItem(TOKEN, text),
  drop: () => sessionStorage.removeItem(TOKEN),
  is: (text) => /^gb[a-z]_/.test(text),
  role: () => ROLES[token.get()?.slice(0, 3)],
  may: (...roles) => roles.includes(token.role()),
};
export const DRIVERS = ["controller", "owner", "operator"];

// The reply of a request that went well. A token that opens nothing any more is told to the page as a whole.
export async function call(path, {method = "GET", body, headers, signal, bare = false} = {}) {
  const known = bare ? null : token.get();
  const reply = await fetch(path, {
    method, signal, cache: "no-store", credentials: "omit", redirect: "error",
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: {
      ...(known ? {Authorization: `Bearer ${known}`} : {}),
      ...(body === undefined ? {} : {"Content-Type": "application/json"}),
      ...headers,
    },
  });
  if (reply.ok || reply.status === 304) {
    return reply;
  }
  const refused = new Refused(reply.status, await reply.json().catch(() => ({})));
  if (reply.status === 401 && known && known === token.get()) {
    token.drop();
    dispatchEvent(new CustomEvent("glovebox-out", {detail: refused}));
  }
  throw refused;
}

export const get = async (path, options) => (await call(path, options)).json();
export const post = async (path, body = {}, options = {}) => (await call(path, {...options, method: "POST", body})).json();

// A picture that is asked for again and again: an object URL, or null while it is as it was. The caller revokes it.
export function picture(path) {
  let tag = null;
  return async (signal) => {
    const reply = await call(path, {signal, headers: tag ? {"If-None-Match": tag} : {}});
    tag = reply.headers.get("ETag");
    return reply.status === 304 ? null : URL.createObjectURL(await reply.blob());
  };
}

function readEvent(text) {
  const event = {event: "message", data: ""};
  for (const line of text.split("\n")) {
    const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) || [];
    if (name === "data" || name === "event" || name === "id") {
      event[name] = value;
    }
  }
  return event;
}

async function* readStream(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const {done, value} = await reader.read();
    if (done) {
      return;
    }
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    yield* blocks.map(readEvent);
  }
}

// The events of a session, each as {event, id, data}, from `last` on; it connects again until the signal ends it or the session has ended. `lost` is
// told the refusal when there is no connection, and null when there is one again.
export async function follow(path, {signal, last = "0", take, lost = () => {}}) {
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 8000)) {
    try {
      const reply = await call(path, {signal, headers: {"Last-Event-ID": last, Accept: "text/event-stream"}});
      lost(null);
      for await (const {event, id, data} of readStream(reply.body)) {
        last = id ?? last;
        wait = 500;
        if (data) {
          take(event, JSON.parse(data));
        }
      }
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      if (error instanceof Refused && [401, 403, 404, 410].includes(error.status)) {
        lost(error);
        return;
      }
      last = error instanceof Refused && error.status === 400 ? "0" : last; // the server was made anew
      lost(error);
    }
    await sleep(wait, signal);
  }
}

// A file of the server's, for the person to keep.
export async function keep(path, name) {
  const url = URL.createObjectURL(await (await call(path)).blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
