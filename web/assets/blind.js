// A blind test. The program plays and draws, and this page replays it, as it does with peers: so the page knows no more than the person. It is asked for frames over
// one socket; what to show around them, and the answers, go by /api. See host/internal/demo/blind.go.

import { Library, Replayer } from '/assets/surface.js';
import { Devices } from '/assets/devices.js';
import { Sound } from '/assets/sound.js';
import { accelerated } from '/assets/screen.js';

const $ = id => document.getElementById(id);
const make = (tag, className, parent, text) => {
  const e = document.createElement(tag);
  e.className = className;
  if (text !== undefined) e.textContent = text;
  parent?.append(e);
  return e;
};
const write = (e, text) => { if (e.textContent !== text) e.textContent = text; };
const codes = await (await fetch('/api/keys')).json();
const query = new URLSearchParams(location.search);
const software = !accelerated();
const hands = 17; // words of what a player does

const canvas = $('screen');
const context = canvas.getContext('2d', { alpha: false });
const devices = new Devices(canvas, code => codes[code] ?? 0, () => false);
devices.idle = true;
const asset = async name => {
  const answer = await fetch(`/api/files/${name.split('/').map(encodeURIComponent).join('/')}`);
  return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
};
const missing = (name, kind, why) => console.warn(`the ${kind} ${JSON.stringify(name)} cannot be used${why ? `: ${why}` : ''}`);
let library, sound, replayer;
let drawn = 0;

// fresh begins with nothing of what was drawn: on a new socket the program sends everything again.
function fresh() {
  library = new Library(asset, missing);
  sound?.setMute(true);
  sound = new Sound(library, query.has('mute'));
  replayer = new Replayer(context, library, sound);
  if (software) replayer.slowly();
}

// --- frames ---

let socket;
let asked = 0; // when a request went that is not answered; 0 for none
let last = 0;
let elsewhere = false;
function connect() {
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/screens`);
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => { asked = 0; fresh(); };
  socket.onmessage = e => { asked = 0; answered(e.data); };
  socket.onclose = e => {
    asked = 0;
    if (/another page/.test(e.reason)) { elsewhere = true; events.close(); say('The test goes on in another page', 'Close this one.'); } else setTimeout(connect, 500);
  };
}

function ask() {
  const ratio = software ? 1 : Math.min(devicePixelRatio || 1, 2);
  const { clientWidth: wide, clientHeight: high } = canvas;
  const w = Math.max(1, Math.round(wide * ratio)), h = Math.max(1, Math.round(high * ratio));
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const words = new Uint32Array(2 + hands + 3), floats = new Float32Array(words.buffer);
  words[0] = 1;
  devices.write(words, floats, 1, codes.PadA ?? 0);
  const { left, top } = canvas.getBoundingClientRect();
  floats[1] -= left;
  floats[2] -= top;
  words[1 + hands] = 1;
  words[2 + hands] = 1;
  floats[3 + hands] = Math.max(1, wide);
  floats[4 + hands] = Math.max(1, high);
  socket.send(words);
}

function answered(data) {
  const view = new DataView(data), u = i => view.getUint32(4 * i, true);
  for (let i = 0; i < 4; i++) devices.asked[i] = u(3 + i);
  const fetched = u(7), list = u(8), at = 36;
  if (fetched) library.read(view, at, at + fetched);
  if (!list || now?.test.phase !== 'playing') return;
  replayer.replay(view, at + fetched, at + fetched + list, canvas.width, canvas.height, view.getFloat32(4, true), view.getFloat32(8, true));
  drawn++;
}

function loop(t) {
  requestAnimationFrame(loop);
  const busy = /playing|pausing/.test(now?.test.phase ?? '');
  if (asked || elsewhere || socket.readyState !== WebSocket.OPEN || t - last < (busy ? 0 : 100)) return;
  asked = last = t;
  ask();
}

// --- what is around them ---

const order = async body => {
  const answer = await fetch('/api/blind', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  if (answer.ok) show(await answer.json());
  else fault((await answer.text()).trim());
};
const fault = text => {
  const p = $('card').querySelector('.bad') ?? make('p', 'bad', $('card'));
  p.textContent = text;
};

let chosen = -1;
function choose(i) {
  if (now?.test.phase !== 'asking') return;
  chosen = i;
  document.querySelectorAll('.choices button').forEach((b, k) => { b.classList.toggle('on', k === i); b.setAttribute('aria-pressed', k === i); });
  document.querySelector('.go').disabled = false;
}
function confirm() {
  const t = now?.test;
  if (t?.phase === 'waiting') order({ begin: true });
  else if (t?.phase === 'asking' && chosen >= 0) order({ trial: t.trial, answer: chosen });
}
addEventListener('keydown', e => {
  if (e.repeat || e.ctrlKey || e.metaKey || e.altKey) return;
  const asking = now?.test.phase === 'asking';
  const i = asking ? { Digit1: 0, Numpad1: 0, KeyA: 0, ArrowLeft: 0, Digit2: 1, Numpad2: 1, KeyB: 1, ArrowRight: 1 }[e.code] : undefined;
  if (i !== undefined) choose(i);
  else if (e.code === 'Enter' && (asking || now?.test.phase === 'waiting')) confirm();
  else return;
  e.preventDefault();
});

function say(title, text, className = '') {
  const card = $('card');
  card.className = className;
  card.replaceChildren();
  make('h1', '', card, title);
  if (text) make('p', 'dim', card, text);
  $('veil').hidden = false;
  return card;
}

const keys = (...list) => {
  const p = make('p', 'dim', null);
  for (const [key, text] of list) make('span', 'key', p).append(make('kbd', '', null, key), ` ${text}`);
  return p;
};

function button(card, text, disabled = false) {
  const b = make('button', 'go', card, text);
  b.disabled = disabled;
  b.onclick = confirm;
  return b;
}

const cards = {
  waiting(live) {
    const t = live.test, abx = t.question === 'abx';
    const card = say(t.trial > 1 ? 'Go on?' : 'Ready?');
    if (t.error) make('p', 'bad', card, t.error);
    make('p', '', card, abx
      ? 'In each trial you play the same game three times, for a short while each: A, then B, then X. Something may differ between A and B. X is one of the two again.'
      : 'In each trial you play the same game twice, for a short while each. Something may differ between the two.');
    const steps = make('ol', 'steps', card);
    make('li', '', steps, abx ? 'Play A, B and X. A is the same in all trials, and so is B.' : 'Play both. Which comes first changes from trial to trial.');
    make('li', '', steps, abx ? 'Say whether X was A or B. If you cannot tell, guess.' : 'Say which felt better. If you cannot tell, choose either.');
    make('li', '', steps, `There are ${t.trials} trials, no more and no fewer. You are told what came of it after the last.`);
    make('p', 'dim', card, `${live.game}: ${live.hint || 'arrows or WASD, and the space bar'}`);
    button(card, t.trial > 1 ? `Go on with trial ${t.trial}` : 'Begin').focus({ preventScroll: true });
  },
  pausing(live) {
    const t = live.test;
    say(t.label, `trial ${t.trial} of ${t.trials}`, 'bare');
  },
  playing() { $('veil').hidden = true; },
  asking(live) {
    const t = live.test, abx = t.question === 'abx';
    chosen = -1;
    const card = say(abx ? 'Was X the same as A, or as B?' : 'Which felt better?');
    const list = make('div', 'choices', card);
    list.setAttribute('role', 'group');
    for (const i of [0, 1]) {
      const b = make('button', '', list, abx ? `X was ${t.labels[i]}` : ['the first', 'the second'][i]);
      b.onclick = () => choose(i);
    }
    card.append(keys(['1', abx ? 'A' : 'the first'], ['2', abx ? 'B' : 'the second'], ['Enter', 'next']));
    button(card, t.trial < t.trials ? 'Next trial' : 'Finish', true);
  },
  finished(live) { result(live.test); },
};

// result tells all that was hidden.
function result(t) {
  const r = t.result, card = say('What your answers show', '', 'result');
  r.words.forEach((w, i) => make('p', i ? 'dim' : 'first', card, w));
  const number = x => x === 0 ? '0' : x < 1 ? x.toFixed(2) : x < 10 ? x.toFixed(1) : `${Math.round(x)}`;
  const table = (heads, rows) => {
    const e = make('table', '', null), head = make('tr', '', e);
    heads.forEach(h => make('th', '', head, h));
    for (const row of rows) {
      const tr = make('tr', '', e);
      row.forEach(([text, className = '']) => make('td', className, tr, text));
    }
    return e;
  };
  if (r.figures?.length) card.append(table(['measured while you played', ...r.sides], r.figures.map(f => [[f.about], [number(f.sides[0])], [number(f.sides[1])]])));
  r.sides.forEach((s, i) => { const p = make('p', 'dim', card); p.append(make('b', '', null, s), `: ${r.about[i]}`); });
  const more = make('details', '', card);
  make('summary', '', more, 'all trials');
  const abx = t.question === 'abx';
  more.append(table(['trial', ...t.labels, 'your answer', ''], r.trials.map((x, i) => [[`${i + 1}`], ...x.order.map(s => [s]), [abx ? `X was ${x.answer}` : x.answer],
    abx ? [x.counts ? 'right' : 'wrong', x.counts ? 'yes' : 'no'] : [`for ${r.sides[x.counts ? 0 : 1]}`]])));
  make('p', 'dim', card, `The order came from the seed ${r.seed}. Your answers are in ${r.file}.`);
}

let now;
let shown = ''; // which card
function show(live) {
  if (elsewhere) return;
  now = live;
  const t = live.test;
  devices.kind = live.touch;
  if (devices.idle !== (t.phase !== 'playing')) {
    devices.idle = t.phase !== 'playing';
    devices.release();
  }
  const which = `${t.phase} ${t.trial} ${t.label} ${t.error ?? ''}`;
  if (which !== shown) {
    shown = which;
    cards[t.phase](live);
    if (t.phase === 'playing') document.activeElement?.blur?.();
  }
  const at = t.labels.indexOf(t.label), during = /playing|pausing/.test(t.phase);
  write($('where'), t.phase === 'finished' ? `${live.game} · ${t.trials} trials` : `${live.game} · trial ${t.trial} of ${t.trials}`);
  $('labels').hidden = !during;
  if ($('labels').children.length !== t.labels.length) $('labels').replaceChildren(...t.labels.map(l => make('li', '', null, l)));
  t.labels.forEach((_, i) => { $('labels').children[i].className = during && i === at ? 'now' : i < at ? 'was' : ''; });
  $('time').hidden = t.phase !== 'playing';
  $('part').style.width = `${t.of ? 100 * t.left / t.of : 0}%`;
}

const events = new EventSource('/api/events');
events.addEventListener('live', e => show(JSON.parse(e.data)));
events.onerror = () => { if (now?.test.phase !== 'finished') write($('where'), 'the program has stopped'); };
fresh();
connect();
requestAnimationFrame(loop);
window.coevalBlind = { live: () => now, drawn: () => drawn, canvas, context, choose, confirm }; // for tests
