
/* SPDX-License-Identifier: GPL-2.0-or-later */
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const { head, steps } = JSON.parse(at("data").textContent);
  const pictures = JSON.parse(at("pictures").textContent);
  const MARKS = { passed: "✓", differs: "≠", failed: "!", not_played: "–" };
  const WORDS = { passed: "passed", differs: "differs", failed: "failed", not_played: "not played" };
  const VIEWS = [["before", "before"], ["expected", "expected"], ["actual", "actual"], ["difference", "difference"]];
  let chosen = 0, view = null;

  const make = (name, text, kind) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const draw = (name, kind, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    element.setAttribute("class", kind);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    at("marks").append(element);
  };
  const rect = (kind, r) => draw("rect", kind, { x: r.x - 3, y: r.y - 3, width: r.width + 6, height: r.height + 6 });

  const showMarks = (step) => {
    const image = at("picture");
    at("marks").replaceChildren();
    at("marks").setAttribute("viewBox", `0 0 ${image.naturalWidth || 1} ${image.naturalHeight || 1}`);
    if (view !== "before" && step.box) rect("box", step.box);
    if (view === "before" && step.where === "before" && step.box) rect("box", step.box);
    for (const place of step.hidden || []) rect("away", place);
    const points = step.points || [];
    if (view === "difference") return;
    if (points.length > 1) draw("polyline", "path", { points: points.map((p) => `${p.x},${p.y}`).join(" ") });
    for (const point of points) {
      draw("circle", "ring", { cx: point.x, cy: point.y, r: 13 });
      draw("circle", "point", { cx: point.x, cy: point.y, r: 13 });
    }
  };

  const viewsOf = (step) => VIEWS.filter(([name]) => step[name] && pictures[step[name]]);

  const showPicture = (step) => {
    const views = viewsOf(step);
    if (!views.some(([name]) => name === view)) view = views.length ? views[views.length - 1][0] : null;
    at("views").replaceChildren(...views.map(([name, word]) => {
      const button = make("button", word);
      button.setAttribute("role", "tab");
      button.setAttribute("aria-selected", String(name === view));
      button.addEventListener("click", () => { view = name; showPicture(step); });
      return button;
    }));
    at("stage").hidden = !view;
    at("nopicture").hidden = Boolean(view);
    if (!view) return;
    at("picture").onload = () => showMarks(step);
    at("picture").src = pictures[step[view]];
    at("picture").alt = `${view} of step ${step.step}`;
  };

  const showResults = (step) => {
    const rows = step.results || [];
    at("results").hidden = rows.length === 0;
    at("results").tBodies[0].replaceChildren(...rows.map((row) => {
      const line = make("tr", undefined, row.same ? "" : "other");
      const now = row.detail ? `${JSON.stringify(row.actual)} ${row.detail}` : JSON.stringify(row.actual);
      line.append(make("td", row.action));
      for (const text of [JSON.stringify(row.expected), now]) {
        const cell = make("td");
        cell.append(make("code", text));
        line.append(cell);
      }
      return line;
    }));
  };

  const choose = (index, focus) => {
    chosen = Math.max(0, Math.min(steps.length - 1, index));
    const step = steps[chosen];
    [...at("steps").children].forEach((item, i) => {
      const button = item.firstChild;
      if (i === chosen) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    const button = at("steps").children[chosen].firstChild;
    button.scrollIntoView({ block: "nearest" });
    if (focus) button.focus();
    at("title").textContent = `${step.step}. ${step.title}`;
    at("reason").textContent = step.reason || "";
    at("reason").hidden = !step.reason;
    at("note").textContent = [step.note_before, step.note].filter(Boolean).join("; ");
    at("note").hidden = !at("note").textContent;
    view = step.difference ? "difference" : view;
    showPicture(step);
    showResults(step);
  };

  const nextView = (by) => {
    const names = viewsOf(steps[chosen]).map(([name]) => name);
    if (!names.length) return;
    view = names[(names.indexOf(view) + by + names.length) % names.length];
    showPicture(steps[chosen]);
  };
  const nextDifference = () => {
    for (let i = 1; i <= steps.length; i++) {
      const index = (chosen + i) % steps.length;
      if (["differs", "failed"].includes(steps[index].verdict)) return choose(index, true);
    }
  };
  const KEYS = {
    ArrowDown: () => choose(chosen + 1, true), ArrowUp: () => choose(chosen - 1, true),
    ArrowRight: () => nextView(1), ArrowLeft: () => nextView(-1), d: nextDifference,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  at("journal").textContent = head.journal;
  at("facts").textContent = [
    `${head.passed} of ${head.steps} steps passed`, `${head.compared} compared by picture`, head.image && `image ${head.image}`,
    head.started_at, head.elapsed_ms !== undefined && `${(head.elapsed_ms / 1000).toFixed(1)} s`,
  ].filter(Boolean).join(" · ");
  at("verdict").textContent = WORDS[head.verdict] || head.verdict;
  at("verdict").classList.add(head.verdict);
  at("steps").append(...steps.map((step, i) => {
    const item = make("li"), button = make("button");
    button.append(make("span", String(step.step), "number"), make("span", step.title, "what"),
      make("span", MARKS[step.verdict] || "?", `mark ${step.verdict}`));
    button.title = `${step.title}: ${WORDS[step.verdict] || step.verdict}`;
    button.addEventListener("click", () => choose(i, false));
    item.append(button);
    return item;
  }));
  const first = steps.findIndex((step) => step.verdict === "differs" || step.verdict === "failed");
  if (steps.length) choose(first < 0 ? 0 : first, false);
})();
