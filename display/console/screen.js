// SPDX-License-Identifier: GPL-2.0-or-later
// The live view: noVNC over a WebSocket whose ticket is good once. It only looks until `hands` says that its keys and pointer go to the session; what
// counts is the server, which drops the input of everybody else.
import {post} from "./api.js";
import {el, say, seen, show, sleep} from "./dom.js";

const WAIT_MS = 500, WAIT_MAX_MS = 8000;
const FIRST_PICTURE_MS = 3000;
const MARK_MS = 1600;
const VENDOR = "/console/vendor/novnc/core/rfb.js";

// Control, Alt and Shift together: no program of a desktop asks for these three alone.
const isWayOut = (event) => event.ctrlKey && event.altKey && event.shiftKey;

function addressOf(path) {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

export class Screen {
  // events: {connected(viewer), lost(error), clipboard(text), out()}
  constructor(id, {controls, signal, events}) {
    this.path = `/v1/sessions/${id}/rfb`;
    this.controls = controls;
    this.signal = signal;
    this.events = events;
    this.viewer = null;
    this.rfb = null;
    this.handsOn = false;
    this.glass = el("div", {class: "glass"});
    this.marks = el("div", {class: "marks", "aria-hidden": "true"});
    this.card = el("div", {class: "gap", role: "status"}, el("p"));
    this.node = el("div", {class: "screen", "aria-label": "Screen of the session", role: "img"}, this.glass, this.marks, this.card);
    this.cover("Connecting…");
    this.listen();
    signal.addEventListener("abort", () => this.rfb?.disconnect());
    this.run();
  }

  listen() {
    // Before noVNC hears of the key: the remote screen does not swallow the way out.
    this.node.addEventListener("keydown", (event) => {
      if (this.handsOn && isWayOut(event)) {
        event.preventDefault();
        event.stopPropagation();
        this.events.out();
      }
    }, {capture: true});
    // What is held is released when the keys go elsewhere; noVNC does that when it hears that the window lost them.
    this.node.addEventListener("focusout", () => dispatchEvent(new Event("blur")));
    this.node.addEventListener("focus", () => this.rfb?.focus({preventScroll: true}));
  }

  // Connects, and again when it is lost, for as long as the page is there.
  async run() {
    for (let wait = WAIT_MS; !this.signal.aborted; wait = Math.min(wait * 2, WAIT_MAX_MS)) {
      await seen(this.signal);
      try {
        await this.connect(() => { wait = WAIT_MS; });
        if (this.signal.aborted) {
          return;
        }
        this.cover("The connection to the screen was lost. Connecting again…");
        this.events.lost(null);
      } catch (error) {
        if (this.signal.aborted) {
          return;
        }
        this.cover(error.message);
        this.events.lost(error);
        if ([401, 403, 404, 410].includes(error.status)) {
          return;
        }
      }
      this.viewer = null;
      await sleep(wait, this.signal);
    }
  }

  // One connection, to its end.
  async connect(opened) {
    const [{default: RFB}, made] = await Promise.all([import(VENDOR), post(this.path, {controls: this.controls}, {signal: this.signal})]);
    this.glass.replaceChildren();
    const rfb = new RFB(this.glass, addressOf(this.path), {wsProtocols: [made.protocol ?? "binary", `ticket.${made.ticket}`]});
    this.rfb = rfb;
    Object.assign(rfb, {viewOnly: true, scaleViewport: true, resizeSession: false, showDotCursor: true, background: "transparent", qualityLevel: 7});
    rfb.addEventListener("connect", async () => {
      opened();
      await this.drawn(rfb);
      if (rfb !== this.rfb) {
        return;
      }
      this.viewer = made.viewer;
      this.cover("");
      this.size();
      this.hands(this.handsOn);
      this.events.connected(made.viewer);
    });
    rfb.addEventListener("clipboard", ({detail}) => this.events.clipboard(detail.text));
    const resized = new MutationObserver(() => this.size());
    resized.observe(this.glass, {subtree: true, attributeFilter: ["width", "height"]});
    await new Promise((done) => rfb.addEventListener("disconnect", done, {once: true}));
    resized.disconnect();
    this.rfb = null;
  }

  // The first picture is there, or it has been waited for long enough.
  async drawn(rfb) {
    const small = new OffscreenCanvas(8, 5).getContext("2d", {willReadFrequently: true});
    for (let ms = 0; ms < FIRST_PICTURE_MS && rfb === this.rfb && this.canvas; ms += 50) {
      small.drawImage(this.canvas, 0, 0, 8, 5);
      if (small.getImageData(0, 0, 8, 5).data.some((value, i) => i % 4 < 3 && value > 0)) {
        return;
      }
      await sleep(50, this.signal);
    }
  }

  get canvas() {
    return this.glass.querySelector("canvas");
  }

  // As wide as there is room, and as high as the window allows, in the proportions of the display.
  size() {
    const {width, height} = this.canvas ?? {};
    if (width && height) {
      this.node.style.aspectRatio = `${width} / ${height}`;
      this.node.style.setProperty("--ratio", String(width / height));
    }
  }

  // Do keys and pointer go to the session?
  hands(on) {
    this.handsOn = on;
    this.node.classList.toggle("hands", on);
    this.node.setAttribute("role", on ? "application" : "img");
    if (on) {
      this.node.tabIndex = 0;
    } else {
      this.node.removeAttribute("tabindex");
    }
    if (this.rfb && this.rfb.viewOnly === on) {
      this.rfb.viewOnly = !on;
    }
  }

  focus() {
    this.rfb?.focus({preventScroll: true});
  }

  // Text for the session's clipboard.
  paste(text) {
    this.rfb?.clipboardPasteFrom(text);
  }

  // Words in place of the picture; none: the picture.
  cover(text) {
    say(this.card.firstChild, text);
    show(this.card, text);
  }

  // Shows where an action pointed: for a moment, or until `unmark`.
  mark(places, space, {stays = false} = {}) {
    this.unmark();
    if (!space?.width || places.length === 0) {
      return;
    }
    const nodes = places.map(({x, y}, i) => {
      const node = el("span", {class: "mark"}, places.length > 1 ? String(i + 1) : "");
      node.style.left = `${((x + 0.5) / space.width) * 100}%`;
      node.style.top = `${((y + 0.5) / space.height) * 100}%`;
      return node;
    });
    this.marks.replaceChildren(...nodes);
    if (!stays) {
      this.marking = setTimeout(() => this.unmark(), MARK_MS);
    }
  }

  unmark() {
    clearTimeout(this.marking);
    this.marks.replaceChildren();
  }
}
