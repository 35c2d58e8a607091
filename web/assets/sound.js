// Plays what is to be heard: tones, samples, and files of the game. Browsers let a page be heard after its first key or touch only; what came before is not
// played later.

const most = 24; // voices at once

export class Sound {
  constructor(library, mute) {
    this.library = library;
    this.mute = mute;
    this.files = []; // AudioBuffers by number; null while they are read, or if there is none
    this.voices = 0;
    const begin = () => this.begin();
    for (const name of ['pointerdown', 'keydown', 'touchend']) addEventListener(name, begin, { capture: true, passive: true });
  }

  // begin is called at a gesture.
  begin() {
    if (this.context) {
      if (this.context.state === 'suspended') this.context.resume();
      return;
    }
    const Context = window.AudioContext;
    if (!Context || this.mute) return;
    const c = this.context = new Context({ latencyHint: 'interactive' });
    this.out = c.createGain();
    this.out.gain.value = 0.8;
    const limit = c.createDynamicsCompressor(); // many at once are not louder than loud
    this.out.connect(limit).connect(c.destination);
    const noise = this.noise = c.createBuffer(1, c.sampleRate, c.sampleRate);
    const data = noise.getChannelData(0);
    for (let i = 0; i < data.length; i++) data[i] = 2 * Math.random() - 1;
  }

  setMute(on) {
    this.mute = on;
    if (!on) this.begin();
    if (this.out) this.out.gain.value = on ? 0 : 0.8;
  }

  // ready says whether another voice may be heard.
  ready() { return this.context?.state === 'running' && !this.mute && this.voices < most; }

  // start connects a source, or what it goes through, and counts it until it ends.
  start(source, through, volume, pan, seconds) {
    const c = this.context, gain = c.createGain();
    const v = Math.max(0, Math.min(1, volume));
    gain.gain.setValueAtTime(v, c.currentTime);
    let last = through.connect(gain);
    if (pan) {
      const p = c.createStereoPanner();
      p.pan.value = Math.max(-1, Math.min(1, pan));
      last = last.connect(p);
    }
    last.connect(this.out);
    this.voices++;
    source.onended = () => { this.voices--; last.disconnect(); };
    source.start();
    if (seconds) {
      gain.gain.setValueAtTime(0, c.currentTime);
      gain.gain.linearRampToValueAtTime(v, c.currentTime + Math.min(0.005, seconds / 4)); // no click
      gain.gain.exponentialRampToValueAtTime(Math.max(1e-4, v / 300), c.currentTime + seconds);
      source.stop(c.currentTime + seconds);
    }
  }

  tone(wave, from, to, seconds, volume, pan) {
    seconds = Math.min(seconds, 10);
    if (!this.ready() || !(seconds > 0) || !(volume > 0)) return;
    const c = this.context, pitch = f => Math.max(20, Math.min(c.sampleRate / 2, f));
    if (wave === 3) {
      const s = c.createBufferSource();
      s.buffer = this.noise;
      s.loop = true;
      const low = c.createBiquadFilter(); // its pitch is how bright noise is
      low.type = 'lowpass';
      low.frequency.setValueAtTime(pitch(from), c.currentTime);
      low.frequency.exponentialRampToValueAtTime(pitch(to), c.currentTime + seconds);
      this.start(s, s.connect(low), volume, pan, seconds);
      return;
    }
    const o = c.createOscillator();
    o.type = ['sine', 'triangle', 'square'][wave];
    o.frequency.setValueAtTime(pitch(from), c.currentTime);
    o.frequency.exponentialRampToValueAtTime(pitch(to), c.currentTime + seconds);
    this.start(o, o, volume, pan, seconds);
  }

  sound(id, volume, pan) {
    const buffer = this.files[id];
    if (buffer === undefined) this.load(id, volume, pan); // even while nothing can be heard, so that it is there in time
    if (!buffer || !this.ready() || !(volume > 0)) return;
    const s = this.context.createBufferSource();
    s.buffer = buffer;
    this.start(s, s, volume, pan, 0);
  }

  // load makes a sound that can be played, and plays it if that did not take long.
  load(id, volume, pan) {
    const made = this.library.samples[id];
    if (made) {
      if (!this.context) return;
      const b = this.files[id] = this.context.createBuffer(1, Math.max(1, made.data.length), made.rate);
      b.copyToChannel(made.data, 0);
      this.sound(id, volume, pan);
      return;
    }
    if (!this.context) return;
    this.files[id] = null;
    const asked = performance.now();
    setTimeout(async () => { // the program is in the middle of a frame
      const name = this.library.names[id] ?? '', bytes = await this.library.ask(name);
      if (!bytes) {
        this.library.missing(name, 'sound', '');
        return;
      }
      try {
        this.files[id] = await this.context.decodeAudioData(bytes.buffer);
        if (performance.now() - asked < 150) this.sound(id, volume, pan);
      } catch {
        this.library.missing(name, 'sound', 'it is none that a browser can read');
      }
    });
  }
}
