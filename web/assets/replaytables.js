// The tables beside a recording: entities and their fields, players, events, incidents, differences, what if, and clips.

import { ask } from './replay.js';

const $ = id => document.getElementById(id);
const tabs = ['entities', 'players', 'events', 'marks', 'differences', 'whatif', 'clip'];
const rows = (body, list) => body.replaceChildren(...list);

// row makes a line of a table; a cell that begins with a # is a number.
export function row(cells, pick) {
  const tr = document.createElement('tr');
  for (const c of cells) {
    const td = document.createElement('td');
    if (typeof c === 'number') td.className = 'n';
    td.textContent = c ?? '';
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

export class Tables {
  constructor(replay) {
    this.replay = replay;
    this.open = 'entities';
    this.clip = { from: 0, to: 0 };
    this.chosen = null;
    this.field = null;
    this.asked = -1;
    this.next = 0;
    for (const t of tabs) $(`tab-${t}`).onclick = () => this.show(t);
    $('panel').querySelector('[role=tablist]').onkeydown = e => {
      const by = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[e.key];
      if (!by) return;
      this.show(tabs[(tabs.indexOf(this.open) + by) % tabs.length]);
      $(`tab-${this.open}`).focus();
    };
    this.show('entities');
    $('find').oninput = () => this.entities();
    $('kinds').onchange = () => this.marks();
    $('who-else').onchange = () => this.command(true);
    $('branch').onclick = () => this.branch();
    $('clip-from').onclick = () => this.mark('from');
    $('clip-to').onclick = () => this.mark('to');
    for (const end of ['from', 'to']) $(end).onchange = e => this.mark(end, Number(e.target.value));
    $('gif-width').onchange = () => this.links();
    $('line-of-go').onclick = () => this.line();
  }

  show(tab) {
    this.open = tab;
    for (const t of tabs) {
      $(t).hidden = t !== tab;
      $(`tab-${t}`).setAttribute('aria-selected', t === tab);
      $(`tab-${t}`).tabIndex = t === tab ? 0 : -1;
    }
    this.asked = -1;
  }

  // turn asks for what is to be seen of this tick, some times a second while the film plays.
  async turn(now) {
    const { replay } = this;
    if (this.busy || this.asked === replay.moved || now < this.next) return;
    this.busy = true;
    const moved = replay.moved, tick = replay.tick;
    try {
      this.instant = await ask(`/api/instant?film=0&at=${tick}`);
      for (const p of replay.panes) p.players(this.instant.players);
      if (replay.panes.length > 1) await this.differences(tick);
      if (this.chosen) await this.fields(tick);
      this.entities();
      this.players();
      this.events();
      this.command(false);
    } catch (e) {
      $('status').textContent = e.message;
    }
    this.asked = moved;
    this.next = now + 150;
    this.busy = false;
  }

  entities() {
    if (!this.instant || this.open !== 'entities') return;
    const words = $('find').value.toLowerCase().split(/\s+/).filter(Boolean);
    const list = this.instant.entities.filter(e => {
      const text = `${e.class} ${e.owner ? 'player ' + e.owner : ''} ${e.line}`.toLowerCase();
      return words.every(w => text.includes(w));
    });
    $('many').textContent = `${list.length + (this.instant.more ?? 0)} entities`;
    rows($('list'), list.slice(0, 300).map(e => {
      const tr = row([e.class, e.owner ? `player\u00a0${e.owner}` : '', e.line], () => {
        this.chosen = this.chosen === e.id ? null : e.id;
        this.field = null;
        this.asked = -1;
      });
      if (e.id === this.chosen) tr.classList.add('on');
      return tr;
    }));
    if (!this.chosen) $('fields').hidden = true;
  }

  // fields shows all of one entity, in every film.
  async fields(tick) {
    const films = this.replay.info.films;
    const all = await Promise.all(films.map(f => ask(`/api/entity?film=${f.number}&at=${tick}&id=${this.chosen}`)));
    const names = [...new Set(all.flat().map(f => f.name))];
    const table = document.createElement('table');
    const head = row(['field', ...films.map(f => f.note ? 'what if' : f.name), 'is']);
    table.append(head);
    for (const name of names) {
      const of = all.map(l => l.find(f => f.name === name));
      const tr = row([name, ...of.map(f => f?.value ?? 'not there'), of.find(Boolean).role], () => {
        this.field = this.field === name ? null : name;
        this.asked = -1;
      });
      if (of.some(f => f?.value !== of[0]?.value)) tr.classList.add('on');
      if (name === this.field) tr.setAttribute('aria-selected', 'true');
      table.append(tr);
    }
    const found = this.instant.entities.find(e => e.id === this.chosen);
    const h = document.createElement('h2');
    h.textContent = found ? `${found.class}${found.owner ? ' of player ' + found.owner : ''}` : 'it is not there at this tick';
    $('fields').replaceChildren(h, table);
    $('fields').hidden = false;
  }

  players() {
    const scores = new Map((this.instant.scores ?? []).map(s => [s.player, s.points]));
    rows($('who'), this.instant.players.map(p => row([`player ${p.player}${p.present ? '' : ' (gone)'}`, scores.get(p.player) ?? '', p.command])));
  }

  events() {
    $('noevents').hidden = this.instant.events.length > 0;
    rows($('happened'), this.instant.events.map(e => row([e.kind, e.about ?? '', e.line])));
  }

  films() {
    const kinds = ['all', ...new Set(this.replay.marks().map(m => m.kind))];
    const was = $('kinds').value || 'all';
    $('kinds').replaceChildren(...kinds.map(k => new Option(k, k)));
    $('kinds').value = kinds.includes(was) ? was : 'all';
    this.marks();
    this.links();
    this.asked = -1;
  }

  marks() {
    const kind = $('kinds').value;
    const list = this.replay.marks().filter(m => kind === 'all' || m.kind === kind);
    const there = Object.values(this.replay.info.films[0].counts ?? {}).reduce((a, b) => a + b, 0);
    const missing = there - this.replay.info.films[0].marks.filter(m => m.kind !== 'incident').length;
    $('missed').textContent = missing > 0 ? `${list.length}, and ${missing} more that are not listed` : `${list.length}`;
    rows($('jumps'), list.slice(0, 1000).map(m => row([m.tick, m.kind, m.text], () => {
      this.replay.play(false);
      this.replay.go(m.tick);
    })));
  }

  async differences(tick) {
    const [a, ...others] = this.replay.panes;
    let shown = null;
    for (const b of others) {
      const d = await ask(`/api/differences?a=${b.film.origin ?? 0}&b=${b.film.number}&at=${tick}`);
      const out = d.tick !== d.other;
      b.box.classList.toggle('differs', out || d.list?.length > 0);
      if (!shown || !shown.d.list?.length) shown = { d, b, out };
    }
    const { d, b, out } = shown;
    $('name-a').textContent = a.film.name;
    $('name-b').textContent = b.film.note ? 'what if' : b.film.name;
    $('verdict').textContent = out ? `One holds tick ${d.tick} and the other ${d.other}: there is nothing to compare.` : d.list.length ? `At tick ${tick} ${d.list.length + (d.more ?? 0)} fields differ.` : `At tick ${tick} all is the same.`;
    rows($('fields-differ'), (d.list ?? []).map(x => row([x.class, x.field, x.a, x.b], x.class ? () => {
      this.chosen = x.id;
      this.show('entities');
    } : null)));
  }

  // command shows what can be done otherwise. What was typed stays.
  command(anew) {
    const who = $('who-else'), was = who.value;
    const list = this.instant?.players ?? [];
    if ([...who.options].map(o => o.value).join() !== list.map(p => String(p.player)).join()) {
      who.replaceChildren(...list.map(p => new Option(`player ${p.player}`, p.player)));
      if (was) who.value = was;
    }
    const p = list.find(p => String(p.player) === who.value);
    const slots = this.slots();
    if (anew || $('command').rows.length !== slots.length) {
      rows($('command'), slots.map((s, i) => {
        const tr = row([s.name, '']);
        const td = document.createElement('td'), input = document.createElement('input');
        Object.assign(input, { type: 'number', min: s.min, max: s.max, step: 1, id: `set-${i}`, placeholder: 'as it was' });
        input.setAttribute('aria-label', `${s.name} instead, from ${s.min} to ${s.max}`);
        input.style.width = '9em';
        td.append(input);
        tr.append(td);
        return tr;
      }));
    }
    slots.forEach((s, i) => { $('command').rows[i].cells[1].textContent = p?.values?.[s.slot] ?? s.rest; });
  }

  // slots are the numbers of a command that one can set: texts are none.
  slots() {
    return this.replay.info.commands.map((s, slot) => ({ ...s, slot })).filter(s => s.kind !== 'string' && s.kind !== 'bytes');
  }

  async branch() {
    const set = {};
    this.slots().forEach((s, i) => {
      const v = $(`set-${i}`)?.value;
      if (v !== '') set[s.name] = Number(v);
    });
    $('branch-wrong').textContent = '';
    try {
      await ask('/api/branch', {
        method: 'POST', headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ film: 0, player: Number($('who-else').value), from: this.replay.tick + 1, ticks: Number($('how-long').value) || 1, set, silent: $('rest').checked }),
      });
      await this.replay.load();
      this.replay.watch();
    } catch (e) { $('branch-wrong').textContent = e.message; }
  }

  mark(end, at = this.replay.tick) {
    this.clip[end] = at;
    $(end).value = at;
    this.links();
    this.replay.draw();
  }

  links() {
    const { from, to } = this.clip, me = this.replay.panes[0]?.me ?? 0;
    $('gif').href = `/api/clip.gif?film=0&from=${from}&to=${to}&me=${me}&width=${$('gif-width').value}`;
    $('cut').href = `/api/clip.trace?film=0&from=${from}&to=${to}`;
    const empty = to <= from;
    for (const a of [$('gif'), $('cut')]) {
      a.toggleAttribute('aria-disabled', empty);
      a.onclick = e => {
        if (empty) {
          e.preventDefault();
          $('clip-wrong').textContent = 'Set where the part begins and where it ends.';
        } else $('clip-wrong').textContent = '';
      };
    }
  }

  async line() {
    const { from, to } = this.clip;
    try {
      const about = this.chosen && this.field ? `&id=${this.chosen}&field=${encodeURIComponent(this.field)}` : '';
      const t = await ask(`/api/test?film=0&from=${from}&to=${to}${about}`);
      $('go').textContent = `// import "${t.import}"; the trace goes to ${t.file}\n${t.line}`;
      $('go').hidden = false;
      $('clip-wrong').textContent = '';
    } catch (e) { $('clip-wrong').textContent = e.message; }
  }
}
