// SPDX-License-Identifier: GPL-2.0-or-later
// The clipboard of the session, for whoever holds the controls. Text goes in and out by a field: the browser is never asked for its own clipboard
// unless the person presses Copy.
import {button, el, say, show} from "./dom.js";

const TEXT_MAX = 256 * 1024;

export class ClipboardPanel {
  constructor({send}) {
    this.inward = el("textarea", {id: "paste", rows: 3, maxlength: TEXT_MAX, spellcheck: "false", autocomplete: "off", placeholder: "Paste or write text here"});
    this.outward = el("textarea", {id: "copied", rows: 3, readonly: true, spellcheck: "false"});
    this.told = el("p", {class: "quiet", role: "status"});
    this.put = button("Put on its clipboard", () => { send(this.inward.value); this.inward.value = ""; say(this.told, "It is on the session's clipboard: paste it there with Ctrl+V."); });
    this.copy = button("Copy", () => this.take());
    this.back = el("div", {hidden: true}, el("label", {for: "copied"}, "Copied in the session"), this.outward, el("div", {class: "buttons"}, this.copy));
    this.body = el("div", {}, el("label", {for: "paste"}, "Into the session"), this.inward, el("div", {class: "buttons"}, this.put), this.back, this.told);
    this.locked = el("p", {class: "quiet"}, "Open to whoever has the controls.");
    this.node = el("section", {class: "panel clipboard", "aria-labelledby": "clipboard-title"}, el("h2", {id: "clipboard-title"}, "Clipboard"), this.locked, this.body);
    this.open(false);
  }

  // Does this page hold the controls? When it does not any more, nothing of the session's clipboard stays in the page.
  open(on) {
    show(this.body, on);
    show(this.locked, !on);
    if (!on) {
      this.inward.value = this.outward.value = "";
      show(this.back, false);
      say(this.told, "");
    }
  }

  came(text) {
    if (!this.body.hidden) {
      this.outward.value = text;
      show(this.back, true);
    }
  }

  async take() {
    this.outward.select();
    try {
      await navigator.clipboard.writeText(this.outward.value);
      say(this.told, "Copied.");
    } catch {
      say(this.told, "It is selected: Ctrl+C copies it.");
    }
  }
}
