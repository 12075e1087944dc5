// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent does, live, newest first. Each place is marked on the picture: when it happens, and when somebody looks at the line.
import {el, say, show} from "./dom.js";
import * as words from "./words.js";

const LINES_MAX = 200;
const RECENT_MS = 5000;

export class ActionsPanel {
  constructor({screen}) {
    this.screen = screen;
    this.running = new Map(); // request and index → its line
    this.list = el("ol", {class: "actions"});
    this.none = el("p", {class: "quiet"}, "Nothing yet.");
    this.state = el("p", {class: "quiet", role: "status", hidden: true});
    this.node = el("section", {class: "panel", "aria-labelledby": "actions-title"}, el("h2", {id: "actions-title"}, "What the agent does"), this.state, this.none, this.list);
  }

  lost(error) {
    say(this.state, error ? `Not live now. ${words.trouble(error)}` : "");
    show(this.state, error);
  }

  add(node) {
    this.list.prepend(node);
    while (this.list.children.length > LINES_MAX) {
      this.list.lastChild.remove();
    }
    show(this.none, false);
  }

  // A line of the journal; those that tell nothing to a person are passed over.
  take(event, line) {
    const run = {intent: this.begin, result: this.end, gap: this.gap, lease: this.handed, paused: this.note, resumed: this.note, approval: this.approval, limit: this.limit}[event];
    run?.call(this, line);
  }

  begin(line) {
    const {action = {}, space} = line;
    const places = words.actionPlaces(action);
    const outcome = el("span", {class: "outcome"}, "…");
    const look = (on) => (on ? this.screen.mark(places, space, {stays: true}) : this.screen.unmark());
    const what = places.length
      ? el("button", {type: "button", class: "plain", title: "Show where", on: {mouseenter: () => look(true), mouseleave: () => look(false), focus: () => look(true),
        blur: () => look(false), click: () => this.screen.mark(places, space)}}, words.actionWords(action))
      : el("span", {}, words.actionWords(action));
    const node = el("li", {}, el("time", {datetime: line.time}, words.clock(line.time)), what, outcome);
    this.running.set(`${line.request} ${line.index}`, {node, outcome});
    this.add(node);
    if (Date.now() - Date.parse(line.time) < RECENT_MS) {
      this.screen.mark(places, space);
    }
  }

  end(line) {
    const key = `${line.request} ${line.index}`, entry = this.running.get(key);
    this.running.delete(key);
    if (!entry) {
      return;
    }
    entry.node.dataset.ok = line.ok;
    say(entry.outcome, line.ok ? `${line.elapsed_ms} ms` : words.quote(line.error).replaceAll("_", " "));
  }

  mark(text, time, kind) {
    this.add(el("li", {class: kind}, time ? el("time", {datetime: time}, words.clock(time)) : null, el("span", {}, text)));
  }

  gap({first, last}) {
    this.mark(`${words.count(last - first + 1, "line is", "lines are")} not shown here`, null, "hole");
  }

  handed(line) {
    const why = {lose: "The person's connection was lost", come: "The person is back", run_out: "The person did not come back", extend: "The person stays longer"}[line.why];
    const who = {agent: "The agent has the controls again", human: "A person holds the controls: nothing is recorded", nobody: "The agent has stopped"}[line.holder];
    this.mark(why ?? who ?? "The controls have changed", line.time, line.holder === "agent" || why ? "note" : "hole");
  }

  approval(line) {
    const text = {waiting: "Asked for a yes", allowed: "Got a yes", denied: "Got a no", expired: "Got no answer", withdrawn: "The question was withdrawn"}[line.state];
    if (text) {
      this.mark(text, line.time, "note");
    }
  }

  limit(line) {
    this.mark(`Limit met: ${words.quote(line.limit)} ${line.value}`, line.time, "note");
  }

  note(line) {
    this.mark(line.event === "paused" ? "Paused" : "Goes on", line.time, "note");
  }
}
