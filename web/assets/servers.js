// The servers of a title: what a directory lists, how far each is as far as a page can tell, and a way to play there.

import { Measure } from './measure.js';

const $ = id => document.getElementById(id);
const here = ['localhost', '127.0.0.1', '[::1]'];
const make = (tag, name = '', text = '') => Object.assign(document.createElement(tag), { className: name, textContent: text });

const servers = new Map(); // by ID
let settings = {};
let base = '';
let sort = 'rtt';
let wrong = '';
let begun = false;

// siteOf is where a place answers over HTTP, or nothing. A page is at the root of where its WebSocket is.
function siteOf(place) {
  const given = place.addresses?.ws?.replace(/^ws/, 'http') ?? place.door ?? '';
  try {
    return new URL(given).origin;
  } catch {
    return '';
  }
}

// A secure page may not ask what is not.
const blocked = site => location.protocol === 'https:' && site.startsWith('http:');

const measure = new Measure(() => draw());

// take puts an entry of the directory among the servers.
function take(entry) {
  const places = (entry.places ?? []).map(p => ({ ...p, site: siteOf(p) }));
  for (const p of places) if (p.site && !blocked(p.site)) measure.add(p.site);
  servers.set(entry.id, { ...entry, places });
}

// tripOf is what is known of the way to a place, or nothing.
const tripOf = place => place.site ? measure.of(place.site) : null;

// nearest is the place with the shortest way, with its way.
function nearest(server) {
  const known = server.places.map(p => ({ place: p, trip: tripOf(p) })).filter(x => x.trip?.rtt !== undefined);
  known.sort((a, b) => a.trip.rtt - b.trip.rtt);
  return known[0] ?? { place: server.places[0], trip: server.places.length ? tripOf(server.places[0]) : null };
}

// hindrance is why somebody cannot play there from here, or nothing.
function hindrance(server) {
  const open = server.places.filter(p => p.page && p.site);
  if (!open.length) return server.mode === 'mirror' || !server.places.some(p => p.addresses?.ws) ? 'not for browsers' : 'has no page';
  if (server.capacity > 0 && server.players >= server.capacity) return 'full';
  if (!server.tokens && !open.some(p => p.door)) return 'by invitation';
  return '';
}

// play goes to the page of the nearest place: with a token of the directory where the server lets in nobody else.
async function play(server) {
  const pages = server.places.filter(p => p.page && p.site);
  const near = nearest(server).place;
  const place = pages.includes(near) ? near : pages[0];
  let token = '';
  if (!place.door && server.tokens) {
    const answer = await fetch(`${base}/directory/v1/entries/${server.id}/token`, { method: 'POST' });
    const a = await answer.json();
    if (!answer.ok) throw new Error(a.error);
    token = `#token=${encodeURIComponent(a.token)}`;
  }
  location.href = `${place.site}/${token}`;
}

const says = e => { $('foot').replaceChildren(make('span', 'wrong', e.message || String(e))); };
const go = server => play(server).catch(says);

// listed are those that the filters leave, in order.
function listed() {
  const text = $('search').value.trim().toLowerCase();
  const region = $('region').value;
  const fits = s => s.name.toLowerCase().includes(text)
    && (!region || s.region === region || s.places.some(p => p.region === region))
    && (!$('room').checked || s.players < s.capacity);
  const trip = s => nearest(s).trip?.rtt ?? Infinity;
  const by = {
    rtt: (a, b) => trip(a) - trip(b) || 0,
    name: (a, b) => a.name.localeCompare(b.name),
    region: (a, b) => (a.region ?? '').localeCompare(b.region ?? ''),
    players: (a, b) => b.players - a.players,
  };
  return [...servers.values()].filter(fits).sort((a, b) => by[sort](a, b) || by.rtt(a, b) || a.id.localeCompare(b.id));
}

const shown = n => `${n < 10 ? n.toFixed(1) : Math.round(n)} ms`;
const grade = rtt => rtt < 60 ? 'good' : rtt < 130 ? 'fair' : 'far';

function tripCell(server) {
  const cell = make('td', 'trip');
  const { place, trip } = nearest(server);
  if (trip?.rtt !== undefined) {
    const loss = trip.loss >= 0.005 ? `, ${Math.round(trip.loss * 100)} % lost` : '';
    cell.append(make('b', grade(trip.rtt), shown(trip.rtt)), make('span', 'about', `± ${shown(trip.jitter)}${loss}`));
  } else if (!place?.site) cell.append(make('span', 'about', 'not measured'));
  else if (blocked(place.site)) cell.append(make('span', 'about', 'not from a secure page'));
  else cell.append(make('span', 'about', trip?.silent ? 'no answer' : 'measuring'));
  return cell;
}

function nameCell(server) {
  const cell = make('td');
  const about = make('div', 'about', server.level ? `${server.level} ` : '');
  for (const t of server.tags ?? []) about.append(make('b', '', t));
  cell.append(make('div', 'name', server.name), about);
  if (server.places.length > 1) {
    const list = make('ul', 'places');
    for (const p of server.places) {
      const t = tripOf(p);
      list.append(make('li', '', `${p.name || p.region || 'mirror'}${t?.rtt !== undefined ? ` ${shown(t.rtt)}` : ''}`));
    }
    cell.append(list);
  }
  return cell;
}

function regionCell(server) {
  const cell = make('td', 'region');
  cell.append(make('span', '', server.region ?? ''));
  return cell;
}

function seatsCell(server) {
  const cell = make('td');
  const seats = make('div', server.players >= server.capacity ? 'seats full' : 'seats', `${server.players}/${server.capacity}`);
  const bar = make('i');
  bar.style.setProperty('--full', Math.min(1, server.players / Math.max(1, server.capacity)));
  seats.prepend(bar);
  cell.append(seats);
  return cell;
}

function row(server, best) {
  const why = hindrance(server);
  const line = make('tr', why ? 'off' : server === best ? 'best' : '');
  line.dataset.id = server.id;
  const last = make('td');
  if (why) last.append(make('span', 'why', why));
  else {
    const own = server.places.some(p => p.site === location.origin);
    const button = make('button', '', own ? 'Join here' : 'Join');
    button.onclick = () => go(server);
    last.append(button);
  }
  line.append(nameCell(server), regionCell(server), seatsCell(server), tripCell(server), last);
  return line;
}

// best is the nearest that can be played on.
function best() {
  const able = [...servers.values()].filter(s => !hindrance(s) && nearest(s).trip?.rtt !== undefined);
  return able.sort((a, b) => nearest(a).trip.rtt - nearest(b).trip.rtt)[0];
}

let drawing = 0;
function draw() { drawing ||= requestAnimationFrame(redraw); }

// pressed is set while a button is: a row that was made anew in between would take the click away.
let pressed = false;
addEventListener('pointerdown', () => { pressed = true; }, true);
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => { pressed = false; setTimeout(draw); }, true);

function redraw() {
  drawing = 0;
  if (pressed) return;
  const first = best();
  const list = listed();
  const focused = document.activeElement?.closest?.('tr')?.dataset.id;
  $('list').replaceChildren(...list.map(s => row(s, first)));
  if (focused) document.querySelector(`tr[data-id="${CSS.escape(focused)}"] button`)?.focus();
  const button = $('nearest');
  button.disabled = !first;
  button.textContent = first ? `Play on the nearest: ${first.name}` : 'Play on the nearest';
  for (const b of document.querySelectorAll('[data-sort]')) b.classList.toggle('on', b.dataset.sort === sort);
  regions();
  const empty = $('empty');
  empty.hidden = list.length > 0 && !wrong;
  empty.classList.toggle('wrong', !!wrong);
  empty.textContent = wrong || (!begun ? 'asking the directory' : servers.size ? 'No server is as the filters say.' : `Nobody serves ${settings.game} just now.`);
}

// regions fills the choice of regions with those that there are.
function regions() {
  const there = [...new Set([...servers.values()].flatMap(s => [s.region, ...s.places.map(p => p.region)]).filter(Boolean))].sort();
  const select = $('region');
  if (there.join() === select.dataset.there) return;
  select.dataset.there = there.join();
  const chosen = select.value;
  select.replaceChildren(new Option('all regions', ''), ...there.map(r => new Option(r, r)));
  select.value = there.includes(chosen) ? chosen : '';
}

// watch listens to what the directory lists, for as long as the page is open.
function watch() {
  const events = new EventSource(`${base}/directory/v1/events?game=${encodeURIComponent(settings.game)}`);
  const heard = (kind, f) => events.addEventListener(kind, e => { wrong = ''; begun = true; f(JSON.parse(e.data)); draw(); });
  heard('begin', d => { servers.clear(); d.forEach(take); });
  heard('change', d => {
    for (const e of d.changed ?? []) take(e);
    for (const id of d.gone ?? []) servers.delete(id);
  });
  events.addEventListener('resync', () => { events.close(); setTimeout(watch, 1000 + Math.random() * 2000); });
  events.onerror = () => {
    wrong = blocked(base) ? 'This page is secure, and the directory is not: its operator gives it a certificate.' : `The directory at ${new URL(base).host} does not answer. It is asked again.`;
    if (events.readyState === EventSource.CLOSED) setTimeout(watch, 3000 + Math.random() * 2000);
    draw();
  };
}

async function start() {
  settings = await (await fetch('/servers.json')).json();
  const at = new URL(settings.directory);
  if (here.includes(at.hostname) && !here.includes(location.hostname) && location.hostname) at.hostname = location.hostname;
  base = at.href.replace(/\/$/, '');
  const back = Object.assign(make('a', '', 'back to the game of this page'), { href: '/' });
  $('foot').append(back);
  watch();
}

$('filters').addEventListener('submit', e => e.preventDefault());
for (const id of ['search', 'region', 'room']) $(id).addEventListener('input', draw);
for (const b of document.querySelectorAll('[data-sort]')) b.addEventListener('click', () => { sort = b.dataset.sort; draw(); });
$('nearest').addEventListener('click', () => { const s = best(); if (s) go(s); });
window.coevalServers = { servers, nearest, best, listed }; // for tests
start().catch(e => { wrong = e.message; draw(); });
