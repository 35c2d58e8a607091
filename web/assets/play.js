// The game in its frame: fetches the program with a bar, starts it, and lends it what only a page can do. The program finds its settings in
// window.coevalConfig, asks coevalJoin for a way in, and offers window.coeval to the panel and to tests.

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
  const who = query.has('home') ? `?home=${encodeURIComponent(query.get('home'))}&seat=${seat}` : '';
  try {
    answer = await fetch('/token' + who, { method: 'POST' });
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

// coevalDraw shows a picture of characters, a line each, as large as fits: for games without a renderer of their own. It says how many columns and rows there
// is room for.
let screen;
window.coevalDraw = (text, columns, rows) => {
  if (!screen) {
    screen = document.createElement('canvas');
    screen.id = 'screen';
    document.body.prepend(screen);
  }
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(innerWidth * ratio)), Math.max(1, Math.round(innerHeight * ratio))];
  if (screen.width !== w || screen.height !== h) [screen.width, screen.height] = [w, h];
  const c = screen.getContext('2d');
  const cell = Math.min(w / Math.max(1, columns), h / Math.max(1, rows) / 2);
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.fillStyle = '#05070b';
  c.fillRect(0, 0, w, h);
  c.fillStyle = '#cfe3ff';
  c.font = `${1.7 * cell}px ui-monospace, monospace`;
  c.textBaseline = 'top';
  const wide = cell / (c.measureText('M').width || 1); // fonts differ; every character has its cell
  const left = Math.max(0, (w - cell * columns) / 2);
  text.split('\n').forEach((line, i) => {
    c.setTransform(wide, 0, 0, 1, left, i * 2 * cell);
    c.fillText(line, 0, 0);
  });
  return Math.min(65535, Math.floor(innerWidth / 9)) * 65536 + Math.min(65535, Math.floor(innerHeight / 18));
};

// coevalReady is called by the program when there is something to see.
window.coevalReady = () => { loading.hidden = true; };

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
  await go.run(instance);
  throw new Error('the game has ended; reload the page to play again');
}

start().catch(e => { loading.hidden = false; step.textContent = e.message || String(e); bar.style.width = '0'; });
addEventListener('pagehide', e => { if (!e.persisted) window.coeval?.set('leave', ''); });
addEventListener('contextmenu', e => e.preventDefault());
