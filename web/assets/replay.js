// A recording: panes that show films, a time line, and tables of what there is at a tick. Worlds are computed and drawn by the program that serves the page.

import { Pane } from './pane.js';
import { Tables } from './replaytables.js';
import { paint } from './paint.js';

const $ = id => document.getElementById(id);
const kinds = { incident: '--bad', denied: '--fire', kill: '--rail', join: '--good', leave: '--dim', told: '--own' };

export async function ask(path, o) {
  const r = await fetch(path, o);
  if (!r.ok) throw new Error((await r.text()).trim());
  return r.json();
}

class Replay {
  constructor() {
    this.at = 0;
    this.playing = false;
    this.speed = 1;
    this.panes = [];
    this.moved = 0; // counts changes of the tick, for the tables
    this.camera = { zoom: 1, x: 0, y: 0 };
    this.tables = new Tables(this);
  }

  async begin() {
    await this.load();
    this.at = this.first;
    const wanted = Number(new URLSearchParams(location.search).get('tick'));
    if (wanted) this.at = wanted;
    this.go(this.at);
    this.controls();
    this.last = performance.now();
    requestAnimationFrame(now => this.turn(now));
    this.watch();
  }

  // load asks what films there are, and makes a pane for each.
  async load() {
    this.info = await ask('/api/films');
    const { films, rate } = this.info;
    this.rate = rate;
    this.first = Math.min(...films.map(f => f.first));
    this.end = Math.max(...films.map(f => f.last));
    for (const p of [...this.panes]) {
      if (!films.some(f => f.number === p.film.number)) {
        p.remove();
        this.panes.splice(this.panes.indexOf(p), 1);
      }
    }
    for (const f of films) {
      const p = this.panes.find(p => p.film.number === f.number);
      if (p) p.film = f;
      else {
        const pane = new Pane(this, f);
        this.panes.push(pane);
        $('stage').append(pane.box);
      }
    }
    $('scrub').min = this.first;
    $('scrub').max = this.end;
    $('tick').min = this.first;
    $('tick').max = this.end;
    $('names').textContent = films.map(f => f.note || f.name).join(' · ');
    this.say();
    this.draw();
    this.tables.films();
  }

  // say tells what is to be known of the films.
  say() {
    const { films, remarks } = this.info;
    const lines = [...remarks ?? []];
    for (const f of films) {
      const name = films.length > 1 ? `${f.note || f.name}: ` : '';
      if (f.damage && !f.branch) lines.push(`!${name}${f.damage}. It is shown up to tick ${f.last}.`);
      if (f.apart) lines.push(`!${name}this program does not compute what was recorded: ${f.apart}. It was recorded by ${f.build}.`);
      if (f.wrong) lines.push(`!${name}${f.wrong}`);
      if (f.errors) lines.push(`${name}${f.errors}`);
    }
    if (!this.info.drawn) lines.push(`${this.info.game} has no Screen, so there is nothing to see but its entities.`);
    $('remarks').replaceChildren(...lines.map(l => Object.assign(document.createElement('p'), { textContent: l.replace(/^!/, ''), className: l[0] === '!' ? 'warn' : 'dim' })));
    const busy = films.filter(f => !f.done);
    $('status').textContent = busy.length ? `looking through: ${Math.round(100 * Math.min(...busy.map(f => (f.until - f.first) / Math.max(1, f.last - f.first))))} %` : 'looked through';
  }

  // watch follows the surveys until they are done.
  async watch() {
    if (this.watching) return;
    this.watching = true;
    while (this.info.films.some(f => !f.done)) {
      await new Promise(r => setTimeout(r, 400));
      try { await this.load(); } catch { $('status').textContent = 'the program has ended'; break; }
    }
    this.watching = false;
  }

  get tick() { return Math.floor(this.at + 1e-6); }

  // go shows another moment.
  go(at) {
    this.at = Math.min(Math.max(at, this.first), this.end);
    this.moved++;
    $('scrub').value = this.tick;
    $('scrub').setAttribute('aria-valuetext', `tick ${this.tick}`);
    if (document.activeElement !== $('tick')) $('tick').value = this.tick;
    const seconds = (this.at - this.first) / this.rate;
    const time = s => `${Math.floor(s / 60)}:${(s % 60).toFixed(1).padStart(4, '0')}`;
    $('clock').textContent = `${time(seconds)} of ${time((this.end - this.first) / this.rate)}`;
    this.draw();
  }

  play(on) {
    if (on && this.at >= this.end) this.go(this.first);
    this.playing = on;
    $('play').textContent = on ? '❚❚' : '▶';
    $('play').setAttribute('aria-label', on ? 'pause' : 'play');
    if (!on) this.go(this.tick);
  }

  step(n) {
    this.play(false);
    this.go(this.tick + n);
  }

  turn(now) {
    requestAnimationFrame(now => this.turn(now));
    const passed = Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    // A moment is over when every pane has shown it, so that all show the same.
    if (this.playing && this.panes.every(p => !p.asking)) {
      this.go(this.at + passed * this.speed * this.rate);
      if (this.at >= this.end) this.play(false);
    } else if (this.playing) this.last = now - passed * 1000; // it is made up for
    for (const p of this.panes) p.show(this.at, this.moved);
    this.tables.turn(now);
  }

  marks() {
    return this.panes.flatMap(p => p.film.branch ? [] : p.film.marks).sort((a, b) => a.tick - b.tick);
  }

  jump(way) {
    const worth = this.marks().filter(m => m.kind === 'incident' || m.kind === 'denied' || m.kind === 'kill');
    const differs = this.panes.flatMap(p => p.film.differs ?? []).map(([tick]) => ({ tick }));
    const all = [...worth, ...differs].map(m => m.tick).sort((a, b) => a - b);
    const to = way > 0 ? all.find(t => t > this.tick) : all.findLast(t => t < this.tick);
    if (to !== undefined) {
      this.play(false);
      this.go(to);
    }
  }

  // draw draws the time line.
  draw() {
    const canvas = $('map'), ratio = devicePixelRatio || 1;
    const w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w) return;
    if (canvas.width !== Math.round(w * ratio)) canvas.width = Math.round(w * ratio);
    if (canvas.height !== Math.round(h * ratio)) canvas.height = Math.round(h * ratio);
    const c = canvas.getContext('2d'), color = paint();
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    const x = t => (t - this.first) / Math.max(1, this.end - this.first) * w;
    const film = this.info.films[0];
    const sum = [];
    for (const list of Object.values(film.events)) list.forEach((n, i) => sum[i] = (sum[i] ?? 0) + n);
    const top = Math.max(1, ...sum);
    c.fillStyle = color('--dim');
    c.globalAlpha = .45;
    sum.forEach((n, i) => c.fillRect(x(film.first + i * film.span), h - n / top * (h - 14), Math.max(1, w / 600), n / top * (h - 14)));
    c.globalAlpha = 1;
    for (const f of this.info.films) {
      c.fillStyle = color('--bad');
      for (const [from, to] of f.differs ?? []) c.fillRect(x(from), 0, Math.max(2, x(to) - x(from)), 4);
    }
    for (const kind of Object.keys(kinds).reverse()) {
      c.fillStyle = color(kinds[kind]);
      for (const m of this.marks()) if (m.kind === kind) c.fillRect(x(m.tick) - 1, kind === 'incident' ? 0 : 5, 2, kind === 'incident' ? h : 10);
    }
    const { from, to } = this.tables.clip;
    if (to > from) {
      c.fillStyle = color('--own');
      c.globalAlpha = .2;
      c.fillRect(x(from), 0, x(to) - x(from), h);
      c.globalAlpha = 1;
    }
    const done = Math.min(...this.info.films.map(f => f.done ? f.last : f.until));
    c.fillStyle = color('--ground');
    c.globalAlpha = .6;
    c.fillRect(x(done), 0, w, h);
    c.globalAlpha = 1;
    c.fillStyle = color('--text');
    c.fillRect(x(this.at) - 1, 0, 2, h);
  }

  controls() {
    $('play').onclick = () => this.play(!this.playing);
    $('step').onclick = () => this.step(1);
    $('back').onclick = () => this.step(-1);
    $('speed').onchange = e => { this.speed = Number(e.target.value); };
    $('scrub').oninput = e => { this.go(Number(e.target.value)); };
    $('tick').onchange = e => { this.step(Number(e.target.value) - this.tick); };
    $('next').onclick = () => this.jump(1);
    $('previous').onclick = () => this.jump(-1);
    $('whole').onclick = () => this.look({ zoom: 1, x: 0, y: 0 });
    $('theme').onclick = () => {
      const dark = matchMedia('(prefers-color-scheme: dark)').matches;
      const root = document.documentElement;
      root.dataset.theme = (root.dataset.theme ?? (dark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
      this.draw();
    };
    $('map').onpointerdown = e => {
      const to = e => this.go(Math.round(this.first + (e.clientX - $('map').getBoundingClientRect().left) / $('map').clientWidth * (this.end - this.first)));
      to(e);
      $('map').setPointerCapture(e.pointerId);
      $('map').onpointermove = to;
      $('map').onpointerup = () => { $('map').onpointermove = null; };
    };
    addEventListener('resize', () => { this.draw(); this.look(this.camera); });
    addEventListener('keydown', e => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const typing = e.target.matches('input:not([type=range]):not([type=checkbox]), select');
      if (typing) return;
      const keys = {
        ' ': () => e.target.matches('button, [type=checkbox]') ? false : this.play(!this.playing), ',': () => this.step(-1), '.': () => this.step(1),
        n: () => this.jump(1), p: () => this.jump(-1), Home: () => this.go(this.first), End: () => this.go(this.end),
        '0': () => this.look({ zoom: 1, x: 0, y: 0 }), '[': () => this.tables.mark('from'), ']': () => this.tables.mark('to'),
      };
      if (keys[e.key] && keys[e.key]() !== false) e.preventDefault();
    });
    $('legend').replaceChildren(...Object.entries({ ...kinds, differs: '--bad', events: '--dim' }).map(([name, c]) => {
      const s = document.createElement('span'), i = document.createElement('i');
      i.style.background = `var(${c})`;
      s.append(i, name);
      return s;
    }));
  }

  // look moves the free camera of all panes, or with zoom 1 gives it back to the title.
  look(camera) {
    this.camera = camera;
    for (const p of this.panes) p.repaint();
  }
}

const replay = window.replay = new Replay();
replay.begin().catch(e => {
  $('status').textContent = e.message;
  $('status').className = 'warn';
});
