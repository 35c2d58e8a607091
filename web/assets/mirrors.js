// Several mirrors of one game side by side, each with a player: shows how they do, marks what is taken back, and kills, revives and cuts. It talks to the program by
// /api, and to the games in the frames by their window.coeval.

import { Plot } from '/assets/plot.js';

const $ = id => document.getElementById(id);
const shades = ['#40d9ff', '#ff8c2e', '#6ff08c', '#bf73ff', '#ffd24a'];
const names = ['Ann', 'Bob', 'Cleo', 'Dan', 'Eve'];
const purposes = { commands: '#40d9ff', headers: '#2f7f9e', proofs: '#53627f', 'against loss': '#6ff08c', repairs: '#ff8c2e', control: '#bf73ff', membership: '#ffd24a' };
const bytes = n => n >= 1e6 ? `${(n / 1e6).toFixed(2)} MB` : n >= 1e4 ? `${(n / 1e3).toFixed(1)} kB` : `${Math.round(n)} B`;
const ms = n => `${Math.abs(n) < 10 ? n.toFixed(1) : Math.round(n)} ms`;
const make = (tag, className, parent, text) => {
  const e = document.createElement(tag);
  e.className = className;
  if (text !== undefined) e.textContent = text;
  parent?.append(e);
  return e;
};
const order = body => fetch('/api/mirrors', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

// --- the frames ---

const frames = [];
let yours = -1; // which one the person in front of the page plays in
let ready = false;

class Frame {
  constructor(index) {
    this.index = index;
    const e = this.element = make('article', 'mirror', $('frames'));
    e.style.setProperty('--shade', shades[index]);
    const head = make('header', '', e);
    make('h3', '', head, `mirror ${index + 1}`);
    this.phase = make('span', 'pill', head);
    this.crown = make('span', 'pill crown', head, '♛ überserver');
    this.who = make('span', 'who', head);
    this.button = make('button', 'kill', head, 'kill -9');
    this.button.onclick = () => order(this.button.className === 'kill' ? { kill: index + 1 } : { revive: index + 1 });
    const screen = make('div', 'screen', e);
    this.game = make('iframe', '', screen);
    this.game.title = `the game at mirror ${index + 1}`;
    this.game.allow = 'gamepad; fullscreen; autoplay';
    this.back = make('div', 'edge back', screen);
    this.undone = make('div', 'edge undone', screen);
    this.notes = make('div', 'notes', screen);
    this.away = make('div', 'away', screen);
    this.facts = make('footer', '', e);
    this.frames = 0; // drawn so far, and when that last changed
    this.drew = performance.now();
  }

  // load starts the game. A bot plays until someone takes over.
  load() {
    const query = new URLSearchParams(location.search);
    query.set('home', this.index + 1);
    if (!query.has('name')) query.set('name', names[this.index]);
    query.set('autopilot', '');
    query.set('mute', '');
    this.game.src = `/play?${query}`;
    this.game.onload = () => {
      for (const kind of ['pointerdown', 'keydown']) this.game.contentWindow.addEventListener(kind, () => take(this.index), { capture: true });
    };
  }

  get client() { return this.game.contentWindow?.coeval; }

  // note flashes the border and says why.
  note(edge, className, text) {
    edge.animate([{ opacity: 1 }, { opacity: 0 }], { duration: 550, easing: 'ease-out' });
    const m = make('span', className, this.notes, text);
    m.animate([{ opacity: 1 }, { opacity: 1, offset: .6 }, { opacity: 0 }], { duration: 1400 }).onfinish = () => m.remove();
    while (this.notes.children.length > 4) this.notes.firstChild.remove();
  }

  // show takes what the program tells of the mirror, and what it told before.
  show(m, before, all) {
    const absent = (m.absent ?? []).map(n => n || 'the witness');
    this.phase.textContent = m.phase !== 'suspended' ? m.phase : absent.length ? `stopped, does not hear ${absent.join(' and ')}` : 'stopped';
    this.phase.className = `pill ${m.phase}`;
    this.crown.hidden = !m.uber || m.phase === 'dead';
    const alive = m.phase !== 'dead';
    this.button.textContent = alive ? 'kill -9' : 'revive';
    this.button.className = alive ? 'kill' : 'revive';
    this.element.classList.toggle('yours', yours === this.index);
    this.who.textContent = yours === this.index ? 'you play' : 'a bot plays';
    if (before && m.rollbacks > before.rollbacks) this.note(this.back, 'back', `⟲ ${m.rollbacks - before.rollbacks > 1 ? `${m.rollbacks - before.rollbacks} × ` : ''}${m.rewound ? ms(m.rewound) : ''}`);
    const s = this.client?.stats();
    this.tell(m, alive, all.some(o => o.phase === 'serving'), s?.playing && s.server !== m.place);
    if (s?.retracted > this.retracted) this.note(this.undone, 'undone', `${s.undone} that was none`);
    this.retracted = s?.retracted ?? 0;
    this.where(s, all);
  }

  // tell writes what is below the game.
  tell(m, alive, somewhere, gone) {
    const facts = alive ? [['players', m.players, 'who play here'],
      ['clock', `${m.offset < 0 ? '−' : '+'}${Math.abs(m.offset).toFixed(1)} ± ${ms(m.bound)}${m.unsure ? ' ?' : ''}`, 'by how much the clocks of the others differ, and the most that can be wrong about it'],
      ['waits', ms(m.delay), 'how long the world that is shown waits for commands of other mirrors'],
      ['settled after', `${(m.behind / 1000).toFixed(2)} s`, 'when the world is the same everywhere for good'],
      ['⟲', m.rollbacks, 'rollbacks so far']] : [['', !somewhere ? 'nobody can play: most of the mirrors are gone' : gone ? 'its players went on elsewhere' : 'its players look for another mirror', '']];
    facts.forEach(([k, v, title], i) => {
      const e = this.facts.children[i] ?? make('span', '', this.facts);
      if (!e.firstChild) { e.append('', make('b', '')); }
      e.firstChild.textContent = `${k} `;
      e.lastChild.textContent = v;
      e.title = title;
    });
    while (this.facts.children.length > facts.length) this.facts.lastChild.remove();
  }

  // where says at which mirror the player is, if it is not the one at home.
  where(s, all) {
    const there = all.findIndex(m => m.place === s?.server);
    // A browser that hardly draws cannot tell whether it has a connection: it hears too seldom.
    const starved = s && s.frames > 0 && performance.now() - this.drew > 700;
    if (s && s.frames !== this.frames) [this.frames, this.drew] = [s.frames, performance.now()];
    const moving = s?.moving || s && !s.playing && s.frames > 100;
    const stopped = there >= 0 && all[there].phase !== 'serving';
    this.away.hidden = !starved && !moving && !stopped && (there < 0 || there === this.index);
    this.away.style.setProperty('--there', starved || moving || stopped ? 'var(--fire)' : shades[Math.max(0, there)]);
    this.away.textContent = starved ? 'this browser hardly gets to draw'
      : stopped ? (all[there].phase === 'dead' ? `mirror ${there + 1} is gone, looking for another` : `the game stands still at mirror ${there + 1}`)
      : moving ? 'looking for another mirror' : `${names[this.index]} plays on at mirror ${there + 1}`;
  }
}

// take lets the person in front of the page play in a frame, and bots in the others.
function take(index) {
  if (yours === index) return;
  yours = index;
  const silent = new URLSearchParams(location.search).has('mute');
  frames.forEach((f, i) => {
    f.client?.set('autopilot', i === index ? 'off' : 'on');
    f.game.contentWindow?.coevalMute?.(silent || i !== index);
  });
  frames[index].game.contentWindow.focus();
}

// --- the diagram ---

const svg = (tag, attributes, parent) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  parent?.append(e);
  return e;
};
let drawing;
function diagram(live) {
  if (!drawing) {
    const n = live.mirrors.length;
    const at = live.mirrors.map((_, i) => n === 2 ? [40 + 180 * i, 70] : [130 + 96 * Math.sin(i * 2 * Math.PI / n - (n === 3 ? Math.PI / 3 : 0)), (n === 3 ? 62 : 88) - (n === 3 ? 62 : 66) * Math.cos(i * 2 * Math.PI / n - (n === 3 ? Math.PI / 3 : 0)) + (n === 3 ? 10 : 0)]);
    drawing = { ways: new Map(), nodes: [] };
    for (const w of live.ways) {
      const [a, b] = [at[w.a - 1], at[w.b - 1]];
      const line = svg('line', { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, $('diagram'));
      drawing.ways.set(`${w.a} ${w.b}`, { line, a, b });
    }
    for (const w of live.ways) {
      const d = drawing.ways.get(`${w.a} ${w.b}`);
      const many = n > 3; // then there is room for a sign only, and ways cross in the middle
      const k = many && w.b - w.a > 1 && w.b - w.a < n - 1 ? .37 : .5;
      const g = svg('g', { class: 'way', tabindex: 0, role: 'button', transform: `translate(${d.a[0] + (d.b[0] - d.a[0]) * k} ${d.a[1] + (d.b[1] - d.a[1]) * k})` }, $('diagram'));
      svg('rect', many ? { x: -9, y: -9, width: 18, height: 18, rx: 9 } : { x: -35, y: -9, width: 70, height: 18, rx: 9 }, g);
      d.text = svg('text', {}, g);
      d.label = svg('title', {}, g);
      d.group = g;
      d.many = many;
      const toggle = () => order(d.cut ? { heal: [w.a, w.b] } : { cut: [w.a, w.b] });
      g.onclick = toggle;
      g.onkeydown = e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); toggle(); } };
    }
    live.mirrors.forEach((m, i) => {
      const g = svg('g', { class: 'node', transform: `translate(${at[i][0]} ${at[i][1]})` }, $('diagram'));
      svg('circle', { r: 17, fill: shades[i], stroke: shades[i], 'stroke-width': 2 }, g);
      svg('text', {}, g).textContent = m.number;
      const crown = svg('text', { class: 'crown', y: -25 }, g);
      crown.style.fill = '#ffd24a';
      drawing.nodes.push({ g, crown });
    });
    drawing.witness = svg('text', { x: 130, y: 140 }, $('diagram'));
  }
  for (const w of live.ways) {
    const d = drawing.ways.get(`${w.a} ${w.b}`);
    d.cut = w.cut;
    d.line.setAttribute('class', w.cut ? 'cut' : '');
    d.group.setAttribute('class', w.cut ? 'way cut' : 'way');
    d.text.textContent = d.many ? (w.cut ? '⚕' : '✂') : w.cut ? 'cut · heal' : `${ms(w.latency)} · cut`;
    const label = `${w.cut ? 'heal' : 'cut'} the way between mirrors ${w.a} and ${w.b}`;
    if (d.label.textContent !== label) { d.label.textContent = label; d.group.setAttribute('aria-label', label); }
  }
  drawing.witness.textContent = { there: 'a witness has the third voice', joining: 'a witness is about to join' }[live.witness] ?? '';
  live.mirrors.forEach((m, i) => {
    drawing.nodes[i].g.setAttribute('class', `node ${m.phase === 'dead' ? 'dead' : m.phase === 'serving' ? '' : 'halted'}`);
    drawing.nodes[i].crown.textContent = m.uber ? '♛' : '';
  });
  $('ways-now').textContent = `${ms(live.ways[0].latency)} one way`;
}

// --- plots ---

let plots;
let last;
const done = { commands: 0, rollbacks: 0 }; // since the page was opened
function plot(live) {
  const colors = shades.slice(0, live.mirrors.length);
  plots ??= {
    rollbacks: new Plot($('rollbacks'), { colors, floor: 1, format: n => `${n}/s`, fill: false }),
    settled: new Plot($('settled'), { colors, floor: 200, format: ms, fill: false }),
    traffic: new Plot($('traffic'), { colors: Object.values(purposes), floor: 1000, format: n => `${bytes(n)}/s`, stack: true }),
  };
  if (!last || last.seconds > live.seconds) { last = live; return; }
  const dt = live.seconds - last.seconds;
  if (dt < 0.9) return;
  const rate = (now, was) => Math.max(0, now - was) / dt;
  const back = live.mirrors.map((m, i) => rate(m.rollbacks, last.mirrors[i].rollbacks));
  plots.rollbacks.add(live.seconds, ...back);
  plots.settled.add(live.seconds, ...live.mirrors.map(m => m.phase === 'dead' ? null : m.behind));
  const sent = Object.keys(purposes).map(p => live.mirrors.reduce((sum, m, i) => {
    const now = m.sent[p] ?? 0, was = last.mirrors[i].sent[p] ?? 0;
    return sum + (now >= was ? rate(now, was) : 0);
  }, 0));
  plots.traffic.add(live.seconds, ...sent);
  Object.values(plots).forEach(p => p.draw());
  live.mirrors.forEach((m, i) => { done.commands += rate(m.commands, last.mirrors[i].commands) * dt; done.rollbacks += back[i] * dt; });
  const total = sent.reduce((a, b) => a + b, 0);
  $('rollbacks-now').textContent = done.commands ? `${(done.rollbacks / done.commands * 1000).toFixed(1)} in 1000 commands` : '';
  $('settled-now').textContent = live.mirrors.filter(m => m.phase === 'serving').map(m => (m.behind / 1000).toFixed(2)).join(', ') + ' s';
  $('traffic-now').textContent = `${bytes(total)}/s`;
  Object.entries(purposes).forEach(([p, color], i) => {
    const li = $('purposes').children[i] ?? make('li', '', $('purposes'));
    if (!li.firstChild) { make('i', '', li).style.background = color; li.append(''); }
    li.lastChild.textContent = `${p} ${bytes(sent[i])}`;
  });
  window.coevalFleet = { rollbacks: plots.rollbacks.series.map(s => s.length), settled: live.mirrors.map(m => m.behind), traffic: total };
  last = live;
}

// --- news ---

const clock = s => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, '0')}`;
let newest = -1;
function news(list) {
  for (const n of list) {
    if (n.number <= newest) continue;
    newest = n.number;
    const li = make('li', n.bad ? 'bad' : '', null);
    const t = make('time', '', li, clock(n.seconds));
    t.title = `${clock(n.seconds)} after the start`;
    if (n.mirror) make('b', '', li, n.mirror).style.color = shades[n.mirror - 1];
    li.append(make('span', '', null, n.text));
    $('news').prepend(li);
    while ($('news').children.length > 40) $('news').lastChild.remove();
  }
}

// --- what the program tells ---

let before;
function show(live) {
  while (frames.length < live.mirrors.length) frames.push(new Frame(frames.length));
  $('frames').classList.toggle('many', frames.length > 3);
  if (ready && !frames[0].game.src) frames.forEach(f => f.load());
  live.mirrors.forEach((m, i) => frames[i].show(m, before?.mirrors[i], live.mirrors));
  diagram(live);
  plot(live);
  news(live.news);
  const playing = live.mirrors.reduce((n, m) => n + (m.phase === 'serving' ? m.players : 0), 0);
  const servers = live.mirrors.filter(m => m.phase === 'serving').length;
  $('clock').textContent = `now ${clock(live.seconds)}`;
  $('about').textContent = !live.mirrors.some(m => m.phase === 'serving') ? 'nobody can play at the moment' : `${playing} play one game${live.map ? ` on ${live.map}` : ''}, at ${servers === 1 ? 'one server' : `${servers} servers`} · timeline ${live.timeline}${yours < 0 ? ' · click into a game to play there' : ''}`;
  $('stuck').hidden = !live.stuck || live.seconds < 15;
  if (!$('preset').options.length) for (const p of live.presets) $('preset').add(new Option(p, p));
  if (document.activeElement !== $('preset')) $('preset').value = live.preset;
  before = live;
}

const events = new EventSource('/api/events');
events.addEventListener('build', e => {
  const b = JSON.parse(e.data);
  $('part').style.width = `${Math.round(b.part * 100)}%`;
  $('step').textContent = b.error ? 'the game could not be built' : b.step;
  $('fault').hidden = !b.error;
  $('fault').textContent = b.error;
  ready = b.done;
  $('building').hidden = ready;
});
events.addEventListener('live', e => show(JSON.parse(e.data)));
events.onerror = () => { $('about').textContent = 'the program has stopped'; };
$('preset').onchange = e => { order({ preset: e.target.value }); e.target.blur(); };
$('anew').onclick = () => order({ anew: true });
