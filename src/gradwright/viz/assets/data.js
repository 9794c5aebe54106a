// The graph, as the page was given it: nodes, edges, groups, and the steps of a backward pass.

const given = JSON.parse(document.getElementById("data").textContent);
const { texts, play } = given;
const nodeCount = given.nodes.name.length;

const WORDS = [
  "name",
  "kind",
  "shape",
  "dtype",
  "label",
  "module",
  "reason",
  "formula",
  "file",
  "line",
  "function",
  "code",
];
// Bytes by memory, so that what is shared counts once.
const keep = (kept, more) => {
  for (const [memory, n] of more) kept.set(memory, Math.max(kept.get(memory) ?? 0, n));
};
const sum = (kept) => [...kept.values()].reduce((total, n) => total + n, 0);

const nodes = Array.from({ length: nodeCount }, (_, id) => {
  const node = { id, outgoing: [], incoming: [], step: -1 };
  for (const key of WORDS) node[key] = texts[given.nodes[key][id]];
  node.order = given.nodes.order[id];
  node.freed = given.nodes.freed[id] === 1;
  node.count = given.nodes.count[id];
  node.saved = given.nodes.saved[id].map(([name, shape, dtype, bytes, value, changed, memory], k) => ({
    name: texts[name],
    shape: texts[shape],
    dtype: texts[dtype],
    bytes,
    value: texts[value],
    changed: changed === 1,
    memory: memory ?? `${id}.${k}`,
  }));
  node.kept = new Map();
  keep(node.kept, node.saved.map((s) => [s.memory, s.bytes]));
  node.bytes = sum(node.kept);
  const gradient = given.nodes.gradient[id];
  node.gradient = gradient && { norm: Number(gradient[0]), rms: Number(gradient[1]) };
  node.title = node.label ?? (node.kind === "accumulate" ? "leaf" : node.name);
  return node;
});

// An edge goes from a node to one that its gradient flows to.
const edges = given.edges[0].map((source, k) => ({
  id: k,
  source,
  target: given.edges[1][k],
  output: given.edges[2][k],
  input: given.edges[3][k],
}));
for (const e of edges) {
  nodes[e.source].outgoing.push(e);
  nodes[e.target].incoming.push(e);
}

// A member of a group is a node's id, or -1 less the number of a group.
const groupOf = (member) => -1 - member;
const memberOf = (group) => -1 - group;
const TOP = -1,
  BOTTOM = -2;
const groups = given.groups.map(([title, kind, members, columns, layers, rims, segments], id) => ({
  id,
  title,
  kind,
  members,
  columns,
  layers,
  rims,
  parent: -1,
  count: 0,
  bytes: 0,
  kept: new Map(),
  marks: {},
  low: null,
  high: null,
  segments: segments.map(([lower, upper, count, ...bends]) => ({ lower, upper, count, bends })),
}));

const [VANISHING, EXPLODING] = given.limits;
const judged = (rms) =>
  !Number.isFinite(rms)
    ? "odd"
    : rms === 0
      ? "zero"
      : rms < VANISHING
        ? "vanishing"
        : rms > EXPLODING
          ? "exploding"
          : "";
const JUDGED = { odd: "not finite", zero: "zero", vanishing: "vanishing", exploding: "exploding" };

const home = new Int32Array(nodeCount);
const count = (group, node) => {
  group.count += node.count;
  keep(group.kept, node.kept);
  for (const mark of [node.kind, node.gradient && judged(node.gradient.rms)])
    if (mark) group.marks[mark] = (group.marks[mark] ?? 0) + 1;
  if (!node.gradient || !Number.isFinite(node.gradient.rms)) return;
  group.low = Math.min(group.low ?? Infinity, node.gradient.rms);
  group.high = Math.max(group.high ?? 0, node.gradient.rms);
};
for (const group of groups.toReversed()) {
  group.index = new Map(group.members.map((m, k) => [m, k]));
  group.lines = new Map(group.segments.map((s, k) => [`${s.lower},${s.upper}`, k]));
  for (const m of group.members) {
    if (m >= 0) {
      home[m] = group.id;
      count(group, nodes[m]);
      continue;
    }
    const inner = groups[groupOf(m)];
    inner.parent = group.id;
    group.count += inner.count;
    keep(group.kept, inner.kept);
    for (const [mark, n] of Object.entries(inner.marks)) group.marks[mark] = (group.marks[mark] ?? 0) + n;
    if (inner.low !== null) group.low = Math.min(group.low ?? Infinity, inner.low);
    if (inner.high !== null) group.high = Math.max(group.high ?? 0, inner.high);
  }
  group.bytes = sum(group.kept);
}

// From the whole down to the group of a node.
const way = (group) => {
  const found = [];
  for (let g = group; g >= 0; g = groups[g].parent) found.unshift(g);
  return found;
};

const value = (k) => {
  const v = play.values[k];
  if (v === null) return null;
  const [shape, dtype, norm, rms, minimum, maximum, mean, rows, columns, whole, cells] = v;
  return {
    shape: texts[shape],
    dtype: texts[dtype],
    norm,
    rms,
    minimum,
    maximum,
    mean,
    rows,
    columns,
    whole: whole === 1,
    cells,
  };
};
const steps = (play?.steps ?? []).map(([node, incoming, flows, before, after], k) => {
  if (nodes[node].step < 0) nodes[node].step = k;
  for (const [edge, v] of flows) edges[edge].sent = v !== 0;
  return { node, incoming, flows, before, after };
});

const bytes = (n) => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const k = n < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(n) / 3));
  return `${Number((n / 1000 ** k).toPrecision(3))}\u00a0${units[k]}`;
};
const base = (path) => path?.split(/[\\/]/).at(-1) ?? "";
const size = (shape) => (shape === "[]" ? "scalar" : (shape ?? ""));
const ORDERS = { 1: "forward", 2: "backward", 3: "double backward" };
const orderOf = (node) => ORDERS[node.order] ?? `order ${node.order}`;
const KINDS = {
  op: "operation",
  custom: "custom Function",
  surrogate: "declared surrogate",
  accumulate: "leaf",
  output: "output",
  stop: "gradient stops here",
  group: "folded nodes",
};
const hasGradients = nodes.some((n) => n.gradient);
const hasOrders = new Set(nodes.filter((n) => n.kind !== "output" && n.outgoing.length).map((n) => n.order));
