// SPDX-License-Identifier: GPL-2.0-or-later
// Who else looks on, and inviting somebody: a link that opens nothing without its code, which is said once and here alone.
import {call, get, post} from "./api.js";
import {button, el, say, show} from "./dom.js";
import * as words from "./words.js";

const ROLES = {viewer: "looks on", controller: "may take the controls"};

export class PeoplePanel {
  constructor(id, {signal, tell, viewer}) {
    this.path = `/v1/sessions/${id}`;
    this.signal = signal;
    this.tell = tell;
    this.viewer = viewer;
    this.others = el("p", {});
    this.label = el("input", {type: "text", id: "invite-label", maxlength: 64, placeholder: "For whom?"});
    this.role = el("select", {id: "invite-role", "aria-label": "What the invited person may do"},
      Object.entries(ROLES).map(([value, text]) => el("option", {value}, text)));
    this.made = el("div", {class: "made", role: "status", hidden: true});
    this.list = el("ul", {class: "shares"});
    const invite = el("details", {}, el("summary", {}, "Invite somebody"),
      el("label", {for: "invite-label", class: "away"}, "For whom"), this.label, el("div", {class: "row"}, this.role, button("Make a link", () => this.invite(), {trouble: tell})),
      this.made, this.list);
    invite.addEventListener("toggle", () => invite.open && this.refreshShares().catch(tell));
    this.node = el("section", {class: "panel", "aria-labelledby": "people-title"}, el("h2", {id: "people-title"}, "People"), this.others, invite);
  }

  async refresh() {
    const {viewers} = await get(`${this.path}/viewers`, {signal: this.signal}).catch(() => ({}));
    if (!viewers) {
      say(this.others, "Who else looks on is not known now.");
      return;
    }
    const n = viewers.filter(({viewer}) => viewer !== this.viewer()).length;
    say(this.others, n ? `${words.count(n, "other viewer looks", "other viewers look")} on.` : "Nobody else looks on.");
  }

  async invite() {
    const label = this.label.value.trim();
    const share = await post(`${this.path}/shares`, {role: this.role.value, ...(label ? {label} : {})});
    const link = new URL(share.link, location.href).href;
    this.label.value = "";
    this.made.replaceChildren(
      el("p", {}, "Send the link one way, and the code another:"),
      el("p", {}, "Link ", el("code", {}, link)), el("p", {}, "Code ", el("code", {class: "code"}, share.code)),
      el("p", {class: "quiet"}, "The code is good once, and is not shown again."));
    show(this.made, true);
    await this.refreshShares();
  }

  async refreshShares() {
    const {shares} = await get(`${this.path}/shares`, {signal: this.signal});
    this.list.replaceChildren(...shares.map((share) => el("li", {},
      el("span", {}, [words.quote(share.label) || "somebody", ROLES[share.role]].join(", ")),
      button("Revoke", async () => { await call(`${this.path}/shares/${share.id}`, {method: "DELETE"}); await this.refreshShares(); }, {trouble: this.tell}))));
  }
}
