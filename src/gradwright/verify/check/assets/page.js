(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const size = (v) => (typeof v === "number" ? Math.abs(v) : 0);
  const largest = (values) => Math.max(0, ...values.map(size));

  // ---- heat maps

  const WIDE = 56, TALL = 26, READABLE = 46;
  const PANELS = [["analytic", "Backward"], ["numeric", "Finite differences"], ["off", "Difference"]];

  const corner = (x, y, length) => `${x - length},${y} ${x},${y} ${x},${y + length}`;

  const heatMap = (m, worst, space) => {
    const [rows, columns] = m.shape;
    const room = Math.min(260, space < 500 ? space - 4 : Math.floor((space - 64) / 3));
    let w = Math.min(WIDE, room / columns), h = Math.min(TALL, room / rows);
    const written = w >= READABLE && h >= 18;
    if (!written) w = h = Math.max(4, Math.min(w, h));
    const top = largest([...m.analytic, ...m.numeric]);
    const wrong = m.off.filter((v, k) => m.mark[k] === 1);
    const far = largest(wrong);
    const panels = make("div", { class: "panels", tabindex: 0, role: "group" });
    const cursors = [];

    const frame = (x, y, kind, inset) => make("rect", { class: kind, x: x + inset, y: y + inset, width: w - 2 * inset, height: h - 2 * inset });
    for (const [key, title] of PANELS) {
      const svg = make("svg", { width: columns * w + 2, height: rows * h + 2, viewBox: `-1 -1 ${columns * w + 2} ${rows * h + 2}`, "aria-hidden": true });
      svg.append(make("rect", { class: "frame", width: columns * w, height: rows * h }));
      const scale = key === "off" ? far : top;
      m[key].forEach((v, k) => {
        const x = (k % columns) * w, y = Math.floor(k / columns) * h;
        const shown = key !== "off" || m.mark[k] === 1;
        const part = shown && scale ? size(v) / scale : 0;
        const odd = shown && typeof v !== "number";
        if (part || odd) {
          const rect = frame(x, y, "cell " + (odd ? "odd" : v > 0 ? "plus" : "minus") + (w < 9 ? " dense" : ""), 0);
          if (!odd) rect.setAttribute("fill-opacity", Math.max(part, 0.06).toFixed(3));
          svg.append(rect);
        }
        if (m.mark[k] === 2) svg.append(make("polygon", { class: "kink", points: corner(x + w, y, Math.min(8, w)) }));
        if (written) {
          const text = make("text", { x: x + w / 2, y: y + h / 2 }, shown ? short(v) : "\u00b7");
          if (part > 0.6 || odd) text.setAttribute("class", part > 0.75 || odd ? "deep" : "mid");
          svg.append(text);
        }
      });
      if (worst !== null) svg.append(frame((worst % columns) * w, Math.floor(worst / columns) * h, "ring", w > 12 ? 1 : -1.5));
      const cursor = frame(0, 0, "here", w > 12 ? 3 : -1);
      cursor.style.visibility = "hidden";
      svg.append(cursor);
      cursors.push(cursor);
      svg.addEventListener("pointermove", (e) => {
        const box = svg.getBoundingClientRect();
        const at = (position, length, n) => Math.min(n - 1, Math.max(0, Math.floor((position / length) * n)));
        show(at(e.clientY - box.top, box.height, rows) * columns + at(e.clientX - box.left, box.width, columns));
      });
      panels.append(make("div", { class: "panel" }, make("span", {}, title), svg));
    }

    const readout = make("output", { class: "readout" });
    let here = worst ?? 0;
    const show = (k, moved = true) => {
      here = k;
      const row = Math.floor(m.at[k] / m.of[1]), column = m.at[k] % m.of[1];
      const state = ["", ", wrong", ", a kink"][m.mark[k]];
      const of = (m.columns ?? [])[column] ?? column, by = (m.rows ?? [])[row] ?? row;
      readout.textContent = `${m.output} entry ${of} by ${m.input} entry ${by}: backward ${number(m.analytic[k])}, ` +
        `finite differences ${number(m.numeric[k])} \u00b1 ${number(m.bar[k], 1)}, difference ${number(m.off[k], 3)}${state}`;
      for (const c of cursors) {
        c.setAttribute("x", (k % columns) * w + (w > 12 ? 3 : -1));
        c.setAttribute("y", Math.floor(k / columns) * h + (w > 12 ? 3 : -1));
        c.style.visibility = moved ? "visible" : "hidden";
      }
    };
    panels.addEventListener("keydown", (e) => {
      const row = Math.floor(here / columns), column = here % columns;
      const to = { ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column],
        ArrowDown: [row + 1, column], Home: [row, 0], End: [row, columns - 1] }[e.key];
      if (!to) return;
      e.preventDefault();
      if (to[0] >= 0 && to[0] < rows && to[1] >= 0 && to[1] < columns) show(to[0] * columns + to[1]);
    });
    panels.addEventListener("blur", () => show(worst ?? here, false));
    panels.addEventListener("pointerleave", () => show(worst ?? here, false));
    show(here, false);

    const whole = `${m.of[0]} \u00d7 ${m.of[1]}`;
    const cut = m.shape.join() === m.of.join() ? ""
      : ` Drawn as ${rows} \u00d7 ${columns} tiles: of each, the entry that is furthest off.`;
    panels.setAttribute("aria-label", `Jacobian of ${m.output} by ${m.input}, ${whole}, ` +
      `${wrong.length ? wrong.length + " cells wrong" : "no cell wrong"}. Arrow keys go from entry to entry.`);
    const caption = make("figcaption", {}, make("b", {}, "Jacobian"), ` of ${m.output} by ${m.input}: ${whole}, ` +
      `a row per entry of ${m.input}, a column per entry of ${m.output}.${cut}`);
    return make("figure", {}, caption, panels, legend(top, far, worst !== null, m.mark.includes(2)), readout);
  };

  const ramp = (top, title) => make("span", {}, ...(title ? [make("b", {}, title)] : []), `\u2212${number(top, 3)}`, make("i", { class: "ramp" }), number(top, 3));
  const key = (text, ...shapes) => make("span", {}, make("svg", { width: 16, height: 16, "aria-hidden": true }, ...shapes), text);
  const legend = (top, far, ringed, kinks) => {
    const found = make("div", { class: "legend" }, ramp(top, far ? "values" : ""));
    if (far) found.append(ramp(far, "difference"));
    found.append(key("within its error bar", make("rect", { class: "frame", x: 2, y: 2, width: 12, height: 12 }), make("text", { x: 5, y: 11 }, "\u00b7")));
    if (ringed) found.append(key(far || kinks ? "worst entry" : "largest difference", make("rect", { class: "ring", x: 2, y: 2, width: 12, height: 12 })));
    if (kinks) found.append(key("kink", make("rect", { class: "frame", x: 2, y: 2, width: 12, height: 12 }), make("polygon", { class: "kink", points: corner(14, 2, 8) })));
    return found;
  };

  // ---- error by step size

  const power = (p) => [`10`, make("tspan", { dy: -4, style: "font-size: 8px" }, signed(String(p)))];
  const plot = (p, room, kink) => {
    const W = Math.max(260, Math.min(room, 620)), H = 210, left = 44, right = 12, over = 10, under = 34;
    const all = [...p.analytic, ...p.numeric, p.error, p.bar].filter((v) => v > 0 && typeof v === "number");
    if (!all.length) all.push(1e-16);
    const log = Math.log10;
    const high = Math.ceil(log(Math.max(...all)) + 0.05), low = Math.min(high - 1, Math.max(high - 24, Math.floor(log(Math.min(...all)) - 0.5)));
    const first = log(p.steps.at(-1)) - 0.1, last = log(p.steps[0]) + 0.1;
    const X = (s) => left + ((log(s) - first) / (last - first)) * (W - left - right);
    const Y = (v) => over + (1 - (Math.max(low, typeof v === "number" && v > 0 ? log(v) : low) - low) / (high - low)) * (H - over - under);
    const says = kink ? "The slopes to the left and to the right differ."
      : p.error === 0 || p.error <= 5 * p.bar ? "They lead to what backward says."
      : typeof p.error === "number" ? `They lead to a value ${number(p.error, 3)} away from what backward says.` : "";
    const svg = make("svg", { class: "plot", width: W, height: H, viewBox: `0 0 ${W} ${H}`, role: "img",
      "aria-label": `Error by step size, ${p.steps.length} steps from ${number(p.steps[0], 2)} to ${number(p.steps.at(-1), 2)}. ${says}` });
    const stride = Math.ceil((high - low) / 6);
    for (let d = high; d >= low; d -= stride) {
      svg.append(make("line", { class: "grid", x1: left, x2: W - right, y1: Y(10 ** d), y2: Y(10 ** d) }));
      svg.append(make("text", { x: left - 8, y: Y(10 ** d) + 4, "text-anchor": "end" }, ...power(d)));
    }
    for (let d = Math.ceil(first); d <= last; d++) {
      svg.append(make("line", { class: "grid", x1: X(10 ** d), x2: X(10 ** d), y1: over, y2: H - under }));
      svg.append(make("text", { x: X(10 ** d), y: H - under + 17, "text-anchor": "middle" }, ...power(d)));
    }
    svg.append(make("text", { x: W - right, y: H - 3, "text-anchor": "end" }, "step"));
    if (p.bar > 0 && typeof p.bar === "number") {
      svg.append(make("rect", { class: "band", x: left, width: W - left - right, y: Y(p.bar), height: Math.max(0, H - under - Y(p.bar)) }));
      svg.append(make("line", { class: "edge", x1: left, x2: W - right, y1: Y(p.bar), y2: Y(p.bar) }));
    }
    for (const [kind, values, r] of [["settles", p.numeric, 4.5], ["said", p.analytic, 2.5]]) {
      svg.append(make("polyline", { class: kind, points: values.map((v, k) => `${X(p.steps[k])},${Y(v)}`).join(" ") }));
      values.forEach((v, k) => svg.append(make("circle", { class: kind, cx: X(p.steps[k]), cy: Y(v), r, "stroke-width": 1.5 })));
    }
    const dot = (kind, r) => make("circle", { class: kind, cx: 8, cy: 8, r, "stroke-width": 1.5 });
    return make("figure", {},
      make("figcaption", {}, make("b", {}, "Error by step size"), ` of the difference quotients of that entry. ${says}`), svg,
      make("div", { class: "legend" }, key("from what backward says", dot("said", 3)), key("from where they lead", dot("settles", 4.5)),
        key("error bar of the latter", make("rect", { class: "band", y: 6, width: 16, height: 8 }), make("line", { class: "edge", x2: 16, y1: 6, y2: 6 }))));
  };

  // ---- the page

  const draw = (place) => {
    if (place.childElementCount) return;
    const { maps, worst, plot: steps } = data[place.dataset.figure];
    if (maps.length) {
      const start = worst ? worst[0] : 0;
      const one = (k) => heatMap(maps[k], worst && worst[0] === k ? worst[1] : null, place.clientWidth);
      let figure = one(start);
      if (maps.length > 1) {
        const select = make("select", {}, ...maps.map((m, k) => make("option", { value: k }, `${m.output} by ${m.input}`)));
        select.value = start;
        select.addEventListener("change", () => {
          const next = one(Number(select.value));
          figure.replaceWith(next);
          figure = next;
        });
        place.append(make("label", {}, `One of ${maps.length} Jacobians: `, select));
      }
      place.append(figure);
    }
    if (steps) place.append(plot(steps, place.clientWidth, worst && maps[worst[0]].mark[worst[1]] === 2));
  };
  const figures = document.querySelectorAll(".figures");
  const near = new IntersectionObserver((seen) => seen.forEach((e) => e.isIntersecting && draw(e.target)), { rootMargin: "600px" });
  figures.forEach((f) => near.observe(f));
  addEventListener("beforeprint", () => figures.forEach((f) => f.checkVisibility() && draw(f)));

  const rows = [...document.querySelectorAll(".row")];
  const unfold = document.getElementById("unfold");
  const label = () => { unfold.textContent = rows.every((r) => r.open) ? "Fold all" : "Unfold all"; };
  unfold.hidden = rows.length < 2;
  unfold.addEventListener("click", () => {
    const open = !rows.every((r) => r.open);
    for (const r of rows) r.open = open;
    label();
  });
  document.addEventListener("toggle", label, true);

  const go = () => {
    const row = document.getElementById(location.hash.slice(1));
    if (row?.matches(".row")) row.open = true;
  };
  addEventListener("hashchange", go);
  go();
})();
