// What was found is in report: {result, advice, worst, kinds, axes}. This script draws it.
const { result, advice, worst, kinds, axes } = report;
const axisOf = (key) => axes.find((a) => a.Key === key);
const familyOf = (name) => result.architectures.find((a) => a.name === name).family;
const colour = (name) => `var(--${familyOf(name)})`;
const cellOf = (arch, network) =>
  result.cells.find((c) => c.architecture === arch && c.network === network);
const named = (a) => a.Head + (a.Unit ? ", " + a.Unit : "");
// Heads such as "p95" say only beside others what they are of.
const whole = (a) => {
  const of = axes.slice(0, axes.indexOf(a)).reverse().find((b) => b.Group === a.Group && b.Head.length > 7);
  return ["median", "p95", "most", "deepest", "longest"].includes(a.Head) && of ? `${of.Head.replace(/, mean$/, "")}: ${named(a)}` : named(a);
};

// few says that a figure rests on too few runs.
function few(a, f) {
  const scale = Math.max(Math.abs(f.mean), a.Floor);
  return f.n < 2 || (f.high - f.low) / 2 > 0.2 * scale;
}

function text(a, f) {
  const half = (f.high - f.low) / 2;
  return round(f.mean) + (half > 0 ? " ± " + round(half) : "");
}

// steps are round numbers from 0 to a most.
function steps(most) {
  if (!(most > 0)) return [0, 1];
  const rough = most / 5, ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough);
  const list = [];
  for (let v = 0; v < most + step * 0.999; v += step) list.push(v);
  return list;
}

function picture(width, height) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  return svg;
}

const hidden = new Set(); // families that are not shown

// scatter draws all architectures by two axes.
function scatter() {
  const x = axisOf(byId("x").value), y = axisOf(byId("y").value), network = byId("field").value;
  const marks = [];
  for (const c of result.cells) {
    const fx = c.figures && c.figures[x.Key], fy = c.figures && c.figures[y.Key];
    if (!fx || !fy || hidden.has(familyOf(c.architecture))) continue;
    if (network !== "" && c.network !== network) continue;
    marks.push({ c, fx, fy });
  }
  const width = 900, height = 460, left = 60, right = 20, top = 16, bottom = 46;
  // Dots decide how far the axes reach; a wide interval is cut off there.
  const sx = steps(Math.max(...marks.map((m) => m.fx.mean), 0)), sy = steps(Math.max(...marks.map((m) => m.fy.mean), 0));
  const px = (v) => left + (v / sx.at(-1)) * (width - left - right);
  const py = (v) => height - bottom - (v / sy.at(-1)) * (height - top - bottom);
  const svg = picture(width, height);
  for (const v of sx) {
    shape(svg, "line", { class: "grid", x1: px(v), x2: px(v), y1: top, y2: height - bottom });
    shape(svg, "text", { x: px(v), y: height - bottom + 16, "text-anchor": "middle" }, round(v));
  }
  for (const v of sy) {
    shape(svg, "line", { class: "grid", x1: left, x2: width - right, y1: py(v), y2: py(v) });
    shape(svg, "text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, round(v));
  }
  shape(svg, "text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, whole(x));
  shape(svg, "text", { x: 14, y: (top + height - bottom) / 2, "text-anchor": "middle",
    transform: `rotate(-90 14 ${(top + height - bottom) / 2})` }, whole(y));
  const within = (v, all) => Math.max(0, Math.min(v, all.at(-1)));
  const dots = [];
  for (const { c, fx, fy } of marks) {
    const g = shape(svg, "g", { class: "mark" }), paint = colour(c.architecture);
    const cx = px(fx.mean), cy = py(fy.mean);
    const bar = { stroke: paint, "stroke-opacity": 0.5, "stroke-width": 2 };
    shape(g, "line", { ...bar, x1: px(within(fx.low, sx)), x2: px(within(fx.high, sx)), y1: cy, y2: cy });
    shape(g, "line", { ...bar, x1: cx, x2: cx, y1: py(within(fy.low, sy)), y2: py(within(fy.high, sy)) });
    shape(g, "circle", { cx, cy, r: 6, fill: paint });
    dots.push({ x: cx, y: cy, name: c.architecture, mark: g });
    tip(g, `${c.architecture} on ${c.network}\n${whole(x)}: ${text(x, fx)}\n${whole(y)}: ${text(y, fy)}`);
    g.addEventListener("click", () => {
      byId("arch").value = c.architecture;
      one();
      byId("one").scrollIntoView({ behavior: "smooth" });
    });
  }
  if (network !== "") names(svg, dots, { x: left, y: 2, w: width - left, h: height - bottom - 2 });
  if (marks.length === 0)
    shape(svg, "text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "nothing was measured on both of these here");
  byId("scatter").replaceChildren(svg);
}

// ranks draws what each costs on each network, in parts.
function ranks() {
  const groups = Object.keys(advice.weights);
  const paints = ["#1f6feb", "#d9730d", "#8250df", "#1a7f37", "#999", "#cf222e"];
  const row = 18, left = 150, width = 900;
  let rows = 0;
  for (const n of advice.networks) rows += n.ranks.length + 1.6;
  // What costs more than ten times the best is cut short.
  const all = advice.networks.flatMap((n) => n.ranks.map((k) => Math.min(k.cost, 10 * Math.max(n.ranks[0].cost, 0.5))));
  const most = Math.max(...all, 0.1);
  const height = rows * row + 40;
  const svg = picture(width, height);
  let y = 16, x = left;
  groups.forEach((g, i) => {
    shape(svg, "rect", { x, y: y - 10, width: 10, height: 10, fill: paints[i] });
    shape(svg, "text", { x: x + 14, y }, g);
    x += 24 + 7 * g.length;
  });
  y += 26;
  for (const n of advice.networks) {
    shape(svg, "text", { class: "name", x: 0, y, "font-weight": 600 }, n.network);
    y += row;
    for (const k of n.ranks) {
      shape(svg, "text", { x: left - 8, y, "text-anchor": "end", class: k.architecture === n.choice ? "name" : "" }, k.architecture);
      const g = shape(svg, "g", {}), scale = (width - left - 60) / most;
      let at = left, end = left + most * scale;
      groups.forEach((name, i) => {
        const w = Math.max(0, Math.min((k.parts[name] || 0) * scale, end - at));
        shape(g, "rect", { x: at, y: y - 11, width: w, height: 13, fill: paints[i] });
        at += w;
      });
      shape(svg, "text", { x: at + 6, y }, round(k.cost) + (k.cost > most ? " …" : ""));
      tip(g, `${k.architecture} on ${n.network}: ${round(k.cost)} ± ${round(k.cost_interval)}\n` +
        groups.map((name) => `${name}: ${round(k.parts[name] || 0)}`).join("\n"));
      y += row;
    }
    y += 0.6 * row;
  }
  byId("ranks").replaceChildren(svg);
}

// one shows all of an architecture.
function one() {
  const arch = byId("arch").value, entry = result.architectures.find((a) => a.name === arch);
  byId("about").textContent = entry.about[0].toUpperCase() + entry.about.slice(1) + ".";
  const head = element("tr");
  head.append(element("th", {}, ""));
  const cells = result.networks.map((n) => cellOf(arch, n.name));
  for (const n of result.networks) head.append(element("th", {}, n.name));
  const table = byId("figures");
  table.replaceChildren(head);
  let group = "";
  for (const a of axes) {
    if (!cells.some((c) => c && c.figures && c.figures[a.Key])) continue;
    if (a.Group !== group) {
      group = a.Group;
      const row = element("tr");
      row.append(element("td", { className: "group", colSpan: cells.length + 1 }, group));
      table.append(row);
    }
    const row = element("tr");
    row.append(element("td", { title: a.About }, named(a)));
    for (const c of cells) {
      const f = c && c.figures && c.figures[a.Key];
      const cell = element("td", {}, f ? text(a, f) : "–");
      if (f && few(a, f)) {
        cell.className = "few";
        cell.title = "too few runs: the interval is wider than 20 %";
      }
      row.append(cell);
    }
    table.append(row);
  }
  const refused = cells.filter((c) => c && c.refused);
  if (refused.length) {
    const row = element("tr");
    row.append(element("td", { colSpan: cells.length + 1 }, refused.map((c) => c.network + ": " + c.refused).join("; ")));
    table.append(row);
  }
  again();
}

// again draws what depends on the choices within one architecture.
function again() {
  const arch = byId("arch").value;
  series(arch);
  bars(arch);
  players(arch);
}

// paint is the colour of the ith line.
const paint = (i) => `hsl(${(i * 137) % 360} 60% 50%)`;

// linesOf are the curves of an axis: of an architecture on each network, of all architectures on one, or of each player.
function linesOf(axis, arch) {
  const network = byId("sfield").value, by = byId("slines").value;
  const series = (c) => c && c.samples && c.samples[0] && c.samples[0].series;
  const list = [];
  const add = (name, s, values) => {
    if (s && values && values[axis]) list.push({ name, step: s.step, at: values[axis] });
  };
  if (by === "network") for (const n of result.networks) add(n.name, series(cellOf(arch, n.name)), (series(cellOf(arch, n.name)) || {}).all);
  if (by === "architecture") for (const a of result.architectures) add(a.name, series(cellOf(a.name, network)), (series(cellOf(a.name, network)) || {}).all);
  if (by === "player") {
    const c = cellOf(arch, network), s = series(c);
    ((s && s.players) || []).forEach((p, i) => add(`player ${i + 1}, ${c.samples[0].players[i].home}`, s, p));
  }
  return list;
}

// series draws an axis over the time of the first run.
function series(arch) {
  const axis = axisOf(byId("saxis").value), lines = linesOf(byId("saxis").value, arch);
  const width = 900, left = 60, right = 190, bottom = 34, top = 16;
  const height = Math.max(220, top + 30 + 15 * lines.length);
  const svg = picture(width, height);
  const long = Math.max(...lines.map((l) => l.at.length * l.step), 1);
  const sy = steps(Math.max(...lines.flatMap((l) => l.at), axis ? axis.Floor : 0.1));
  const px = (v) => left + (v / long) * (width - left - right);
  const py = (v) => height - bottom - (v / sy.at(-1)) * (height - top - bottom);
  for (const v of sy) {
    shape(svg, "line", { class: "grid", x1: left, x2: width - right, y1: py(v), y2: py(v) });
    shape(svg, "text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, round(v));
  }
  for (const v of steps(long).filter((v) => v <= long))
    shape(svg, "text", { x: px(v), y: height - bottom + 14, "text-anchor": "middle" }, round(v));
  const which = byId("slines").value;
  const where = which === "network" ? arch : which === "player" ? `${arch} on ${byId("sfield").value}` : `on ${byId("sfield").value}`;
  shape(svg, "text", { x: left, y: height - 4 }, axis ? `seconds of the first run; up: ${whole(axis)}; ${where}` : "nothing was measured by time");
  lines.forEach((l, i) => {
    // A value is that of the step that ends there.
    const points = l.at.map((v, k) => `${px((k + 0.5) * l.step)},${py(v)}`).join(" ");
    const curve = shape(svg, "polyline", { class: "curve", stroke: paint(i), points });
    shape(svg, "text", { x: width - right + 10, y: top + 14 + 15 * i, style: `fill: ${paint(i)}` }, l.name);
    tip(curve, `${l.name}\n${axis ? whole(axis) : ""}: ${round(l.at.reduce((a, b) => a + b, 0) / l.at.length)} on average, ${round(Math.max(...l.at))} at most`);
  });
  byId("series").replaceChildren(svg);
}

// bars draws an axis for each player, on the network that is chosen.
function bars(arch) {
  const network = byId("sfield").value, c = cellOf(arch, network), axis = axisOf(byId("paxis").value);
  const list = (c && c.samples && c.samples[0].players) || [];
  const width = 900, left = 190, row = 18, height = row * list.length + 30;
  const svg = picture(width, height);
  const known = list.map((p) => axis && p.figures[axis.Key]);
  const most = Math.max(...known.filter((v) => v !== undefined), axis ? axis.Floor : 1, 1e-9);
  list.forEach((p, i) => {
    const y = row * i, v = known[i];
    shape(svg, "text", { class: "name", x: left - 8, y: y + 13, "text-anchor": "end" }, `${i + 1}: ${p.home}${p.city ? ", " + p.city : ""}, ${round(p.round_trip_ms)} ms`);
    if (v !== undefined) {
      const bar = shape(svg, "rect", { x: left, y: y + 3, width: Math.max(0, (v / most) * (width - left - 60)), height: 12, fill: paint(i) });
      tip(bar, `player ${i + 1}\n${whole(axis)}: ${round(v)}`);
    }
    shape(svg, "text", { x: left + 6 + Math.max(0, ((v || 0) / most) * (width - left - 60)), y: y + 13 }, v === undefined ? "–" : round(v));
  });
  shape(svg, "text", { x: left, y: height - 6 }, axis ? `${whole(axis)}; ${arch} on ${network}, first run` : "");
  byId("bars").replaceChildren(svg);
}

// players shows all that was measured of each player.
function players(arch) {
  const network = byId("sfield").value, c = cellOf(arch, network), table = byId("players");
  table.replaceChildren();
  if (!c || !c.samples) return;
  const list = c.samples[0].players;
  const keys = axes.filter((a) => list.some((p) => p.figures[a.Key] !== undefined));
  const head = element("tr");
  for (const name of ["on " + network, "round trip, ms"].concat(keys.map(whole))) head.append(element("th", {}, name));
  table.append(head);
  list.forEach((p, i) => {
    const row = element("tr");
    row.append(element("td", {}, `${i + 1}: ${p.home}${p.city ? ", " + p.city : ""}`), element("td", {}, round(p.round_trip_ms)));
    for (const a of keys) row.append(element("td", {}, p.figures[a.Key] === undefined ? "–" : round(p.figures[a.Key])));
    table.append(row);
  });
}

// incidents lists the worst moments that are chosen.
function incidents() {
  const arch = byId("iarch").value, kind = byId("ikind").value, table = byId("worst");
  const head = element("tr");
  for (const name of ["architecture", "what", "how bad", "network", "seed", "at", "who", "show it"]) head.append(element("th", {}, name));
  table.replaceChildren(head);
  for (const w of worst || []) {
    if ((arch && w.architecture !== arch) || (kind && w.kind !== kind)) continue;
    const k = kinds.find((k) => k.kind === w.kind), row = element("tr");
    const who = `player ${w.player}` + (w.other ? `, player ${w.other}` : "") + (w.what ? `, ${w.what}` : "");
    const copy = element("button", { type: "button", title: "copy the command" }, "copy");
    copy.addEventListener("click", () => navigator.clipboard && navigator.clipboard.writeText(w.command));
    row.append(element("td", {}, w.architecture), element("td", { title: k.about }, k.name), element("td", { className: "much" }, `${round(w.bad)} ${k.unit}`),
      element("td", {}, w.network), element("td", {}, String(w.seed)), element("td", {}, w.at.toFixed(3) + " s"), element("td", {}, who),
      element("td", { className: "command" }, element("code", {}, w.command), " ", copy));
    table.append(row);
  }
  if (table.children.length === 1) table.append(element("tr", {}, element("td", { colSpan: 8 }, "nothing of that kind went wrong")));
}

const measured = axes.filter((a) => result.cells.some((c) => c.figures && c.figures[a.Key]));
choices(byId("x"), measured.map((a) => [a.Key, whole(a)]), "others_ms");
choices(byId("y"), measured.map((a) => [a.Key, whole(a)]), measured.some((a) => a.Key === "off_others_mean") ? "off_others_mean" : "own_ms");
choices(byId("field"), [["", "all"]].concat(result.networks.map((n) => [n.name, n.name])), result.networks[0].name);
choices(byId("arch"), result.architectures.map((a) => [a.name, a.name]), advice.networks.length ? advice.networks[0].choice : result.architectures[0].name);
// What samples have by time, and by player.
const samples = result.cells.flatMap((c) => c.samples || []);
const timed = axes.filter((a) => samples.some((s) => s.series && s.series.all && s.series.all[a.Key]));
const played = axes.filter((a) => samples.some((s) => s.players && s.players.some((p) => p.figures[a.Key] !== undefined)));
const first = (list, ...keys) => (list.find((a) => keys.includes(a.Key)) || list[0] || { Key: "" }).Key;
choices(byId("saxis"), timed.map((a) => [a.Key, whole(a)]), first(timed, "off_others_mean"));
choices(byId("slines"), ["network", "player", "architecture"].map((n) => [n, n]), "network");
choices(byId("sfield"), result.networks.map((n) => [n.name, n.name]), result.networks[0].name);
choices(byId("paxis"), played.map((a) => [a.Key, whole(a)]), first(played, "others_ms"));
choices(byId("iarch"), [["", "all"]].concat(result.architectures.map((a) => [a.name, a.name])), "");
choices(byId("ikind"), [["", "all"]].concat(kinds.map((k) => [k.kind, k.name])), "");
for (const family of new Set(result.architectures.map((a) => a.family))) {
  const box = element("input", { type: "checkbox", checked: true });
  box.addEventListener("change", () => {
    box.checked ? hidden.delete(family) : hidden.add(family);
    scatter();
  });
  const label = element("label", {}, box);
  label.append(" " + family);
  label.style.color = `var(--${family})`;
  byId("families").append(label, " ");
}
for (const id of ["x", "y", "field"]) byId(id).addEventListener("change", scatter);
byId("field").addEventListener("change", () => {
  if (byId("field").value) byId("sfield").value = byId("field").value;
  one();
});
byId("arch").addEventListener("change", one);
for (const id of ["saxis", "slines", "sfield", "paxis"]) byId(id).addEventListener("change", again);
for (const id of ["iarch", "ikind"]) byId(id).addEventListener("change", incidents);
for (const a of axes) byId("words").append(element("dt", {}, whole(a)), element("dd", {}, a.About[0].toUpperCase() + a.About.slice(1) + "."));
ranks();
scatter();
one();
incidents();
