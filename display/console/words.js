// SPDX-License-Identifier: GPL-2.0-or-later
// What the console says. No word of a session is made a sentence of ours: what an agent wrote is quoted as the agent's.

export const QUOTE_CHARS = 300;

const STATES = {
  starting: "starting", ready: "running", paused: "paused", ending: "ending", ended: "ended", failed: "failed",
};
const APPS = {
  firefox: "Firefox", chromium: "Chromium", terminal: "Terminal", editor: "Editor", files: "Files", viewer: "Viewer", "office-writer": "Writer",
  "office-calc": "Calc", panel: "Panel",
};
const KINDS = {
  login: "to log in", approve: "to approve something", captcha: "to prove that a person is here", other: "for help",
};

// Why a session is over.
const REASONS = {
  deleted: "somebody ended it", ttl: "its time was over", idle: "no agent used it", asked: "the server ended it", display_died: "its display failed",
  apps_died: "its programs failed", stage_died: "its process failed",
};

export const stateName = (state) => STATES[state] ?? state;
export const appName = (app) => APPS[app] ?? app;
export const list = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);
const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

export const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;

// What somebody else wrote, cut and without what would move the text around it.
export function quote(text) {
  const clean = String(text ?? "").replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu, " ").replace(/\s+/g, " ").trim();
  const chars = [...clean];
  return chars.length > QUOTE_CHARS ? `${chars.slice(0, QUOTE_CHARS - 1).join("")}…` : clean;
}

// A length of time: "8 s", "12 min", "3 h", "2 days".
export function length(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 120 * 60) return `${Math.round(s / 60)} min`;
  return s < 48 * 3600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
}

export const since = (time) => (time ? length(Date.now() - Date.parse(time)) : "");
export const left = (time) => Math.max(0, Date.parse(time) - Date.now());
export const clock = (time) => new Date(time).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23"});

export function ending(session) {
  if (session.state === "ended" || session.state === "failed") {
    return REASONS[session.reason] ?? (session.reason ?? "").replaceAll("_", " ");
  }
  return session.expires_at ? `ends in ${length(left(session.expires_at))}` : "";
}

const USES = [["cpu", "processors"], ["memory_mb", "MiB of memory"], ["disk_mb", "MiB of files"], ["pids", "processes"], ["inodes", "files"], ["x_mb", "MiB of the display"]];

// What it uses of its limits, and how often it met one.
export function usage(used) {
  const limits = used?.limits ?? {};
  return USES.filter(([name]) => limits[name]?.used !== undefined)
    .map(([name, what]) => `${limits[name].used} of ${limits[name].value} ${what}${limits[name].hits ? ` (met ${count(limits[name].hits, "time", "times")})` : ""}`).join(" · ");
}

export function sessionName(session) {
  const {name, title, job} = session.labels || {};
  return quote(name || title || (job ? `job ${job}` : "") || session.apps?.map(({app}) => appName(app)).join(", ") || session.image);
}

// Who is it that a session waits for? Null, or why.
export function waits(lease, mayDrive = true) {
  if (!lease || lease.holder !== "nobody") {
    return null;
  }
  if (lease.requested_by || lease.reason) {
    return `The agent asks for ${mayDrive ? "you" : "a person"} ${KINDS[lease.kind] ?? KINDS.other}`;
  }
  return "Nobody has the controls";
}

// The lease as one sentence, its colour, and what to say below. `mine`: this page holds; "elsewhere": another window of the same person does.
// `asks`: the agent waits for answers to questions. `mayDrive`: who reads this may answer and take over; else it is somebody who looks on.
export function leaseWords(lease, mine, {asks = false, mayDrive = true} = {}) {
  if (lease.holder === "agent" && asks) {
    return {tone: "wait", title: mayDrive ? "The agent waits for your answer" : "The agent waits for a person's answer",
      below: mayDrive ? "Its question is on this page." : "It has asked whether it may go on."};
  }
  if (lease.holder === "agent") {
    return {tone: "agent", title: "The agent has the controls",
      below: lease.must_observe ? "It must look at the screen before it acts again."
        : mayDrive ? "It works by itself. You can look on, and step in at any time." : "It works by itself. You can look on."};
  }
  if (lease.holder === "human" && mine === "elsewhere") {
    return {tone: "you", title: lease.viewer ? "You have the controls in another window" : "You have the controls, but no screen",
      below: "The agent and the recording do not see this."};
  }
  if (lease.holder === "human" && mine) {
    return {tone: "you", title: "You have the controls",
      below: "The agent and the recording do not see this."};
  }
  if (lease.holder === "human") {
    return {tone: "other", title: "Another person has the controls", below: "The agent and the recording do not see this."};
  }
  return {tone: "wait", title: waits(lease, mayDrive),
    below: lease.requested_by || lease.reason ? "It has stopped, and waits until somebody takes over." : "The agent has stopped. It goes on when somebody gives the controls back."};
}

const keys = (value) => (Array.isArray(value) ? value.join("+") : typeof value === "string" ? value : "a key");
const at = ({x, y}) => (x === undefined ? "" : ` at ${x}, ${y}`);
const file = (a) => `${a.tree ? "all in " : ""}${quote(a.path)}`;
const CLICKS = ["", "Click", "Double click", "Triple click"];

// Each action in words; what is not here is told by its name.
const ACTIONS = {
  click: (a) => `${a.button && a.button !== "left" ? `${a.button[0].toUpperCase()}${a.button.slice(1)} click` : CLICKS[a.count ?? 1]}${at(a)}`,
  move: (a) => `Move the pointer to ${a.x}, ${a.y}`,
  mouse_down: (a) => `Press the ${a.button ?? "left"} button${at(a)}`,
  mouse_up: (a) => `Release the ${a.button ?? "left"} button${at(a)}`,
  drag: (a) => (a.path ? `Drag from ${a.path[0]} to ${a.path.at(-1)}` : "Drag"),
  scroll: (a) => `Scroll ${[a.dy > 0 && "down", a.dy < 0 && "up", a.dx > 0 && "right", a.dx < 0 && "left"].filter(Boolean).join(" and ")}${at(a)}`,
  key: (a) => `Press ${keys(a.keys)}${a.repeat > 1 ? `, ${a.repeat} times` : ""}`,
  key_down: (a) => `Hold ${keys(a.keys)}`,
  key_up: (a) => `Release ${keys(a.keys)}`,
  hold_key: (a) => `Hold ${keys(a.keys)} ${length(a.duration_ms)}`,
  type: (a) => (a.text?.bytes === undefined ? `Type ${quote(a.text)}` : `Type text (${count(a.text.bytes, "byte", "bytes")})`),
  type_secret: (a) => `Type the secret ${quote(a.name)}`,
  wait: (a) => `Wait ${length(a.duration_ms)}`,
  wait_settled: () => "Wait until the screen is quiet",
  wait_window: () => "Wait for a window",
  screenshot: () => "Look at the screen",
  connect: (a) => `Connect to ${quote(`${a.host}:${a.port}`)}`,
  file_get: (a) => `Read ${file(a)}`,
  file_put: (a) => `Write ${file(a)}`,
  file_delete: (a) => `Delete ${file(a)}`,
  exec: (a) => `Run ${quote(a.argv?.join(" "))}`,
  launch: (a) => `Open ${appName(a.app)}${a.args?.length ? ` with ${quote(a.args.join(" "))}` : ""}`,
  windows: () => "List the windows",
  tree: () => "Read what is in a window",
  press_node: () => "Press something by name",
  set_node: () => "Fill in a field",
  clipboard_set: () => "Set the clipboard",
  clipboard_get: () => "Read the clipboard",
  cursor_position: () => "Ask where the pointer is",
  focus_window: () => "Bring a window to the front",
  close_window: () => "Close a window",
  move_window: () => "Move a window",
  resize_window: () => "Resize a window",
  request_human: () => "Ask for a person",
};

// What has gone through the way out of a session; none has none.
export function egressWords(egress) {
  if (!egress) {
    return "";
  }
  const down = egress.up ? "" : " It does not answer now: nothing goes out.";
  return `Way out: ${count(egress.allowed, "connection", "connections")} let through, ${egress.denied} refused, ${size(egress.bytes_up)} sent, ${size(egress.bytes_down)} received.${down}`;
}

export function actionWords(action) {
  return ACTIONS[action.action]?.(action) ?? quote(action.action).replaceAll("_", " ");
}

// Where an action points, in its space: a list of places.
export function actionPlaces(action) {
  if (Array.isArray(action.path)) {
    return [action.path[0], action.path.at(-1)].map(([x, y]) => ({x, y}));
  }
  return Number.isFinite(action.x) && Number.isFinite(action.y) ? [{x: action.x, y: action.y}] : [];
}

// A refusal in words, with the number by which the log knows it.
export function trouble(error) {
  if (!error) {
    return "";
  }
  if (error.name === "AbortError") {
    return "";
  }
  if (error instanceof TypeError) {
    return "The server does not answer.";
  }
  const text = error.message.charAt(0).toUpperCase() + error.message.slice(1);
  const end = /[.!?…]$/.test(text) ? text : `${text}.`;
  return error.request ? `${end} (request ${error.request})` : end;
}
