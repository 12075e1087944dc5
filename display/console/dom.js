// SPDX-License-Identifier: GPL-2.0-or-later
// Making nodes. What a session says comes into the page as text and as pictures, never as markup.

export const $ = (id) => document.getElementById(id);

// el("button", {class: "quiet", type: "button", on: {click}}, "Close"): a property that is false or absent is left out.
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, run] of Object.entries(value)) {
        node.addEventListener(event, run);
      }
    } else if (name === "class") {
      node.className = value;
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value !== undefined && value !== null) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Text that is as it was is left alone: a live region is not read out again.
export function say(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

// Shows a node, or hides it.
export function show(node, shown) {
  if (node.hidden === Boolean(shown)) {
    node.hidden = !shown;
  }
}

// A button that is busy while its work runs, and whose refusal is told by `trouble`.
export function button(text, work, {kind = "", trouble = () => {}, ...props} = {}) {
  const node = el("button", {type: "button", class: kind, ...props}, text);
  node.addEventListener("click", async () => {
    if (node.getAttribute("aria-busy")) {
      return;
    }
    node.setAttribute("aria-busy", "true");
    try {
      trouble("");
      await work(node);
    } catch (error) {
      trouble(error);
    } finally {
      node.removeAttribute("aria-busy");
    }
  });
  return node;
}

// Sleeps, until the time is over or the signal ends it.
export function sleep(ms, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => { clearTimeout(timer); done(); }, {once: true});
  });
}

// Waits until somebody can see the page.
export function seen(signal) {
  if (!document.hidden) {
    return Promise.resolve();
  }
  return new Promise((done) => {
    document.addEventListener("visibilitychange", () => done(), {once: true, signal});
    signal?.addEventListener("abort", () => done(), {once: true});
  });
}
