const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const views = {};

const bytes = (count) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit++; }
  return `${count.toPrecision(3).replace(/\.?0+$/, (zeros) => (zeros.includes(".") ? "" : zeros))} ${units[unit]}`;
};
const percent = (share) => `${(100 * share).toFixed(1)} %`;

// ---- figures, in light and dark

const isDark = () => root.classList.contains("dark");

async function draw() {
  for (const figure of data.figures) {
    const old = views[figure.name];
    const signal = old && figure.name === "curve" ? old.view.signal("room") : null;
    if (old) old.finalize();
    views[figure.name] = await vegaEmbed(`#figure-${figure.name}`, figure.spec, {
      mode: figure.language,
      renderer: "svg",
      config: isDark() ? data.looks.dark : data.looks.light,
      actions: { export: true, source: false, compiled: false, editor: false },
    });
    if (signal !== null) views.curve.view.signal("room", signal).run();
  }
  if (views.curve && data.room) dragged(views.curve.view);
}

document.getElementById("theme").addEventListener("click", () => {
  root.classList.toggle("dark");
  draw();
});
root.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);

// ---- the boundary that can be dragged

const plannedTiers = data.sites.map((site) => site.tier);
const most = data.sites.reduce((sum, site) => sum + site.bytes, 0);
const slider = document.getElementById("room");

function replan(room) {
  const fast = strategies[document.getElementById("strategy").value](data.sites, room);
  data.sites.forEach((site, i) => { site.tier = fast.has(i) ? 0 : Math.max(1, plannedTiers[i] ?? 1); });
  say(room, "", (site, i) => (fast.has(i) ? 1 : 0));
}

// What tier 0 would hold and serve; `share` is a site's part of it.
function say(room, how, share) {
  let count = 0, held = 0, carried = 0;
  data.sites.forEach((site, i) => {
    const part = share(site, i);
    count += part > 0;
    held += part * site.bytes;
    carried += part * site.traffic;
  });
  document.getElementById("room-said").textContent = bytes(room);
  document.getElementById("replanned").textContent =
    `${count} of ${data.sites.length} sites (${bytes(held)}) would go to ${data.fast}${how}; ` +
    `theirs is ${percent(data.traffic ? carried / data.traffic : 0)} of the memory traffic.` +
    (held > room ? ` Of their bytes ${bytes(room)} fit, what is touched last spills.` : "");
  if (views.curve) views.curve.view.signal("room", room / 2 ** 20).runAsync();
  if (table) table.rows().invalidate("data").draw(false);
}

const roomOf = (position) => Math.round((position / 1000) * most);
const positionOf = (room) => Math.round((1000 * Math.min(room, most)) / most);

// As the plan has it, whatever made it.
function back() {
  slider.value = positionOf(data.room);
  document.getElementById("strategy").value = data.strategy;
  data.sites.forEach((site, i) => { site.tier = plannedTiers[i]; });
  say(data.room, `, by ${data.planned_by}`, (site) => site.fast);
}

function dragged(view) {
  let dragging = false;
  const move = (event) => {
    const at = view.scale("x").invert(event.offsetX - view.origin()[0]) * 2 ** 20;
    const room = Math.max(0, Math.min(most, at));
    slider.value = positionOf(room);
    replan(Math.round(room));
  };
  view.addEventListener("mousedown", (event) => { dragging = true; move(event); });
  view.addEventListener("mousemove", (event) => { if (dragging && event.buttons) move(event); });
  window.addEventListener("mouseup", () => { dragging = false; });
}

// ---- sites

let table = null;

function number(show) {
  return (value, type) => (type === "display" ? (value === null ? "-" : show(value)) : value ?? -1);
}

// Text from profiles is never HTML.
const safe = (text) => {
  const element = document.createElement("span");
  element.textContent = text;
  return element.innerHTML;
};

const columns = [
  // As "string", since DataTables would cut <int> out of vector<int> as if it were a tag.
  { title: "site", data: "function", type: "string", render: (value, type, row) => (type === "display"
    ? `<button type="button" class="opens" aria-expanded="false">${safe(value)}</button><br>${safe(row.position)}`
    : type === "filter" ? row.key : value) },
  { title: "routine", data: "routine", render: (value, type) => (type === "display" ? safe(value) : value) },
  { title: "bytes", data: "bytes", render: number(bytes), className: "number" },
  { title: "traffic", data: "traffic", render: number(bytes), className: "number" },
  { title: "traffic/byte", data: (row) => (row.bytes ? row.traffic / row.bytes : 0),
    render: number((value) => value.toPrecision(3)), className: "number" },
  { title: "of all", data: (row) => (data.traffic ? row.traffic / data.traffic : 0),
    render: number(percent), className: "number" },
  { title: "reads", data: (row) => (row.traffic ? row.read / row.traffic : null),
    render: number(percent), className: "number" },
  { title: "allocations", data: "allocations", className: "number" },
  { title: "lives (s)", data: "lifetime", render: number((value) => value.toPrecision(3)), className: "number" },
  { title: "tier", data: "tier", render: number(String), className: "number" },
  { title: "suits", data: "suits", visible: data.sites.some((site) => site.suits) },
];

function more(row) {
  const box = document.createElement("div");
  box.className = "more";
  const line = (name, value) => {
    if (!value) return;
    const paragraph = document.createElement("div");
    paragraph.textContent = `${name}: ${value}`;
    box.append(paragraph);
  };
  line("called from", row.context.join(" < "));
  line("module", row.module);
  line("the plan", row.reason);
  const excerpt = data.excerpts[row.position];
  if (excerpt) {
    const source = document.createElement("pre");
    excerpt.lines.forEach((text, i) => {
      const at = excerpt.first + i;
      const shown = document.createElement(at === excerpt.at ? "mark" : "span");
      shown.textContent = `${String(at).padStart(5)}  ${text}\n`;
      source.append(shown);
    });
    box.append(source);
  }
  return box;
}

async function list() {
  const text = atob(document.getElementById("table-library").textContent);
  const source = new Blob([Uint8Array.from(text, (c) => c.charCodeAt(0))], { type: "text/javascript" });
  const url = URL.createObjectURL(source);
  const DataTable = (await import(url)).default;
  URL.revokeObjectURL(url);
  table = new DataTable("#sites", {
    data: data.sites, columns, order: [], deferRender: true, pageLength: 25, autoWidth: false,
  });
  document.getElementById("sites").addEventListener("click", (event) => {
    const button = event.target.closest("button.opens");
    if (!button) return;
    const row = table.row(button.closest("tr"));
    const open = !row.child.isShown();
    if (open) row.child(more(row.data())).show(); else row.child.hide();
    button.setAttribute("aria-expanded", String(open));
  });
}

async function start() {
  await draw();
  if (document.getElementById("sites")) await list();
  if (slider) {
    slider.addEventListener("input", () => replan(roomOf(Number(slider.value))));
    document.getElementById("strategy").addEventListener("change", () => replan(roomOf(Number(slider.value))));
    document.getElementById("reset").addEventListener("click", back);
    back();
  }
  root.dataset.ready = String(Math.round(performance.now())); // ms since the page was asked for
}
start();
