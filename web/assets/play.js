// The game in its frame: fetches the program with a bar, starts it, and lends it what only a page can do. The program finds its settings in
// window.coevalConfig, asks coevalJoin for a way in, and offers window.coeval to the panel and to tests.

import { Screen } from '/assets/screen.js';

const bar = document.getElementById('part');
const step = document.getElementById('step');
const loading = document.getElementById('loading');
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
let seat = '';
window.coevalJoin = async () => {
  let answer;
  const who = new URLSearchParams();
  if (query.has('invite')) who.set('invite', query.get('invite'));
  if (query.has('home')) { who.set('home', query.get('home')); who.set('seat', seat); }
  try {
    answer = await fetch(`/token?${who}`, { method: 'POST' });
  } catch {
    throw new Error('the server does not answer');
  }
  if (!answer.ok) throw new Error((await answer.text()).trim() || 'the server lets no one in');
  const a = await answer.json();
  seat = a.seat ?? '';
  const socket = path => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`;
  const unhex = text => Uint8Array.from(text.match(/../g) ?? [], x => parseInt(x, 16));
  return {
    game: a.game ?? '',
    strategy: a.strategy ?? '',
    token: a.token,
    transport: a.webtransport && !query.has('notransport') ? `https://${location.hostname}:${a.webtransport}/coeval` : '',
    hashes: (a.certificates ?? []).map(unhex),
    socket: a.websocket ? socket(a.websocket) : '',
    peer: a.peer ?? '',
    ways: a.ways ? Object.fromEntries(Object.entries(a.ways).map(([at, path]) => [at, socket(path)])) : null,
  };
};

// coevalReady is called by the program when there is something to see.
window.coevalReady = () => { loading.hidden = true; };

// pressed is what the page itself does with a key that the game has no use for.
function pressed(code) {
  switch (code) {
    case 'KeyF':
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen?.().catch(() => {}); // not everywhere
      return true;
    case 'KeyM':
      window.coevalScreen.setMute(!window.coevalScreen.mute);
      return true;
  }
  return false;
}

// coevalWarn shows something that the author of a game should know, once.
const warned = new Set();
window.coevalWarn = text => {
  if (warned.has(text) || warned.size > 20) return;
  warned.add(text);
  const box = document.getElementById('warnings');
  const line = document.createElement('p');
  line.textContent = text;
  box.append(line);
  box.hidden = false;
};

async function start() {
  const answer = await fetch('/client.wasm');
  if (!answer.ok) throw new Error(await answer.text());
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
addEventListener('pagehide', e => { if (!e.persisted) window.coeval?.set('leave', ''); });
addEventListener('contextmenu', e => e.preventDefault());
