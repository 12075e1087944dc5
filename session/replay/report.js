
/* SPDX-License-Identifier: GPL-2.0-or-later */
"use strict";
(() => {
  const { at, make } = page;
  const { head, steps } = page.read("data");
  const pictures = page.read("pictures");
  const MARKS = { passed: "✓", differs: "≠", failed: "!", not_played: "–" };
  const WORDS = { passed: "passed", differs: "differs", failed: "failed", not_played: "not played" };
  const VIEWS = [["before", "before"], ["expected", "expected"], ["actual", "actual"], ["difference", "difference"]];
  let chosen = 0, view = null;

  const rect = (kind, r) => page.draw("rect", kind, { x: r.x - 3, y: r.y - 3, width: r.width + 6, height: r.height + 6 });

  const showMarks = (step) => {
    page.clearMarks();
    if (view !== "before" && step.box) rect("box", step.box);
    if (view === "before" && step.where === "before" && step.box) rect("box", step.box);
    for (const place of step.hidden || []) rect("away", place);
    const points = step.points || [], isNow = view === "actual" || view === "difference";
    if (isNow && step.node && ["moved", "alike"].includes(step.node.state)) rect("moved", step.node.now);
    if (view === "difference") return;
    if (points.length > 1) page.drawPath(points);
    points.forEach(page.drawPoint);
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
    page.point(chosen, focus);
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
  page.onKeys({
    ArrowDown: () => choose(chosen + 1, true), ArrowUp: () => choose(chosen - 1, true),
    ArrowRight: () => nextView(1), ArrowLeft: () => nextView(-1), d: nextDifference,
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
