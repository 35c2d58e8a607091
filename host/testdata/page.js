// Runs a program that is built for the browser in Node.js, with as much of a page as it needs, until it has played for a while with a key held down. Prints what
// it tells of itself, as JSON.
//
//   node --experimental-websocket page.js wasm_exec.js program.wasm http://127.0.0.1:4000

const fs = require('fs');
const [, , starter, program, base] = process.argv;
require(require('path').resolve(starter));

const listeners = {};
let shown = '', said = '', held = 0;
globalThis.coevalConfig = { name: 'node', style: '' };
globalThis.document = { getElementById: () => ({ set textContent(text) { said = text; } }) };
globalThis.addEventListener = (name, f) => (listeners[name] ??= []).push(f);
globalThis.requestAnimationFrame = f => setTimeout(() => f(performance.now()), 16);
globalThis.coevalReady = () => {};
globalThis.coevalDraw = text => { shown = text; return 80 * 65536 + 24; };
globalThis.coevalJoin = async () => {
  const answer = await fetch(`${base}/token`, { method: 'POST' });
  if (!answer.ok) throw new Error(await answer.text());
  const a = await answer.json();
  return { game: a.game, strategy: a.strategy ?? '', token: a.token, transport: '', hashes: [], socket: base.replace('http', 'ws') + a.websocket, peer: '', ways: null };
};

const key = (name, code) => listeners[name]?.forEach(f => f({ code, preventDefault() {} }));

setInterval(() => {
  const s = globalThis.coeval?.stats();
  if (!s?.playing) return;
  if (held++ === 0) {
    key('keydown', 'KeyW');
    key('keydown', 'Space');
    globalThis.coeval.set('style', 'quake3');
  }
  if (held < 40) return;
  console.log(JSON.stringify({ ...s, shown, said }));
  globalThis.coeval.set('leave', '');
  setTimeout(() => process.exit(0), 200);
  held = -1e9;
}, 50);

const go = new Go();
WebAssembly.instantiate(fs.readFileSync(program), go.importObject).then(r => go.run(r.instance)).catch(e => { console.error(e); process.exit(1); });
