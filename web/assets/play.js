// The game in its frame: fetches the program with a bar, starts it, and lends it what only a page can do. The program finds its settings in
// window.coevalConfig, asks coevalJoin for a way in, and offers window.coeval to the panel and to tests.

import { fetchedProgram, leaving, reload, renew, takeSeat } from './reload.js';
import { Screen } from './screen.js';

const $ = id => document.getElementById(id);
const bar = $('part');
const step = $('step');
const loading = $('loading');
const query = new URLSearchParams(location.search);
const remembered = key => { try { return localStorage.getItem(key) || ''; } catch { return ''; } };

window.coevalConfig = {
  name: query.get('name') ?? remembered('coeval.name'),
  style: query.get('style') ?? '',
  mute: query.has('mute'),
  frugal: query.has('frugal'),
  practice: query.has('practice'),
  map: query.get('map') ?? '',
  fine: query.has('fine'),
  autopilot: query.has('autopilot'),
};

// coevalJoin asks the server for a token and says by which addresses it is reached. Where there are several mirrors the page says in which region it is, and who it was.
// A server that lets in only those whom a backend sends gets the token of the link, which stands behind its # so that no proxy writes it down.
let seat = takeSeat();
let joined = false;
const brought = new URLSearchParams(location.hash.slice(1)).get('token');
window.coevalReload = () => reload(seat);
window.coevalJoin = async () => {
  let answer;
  const who = new URLSearchParams();
  if (query.has('invite')) who.set('invite', query.get('invite'));
  if (query.has('home')) who.set('home', query.get('home'));
  if (seat || query.has('home')) who.set('seat', seat);
  try {
    answer = await fetch(`/token?${who}`, { method: 'POST', headers: brought ? { Authorization: `Bearer ${brought}` } : {} });
  } catch {
    throw new Error('the server does not answer');
  }
  if (!answer.ok) throw new Error((await answer.text()).trim() || 'the server lets no one in');
  const a = await answer.json();
  if (seat || joined) await renew(seat); // a server that is started anew may have another program
  joined = true;
  seat = a.seat ?? '';
  const socket = path => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`;
  const unhex = text => Uint8Array.from(text.match(/../g) ?? [], x => parseInt(x, 16));
  return {
    game: a.game ?? '',
    strategy: a.strategy ?? '',
    take: a.take ?? '',
    style: a.style ?? '',
    commands: a.commands ?? 0,
    knobs: a.knobs ?? '',
    token: a.token,
    transport: a.webtransport && !query.has('notransport') ? `https://${location.hostname}:${a.webtransport}/coeval` : '',
    hashes: (a.certificates ?? []).map(unhex),
    socket: a.websocket ? socket(a.websocket) : '',
    peer: a.peer ?? '',
    ways: a.ways ? Object.fromEntries(Object.entries(a.ways).map(([at, path]) => [at, socket(path)])) : null,
  };
};

$('warnings').addEventListener('click', () => { $('warnings').replaceChildren(); $('warnings').hidden = true; });

// coevalReady is called by the program when there is something to see.
window.coevalReady = () => {
  loading.hidden = true;
  if (query.has('blind')) setTimeout(() => window.coeval?.set('blind', '')); // not from within a frame
};

// What the page itself does, by a key that the game has no use for or by a button. Some of it a browser allows only in the very moment of a press.
const deeds = {
  full() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen?.().catch(() => {}); // not everywhere
  },
  servers() { open('/servers', '_top'); },
  mute() { window.coevalMute(!window.coevalScreen.mute); },
  upload() { window.coevalUpload(); },
  say() {
    $('chat').hidden = false;
    $('line').focus();
  },
  board() { window.coeval?.set('board', ''); },
  help() { window.coeval?.set('help', ''); },
};
const keys = { KeyF: 'full', KeyM: 'mute', Enter: 'say' };
let furnished = false;
let opening = false; // the key that opened the chat is still down: it does not send the line, too

// coevalMute turns sound off and on, for the page of mirrors as well.
const muted = on => document.querySelector('[data-do=mute]').classList.toggle('off', on);
window.coevalMute = on => {
  window.coevalScreen?.setMute(on);
  window.coeval?.set('mute', on ? 'on' : 'off');
  muted(on);
};

function pressed(code) {
  const deed = keys[code];
  if (!deed || deed === 'say' && !furnished) return false;
  opening = deed === 'say';
  deeds[deed]();
  return true;
}

// coevalFurnish is called by a program that leaves chat, scores and help to the page.
window.coevalFurnish = without => {
  furnished = true;
  document.body.classList.add('furnished');
  $('tools').hidden = false;
  for (const name of without.split(' ')) document.querySelector(`[data-do="${name}"]`)?.remove();
  muted(window.coevalConfig.mute);
};
$('tools').addEventListener('pointerdown', e => {
  e.preventDefault(); // keys stay with the game
  if (e.pointerType === 'touch') $('tools').classList.add('touched');
});
$('tools').addEventListener('click', e => deeds[e.target.dataset?.do]?.());
const unsay = () => { $('chat').hidden = true; $('line').value = ''; $('line').blur(); };
$('chat').addEventListener('submit', e => {
  e.preventDefault();
  if (opening) return;
  const line = $('line').value.trim();
  if (line) window.coeval?.set('say', line);
  unsay();
});
$('line').addEventListener('keydown', e => { if (e.key === 'Escape') unsay(); });
$('line').addEventListener('blur', unsay);
addEventListener('keyup', e => { if (e.code === 'Enter') opening = false; });

// coevalWarn shows something that the player or the author of a game should know: once, or whenever it is so.
const warned = new Set();
window.coevalWarn = (text, always = false) => {
  if (!always && (warned.has(text) || warned.size > 20)) return;
  if (!always) warned.add(text);
  const box = $('warnings');
  const line = document.createElement('p');
  line.textContent = text;
  box.append(line);
  box.hidden = false;
  setTimeout(() => { line.remove(); box.hidden = !box.children.length; }, 20000);
};

// built fetches the program, and waits for as long as the server is still building it.
async function built() {
  for (;;) {
    const answer = await fetch('client.wasm');
    if (answer.ok) return answer;
    const text = await answer.text();
    if (answer.status !== 503) throw new Error(text);
    step.textContent = text;
    await new Promise(later => setTimeout(later, 1000));
  }
}

// starter has the script that starts programs: the page asked for it before it was there.
const starter = () => new Promise((done, fail) => {
  if (window.Go) return done();
  const script = document.createElement('script');
  script.src = 'wasm_exec.js';
  script.onload = () => done();
  script.onerror = () => fail(new Error('the server does not answer; reload the page'));
  document.head.append(script);
});

async function start() {
  const answer = await built();
  await starter();
  fetchedProgram(answer);
  const size = Number(answer.headers.get('X-Size')) || 1;
  let got = 0;
  const count = new TransformStream({ transform(chunk, out) { got += chunk.byteLength; bar.style.width = `${Math.min(100, got / size * 100)}%`; out.enqueue(chunk); } });
  const counted = new Response(answer.body.pipeThrough(count), { headers: { 'Content-Type': 'application/wasm' } });
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(counted, go.importObject);
  step.textContent = 'starting';
  const screen = new Screen(instance.exports.mem, window.coevalConfig, pressed);
  window.coevalScreen = screen;
  await go.run(instance);
  throw new Error('the game has ended; reload the page to play again');
}

start().catch(e => { loading.hidden = false; step.textContent = e.message || String(e); bar.style.width = '0'; });
addEventListener('pagehide', e => { if (!e.persisted && leaving()) window.coeval?.set('leave', ''); });
addEventListener('contextmenu', e => { if (!e.target.closest?.('input')) e.preventDefault(); });
