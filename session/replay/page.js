
/* SPDX-License-Identifier: GPL-2.0-or-later */
"use strict";
/* What the pages have in common: elements, marks over a picture, the chosen step, keys. */
const page = (() => {
  const at = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(at(id).textContent);

  const make = (name, text, kind) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };

  /* Into #marks, whose unit is a pixel of #picture. */
  const draw = (name, kind, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    element.setAttribute("class", kind);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    at("marks").append(element);
  };
  const clearMarks = () => {
    const { naturalWidth: width, naturalHeight: height } = at("picture");
    at("marks").replaceChildren();
    at("marks").setAttribute("viewBox", `0 0 ${width || 1} ${height || 1}`);
  };
  const drawPath = (points) => {
    const path = { points: points.map(({ x, y }) => `${x},${y}`).join(" ") };
    draw("polyline", "halo", path);
    draw("polyline", "path", path);
  };
  const drawPoint = ({ x, y }) => {
    draw("circle", "halo", { cx: x, cy: y, r: 14 });
    draw("circle", "point", { cx: x, cy: y, r: 14 });
    draw("circle", "dot", { cx: x, cy: y, r: 3 });
  };

  /* Marks the button of the chosen step among those of #steps. */
  const point = (index, focus) => {
    const old = at("steps").querySelector("[aria-current]"), button = at("steps").children[index].firstChild;
    if (old) old.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    button.scrollIntoView({ block: "nearest" });
    if (focus) button.focus();
  };

  /* { key: what it does }; the space bar stays with a button that has the focus. */
  const onKeys = (keys) => document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    keys[event.key]();
  });

  return { at, read, make, draw, clearMarks, drawPath, drawPoint, point, onKeys };
})();
