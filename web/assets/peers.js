// Players' machines side by side that play one match with each other. The program draws what each of them shows, and this page replays it; it is asked for frames
// over one socket, with what the player does in the one that is theirs. Orders and how it goes are at /api. See host/internal/demo/screens.go.

import { Plot } from '/assets/plot.js';
import { Library, Replayer } from '/assets/surface.js';
import { Devices } from '/assets/devices.js';
import { Sound } from '/assets/sound.js';
import { accelerated } from '/assets/screen.js';

const $ = id => document.getElementById(id);
const shades = ['#40d9ff', '#ff8c2e', '#6ff08c', '#bf73ff', '#ffd24a', '#ff6fae', '#5b8cff', '#c7e36a', '#e39b7a', '#79e0c6', '#b0b9cc', '#f2f2a0'];
const orange = '#ff8c2e', violet = '#bf73ff';
const make = (tag, className, parent, text) => {
  const e = document.createElement(tag);
  e.className = className;
  if (text !== undefined) e.textContent = text;
  parent?.append(e);
  return e;
};
const write = (e, text) => { if (e.textContent !== text) e.textContent = text; };
const ms = n => `${n < 10 ? n.toFixed(1) : Math.round(n)} ms`;
const order = async body => {
  const answer = await fetch('/api/peers', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  if (answer.ok) show(await answer.json());
  else $('about').textContent = (await answer.text()).trim();
};
const codes = await (await fetch('/api/keys')).json();
const software = !accelerated();
const hands = 17; // words of what a player does

const seats = [];
let yours = 0; // the number of the one that the person in front of the page plays

const asset = async name => {
  const answer = await fetch(`/api/files/${name.split('/').map(encodeURIComponent).join('/')}`);
  return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
};
const missing = (name, kind, why) => console.warn(`the ${kind} ${JSON.stringify(name)} cannot be used${why ? `: ${why}` : ''}`);

class Seat {
  constructor(number, watch) {
    this.number = number;
    this.watch = watch;
    const e = this.element = make('article', `seat${watch ? ' watches' : ''}`, $('seats'));
    e.style.setProperty('--shade', shades[number - 1]);
    const head = make('header', '', e);
    this.name = make('h3', '', head);
    this.phase = make('span', 'pill', head);
    this.who = make('span', 'who', head);
    this.style = make('button', 'style', head);
    this.style.hidden = watch;
    this.style.title = 'switch this one between lock step and rollback';
    this.style.onclick = () => order({ style: this.state.style === 'rollback' ? 'lockstep' : 'rollback', peer: number });
    this.cut = make('button', 'cut', head, 'cut');
    this.cut.onclick = () => order(this.state.cut ? { heal: number } : { cut: number });
    this.crash = make('button', 'crash', head, 'crash');
    this.crash.onclick = () => order(this.state.runs ? { crash: number } : { restart: number });
    const screen = make('div', 'screen', e);
    this.canvas = make('canvas', '', screen);
    this.note = make('div', 'note', screen);
    const foot = make('footer', '', e);
    this.facts = make('div', 'facts', foot);
    const plot = make('canvas', 'plot', foot);
    plot.title = 'the last 20 s, a second: frames waited (orange), ticks rolled back (violet)';
    this.plot = new Plot(plot, { seconds: 20, colors: [orange, violet], floor: 10, format: n => `${n}/s`, fill: true });
    this.context = this.canvas.getContext('2d', { alpha: false });
    this.fresh();
    this.canvas.addEventListener('pointerdown', () => take(number), { capture: true });
    this.devices = new Devices(this.canvas, code => codes[code] ?? 0, () => false);
    this.devices.idle = true;
    this.drawn = 0;
  }

  // fresh begins with nothing of what was drawn: on a new socket the program sends everything again.
  fresh() {
    this.library = new Library(asset, missing);
    this.sound?.setMute(true);
    this.sound = new Sound(this.library, yours !== this.number);
    this.replayer = new Replayer(this.context, this.library, this.sound);
    if (software) this.replayer.slowly();
  }

  // fit gives the canvas as many pixels as it has on the screen.
  fit() {
    const ratio = software ? 1 : Math.min(devicePixelRatio || 1, 2);
    const { clientWidth, clientHeight } = this.canvas;
    const w = Math.max(1, Math.round(clientWidth * ratio)), h = Math.max(1, Math.round(clientHeight * ratio));
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    return [Math.max(1, clientWidth), Math.max(1, clientHeight)];
  }

  // replay draws an answer of the program.
  replay(view, at, library, list, wide, high) {
    if (library) this.library.read(view, at, at + library);
    if (!list) return;
    this.replayer.replay(view, at + library, at + library + list, this.canvas.width, this.canvas.height, wide, high);
    this.drawn++;
  }

  // show takes how the peer does.
  show(p, live, before, dt) {
    this.state = p;
    const phase = !p.runs ? 'crashed' : p.watch && p.phase === 'guest' ? 'watching' : p.phase;
    write(this.name, p.name);
    write(this.phase, phase);
    this.phase.className = `pill ${phase}`;
    write(this.who, p.watch ? 'only watches' : yours === this.number ? 'you play' : 'a bot plays');
    write(this.style, p.style === 'rollback' ? 'rollback' : 'lock step');
    write(this.cut, p.cut ? 'heal' : 'cut');
    this.cut.title = p.cut ? 'connect it with the others again' : 'let nothing through between this one and all others';
    this.cut.classList.toggle('on', p.cut);
    write(this.crash, p.runs ? 'crash' : 'restart');
    this.crash.title = p.runs ? 'end it without a word to anyone' : 'start it again: it returns to the same body';
    this.crash.classList.toggle('dead', !p.runs);
    const c = this.element.classList;
    c.toggle('yours', yours === this.number);
    c.toggle('cut', p.cut);
    c.toggle('dead', !p.runs);
    this.tell(p);
    const was = before?.runs && p.runs ? before : p;
    const rate = (now, then) => dt > 0 ? Math.max(0, now - then) / dt : 0;
    const waited = rate(p.waited_ms, was.waited_ms) / live.tick_ms, again = rate(p.ticks_again, was.ticks_again);
    this.rates = [waited, again];
    this.plot.add(live.seconds, waited, again);
    this.plot.draw();
  }

  // tell writes what is beside the plot, and what it waits for over the game.
  tell(p) {
    const others = (p.members ?? []).filter(m => !m.self);
    const trips = others.length ? `${others.map(m => `${m.name} ${m.open ? Math.round(m.round_trip_ms) : '–'}`).join(', ')} ms` : 'nobody is there';
    const facts = !p.runs ? [] : p.watch ? [['tick', p.tick], ['settled', p.settled]] : [['tick', `${p.tick}`, '', `settled ${p.settled}`], ['delay', `${p.delay} ticks`, '', p.depth ? `guesses up to ${p.depth}` : 'guesses nothing'],
      ['waited', `${p.waits} ×, ${(p.waited_ms / 1000).toFixed(1)} s`, 'wait'], ['rolled back', `${p.ticks_again} ticks`, 'again', `deepest ${p.deepest}`], ['to', trips, '', 'round trips, in milliseconds']];
    facts.forEach(([k, v, className = '', title = ''], i) => {
      const e = this.facts.children[i] ?? make('span', '', this.facts);
      if (!e.firstChild) e.append('', make('b', ''));
      e.className = className;
      write(e.firstChild, `${k} `);
      write(e.lastChild, `${v}`);
      e.title = title || `${k} ${v}`;
    });
    while (this.facts.children.length > facts.length) this.facts.lastChild.remove();
    const silent = others.filter(m => !m.open || m.silent_ms > 400).map(m => m.name);
    const note = !p.runs ? 'crashed' : p.phase === 'asking' ? 'looks for the match' : p.phase === 'ended' ? 'has ended' : p.phase === 'guest' && !p.watch || p.phase === 'entering' ? 'about to enter'
      : p.waiting_ms > 400 ? `waits${silent.length ? ` for ${silent.join(', ')}` : ''}` : '';
    write(this.note, note);
    this.note.hidden = !note;
  }
}

// take has the person play one of them, and bots the others; 0 is nobody.
function take(number) {
  const s = seats[number - 1];
  if (number === yours || s?.watch) return;
  yours = number;
  for (const o of seats) {
    o.devices.release();
    o.devices.idle = o.number !== yours;
    o.sound.setMute(o.number !== yours);
  }
  order(number ? { take: number } : { release: true });
}
addEventListener('keydown', e => { if (e.code === 'Escape') take(0); });

// --- frames ---

let socket;
let asked = 0; // when a request went that is not answered; 0 for none
let last = 0;
function connect() {
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/screens`);
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => { asked = 0; seats.forEach(s => s.fresh()); };
  socket.onmessage = e => { asked = 0; answered(e.data); };
  socket.onclose = () => { asked = 0; setTimeout(connect, 500); };
}

function ask() {
  const inSight = seats.filter(s => s.canvas.clientHeight);
  const words = new Uint32Array(2 + hands + 3 * inSight.length), floats = new Float32Array(words.buffer);
  words[0] = yours;
  const mine = seats[yours - 1];
  if (mine) {
    mine.devices.write(words, floats, 1, codes.PadA ?? 0);
    const { left, top } = mine.canvas.getBoundingClientRect();
    floats[1] -= left;
    floats[2] -= top;
  }
  words[1 + hands] = inSight.length;
  inSight.forEach((s, i) => {
    const at = 2 + hands + 3 * i;
    words[at] = s.number;
    [floats[at + 1], floats[at + 2]] = s.fit();
  });
  socket.send(words);
}

function answered(data) {
  const view = new DataView(data);
  for (let at = 0; at < data.byteLength;) {
    const u = i => view.getUint32(at + 4 * i, true);
    const s = seats[u(0) - 1], library = u(7), list = u(8);
    if (s) {
      for (let i = 0; i < 4; i++) s.devices.asked[i] = u(3 + i);
      s.replay(view, at + 36, library, list, view.getFloat32(at + 4, true), view.getFloat32(at + 8, true));
    }
    at += 36 + library + list;
  }
}

function loop(now) {
  requestAnimationFrame(loop);
  if (asked || socket.readyState !== WebSocket.OPEN || !seats.length || now - last < 1000 / 35) return;
  asked = last = now;
  ask();
}

// --- what the program tells ---

const clock = s => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, '0')}`;
let newest = -1;
function news(list) {
  for (const n of list ?? []) {
    if (n.number <= newest) continue;
    newest = n.number;
    const li = make('li', n.bad ? 'bad' : '', null);
    make('time', '', li, clock(n.seconds));
    make('b', '', li, before.peers[n.mirror - 1]?.name ?? '').style.color = shades[n.mirror - 1];
    li.append(make('span', '', null, n.text));
    $('news').prepend(li);
    while ($('news').children.length > 40) $('news').lastChild.remove();
  }
}

let before;
function show(live) {
  while (seats.length < live.peers.length) seats.push(new Seat(seats.length + 1, live.peers[seats.length].watch));
  const n = seats.length;
  $('seats').style.setProperty('--columns', n <= 4 ? 2 : n <= 9 ? 3 : 4);
  const dt = before ? live.seconds - before.seconds : 0;
  if (dt < 0) return; // it was overtaken
  live.peers.forEach((p, i) => {
    seats[i].devices.kind = live.touch;
    seats[i].show(p, live, before?.peers[i], dt);
  });
  before = live;
  const players = live.peers.filter(p => !p.watch);
  const all = style => players.every(p => p.style === style);
  $('lockstep').classList.toggle('on', all('lockstep'));
  $('rollback').classList.toggle('on', all('rollback'));
  $('join').disabled = $('watch').disabled = !live.room;
  write($('about'), `${live.game}${live.level ? ` on ${live.level}` : ''} · ${ms(live.latency)} one way · ${yours ? `${live.hint || 'arrows or WASD, and the space bar'} · Escape gives it back to a bot` : 'click into a game to play there'}`);
  write($('clock'), `now ${clock(live.seconds)}`);
  if (!$('preset').options.length) for (const p of live.presets) $('preset').add(new Option(p, p));
  if (document.activeElement !== $('preset')) $('preset').value = live.preset;
  news(live.news);
}

$('preset').onchange = e => { order({ preset: e.target.value }); e.target.blur(); };
$('lockstep').onclick = () => order({ style: 'lockstep' });
$('rollback').onclick = () => order({ style: 'rollback' });
$('join').onclick = () => order({ join: true });
$('watch').onclick = () => order({ watch: true });
const events = new EventSource('/api/events');
events.addEventListener('live', e => show(JSON.parse(e.data)));
events.onerror = () => { $('about').textContent = 'the program has stopped'; };
connect();
requestAnimationFrame(loop);
window.coevalPeers = { seats, live: () => before, take }; // for tests
