// Rooms, in which players gather before a match: a directory has them. A tab is somebody; whoever the game's own service knows comes with #account=. What others say of
// themselves is only ever shown as text.

import { Measure } from './measure.js';

const $ = id => document.getElementById(id);
const here = ['localhost', '127.0.0.1', '[::1]'];
const make = (tag, name = '', text = '') => Object.assign(document.createElement(tag), { className: name, textContent: text });
const pause = time => new Promise(done => setTimeout(done, time * (0.7 + 0.6 * Math.random())));
const mostLines = 32; // that a room remembers
const silence = 45000; // after which a connection is taken for broken: the directory says something every 15 s,
const prompt = 5000; // and something at once

let settings = {};
let base = '';
let secret = '';
let is = {}; // what the directory says of this player: client, room, queue, start
let old = ''; // the match that was before
let away = ''; // what is said while the directory does not answer
let waitedSince = 0;
let regions = new Map(); // the sites of each

const measure = new Measure(() => tellTrips());

function say(text, wrong = true) {
  const p = $('says');
  p.hidden = !text;
  p.className = wrong ? 'wrong' : '';
  if (p.textContent !== text) p.textContent = text;
}

const blocked = () => location.protocol === 'https:' && base.startsWith('http:');
const unreachable = () => blocked() ? 'This page is secure, and the directory is not: its operator gives it a certificate.'
  : `The directory at ${new URL(base).host} does not answer. It is asked again.`;

// ask asks the directory something, as this player. Somebody without an account elsewhere, whom the directory does not know any more, gets another one.
async function ask(method, path, body, again = true) {
  let answer, a;
  try {
    answer = await fetch(`${base}/directory/v1/${path}`, {
      method, body: body && JSON.stringify(body), cache: 'no-store', signal: AbortSignal.timeout(10000),
      headers: { ...(secret && { Authorization: `Bearer ${secret}` }), ...(body && { 'Content-Type': 'application/json' }) },
    });
    a = await answer.json();
  } catch {
    throw Object.assign(new Error(unreachable()), { away: true });
  }
  if (answer.ok) return a;
  if (answer.status === 401 && secret && again) {
    if (given()) throw new Error('The directory does not know who you are any more: come again from where you signed in.');
    await account(true);
    return ask(method, path, body, false);
  }
  throw Object.assign(new Error(a.error ?? `The directory answers ${answer.status}.`), { code: a.code, status: answer.status, away: answer.status >= 500 && !a.error });
}

// doing has a button or form do something once at a time, and says what went wrong.
const doing = f => {
  let busy = false;
  return async e => {
    e?.preventDefault();
    if (busy) return;
    busy = true;
    say(away);
    try {
      await f();
    } catch (wrong) {
      // A room that is gone, or in which one is no more, is left.
      if (is.room && ['not_member', 'unknown_room'].includes(wrong.code)) {
        is.room = undefined;
        draw();
      }
      say(wrong.message);
    } finally {
      busy = false;
    }
  };
};

const inRoom = (what, body = {}) => ask('POST', `rooms/${encodeURIComponent(is.room.code)}/${what}`, body);

// trips are the round trips to regions, as far as they are measured.
function trips() {
  const out = {};
  for (const [region, sites] of regions) {
    const known = [...sites].map(s => measure.of(s)?.rtt).filter(t => t !== undefined);
    if (known.length && Object.keys(out).length < 16) out[region] = Math.min(10000, Math.round(Math.min(...known)));
  }
  return out;
}

const name = () => $('name').value.trim() || 'player';
const me = () => ({ name: name(), page: true, trips: trips() });
const wait = () => ask('POST', 'queue', { game: settings.game, me: me() });

// tellTrips tells the directory how far this player is from where, once that is known.
let telling = 0;
let told = '';
function tellTrips() {
  clearTimeout(telling);
  telling = setTimeout(() => {
    const now = JSON.stringify(trips());
    if (now === told || !is.room && !is.queue || is.queue?.matched) return;
    told = now;
    (is.room ? inRoom('me', { trips: trips() }) : wait()).catch(() => { told = ''; }); // it is told again when it changes
  }, 500);
}

// survey finds the regions in which there are servers, and measures the way to each.
async function survey() {
  const page = await ask('GET', `entries?game=${encodeURIComponent(settings.game)}&limit=200`);
  regions = new Map();
  for (const entry of page.entries ?? []) {
    for (const p of entry.places ?? []) {
      if (!p.region || !p.page || !p.addresses?.ws) continue;
      const site = new URL(p.addresses.ws.replace(/^ws/, 'http')).origin;
      if (location.protocol === 'https:' && site.startsWith('http:')) continue;
      if (!regions.has(p.region)) regions.set(p.region, new Set());
      regions.get(p.region).add(site);
      measure.add(site);
    }
  }
}

// play goes to where the match is, once for each.
function play(start) {
  is.queue = undefined;
  if (start.match === old) return;
  old = start.match;
  sessionStorage.setItem('coeval.match', old);
  if (start.why) return say(start.why);
  if (!/^https?:/.test(start.page ?? '')) return say(`The match is at ${start.name}, which has no page.`);
  say(`Playing at ${start.name}.`, false);
  location.href = start.page + (start.token ? `#token=${encodeURIComponent(start.token)}` : '');
}

// waits notes how this player waits.
function waits(q) {
  is.queue = q.gone ? undefined : q;
  waitedSince = Date.now() - 1000 * q.waited;
}

const gone = { kicked: 'The host has removed you from the room.', silent: 'You were silent for too long, and have left the room.' };

// What the directory tells, in order.
const heard = {
  begin(d) {
    const before = is.room;
    is = d;
    if (d.queue) waits(d.queue);
    if (away) say(away = '');
    if (before && !d.room) say('You are not in the room any more: you were silent for too long, the host has removed you, or the directory was started anew.');
    if (d.start) play(d.start);
  },
  room(d) {
    const before = is.room;
    is.room = d;
    if (before?.code !== d.code) return;
    if (before.host !== d.host && d.host === is.client) say('The host has left: you are the host now.', false);
    if (d.why && d.why !== before.why) say(d.why);
  },
  chat(d) {
    const chat = is.room?.chat ?? [];
    if (is.room && d.number > (chat.at(-1)?.number ?? 0)) is.room.chat = [...chat, d].slice(-mostLines);
  },
  queue(d) {
    waits(d);
    if (d.why) say(d.why);
  },
  start: play,
  out(d) {
    if (is.room?.code !== d.room) return;
    is.room = undefined;
    if (gone[d.why]) say(gone[d.why]);
  },
};

// hear takes what a connection tells, for as long as it does.
async function hear() {
  const stop = new AbortController();
  let alive = 0;
  const quiet = time => { clearTimeout(alive); alive = setTimeout(() => stop.abort(), time); };
  quiet(prompt);
  try {
    const answer = await fetch(`${base}/directory/v1/me/events`, { headers: { Authorization: `Bearer ${secret}` }, cache: 'no-store', signal: stop.signal });
    if (!answer.ok) return; // why is said by whoever asks where one is
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      quiet(silence);
      text += value;
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
        const field = kind => text.slice(0, end).split('\n').find(l => l.startsWith(`${kind}: `))?.slice(kind.length + 2);
        const event = field('event');
        if (event === 'resync') return;
        if (!Object.hasOwn(heard, event ?? '')) continue;
        heard[event](JSON.parse(field('data')));
        draw();
      }
    }
  } finally {
    clearTimeout(alive);
    stop.abort();
  }
}

// listen hears what happens, for as long as the page is open. Where nothing is told, the directory is asked now and then.
async function listen() {
  for (;;) {
    await hear().catch(() => {}); // it was cut off
    await pause(500);
    try {
      heard.begin(await ask('GET', 'me'));
      draw();
    } catch (e) {
      say(away = e.message);
      await pause(e.away ? 1500 : 6000);
    }
  }
}

// pressed is set while a button is: a list that was made anew in between would take the click away.
let pressed = false;
addEventListener('pointerdown', () => { pressed = true; }, true);
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => { pressed = false; setTimeout(draw); }, true);

// fill puts lines into a list if they are others than before, so that nothing moves under a pointer, and keeps what has the focus.
function fill(list, key, lines) {
  if (pressed || list.dataset.key === key) return false;
  list.dataset.key = key;
  const focused = list.contains(document.activeElement) && document.activeElement.dataset.of;
  list.replaceChildren(...lines());
  if (focused) list.querySelector(`[data-of="${CSS.escape(focused)}"]`)?.focus();
  return true;
}

let open = [];
async function lookForRooms() {
  if ($('outside').hidden || document.hidden) return;
  open = (await ask('GET', `rooms?game=${encodeURIComponent(settings.game)}`)).rooms ?? [];
  draw();
}

function roomLine(r) {
  const line = make('tr');
  const cell = make('td');
  cell.append(make('bdi', 'name', r.name || r.code), make('div', 'about', [r.level, r.teams && `${r.teams} teams`].filter(Boolean).join(', ')));
  const last = make('td');
  const button = make('button', '', 'Join');
  button.dataset.of = r.code;
  button.setAttribute('aria-label', `join ${r.name || r.code}`);
  button.onclick = doing(() => enter(r.code));
  last.append(button);
  line.append(cell, make('td', '', `${r.size}/${r.most}`), last);
  return line;
}

// enter joins the room with a code, which may stand in a link.
async function enter(text) {
  const code = text.split('#room=').at(-1).split('&')[0].trim();
  const room = await ask('POST', `rooms/${encodeURIComponent(code)}/join`, me());
  is.room ??= room; // what was heard meanwhile is newer
  draw();
}

function memberLine(m, room) {
  const own = m.client === is.client;
  const line = make('li');
  line.append(make('bdi', 'name', m.name));
  if (own) line.append(make('span', 'state', 'you'));
  if (room.teams && m.team) line.append(make('span', 'state', `team ${m.team}`));
  const host = m.client === room.host;
  line.append(make('span', m.ready && !host ? 'state ready' : 'state', host ? 'host' : m.ready ? 'ready' : 'not ready'));
  if (room.host === is.client && !own) {
    const button = make('button', '', 'Remove');
    button.dataset.of = m.client;
    button.setAttribute('aria-label', `remove ${m.name}`);
    button.onclick = doing(() => inRoom('kick', { member: m.client }));
    line.append(button);
  }
  return line;
}

function chatLine(l) {
  const line = make('li');
  line.append(make('b', '', l.name), make('bdi', '', l.text));
  return line;
}

function drawRoom(r) {
  const mine = r.host === is.client;
  const members = r.members ?? [];
  const own = members.find(m => m.client === is.client);
  const others = members.filter(m => m.client !== r.host);
  const all = others.every(m => m.ready);
  const still = r.state !== 'open';
  $('shown').textContent = r.code;
  $('called').textContent = r.name || 'Players';
  $('count').textContent = `${members.length} of ${r.most}`;
  fill($('members'), JSON.stringify([members, r.host, is.client]), () => members.map(m => memberLine(m, r)));
  const chat = r.chat ?? [];
  const list = $('chat');
  const low = list.scrollHeight - list.scrollTop - list.clientHeight < 40; // whoever reads what was said before goes on
  if (fill(list, `${r.code} ${chat.at(-1)?.number}`, () => chat.map(chatLine)) && low) list.scrollTop = list.scrollHeight;
  $('sides').hidden = !r.teams;
  fill($('team'), `${r.teams}`, () => Array.from({ length: (r.teams ?? 0) + 1 }, (_, n) => new Option(n || 'none', n)));
  if (document.activeElement !== $('team')) $('team').value = own?.team ?? 0;
  $('ready').hidden = mine || still;
  $('ready').textContent = own?.ready ? 'I am not ready' : 'I am ready';
  $('start').hidden = !mine || r.state === 'waiting';
  $('start').disabled = still;
  $('start').textContent = r.state === 'starting' ? 'Finding a server' : all ? 'Start' : 'Start anyway';
  $('party').hidden = !mine || still;
  $('unparty').hidden = r.state !== 'waiting';
  $('hint').textContent = r.state === 'waiting' ? waited() : r.state === 'starting' ? 'A server is being found.'
    : mine ? !others.length ? 'Send the link to your friends, or start alone.' : all ? 'Everyone is ready.' : 'Not everyone is ready.'
      : own?.ready ? 'The host starts the match.' : 'Say that you are ready: then the host can start.';
}

const waited = () => is.queue?.matched ? 'A match is found: a server is being prepared.'
  : `You wait for others, for ${Math.max(0, Math.round((Date.now() - waitedSince) / 1000))} s now.`;

// draw shows where this player is: in a room, in a queue, or outside of both.
let shown = '';
function draw() {
  if (!is.client) return;
  const where = is.room ? 'inside' : is.queue ? 'waiting' : 'outside';
  if (is.room) drawRoom(is.room);
  $('waited').textContent = waited();
  fill($('rooms'), JSON.stringify(open), () => open.map(roomLine));
  $('none').hidden = open.length > 0;
  // The address is a link to the room, for whoever copies it.
  const link = is.room ? `${location.pathname}#room=${is.room.code}` : location.pathname;
  if (location.pathname + location.hash !== link) history.replaceState(null, '', link);
  if (where === shown) return;
  const first = !shown;
  shown = where;
  $('who').hidden = false;
  for (const id of ['inside', 'waiting', 'outside']) $(id).hidden = id !== where;
  if (where === 'inside') $('chat').scrollTop = $('chat').scrollHeight;
  if (!first) $(where).focus({ preventScroll: true }); // what had the focus is not to be seen any more
  lookForRooms().catch(() => {}); // it is asked again
}

const given = () => sessionStorage.getItem('coeval.account.given') === base;

// account has this tab be somebody: whom the link says, whom it was before, or somebody new.
async function account(anew = false) {
  const link = anew ? null : new URLSearchParams(location.hash.slice(1)).get('account');
  if (link) sessionStorage.setItem('coeval.account.given', base);
  else if (anew) sessionStorage.removeItem('coeval.account.given');
  const known = !anew && sessionStorage.getItem('coeval.account.at') === base;
  secret = ''; // whoever asks for an account has none
  secret = link ?? (known ? sessionStorage.getItem('coeval.account') : null) ?? (await ask('POST', 'accounts', {})).secret;
  sessionStorage.setItem('coeval.account.at', base);
  sessionStorage.setItem('coeval.account', secret);
}

// begin finds out where this player is, and has them be in the room that the link names.
async function begin() {
  settings = await (await fetch('/servers.json')).json();
  const at = new URL(settings.directory);
  if (here.includes(at.hostname) && !here.includes(location.hostname) && location.hostname) at.hostname = location.hostname;
  base = at.href.replace(/\/$/, '');
  old = sessionStorage.getItem('coeval.match') ?? '';
  const code = new URLSearchParams(location.hash.slice(1)).get('room');
  await account();
  is = await ask('GET', 'me');
  say('');
  survey().catch(() => {}); // without it the directory does not know what is near
  if (code) {
    if (is.room && is.room.code !== code.toUpperCase()) {
      await inRoom('leave');
      is.room = undefined;
    }
    if (!is.room) await enter(code).catch(e => say(e.message));
  }
  draw();
}

async function start() {
  $('name').value = localStorage.getItem('coeval.name') ?? '';
  for (;;) {
    try {
      await begin();
      break;
    } catch (e) {
      say(e.message);
      await pause(e.away || !base ? 1500 : 6000);
    }
  }
  listen();
  setInterval(() => lookForRooms().catch(() => {}), 3000);
  setInterval(() => { if (is.queue) draw(); }, 1000);
}

$('name').addEventListener('change', doing(async () => {
  localStorage.setItem('coeval.name', $('name').value.trim());
  if (is.room) await inRoom('me', { name: name() });
}));
$('who').addEventListener('submit', e => { e.preventDefault(); $('name').blur(); });
$('make').addEventListener('submit', doing(async () => {
  const room = await ask('POST', 'rooms', { me: me(), room: {
    game: settings.game, name: $('title').value.trim(), public: $('public').checked, most: +$('most').value, teams: +$('teams').value } });
  is.room ??= room;
  draw();
}));
$('enter').addEventListener('submit', doing(() => enter($('code').value)));
$('queue').addEventListener('submit', doing(async () => {
  const q = await wait();
  if (!is.queue) waits(q);
  draw();
}));
for (const id of ['stop', 'unparty']) $(id).addEventListener('click', doing(() => ask('POST', 'queue/leave', {})));
$('ready').addEventListener('click', doing(() => inRoom('me', { ready: !is.room.members.find(m => m.client === is.client)?.ready })));
$('team').addEventListener('change', doing(() => inRoom('me', { team: +$('team').value })));
$('start').addEventListener('click', doing(() => inRoom('start', { anyway: $('start').textContent !== 'Start' })));
$('party').addEventListener('click', doing(() => inRoom('queue')));
$('leave').addEventListener('click', doing(async () => {
  await inRoom('leave');
  is.room = undefined;
  draw();
}));
$('copy').addEventListener('click', doing(async () => {
  const link = `${location.origin}/rooms#room=${is.room.code}`;
  try {
    await navigator.clipboard.writeText(link);
    say('The link is copied: send it to your friends.', false);
  } catch {
    say(link, false); // a page over plain HTTP has no clipboard
  }
}));
$('say').addEventListener('submit', doing(async () => {
  const text = $('line').value.trim();
  if (!text) return;
  $('line').value = '';
  try {
    await inRoom('chat', { text });
  } catch (e) {
    $('line').value ||= text;
    throw e;
  }
}));
window.coevalRooms = { is: () => is, trips }; // for tests
start();
