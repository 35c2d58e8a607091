// Matches at a relay: what somebody chooses to play, by the link or the form, how the relay is reached, and how others are invited. The program, which play.js starts,
// finds window.coevalMatch and asks it. Where a page is served with a match.json, that says which game and relay; a link may say it too, behind its #:
//
//   #new                                     a match of one's own, at once
//   #code=K7QF-3M9P-7XK2-QW9D                joins one; &watch watches, &behind=5 by so many seconds later
//   #relay=relay.example.net:4300&game=pong  on pages without a match.json, besides

const $ = id => document.getElementById(id);
const said = new URLSearchParams(location.hash.slice(1));
const query = new URLSearchParams(location.search);
const memory = {
  get(where, key) { try { return where.getItem(key) || ''; } catch { return ''; } },
  set(where, key, value) { try { where.setItem(key, value); } catch { /* private windows forget */ } },
};
const settings = fetch('match.json').then(a => a.ok ? a.json() : {}).catch(() => ({})); // static pages may have none

// What this tab keeps of its match, so that it returns to the same body when it is loaded anew. A tab that somebody duplicates has it too, but the first
// one is still open then.
const note = `coeval.match ${location.pathname}`;
const noted = (() => { try { return JSON.parse(memory.get(sessionStorage, note)) ?? {}; } catch { return {}; } })();
const again = performance.getEntriesByType('navigation')[0]?.type === 'reload';
let keeps = { code: '', kept: '', open: true };
const keep = () => memory.set(sessionStorage, note, JSON.stringify(keeps));
addEventListener('pagehide', () => { keeps.open = false; if (keeps.code) keep(); });
addEventListener('pageshow', e => { if (e.persisted) { keeps.open = true; keep(); } });

const plain = code => code.toUpperCase().replace(/[^0-9A-Z]/g, '');
const here = ['localhost', '127.0.0.1', '[::1]'];

// relayAt is where the relay answers. One on the machine of the page's server is reached by that machine's name.
async function relayAt() {
  const given = said.get('relay') || (await settings).relay;
  if (!given) throw new Error('this page does not know of a relay: open it by the link that you were sent');
  let at;
  try {
    at = new URL(given.includes('://') ? given : `${location.protocol === 'https:' ? 'https' : 'http'}://${given}`);
  } catch {
    throw new Error(`"${given}" is not the address of a relay, such as relay.example.net:4300`);
  }
  if (here.includes(at.hostname) && !here.includes(location.hostname) && location.hostname) at.hostname = location.hostname;
  return at;
}

// coevalJoin asks the relay for a token, and says how it is reached.
window.coevalJoin = async () => {
  const at = await relayAt();
  let answer;
  try {
    answer = await fetch(new URL('/token', at), { method: 'POST' });
  } catch {
    throw new Error(`the relay at ${at.host} does not answer, or takes nobody from pages of this site`);
  }
  if (!answer.ok) throw new Error(`the relay at ${at.host} says: ${(await answer.text()).trim()}`);
  const a = await answer.json();
  if (!a.websocket && !a.webtransport) throw new Error(`the relay at ${at.host} takes no browsers: its operator starts it with --websocket or --webtransport`);
  return {
    game: '', strategy: '', token: a.token, peer: '', ways: null,
    transport: a.webtransport && !query.has('notransport') ? `https://${at.hostname}:${a.webtransport}/coeval` : '',
    hashes: (a.certificates ?? []).map(text => Uint8Array.from(text.match(/../g) ?? [], x => parseInt(x, 16))),
    socket: a.websocket ? `${at.protocol === 'https:' ? 'wss' : 'ws'}://${at.host}${a.websocket}` : '',
  };
};

// choice is what to play, for the program.
async function choice({ code = '', watch = false, kept = '' }) {
  const s = await settings;
  const number = key => said.has(key) ? Number(said.get(key)) : s[key];
  return {
    ...s,
    game: said.get('game') ?? s.game ?? '',
    name: $('name').value.trim(),
    code, watch, kept,
    behind: Number(said.get('behind')) * 1000 || 0,
    style: query.get('style') ?? said.get('style') ?? s.style ?? '',
    seats: number('seats'),
    start: number('start'),
    data: s.data ? Uint8Array.from(atob(s.data), c => c.charCodeAt(0)) : null,
  };
}

// form has somebody choose.
function form(why) {
  $('loading').hidden = true;
  $('share').hidden = true;
  $('lobby').hidden = false;
  $('why').textContent = why;
  $('why').hidden = !why;
  if (!$('typed').value) $('typed').value = said.get('code') ?? '';
  (matchMedia('(pointer: fine)').matches ? $('name') : document.body).focus();
  return new Promise(done => {
    const go = what => {
      if (what.code !== undefined && !plain(what.code)) {
        $('why').textContent = 'Type the code of the match that you want to join. Somebody who plays in it sees it by pressing I.';
        $('why').hidden = false;
        return $('typed').focus();
      }
      memory.set(localStorage, 'coeval.name', $('name').value.trim());
      $('lobby').hidden = true;
      $('loading').hidden = ready;
      founds = what.code === undefined;
      watches = !!what.watch;
      done(choice({ ...what, kept: what.code && plain(what.code) === plain(keeps.code) ? keeps.kept : '' }));
    };
    const join = watch => go({ code: $('typed').value, watch });
    $('lobby').onsubmit = e => { e.preventDefault(); document.activeElement === $('typed') ? join(false) : go({}); };
    $('join').onclick = () => join(false);
    $('watch').onclick = () => join(true);
  });
}

let founds = false, watches = false, wanted = true;
let shared = false; // somebody wants to see how others are invited
let ready = false; // the program has something to show
const show = window.coevalReady;
window.coevalReady = () => { ready = true; show(); };

// begin is what to play at first: what the link says, or what somebody chooses while the program is loaded.
function begin() {
  const code = said.get('code');
  if (code) {
    watches = said.has('watch');
    const mine = plain(noted.code ?? '') === plain(code) && (!noted.open || again);
    if (mine) keeps = { ...noted, open: true };
    return choice({ code, watch: watches, kept: mine ? noted.kept : '' });
  }
  if (!said.has('new')) return form('');
  founds = true;
  return choice({});
}

$('name').value = query.get('name') ?? said.get('name') ?? memory.get(localStorage, 'coeval.name');
let early = begin();
window.coevalMatch = {
  // choose gives what to play. Why is what was wrong before.
  choose(why) {
    const chosen = early ?? form(why);
    early = null;
    return chosen;
  },

  // told is given the code of the match, and what to keep. The page's own address is then that of the match.
  async told(code, kept) {
    keeps = { code, kept, open: true };
    if (kept) keep();
    for (const key of ['new', 'code', 'watch']) said.delete(key);
    said.set('code', code);
    if (watches) said.set('watch', '');
    history.replaceState(null, '', `#${written()}`);
    const s = await settings;
    const local = here.includes(location.hostname);
    const base = local && s.links?.length ? s.links[0] : location.origin + location.pathname;
    $('only-here').hidden = !local || !!s.links?.length;
    said.delete('watch');
    $('code').textContent = code;
    $('link').value = `${base}#${written()}`;
    $('by-terminal').hidden = !s.command;
    $('command').value = (s.command ?? '').replace('CODE', code);
    if (watches) said.set('watch', '');
    if (founds && wanted) { wanted = false; $('share').hidden = false; }
  },
  begun() { if (!shared) $('share').hidden = true; },
  share() { shared = $('share').hidden; $('share').hidden = !shared; },
};
const written = () => said.toString().replace(/=(?=&|$)/g, '');

$('unshare').addEventListener('click', () => { shared = false; $('share').hidden = true; });
$('leave').addEventListener('click', () => { keeps = { code: '', kept: '', open: true }; keep(); window.coeval?.set('quit', ''); });
for (const b of document.querySelectorAll('[data-copy]')) {
  b.addEventListener('click', async () => {
    const from = $(b.dataset.copy);
    from.select();
    try {
      await navigator.clipboard.writeText(from.value);
    } catch {
      document.execCommand('copy'); // pages without HTTPS have no clipboard
    }
    b.textContent = 'copied';
    setTimeout(() => { b.textContent = 'copy'; }, 1500);
  });
}
$('tools').addEventListener('click', e => { if (/^(invite|style|graph)$/.test(e.target.dataset?.do)) window.coeval?.set(e.target.dataset.do, ''); });
setInterval(() => { if (!$('share').hidden) $('waits').textContent = window.coeval?.stats().status ?? ''; }, 300);
addEventListener('hashchange', () => location.reload()); // another match
