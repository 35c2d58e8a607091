// A game while it runs. The program tells its state some times a second, as long as this page is there and in sight; the rest is asked for by the tab that is open.

import { Plot } from './plot.js';
import { paint } from './paint.js';
import { row, act } from './inspectparts.js';

const $ = id => document.getElementById(id);
const tabs = ['overview', 'people', 'traffic', 'world', 'ticks', 'console'];
const stages = { receive: '--own', step: '--good', interest: '--fire', encode: '--rail', send: '--dim' };
const bytes = n => Math.abs(n) < 1e4 ? `${Math.round(n)} B` : Math.abs(n) < 1e7 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;
const ms = v => `${v.toFixed(1)} ms`;
const share = v => `${(100 * v).toFixed(1)} %`;
const by = p => p.player ? `player=${p.player}` : `client=${p.client}`;

class Inspector {
  constructor() {
    this.secret = sessionStorage.getItem('token') ?? '';
    this.plots = {};
    this.ones = {};
    this.rates = new Map(); // of the traffic tree, by path
    this.classes = [];
    this.events = 0;
  }

  head() { return this.secret ? { Authorization: `Bearer ${this.secret}` } : {}; }

  // get asks the program; whoever needs a token is asked for it.
  async get(path, kind = 'json') {
    const r = await fetch(`/inspect/v1/${path}`, { headers: this.head() });
    if (r.status === 401 || r.status === 429) {
      const wrong = (await r.json()).error;
      await this.token(this.secret || r.status === 429 ? wrong : '');
      return this.get(path, kind);
    }
    if (!r.ok) throw new Error((await r.json().catch(() => ({}))).error ?? r.statusText);
    return kind === 'json' ? r.json() : kind === 'text' ? r.text() : r.blob();
  }

  // token asks for one. Several questions that were refused ask once.
  token(wrong) {
    this.asked ??= new Promise(done => {
      $('key-wrong').textContent = wrong;
      $('ask').showModal();
      $('ask').onclose = () => {
        this.secret = $('key').value.trim();
        sessionStorage.setItem('token', this.secret);
        this.asked = null;
        done();
      };
    });
    return this.asked;
  }

  begin() {
    for (const t of tabs) $(`tab-${t}`).onclick = () => this.show(t);
    $('tabs').onkeydown = e => {
      const step = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[e.key];
      if (!step) return;
      this.show(tabs[(tabs.indexOf(this.open) + step) % tabs.length]);
      $(`tab-${this.open}`).focus();
    };
    $('theme').onclick = () => {
      const dark = matchMedia('(prefers-color-scheme: dark)').matches, root = document.documentElement;
      root.dataset.theme = (root.dataset.theme ?? (dark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
      this.plots = {};
      this.ones = {};
      $('plots').replaceChildren();
      $('one-plots').replaceChildren();
    };
    document.addEventListener('visibilitychange', () => document.hidden ? this.stop?.abort() : this.listen());
    $('traffic-of').onchange = () => {
      this.rates.clear();
      this.look();
    };
    $('view-of').onchange = $('find').oninput = () => this.look();
    $('profile').onclick = () => this.profile();
    $('goroutines').onclick = async () => {
      $('stacks').textContent = await this.get('goroutines', 'text');
      $('stacks').hidden = false;
    };
    $('chart').onclick = e => this.pick(e);
    act(this);
    for (const b of document.querySelectorAll('[data-show]')) {
      b.onclick = () => {
        const value = by(this.person);
        if (b.dataset.show === 'traffic') $('traffic-of').value = value;
        else $('view-of').value = value;
        this.rates.clear();
        this.show(b.dataset.show);
      };
    }
    this.show(tabs.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'overview');
    this.listen();
    this.loop();
  }

  show(tab) {
    this.open = tab;
    history.replaceState(null, '', `#${tab}`);
    for (const t of tabs) {
      $(t).hidden = t !== tab;
      $(`tab-${t}`).setAttribute('aria-selected', t === tab);
      $(`tab-${t}`).tabIndex = t === tab ? 0 : -1;
    }
    this.look();
  }

  // listen reads the stream of events until it ends, and then tries again: the program may have been started anew.
  async listen() {
    if (this.listening) return;
    this.listening = true;
    while (!document.hidden) {
      this.stop = new AbortController();
      try {
        const r = await fetch('/inspect/v1/events', { headers: this.head(), signal: this.stop.signal });
        if (r.status === 401) {
          await this.token(this.secret ? (await r.json()).error : '');
          continue;
        }
        if (!r.ok) throw new Error((await r.json()).error);
        const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let text = ''; ;) {
          const { done, value } = await reader.read();
          if (done) break;
          text += value;
          for (let at; (at = text.indexOf('\n\n')) >= 0; text = text.slice(at + 2)) {
            const data = text.slice(0, at).split('\n').find(l => l.startsWith('data: '));
            if (data) this.state(JSON.parse(data.slice(6)));
          }
          if (text.length > 1e6) break;
        }
        throw new Error('the stream has ended');
      } catch (e) {
        if (document.hidden) break;
        this.last = null;
        $('status').textContent = `the server does not answer (${e.message}); trying again`;
        $('status').className = 'warn';
      }
      await new Promise(r => setTimeout(r, 1000));
    }
    this.listening = false;
  }

  // state takes in what the server is like now.
  state(s) {
    this.events++;
    const last = this.last;
    this.last = s;
    $('status').textContent = s.failed ? s.failed : s.paused ? 'paused' : s.draining ? 'nobody new is let in' : 'running';
    $('status').className = s.failed ? 'warn' : 'dim';
    const p = s.process;
    $('now').replaceChildren(...[`level ${s.level}`, `tick ${s.tick}`, `${s.players} of ${s.most_players} play`, `${s.spectators} watch`, `${s.away} away`, `${s.entities} entities`].map(t => Object.assign(document.createElement('span'), { textContent: t })));
    if (!last || s.seconds <= last.seconds || s.traffic.sent_bytes < last.traffic.sent_bytes) return;
    const d = s.seconds - last.seconds, n = Math.max(1, s.ticks - last.ticks);
    const took = (s.stages.elapsed - last.stages.elapsed) / n * 1000;
    this.draw(this.plots, 'plots', s.seconds, {
      'tick, mean': [[took], ms, 1000 / s.rate / 4], players: [[s.players], String, 4],
      sent: [[(s.traffic.sent_bytes - last.traffic.sent_bytes) / d], v => `${bytes(v)}/s`, 1000],
      received: [[(s.traffic.received_bytes - last.traffic.received_bytes) / d], v => `${bytes(v)}/s`, 1000],
      'processors': [[(p.cpu_seconds - last.process.cpu_seconds) / d], v => `${v.toFixed(2)} of ${p.cores}`, .25],
      heap: [[p.heap_bytes], bytes, 1e6], allocated: [[(p.allocated_bytes - last.process.allocated_bytes) / d], v => `${bytes(v)}/s`, 1e5],
      goroutines: [[p.goroutines], String, 10],
    });
    const l = s.looking;
    $('cost').textContent = `${l.watchers} watching. Looking has taken ${(l.seconds * 1000).toFixed(1)} ms of the game's time in ${l.looks} looks, at most ${l.most_ms.toFixed(2)} ms; just now ${share((l.seconds - last.looking.seconds) / d)} of one core. ${p.collections} garbage collections.`;
  }

  // draw adds to plots, and makes those that there are not yet.
  draw(plots, where, time, values) {
    const color = paint();
    for (const [name, [list, format, floor]] of Object.entries(values)) {
      let p = plots[name];
      if (!p) {
        const box = document.createElement('div'), h = document.createElement('h2'), out = document.createElement('output'), canvas = document.createElement('canvas');
        h.append(name, out);
        canvas.className = 'plot';
        canvas.setAttribute('role', 'img');
        canvas.setAttribute('aria-label', name);
        box.append(h, canvas);
        $(where).append(box);
        p = plots[name] = new Plot(canvas, { colors: list.length > 1 ? [color('--own'), color('--fire')] : [color('--own')], floor, format, rules: color('--line') });
        p.out = out;
      }
      p.add(time, ...list);
      p.out.textContent = list.map(format).join(' / ');
      p.draw();
    }
  }

  async loop() {
    for (;;) {
      await new Promise(r => setTimeout(r, 1000));
      if (!document.hidden) await this.look();
    }
  }

  // look asks for what the open tab shows.
  async look() {
    const tab = this.open;
    try {
      if (tab === 'people' || tab === 'traffic' || tab === 'world') this.people(await this.get('people'));
      if (tab === 'traffic') this.traffic(await this.get('traffic?' + $('traffic-of').value));
      if (tab === 'world') {
        const of = $('view-of').value;
        this.world(await this.get(of ? `view?${of}` : 'world'));
        if (this.chosen) this.fields(await this.get(`entity?id=${this.chosen}`));
      }
      if (tab === 'ticks') this.ticks(await this.get('ticks'));
    } catch (e) {
      $('status').textContent = e.message;
      $('status').className = 'warn';
    }
  }

  people({ people }) {
    this.list = people;
    $('nobody').hidden = people.length > 0;
    for (const id of ['traffic-of', 'view-of']) {
      const menu = $(id), all = menu.options[0];
      const want = people.map(p => [by(p), p.player ? `${p.name || 'player'} (${p.player})` : `${p.name || p.client} (watches)`]);
      if ([...menu.options].slice(1).map(o => o.value).join() === want.map(w => w[0]).join()) continue;
      const was = menu.value;
      menu.replaceChildren(all, ...want.map(([v, t]) => new Option(t, v)));
      menu.value = want.some(w => w[0] === was) ? was : '';
    }
    if (this.open !== 'people') return;
    $('who').replaceChildren(...people.map(p => {
      const tr = row([p.player ? String(p.player) : 'watches', p.name + (p.away ? ' (away)' : ''), p.round_trip_ms, p.jitter_ms, `${share(p.loss_out)} / ${share(p.loss_in)}`, p.early_ticks, p.commands_late, p.commands_repeated, bytes(p.sent_bytes), bytes(p.received_bytes), `${bytes(p.rate)}/s${p.limit ? ' (narrow)' : ''}`, p.ahead_ticks], () => {
        if (this.person?.client === p.client) this.person = null;
        else this.person = p;
        this.before = null;
        this.ones = {};
        $('one-plots').replaceChildren();
        this.look();
      });
      [...tr.cells].slice(2).forEach(c => { c.className = 'n'; });
      if (p.client === this.person?.client) tr.classList.add('on');
      return tr;
    }));
    const p = people.find(p => p.client === this.person?.client);
    $('one').hidden = !p;
    if (!p) return;
    this.person = p;
    $('one-name').textContent = p.name || `player ${p.player}`;
    const now = performance.now() / 1000, was = this.before;
    this.before = { ...p, now };
    if (!was) return;
    const d = now - was.now;
    this.draw(this.ones, 'one-plots', now, {
      'round trip': [[p.round_trip_ms], ms, 20], jitter: [[p.jitter_ms], ms, 5],
      'lost, to and from': [[100 * p.loss_out, 100 * p.loss_in], v => `${v.toFixed(1)} %`, 1],
      'commands early': [[p.early_ticks], v => `${v} ticks`, 2],
      'late and repeated': [[(p.commands_late - was.commands_late) / d, (p.commands_repeated - was.commands_repeated) / d], v => `${v.toFixed(1)}/s`, 1],
      'sent and received': [[(p.sent_bytes - was.sent_bytes) / d, (p.received_bytes - was.received_bytes) / d], v => `${bytes(v)}/s`, 500],
      'computed again': [[p.predicted_again], v => `${v}/s`, 60], 'may be sent': [[p.rate], v => `${bytes(v)}/s`, 1000],
    });
  }

  traffic(t) {
    const now = performance.now() / 1000, d = now - (this.counted ?? now);
    this.counted = now;
    const tree = (list, whole, path) => list.map(p => {
      const at = `${path}/${p.name}`, was = this.rates.get(at);
      this.rates.set(at, p.bytes);
      const li = this.nodes?.get(at) ?? document.createElement('li');
      (this.nodes ??= new Map()).set(at, li);
      const line = li.querySelector('.line') ?? document.createElement(p.parts ? 'summary' : 'div');
      line.className = `line${p.parts ? '' : ' leaf'}`;
      const cell = (c, text) => Object.assign(document.createElement('span'), { className: c, textContent: text });
      const bar = cell('bar', ''), fill = document.createElement('i');
      fill.style.width = `${Math.max(0, Math.min(100, 100 * p.bytes / Math.max(1, whole)))}%`;
      bar.append(fill);
      line.replaceChildren(cell('name', p.name), bar, cell('n', bytes(p.bytes)), cell('r', was !== undefined && d > 0 ? `${bytes((p.bytes - was) / d)}/s` : ''));
      if (!p.parts) {
        li.replaceChildren(line);
        return li;
      }
      const box = li.querySelector('details') ?? Object.assign(document.createElement('details'), { open: path === 'out' });
      const inner = li.querySelector('ul') ?? Object.assign(document.createElement('ul'), { className: 'tree' });
      inner.replaceChildren(...tree(p.parts, whole, at));
      if (!line.isConnected) {
        box.append(line, inner);
        li.append(box);
      }
      return li;
    });
    $('out').replaceChildren(...tree(t.out, t.sent_bytes, 'out'));
    $('in').replaceChildren(...tree(t.in, t.received_bytes, 'in'));
    const sum = t.out.reduce((n, p) => n + p.bytes, 0);
    $('adds').textContent = `The rows add up to ${Math.round(sum)} bytes. ${$('traffic-of').value ? 'Links were given' : 'The sockets say'} ${t.sent_bytes}. The difference is ${Math.round(sum) - t.sent_bytes}.`;
    $('adds').dataset.difference = Math.round(sum) - t.sent_bytes;
    $('updates').replaceChildren(...t.updates.map(u => row([u.name, u.bytes])));
  }

  world(w) {
    const words = $('find').value.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = w.entities.filter(e => words.every(x => `${e.class} ${e.owner ? `player ${e.owner}` : ''}`.toLowerCase().includes(x)));
    $('many').textContent = `${this.shown.length + w.more} entities at tick ${w.tick}`;
    const list = this.shown.toSorted((a, b) => (b.view?.priority ?? 0) + (b.view?.waiting ?? 0) - (a.view?.priority ?? 0) - (a.view?.waiting ?? 0));
    $('things').replaceChildren(...list.slice(0, 200).map(e => {
      const tr = row([e.class, e.owner ? `player ${e.owner}` : '', e.view ? e.view.priority.toFixed(2) : '', e.view ? e.view.waiting.toFixed(2) : '', e.view?.why ?? ''], () => {
        this.chosen = this.chosen === e.id ? null : e.id;
        this.look();
      });
      if (e.id === this.chosen) tr.classList.add('on');
      return tr;
    }));
    if (!this.chosen) $('fields').hidden = true;
    this.map();
  }

  // map draws where entities are; the bounds grow with what there was, and do not jump.
  map() {
    const canvas = $('chart'), ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w) return;
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
    const c = canvas.getContext('2d'), color = paint(), tones = ['--own', '--fire', '--good', '--rail', '--bad', '--dim'];
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const b = this.bounds ??= [Infinity, Infinity, -Infinity, -Infinity];
    for (const { place: [x, y] } of this.shown) {
      if (x === undefined) continue;
      [b[0], b[1], b[2], b[3]] = [Math.min(b[0], x), Math.min(b[1], y), Math.max(b[2], x), Math.max(b[3], y)];
    }
    if (b[0] > b[2]) {
      c.fillStyle = color('--dim');
      c.fillText('no class of this game says where its entities are', 12, 20);
      return;
    }
    const k = Math.min((w - 40) / Math.max(1, b[2] - b[0]), (h - 40) / Math.max(1, b[3] - b[1]));
    const at = ([x, y]) => [20 + (x - b[0]) * k, 20 + (y - b[1]) * k];
    this.spots = [];
    for (const e of this.shown) {
      if (!e.place.length) continue;
      if (!this.classes.includes(e.class)) this.classes.push(e.class);
      const [x, y] = at(e.place), r = e.owner ? 5 : 3;
      this.spots.push([x, y, e.id]);
      c.fillStyle = color(tones[this.classes.indexOf(e.class) % tones.length]);
      c.globalAlpha = e.view && !e.view.current ? .45 : 1;
      c.beginPath();
      c.arc(x, y, r, 0, 7);
      c.fill();
      c.globalAlpha = 1;
      if (e.owner) {
        c.fillStyle = color('--text');
        c.font = '10px system-ui, sans-serif';
        c.fillText(e.owner, x + 7, y + 3);
      }
      if (e.id === this.chosen) {
        c.strokeStyle = color('--text');
        c.beginPath();
        c.arc(x, y, r + 4, 0, 7);
        c.stroke();
      }
    }
    $('classes').textContent = `${this.classes.join(', ')}. Pale is what has changed and was not sent yet.`;
  }

  pick(e) {
    const box = $('chart').getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    const [near] = (this.spots ?? []).map(([a, b, id]) => [Math.hypot(a - x, b - y), id]).sort((a, b) => a[0] - b[0]);
    this.chosen = near && near[0] < 20 ? near[1] : null;
    this.look();
  }

  fields(e) {
    const h = document.createElement('h2'), table = document.createElement('table');
    h.textContent = e.there ? `${e.entity.class}${e.entity.owner ? ` of player ${e.entity.owner}` : ''} at tick ${e.tick}` : 'it is not there any more';
    table.append(...e.fields.map(f => row([f.name, f.value, f.role])));
    $('fields').replaceChildren(h, table);
    $('fields').hidden = false;
  }

  ticks(t) {
    const color = paint(), names = Object.keys(stages), canvas = $('tick-plot');
    $('stages').replaceChildren(...names.map(n => {
      const s = document.createElement('span'), i = document.createElement('i');
      i.style.background = `var(${stages[n]})`;
      s.append(i, n);
      return s;
    }));
    const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight, c = canvas.getContext('2d');
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const list = t.last_ms.slice(-Math.max(60, Math.floor(w)));
    const top = Math.max(t.limit_ms, ...list.map(s => names.reduce((n, k) => n + s[k], 0)));
    list.forEach((s, i) => {
      let y = h;
      for (const n of names) {
        const d = s[n] / top * (h - 4);
        c.fillStyle = color(stages[n]);
        c.fillRect(i / list.length * w, y - d, Math.max(1, w / list.length), d);
        y -= d;
      }
    });
    c.fillStyle = color('--bad');
    c.fillRect(0, h - t.limit_ms / top * (h - 4), w, 1);
    const mean = k => list.reduce((n, s) => n + s[k], 0) / Math.max(1, list.length);
    $('means').replaceChildren(...[...names, 'elapsed'].map(n => row([n === 'elapsed' ? 'all, by the clock' : n, `${mean(n).toFixed(3)} ms`])), row(['a tick may take', `${t.limit_ms.toFixed(1)} ms`]));
    $('slowest').replaceChildren(...t.slowest.map(s => {
      const tr = row([new Date(s.at).toLocaleTimeString(), ...['elapsed', ...names].map(n => s.ms[n].toFixed(2))]);
      [...tr.cells].slice(1).forEach(c => { c.className = 'n'; });
      return tr;
    }));
  }

  async profile() {
    $('profile').disabled = true;
    $('profile-wrong').textContent = '';
    try {
      const blob = await this.get(`profile?seconds=${$('seconds').value}`, 'blob');
      this.profiled = blob.size;
      const a = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: 'cpu.pprof' });
      a.click();
      setTimeout(() => URL.revokeObjectURL(a.href), 1000);
    } catch (e) { $('profile-wrong').textContent = e.message; }
    $('profile').disabled = false;
  }
}

window.inspector = new Inspector();
window.inspector.begin();
