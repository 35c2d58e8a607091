// Parts of the page of a running game: lines of tables, and what operators do.

const $ = id => document.getElementById(id);

// row makes a line of a table, which can be picked if it is told what then.
export function row(cells, pick) {
  const tr = document.createElement('tr');
  for (const c of cells) {
    const td = document.createElement('td');
    if (typeof c === 'number') td.className = 'n';
    td.textContent = typeof c === 'number' ? Math.round(c * 100) / 100 : c ?? '';
    tr.append(td);
  }
  if (pick) {
    tr.className = 'pick';
    tr.tabIndex = 0;
    tr.onclick = pick;
    tr.onkeydown = e => { if (e.key === 'Enter') pick(); };
  }
  return tr;
}

// act has the console and the buttons of players act on the game, by the API for operators.
export function act(page) {
  $('token').value = page.secret;
  $('token').onchange = () => {
    page.secret = $('token').value.trim();
    sessionStorage.setItem('token', page.secret);
  };
  const say = text => { $('answer').textContent = text; };
  const ask = async (what, body) => {
    const r = await fetch(`/admin/v1/${what}`, { method: body ? 'POST' : 'GET', headers: page.head(), body: body && JSON.stringify(body) });
    const text = await r.text();
    let answer;
    try { answer = JSON.parse(text); } catch { answer = { error: text.trim() }; }
    if (!r.ok) throw new Error(answer.error);
    return answer;
  };
  const attempt = async (what, body, done = a => say(`${what}: ${JSON.stringify(a, null, 1)}`)) => {
    say('…');
    try { done(await ask(what, body)); } catch (e) { say(`${what} was not done: ${e.message}`); }
  };
  for (const b of document.querySelectorAll('[data-post]')) b.onclick = () => attempt(b.dataset.post, {});
  for (const b of document.querySelectorAll('[data-act]')) {
    b.onclick = () => {
      attempt(b.dataset.act, { [b.dataset.act === 'unmute' ? 'which' : 'who']: `client:${page.person.client}` });
      page.show('console');
    };
  }
  $('begin').onclick = () => attempt('level', { name: $('level').value, ...$('seed').value && { seed: $('seed').value } });
  $('say').onclick = () => attempt('message', { text: $('message').value });
  $('ask-knobs').onclick = () => attempt('knobs', null, a => {
    say('');
    $('knobs').replaceChildren(...(a.knobs ?? []).map(k => {
      const tr = row([k.name, k.type]), td = document.createElement('td'), input = Object.assign(document.createElement('input'), { value: k.value });
      input.setAttribute('aria-label', k.name);
      input.onchange = () => attempt('knobs', { set: [{ name: k.name, value: input.value }] });
      td.append(input);
      tr.append(td);
      return tr;
    }));
    if (!a.knobs?.length) say('this game has no knobs');
  });
  $('tab-console').addEventListener('click', async () => {
    try { $('level-list').replaceChildren(...(await ask('levels')).levels.map(l => new Option(l))); } catch { /* without a token there is no list */ }
  });
}
