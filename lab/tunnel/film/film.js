// The films are in packed: JSON, compressed, in base 64. This script shows them.

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text());
}

// when is the picture that a view shows at an instant.
function when(view, at) {
  let last = null;
  for (const p of view.pictures) {
    if (p.a > at + 1e-6) break;
    last = p;
  }
  return last;
}

// A Film is one moment, through which one goes frame by frame with all views in step.
class Film {
  constructor(box, films, reel) {
    this.films = films;
    this.reel = reel;
    // The moment itself is one of the frames.
    this.first = -Math.floor((reel.at - reel.from) / films.step);
    this.last = Math.floor((reel.to - reel.at) / films.step);
    this.frame = 0;
    this.chosen = String(reel.players[0]);
    this.build(box);
    this.show();
  }

  build(box) {
    const select = element("select", { className: "player" });
    const list = this.reel.players.map((p, i) => [String(p), `player ${p}${i < this.reel.involved ? " (involved)" : ""}`]);
    choices(select, list.concat([["all", "all who were filmed"]]), this.chosen);
    select.addEventListener("change", () => {
      this.chosen = select.value;
      this.show();
    });
    this.range = element("input", { type: "range", min: this.first, max: this.last, value: 0, step: 1, className: "scrub" });
    this.range.setAttribute("aria-label", "instant");
    this.range.addEventListener("input", () => this.go(Number(this.range.value)));
    const button = (name, label, does) => {
      const b = element("button", { type: "button", className: name, title: label, textContent: { back: "◀", on: "▶", play: "play" }[name] });
      b.addEventListener("click", does);
      return b;
    };
    this.rings = element("input", { type: "checkbox", className: "rings" });
    this.rings.addEventListener("change", () => this.show());
    this.play = button("play", "play the moment at a tenth of its speed", () => this.run());
    this.out = element("output");
    const form = element("form", {}, element("label", {}, "through the eyes of ", select), button("back", "a frame back", () => this.go(this.frame - 1)),
      this.range, button("on", "a frame on", () => this.go(this.frame + 1)), this.play, this.out,
      element("label", {}, this.rings, " rings for everybody"));
    form.addEventListener("submit", (e) => e.preventDefault());
    this.views = element("div", { className: "views" });
    this.table = element("table");
    box.replaceChildren(form, this.views, element("div", { className: "wide" }, this.table));
    box.hidden = false;
  }

  at() { return this.reel.at + this.frame * this.films.step; }

  go(frame) {
    this.frame = Math.max(this.first, Math.min(this.last, frame));
    this.range.value = this.frame;
    this.show();
  }

  run() {
    if (this.timer) {
      clearInterval(this.timer);
      this.timer = 0;
      this.play.textContent = "play";
      return;
    }
    if (this.frame === this.last) this.frame = this.first;
    this.play.textContent = "stop";
    this.timer = setInterval(() => {
      this.go(this.frame + 1);
      if (this.frame === this.last) this.run();
    }, 10 * this.films.step);
  }

  view(player, server) { return this.reel.views.find((v) => v.player === player && v.server === server); }

  // show draws what there was at the instant.
  show() {
    const at = this.at(), by = at - this.reel.at;
    this.out.textContent = `${(at / 1000).toFixed(3)} s (${by < 0 ? "−" : "+"}${Math.abs(by).toFixed(0)} ms)`;
    const all = this.chosen === "all";
    const eyes = all ? this.reel.players[0] : Number(this.chosen);
    const seen = all ? this.reel.players
      : [eyes].concat(this.reel.players.slice(0, this.reel.involved).filter((p) => p !== eyes));
    const server = this.view(eyes, true), held = when(server, at);
    const list = [this.picture(server, at, held)];
    for (const p of seen) {
      const f = this.picture(this.view(p, false), at, held);
      if (p === eyes && !all) f.classList.add("chosen");
      list.push(f);
    }
    this.views.replaceChildren(...list);
    this.places(eyes, at, held);
  }

  // picture is what a view shows, with how its tick stands to that of who decides.
  picture(view, at, held) {
    const p = when(view, at), { width, height, step } = this.films;
    const figure = element("figure");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    figure.dataset.player = view.player;
    figure.dataset.server = view.server;
    let words = view.name + ": nothing yet";
    if (p) {
      svg.innerHTML = p.f.map((i) => this.films.pieces[i]).join("");
      this.marks(svg, view, p);
      figure.dataset.tick = p.t;
      words = `${view.name}, tick ${p.t}`;
      const ticks = held && !view.server ? p.t - held.t : 0;
      if (ticks) words += `, ${Math.abs(ticks * step).toFixed(0)} ms ${ticks > 0 ? "ahead" : "behind"}`;
      if (at - p.a > 1.5 * step) words += `, unchanged for ${(at - p.a).toFixed(0)} ms`;
    }
    figure.append(svg, element("figcaption", {}, words));
    return figure;
  }

  // marks show where bodies truly were at the tick of a screen, and the numbers of those whom it is about.
  marks(svg, view, p) {
    const about = this.reel.players.slice(0, this.reel.involved);
    for (const b of p.b || []) {
      if (!b.s) continue;
      const involved = about.includes(b.p);
      if (!view.server && b.w && b.o > 0.05 && (involved || this.rings.checked)) {
        shape(svg, "line", { class: "true", x1: b.s[0], y1: b.s[1], x2: b.w[0], y2: b.w[1] });
        const ring = shape(svg, "circle", { class: "true", cx: b.w[0], cy: b.w[1], r: 8 });
        tip(ring, `player ${b.p} truly was here at tick ${p.t}\nshown ${round(b.o)} widths off`);
      }
      if (involved) shape(svg, "text", { class: "tag", x: b.s[0] + 10, y: b.s[1] - 8 }, b.p);
    }
  }

  // places lists where a screen has bodies, beside where who decides had them at that instant.
  places(eyes, at, held) {
    const screen = when(this.view(eyes, false), at);
    const rows = [];
    for (const b of ((screen && screen.b) || []).slice().sort((a, b) => a.p - b.p)) {
      const is = held && held.b && held.b.find((h) => h.p === b.p);
      const where = (x) => (x[2] === 0 ? x.slice(0, 2) : x).map((v) => v.toFixed(2)).join(", ");
      const far = is ? Math.hypot(...b.x.map((v, i) => v - is.x[i])) / this.films.body : undefined;
      const row = element("tr");
      for (const text of [`player ${b.p}`, where(b.x), is ? where(is.x) : "–", far === undefined ? "–" : round(far),
        b.o === undefined ? "not there" : round(b.o)]) row.append(element("td", {}, text));
      rows.push(row);
    }
    const head = element("tr");
    for (const text of [`on player ${eyes}'s screen`, "shown at", "held at that instant", "apart, widths", "off at the same tick, widths"])
      head.append(element("th", {}, text));
    this.table.replaceChildren(...(rows.length ? [head, ...rows] : []));
  }
}

const ready = unpack(packed).then((films) => (films.reels || []).map((reel, i) =>
  new Film(document.querySelector(`#moment${i} .film`), films, reel)));
