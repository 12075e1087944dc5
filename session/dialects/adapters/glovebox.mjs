// SPDX-License-Identifier: GPL-2.0-or-later
// A session of a Glovebox server, for harnesses in JavaScript (Node 20 or later; nothing else is needed).
//
// GLOVEBOX_SERVER names the server, GLOVEBOX_TOKEN_FILE the file with the token that makes sessions; without them they are where the command
// line `glovebox` looks. A signal that aborts ends the call on the server, too, which then lets go of keys and buttons.
import {readFile} from "node:fs/promises";
import {homedir} from "node:os";
import {join} from "node:path";

// What the server refused, or what became of an action that failed: `code` and `problem` are the server's.
export class GloveboxError extends Error {
  constructor(problem) {
    super(problem.detail ?? problem.title ?? problem.code);
    this.name = "GloveboxError";
    this.code = problem.code;
    this.problem = problem;
  }
}

async function readToken() {
  const named = process.env.GLOVEBOX_TOKEN_FILE;
  const files = named ? [named] : [join(homedir(), ".config/glovebox/token"), "/var/lib/glovebox/operator.token"];
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text) {
      return text.trim();
    }
  }
  throw new GloveboxError({code: "no_token", detail: `no token can be read in ${files.join(" or ")}; GLOVEBOX_TOKEN_FILE names another file`});
}

async function request(server, token, method, path, body, signal) {
  const headers = {Authorization: `Bearer ${token}`, ...(body && {"Content-Type": "application/json"})};
  const reply = await fetch(server + path, {method, headers, body: body && JSON.stringify(body), signal}).catch((error) => {
    throw signal?.aborted ? error : new GloveboxError({code: "unreachable", detail: `no answer from ${server}: ${error.cause?.message ?? error.message}`});
  });
  const answer = await reply.json().catch(() => ({}));
  if (!reply.ok) {
    throw new GloveboxError({code: "http", detail: `the server answered ${reply.status}`, ...answer});
  }
  return answer;
}

export class Session {
  // A session that exists, by a token of it. Pictures have the size `space`; that of the screen is `display`.
  constructor(server, token, {id, space, display = space}) {
    Object.assign(this, {server, token, id, space, display});
    this.path = `/v1/sessions/${id}`;
  }

  // A new session; from then on its agent's token is used, which opens nothing else.
  static async create(spec, {server = process.env.GLOVEBOX_SERVER || "http://127.0.0.1:7070", token} = {}) {
    const made = await request(server, token ?? await readToken(), "POST", "/v1/sessions", spec);
    return new Session(server, made.tokens.agent, made);
  }

  // Actions of Glovebox's own, in order, up to the first that fails, or the look after them. Returns the whole answer.
  async act(actions, {signal, ...options} = {}) {
    const answer = await request(this.server, this.token, "POST", `${this.path}/act`, {actions, ...options}, signal);
    if (!answer.ok) {
      throw new GloveboxError(answer.results.at(-1)?.error ?? answer.observation.error);
    }
    return answer;
  }

  // What a model sent, as its vendor's SDK has it. Returns what is to be sent to the model next.
  computer(turn, {signal} = {}) {
    return request(this.server, this.token, "POST", `${this.path}/computer`, turn, signal);
  }

  // A picture of the screen once it is quiet: PNG in Base64, of the size `space`.
  async screenshot(signal) {
    const {observation} = await this.act([], {observe: {format: "png"}, signal});
    return observation.picture.data;
  }

  async end() {
    await request(this.server, this.token, "DELETE", this.path);
  }
}
