// A pane shows one film: it asks for frames, one at a time, and replays them on its canvas.

import { Library, Replayer } from './surface.js';
import { accelerated } from './screen.js';

// A Lens replays a frame through a camera of the page's own, if there is one.
class Lens extends Replayer {
  camera(flags, x, y, w, h) {
    const { zoom, x: dx, y: dy } = this.free;
    super.camera(flags, x + dx * w, y + dy * h, w / zoom, h / zoom);
  }
}

export class Pane {
  constructor(replay, film) {
    this.replay = replay;
    this.film = film;
    this.name = Math.random().toString(36).slice(2);
    this.me = 0;
    this.asking = false;
    this.shown = -1;
    this.frames = 0;
    this.slowest = 0; // ms from asking to showing
    const box = this.box = document.createElement('div');
    box.className = 'pane';
    const label = document.createElement('div');
    label.className = 'label';
    this.title = document.createElement('b');
    this.title.textContent = this.title.title = film.note || film.name;
    this.who = document.createElement('select');
    this.who.setAttribute('aria-label', 'camera of');
    this.who.append(new Option('all', '0'));
    this.who.onchange = () => {
      this.me = Number(this.who.value);
      this.shown = -1;
    };
    label.append(this.title, this.who);
    if (film.branch) {
      const close = document.createElement('button');
      close.textContent = '✕';
      close.setAttribute('aria-label', 'close what would have been');
      close.onclick = async () => {
        await fetch(`/api/forget?film=${this.film.number}`, { method: 'POST' });
        await replay.load();
      };
      label.append(close);
    }
    this.canvas = document.createElement('canvas');
    this.wrong = document.createElement('div');
    this.wrong.className = 'wrong';
    box.append(label, this.canvas, this.wrong);
    this.renew();
    this.drag();
    new ResizeObserver(() => { this.shown = -1; }).observe(this.canvas);
  }

  // renew begins anew with an empty library.
  renew() {
    this.library = new Library(async name => {
      const r = await fetch('/file?name=' + encodeURIComponent(name));
      setTimeout(() => this.repaint(), 60);
      return r.ok ? new Uint8Array(await r.arrayBuffer()) : null;
    }, name => { console.warn(`${name} is missing`); });
    this.known = 0;
    this.lens = new Lens(this.canvas.getContext('2d', { alpha: false }), this.library);
    this.lens.free = this.replay.camera;
    if (!accelerated()) this.lens.slowly();
  }

  players(list) {
    const have = [...this.who.options].map(o => o.value).join();
    const want = ['0', ...list.map(p => String(p.player))];
    if (have === want.join()) return;
    this.who.replaceChildren(new Option('all', '0'), ...list.map(p => new Option(`player ${p.player}`, p.player)));
    this.who.value = want.includes(String(this.me)) ? this.me : 0;
  }

  // show asks for a moment, unless it is shown already, or another is on its way.
  async show(at, moved) {
    if (this.asking || this.shown === moved || !this.replay.info.drawn) return;
    const w = Math.max(1, this.canvas.clientWidth), h = Math.max(1, this.canvas.clientHeight);
    this.asking = true;
    const begun = performance.now();
    try {
      const r = await fetch(`/frame?film=${this.film.number}&view=${this.name}&at=${at.toFixed(3)}&me=${this.me}&w=${w}&h=${h}&lib=${this.known}`);
      if (!r.ok) throw new Error((await r.text()).trim());
      const view = new DataView(await r.arrayBuffer());
      const [library, from, list] = [0, 4, 8].map(i => view.getUint32(i, true));
      if (from < this.known) this.renew(); // the program has forgotten this pane
      if (from !== this.known) throw new Error('a part of the library is missing');
      this.library.read(view, 20, 20 + library);
      this.known = from + library;
      const ratio = Math.min(devicePixelRatio || 1, 2);
      if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) [this.canvas.width, this.canvas.height] = [Math.round(w * ratio), Math.round(h * ratio)];
      this.frame = [view, 20 + library, 20 + library + list, view.getFloat32(12, true), view.getFloat32(16, true)];
      this.repaint();
      this.wrong.textContent = '';
      this.at = at;
    } catch (e) {
      this.wrong.textContent = e.message;
    }
    this.shown = moved;
    this.frames++;
    this.took = performance.now() - begun;
    this.slowest = Math.max(this.slowest, this.took);
    this.asking = false;
  }

  repaint() {
    if (!this.frame) return;
    this.lens.free = this.replay.camera;
    const [view, at, end, w, h] = this.frame;
    this.lens.replay(view, at, end, this.canvas.width, this.canvas.height, w, h);
  }

  // drag moves the free camera, and the wheel brings it nearer.
  drag() {
    const { canvas, replay } = this;
    canvas.addEventListener('wheel', e => {
      e.preventDefault();
      const c = replay.camera;
      replay.look({ ...c, zoom: Math.min(40, Math.max(.2, c.zoom * Math.exp(-e.deltaY / 500))) });
    }, { passive: false });
    canvas.addEventListener('pointerdown', e => {
      canvas.setPointerCapture(e.pointerId);
      let { clientX: x, clientY: y } = e;
      canvas.onpointermove = e => {
        const c = replay.camera;
        replay.look({ ...c, x: c.x - (e.clientX - x) / canvas.clientWidth / c.zoom, y: c.y - (this.lens.up ?? 1) * (e.clientY - y) / canvas.clientHeight / c.zoom });
        [x, y] = [e.clientX, e.clientY];
      };
      canvas.onpointerup = canvas.onpointercancel = () => { canvas.onpointermove = null; };
    });
  }

  remove() { this.box.remove(); }
}
