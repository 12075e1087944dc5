// SPDX-License-Identifier: GPL-2.0-or-later
// The queue of approvals: what the agent wants to do, where, and why it must ask. A card that has just come takes no click for a moment, and no key
// of its own answers one: y and n only go to a button.
import {call, get, post} from "./api.js";
import {button, el, say, show} from "./dom.js";
import * as words from "./words.js";

const CALM_MS = 800;

export class ApprovalsPanel {
  constructor(id, {signal, tell, screen}) {
    this.id = id;
    this.signal = signal;
    this.tell = tell;
    this.screen = screen;
    this.cards = new Map();
    this.list = el("ol", {class: "approvals", "aria-live": "polite"});
    this.counts = el("p", {class: "quiet"});
    this.node = el("section", {class: "panel", hidden: true, "aria-labelledby": "approvals-title"}, el("h2", {id: "approvals-title"}, "May the agent do this?"), this.list, this.counts);
    signal.addEventListener("abort", () => [...this.cards.keys()].forEach((card) => this.drop(card)));
  }

  get waiting() {
    return this.cards.size;
  }

  async refresh() {
    const {approvals, counts} = await get(`/v1/approvals?session=${this.id}`, {signal: this.signal});
    const open = approvals.filter((card) => card.session === this.id && (card.state ?? "waiting") === "waiting");
    const known = new Set(open.map((card) => card.id));
    [...this.cards.keys()].filter((id) => !known.has(id)).forEach((id) => this.drop(id));
    open.filter((card) => !this.cards.has(card.id)).forEach((card) => this.add(card));
    say(this.counts, this.countWords(counts.find(({session}) => session === this.id)));
    show(this.node, this.cards.size);
  }

  // A person who is asked too often stops reading.
  countWords(counts) {
    if (!counts?.asked) {
      return "";
    }
    const always = counts.answered > 4 && counts.yes_share === 1 ? " Every answer so far was yes: a rule may serve you better." : "";
    const time = counts.median_ms ? `, usually within ${words.length(counts.median_ms)}` : "";
    return `${words.count(counts.asked, "question", "questions")} so far, ${counts.answered} answered${time}.${always}`;
  }

  drop(id) {
    const {node, url} = this.cards.get(id);
    const hadFocus = node.contains(document.activeElement);
    node.remove();
    URL.revokeObjectURL(url);
    this.cards.delete(id);
    if (hadFocus) {
      (this.list.querySelector("li") ?? document.getElementById("main")).focus({preventScroll: true});
    }
  }

  add(card) {
    const entry = {node: null, url: ""};
    const answer = (body) => post(`/v1/approvals/${card.id}`, body).then(() => this.refresh());
    // A program that connects hears a no, and nothing else.
    const reason = card.action?.action !== "connect" && el("input", {type: "text", maxlength: 300, placeholder: "Why not? The agent reads it", "aria-label": "Reason that the agent reads"});
    const options = {trouble: this.tell, disabled: true};
    const once = button("Once", () => answer({answer: "once"}), {...options, kind: "main"});
    const always = card.session_words && button("For this session", () => answer({answer: "session"}), {...options, title: words.quote(card.session_words)});
    const deny = button("Deny", () => answer({answer: "deny", ...(reason && reason.value.trim() ? {reason: reason.value.trim()} : {})}), {...options, kind: "bad"});
    const picture = el("img", {alt: "The part of the screen that it is about", hidden: true});
    const action = card.action ?? {};
    entry.node = el("li", {tabindex: 0, class: "ask", "aria-label": `Question: ${words.actionWords(action)}`},
      picture,
      el("p", {class: "what"}, words.actionWords(action), card.app ? ` in ${words.appName(card.app)}` : ""),
      el("p", {class: "why"}, words.quote(card.why)),
      card.unclear ? el("p", {class: "quiet"}, action.tree ? "It may be in the folder, of which all is taken." : "The command could not be read to its end.") : null,
      this.place(card),
      el("div", {class: "buttons"}, once, always), el("div", {class: "no"}, reason, deny),
      el("p", {class: "quiet"}, always ? `For this session: ${words.quote(card.session_words)}` : card.not_session_why ? `Not offered for this session: ${words.quote(card.not_session_why)}` : ""));
    entry.node.addEventListener("keydown", (event) => {
      if (event.target === entry.node && (event.key === "y" || event.key === "n")) {
        (event.key === "y" ? once : deny).focus();
      }
    });
    entry.node.addEventListener("mouseenter", () => this.point(card, true));
    entry.node.addEventListener("mouseleave", () => this.point(card, false));
    setTimeout(() => [once, always, deny].filter(Boolean).forEach((node) => { node.disabled = false; }), CALM_MS);
    this.cards.set(card.id, entry);
    this.list.append(entry.node);
    if (card.crop !== null) {
      this.showCrop(card, entry, picture);
    }
  }

  // Where it would happen, in the words of the window and the page themselves.
  place({window, url}) {
    const said = [window?.title, url].filter(Boolean).map(words.quote);
    return said.length ? el("figure", {class: "said"}, el("figcaption", {}, "The window says"), said.map((text) => el("blockquote", {}, text))) : null;
  }

  point({action = {}, space}, on) {
    if (on && space) {
      this.screen.mark(words.actionPlaces(action), space, {stays: true});
    } else {
      this.screen.unmark();
    }
  }

  async showCrop(card, entry, picture) {
    try {
      entry.url = URL.createObjectURL(await (await call(card.crop ?? `/v1/approvals/${card.id}/crop`, {signal: this.signal})).blob());
      picture.src = entry.url;
      show(picture, true);
    } catch {
      show(picture, false); // it has none
    }
  }
}
