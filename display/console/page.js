// SPDX-License-Identifier: GPL-2.0-or-later
// The console's first page: trades the one-use code for a token, lists the sessions and shows a live picture of each. The token is
// kept in sessionStorage and sent as a header; nothing a session says is put into the page as anything but text or a picture.

const LIST_MS = 2000;
const PICTURE_MS = 1000;
const TOKEN = "glovebox.token";

const $ = (id) => document.getElementById(id);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const cards = new Map(); // session id → card

class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `the server answered ${status}`);
    this.status = status;
  }
}

async function call(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const reply = await fetch(path, {
    ...options,
    cache: "no-store",
    headers: {...(token ? {Authorization: `Bearer ${token}`} : {}), ...options.headers},
  });
  if (!reply.ok) {
    throw new Refused(reply.status, await reply.json().catch(() => ({})));
  }
  return reply;
}

async function trade(code) {
  const reply = await call("/v1/console", {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify({code}),
  });
  sessionStorage.setItem(TOKEN, (await reply.json()).token);
}

// --- coming in ---

function ask(trouble = "") {
  sessionStorage.removeItem(TOKEN);
  for (const id of [...cards.keys()]) {
    remove(id);
  }
  $("large").close();
  $("enter").hidden = false;
  $("empty").hidden = true;
  $("leave").hidden = true;
  $("past").hidden = true;
  $("summary").textContent = "";
  $("trouble").textContent = trouble;
  $("credential").focus();
}

async function enter(credential) {
  if (/^gb[a-z]_/.test(credential)) {
    sessionStorage.setItem(TOKEN, credential);
  } else {
    await trade(credential.toUpperCase());
  }
  $("credential").value = "";
  $("trouble").textContent = "";
  $("enter").hidden = true;
  $("leave").hidden = false;
  await list();
}

// --- one card for each session ---

function isLive(session) {
  return session.state !== "ended" && session.state !== "failed";
}

function remaining(session) {
  if (session.reason) {
    return session.reason.replaceAll("_", " ");
  }
  const minutes = Math.round((Date.parse(session.expires_at) - Date.now()) / 60000);
  if (minutes < 1) return "ends within a minute";
  if (minutes < 120) return `ends in ${minutes} min`;
  return minutes < 48 * 60 ? `ends in ${Math.round(minutes / 60)} h` : `ends in ${Math.round(minutes / 1440)} days`;
}

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const card = cards.get(entry.target.dataset.id);
    if (card) {
      card.inView = entry.isIntersecting;
    }
  }
});

function add(session) {
  const node = $("card").content.firstElementChild.cloneNode(true);
  const card = {node, session, inView: true, stop: new AbortController(), url: ""};
  node.dataset.id = session.id;
  node.querySelector(".picture").addEventListener("click", () => enlarge(session.id));
  cards.set(session.id, card);
  watcher.observe(node);
  follow(card);
  return card;
}

function remove(id) {
  const card = cards.get(id);
  card.stop.abort();
  watcher.unobserve(card.node);
  card.node.remove();
  URL.revokeObjectURL(card.url);
  cards.delete(id);
}

// Newest first, and apart from those that have ended.
function place(card) {
  const list = isLive(card.session) ? $("sessions") : $("past").querySelector("ul");
  if (card.node.parentNode !== list) {
    list.prepend(card.node);
  }
}

function fill(card) {
  const {node, session} = card;
  const labels = Object.entries(session.labels || {}).map(([name, value]) => `${name}=${value}`).join(" ");
  const note = {starting: "starting…", ready: card.url ? "" : card.refused || "waiting for a picture…"}[session.state] ?? session.state;
  place(card);
  node.querySelector(".image").textContent = session.image;
  node.querySelector(".state").textContent = session.state;
  node.querySelector(".state").dataset.state = session.state;
  node.querySelector(".id").textContent = session.id;
  node.querySelector(".until").textContent = remaining(session);
  node.querySelector(".apps").textContent = [session.apps.map(({app}) => app).join(", "), labels].filter(Boolean).join(" · ");
  node.querySelector(".note").textContent = note;
  node.querySelector(".picture").setAttribute("aria-label", `Screen of session ${session.id}, ${session.image}: enlarge`);
}

function show(card, url) {
  URL.revokeObjectURL(card.url);
  card.url = url;
  card.node.querySelector("img").src = url;
  if ($("large").open && $("large").dataset.id === card.session.id) {
    $("large-picture").src = url;
  }
}

function enlarge(id) {
  const card = cards.get(id);
  if (!card || !card.url) {
    return;
  }
  $("large").dataset.id = id;
  $("large-name").textContent = `${card.session.image} · ${id}`;
  $("large-picture").src = card.url;
  $("large-picture").alt = `Screen of session ${id}`;
  $("large").showModal();
}

// One request at a time, and none while nobody can see it.
async function follow(card) {
  const signal = card.stop.signal;
  while (!signal.aborted) {
    if (card.session.state === "ready" && !document.hidden && (card.inView || $("large").dataset.id === card.session.id)) {
      try {
        const reply = await call(`/v1/sessions/${card.session.id}/screenshot`, {signal});
        show(card, URL.createObjectURL(await reply.blob()));
        fill(card);
      } catch (error) {
        if (error instanceof Refused && error.status === 403) {
          card.refused = "this token shows no pictures"; // and will not later
          fill(card);
          return;
        }
        if (error instanceof Refused && error.status !== 401) {
          card.node.querySelector(".note").textContent = error.message;
        }
      }
    }
    await sleep(PICTURE_MS);
  }
}

// --- the list ---

async function list() {
  const {sessions} = await (await call("/v1/sessions")).json();
  const live = sessions.filter(isLive);
  const past = sessions.length - live.length;
  const known = new Set(sessions.map((session) => session.id));
  for (const id of [...cards.keys()]) {
    if (!known.has(id)) {
      remove(id);
    }
  }
  for (const session of sessions) {
    const card = cards.get(session.id) || add(session);
    card.session = session;
    fill(card);
  }
  $("summary").textContent = live.length === 1 ? "1 live session" : `${live.length} live sessions`;
  $("past").hidden = past === 0;
  $("past").querySelector("summary").textContent = past === 1 ? "1 session has ended" : `${past} sessions have ended`;
  $("empty").hidden = live.length > 0;
}

async function keepListing() {
  for (;;) {
    await sleep(LIST_MS);
    if (document.hidden || !sessionStorage.getItem(TOKEN)) {
      continue;
    }
    try {
      await list();
    } catch (error) {
      if (error instanceof Refused && error.status === 401) {
        ask(error.message);
      } else {
        $("summary").textContent = "the server does not answer";
      }
    }
  }
}

async function start() {
  const code = /^#code=(.+)$/.exec(location.hash);
  history.replaceState(null, "", location.pathname);
  try {
    if (code) {
      await enter(decodeURIComponent(code[1]));
    } else if (sessionStorage.getItem(TOKEN)) {
      await enter(sessionStorage.getItem(TOKEN));
    } else {
      ask();
    }
  } catch (error) {
    ask(error.message);
  }
  await keepListing();
}

$("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  enter($("credential").value.trim()).catch((error) => ask(error.message));
});
$("leave").addEventListener("click", () => ask());
$("large").addEventListener("close", () => delete $("large").dataset.id);
start();
