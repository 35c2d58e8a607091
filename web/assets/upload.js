// Files that the player sends to the server in one piece, where the game takes such: a button, a form with the limits, and how far it has come. It goes on when the form is
// closed.

const $ = id => document.getElementById(id);
let kinds = [];
let send = null; // gives why something cannot be sent, or nothing
let progress = null; // gives how far it has come, or nothing
let going = ''; // the file that is on its way
let watching = 0;

const shown = n => n < 1000 ? `${n} bytes` : n < 1e6 ? `${+(n / 1000).toPrecision(3)} kB` : `${+(n / 1e6).toPrecision(3)} MB`;
const kind = () => kinds.find(k => k.name === $('kind').value) ?? kinds[0];

// say says how it goes: in the form, and beside the game where the form is closed.
function say(text, wrong = false) {
  $('outcome').textContent = text;
  $('outcome').classList.toggle('wrong', wrong);
}

function draw() {
  const file = $('file').files[0];
  $('limit').textContent = `The server takes files of up to ${shown(kind().most)}.`;
  $('send').disabled = !!going || !file;
  $('send').textContent = going ? 'Sending' : 'Send';
  $('file').disabled = $('kind').disabled = !!going;
  $('way').hidden = !going;
  document.querySelector('[data-do=upload]').classList.toggle('busy', !!going);
}

// chosen looks at a file before anything is sent.
function chosen() {
  const file = $('file').files[0];
  say(!file ? '' : wrong(file), true);
  draw();
}

function wrong(file) {
  if (!file.size) return `${file.name} is empty: choose another file.`;
  const most = kind().most;
  return file.size > most ? `${file.name} has ${shown(file.size)}, and the server takes ${shown(most)}: choose a smaller file.` : '';
}

async function begin(e) {
  e.preventDefault();
  const file = $('file').files[0];
  if (going || !file) return;
  let why = wrong(file);
  if (!why) {
    going = file.name;
    $('way').removeAttribute('value');
    say(`Reading ${going}.`);
    draw();
    try {
      why = send(kind().name, new Uint8Array(await file.arrayBuffer()));
    } catch {
      why = `${file.name} cannot be read: choose it again.`;
    }
  }
  if (why) return end(why);
  clearInterval(watching);
  watching = setInterval(look, 200);
  look();
}

function look() {
  const p = progress();
  if (!p) return; // what became of it is being told
  $('way').value = p.arrived / Math.max(1, p.size);
  const text = p.arrived >= p.size ? `${going} has arrived; the server looks at it.` : `${going}: ${shown(p.arrived)} of ${shown(p.size)}`;
  if ($('outcome').textContent !== text) say(text);
}

function end(why) {
  clearInterval(watching);
  going = '';
  say(why, true);
  draw();
}

// coevalOffer is called by the program where its game takes files.
window.coevalOffer = (list, give, ask) => {
  [kinds, send, progress] = [JSON.parse(list), give, ask];
  $('kind').replaceChildren(...kinds.map(k => new Option(k.name, k.name)));
  $('kinds').hidden = kinds.length < 2;
  $('what').textContent = kinds.length < 2 ? `Send a ${kinds[0].name} to the server` : 'Send a file to the server';
  document.querySelector('[data-do=upload]').hidden = false;
  draw();
};

// coevalSent is called by the program when it is known what became of one.
window.coevalSent = (name, why) => {
  const file = going;
  end(why ? `The server has not taken ${file || name}: ${why}.` : '');
  if (!why) {
    say(`${file || name} was sent.`);
    $('file').value = '';
    draw();
  }
  if (!$('upload').open) window.coevalWarn($('outcome').textContent, true);
};

window.coevalUpload = () => {
  if (!going) say('');
  draw();
  $('upload').showModal();
};
$('upload').addEventListener('submit', begin);
$('closing').addEventListener('click', () => $('upload').close());
$('file').addEventListener('change', chosen);
$('kind').addEventListener('change', chosen);
// Keys are for the form while it is there: the game listens to the whole page.
for (const kind of ['keydown', 'keyup']) $('upload').addEventListener(kind, e => e.stopPropagation());
