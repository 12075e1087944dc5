// SPDX-License-Identifier: GPL-2.0-or-later
// The page of one session: the live view, who has the controls, what waits for a yes, what the agent does. What stands beside the view comes from
// the server; the page that is shown in the session has no say in it.
import {ActionsPanel} from "./actions.js";
import {call, DRIVERS, follow, get, keep, token} from "./api.js";
import {ApprovalsPanel} from "./approvals.js";
import {ClipboardPanel} from "./clipboard.js";
import {$, button, el, say, seen, show, sleep} from "./dom.js";
import {LeasePanel} from "./lease.js";
import {PeoplePanel} from "./people.js";
import {Screen} from "./screen.js";
import * as words from "./words.js";

const STATE_MS = 3000;
const LIVE = ["starting", "ready", "paused", "ending"];
const CHANGES_LEASE = ["lease", "gap", "paused", "resumed", "call"];

// The line of what has the keys, from the stage.
function focusWords(focus) {
  if (!focus?.known) {
    return "Keys go to: not known";
  }
  const field = focus.password ? "a password field" : focus.terminal ? "a terminal" : focus.editable ? "a text field" : "";
  const place = [focus.app && words.appName(focus.app), focus.origin && words.quote(focus.origin)].filter(Boolean).join(", ");
  return `Keys go to: ${[place || "a program that is not in the catalogue", field].filter(Boolean).join(" · ")}`;
}

class SessionPage {
  constructor(main, shown, id) {
    // Until the page is left, or the session has ended.
    this.stop = new AbortController();
    shown.addEventListener("abort", () => this.stop.abort());
    const {signal} = this.stop;
    this.id = id;
    this.path = `/v1/sessions/${id}`;
    this.signal = signal;
    this.session = null;
    this.asked = new Set(); // questions that wait, for one who may not read them
    this.lease = {holder: "agent"};
    this.mayDrive = token.may(...DRIVERS);
    this.tell = (error) => this.told(error);

    this.trouble = el("p", {class: "trouble", role: "alert"});
    this.screen = new Screen(id, {controls: this.mayDrive, signal, events: {
      connected: () => this.refreshLease(),
      lost: () => this.refreshLease(),
      clipboard: (text) => this.clipboard.came(text),
      out: () => (this.leasePanel.give.hidden ? this.leasePanel.take : this.leasePanel.give).focus(),
    }});
    this.leasePanel = new LeasePanel(id, {signal, tell: this.tell, viewer: () => this.screen.viewer, changed: (lease) => this.leased(lease),
      focusScreen: () => this.screen.focus()});
    this.approvals = new ApprovalsPanel(id, {signal, tell: this.tell, screen: this.screen});
    this.actions = new ActionsPanel({screen: this.screen});
    this.clipboard = new ClipboardPanel({send: (text) => this.screen.paste(text)});
    this.people = new PeoplePanel(id, {signal, tell: this.tell, viewer: () => this.screen.viewer});
    this.build(main);
  }

  build(main) {
    this.name = el("h1");
    this.state = el("span", {class: "state"});
    this.ends = el("span", {class: "quiet"});
    this.focus = el("p", {class: "focus"});
    this.wayOut = el("p", {class: "quiet"});
    this.usage = el("p", {class: "quiet usage"});
    this.hint = el("p", {class: "quiet hint"}, el("kbd", {}, "Ctrl"), " ", el("kbd", {}, "Alt"), " ", el("kbd", {}, "Shift"), " together leave the screen");
    this.pause = button("Pause", () => this.act("pause"), {trouble: this.tell});
    this.resume = button("Resume", () => this.act("resume"), {trouble: this.tell});
    this.end = button("End…", () => this.asksEnd.showModal(), {trouble: this.tell});
    this.asksEnd = this.buildEnd();
    const tools = el("div", {class: "buttons"}, this.pause, this.resume, this.end);
    show(tools, this.mayDrive);
    show(this.clipboard.node, this.mayDrive);
    show(this.people.node, this.mayDrive);
    main.append(
      el("div", {class: "bar"}, el("a", {href: "#", class: "back", hidden: !token.may("owner", "operator")}, "All sessions"), this.name, this.state, this.ends, tools),
      this.trouble,
      el("div", {class: "desk"}, this.leasePanel.node, this.leasePanel.more,
        el("div", {class: "view"}, this.screen.node, el("div", {class: "under"}, this.focus, this.wayOut, this.usage, this.hint)),
        el("div", {class: "side"}, this.approvals.node, this.actions.node, this.clipboard.node, this.people.node, this.buildKeep())),
      this.asksEnd);
  }

  buildKeep() {
    const file = (part, name, text) => button(text, () => keep(`${this.path}/${part}`, name), {trouble: this.tell});
    const node = el("section", {class: "panel", "aria-labelledby": "keep-title"}, el("h2", {id: "keep-title"}, "Recording"),
      el("div", {class: "buttons"}, file("journal", `${this.id}.jsonl`, "Save journal"), file("recording", `${this.id}.pictures`, "Save pictures")),
      el("p", {class: "quiet"}, "As a film or a page: ", el("code", {}, `glovebox export ${this.id}`)));
    show(node, this.mayDrive);
    return node;
  }

  buildEnd() {
    const close = () => this.asksEnd.close();
    return el("dialog", {"aria-labelledby": "end-title"}, el("h2", {id: "end-title"}, "End this session?"),
      el("p", {}, "Its programs are closed and its files are gone. Only its journal stays."),
      el("div", {class: "buttons"}, button("Keep it", close),
        button("End it", async () => { close(); await call(this.path, {method: "DELETE"}); await this.refreshState(); }, {kind: "bad", trouble: this.tell})));
  }

  told(error) {
    say(this.trouble, typeof error === "string" ? error : words.trouble(error));
  }

  async act(name) {
    await call(`${this.path}/${name}`, {method: "POST"});
    await this.refreshState();
  }

  // --- what the server says

  async refreshState() {
    const session = await get(this.path, {signal: this.signal});
    this.session = session;
    const live = LIVE.includes(session.state), name = words.sessionName(session);
    say(this.name, name);
    say(this.state, words.stateName(session.state));
    this.state.dataset.state = session.state;
    say(this.ends, words.ending(session));
    say(this.focus, live ? focusWords(session.focus) : "");
    say(this.wayOut, live ? words.egressWords(session.egress) : "");
    say(this.usage, live ? words.usage(session.usage) : "");
    show(this.pause, session.state === "ready");
    show(this.resume, session.state === "paused");
    show(this.end, live);
    show(this.leasePanel.node, live);
    if (!live) {
      show(this.leasePanel.more, false);
    }
    // That an agent has looked again is no event.
    if (session.lease && (session.lease.epoch !== this.lease.epoch || this.lease.must_observe)) {
      this.refreshLease();
    } else if (live) {
      this.leased(this.lease);
    }
    if (session.state === "ended" || session.state === "failed") {
      this.over();
    }
  }

  async refreshLease() {
    try {
      const lease = await get(`${this.path}/lease`, {signal: this.signal});
      if (!this.signal.aborted) {
        this.leased(lease);
      }
    } catch (error) {
      if (error.status === 404 || error.status === 405) {
        this.leased(this.session?.lease ?? this.lease);
      }
    }
  }

  leased(lease) {
    this.lease = lease;
    this.leasePanel.update(lease, this.session, this.waiting());
    const mine = this.leasePanel.isMine(), login = lease.holder === "human" && lease.kind === "login" && !lease.shared;
    const hadHands = this.screen.handsOn;
    this.screen.hands(mine);
    this.clipboard.open(mine);
    show(this.hint, mine);
    if (this.screen.viewer) {
      this.screen.cover(login && !mine ? "Somebody is logging in. The screen is theirs alone until they give back." : this.session?.state === "paused" ? "Paused" : "");
    }
    if (hadHands && !mine) {
      document.activeElement?.blur?.();
    } else if (mine && !hadHands && document.activeElement === document.body) {
      this.screen.focus(); // back after a loss
    }
    this.title();
  }

  // How many questions wait for an answer.
  waiting() {
    return this.mayDrive ? this.approvals.waiting : this.asked.size;
  }

  title() {
    const waiting = words.waits(this.lease) || this.waiting() > 0;
    document.title = `${waiting ? "(!) " : ""}${this.session ? words.sessionName(this.session) : this.id} · Glovebox`;
  }

  async refreshApprovals() {
    if (this.mayDrive) {
      await this.approvals.refresh().catch((error) => { if (error.status !== 404) this.tell(error); });
    }
    if (this.session && !this.signal.aborted) {
      this.leased(this.lease);
    }
  }

  // --- for as long as the page is there

  async keepState() {
    while (!this.signal.aborted) {
      await seen(this.signal);
      try {
        await this.refreshState();
        if (this.isDeaf) {
          this.tell("");
        }
        this.isDeaf = false;
        if (this.mayDrive && !this.signal.aborted) {
          await this.people.refresh();
        }
      } catch (error) {
        if (this.signal.aborted) {
          return;
        }
        this.isDeaf = true; // until an answer comes
        this.tell(error);
        if (error.status === 404 || error.status === 410) {
          this.over();
          return;
        }
      }
      await sleep(STATE_MS, this.signal);
    }
  }

  over() {
    this.actions.lost(null); // nothing is to come
    [this.clipboard, this.people, this.approvals].forEach(({node}) => show(node, false));
    this.screen.cover(this.session ? `This session has ${this.session.state === "failed" ? "failed" : "ended"}.` : "There is no such session.");
    this.stop.abort();
  }

  // One stream of events while somebody can see the page; it goes on where it stopped.
  async keepEvents() {
    let last = "0";
    while (!this.signal.aborted) {
      await seen(this.signal);
      const stop = new AbortController();
      const halt = () => { if (document.hidden || this.signal.aborted) stop.abort(); };
      document.addEventListener("visibilitychange", halt, {signal: stop.signal});
      this.signal.addEventListener("abort", halt, {signal: stop.signal});
      await follow(`${this.path}/events`, {signal: stop.signal, last, lost: (error) => this.actions.lost(this.signal.aborted ? null : error),
        take: (event, line) => { last = String(line.seq ?? line.last ?? last); this.took(event, line); }});
      if (!stop.signal.aborted) {
        return; // the server said that there is no more
      }
    }
  }

  took(event, line) {
    this.actions.take(event, line);
    if (event === "approval") {
      this.asked[line.state === "waiting" ? "add" : "delete"](line.approval);
      this.soon("approvals", () => this.refreshApprovals());
    }
    if (CHANGES_LEASE.includes(event)) {
      this.soon("lease", () => this.refreshLease());
    }
    if (event === "end" || event === "failed" || event === "paused" || event === "resumed") {
      this.soon("state", () => this.refreshState().catch(this.tell));
    }
  }

  // Once for many events.
  soon(name, run) {
    this.due ??= new Set();
    if (!this.due.has(name)) {
      this.due.add(name);
      setTimeout(() => { this.due.delete(name); if (!this.signal.aborted) run(); }, 50);
    }
  }
}

export function sessionView(main, signal, id) {
  const page = new SessionPage(main, signal, id);
  say($("summary"), "");
  page.keepState();
  page.keepEvents();
  page.refreshApprovals();
  $("main").focus({preventScroll: true});
}
