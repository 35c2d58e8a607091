// Replays lists of drawing calls on a canvas; the lists are those of package draw. A replayer is given bytes and where they begin and end, and keeps
// pictures, tinted images, round shapes and texts as small bitmaps, so that a frame is mostly copies.

const most = { sprites: 3000, texts: 600, pixels: 24e6, stamps: 12e6, made: 24 };
const font = 'system-ui, "Segoe UI", Roboto, "Noto Sans", Ubuntu, Cantarell, "Helvetica Neue", Arial, sans-serif';
const modes = ['source-over', 'lighter', 'multiply'];
const decoder = new TextDecoder();
const full = 2 * Math.PI;

// A color as styles have it. Few are used, many times each.
const styles = new Map();
const style = c => {
  let s = styles.get(c);
  if (!s) {
    if (styles.size > 4000) styles.clear();
    s = (c & 255) === 255 ? `#${(c >>> 8).toString(16).padStart(6, '0')}` : `#${(c >>> 0).toString(16).padStart(8, '0')}`;
    styles.set(c, s);
  }
  return s;
};
const sheet = (w, h) => new OffscreenCanvas(Math.max(1, Math.ceil(w)), Math.max(1, Math.ceil(h)));

// Images and sounds by the numbers that calls have for their names, shared by all that replays.
export class Library {
  // ask gives the bytes of a file of the game, or null, at once or later. missing is told which were not found.
  constructor(ask, missing) {
    this.ask = ask;
    this.missing = missing;
    this.names = [];
    this.images = []; // {bitmap, w, h} once there is something to draw; null where there is none
    this.samples = []; // {rate, data}
    this.asked = new Set();
    this.wanting = false; // an image was to be drawn that has not come
    this.unfinished = []; // pictures of which that is true
  }

  // read takes what was added.
  read(view, at, end) {
    while (at < end) {
      const op = view.getUint8(at), id = view.getUint16(at + 1, true);
      at += 3;
      if (op === 18) {
        const n = view.getUint16(at, true);
        this.names[id] = decoder.decode(new Uint8Array(view.buffer, view.byteOffset + at + 2, n));
        at += 2 + n;
      } else if (op === 19) {
        const [w, h, density] = [0, 4, 8].map(i => view.getFloat32(at + i, true));
        const n = view.getUint32(at + 12, true);
        at += 16;
        this.picture(id, view, at, at + n, w, h, density);
        at += n;
      } else if (op === 20) {
        const rate = view.getUint32(at, true), n = view.getUint32(at + 4, true);
        const data = new Float32Array(n);
        for (let i = 0; i < n; i++) data[i] = view.getInt16(at + 8 + 2 * i, true) / 32767;
        this.samples[id] = { rate, data };
        at += 8 + 2 * n;
      } else throw new Error(`the library has a call of the number ${op}`);
    }
  }

  // picture draws one, once.
  picture(id, view, at, end, w, h, density) {
    const canvas = sheet(w * density, h * density);
    this.wanting = false;
    new Replayer(canvas.getContext('2d'), this).replay(view, at, end, canvas.width, canvas.height, w, h);
    if (this.wanting) this.unfinished.push([id, new DataView(view.buffer.slice(view.byteOffset + at, view.byteOffset + end)), w, h, density]);
    this.images[id] = { bitmap: canvas.transferToImageBitmap(), w: canvas.width, h: canvas.height };
  }

  // image is what there is of one: undefined until it has come, and null where there is none.
  image(id) {
    const i = this.images[id];
    if (i === undefined) {
      this.wanting = true;
      if (!this.asked.has(id)) {
        this.asked.add(id);
        setTimeout(() => this.load(id)); // the program is in the middle of a frame
      }
    }
    return i;
  }

  async load(id) {
    const name = this.names[id] ?? '';
    const bytes = await this.ask(name);
    if (this.images[id]) return;
    if (!bytes) {
      this.images[id] = null;
      this.missing(name, 'image', '');
      return;
    }
    try {
      const bitmap = /\.svg$/i.test(name) ? await vector(bytes) : await createImageBitmap(new Blob([bytes]));
      this.images[id] = { bitmap, w: bitmap.width, h: bitmap.height };
    } catch {
      this.images[id] = null;
      this.missing(name, 'image', 'it is none that a browser can read');
    }
    for (const [picture, view, w, h, density] of this.unfinished.splice(0)) this.picture(picture, view, 0, view.byteLength, w, h, density);
  }
}

// vector draws an image of lines at a size that is enough for most.
async function vector(bytes) {
  const url = URL.createObjectURL(new Blob([bytes], { type: 'image/svg+xml' }));
  const i = new Image();
  try {
    i.src = url;
    await i.decode();
    const [w, h] = [i.naturalWidth || 256, i.naturalHeight || 256];
    const k = Math.max(1, 512 / Math.max(w, h));
    const to = sheet(w * k, h * k);
    to.getContext('2d').drawImage(i, 0, 0, to.width, to.height);
    return to.transferToImageBitmap();
  } finally {
    URL.revokeObjectURL(url);
  }
}

// Small images that are parts of lists are drawn by way of canvases of their sizes.
const smalls = new Map();

// Round shapes, tinted images and scaled grounds, by what they look like. They are shared, as many pictures look alike.
const sprites = new Map();
const grounds = new Map();
let pixels = 0; // of grounds
function sprite(key, w, h, draw) {
  let s = sprites.get(key);
  if (s === undefined) {
    if (sprites.size > most.sprites) sprites.clear();
    const canvas = sheet(w, h);
    draw(canvas.getContext('2d'), canvas.width, canvas.height);
    s = canvas.transferToImageBitmap();
    sprites.set(key, s);
  }
  return s;
}

// step is the size that a round shape is kept at, from which it is drawn smaller.
const step = r => r <= 4 ? 4 : r <= 8 ? 8 : r <= 16 ? 16 : r <= 32 ? 32 : 64;
const coarse = c => ((c & 0xfcfcfc00) | (c >>> 6 & 0x03030300)) >>> 0; // nobody sees the rest

const disc = (c, r) => sprite(`c${c} ${r}`, 2 * r + 2, 2 * r + 2, (x, w) => {
  x.fillStyle = style(c | 255);
  x.beginPath();
  x.arc(w / 2, w / 2, r, 0, full);
  x.fill();
});
const light = (c, r) => sprite(`g${c} ${r}`, 2 * r, 2 * r, (x, w) => {
  const g = x.createRadialGradient(w / 2, w / 2, 0, w / 2, w / 2, w / 2);
  for (let i = 0; i <= 8; i++) g.addColorStop(i / 8, style(((c & ~255) | Math.round(255 * (1 - i / 8) ** 2)) >>> 0));
  x.fillStyle = g;
  x.fillRect(0, 0, w, w);
});
const tinted = (id, image, c) => sprite(`t${id} ${c}`, image.w, image.h, (x, w, h) => {
  x.drawImage(image.bitmap, 0, 0, w, h);
  x.globalCompositeOperation = 'multiply';
  x.fillStyle = style(c | 255);
  x.fillRect(0, 0, w, h);
  x.globalCompositeOperation = 'destination-in';
  x.drawImage(image.bitmap, 0, 0, w, h);
});

// Stamps are images as they are on the screen, of a size and an angle. Where no graphics processor turns and scales pixels, copying them is ten times as fast.
// They are for what is seen again and again: few are made a frame, and when there are too many all are forgotten.
class Stamps {
  constructor() {
    this.kept = new Map();
    this.size = 0; // pixels
    this.left = 0; // that may be made in this frame
    this.rest = 0; // frames for which none are made, as they would not last
    this.since = 0; // frames since all were forgotten
  }

  begin() {
    this.left = this.rest > 0 ? 0 : most.made;
    this.rest--;
    this.since++;
  }

  // get gives what draw makes, in the middle of a square of a size that is even, or nothing.
  get(key, turn, side, draw) {
    let list = this.kept.get(key);
    if (!list) this.kept.set(key, list = []);
    const s = list[turn];
    if (s || this.left <= 0) return s;
    this.left--;
    if ((this.size += side * side) > most.stamps) this.forget();
    const canvas = sheet(side, side), c = canvas.getContext('2d', { willReadFrequently: true });
    c.translate(side / 2, side / 2);
    draw(c);
    return list[turn] = canvas.transferToImageBitmap();
  }

  forget() {
    for (const list of this.kept.values()) list.forEach(s => s.close());
    this.kept.clear();
    this.size = 0;
    if (this.since < 300) this.rest = 300;
    this.since = 0;
  }
}

// A Replayer draws lists on one canvas.
export class Replayer {
  // context is where it draws, and sound plays what is to be heard, if anything does.
  constructor(context, library, sound = null) {
    this.c = context;
    this.library = library;
    this.sound = sound;
    this.texts = new Map();
    this.stamps = null; // in software, new Stamps()
    this.frames = 0;
  }

  // slowly has the replayer know that no graphics processor helps.
  slowly() { this.stamps = new Stamps(); }

  // replay draws what is between two places of a view, for a screen of so many pixels and of so many units of the overlay.
  replay(view, at, end, width, height, wide, high) {
    const c = this.c;
    this.width = width;
    this.height = height;
    this.frames++;
    this.stamps?.begin();
    this.clipped = false;
    this.forget();
    c.setTransform(1, 0, 0, 1, 0, 0);
    this.plain = true;
    this.blend(0);
    this.overlay(wide, high);
    const f = i => view.getFloat32(i, true);
    while (at < end) {
      const op = view.getUint8(at);
      const p = at + 5; // after a color
      switch (op) {
        case 1:
          this.upright();
          this.fill(view.getUint32(at + 1, true));
          c.fillRect(0, 0, width, height);
          at = p;
          break;
        case 2:
          this.camera(view.getUint8(at + 1), f(at + 2), f(at + 6), f(at + 10), f(at + 14));
          at += 18;
          break;
        case 3:
          this.overlay(f(at + 1), f(at + 5));
          at += 9;
          break;
        case 4:
          this.rect(view.getUint32(at + 1, true), f(p), f(p + 4), f(p + 8), f(p + 12));
          at += 21;
          break;
        case 5:
          this.box(view.getUint32(at + 1, true), f(p), f(p + 4), f(p + 8), f(p + 12), f(p + 16));
          at += 25;
          break;
        case 6:
          this.circle(view.getUint32(at + 1, true), f(p), f(p + 4), f(p + 8));
          at += 17;
          break;
        case 7:
          this.ring(view.getUint32(at + 1, true), f(p), f(p + 4), f(p + 8), f(p + 12));
          at += 21;
          break;
        case 8:
          this.glow(view.getUint32(at + 1, true), f(p), f(p + 4), f(p + 8));
          at += 17;
          break;
        case 9:
          at = this.lines(view, at, end);
          break;
        case 10:
          at = this.polygons(view, at, end);
          break;
        case 11:
          this.image(view.getUint32(at + 1, true), view.getUint16(p, true), f(p + 2), f(p + 6), f(p + 10), f(p + 14), f(p + 18));
          at += 27;
          break;
        case 12: {
          const n = view.getUint16(at + 18, true);
          this.text(view, view.getUint32(at + 1, true), view.getUint8(p), f(p + 1), f(p + 5), f(p + 9), at + 20, n);
          at += 20 + n;
          break;
        }
        case 13:
          this.sound?.sound(view.getUint16(at + 1, true), f(at + 3), f(at + 7));
          at += 11;
          break;
        case 14:
          this.sound?.tone(view.getUint8(at + 1), f(at + 2), f(at + 6), f(at + 10), f(at + 14), f(at + 18));
          at += 22;
          break;
        case 15:
          this.blend(view.getUint8(at + 1));
          at += 2;
          break;
        case 16: {
          const n = view.getUint16(at + 1, true);
          this.clip(view, at + 3, n);
          at += 3 + 8 * n;
          break;
        }
        case 17:
          this.unclip();
          at++;
          break;
        case 21: {
          const n = view.getUint32(at + 19, true);
          this.pixels(view, at + 23, n, view.getUint16(at + 1, true), f(at + 3), f(at + 7), f(at + 11), f(at + 15));
          at += 23 + n;
          break;
        }
        default:
          this.unclip();
          throw new Error(`the frame has a call of the number ${op}`);
      }
    }
    this.unclip();
    if (this.texts.size > most.texts) this.texts.clear();
  }

  // forget has every part of the state set anew.
  forget() {
    this.filled = this.stroked = -1;
    this.strokes = -1;
    this.alpha = -1;
    this.mode = -1;
    this.face = '';
  }

  // --- the state of the canvas, which is changed only where it differs ---

  fill(color) {
    this.opacity(255);
    if (this.filled !== color) this.c.fillStyle = style(this.filled = color);
  }

  stroke(color, width) {
    this.opacity(255);
    if (this.stroked !== color) this.c.strokeStyle = style(this.stroked = color);
    if (this.strokes !== width) {
      if (this.strokes === -1) this.c.lineCap = 'round';
      this.c.lineWidth = this.strokes = width;
    }
  }

  opacity(a) {
    if (this.alpha !== a) this.c.globalAlpha = (this.alpha = a) / 255;
  }

  blend(mode) {
    if (this.mode !== mode) this.c.globalCompositeOperation = modes[this.mode = mode];
  }

  upright() {
    if (!this.plain) {
      this.c.setTransform(1, 0, 0, 1, 0, 0);
      this.plain = true;
    }
  }

  turned(x, y, angle) {
    const sin = Math.sin(angle) * this.up, cos = Math.cos(angle); // an angle goes from the first axis to the second
    this.c.setTransform(cos, sin, -sin, cos, x, y);
    this.plain = false;
  }

  // --- where things are ---

  // lens puts places of the game at whole pixels, so that a ground that is drawn with care once stays where it is.
  lens(scale, up, x, y) {
    this.k = scale > 0 && scale < Infinity ? scale : 1;
    this.up = up;
    this.ky = up * this.k;
    this.x = Math.round(this.width / 2 - x * this.k);
    this.y = Math.round(this.height / 2 - y * this.ky);
  }

  camera(flags, x, y, w, h) {
    const sx = this.width / w, sy = this.height / h;
    this.lens(flags & 2 ? Math.max(sx, sy) : Math.min(sx, sy), flags & 1 ? -1 : 1, x, y);
  }

  overlay(w, h) {
    this.lens(Math.min(this.width / w, this.height / h), 1, w / 2, h / 2);
  }

  // --- shapes ---

  rect(color, x, y, w, h) {
    this.upright();
    this.fill(color);
    this.c.fillRect(this.x + x * this.k, this.y + y * this.ky, w * this.k, h * this.ky);
  }

  box(color, x, y, w, h, angle) {
    const k = this.k;
    if (angle === 0) {
      this.upright();
      this.fill(color);
      this.c.fillRect(this.x + (x - w / 2) * k, this.y + y * this.ky - h * k / 2, w * k, h * k);
      return;
    }
    this.turned(this.x + x * k, this.y + y * this.ky, angle);
    this.fill(color);
    this.c.fillRect(-w * k / 2, -h * k / 2, w * k, h * k);
  }

  circle(color, x, y, radius) {
    const r = Math.abs(radius) * this.k;
    x = this.x + x * this.k;
    y = this.y + y * this.ky;
    if (this.away(x, y, r)) return;
    this.upright();
    if (r > 48) {
      this.fill(color);
      this.c.beginPath();
      this.c.arc(x, y, r, 0, full);
      this.c.fill();
      return;
    }
    const s = step(r), d = r * (1 + 1 / s); // a pixel around it is for smooth edges
    this.opacity(color & 255);
    this.c.drawImage(disc(coarse(color), s), x - d, y - d, 2 * d, 2 * d);
  }

  ring(color, x, y, radius, width) {
    const r = Math.abs(radius) * this.k, w = Math.abs(width) * this.k;
    x = this.x + x * this.k;
    y = this.y + y * this.ky;
    if (this.away(x, y, r + w)) return;
    this.upright();
    this.stroke(color, w);
    this.c.beginPath();
    this.c.arc(x, y, r, 0, full);
    this.c.stroke();
  }

  glow(color, x, y, radius) {
    const r = Math.abs(radius) * this.k;
    x = this.x + x * this.k;
    y = this.y + y * this.ky;
    if (this.away(x, y, r) || !(color & 255)) return;
    this.upright();
    this.opacity(color & 255);
    const c = coarse(color), size = Math.round(r);
    const s = r < 100 && this.stamps?.get(2 ** 50 + (c >>> 8) * 128 + size, 0, 2 * size, x => x.drawImage(light(c, step(r)), -size, -size, 2 * size, 2 * size));
    if (s) this.c.drawImage(s, Math.round(x) - size, Math.round(y) - size);
    else this.c.drawImage(light(c, step(r)), x - r, y - r, 2 * r, 2 * r);
  }

  // away says that nothing of a round shape is to be seen.
  away(x, y, r) {
    return x + r < 0 || y + r < 0 || x - r > this.width || y - r > this.height || r === 0;
  }

  // lines draws one, and those after it that look the same and cover what is there.
  lines(view, at, end) {
    const c = this.c, color = view.getUint32(at + 1, true), width = view.getFloat32(at + 21, true);
    const alone = (color & 255) !== 255 || this.mode !== 0;
    this.upright();
    this.stroke(color, Math.abs(width) * this.k);
    c.beginPath();
    do {
      c.moveTo(this.x + view.getFloat32(at + 5, true) * this.k, this.y + view.getFloat32(at + 9, true) * this.ky);
      c.lineTo(this.x + view.getFloat32(at + 13, true) * this.k, this.y + view.getFloat32(at + 17, true) * this.ky);
      at += 25;
    } while (!alone && at < end && view.getUint8(at) === 9 && view.getUint32(at + 1, true) === color && view.getFloat32(at + 21, true) === width);
    if (width !== 0) c.stroke();
    return at;
  }

  polygons(view, at) {
    const n = view.getUint16(at + 5, true);
    this.upright();
    this.fill(view.getUint32(at + 1, true));
    this.path(this.c, view, at + 7, n);
    this.c.fill();
    return at + 7 + 8 * n;
  }

  path(c, view, at, n) {
    c.beginPath();
    for (let i = 0; i < n; i++, at += 8) {
      const x = this.x + view.getFloat32(at, true) * this.k, y = this.y + view.getFloat32(at + 4, true) * this.ky;
      if (i) c.lineTo(x, y);
      else c.moveTo(x, y);
    }
    c.closePath();
  }

  // clip has what follows drawn in a shape only. In software every call would be cut by the shape's smooth edge, so there the screen is kept as it was, what
  // follows is drawn as if there were no shape, and then what was around it is put back.
  clip(view, at, n) {
    this.unclip();
    this.upright();
    this.clipped = true;
    if (this.stamps) {
      const { width, height } = this;
      if (this.kept?.canvas.width !== width || this.kept.canvas.height !== height) this.kept = sheet(width, height).getContext('2d', { willReadFrequently: true });
      const k = this.kept;
      k.globalCompositeOperation = 'copy';
      k.drawImage(this.c.canvas, 0, 0);
      k.globalCompositeOperation = 'destination-out';
      this.path(k, view, at, n);
      k.fill();
      return;
    }
    this.c.save();
    this.path(this.c, view, at, n);
    this.c.clip();
  }

  // unclip has the canvas as it was before the clip, but for what is to last.
  unclip() {
    if (!this.clipped) return;
    this.clipped = false;
    const mode = this.mode;
    if (this.stamps) {
      this.upright();
      this.opacity(255);
      this.blend(0);
      this.c.drawImage(this.kept.canvas, 0, 0);
    } else {
      this.c.restore();
      this.forget();
      this.plain = true;
    }
    this.blend(mode);
  }

  // --- images and texts ---

  image(color, id, x, y, w, h, angle) {
    const image = this.library.image(id);
    x = this.x + x * this.k;
    y = this.y + y * this.ky;
    w *= this.k;
    h *= this.k;
    const far = Math.hypot(w, h) / 2;
    if (this.away(x, y, far) || !(color & 255)) return;
    if (!image) {
      if (image === null) this.missing(x, y, w, h);
      return;
    }
    const c = this.c;
    if (angle === 0 && w * h > 40000 && w > 0 && h > 0 && color >>> 8 === 0xffffff) {
      this.ground(id, image, color, x, y, w, h);
      return;
    }
    if (this.stamps && w > 0 && h > 0 && w < 256 && h < 256 && this.stamp(color, id, image, x, y, w, h, angle)) return;
    const bitmap = color >>> 8 === 0xffffff ? image.bitmap : tinted(id, image, coarse(color));
    if (angle === 0) {
      this.upright();
      this.opacity(color & 255);
      c.drawImage(bitmap, x - w / 2, y - h / 2, w, h);
      return;
    }
    this.turned(x, y, angle);
    this.opacity(color & 255);
    c.drawImage(bitmap, -w / 2, -h / 2, w, h);
  }

  // stamp draws an image by a stamp, if there is one.
  stamp(color, id, image, x, y, w, h, angle) {
    const wide = Math.ceil(w), high = Math.ceil(h), far = Math.hypot(wide, high) / 2;
    const turns = Math.min(256, Math.max(16, Math.ceil(full * far))); // as many as there are pixels around it
    const turn = ((Math.round(angle * this.up / full * turns) % turns) + turns) % turns;
    const tint = coarse(color), key = (((tint >>> 26) * 64 + (tint >>> 18 & 63)) * 64 + (tint >>> 10 & 63)) * 2 ** 32 + (id * 256 + wide) * 256 + high;
    const half = turn ? Math.ceil(far) + 1 : Math.ceil(Math.max(wide, high) / 2) + 1;
    const s = this.stamps.get(key, turn, 2 * half, c => {
      c.rotate(turn / turns * full);
      c.drawImage(color >>> 8 === 0xffffff ? image.bitmap : tinted(id, image, tint), -w / 2, -h / 2, w, h);
    });
    if (!s) return false;
    this.upright();
    this.opacity(color & 255);
    this.c.drawImage(s, Math.round(x) - half, Math.round(y) - half);
    return true;
  }

  // ground draws a large image, of which a copy is kept in just the size that it has, so that a frame copies pixels and computes none.
  ground(id, image, color, x, y, w, h) {
    this.upright();
    this.opacity(color & 255);
    const left = Math.floor(x - w / 2), top = Math.floor(y - h / 2);
    const dx = x - w / 2 - left, dy = y - h / 2 - top;
    const key = `${id} ${w.toFixed(2)} ${h.toFixed(2)} ${dx.toFixed(1)} ${dy.toFixed(1)}`;
    let g = grounds.get(id);
    if (g?.key !== key) {
      // A size that lasts for some frames only is not worth a copy.
      if (g?.next !== key) {
        if (g) g.next = key;
        else grounds.set(id, { next: key });
      } else if (++g.seen > 8 && w * h < most.pixels / 2 && pixels - (g.size ?? 0) + w * h < most.pixels) {
        const copy = sheet(w + 1, h + 1);
        const c = copy.getContext('2d');
        c.imageSmoothingQuality = 'high';
        c.drawImage(image.bitmap, dx, dy, w, h);
        pixels += w * h - (g.size ?? 0);
        g.bitmap?.close();
        grounds.set(id, g = { key, bitmap: copy.transferToImageBitmap(), size: w * h });
      } else g.seen ||= 1;
    }
    if (g?.key !== key) {
      this.c.drawImage(image.bitmap, x - w / 2, y - h / 2, w, h);
      return;
    }
    // Only what is on the screen is copied.
    const sx = Math.max(0, -left), sy = Math.max(0, -top);
    const sw = Math.min(g.bitmap.width, this.width - left) - sx, sh = Math.min(g.bitmap.height, this.height - top) - sy;
    if (sw > 0 && sh > 0) this.c.drawImage(g.bitmap, sx, sy, sw, sh, left + sx, top + sy, sw, sh);
  }

  // pixels spreads a small image that is part of the list.
  pixels(view, at, n, columns, x, y, w, h) {
    const rows = n / 4 / columns, key = `${columns} ${rows}`;
    let small = smalls.get(key);
    if (!small) {
      if (smalls.size > 20) smalls.clear();
      const canvas = sheet(columns, rows), c = canvas.getContext('2d', { willReadFrequently: true });
      smalls.set(key, small = { canvas, c, data: c.createImageData(columns, rows) });
    }
    small.data.data.set(new Uint8Array(view.buffer, view.byteOffset + at, n));
    small.c.putImageData(small.data, 0, 0);
    this.upright();
    this.opacity(255);
    const top = this.y + (this.ky < 0 ? y + h : y) * this.ky;
    this.c.drawImage(small.canvas, this.x + x * this.k, top, w * this.k, h * this.k);
  }

  // missing marks where an image should be.
  missing(x, y, w, h) {
    const c = this.c;
    this.upright();
    this.stroke(0xff30c0ff, 2);
    c.beginPath();
    c.rect(x - w / 2, y - h / 2, w, h);
    c.moveTo(x - w / 2, y - h / 2);
    c.lineTo(x + w / 2, y + h / 2);
    c.moveTo(x + w / 2, y - h / 2);
    c.lineTo(x - w / 2, y + h / 2);
    c.stroke();
  }

  // text writes a line. One that was there in an earlier frame is kept as a bitmap.
  text(view, color, align, x, y, size, at, n) {
    const px = Math.abs(size) * this.k;
    if (px < 1 || px > 2000) return;
    x = this.x + x * this.k;
    y = this.y + y * this.ky;
    const words = decoder.decode(new Uint8Array(view.buffer, view.byteOffset + at, n));
    const rounded = Math.round(px * 4) / 4, key = `${rounded} ${color >>> 8} ${words}`;
    let t = this.texts.get(key);
    if (!t) this.texts.set(key, t = { seen: 0, frame: 0, width: 0, bitmap: null });
    if (t.frame !== this.frames) {
      t.seen = t.frame === this.frames - 1 ? t.seen + 1 : 0;
      t.frame = this.frames;
    }
    const c = this.c;
    this.upright();
    if (!t.width) t.width = this.write(c, rounded).measureText(words).width;
    const left = x - (align === 1 ? t.width / 2 : align === 2 ? t.width : 0);
    if (!t.bitmap && t.seen > 4 && t.width * px < 60000) {
      const to = sheet(t.width + 4, 1.5 * rounded + 4);
      const b = to.getContext('2d');
      b.font = this.name(rounded);
      b.textBaseline = 'middle';
      b.fillStyle = style(color | 255);
      b.fillText(words, 2, to.height / 2);
      t.bitmap = to.transferToImageBitmap();
    }
    if (t.bitmap) {
      this.opacity(color & 255);
      c.drawImage(t.bitmap, Math.round(left) - 2, Math.round(y - t.bitmap.height / 2));
      return;
    }
    this.write(c, rounded);
    this.fill(color);
    c.fillText(words, Math.round(left), Math.round(y));
  }

  name(px) { return `${px}px ${font}`; }

  write(c, px) {
    const face = this.name(px);
    if (this.face !== face) {
      c.font = this.face = face;
      c.textBaseline = 'middle';
    }
    return c;
  }
}
