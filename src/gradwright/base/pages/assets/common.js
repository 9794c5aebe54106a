"use strict";
// What every page's script may use: elements, numbers in words, and the switch between light and dark.

const SVG = new Set(["svg", "g", "use", "path", "rect", "line", "circle", "text", "tspan", "title", "defs", "marker", "polyline", "polygon"]);

const make = (name, attributes = {}, ...children) => {
  const e = SVG.has(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
};
const signed = (text) => text.replaceAll("-", "\u2212");
const number = (v, digits = 6) => signed(typeof v === "number" ? String(Number(v.toPrecision(digits))) : v);
const short = (v) => {
  const plain = number(v, 3);
  return plain.length <= 7 ? plain : signed(v.toExponential(1)).replace("+", "");
};

{
  const themes = [...document.querySelectorAll(".theme input")];
  try {
    const kept = document.getElementById(localStorage.getItem("gradwright-theme") ?? "");
    if (kept) kept.checked = true;
    for (const t of themes) t.addEventListener("change", () => localStorage.setItem("gradwright-theme", t.id));
  } catch { /* a page may be kept from storing anything: the switch works all the same */ }
}
