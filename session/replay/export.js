
/* SPDX-License-Identifier: GPL-2.0-or-later */
"use strict";
(() => {
  const { at, make } = page;
  const { head, steps } = page.read("data");
  const missing = new Set(head.missing);
  const PLAY_MS = [350, 1500]; // from one step to the next, as it was within these
  let chosen = 0, view = "after", timer = null;

  const clock = (ms) => {
    const tenths = Math.round(ms / 100), seconds = Math.floor(tenths / 10);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}.${tenths % 10}`;
  };
  const size = (s) => (s ? `${s.width}×${s.height}` : "");
  const picture = (step, which) => (step[which] && !missing.has(step[which]) ? `png/${String(step[which]).padStart(6, "0")}.png` : null);

  const WORDS = {
    look: (step) => (step.settled ? "looked, once it was quiet" : "looked"),
    left_out: (step) => (step.n === 1 ? "one action was not begun" : `${step.n} actions were not begun`),
  };
  const words = (step) => (WORDS[step.kind] ? WORDS[step.kind](step) : step.title);
  const hasFailed = (step) => step.ok === false || Boolean(step.error);

  const outcome = (step) => {
    if (step.kind === "left_out") return "The action before failed.";
    const took = step.elapsed_ms === undefined ? "" : ` after ${step.elapsed_ms} ms`;
    if (step.error) return `failed${took}: ${step.error}`;
    if (step.kind === "look") return step.settled ? `quiet${took}` : `still changing${took}`;
    if (step.ok === undefined) return "no result: it may have happened";
    return step.ok ? `done${took}` : `failed${took}`;
  };

  const showMarks = (step) => {
    page.clearMarks();
    if (!at("picture").naturalWidth) return;
    const marks = step.marks || [];
    if (step.region) page.draw("rect", "area", step.region);
    for (const node of [step.node, step.node_to]) if (node && node.bounds) page.draw("rect", "met", node.bounds);
    if (marks.length > 1) page.drawPath(marks);
    (marks.length > 1 ? [marks[0], marks[marks.length - 1]] : marks).forEach(page.drawPoint);
  };

  const showPicture = (step) => {
    const views = ["before", "after"].filter((name) => picture(step, name));
    const shown = views.includes(view) ? view : views[views.length - 1];
    for (const name of ["before", "after"]) {
      at(name).disabled = !views.includes(name);
      at(name).setAttribute("aria-selected", String(name === shown));
    }
    at("stage").hidden = !shown;
    at("nopicture").hidden = Boolean(shown);
    if (!shown) return;
    at("picture").alt = `the screen ${shown} this step`;
    at("picture").src = picture(step, shown);
    showMarks(step);
  };

  const UNMET = { late: "not known: the app did not answer in time", none: "nothing that an app tells of", failed: "not known: the app was not asked" };
  const named = (node) => node && (node.name ? `${node.role} “${node.name}”` : node.role);
  const showMore = (step) => {
    const rows = [["action", step.action && JSON.stringify(step.action), "code"], ["met", named(step.node) || UNMET[step.node_reason]],
      ["dropped on", named(step.node_to)], ["time", step.time], ["by", step.actor],
      ["call", step.request && `${step.call} (${step.request})`], ["dialect", step.dialect]];
    at("more").replaceChildren(...rows.filter(([, value]) => value !== undefined && value !== "").flatMap(([name, value, kind]) =>
      [make("dt", name), make("dd", value, kind)]));
  };

  const choose = (index) => {
    if (!steps.length) return;
    chosen = Math.max(0, Math.min(steps.length - 1, index));
    const step = steps[chosen];
    page.point(chosen);
    at("title").textContent = words(step);
    at("result").textContent = outcome(step);
    at("result").className = hasFailed(step) ? "failed" : "";
    at("seek").value = chosen;
    at("count").textContent = `${chosen + 1} of ${steps.length}`;
    at("back").disabled = chosen === 0;
    at("next").disabled = chosen === steps.length - 1;
    showPicture(step);
    showMore(step);
    for (const name of ["before", "after"]) {
      const ahead = steps[chosen + 1] && picture(steps[chosen + 1], name);
      if (ahead) new Image().src = ahead;
    }
  };

  const stop = () => {
    clearTimeout(timer);
    timer = null;
    at("play").textContent = "play";
  };
  const tick = () => {
    if (chosen === steps.length - 1) { stop(); return; }
    const apart = (steps[chosen + 1].at_ms || 0) - (steps[chosen].at_ms || 0);
    timer = setTimeout(() => { choose(chosen + 1); tick(); }, Math.max(PLAY_MS[0], Math.min(PLAY_MS[1], apart)));
  };
  const toggle = () => {
    if (timer !== null) { stop(); return; }
    if (chosen === steps.length - 1) choose(0);
    at("play").textContent = "stop";
    tick();
  };
  const go = (index) => { stop(); choose(index); };
  const see = (name) => { view = name; if (steps.length) showPicture(steps[chosen]); };

  const list = () => {
    steps.forEach((step, i) => {
      const item = make("li"), button = make("button");
      if (!i || steps[i - 1].call !== step.call) item.className = "call";
      button.append(make("span", i + 1, "number"), make("span", words(step), `what ${step.kind}${hasFailed(step) ? " failed" : ""}`),
        make("span", step.at_ms === undefined ? "" : clock(step.at_ms), "when"));
      button.addEventListener("click", () => go(i));
      item.append(button);
      at("steps").append(item);
    });
    at("seek").max = Math.max(0, steps.length - 1);
  };

  const warn = () => {
    const texts = [];
    if (head.broken) texts.push(`The journal is not as it was written: ${head.broken}. What follows there is left out.`);
    if (head.missing.length) texts.push(`${head.missing.length} of its pictures are not there or damaged.`);
    if (!steps.length) texts.push("Nobody acted in this session.");
    at("warning").textContent = texts.join(" ");
    at("warning").hidden = !texts.length;
  };

  at("session").textContent = head.session || "";
  document.title = `Session ${head.session || ""}`;
  at("facts").textContent = [head.image, size(head.native), head.time, `${head.calls} calls, ${steps.length} steps`,
    head.end ? `ended: ${head.end}` : "no end is recorded"].filter(Boolean).join(" · ");
  at("picture").addEventListener("load", () => { if (steps.length) showMarks(steps[chosen]); });
  at("back").addEventListener("click", () => go(chosen - 1));
  at("next").addEventListener("click", () => go(chosen + 1));
  at("play").addEventListener("click", toggle);
  at("seek").addEventListener("input", () => go(Number(at("seek").value)));
  at("before").addEventListener("click", () => see("before"));
  at("after").addEventListener("click", () => see("after"));

  page.onKeys({
    ArrowLeft: () => go(chosen - 1), ArrowRight: () => go(chosen + 1), ArrowUp: () => go(chosen - 1), ArrowDown: () => go(chosen + 1),
    Home: () => go(0), End: () => go(steps.length - 1), b: () => see("before"), a: () => see("after"), " ": toggle,
  });

  warn();
  list();
  choose(0);
})();
