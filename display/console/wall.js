// SPDX-License-Identifier: GPL-2.0-or-later
// The wall: the sessions that this token may see, each with a small live picture. Those that wait for a person stand first, and are counted in the
// page's title. Pictures are asked for one after the other and only while they can be seen; a hidden page asks for the list alone, now and then.
import {get, picture, Refused, token} from "./api.js";
import {$, el, say, seen, show, sleep} from "./dom.js";
import * as words from "./words.js";

const LIST_MS = 2000, HIDDEN_MS = 15000, PICTURE_MS = 1500, PICTURES_AT_ONCE = 3;

const isLive = ({state}) => state !== "ended" && state !== "failed";

class Card {
  constructor(session) {
    this.session = session;
    this.inView = true;
    this.due = 0;
    this.ask = picture(`/v1/sessions/${session.id}/thumbnail`);
    this.image = el("img", {alt: "", draggable: "false"});
    this.note = el("span", {class: "note"});
    this.name = el("strong");
    this.state = el("span", {class: "state"});
    this.lease = el("p", {class: "who"});
    this.why = el("blockquote", {});
    this.rest = el("p", {class: "quiet"});
    this.link = el("a", {class: "cover", href: `#session=${session.id}`});
    this.node = el("li", {class: "card"}, el("div", {class: "picture"}, this.image, this.note),
      el("div", {class: "line"}, this.name, this.state), this.lease, this.why, this.rest, this.link);
    this.node.card = this;
  }

  waits() {
    return isLive(this.session) && (words.waits(this.session.lease) || this.approvals > 0);
  }

  noteText() {
    const {state} = this.session;
    if (state === "starting") return "starting…";
    if (state !== "ready" && state !== "ending") return words.stateName(state);
    return this.refused || (this.image.src ? "" : "…");
  }

  fill(session, approvals) {
    this.session = session;
    this.approvals = approvals;
    const lease = session.lease ?? {holder: "agent"}, {tone, title} = words.leaseWords(lease, false);
    const live = isLive(session);
    const name = words.sessionName(session);
    say(this.name, name);
    say(this.state, words.stateName(session.state));
    this.state.dataset.state = session.state;
    this.node.dataset.tone = live ? (approvals ? "wait" : tone) : "over";
    say(this.lease, live ? [approvals ? `${words.count(approvals, "approval waits", "approvals wait")}` : title, words.since(lease.since)].filter(Boolean).join(" · ") : "");
    say(this.why, live && lease.holder === "nobody" ? words.quote(lease.reason) : "");
    say(this.rest, [session.image, words.ending(session), session.id].filter(Boolean).join(" · "));
    say(this.note, this.noteText());
    show(this.lease, this.lease.textContent);
    show(this.why, this.why.textContent);
    this.link.setAttribute("aria-label", `Open session ${name}, ${words.stateName(session.state)}${live ? `. ${this.lease.textContent}` : ""}`);
  }

  wantsPicture(now) {
    return this.inView && !this.asking && now >= this.due && this.session.state === "ready";
  }

  async takePicture(signal) {
    this.asking = true;
    try {
      const url = await this.ask(signal);
      this.refused = "";
      if (url) {
        const old = this.image.src;
        this.image.src = url;
        URL.revokeObjectURL(old);
      }
    } catch (error) {
      if (error instanceof Refused) {
        this.refused = error.code === "lease_held" ? "Somebody is logging in: the screen is theirs alone" : error.message;
        if (error.code === "lease_held" || error.status === 403) {
          this.drop();
        }
      }
    }
    this.asking = false;
    this.due = performance.now() + PICTURE_MS;
    say(this.note, this.noteText());
  }

  drop() {
    URL.revokeObjectURL(this.image.src);
    this.image.removeAttribute("src");
  }
}

// Order of the wall: who waits for a person, then the others, newest first. Nodes that stand right are not moved, so that the focus stays.
function place(list, cards) {
  cards.forEach((card, i) => {
    if (list.children[i] !== card.node) {
      list.insertBefore(card.node, list.children[i] ?? null);
    }
  });
}

function countApprovals({approvals}) {
  const counts = new Map();
  for (const {session, state} of approvals) {
    if (state === undefined || state === "waiting") {
      counts.set(session, (counts.get(session) ?? 0) + 1);
    }
  }
  return counts;
}

async function readApprovals(signal) {
  if (!token.may("controller", "owner", "operator")) {
    return new Map();
  }
  try {
    return countApprovals(await get("/v1/approvals", {signal}));
  } catch (error) {
    if (error.status === 404 || error.status === 403) {
      return new Map();
    }
    throw error;
  }
}

export function wallView(main, signal, openSession) {
  const cards = new Map();
  const waiting = el("ul", {class: "cards", "aria-label": "Sessions that wait for a person"});
  const live = el("ul", {class: "cards", "aria-label": "Live sessions"});
  const past = el("ul", {class: "cards past", "aria-label": "Sessions that have ended"});
  const waitingPart = el("section", {hidden: true}, el("h2", {}, "Waiting for you"), waiting);
  const livePart = el("section", {hidden: true}, el("h2", {}, "At work"), live);
  const pastTitle = el("summary"), pastPart = el("details", {hidden: true}, pastTitle, past);
  const empty = el("section", {class: "empty", hidden: true}, el("h2", {}, "No session runs"), el("p", {class: "quiet"}, "Make one on the command line:"),
    el("pre", {}, "glovebox new --image desktop --app firefox"));
  const trouble = el("p", {class: "trouble", role: "alert"});
  const watcher = new IntersectionObserver((entries) => entries.forEach(({target, isIntersecting}) => { target.card.inView = isIntersecting; }));
  let first = true;

  main.append(el("h1", {class: "away"}, "Sessions"), trouble, empty, waitingPart, livePart, pastPart);

  function forget(known) {
    for (const [id, card] of cards) {
      if (!known.has(id)) {
        card.drop();
        watcher.unobserve(card.node);
        card.node.remove();
        cards.delete(id);
      }
    }
  }

  function cardOf(session) {
    const known = cards.get(session.id);
    if (known) {
      return known;
    }
    const card = new Card(session);
    cards.set(session.id, card);
    watcher.observe(card.node);
    return card;
  }

  function arrange() {
    const all = [...cards.values()].sort((a, b) => Date.parse(b.session.created_at) - Date.parse(a.session.created_at));
    const parts = {waiting: all.filter((card) => card.waits()), live: all.filter((card) => isLive(card.session) && !card.waits()),
      past: all.filter((card) => !isLive(card.session))};
    place(waiting, parts.waiting);
    place(live, parts.live);
    place(past, parts.past);
    show(waitingPart, parts.waiting.length);
    show(livePart, parts.live.length);
    show(pastPart, parts.past.length);
    show(empty, parts.waiting.length + parts.live.length === 0);
    say(pastTitle, parts.past.length === 1 ? "1 session has ended" : `${parts.past.length} sessions have ended`);
    const n = parts.waiting.length;
    say($("summary"), [words.count(n + parts.live.length, "live session", "live sessions"), n && `${n} ${n === 1 ? "waits" : "wait"} for you`].filter(Boolean).join(", "));
    document.title = n ? `(${n}) Glovebox` : "Glovebox";
  }

  async function list() {
    const [{sessions}, approvals] = await Promise.all([get("/v1/sessions", {signal}), readApprovals(signal)]);
    if (signal.aborted) {
      return;
    }
    forget(new Set(sessions.map(({id}) => id)));
    for (const session of sessions) {
      cardOf(session).fill(session, approvals.get(session.id) ?? 0);
    }
    arrange();
    // A token of one session goes there at once.
    if (first && sessions.length === 1 && token.may("agent", "viewer", "controller")) {
      openSession(sessions[0].id);
    }
    first = false;
  }

  async function keepListing() {
    while (!signal.aborted) {
      try {
        await list();
        say(trouble, "");
      } catch (error) {
        say(trouble, words.trouble(error));
      }
      const hidden = document.hidden;
      await Promise.race([sleep(hidden ? HIDDEN_MS : LIST_MS, signal), ...(hidden ? [seen(signal)] : [])]);
    }
  }

  // A few lines of work that ask for what is due longest.
  async function keepPictures() {
    while (!signal.aborted) {
      await seen(signal);
      const now = performance.now();
      const [card] = [...cards.values()].filter((one) => one.wantsPicture(now)).sort((a, b) => a.due - b.due);
      await (card ? card.takePicture(signal) : sleep(200, signal));
    }
  }

  signal.addEventListener("abort", () => { forget(new Set()); watcher.disconnect(); });
  keepListing();
  for (let i = 0; i < PICTURES_AT_ONCE; i++) {
    keepPictures();
  }
}
