// The screen of a program: a canvas on which its frames are replayed, and the devices that a player holds. Program and page share a few words of the program's
// memory, and a frame takes one call: the page writes what the player does, calls the program, and replays the list that it has made. The words are those of
// host/entry/screen_js.go.

import { Library, Replayer } from './surface.js';
import { Devices } from './devices.js';
import { Sound } from './sound.js';

// Where things are among the shared words.
const list = 0, library = 2, size = 4, asked = 6, fingers = 10, pads = 11, moment = 16, hands = 24;

// How many pixels are drawn of those that the screen has, from fine to frugal.
const parts = [1, 0.8, 0.6, 0.45];

// accelerated says whether a graphics processor draws.
export function accelerated() {
  try {
    const gl = new OffscreenCanvas(1, 1).getContext('webgl', { failIfMajorPerformanceCaveat: true });
    gl?.getExtension('WEBGL_lose_context')?.loseContext();
    return !!gl;
  } catch {
    return false;
  }
}

export class Screen {
  constructor(memory, { fine, frugal, mute }, own) {
    this.memory = memory;
    this.fine = fine;
    this.frugal = frugal;
    this.mute = mute;
    this.own = own;
    this.part = frugal ? 2 : 0;
    this.least = this.part; // below which it is not gone again
    this.slow = 0; // seconds of slow frames, and of quick ones
    this.quick = 0;
    this.interval = 1000 / 60;
    this.work = [0, 0];
  }

  // open is called by the program: where its words are, what makes a frame, what gives a file, and which key has a code.
  open(at, frame, file, key, missing) {
    this.at = at;
    this.frame = frame;
    const canvas = this.canvas = document.getElementById('screen') ?? Object.assign(document.createElement('canvas'), { id: 'screen', tabIndex: -1 });
    if (!canvas.isConnected) document.body.prepend(canvas);
    this.context = canvas.getContext('2d', { alpha: false });
    this.library = new Library(file, missing);
    this.sound = new Sound(this.library, this.mute);
    this.replayer = new Replayer(this.context, this.library, this.sound);
    if (!accelerated()) this.replayer.slowly();
    this.devices = new Devices(canvas, key, this.own);
    this.read = 0; // bytes of the library
    this.last = performance.now();
    const loop = now => {
      requestAnimationFrame(loop);
      this.turn(now);
    };
    requestAnimationFrame(loop);
  }

  // words are the shared ones. The memory moves when it grows.
  words() {
    if (this.buffer !== this.memory.buffer) {
      this.buffer = this.memory.buffer;
      this.ints = new Uint32Array(this.buffer, this.at, 64);
      this.floats = new Float32Array(this.buffer, this.at, 64);
      this.view = new DataView(this.buffer);
    }
    return this.ints;
  }

  // turn is one frame.
  turn(now) {
    const ratio = this.fit();
    let w = this.words();
    const passed = now - this.last;
    this.last = now;
    if (passed > 0 && passed < 500) {
      this.interval += (passed - this.interval) * 0.1;
      this.adapt(passed / 1000);
    }
    const f = this.floats;
    f[moment] = innerWidth;
    f[moment + 1] = innerHeight;
    f[moment + 2] = this.interval;
    f[moment + 3] = this.work[0];
    f[moment + 4] = this.work[1];
    f[moment + 5] = ratio;
    this.devices.kind = w[fingers];
    this.devices.write(w, f, hands, w[pads]);
    const t0 = performance.now();
    this.frame();
    const t1 = performance.now();
    w = this.words();
    for (let i = 0; i < 4; i++) this.devices.asked[i] = w[asked + i];
    this.show(w);
    const t2 = performance.now();
    this.work[0] += (t1 - t0 - this.work[0]) * 0.1;
    this.work[1] += (t2 - t1 - this.work[1]) * 0.1;
  }

  // show replays what the program has drawn.
  show(w) {
    const at = w[library], end = w[library + 1];
    if (end > this.read) {
      this.library.read(this.view, at + this.read, at + end);
      this.read = end;
    }
    if (!w[list + 1]) return;
    const { width, height } = this.canvas;
    this.replayer.replay(this.view, w[list], w[list] + w[list + 1], width, height, this.floats[size], this.floats[size + 1]);
    this.devices.draw(this.context, width / innerWidth);
  }

  // fit gives the canvas as many pixels as it is to have, and says how many that are a pixel of the page.
  fit() {
    const ratio = Math.min(devicePixelRatio || 1, this.fine ? 4 : this.frugal ? 1 : 2) * (this.fine ? 1 : parts[this.part]);
    const w = Math.max(1, Math.round(innerWidth * ratio)), h = Math.max(1, Math.round(innerHeight * ratio));
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    return w / innerWidth;
  }

  // adapt draws fewer pixels where frames are slow, as long as that helps, and more again after a while of quick ones.
  adapt(seconds) {
    const rate = 1000 / this.interval;
    this.slow = rate < 40 ? this.slow + seconds : 0;
    this.quick = rate > 55 ? this.quick + seconds : 0;
    if (this.slow > 2 && this.part < parts.length - 1 && !this.fine && !this.stuck) {
      this.before = rate;
      this.part++;
      this.slow = -1; // the new size is given a while
      this.judge = performance.now() + 2500;
    } else if (this.judge && performance.now() > this.judge) {
      this.judge = 0;
      if (rate < this.before * 1.1) { // it was not the pixels
        this.part--;
        this.stuck = true;
        setTimeout(() => { this.stuck = false; }, 30000);
      }
    } else if (this.quick > 15 && this.part > this.least) {
      this.part--;
      this.quick = 0;
    }
  }

  setMute(on) {
    this.mute = on;
    this.sound?.setMute(on);
  }
}
