// The details of what is selected, and gradients as numbers and heat maps.

const panel = document.getElementById("panel");

const power = (v) => (typeof v === "number" ? Math.abs(v) : 0);
const written = (v, digits = 6) => (v === null ? "" : number(v, digits));

// The cells of a gradient, at most so wide; numbers in them if they fit.
const heatMap = (v, room, tall = 26) => {
  const w = Math.min(54, room / v.columns),
    readable = w >= 46 && v.rows <= 12;
  const side = Math.max(1.5, Math.min(readable ? 54 : 22, w)),
    h = readable ? tall : Math.min(side, 200 / v.rows);
  const top = Math.max(0, ...v.cells.map(power));
  const picture = make(
    "svg",
    {
      class: "heat",
      width: r(v.columns * side + 2),
      height: r(v.rows * h + 2),
      viewBox: `-1 -1 ${r(v.columns * side + 2)} ${r(v.rows * h + 2)}`,
      "aria-hidden": true,
    },
    make("rect", { class: "frame", width: r(v.columns * side), height: r(v.rows * h) }),
  );
  v.cells.forEach((cell, k) => {
    const x = (k % v.columns) * side,
      y = Math.floor(k / v.columns) * h;
    const odd = typeof cell !== "number",
      part = odd || !top ? 0 : power(cell) / top;
    if (odd || part) {
      const rect = make(
        "rect",
        {
          class: `cell ${odd ? "odd" : cell > 0 ? "plus" : "minus"}${side < 9 ? " dense" : ""}`,
          x: r(x),
          y: r(y),
          width: r(side),
          height: r(h),
        },
        make("title", {}, written(cell)),
      );
      if (!odd) rect.setAttribute("fill-opacity", Math.max(part, 0.06).toFixed(3));
      picture.append(rect);
    }
    if (readable)
      picture.append(
        make(
          "text",
          { x: r(x + side / 2), y: r(y + h / 2), class: odd || part > 0.75 ? "deep" : part > 0.6 ? "mid" : "" },
          short(cell),
        ),
      );
  });
  return picture;
};

const spoken = (v) =>
  v === null
    ? "none"
    : v.shape === "[]"
      ? `${written(v.cells[0])}`
      : `${v.shape.replaceAll(",", " by").slice(1, -1)} values, norm ${written(v.norm, 4)}, from ${written(v.minimum, 4)} to ${written(v.maximum, 4)}`;

const showValues = (v, room) => {
  if (v === null) return make("p", { class: "none" }, "none: the node gives no gradient here");
  if (v.shape === "[]")
    return make(
      "p",
      { class: "scalar" },
      make("code", { class: "number" }, written(v.cells[0])),
      make("span", { class: "type" }, v.dtype),
    );
  const facts = [
    ["norm", v.norm],
    ["rms", v.rms],
    ["min", v.minimum],
    ["max", v.maximum],
    ["mean", v.mean],
  ].filter((f) => f[1] !== null);
  const drawn = v.cells.length
    ? make("figure", { role: "img", "aria-label": `Gradient ${spoken(v)}` }, heatMap(v, room))
    : make("p", { class: "none" }, "no entries");
  return make(
    "div",
    { class: "values" },
    make(
      "p",
      { class: "type" },
      `${v.shape} ${v.dtype}${v.whole ? "" : ` \u00b7 drawn as ${v.rows} \u00d7 ${v.columns} tiles: the largest entry of each`}`,
    ),
    drawn,
    make(
      "dl",
      { class: "facts" },
      ...facts.map(([name, x]) => make("div", {}, make("dt", {}, name), make("dd", {}, written(x, 4)))),
    ),
  );
};

// A sentence; what stands in backquotes is code.
const prose = (sentence) => sentence.split(/``?/).map((part, k) => (k % 2 ? make("code", {}, part) : part));

const section = (title, ...content) => make("section", {}, make("h3", {}, title), ...content);
const fact = (name, ...content) => make("div", {}, make("dt", {}, name), make("dd", {}, ...content));
const link = (node, text = node.title) => {
  const b = make("button", { type: "button", class: "link" }, text);
  b.addEventListener("click", () => select(node.id, { reveal: true, focus: "panel" }));
  return b;
};

const showPanel = () => {
  panel.scrollTop = 0;
  const { selected } = state;
  if (selected === null) panel.replaceChildren(...welcome());
  else if (selected < 0) panel.replaceChildren(...groupDetails(groups[groupOf(selected)]));
  else panel.replaceChildren(...nodeDetails(nodes[selected]));
};

const welcome = () => {
  const lines = ["Inputs stand above, outputs below. Values were computed downwards; gradients flow back up."];
  const keys = [
    ["click", "a node: what it is, and what it keeps"],
    ["click", "a group: unfold it; on its name: fold it"],
    ["/", "search"],
  ];
  if (steps.length)
    keys.push(
      ["space", "play the backward pass"],
      ["\u2190 \u2192", "a step back, a step on"],
      ["Home End", "to the start, to the end"],
    );
  keys.push(["+ \u2212 0", "zoom in, out, show all (in the picture)"]);
  return [
    make("h2", {}, "How to look at it"),
    make("p", { class: "lead" }, ...lines),
    make("dl", { class: "keys" }, ...keys.map(([key, does]) => fact(make("kbd", {}, key), does))),
  ];
};

const nodeDetails = (node) => {
  const found = [];
  const badges = [make("span", { class: `kind ${node.kind}` }, KINDS[node.kind] ?? node.kind)];
  if (hasOrders.size > 1 && node.kind !== "output")
    badges.push(
      make(
        "span",
        { class: `kind order${node.order}` },
        `recorded by the ${orderOf(node)}${node.order > 1 ? " pass" : " computation"}`,
      ),
    );
  if (node.freed) badges.push(make("span", { class: "kind freed" }, "freed by a backward pass"));
  found.push(
    make("div", { class: "head" }, make("h2", { tabindex: -1 }, node.title), make("p", { class: "badges" }, ...badges)),
  );
  const stepped = state.step >= 0 && node.step === state.step;
  if (stepped) found.push(played(node));
  if (node.reason) {
    const why =
      node.kind === "surrogate"
        ? "Its gradient is declared to be no derivative: "
        : node.kind === "stop"
          ? "No gradient goes on from here: "
          : "";
    found.push(make("p", { class: `reason ${node.kind}` }, why + node.reason));
  }
  if (node.formula) found.push(make("p", { class: "formula" }, ...prose(node.formula)));
  const facts = [];
  if (node.label && node.name !== "Output") facts.push(fact("node", make("code", {}, node.name)));
  if (node.shape !== null)
    facts.push(
      fact(node.kind === "accumulate" ? "leaf" : "result", make("code", {}, `${node.shape} ${node.dtype ?? ""}`)),
    );
  if (node.module) facts.push(fact("module", make("code", {}, node.module)));
  if (node.gradient) {
    const verdict = judged(node.gradient.rms);
    facts.push(
      fact(
        "gradient",
        make("code", {}, `norm ${number(node.gradient.norm, 4)}, rms ${number(node.gradient.rms, 4)}`),
        ...(verdict ? [make("b", { class: `verdict ${verdict}` }, icon(verdict), JUDGED[verdict])] : []),
      ),
    );
  }
  if (facts.length) found.push(make("dl", { class: "facts wide" }, ...facts));
  if (node.file) {
    found.push(
      section(
        "Source",
        make(
          "p",
          { class: "where" },
          make("code", {}, `${base(node.file)}:${node.line}`),
          node.function ? ` in ${node.function}` : "",
        ),
        ...(node.code
          ? [make("pre", { tabindex: 0, role: "region", "aria-label": "Line of source" }, make("code", {}, node.code))]
          : []),
        make("p", { class: "path" }, node.file),
      ),
    );
  }
  if (steps.length && !stepped) found.push(played(node));
  if (node.saved.length) found.push(saved(node));
  found.push(around(node));
  return found.filter(Boolean);
};

const saved = (node) => {
  const rows = node.saved.map((s) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, s.name),
      make(
        "td",
        {},
        s.shape === null
          ? (s.value ?? "")
          : `${s.shape} ${s.dtype}${s.value === null ? "" : ` = ${s.value}`}${s.changed ? " (written in place since)" : ""}`,
      ),
      make("td", { class: "bytes" }, s.shape === null ? "" : bytes(s.bytes)),
    ),
  );
  return section(
    node.freed ? "Kept for backward" : `Kept for backward${node.bytes ? `: ${bytes(node.bytes)}` : ""}`,
    make("table", {}, make("tbody", {}, ...rows)),
  );
};

const around = (node) => {
  const list = (title, many, which) => {
    if (!many.length) return "";
    const shown = many.slice(0, 30).map((e) => {
      const other = nodes[e[which]];
      const slot = which === "target" && node.outgoing.length > 1 ? `input ${e.input}: ` : "";
      return make("li", {}, slot, link(other), make("span", { class: "type" }, size(other.shape)));
    });
    if (many.length > 30) shown.push(make("li", {}, `and ${many.length - 30} more`));
    return section(title, make("ul", { class: "around" }, ...shown));
  };
  const goes = node.outgoing.filter((e) => nodes[e.target].kind !== "stop"),
    stops = node.outgoing.filter((e) => nodes[e.target].kind === "stop");
  return make(
    "div",
    {},
    list("Its gradient goes to", goes, "target"),
    list("It has inputs that no gradient reaches", stops, "target"),
    list(node.kind === "stop" ? "What needed a gradient from here" : "A gradient comes from", node.incoming, "source"),
  );
};

const played = (node) => {
  if (node.step < 0)
    return section(
      "Backward pass",
      make(
        "p",
        { class: "none" },
        play.stopped && !node.gradient ? "The pass stopped before it came here." : "No gradient came here.",
      ),
    );
  const step = steps[node.step],
    room = panel.clientWidth - 40;
  const go = make("button", { type: "button", class: "link" }, `step ${node.step + 1} of ${steps.length}`);
  go.addEventListener("click", () => goTo(node.step));
  const blocks = [];
  for (const [output, k] of step.incoming) {
    const title =
      step.incoming.length > 1
        ? `Gradient that reached output ${output}`
        : node.kind === "accumulate"
          ? "Gradient that reached it"
          : "Gradient of its result";
    const many = node.incoming.filter((e) => e.sent && e.output === output).length;
    const from = many > 1 ? `, the sum over ${many} edges` : "";
    blocks.push(
      make(
        "div",
        { class: "gradient in", "data-output": output },
        make("h4", {}, title + from),
        showValues(value(k), room),
      ),
    );
  }
  for (const [edge, k] of step.flows) {
    const target = nodes[edges[edge].target];
    blocks.push(
      make(
        "div",
        { class: "gradient out", "data-edge": edge },
        make(
          "h4",
          {},
          node.kind === "output"
            ? "Starts with, into "
            : `Sends${node.outgoing.length > 1 ? `, by input ${edges[edge].input},` : ""} to `,
          link(target),
        ),
        showValues(value(k), room),
      ),
    );
  }
  if (step.after) {
    const before = value(step.before);
    blocks.push(
      make(
        "div",
        { class: "gradient grad" },
        make("h4", {}, before ? ".grad before" : ".grad was None; with this pass it is the gradient above"),
        ...(before
          ? [
              showValues(before, room),
              make("h4", {}, ".grad with this pass added"),
              showValues(value(step.after), room),
            ]
          : []),
      ),
    );
  }
  const found = section("Backward pass, ", ...blocks);
  found.firstChild.append(go);
  return found;
};

const groupDetails = (group) => {
  const kinds = Object.entries(group.marks)
    .filter(([mark]) => KINDS[mark] && mark !== "group")
    .map(([mark, n]) => fact(KINDS[mark], String(n)));
  const facts = [fact("nodes", group.count.toLocaleString("en")), ...kinds];
  if (group.bytes) facts.push(fact("kept for backward", bytes(group.bytes)));
  if (group.low !== null)
    facts.push(fact("gradients, rms", make("code", {}, `${tiny(group.low)} to ${tiny(group.high)}`)));
  for (const mark of ["vanishing", "exploding", "zero", "odd"])
    if (group.marks[mark])
      facts.push(fact(JUDGED[mark], make("b", { class: `verdict ${mark}` }, icon(mark), `${group.marks[mark]} nodes`)));
  const button = make("button", { type: "button" }, state.open.has(group.id) ? "Fold it" : "Unfold it");
  button.addEventListener("click", () => toggle(group.id));
  return [
    make(
      "div",
      { class: "head" },
      make("h2", { tabindex: -1 }, group.title || "Graph"),
      make(
        "p",
        { class: "badges" },
        make(
          "span",
          { class: "kind group" },
          { module: "module", part: "part of the graph", order: "recorded together" }[group.kind] ?? "group",
        ),
      ),
    ),
    make("dl", { class: "facts wide" }, ...facts),
    make("p", {}, button),
  ];
};
