// A page that is loaded anew because its program is another now, as by demo --watch, keeps its seat: it leaves a note for itself, in this tab alone, and takes it away when
// it begins. A tab that somebody duplicates finds none.

const key = `coeval.seat ${location.pathname}${location.search}`;

// takeSeat is the seat that this page had before it was loaded anew, or nothing.
export function takeSeat() {
  try {
    const seat = sessionStorage.getItem(key) ?? '';
    sessionStorage.removeItem(key);
    return seat;
  } catch {
    return ''; // private windows forget
  }
}

let reloading = false;

// reload loads the page anew, with the same seat.
export function reload(seat) {
  try { sessionStorage.setItem(key, seat); } catch { /* it will be someone new */ }
  reloading = true;
  location.reload();
}

// leaving says whether the player goes for good.
export const leaving = () => !reloading;

// A program that was fetched has a tag. Where the server has another one now, the page is loaded anew.
let fetched = '';
export function fetchedProgram(answer) { fetched = answer.headers.get('ETag') ?? ''; }
export async function renew(seat) {
  if (!fetched) return;
  const answer = await fetch('client.wasm', { method: 'HEAD' });
  const tag = answer.ok ? answer.headers.get('ETag') : '';
  if (tag && tag !== fetched) reload(seat);
}

// showMistake shows what the compiler said over the game that still runs, until it is mended.
export function showMistake(box, text) {
  box.hidden = !text;
  if (!text) return;
  box.querySelector('pre').replaceChildren(...text.split('\n').flatMap(line => {
    const at = /^(.*?\.go:\d+(?::\d+)?)(:.*)$/.exec(line);
    if (!at) return [`${line}\n`];
    const where = document.createElement('b');
    where.textContent = at[1];
    return [where, `${at[2]}\n`];
  }));
}
