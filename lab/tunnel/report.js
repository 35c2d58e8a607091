"use strict";
// What was found is in report: {result, advice, axes}. This script draws it.
const { result, advice, axes } = report;
const byId = (id) => document.getElementById(id);
const axisOf = (key) => axes.find((a) => a.Key === key);
const familyOf = (name) => result.architectures.find((a) => a.name === name).family;
const colour = (name) => `var(--${familyOf(name)})`;
const cellOf = (arch, network) =>
  result.cells.find((c) => c.architecture === arch && c.network === network);
const named = (a) => a.Head + (a.Unit ? ", " + a.Unit : "");

function round(v) {
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 100) return v.toFixed(0);
  if (a >= 10) return v.toFixed(1);
  if (a >= 1) return v.toFixed(2);
  return v.toFixed(3);
}

// few says that a figure rests on too few runs.
function few(a, f) {
  const scale = Math.max(Math.abs(f.mean), a.Floor);
  return f.n < 2 || (f.high - f.low) / 2 > 0.2 * scale;
}

function text(a, f) {
  const half = (f.high - f.low) / 2;
  return round(f.mean) + (half > 0 ? " ± " + round(half) : "");
}

function element(tag, attributes, content) {
  const e = document.createElement(tag);
  Object.assign(e, attributes);
  if (content !== undefined) e.append(content);
  return e;
}

function shape(parent, tag, attributes, content) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (content !== undefined) e.textContent = content;
  parent.append(e);
  return e;
}

function choices(select, list, chosen) {
  for (const [value, name] of list) select.append(element("option", { value }, name));
  select.value = chosen;
}

// A tip says what a mark stands for, to those who point at it.
function tip(e, words) {
  const show = (at) => {
    const box = byId("tip");
    box.textContent = words;
    box.hidden = false;
    const w = box.offsetWidth, h = box.offsetHeight;
    box.style.left = Math.max(4, Math.min(at.clientX + 12, innerWidth - w - 4)) + "px";
    box.style.top = Math.max(4, at.clientY > h + 20 ? at.clientY - h - 10 : at.clientY + 14) + "px";
  };
  e.addEventListener("pointermove", show);
  e.addEventListener("pointerleave", () => (byId("tip").hidden = true));
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
  const sx = steps(Math.max(...marks.map((m) => m.fx.high), 0)), sy = steps(Math.max(...marks.map((m) => m.fy.high), 0));
  const px = (v) => left + (v / sx.at(-1)) * (width - left - right);
  const py = (v) => height - bottom - (v / sy.at(-1)) * (height - top - bottom);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  for (const v of sx) {
    shape(svg, "line", { class: "grid", x1: px(v), x2: px(v), y1: top, y2: height - bottom });
    shape(svg, "text", { x: px(v), y: height - bottom + 16, "text-anchor": "middle" }, round(v));
  }
  for (const v of sy) {
    shape(svg, "line", { class: "grid", x1: left, x2: width - right, y1: py(v), y2: py(v) });
    shape(svg, "text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, round(v));
  }
  shape(svg, "text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, named(x));
  shape(svg, "text", { x: 14, y: (top + height - bottom) / 2, "text-anchor": "middle",
    transform: `rotate(-90 14 ${(top + height - bottom) / 2})` }, named(y));
  const clip = (v) => Math.max(v, 0);
  const taken = []; // where names stand
  for (const { c, fx, fy } of marks) {
    const g = shape(svg, "g", { class: "mark" }), paint = colour(c.architecture);
    const cx = px(fx.mean), cy = py(fy.mean);
    const bar = { stroke: paint, "stroke-opacity": 0.5, "stroke-width": 2 };
    shape(g, "line", { ...bar, x1: px(clip(fx.low)), x2: px(fx.high), y1: cy, y2: cy });
    shape(g, "line", { ...bar, x1: cx, x2: cx, y1: py(clip(fy.low)), y2: py(fy.high) });
    shape(g, "circle", { cx, cy, r: 6, fill: paint });
    if (network !== "") {
      let ny = cy + 4;
      const free = (at) => !taken.some((t) => Math.abs(t.y - at) < 13 && Math.abs(t.x - cx) < 110);
      const off = [0, -14, 14, -28, 28, -42, 42, -56, 56].find((d) => free(cy + 4 + d) && cy + 4 + d < height - bottom);
      ny += off || 0;
      taken.push({ x: cx, y: ny });
      const end = cx > width - 150;
      shape(g, "text", { class: "name", x: end ? cx - 10 : cx + 10, y: ny,
        "text-anchor": end ? "end" : "start" }, c.architecture);
    }
    tip(g, `${c.architecture} on ${c.network}\n${named(x)}: ${text(x, fx)}\n${named(y)}: ${text(y, fy)}`);
    g.addEventListener("click", () => {
      byId("arch").value = c.architecture;
      one();
      byId("one").scrollIntoView({ behavior: "smooth" });
    });
  }
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
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const height = rows * row + 40;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
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
  series(cells);
  players(arch);
}

// series draws how far others were off, second by second, on all networks.
function series(cells) {
  const width = 900, height = 180, left = 60, bottom = 30, top = 16;
  const lines = cells.filter((c) => c && c.samples && c.samples[0] && c.samples[0].series)
    .map((c) => ({ name: c.network, at: c.samples[0].series.slice(1) }));
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const long = Math.max(...lines.flatMap((l) => l.at.map((s) => s.at)), 1);
  const sy = steps(Math.max(...lines.flatMap((l) => l.at.map((s) => s.off)), 0.1));
  const px = (v) => left + (v / long) * (width - left - 130);
  const py = (v) => height - bottom - (v / sy.at(-1)) * (height - top - bottom);
  for (const v of sy) {
    shape(svg, "line", { class: "grid", x1: left, x2: width - 130, y1: py(v), y2: py(v) });
    shape(svg, "text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, round(v));
  }
  shape(svg, "text", { x: left, y: height - 8 }, "seconds of the first run; up: how far others are shown off, in widths");
  lines.forEach((l, i) => {
    const paint = `hsl(${(i * 137) % 360} 60% 50%)`;
    const path = shape(svg, "polyline", { fill: "none", stroke: paint, "stroke-width": 2,
      points: l.at.map((s) => `${px(s.at)},${py(s.off)}`).join(" ") });
    shape(svg, "text", { x: width - 120, y: top + 14 + 15 * i, style: `fill: ${paint}` }, l.name);
    tip(path, l.name);
  });
  byId("series").replaceChildren(svg);
}

// players shows what each player met, on the network that is chosen above or the first.
function players(arch) {
  const network = byId("field").value || result.networks[0].name;
  const c = cellOf(arch, network), table = byId("players");
  const keys = ["own_ms", "others_ms", "off_others_mean", "hits_denied", "still", "corrections", "commands_late"];
  table.replaceChildren();
  if (!c || !c.samples) return;
  const head = element("tr");
  for (const name of ["on " + network, "round trip, ms"].concat(keys.map((k) => named(axisOf(k))))) head.append(element("th", {}, name));
  table.append(head);
  c.samples[0].players.forEach((p, i) => {
    const row = element("tr");
    row.append(element("td", {}, `${i + 1}: ${p.home}${p.city ? ", " + p.city : ""}`), element("td", {}, round(p.round_trip_ms)));
    for (const k of keys) row.append(element("td", {}, p.figures[k] === undefined ? "–" : round(p.figures[k])));
    table.append(row);
  });
}

const measured = axes.filter((a) => result.cells.some((c) => c.figures && c.figures[a.Key]));
choices(byId("x"), measured.map((a) => [a.Key, named(a)]), "others_ms");
choices(byId("y"), measured.map((a) => [a.Key, named(a)]), measured.some((a) => a.Key === "off_others_mean") ? "off_others_mean" : "own_ms");
choices(byId("field"), [["", "all"]].concat(result.networks.map((n) => [n.name, n.name])), result.networks[0].name);
choices(byId("arch"), result.architectures.map((a) => [a.name, a.name]), advice.networks.length ? advice.networks[0].choice : result.architectures[0].name);
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
byId("field").addEventListener("change", one);
byId("arch").addEventListener("change", one);
for (const a of axes) byId("words").append(element("dt", {}, named(a)), element("dd", {}, a.About[0].toUpperCase() + a.About.slice(1) + "."));
ranks();
scatter();
one();
