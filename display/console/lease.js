// SPDX-License-Identifier: GPL-2.0-or-later
// Who has the controls, in words and in colour, with the one button that changes it; and what a person must know before and while he holds them.
import {picture, post, token, DRIVERS} from "./api.js";
import {button, el, say, seen, show, sleep} from "./dom.js";
import * as words from "./words.js";

const PREVIEW_MS = 1500;
const HURRY_MS = 120000; // a life shorter than this is counted down

const named = (programs) => words.list([...new Set(programs.map((program) => words.quote(program.name ?? program.app ?? program.argv?.[0] ?? program)))]);

export class LeasePanel {
  // session: {id, …}; tell(error) shows a refusal; changed(lease) hears of a new lease; focusScreen() gives the keys to the screen.
  constructor(id, {signal, tell, changed, viewer, focusScreen}) {
    this.path = `/v1/sessions/${id}`;
    this.viewer = viewer;
    this.changed = changed;
    this.tell = tell;
    this.mayDrive = token.may(...DRIVERS);
    this.lease = null;

    this.title = el("strong", {id: "lease-title"});
    this.below = el("span");
    this.since = el("span", {class: "quiet"});
    this.why = el("figure", {class: "said"}, el("figcaption", {}, "The agent's words"), el("blockquote"));
    this.take = button("Take over", async () => { await this.send({action: "take", ...this.choice()}); focusScreen(); }, {kind: "main", trouble: tell, id: "take"});
    this.give = button("Give back", () => this.send({action: "give"}), {kind: "main", trouble: tell, id: "give", title: "The agent goes on. It looks at the screen first."});
    this.decline = button("Let it go on", () => this.send({action: "give"}), {trouble: tell, id: "decline", title: "The agent goes on without a person."});
    this.longer = button("Stay longer", () => this.send({action: "extend"}), {trouble: tell, id: "extend"});
    this.countdown = el("strong", {class: "countdown"});
    this.secret = el("input", {type: "checkbox", id: "secret"});
    this.keep = el("input", {type: "checkbox", id: "keep"});
    this.fate = el("p", {class: "quiet", id: "fate"});
    this.keepRow = el("label", {class: "tick"}, this.keep, el("span", {}, "Do not end them: let them stand still. They may learn afterwards what you typed."));
    this.options = el("div", {class: "options"}, el("label", {class: "tick"}, this.secret, el("span", {}, "I will log in, or type something secret")), this.fate, this.keepRow);
    this.facts = el("ul", {class: "facts"});
    this.image = el("img", {alt: "The screen as the agent will see it"});
    this.preview = el("figure", {class: "preview"}, this.image, el("figcaption", {}, "The agent will see this when you give back"));
    for (const box of [this.secret, this.keep]) {
      box.addEventListener("change", () => this.showOptions());
    }

    // The sentence and the button stand above the screen; what belongs to them, under the button.
    this.node = el("section", {class: "band", "aria-labelledby": "lease-title"},
      el("div", {class: "sentence", role: "status", "aria-live": "polite"}, this.title, " ", this.below, " ", this.countdown), this.since,
      el("div", {class: "buttons"}, this.longer, this.decline, this.take, this.give));
    this.more = el("section", {class: "more", "aria-label": "About the controls"}, this.why, this.options, this.facts, this.preview);
    this.ask = picture(`${this.path}/thumbnail`);
    signal.addEventListener("abort", () => URL.revokeObjectURL(this.image.src));
    this.keepPreview(signal);
    this.keepClock(signal);
  }

  // What the person ticked before taking over.
  choice() {
    const viewer = this.viewer();
    if (this.isElsewhere()) {
      return viewer ? {viewer} : {}; // another window; all else stays as it was said
    }
    return {
      ...(viewer ? {viewer} : {}),
      kind: this.secret.checked ? "login" : this.lease.kind && this.lease.kind !== "login" ? this.lease.kind : "other",
      ...(this.secret.checked && this.keep.checked ? {keep_running: true} : {}),
    };
  }

  async send(body) {
    this.update(await post(`${this.path}/lease`, body), this.session);
    this.changed(this.lease);
  }

  // The keys of this page reach the session.
  isMine() {
    return this.lease?.holder === "human" && this.lease.mine && Boolean(this.viewer()) && this.lease.viewer === this.viewer();
  }

  // The person of this page holds, but by another window, or by one that is gone.
  isElsewhere() {
    return this.lease?.holder === "human" && this.lease.mine && !this.isMine();
  }

  // asks: how many questions wait for an answer.
  update(lease, session, asks = this.asks) {
    const isNew = lease.epoch !== this.lease?.epoch || lease.holder !== this.lease?.holder;
    this.lease = lease;
    this.session = session ?? this.session;
    this.asks = asks;
    if (isNew && lease.holder !== "human") {
      this.secret.checked = lease.holder === "nobody" && lease.kind === "login";
      this.keep.checked = false;
    }
    const mine = this.isMine(), elsewhere = this.isElsewhere(), {tone, title, below} = words.leaseWords(lease, elsewhere ? "elsewhere" : mine, {asks: asks > 0, mayDrive: this.mayDrive});
    this.node.dataset.tone = this.more.dataset.tone = tone;
    say(this.title, `${title}.`);
    say(this.below, below);
    say(this.why.lastChild, words.quote(lease.holder === "agent" ? "" : lease.reason));
    show(this.why, this.why.lastChild.textContent);
    say(this.take, elsewhere ? "Use this window" : "Take over");
    show(this.take, this.mayDrive && !mine && (lease.holder !== "human" || elsewhere));
    show(this.give, mine || elsewhere);
    this.give.classList.toggle("main", mine);
    show(this.decline, this.mayDrive && lease.holder === "nobody");
    show(this.preview, mine);
    show(this.options, !this.take.hidden && !elsewhere);
    this.showOptions();
    this.showFacts(mine);
    show(this.more, [...this.more.children].some((part) => !part.hidden));
    this.tick();
  }

  programs() {
    return this.lease?.programs ?? [];
  }

  // What happens to the agent's own programs.
  showOptions() {
    const ends = this.secret.checked && !this.keep.checked;
    const programs = ends ? [...this.programs(), ...(this.lease?.apps ?? [])] : this.programs(), all = programs.length ? named(programs) : "";
    const alone = this.secret.checked ? "Nobody but you sees the screen meanwhile. " : "";
    const fate = !all ? "The agent runs no programs of its own now."
      : ends ? `When you take over, what could listen is ended first: ${all}.`
        : this.lease?.holder === "nobody" ? `The agent's own programs stand still until the controls are given back: ${all}.`
          : `When you take over, the agent's own programs stand still until you give back: ${all}.`;
    say(this.fate, alone + fate);
    show(this.keepRow, this.secret.checked && (all || this.lease?.apps?.length));
  }

  // What is true while a person holds, also where it is not pleasant.
  showFacts(mine) {
    const weak = this.session?.isolation_report?.missing?.includes("handover");
    const programs = this.programs(), login = this.lease.kind === "login";
    const still = programs.length > 0 && `The agent's own programs stand still: ${named(programs)}.`;
    const facts = !mine ? [] : [
      login && !this.lease.shared && "Nobody but you sees this screen.",
      !login && "Other people who look on see this screen. For a password, give back first, and take over with the tick.",
      this.lease.ended?.length && `Ended, since they could hear what apps tell: ${named(this.lease.ended)}.`,
      still && (login ? `${still} They may learn afterwards what you type.` : still),
      weak && "This host cannot keep the programs of a session apart: any of them could read what you type.",
    ].filter(Boolean);
    this.facts.replaceChildren(...facts.map((fact) => el("li", {}, fact)));
    show(this.facts, facts.length);
  }

  // Times go on between two answers of the server.
  tick() {
    const {lease} = this, end = lease?.expires_at ? words.left(lease.expires_at) : Infinity;
    const lost = lease?.holder === "human" && !lease.viewer;
    const hurry = lease?.holder !== "agent" && (lost || end < HURRY_MS) && end < Infinity;
    const over = lease?.holder === "human" && this.session?.expires_at ? words.left(this.session.expires_at) : Infinity;
    say(this.since, lease?.since ? `for ${words.since(lease.since)}` : "");
    say(this.countdown, over < HURRY_MS ? `The session ends in ${words.length(over)}.` : !hurry ? "" : lost && !this.isMine() ? `They have no screen open: ${words.length(end)} left.` : `${words.length(end)} left.`);
    show(this.countdown, this.countdown.textContent);
    show(this.longer, hurry && this.isMine());
  }

  async keepClock(signal) {
    while (!signal.aborted) {
      await sleep(1000, signal);
      this.tick();
    }
  }

  // What the agent will see, beside the button that shows it to the agent.
  async keepPreview(signal) {
    while (!signal.aborted) {
      await seen(signal);
      if (this.lease && this.isMine()) {
        const url = await this.ask(signal).catch(() => null);
        if (url) {
          URL.revokeObjectURL(this.image.src);
          this.image.src = url;
        }
      }
      await sleep(PREVIEW_MS, signal);
    }
  }
}
