// Runs a program that is built for the browser in Node.js, with as much of a page as it needs, until it has played for a while with a key held down. Prints what
// it tells of itself, as JSON.
//
//   node --experimental-websocket page.js wasm_exec.js program.wasm http://127.0.0.1:4000

const fs = require('fs');
const [, , starter, program, base] = process.argv;
require(require('path').resolve(starter));

let said = '', held = 0, memory, view, words, drawn = new Set(), texts = [];
const down = new Set();
globalThis.coevalConfig = { name: 'node', style: '' };
globalThis.document = { getElementById: () => ({ set textContent(text) { said = text; } }) };
globalThis.coevalFurnish = () => {};
globalThis.coevalWarn = text => { said = text; };

// A screen with the words that web/assets/screen.js shares with the program.
globalThis.coevalScreen = {
  open(at, frame, file, key) {
    setInterval(() => {
      const keys = [...down].map(key); // which may need more memory
      words = new DataView(memory.buffer, at, 256);
      words.setFloat32(4 * 16, 640, true);
      words.setFloat32(4 * 17, 360, true);
      for (let i = 0; i < 4; i++) words.setUint32(4 * (32 + i), 0, true);
      for (const k of keys) {
        const word = 4 * (32 + (k >> 5));
        words.setUint32(word, words.getUint32(word, true) | 1 << (k & 31), true);
      }
      frame();
      words = new DataView(memory.buffer, at, 256);
      replay(words.getUint32(0, true), words.getUint32(4, true));
    }, 16);
  },
};

// replay notes which calls there are, and what is written.
const sizes = [0, 5, 18, 9, 21, 25, 17, 21, 17, 25, 7, 27, 20, 11, 22, 2, 3, 1];
function replay(at, n) {
  view = new DataView(memory.buffer, at, n);
  texts = [];
  for (let i = 0; i < n;) {
    const op = view.getUint8(i);
    drawn.add(op);
    const more = op === 10 ? 8 * view.getUint16(i + 5, true) : op === 16 ? 8 * view.getUint16(i + 1, true) : op === 12 ? view.getUint16(i + 18, true) : 0;
    if (op === 12) texts.push(new TextDecoder().decode(new Uint8Array(memory.buffer, at + i + 20, more)));
    i += sizes[op] + more;
  }
}

globalThis.coevalReady = () => {};
globalThis.coevalJoin = async () => {
  const answer = await fetch(`${base}/token`, { method: 'POST' });
  if (!answer.ok) throw new Error(await answer.text());
  const a = await answer.json();
  return { game: a.game, strategy: a.strategy ?? '', token: a.token, transport: '', hashes: [], socket: base.replace('http', 'ws') + a.websocket, peer: '', ways: null };
};

setInterval(() => {
  const s = globalThis.coeval?.stats();
  if (!s?.playing) return;
  if (held++ === 0) {
    down.add('KeyW');
    down.add('Space');
    globalThis.coeval.set('style', 'quake3');
  }
  if (held < 40) return;
  console.log(JSON.stringify({ ...s, drawn: [...drawn], texts, said }));
  globalThis.coeval.set('leave', '');
  setTimeout(() => process.exit(0), 200);
  held = -1e9;
}, 50);

const go = new Go();
WebAssembly.instantiate(fs.readFileSync(program), go.importObject).then(r => { memory = r.instance.exports.mem; return go.run(r.instance); }).catch(e => { console.error(e); process.exit(1); });
