// What is shown now, and what a click does.

const state = {
  open: new Set(),
  selected: null,
  step: -1,
  colour: "kind",
  order: 0,
  query: "",
  matches: [],
  match: -1,
};
const NICE = [60, 40, 26, 16, 10],
  ALL = 600;

// Unfold from the outside in, as long as no more than so many cards are shown.
const unfolded = (most) => {
  const open = new Set();
  let shown = groups[0].members.length,
    level = [0];
  while (level.length) {
    const inside = level
      .flatMap((g) => groups[g].members.filter((m) => m < 0).map(groupOf))
      .sort((a, b) => groups[a].members.length - groups[b].members.length);
    level = [];
    for (const g of inside) {
      if (shown + groups[g].members.length - 1 > most) continue;
      shown += groups[g].members.length - 1;
      open.add(g);
      level.push(g);
    }
  }
  return open;
};

// Draw anew; what `still_` gives the place of stays where it is on the screen.
const redraw = (still_ = null) => {
  const before = still_?.();
  const { root, w, h } = drawScene(state);
  Object.assign(view, { w, h });
  world.replaceChildren(root, chips);
  if (before) {
    const after = still_();
    if (after) {
      view.x += (before.x - after.x) * view.k;
      view.y += (before.y - after.y) * view.k;
      look();
    }
  }
  document.getElementById("fold").disabled = state.open.size === 0;
  document.getElementById("unfold").disabled = state.open.size === groups.length - 1;
  mark();
};

// Marks on what is drawn: what is selected, found, of another order, run.
const mark = () => {
  const shown =
    state.selected === null ? null : state.selected >= 0 ? seenAs(state.selected, state.open) : state.selected;
  const matches = new Set(state.matches.map((id) => seenAs(id, state.open)));
  for (const [member, { card }] of scene.items) {
    card.classList.toggle("selected", member === shown);
    card.classList.toggle("match", matches.has(member));
    card.classList.toggle(
      "faint",
      state.order !== 0 &&
        (member >= 0
          ? nodes[member].order !== state.order && nodes[member].kind !== "output"
          : !ordersOf(groups[groupOf(member)]).has(state.order)),
    );
  }
  for (const p of scene.lines.values()) p.classList.remove("near");
  if (state.selected >= 0 && state.selected !== null && state.step < 0) {
    const node = nodes[state.selected];
    for (const e of [...node.outgoing, ...node.incoming].slice(0, 60))
      for (const p of linesOf(e, state.open)) p.classList.add("near");
  }
  markStep();
};

const placeOf = (group) => () => scene.frames.get(group) ?? corner(scene.items.get(memberOf(group)));
const corner = (seen) => seen && { x: seen.x - CARD.w / 2, y: seen.y - CARD.h / 2 };

const toggle = (group) => {
  if (state.open.has(group))
    for (const g of [...state.open]) {
      if (way(g).includes(group)) state.open.delete(g);
    }
  else state.open.add(group);
  redraw(placeOf(group));
  showList();
  if (state.selected === memberOf(group)) showPanel();
};
const setOpen = (open) => {
  state.open = open;
  redraw();
  Object.assign(view, fit(false));
  look();
  showList();
  showPanel();
};

const select = (member, { reveal = false, focus = "" }) => {
  state.selected = member;
  if (member !== null && reveal) {
    const closed = (member >= 0 ? way(home[member]) : way(groups[groupOf(member)].parent)).filter(
      (g) => g !== 0 && !state.open.has(g),
    );
    if (closed.length) {
      for (const g of closed) state.open.add(g);
      redraw();
      showList();
    }
  }
  mark();
  markList();
  showPanel();
  if (focus) panel.querySelector("h2")?.focus({ preventScroll: true });
  const seen = member !== null && reveal && scene.items.get(member);
  if (seen) centre(seen.x, seen.y);
};

canvas.addEventListener("click", (e) => {
  if (dragged) return;
  const fold = e.target.closest("[data-fold]"),
    card = e.target.closest("[data-member]");
  if (fold) {
    const group = Number(fold.dataset.fold);
    toggle(group);
    select(memberOf(group), {});
  } else if (card) {
    const member = Number(card.dataset.member);
    if (member < 0) toggle(groupOf(member));
    select(member, {});
  } else select(null, {});
});

document.getElementById("fold").addEventListener("click", () => setOpen(new Set()));
document.getElementById("unfold").addEventListener("click", () => setOpen(unfolded(ALL)));

// ---- the switches and the legend

const colour = document.getElementById("colour");
document.getElementById("colouring").hidden = !hasGradients;
colour.addEventListener("change", () => {
  state.colour = colour.value;
  redraw();
  showLegend();
});

if (hasOrders.size > 1) {
  const orders = document.getElementById("orders");
  orders.hidden = false;
  for (const order of [0, ...[...hasOrders].sort()]) {
    const input = make("input", { type: "radio", name: "order", value: order, ...(order ? {} : { checked: true }) });
    input.addEventListener("change", () => {
      state.order = order;
      mark();
    });
    orders.append(make("label", {}, input, make("span", {}, order ? (ORDERS[order] ?? `order ${order}`) : "all")));
  }
}

const sample = (kind) => {
  const g = make("svg", { width: 26, height: 18, viewBox: "-1 -1 28 20", "aria-hidden": true });
  const card = make(
    "g",
    { class: `card ${kind}` },
    make("rect", { class: "box", width: 26, height: 18, rx: kind === "accumulate" || kind === "output" ? 9 : 4.5 }),
  );
  if (["custom", "surrogate", "stop"].includes(kind))
    card.append(make("g", { class: `badge ${kind}` }, icon(kind, { x: 7, y: 3, width: 12, height: 12 })));
  g.append(card);
  return make("span", {}, g, KINDS[kind]);
};
const stripe = (order) =>
  make(
    "span",
    {},
    make(
      "svg",
      { width: 26, height: 18, viewBox: "-1 -1 28 20", "aria-hidden": true },
      make(
        "g",
        { class: `card order${Math.min(order, 3)}` },
        make("rect", { class: "box", width: 26, height: 18, rx: 4.5 }),
        make("rect", { class: "stripe", y: 4, width: 4, height: 10, rx: 2 }),
        primes(order - 1, 17, 5),
      ),
    ),
    `recorded by ${ORDERS[order] ?? `order ${order}`}`,
  );
const showLegend = () => {
  const kinds = ["output", "op", "custom", "surrogate", "accumulate", "stop"].filter((k) => groups[0].marks[k]);
  legend.replaceChildren(
    ...kinds.map(sample),
    ...[...hasOrders]
      .sort()
      .filter((o) => o > 1)
      .map(stripe),
  );
  if (state.colour !== "gradient") return;
  const ticks = [VANISHING, 1, EXPLODING];
  const bar = make(
    "span",
    { class: "scale" },
    make("b", {}, "rms of the gradient"),
    make("i", { class: "ramp" }),
    make(
      "span",
      { class: "ticks" },
      ...ticks.map((t) => make("span", {}, signed(t === 1 ? "1" : t.toExponential(0)).replace("+", ""))),
    ),
  );
  const marks = ["vanishing", "exploding", "zero", "odd"]
    .filter((m) => groups[0].marks[m])
    .map((m) =>
      make(
        "span",
        { class: `verdict ${m}` },
        icon(m),
        `${JUDGED[m]}${m === "vanishing" ? `: below ${tiny(VANISHING)}` : m === "exploding" ? `: above ${tiny(EXPLODING)}` : ""} (${groups[0].marks[m]})`,
      ),
    );
  legend.replaceChildren(bar, ...marks);
};

// ---- begin

const outline = document.getElementById("outline");
const wide = matchMedia("(min-width: 64rem)");
const arrange = () => {
  outline.open = wide.matches;
};
wide.addEventListener("change", arrange);
arrange();
searchBox.addEventListener("input", () => {
  outline.open = true;
});

const troubled = ["vanishing", "exploding", "odd"].some((m) => groups[0].marks[m]);
if (troubled) state.colour = colour.value = "gradient";
player.player.hidden = !steps.length;
player.slider.max = steps.length;
showLegend();
for (const most of NICE) {
  state.open = unfolded(most);
  const { w, h } = place(0, state.open);
  Object.assign(view, { w, h });
  if (fit().k >= READABLE) break;
}
redraw();
showList();
showPanel();
let watched = 0;
new ResizeObserver(() => {
  const width = canvas.clientWidth;
  if (width === watched) return;
  watched = width;
  svg.setAttribute("viewBox", `0 0 ${width} ${canvas.clientHeight}`);
  Object.assign(view, fit(false));
  look();
}).observe(canvas);
goTo(-1);
