// Where things stand, when some groups are unfolded. Layers and columns are given; from the sizes of what is shown in
// them follow coordinates, by a sweep from the left and one from the right, of which the mean is taken. A group that is
// unfolded hangs by the end of its line to the outputs, so that lines go straight through.

const CARD = { w: 168, h: 44 };
const GAP = { x: 24, y: 32 },
  PAD = 16,
  HEAD = 36,
  LANE = 10;

const place = (id, open) => {
  const group = groups[id];
  const items = group.members.map((member, k) => {
    const inner = member < 0 && open.has(groupOf(member)) ? place(groupOf(member), open) : null;
    const w = inner?.w ?? CARD.w,
      left = inner?.rims[BOTTOM]?.x ?? inner?.rims[TOP]?.x ?? w / 2;
    return {
      member,
      inner,
      w,
      h: inner?.h ?? CARD.h,
      left,
      right: w - left,
      column: group.columns[k],
      layer: group.layers[k],
    };
  });
  const rims = {};
  group.rims.forEach((rim, k) => {
    const at = group.members.length + k;
    rims[rim] = { left: LANE / 2, right: LANE / 2, h: 0, column: group.columns[at], layer: group.layers[at] };
  });
  const end = (k) => (k < 0 ? rims[k] : items[k]);
  const lines = group.segments.map((s) => {
    const layer = end(s.lower).layer;
    const bends = s.bends.map((column, k) => ({ left: LANE / 2, right: LANE / 2, h: 0, column, layer: layer + 1 + k }));
    return { lower: end(s.lower), upper: end(s.upper), bends, count: s.count };
  });
  const all = [...items, ...Object.values(rims), ...lines.flatMap((line) => line.bends)];
  across(all);
  const layers = down(all, lines);

  const left = Math.min(...all.map((i) => i.x - i.left)),
    right = Math.max(...all.map((i) => i.x + i.right));
  const framed = id !== 0;
  const wanted = framed ? Math.max(right - left + 2 * PAD, Math.min(group.title.length, 30) * 7 + 96) : right - left;
  const dx = (wanted - (right - left)) / 2 - left,
    dy = framed ? HEAD : 0;
  for (const i of all) {
    i.x += dx;
    i.y += dy;
  }
  for (const layer of layers.values()) {
    layer.top += dy;
    layer.bottom += dy;
  }
  const h = Math.max(...[...layers.values()].map((l) => l.bottom)) + (framed ? PAD : 0);
  for (const line of lines) line.layers = layers;
  spread(lines);
  return { id, items, lines, rims, w: wanted, h };
};

// Columns to x: things in one column stay above each other, those in one layer stay apart.
const across = (all) => {
  const columns = [...Map.groupBy(all, (i) => Math.round(i.column * 50)).entries()]
    .sort((a, b) => a[0] - b[0])
    .map((entry) => entry[1]);
  const sweep = (order, sign) => {
    const taken = new Map();
    let x = 0;
    return order.map((column) => {
      for (const i of column)
        if (taken.has(i.layer)) x = Math.max(x, taken.get(i.layer) + (sign > 0 ? i.left : i.right) + GAP.x);
      for (const i of column) taken.set(i.layer, x + (sign > 0 ? i.right : i.left));
      return sign * x;
    });
  };
  const fromLeft = sweep(columns, 1),
    fromRight = sweep(columns.toReversed(), -1).toReversed();
  const shift = fromLeft.at(-1) ?? 0;
  columns.forEach((column, k) => {
    for (const i of column) i.x = (fromLeft[k] + fromRight[k] + shift) / 2;
  });
};

// Layers to y: the last one, with the inputs, on top. Where many lines pass, there is more room.
const down = (all, lines) => {
  const byLayer = Map.groupBy(all, (i) => i.layer);
  const found = new Map();
  const numbers = [...byLayer.keys()].sort((a, b) => b - a);
  let y = 0;
  numbers.forEach((number, k) => {
    const members = byLayer.get(number);
    const h = Math.max(...members.map((i) => i.h));
    found.set(number, { top: y, bottom: y + h });
    for (const i of members) i.y = y + h / 2;
    const passing = lines.filter((l) => l.lower.layer < number && l.upper.layer >= number).length;
    y +=
      h +
      (k === numbers.length - 1
        ? 0
        : (h && byLayer.get(numbers[k + 1])?.some((i) => i.h) ? GAP.y : 0.5 * GAP.y) + Math.min(30, 2 * passing));
  });
  return found;
};

// Lines that meet at one card get ends beside each other, in the order of where they come from.
const spread = (lines) => {
  for (const [side, key] of [
    ["lower", "from"],
    ["upper", "to"],
  ]) {
    for (const [item, mine] of Map.groupBy(lines, (l) => l[side])) {
      const rim = side === "lower" ? item.inner?.rims[TOP] : item.inner?.rims[BOTTOM];
      const middle = item.inner ? item.x - item.left + (rim?.x ?? item.left) : item.x;
      const next = (l) => (side === "lower" ? (l.bends[0] ?? l.upper) : (l.bends.at(-1) ?? l.lower));
      const gap = item.inner || item.h === 0 ? 0 : Math.min(16, (CARD.w - 48) / mine.length);
      mine
        .sort((a, b) => next(a).x - next(b).x)
        .forEach((l, k) => {
          l[key] = middle + (k - (mine.length - 1) / 2) * gap;
        });
    }
  }
};

// The path of a line, from above to below: straight through layers, curved between them.
const path = (line, frame) => {
  const { layers, upper, lower } = line;
  const stops = [
    { x: line.to, from: upper.h ? upper.y + upper.h / 2 : Math.min(upper.y, frame.top ?? upper.y), layer: upper.layer },
  ];
  for (const b of line.bends.toReversed()) stops.push({ x: b.x, from: null, layer: b.layer });
  const end = lower.h ? lower.y - lower.h / 2 - 1 : (frame.bottom ?? lower.y);
  const last = { x: line.from, layer: lower.layer };
  let d = `M${r(stops[0].x)},${r(stops[0].from)}V${r(layers.get(stops[0].layer).bottom)}`;
  let y = layers.get(stops[0].layer).bottom,
    x = stops[0].x;
  for (const s of [...stops.slice(1), last]) {
    const layer = layers.get(s.layer),
      to = s === last ? Math.min(layer.top, end - 6) : layer.top,
      middle = (y + to) / 2;
    d += `C${r(x)},${r(middle)} ${r(s.x)},${r(middle)} ${r(s.x)},${r(to)}`;
    if (s !== last) d += `V${r(layer.bottom)}`;
    ({ x } = s);
    y = layer.bottom;
  }
  return `${d}V${r(end)}`;
};
const r = (v) => Math.round(v * 10) / 10;
