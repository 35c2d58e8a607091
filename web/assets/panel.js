// The panel beside the game: sets the network, and shows what it does. It talks to the program by /api, and to the game in the frame by its
// window.coeval.

import { Plot } from '/assets/plot.js';
import { showMistake } from '/assets/reload.js';

const $ = id => document.getElementById(id);
const frame = $('game');
const game = () => frame.contentWindow?.coeval;
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private windows forget */ } };
const recall = key => { try { return localStorage.getItem(key) || ''; } catch { return ''; } };

const bytes = n => n >= 1e6 ? `${(n / 1e6).toFixed(2)} MB` : n >= 1e4 ? `${(n / 1e3).toFixed(1)} kB` : `${Math.round(n)} B`;
const ms = n => `${n < 10 ? n.toFixed(1) : Math.round(n)} ms`;

// --- the game ---

let begun = false;
let loaded = ''; // the program that the game is
function begin() {
  if (begun) return;
  begun = true;
  $('building').hidden = true;
  const query = new URLSearchParams(location.search);
  frame.src = '/play' + (query.size ? `?${query}` : '');
  frame.onload = () => frame.contentWindow.focus();
}
$('frame').addEventListener('pointerdown', () => frame.contentWindow?.focus());

// --- the keyboard ---

// The keyboard is the game's. A control that was used with a pointer gives it back at once. One that was reached by Tab keeps the keys that it needs itself, and hands on
// the others: whoever chooses a preset and then presses W wants to walk.
const refocus = () => frame.contentWindow?.focus();
const writes = e => e.matches('input:not([type=range])');
let pointed = false;
addEventListener('pointerdown', () => { pointed = true; }, true);
addEventListener('keydown', e => { if (e.key === 'Tab') pointed = false; }, true);
for (const kind of ['change', 'click']) {
  $('panel').addEventListener(kind, e => { if (pointed && !writes(e.target) && e.target.tagName !== (kind === 'click' ? 'SELECT' : '')) refocus(); });
}
const needs = { SELECT: ['ArrowUp', 'ArrowDown', 'Enter', ' ', 'Home', 'End'], INPUT: ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown'], BUTTON: ['Enter', ' '] };
$('panel').addEventListener('keydown', e => {
  if (writes(e.target) || e.key === 'Tab' || e.key === 'Shift' || e.ctrlKey || e.metaKey || e.altKey) return;
  if (!pointed && needs[e.target.tagName]?.includes(e.key)) return;
  e.preventDefault();
  refocus();
  const to = frame.contentWindow;
  if (to && e.key !== 'Escape') (to.document.activeElement ?? to).dispatchEvent(new to.KeyboardEvent('keydown', { code: e.code, key: e.key, bubbles: true }));
});

// --- what the program tells ---

let settling = 0; // sliders that were just moved are not moved back
const events = new EventSource('/api/events');
events.addEventListener('build', e => {
  const b = JSON.parse(e.data);
  $('part').style.width = `${Math.round(b.part * 100)}%`;
  $('step').textContent = b.error ? 'the game could not be built' : b.step;
  $('fault').hidden = !b.error;
  $('fault').textContent = b.error;
  if (b.done) begin();
  if (b.done && loaded && b.tag !== loaded) frame.contentWindow?.coevalReload?.();
  if (b.done) loaded = b.tag;
  if (begun) showMistake($('mistake'), b.error);
});
events.addEventListener('live', e => show(JSON.parse(e.data)));
events.onerror = () => { $('people').textContent = 'the program has stopped'; };

const named = map => /[^\d]/.test(map ?? '') ? ` on ${map}` : ''; // a level may be a mere number
function show(live) {
  $('people').textContent = `${live.players} playing${live.away ? `, ${live.away} away` : ''}${named(live.map)}`;
  if (!$('preset').options.length) {
    for (const p of live.presets) $('preset').add(new Option(p, p));
    $('preset').add(new Option('custom', 'custom'));
  }
  if (performance.now() > settling) {
    const n = live.network;
    $('preset').value = n.preset || 'custom';
    set('latency', n.latency);
    set('jitter', n.jitter);
    set('loss', n.loss);
  }
  down = live.limit;
  rows(live);
}

// rows shows where the bytes of the last second went, and that they add up.
let before;
const drawn = new Map();
function rows(live) {
  if (!before || before.seconds > live.seconds) { before = live; return; }
  const dt = live.seconds - before.seconds;
  if (dt < 0.9) return;
  const was = new Map(before.rows.map(r => [r.name, r.bytes]));
  const list = live.rows.map(r => ({ ...r, rate: (r.bytes - (was.get(r.name) ?? 0)) / dt }));
  const total = (live.sent - before.sent) / dt;
  const sum = list.reduce((a, r) => a + r.rate, 0);
  const most = Math.max(1, ...list.map(r => r.rate));
  const body = $('rows').tBodies[0];
  for (const r of list) {
    let tr = drawn.get(r.name);
    if (!tr) {
      tr = body.insertRow();
      tr.insertCell().textContent = r.name;
      tr.insertCell().append(Object.assign(document.createElement('div'), { className: `part ${r.kind}` }));
      tr.insertCell();
      drawn.set(r.name, tr);
    }
    tr.hidden = r.rate < 0.5 && !r.bytes;
    tr.cells[1].firstChild.style.width = `${Math.max(0, r.rate) / most * 100}%`;
    tr.cells[2].textContent = bytes(Math.max(0, r.rate));
  }
  $('sum').textContent = `${bytes(total)}/s to ${live.clients} client${live.clients === 1 ? '' : 's'}`;
  $('check').textContent = Math.abs(sum - total) < 0.5 + total * 1e-6 ? `adds up to the socket's count: ${bytes(live.sent)} sent so far` : `off by ${bytes(sum - total)}/s`;
  window.coevalPanel = { sum: live.rows.reduce((a, r) => a + r.bytes, 0), sent: live.sent, rows: list, rate: total };
  before = live;
}

// --- the network ---

const units = { latency: ms, jitter: ms, loss: v => `${Number(v).toFixed(1)} %` };
function set(id, value) {
  $(id).value = value;
  $(`${id}-out`).textContent = units[id](Number($(id).value));
}
let waiting;
function post(body) {
  settling = performance.now() + 1500;
  return fetch('/api/network', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}
$('preset').onchange = e => { if (e.target.value !== 'custom') { post({ preset: e.target.value }); settling = 0; } };
for (const id of Object.keys(units)) {
  $(id).oninput = () => {
    set(id, $(id).value);
    $('preset').value = 'custom';
    settling = performance.now() + 1500;
    clearTimeout(waiting);
    waiting = setTimeout(() => post({ latency: Number($('latency').value), jitter: Number($('jitter').value), loss: Number($('loss').value) }), 120);
  };
}
$('cut').onclick = () => post({ cut: 2 });
$('rebind').onclick = () => post({ rebind: true });

// --- the game's own numbers ---

const trip = new Plot($('trip'), { colors: ['#40d9ff'], floor: 40, format: ms });
const traffic = new Plot($('bytes'), { colors: ['#6ff08c', '#ff8c2e'], floor: 2000, format: n => `${bytes(n)}/s` });
const wrong = new Plot($('wrong'), { colors: ['#ff5a52', '#bf73ff'], floor: 0.5, format: n => `${n} u/s` });

const styles = {
  doom3: 'Everything you see is predicted, others too: you aim at where they are now, and they are corrected when they turn.',
  quake3: 'You are predicted. Others are shown as they were a moment ago, smoothly: aim ahead of them.',
  halflife: 'As quake3, and the server goes back in time to judge your shots: aim at what you see.',
};

const most = n => n ? `${bytes(n)}/s` : 'no limit met'; // bytes a second that the path takes
let down = 0; // the same from the server, as it says

let last;
let told = '';
setInterval(() => {
  const g = game();
  if (!g) return;
  const s = g.stats();
  const now = performance.now() / 1000;
  if (!s.practice && last && now - last.at > 0.2) {
    const dt = now - last.at;
    const rate = key => Math.max(0, (s[key] - last.s[key]) / dt);
    trip.add(now, s.roundTrip);
    traffic.add(now, rate('received'), rate('sent'));
    wrong.add(now, rate('corrected'), rate('own'));
    $('trip-now').textContent = `${ms(s.roundTrip)} ± ${ms(s.jitter)}`;
    $('bytes-now').textContent = `${bytes(rate('received'))} in, ${bytes(rate('sent'))} out`;
    $('line-now').textContent = `path: ${most(down)} in, ${most(s.limit)} out; waits ${ms(s.queueIn)} in, ${ms(s.queueOut)} out; ${s.ahead.toFixed(1)} ticks ahead`;
    $('wrong-now').textContent = `${rate('corrected').toFixed(2)} u/s, own ${rate('own').toFixed(2)}`;
    [trip, traffic, wrong].forEach(p => p.draw());
    last = { at: now, s };
  }
  last ??= { at: now, s };
  $('carrier').textContent = s.practice ? 'practice, without a network' : s.carrier || 'not connected';
  $('carrier').className = s.carrier ? 'good' : '';
  for (const b of $('styles').children) b.classList.toggle('on', !s.blind && b.dataset.style === s.style);
  $('graph').classList.toggle('on', s.graph);
  $('ghosts').classList.toggle('on', s.ghosts);
  $('blind').classList.toggle('on', s.blind);
  for (const id of ['graph', 'ghosts', 'blind']) $(id).hidden = s[id] === undefined; // not every client has them
  const means = s.blind ? 'Which of two styles you play is not told. Press 1, 2 or 3 when asked.' : styles[s.style] ?? '';
  if ($('style-means').textContent !== means) $('style-means').textContent = means;
  $('rate').textContent = s.rate ? `${Math.round(s.rate)} frames a second` : '';
  $('rate').className = s.rate && s.rate < 25 ? 'slow' : '';
  $('score').hidden = !s.score;
  $('score').textContent = s.score;
  if (s.score && s.score !== told) remember('coeval.score', told = s.score);
}, 100);

$('styles').onclick = e => { if (e.target.dataset.style) game()?.set('style', e.target.dataset.style); };
for (const id of ['graph', 'ghosts', 'blind']) $(id).onclick = () => game()?.set(id, '');

// --- others ---

fetch('/api/invite').then(a => a.ok ? a.json() : { links: null }).then(({ links }) => {
  if (!links?.length) return;
  $('invite').hidden = false;
  $('invite-code').src = '/api/invite.svg';
  $('invite-link').href = $('invite-link').textContent = links[0];
  $('invite-copy').onclick = async () => {
    try { await navigator.clipboard.writeText(links[0]); $('invite-copy').textContent = 'copied'; } catch { getSelection().selectAllChildren($('invite-link')); }
  };
}).catch(() => { /* the program has stopped, which is said elsewhere */ });

// --- the rest ---

$('name').value = new URLSearchParams(location.search).get('name') ?? recall('coeval.name');
$('name').placeholder = 'a name';
$('name').onchange = e => { remember('coeval.name', e.target.value); game()?.set('name', e.target.value); refocus(); };
$('name').onkeydown = e => { if (e.key === 'Enter') e.target.blur(); };
const fold = on => { $('panel').classList.toggle('folded', on); $('unfold').hidden = !on; remember('coeval.folded', on ? '1' : ''); refocus(); };
$('fold').onclick = () => fold(true);
$('unfold').onclick = () => fold(false);
if (recall('coeval.folded') || innerWidth < 820 || innerHeight < 480) fold(true);
