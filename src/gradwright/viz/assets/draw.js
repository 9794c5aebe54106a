// The picture: cards for nodes and folded groups, frames for those that are unfolded, lines between them.

const icon = (name, attributes = {}) =>
  make(
    "svg",
    { class: "icon", width: 14, height: 14, viewBox: "0 0 16 16", "aria-hidden": true, ...attributes },
    make("use", { href: `#icon-${name}` }),
  );

const fitted = (words, room, each) => {
  const most = Math.max(3, Math.floor(room / each));
  if (words.length <= most) return words;
  const tail = Math.floor((most - 1) * (words.includes(".") ? 0.8 : 0.5));
  return `${words.slice(0, most - 1 - tail)}\u2026${tail ? words.slice(-tail) : ""}`;
};
// A leaf's name, less the path of the module that the picture shows it in.
const within = (node) => {
  const path_ = groups[home[node.id]].title.split(", ")[0].split(".").slice(1).join(".");
  const at = path_ && node.label ? `.${node.label}`.indexOf(`.${path_}.`) : -1;
  return at >= 0 ? node.label.slice(at + path_.length + 1) : node.title;
};
const tiny = (v) =>
  v === 0
    ? "0"
    : Number.isFinite(v)
      ? v >= 1e-3 && v < 1e4
        ? signed(String(Number(v.toPrecision(2))))
        : signed(v.toExponential(0)).replace("+", "")
      : signed(String(v));

// How strongly a gradient's size colours a card: below 0 for small ones, above for large ones, in parts of 1.
const strength = (rms) => {
  const power = Math.log10(rms);
  const low = Math.log10(VANISHING),
    high = Math.log10(EXPLODING);
  if (power < low / 2) return -Math.min(1, (low / 2 - power) / -low);
  return power > high / 2 ? Math.min(1, (power - high / 2) / high) : 0;
};
const tint = (rms) => {
  const s = strength(rms);
  return `color-mix(in oklab, var(--${s < 0 ? "small" : "large"}) ${Math.round(12 * Math.sign(Math.abs(s)) + 34 * Math.abs(s))}%, var(--card))`;
};

const scene = { items: new Map(), lines: new Map(), frames: new Map() };

const drawScene = (state) => {
  scene.items.clear();
  scene.lines.clear();
  scene.frames.clear();
  const placed = place(0, state.open);
  const root = make("g", {});
  drawInside(root, placed, 0, 0, state);
  return { root, w: placed.w, h: placed.h };
};

const drawInside = (parent, placed, x, y, state) => {
  const holder = make("g", { transform: `translate(${r(x)},${r(y)})` });
  const lines = make("g", {}),
    items = make("g", {});
  const frame = placed.id === 0 ? {} : { top: 0, bottom: placed.h };
  placed.lines.forEach((line, k) => {
    const rims =
      (line.upper.h === 0 || line.upper.inner ? " open" : "") +
      (line.lower.h === 0 || line.lower.inner ? " through" : "");
    const cut = nodes[line.upper.member]?.kind === "stop" ? " cut" : "";
    const p = make("path", { class: `line${rims}${cut}`, d: path(line, frame) });
    if (line.count > 1) p.style.setProperty("--many", Math.min(4, 1.25 + Math.log2(line.count) / 2));
    scene.lines.set(`${placed.id}:${k}`, p);
    lines.append(p);
  });
  holder.append(lines, items);
  for (const item of placed.items) {
    const left = item.x - item.left,
      top = item.y - item.h / 2;
    if (item.inner) {
      const g = make("g", {});
      g.append(drawFrame(item, left, top));
      drawInside(g, item.inner, left, top, state);
      items.append(g);
    } else {
      const card =
        item.member >= 0 ? drawNode(nodes[item.member], state) : drawFolded(groups[groupOf(item.member)], state);
      card.setAttribute("transform", `translate(${r(left)},${r(top)})`);
      card.dataset.member = item.member;
      scene.items.set(item.member, { card, x: x + left + item.w / 2, y: y + item.y });
      items.append(card);
    }
  }
  parent.append(holder);
  for (const item of placed.items)
    if (item.inner)
      scene.frames.set(groupOf(item.member), {
        x: x + item.x - item.left,
        y: y + item.y - item.h / 2,
        w: item.w,
        h: item.h,
      });
};

const drawFrame = (item, left, top) => {
  const group = groups[groupOf(item.member)];
  const g = make("g", { class: `frame ${group.kind}`, transform: `translate(${r(left)},${r(top)})` });
  const title = fitted(group.title, item.w - 76, 7.2);
  g.append(make("rect", { class: "box", width: r(item.w), height: r(item.h), rx: 12 }));
  const head = make("g", { class: "head", "data-fold": group.id });
  head.append(
    make("title", {}, `Fold ${group.title}`),
    make("rect", {
      class: "grip",
      x: 4,
      y: 4,
      width: r(Math.min(item.w - 8, title.length * 7.2 + 40)),
      height: 24,
      rx: 7,
    }),
    icon("fold", { x: 9, y: 9 }),
    make("text", { x: 28, y: 20.5, class: "name" }, title),
  );
  g.append(head);
  return g;
};

const badge = (name, x, y, scale = 1) => {
  const g = make("g", { class: `badge ${name}`, transform: `translate(${x},${y}) scale(${scale})` });
  g.append(make("circle", { cx: 8, cy: 8, r: 10 }), icon(name, { width: 16, height: 16 }));
  return g;
};

// As on the letter of a derivative: one for each backward pass.
const primes = (many, x, y) =>
  make("path", { class: "prime", d: Array.from({ length: many }, (_, k) => `M${x - 6 * k},${y}l-3,8`).join("") });

const drawNode = (node, state) => {
  const g = make("g", { class: `card ${node.kind} order${Math.min(node.order, 3)}` });
  const { w, h } = CARD;
  g.append(
    make("rect", {
      class: "box",
      width: w,
      height: h,
      rx: node.kind === "accumulate" ? h / 2 : node.kind === "output" ? h / 2 : 9,
    }),
  );
  const centred = node.kind === "accumulate" || node.kind === "output";
  const marked = node.kind === "custom" || node.kind === "surrogate" || node.kind === "stop";
  const left = centred ? w / 2 : 14;
  if (marked) g.append(badge(node.kind, w - 27, 14));
  if (node.order > 1 && node.kind !== "output") {
    g.append(make("rect", { class: "stripe", x: 0, y: 9, width: 4, height: h - 18, rx: 2 }));
    g.append(primes(node.order - 1, w - (marked ? 38 : 14), 8));
  }
  const room = w - (marked ? 54 : 28) - (node.order > 1 ? 10 : 0) - (centred ? 12 : 0);
  const title = make("text", { class: "name", x: left, y: 19.5 });
  const [, stem, tail] = /^(.+?)(Backward\d*)?$/s.exec(within(node)) ?? [null, node.title, ""];
  const head = fitted(stem, room, 7.5);
  title.append(make("tspan", {}, head));
  if (tail && head.length + tail.length * 0.92 <= room / 7.5) title.append(make("tspan", { class: "tail" }, tail));
  g.append(
    title,
    make("text", { class: "more", x: left, y: 35 }, fitted(under(node, state), room + (node.order > 1 ? 10 : 0), 6.6)),
  );
  if (node.freed) g.append(make("path", { class: "freed", d: `M10,${h - 5.5}H${w - 10}` }));
  if (state.colour === "gradient" && node.gradient)
    colourCard(g, node.gradient.rms, judged(node.gradient.rms), centred);
  return g;
};

const under = (node, state) => {
  if (state.colour === "gradient" && node.gradient) return `rms ${tiny(node.gradient.rms)}`;
  if (node.count > 1) return `${node.count.toLocaleString("en")} nodes`;
  if (node.kind === "stop") return node.line ? `${base(node.file)}:${node.line}` : (node.reason ?? "");
  if (node.kind === "output" && node.title !== "Output") return `output ${size(node.shape)}`;
  const parts = [size(node.shape)];
  if (node.dtype && node.dtype !== commonType) parts.push(node.dtype);
  return parts.filter(Boolean).join(" ") || (node.kind === "surrogate" ? node.reason : "");
};
const commonType = (() => {
  const counts = new Map();
  for (const n of nodes) if (n.dtype) counts.set(n.dtype, (counts.get(n.dtype) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
})();

const colourCard = (g, rms, verdict, centred) => {
  g.classList.add("sized", verdict || "plain");
  g.querySelector(".box").style.fill = Number.isFinite(rms) && rms > 0 ? tint(rms) : "";
  if (!verdict) return;
  const more = g.querySelector(".more");
  if (centred) more.setAttribute("x", CARD.w / 2 + 9);
  g.append(
    icon(verdict, {
      class: `icon verdict`,
      x: centred ? CARD.w / 2 - 5.6 - 3.4 * more.textContent.length : CARD.w - 28,
      y: centred ? 24 : 23.5,
    }),
  );
};

const ordersOf = (group) => {
  group.orders ??= new Set(
    group.members.flatMap((m) =>
      m >= 0 ? (nodes[m].outgoing.length ? [nodes[m].order] : []) : [...ordersOf(groups[groupOf(m)])],
    ),
  );
  return group.orders;
};

const drawFolded = (group, state) => {
  const g = make("g", { class: `card folded ${group.kind}` });
  const { w, h } = CARD;
  g.append(
    make("rect", { class: "under", x: 5, y: 4.5, width: w - 10, height: h, rx: 9 }),
    make("rect", { class: "box", width: w, height: h, rx: 9 }),
    icon("unfold", { x: 10, y: 7.5, width: 15, height: 15 }),
  );
  const order = hasOrders.size > 1 && ordersOf(group).size === 1 ? [...ordersOf(group)][0] : 1;
  const title = order > 1 ? group.title.replace(`, ${ORDERS[order] ?? `order ${order}`}`, "") : group.title;
  if (order > 1) {
    g.classList.add(`order${Math.min(order, 3)}`);
    g.append(
      make("rect", { class: "stripe", x: 0, y: 9, width: 4, height: h - 18, rx: 2 }),
      primes(order - 1, w - 12, 7),
    );
  }
  g.append(make("text", { class: "name", x: 29, y: 19.5 }, fitted(title, w - (order > 1 ? 54 : 36), 7.5)));
  if (state.colour === "kind")
    ["stop", "surrogate", "custom"]
      .filter((mark) => group.marks[mark])
      .forEach((mark, k) => g.append(badge(mark, w - 20 - 18 * k, 24, 0.75)));
  const several = `${group.count.toLocaleString("en")} nodes`;
  const sized = state.colour === "gradient" && group.low !== null;
  const range = sized ? `${tiny(group.low)}${group.low === group.high ? "" : ` to ${tiny(group.high)}`}` : several;
  g.append(make("text", { class: "more", x: 29, y: 35 }, range));
  if (sized) {
    const worst = Math.abs(strength(group.low || 1)) > Math.abs(strength(group.high || 1)) ? group.low : group.high;
    colourCard(g, worst, ["odd", "exploding", "vanishing", "zero"].find((mark) => group.marks[mark]) ?? "", false);
  }
  return g;
};

// ---- what is seen of things inside folded groups

// The member of the picture that stands for a node: itself, or the outermost folded group around it.
const seenAs = (id, open) => {
  const folded = way(home[id]).find((g) => g !== 0 && !open.has(g));
  return folded === undefined ? id : memberOf(folded);
};

// The lines that an edge is seen as, its upper part first.
const linesOf = (edge, open) => {
  const below = way(home[edge.source]),
    above = way(home[edge.target]);
  let shared = 0;
  while (shared < below.length && shared < above.length && below[shared] === above[shared]) shared++;
  const found = [];
  const seen = (groups_) => groups_.every((g) => g === 0 || open.has(g));
  const add = (depth, path_, lower, upper) => {
    if (!seen(path_.slice(0, depth + 1))) return;
    const k = groups[path_[depth]].lines.get(`${lower},${upper}`);
    if (k !== undefined) found.push(scene.lines.get(`${path_[depth]}:${k}`));
  };
  const index = (path_, depth, leaf) =>
    groups[path_[depth]].index.get(depth + 1 < path_.length ? memberOf(path_[depth + 1]) : leaf);
  for (let d = above.length - 1; d >= shared; d--) add(d, above, BOTTOM, index(above, d, edge.target));
  add(shared - 1, below, index(below, shared - 1, edge.source), index(above, shared - 1, edge.target));
  for (let d = shared; d < below.length; d++) add(d, below, index(below, d, edge.source), TOP);
  return found;
};
