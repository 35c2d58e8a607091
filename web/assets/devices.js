// What a player does with keys, a pointer, fingers and gamepads, as words that the program reads once a frame. Nothing is lost between two frames: what was
// pressed and let go again counts as pressed once.

const reach = 64; // pixels that a thumb pushes a stick to its end
const dead = 0.15; // of a gamepad's stick

export class Devices {
  // key tells which key has a code, or 0; own is given what the page itself may do with a key, and says whether it did.
  constructor(canvas, key, own) {
    this.canvas = canvas;
    this.own = own;
    this.held = new Uint32Array(4);
    this.pressed = new Uint32Array(4);
    this.asked = new Uint32Array(4); // keys that the game wants
    this.kind = 0; // what fingers are for: 0 two sticks, 1 one stick and a tap, 2 they point
    this.pointer = { x: 0, y: 0, there: false, buttons: 0, pressed: 0 };
    this.fingers = new Map();
    this.tapped = false;
    this.touched = false; // there are fingers
    this.pads = false;
    this.idle = false; // keys are for something else on the page
    this.count = 0; // of presses
    const known = new Map();
    this.key = code => {
      let k = known.get(code);
      if (k === undefined) known.set(code, k = key(code));
      return k;
    };
    this.listen();
  }

  has(set, k) { return k > 0 && (set[k >> 5] >>> (k & 31) & 1) === 1; }

  listen() {
    const typing = e => /^(INPUT|TEXTAREA|SELECT)$/.test(e.target?.tagName ?? '') || e.target?.isContentEditable;
    addEventListener('keydown', e => {
      if (this.idle || typing(e)) return;
      const k = this.key(e.code), game = this.has(this.asked, k);
      if ((e.ctrlKey || e.metaKey) && !(game && /^Control/.test(e.code))) return; // the browser's own
      if (game || !e.repeat && this.own(e.code)) e.preventDefault();
      else if (e.code === 'Tab') e.preventDefault();
      if (k && !e.repeat) this.set(k, true);
    });
    addEventListener('keyup', e => {
      const k = this.key(e.code);
      if (k) this.set(k, false);
    });
    addEventListener('blur', () => this.release());
    document.addEventListener('visibilitychange', () => { if (document.hidden) this.release(); });
    const c = this.canvas;
    c.addEventListener('pointerdown', e => {
      if (document.activeElement !== document.body) document.activeElement?.blur?.();
      try { c.setPointerCapture(e.pointerId); } catch { /* one that a test made up */ }
      this.count++;
      if (e.pointerType === 'touch') this.touch(e);
      else this.point(e, true);
      e.preventDefault();
      window.focus();
    });
    c.addEventListener('pointermove', e => {
      const f = this.fingers.get(e.pointerId);
      if (f) {
        f.x = e.clientX;
        f.y = e.clientY;
        if (f.points) Object.assign(this.pointer, { x: f.x, y: f.y });
      } else if (e.pointerType !== 'touch') this.point(e, false);
    });
    for (const name of ['pointerup', 'pointercancel']) {
      c.addEventListener(name, e => {
        const f = this.fingers.get(e.pointerId);
        if (f) this.lift(e.pointerId, f);
        else if (e.pointerType !== 'touch') this.point(e, false);
      });
    }
    c.addEventListener('pointerleave', e => { if (e.pointerType === 'mouse' && !e.buttons) this.pointer.there = false; });
    addEventListener('gamepadconnected', () => { this.pads = true; });
  }

  set(k, down) {
    const bit = 1 << (k & 31);
    if (!down) {
      this.held[k >> 5] &= ~bit;
      return;
    }
    if (!(this.held[k >> 5] & bit)) this.count++;
    this.held[k >> 5] |= bit;
    this.pressed[k >> 5] |= bit;
  }

  point(e, down) {
    const p = this.pointer, buttons = e.buttons & 1 | e.buttons & 2;
    Object.assign(p, { x: e.clientX, y: e.clientY, there: true, buttons });
    if (down) p.pressed |= buttons;
  }

  // release lets go of everything, as the player has gone elsewhere.
  release() {
    this.held.fill(0);
    this.pressed.fill(0);
    this.pointer.buttons = this.pointer.pressed = 0;
    this.fingers.clear();
  }

  // touch gives a finger something to do.
  touch(e) {
    this.touched = true;
    const f = { x: e.clientX, y: e.clientY, x0: e.clientX, y0: e.clientY, at: performance.now(), stick: false, points: false };
    const moved = [...this.fingers.values()].some(o => o.stick);
    const { left, width } = this.canvas.getBoundingClientRect();
    if (this.kind === 0) f.stick = e.clientX < left + width / 2 && !moved;
    else if (this.kind === 1) f.stick = !moved;
    if (!f.stick) {
      f.points = true;
      this.tapped = true;
      Object.assign(this.pointer, { x: f.x, y: f.y, there: true, buttons: 1 });
      this.pointer.pressed |= 1;
    }
    this.fingers.set(e.pointerId, f);
  }

  lift(id, f) {
    this.fingers.delete(id);
    // One that went down and up again, in the same place, acts.
    if (this.kind === 1 && f.stick && performance.now() - f.at < 250 && Math.hypot(f.x - f.x0, f.y - f.y0) < 12) this.tapped = true;
    if (f.points && ![...this.fingers.values()].some(o => o.points)) this.pointer.buttons = 0;
  }

  // pushed is how far a finger pushes its stick. A base that is left behind comes along.
  pushed(f) {
    let dx = f.x - f.x0, dy = f.y - f.y0;
    const far = Math.hypot(dx, dy);
    if (far > reach) {
      f.x0 = f.x - dx * reach / far;
      f.y0 = f.y - dy * reach / far;
      dx *= reach / far;
      dy *= reach / far;
    }
    return [dx / reach, -dy / reach];
  }

  // write tells the program, from a word of its memory on, and begins anew.
  write(words, floats, at, firstPad) {
    let stick = [0, 0], aim = [0, 0], fire = false;
    for (const f of this.fingers.values()) {
      if (f.stick) stick = this.pushed(f);
      else if (this.kind !== 2) {
        fire = true;
        const [x, y] = this.pushed(f);
        if (this.kind === 0 && Math.hypot(x, y) > dead) aim = [x, y];
      }
    }
    if (this.pads) [stick, aim] = this.gamepads(stick, aim, firstPad);
    const p = this.pointer;
    floats[at] = p.x;
    floats[at + 1] = p.y;
    words[at + 2] = (p.there ? 1 : 0) | p.buttons << 1 | p.pressed << 3 | (this.touched ? 32 : 0);
    [floats[at + 3], floats[at + 4]] = stick;
    [floats[at + 5], floats[at + 6]] = aim;
    words[at + 7] = (fire ? 1 : 0) | (this.tapped ? 2 : 0);
    for (let i = 0; i < 4; i++) {
      words[at + 8 + i] = this.held[i];
      words[at + 12 + i] = this.pressed[i];
    }
    words[at + 16] = this.count;
    this.pressed.fill(0);
    p.pressed = 0;
    this.tapped = false;
  }

  // gamepads adds the first one that does something.
  gamepads(stick, aim, first) {
    for (const g of navigator.getGamepads()) {
      if (!g?.connected) continue;
      const axis = (x, y) => Math.hypot(x, y) > dead ? [x, -y] : null;
      const on = i => g.buttons[i]?.pressed ? 1 : 0;
      const pad = [on(15) - on(14), on(12) - on(13)];
      stick = axis(g.axes[0] ?? 0, g.axes[1] ?? 0) ?? (pad[0] || pad[1] ? pad : stick);
      aim = axis(g.axes[2] ?? 0, g.axes[3] ?? 0) ?? aim;
      for (let i = 0; i < 6; i++) {
        const down = on(i) || (i === 0 && on(7));
        if (!!down !== this.has(this.held, first + i)) this.set(first + i, !!down);
      }
      break;
    }
    return [stick, aim];
  }

  // draw shows the sticks under the thumbs, on a canvas of so many pixels a unit.
  draw(c, k) {
    if (!this.fingers.size) return;
    c.setTransform(k, 0, 0, k, 0, 0);
    c.globalAlpha = 1;
    c.globalCompositeOperation = 'source-over';
    const ring = (x, y, r, style) => {
      c.beginPath();
      c.arc(x, y, r, 0, 2 * Math.PI);
      c.fillStyle = style;
      c.fill();
    };
    for (const f of this.fingers.values()) {
      if (this.kind === 2 && !f.stick) continue;
      ring(f.x0, f.y0, reach, '#ffffff1c');
      ring(f.x, f.y, 26, f.stick ? '#ffffff55' : '#ff8c2e77');
    }
  }
}
