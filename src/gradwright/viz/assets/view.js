// Pan and zoom: with the mouse, by touch, by keys.

const view = { x: 0, y: 0, k: 1, w: 0, h: 0 };
const canvas = document.getElementById("canvas");
const legend = document.getElementById("legend");
const marker = (id) =>
  make(
    "marker",
    {
      id,
      viewBox: "0 0 8 8",
      refX: 6.5,
      refY: 4,
      markerWidth: 9,
      markerHeight: 9,
      orient: "auto-start-reverse",
      markerUnits: "userSpaceOnUse",
    },
    make("path", { d: "M1,1L7,4L1,7z" }),
  );
const world = make("g", {});
const svg = make(
  "svg",
  { "aria-hidden": true, focusable: false },
  make("defs", {}, marker("tip"), marker("flow")),
  world,
);
canvas.append(svg);
const still = matchMedia("(prefers-reduced-motion: reduce)");

const look = () => world.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.k})`);
const moveTo = (x, y, k = view.k) => {
  const from = { ...view },
    start = performance.now();
  cancelAnimationFrame(view.frame ?? 0);
  if (still.matches || document.hidden) {
    Object.assign(view, { x, y, k });
    look();
    return;
  }
  const step = (now) => {
    const t = Math.min(1, (now - start) / 260),
      eased = 1 - (1 - t) ** 3;
    view.x = from.x + (x - from.x) * eased;
    view.y = from.y + (y - from.y) * eased;
    view.k = from.k + (k - from.k) * eased;
    look();
    if (t < 1) view.frame = requestAnimationFrame(step);
  };
  view.frame = requestAnimationFrame(step);
};

const FAR = 0.05,
  NEAR = 3,
  READABLE = 0.62;
const zoom = (factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) => {
  cancelAnimationFrame(view.frame ?? 0);
  const k = Math.min(NEAR, Math.max(FAR, view.k * factor));
  view.x = px - ((px - view.x) * k) / view.k;
  view.y = py - ((py - view.y) * k) / view.k;
  view.k = k;
  look();
};

// All of it, if it can be read then; otherwise the outputs, where a backward pass begins.
const fit = (whole = true) => {
  const room = { w: canvas.clientWidth, h: canvas.clientHeight },
    rim = room.w < 600 ? 12 : 32,
    over = room.w < 600 ? 88 : 52,
    under = legend.offsetHeight + 28;
  const k = Math.min(1.1, (room.w - 2 * rim) / view.w, (room.h - under - over) / view.h);
  const used = Math.max(FAR, whole ? k : Math.max(k, READABLE));
  const free = room.h - under - over - view.h * used;
  const y = free >= 0 ? over + free / 2 : over + free;
  const x = (room.w - view.w * used) / 2;
  return { x, y, k: used };
};
const centre = (x, y) => moveTo(canvas.clientWidth / 2 - x * view.k, canvas.clientHeight / 2 - y * view.k);
// Move no more than is needed for a point to be well inside.
const bringIn = (x, y) => {
  const rim = { x: Math.min(130, canvas.clientWidth / 4), y: Math.min(110, canvas.clientHeight / 4) };
  const px = view.x + x * view.k,
    py = view.y + y * view.k;
  const to = (p, length, edge) => Math.min(length - edge, Math.max(edge, p)) - p;
  const dx = to(px, canvas.clientWidth, rim.x),
    dy = to(py, canvas.clientHeight, rim.y);
  if (dx || dy) moveTo(view.x + dx, view.y + dy);
};

const fingers = new Map();
let dragged = false;
canvas.addEventListener("pointerdown", (e) => {
  if (e.button !== 0) return;
  fingers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  if (fingers.size === 1) dragged = false;
});
canvas.addEventListener("pointermove", (e) => {
  const was = fingers.get(e.pointerId);
  if (!was) return;
  const now = { x: e.clientX, y: e.clientY };
  if (!dragged && Math.hypot(now.x - was.x, now.y - was.y) < 4) return;
  if (!dragged) {
    dragged = true;
    canvas.setPointerCapture(e.pointerId);
    canvas.classList.add("dragged");
    cancelAnimationFrame(view.frame ?? 0);
  }
  const other = [...fingers].find(([id]) => id !== e.pointerId)?.[1];
  if (other) {
    const box = canvas.getBoundingClientRect();
    const ratio = Math.hypot(now.x - other.x, now.y - other.y) / (Math.hypot(was.x - other.x, was.y - other.y) || 1);
    zoom(ratio, (now.x + other.x) / 2 - box.left, (now.y + other.y) / 2 - box.top);
  }
  view.x += (now.x - was.x) / (other ? 2 : 1);
  view.y += (now.y - was.y) / (other ? 2 : 1);
  fingers.set(e.pointerId, now);
  look();
});
const lifted = (e) => {
  fingers.delete(e.pointerId);
  if (!fingers.size) canvas.classList.remove("dragged");
};
addEventListener("pointerup", lifted);
addEventListener("pointercancel", lifted);
canvas.addEventListener(
  "wheel",
  (e) => {
    e.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(
      Math.exp(-e.deltaY * (e.ctrlKey ? 0.01 : e.deltaMode ? 0.04 : 0.0016)),
      e.clientX - box.left,
      e.clientY - box.top,
    );
  },
  { passive: false },
);
canvas.addEventListener("keydown", (e) => {
  const far = 60;
  const move = { ArrowLeft: [far, 0], ArrowRight: [-far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] }[e.key];
  if (e.key === "+" || e.key === "=") zoom(1.25);
  else if (e.key === "-") zoom(0.8);
  else if (e.key === "0") showAll();
  else if (move && (e.shiftKey || !steps.length || e.key === "ArrowUp" || e.key === "ArrowDown"))
    moveTo(view.x + move[0], view.y + move[1]);
  else return;
  e.preventDefault();
  e.stopPropagation();
});
const showAll = () => {
  const { x, y, k } = fit();
  moveTo(x, y, k);
};
document.getElementById("closer").addEventListener("click", () => zoom(1.25));
document.getElementById("farther").addEventListener("click", () => zoom(0.8));
document.getElementById("fit").addEventListener("click", showAll);
