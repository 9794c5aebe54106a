// The list: the same nodes and groups in words, as a tree that folds with the picture; and the search.

const list = document.getElementById("list"),
  scroller = document.querySelector(".outline");
const searchBox = document.getElementById("search");
const found = document.getElementById("found");
const MOST_FOUND = 200;

// Inputs first, as in the picture from above.
const inOrder = (group) => group.members.toSorted((a, b) => first(b) - first(a));
const first = (member) =>
  member < 0
    ? groups[groupOf(member)].first
    : nodes[member].kind === "stop"
      ? nodes[member].incoming[0].source + 0.5
      : member;
for (const group of groups.toReversed()) group.first = Math.max(...group.members.map(first));

const said = (node) => {
  const parts = [node.title];
  if (node.kind !== "op" && node.kind !== "accumulate" && node.title !== "Output")
    parts.push(KINDS[node.kind] ?? node.kind);
  if (node.shape) parts.push(size(node.shape));
  if (hasOrders.size > 1 && node.order > 1) parts.push(orderOf(node));
  if (node.bytes) parts.push(`keeps ${bytes(node.bytes)}`);
  if (node.gradient)
    parts.push(
      `gradient rms ${tiny(node.gradient.rms)}${JUDGED[judged(node.gradient.rms)] ? `, ${JUDGED[judged(node.gradient.rms)]}` : ""}`,
    );
  if (node.outgoing.length)
    parts.push(
      `gradient goes to ${node.outgoing
        .slice(0, 4)
        .map((e) => nodes[e.target].title)
        .join(", ")}${node.outgoing.length > 4 ? ", \u2026" : ""}`,
    );
  return parts.join(", ");
};

// A module's path, less that of the module around it.
const relative = (group) => {
  const outer = groups[group.parent]?.title.split(", ")[0];
  return outer && group.title.startsWith(`${outer}.`) ? group.title.slice(outer.length) : group.title;
};

const row = (member, level) => {
  const li = make("li", {
    role: "treeitem",
    tabindex: -1,
    "data-member": member,
    "aria-level": level,
    "aria-selected": member === state.selected,
  });
  const line = make("div", {
    class: `row ${member >= 0 ? nodes[member].kind : "folder"}`,
    style: `--level: ${level - 1}`,
  });
  if (member >= 0) {
    const node = nodes[member];
    li.setAttribute("aria-label", said(node));
    const verdict = node.gradient && judged(node.gradient.rms);
    line.append(
      make("span", { class: "bullet" }),
      make("span", { class: "title" }, state.query ? node.title : within(node)),
      make("span", { class: "size" }, size(node.shape)),
    );
    if (verdict) line.append(icon(verdict, { class: `icon ${verdict}` }));
    li.append(line);
    return li;
  }
  const group = groups[groupOf(member)],
    open = state.open.has(group.id);
  li.setAttribute("aria-expanded", open);
  li.setAttribute("aria-label", `${group.title}, ${group.count} nodes`);
  line.append(
    icon(open ? "fold" : "unfold"),
    make("span", { class: "title" }, relative(group)),
    make("span", { class: "size" }, group.count.toLocaleString("en")),
  );
  li.append(line);
  if (open) li.append(make("ul", { role: "group" }, ...inOrder(group).map((m) => row(m, level + 1))));
  return li;
};

const showList = () => {
  const focused = list.contains(document.activeElement) ? Number(document.activeElement.dataset.member) : null;
  const at = scroller.scrollTop;
  if (state.query) list.replaceChildren(...state.matches.slice(0, MOST_FOUND).map((id) => row(id, 1)));
  else list.replaceChildren(...inOrder(groups[0]).map((m) => row(m, 1)));
  scroller.scrollTop = at;
  const items = rows();
  const current = items.find((li) => Number(li.dataset.member) === (focused ?? state.selected)) ?? items[0];
  if (current) current.tabIndex = 0;
  if (focused !== null) current?.focus({ preventScroll: true });
};
const rows = () => [...list.querySelectorAll("[role=treeitem]")];
const markList = () => {
  for (const li of list.querySelectorAll("[aria-selected=true]")) li.setAttribute("aria-selected", false);
  const li = state.selected === null ? null : list.querySelector(`[data-member="${state.selected}"]`);
  if (!li) return;
  li.setAttribute("aria-selected", true);
  const line = li.firstElementChild.getBoundingClientRect(),
    box = scroller.getBoundingClientRect();
  if (line.top < box.top + 36 || line.bottom > box.bottom) scroller.scrollTop += line.top - box.top - box.height / 2;
};

list.addEventListener("click", (e) => {
  const li = e.target.closest("[role=treeitem]");
  if (!li) return;
  const member = Number(li.dataset.member);
  enter(li);
  if (member < 0) toggle(groupOf(member));
  select(member, { reveal: member >= 0 });
});
const enter = (li) => {
  for (const other of list.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
  li.tabIndex = 0;
  li.focus({ preventScroll: true });
  li.firstElementChild.scrollIntoView({ block: "nearest" });
};
list.addEventListener("keydown", (e) => {
  const li = e.target.closest("[role=treeitem]");
  const member = Number(li.dataset.member),
    all = rows(),
    k = all.indexOf(li);
  const open = li.getAttribute("aria-expanded");
  if (e.key === "ArrowDown") enter(all[Math.min(all.length - 1, k + 1)]);
  else if (e.key === "ArrowUp") enter(all[Math.max(0, k - 1)]);
  else if (e.key === "Home") enter(all[0]);
  else if (e.key === "End") enter(all.at(-1));
  else if (e.key === "ArrowRight" && open === "false") toggle(groupOf(member));
  else if (e.key === "ArrowRight" && open === "true") enter(all[k + 1]);
  else if (e.key === "ArrowLeft" && open === "true") toggle(groupOf(member));
  else if (e.key === "ArrowLeft") enter(li.parentElement.closest("[role=treeitem]") ?? li);
  else if (e.key === "Enter" || e.key === " ") {
    if (member < 0) toggle(groupOf(member));
    select(member, { reveal: member >= 0 });
  } else return;
  e.preventDefault();
  e.stopPropagation();
});

// ---- the search

const words = nodes.map((n) =>
  [
    n.title,
    n.name,
    n.label,
    n.module,
    n.kind,
    KINDS[n.kind],
    n.shape,
    n.dtype,
    n.reason,
    n.function,
    n.file && `${base(n.file)}:${n.line}`,
  ]
    .filter(Boolean)
    .join("\n")
    .toLowerCase(),
);
const search = () => {
  const parts = searchBox.value.toLowerCase().split(/\s+/).filter(Boolean);
  state.query = parts.join(" ");
  state.matches = parts.length
    ? nodes
        .filter((n) => parts.every((p) => words[n.id].includes(p)))
        .map((n) => n.id)
        .reverse()
    : [];
  state.match = -1;
  found.textContent = state.query
    ? state.matches.length
      ? `${state.matches.length.toLocaleString("en")} found`
      : "nothing found"
    : "";
  showList();
  mark();
};
const next = (by) => {
  if (!state.matches.length) return;
  state.match = (state.match + by + state.matches.length) % state.matches.length;
  found.textContent = `${(state.match + 1).toLocaleString("en")} of ${state.matches.length.toLocaleString("en")}`;
  select(state.matches[state.match], { reveal: true });
};
searchBox.addEventListener("input", search);
searchBox.addEventListener("keydown", (e) => {
  if (e.key === "Enter") next(e.shiftKey ? -1 : 1);
  else if (e.key === "Escape" && searchBox.value) {
    searchBox.value = "";
    search();
  } else return;
  e.preventDefault();
});
