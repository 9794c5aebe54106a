// The backward pass, step by step.

const player = Object.fromEntries(
  ["player", "first", "back", "run", "forth", "last", "slider", "count", "said"].map((id) => [
    id,
    document.getElementById(id),
  ]),
);
const chips = make("g", { class: "chips" });

const sentence = (k) => {
  if (k < 0) return `The backward pass has ${steps.length} steps. It begins at the outputs.`;
  const step = steps[k],
    node = nodes[step.node];
  const sent = step.flows.slice(0, 4).map(([edge, v]) => `${spoken(value(v))} to ${nodes[edges[edge].target].title}`);
  if (step.flows.length > 4) sent.push("\u2026");
  const got = step.incoming.length ? ` got ${step.incoming.map(([, v]) => spoken(value(v))).join("; ")}` : "";
  if (node.kind === "accumulate") return `${node.title}${got}: its .grad.`;
  if (node.kind === "output")
    return `It starts at ${node.title === "Output" ? "the output" : node.title} with ${sent.join("; ") || "nothing"}.`;
  if (play.stopped && k === steps.length - 1 && !step.flows.length)
    return `${node.title}${got}, and failed: ${play.stopped}`;
  return `${node.title}${got}${sent.length ? ` and sends ${sent.join("; ")}` : ""}.`;
};

const goTo = (k, follow = true) => {
  if (!steps.length) return;
  state.step = Math.max(-1, Math.min(steps.length - 1, k));
  player.slider.value = state.step + 1;
  player.slider.setAttribute(
    "aria-valuetext",
    state.step < 0 ? "before the first step" : `step ${state.step + 1} of ${steps.length}`,
  );
  player.count.textContent = `${state.step + 1} / ${steps.length}`;
  player.said.textContent = sentence(state.step);
  player.first.disabled = player.back.disabled = state.step < 0;
  player.last.disabled = player.forth.disabled = state.step === steps.length - 1;
  if (state.step >= 0) select(steps[state.step].node, {});
  else select(null, {});
  if (state.step >= 0 && follow) {
    const seen = scene.items.get(seenAs(steps[state.step].node, state.open));
    if (seen) bringIn(seen.x, seen.y);
  }
};

// What has run, what runs, and what flows, on the picture.
const markStep = () => {
  chips.replaceChildren();
  for (const { card } of scene.items.values()) card.classList.remove("ran", "runs", "waits");
  for (const p of scene.lines.values()) p.classList.remove("flows");
  if (state.step < 0) return;
  for (const [member, { card }] of scene.items) {
    const run =
      member >= 0 ? nodes[member].step >= 0 && nodes[member].step <= state.step : hasRun(groups[groupOf(member)]);
    if (run) card.classList.add("ran");
  }
  const step = steps[state.step];
  scene.items.get(seenAs(step.node, state.open))?.card.classList.add("runs");
  const many = step.flows.length;
  step.flows.forEach(([edge, v], k) => {
    if (k >= 8 || v === 0) return;
    const lines = linesOf(edges[edge], state.open);
    for (const line of lines) {
      line.classList.add("flows");
      line.parentNode.append(line);
    }
    const target = scene.items.get(seenAs(edges[edge].target, state.open));
    target?.card.classList.add("waits");
    if (lines.length)
      chips.append(
        chip(
          value(v),
          lines.reduce((a, b) => (b.getTotalLength() > a.getTotalLength() ? b : a)),
          many > 1 ? 0.38 + (0.34 * k) / (many - 1) : 0.5,
        ),
      );
  });
};
const hasRun = (group) =>
  state.step >= 0 &&
  [...group.members].some((m) =>
    m >= 0 ? nodes[m].step >= 0 && nodes[m].step <= state.step : hasRun(groups[groupOf(m)]),
  );

// A gradient on its way: a number, or a small heat map and its norm.
const chip = (v, line, part) => {
  const at = line.getPointAtLength(line.getTotalLength() * part),
    matrix = line.parentNode.parentNode;
  const shift = offset(matrix);
  const words = v.shape === "[]" ? short(v.cells[0]) : `|g| ${tiny(v.norm)}`;
  const drawn = v.shape !== "[]" && v.cells.length > 1;
  const side = drawn ? Math.max(1.5, Math.min(9, 64 / v.columns, 26 / v.rows)) : 0,
    pictured = drawn ? v.columns * side + 6 : 0;
  const width = words.length * 6.7 + 14 + pictured,
    height = Math.max(20, v.rows * side + 8);
  const g = make(
    "g",
    { class: "chip", transform: `translate(${r(at.x + shift.x - width / 2)},${r(at.y + shift.y - height / 2)})` },
    make("rect", { class: "box", width: r(width), height: r(height), rx: 6 }),
    make("text", { x: r((width + pictured) / 2), y: r(height / 2 + 4) }, words),
  );
  if (!drawn) return g;
  const top = Math.max(0, ...v.cells.map(power)),
    left = 6,
    over = (height - v.rows * side) / 2;
  g.append(make("rect", { class: "frame", x: left, y: r(over), width: r(v.columns * side), height: r(v.rows * side) }));
  v.cells.forEach((cell, k) => {
    const odd = typeof cell !== "number";
    if (!odd && !power(cell)) return;
    g.append(
      make("rect", {
        class: odd ? "odd" : cell > 0 ? "plus" : "minus",
        "fill-opacity": odd ? 1 : Math.max(0.06, power(cell) / top).toFixed(3),
        x: r(left + (k % v.columns) * side),
        y: r(over + Math.floor(k / v.columns) * side),
        width: r(side),
        height: r(side),
      }),
    );
  });
  return g;
};
const offset = (element) => {
  let x = 0,
    y = 0;
  for (let e = element; e && e !== world; e = e.parentNode) {
    const t = e.transform?.baseVal.consolidate()?.matrix;
    if (t) {
      x += t.e;
      y += t.f;
    }
  }
  return { x, y };
};

const pace = { least: 90, most: 1000, whole: 60000 }; // milliseconds: of a step, of all
let timer = 0;
const running = () => timer !== 0;
const stop = () => {
  clearTimeout(timer);
  timer = 0;
  player.run.querySelector("use").setAttribute("href", "#icon-play");
  player.run.querySelector("span").textContent = "Play";
};
const start = () => {
  if (state.step === steps.length - 1) goTo(-1);
  player.run.querySelector("use").setAttribute("href", "#icon-pause");
  player.run.querySelector("span").textContent = "Pause";
  const pause = Math.min(pace.most, Math.max(pace.least, pace.whole / steps.length));
  const tick = () => {
    goTo(state.step + 1);
    if (state.step === steps.length - 1) stop();
    else timer = setTimeout(tick, pause);
  };
  timer = setTimeout(tick, 150);
};
const toggleRun = () => (running() ? stop() : start());
const byHand = (k) => {
  stop();
  goTo(k);
};
player.first.addEventListener("click", () => byHand(-1));
player.back.addEventListener("click", () => byHand(state.step - 1));
player.forth.addEventListener("click", () => byHand(state.step + 1));
player.last.addEventListener("click", () => byHand(steps.length - 1));
player.run.addEventListener("click", toggleRun);
player.slider.addEventListener("input", () => byHand(Number(player.slider.value) - 1));

addEventListener("keydown", (e) => {
  const typing = e.target.matches("input:not([type=range]):not([type=radio]), select, textarea");
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/" && !typing) {
    e.preventDefault();
    searchBox.focus();
    return;
  }
  if (typing || !steps.length || e.shiftKey || e.target.matches("[type=radio], summary")) return;
  if (e.key === " " && e.target.matches("button")) return;
  const to = { ArrowLeft: state.step - 1, ArrowRight: state.step + 1, Home: -1, End: steps.length - 1 }[e.key];
  if (e.key === " ") toggleRun();
  else if (to !== undefined) byHand(to);
  else return;
  e.preventDefault();
});
