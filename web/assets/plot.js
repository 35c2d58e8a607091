// A Plot draws the last seconds of one or more series on a canvas, as lines or, with stack, as areas on top of each other.

export class Plot {
  constructor(canvas, { seconds = 60, colors, floor = 1, format = String, fill = true, stack = false, rules = '#1a2333' }) {
    Object.assign(this, { canvas, seconds, colors, floor, format, fill, stack, rules });
    this.series = colors.map(() => []);
  }

  // add appends one value for each series, at a time in seconds.
  add(time, ...values) {
    values.forEach((v, i) => {
      const s = this.series[i];
      s.push([time, v]);
      while (s.length > 2 && s[1][0] < time - this.seconds) s.shift();
    });
    this.now = time;
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (!w || this.now === undefined) return;
    if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) { this.canvas.width = Math.round(w * ratio); this.canvas.height = Math.round(h * ratio); }
    const c = this.canvas.getContext('2d');
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    let top = this.floor;
    const series = this.stack ? this.stacked() : this.series;
    for (const s of series) for (const [, v] of s) top = Math.max(top, v);
    top = nice(top);
    c.strokeStyle = this.rules;
    c.lineWidth = 1;
    c.beginPath();
    for (let i = 1; i < 3; i++) { const y = Math.round(h * i / 3) + .5; c.moveTo(0, y); c.lineTo(w, y); }
    c.stroke();
    const x = t => w - (this.now - t) / this.seconds * w;
    const y = v => h - 2 - v / top * (h - 6);
    series.forEach((s, i) => {
      if (s.length < 2) return;
      c.beginPath();
      if (this.stack) {
        s.forEach(([t, v], k) => k ? c.lineTo(x(t), y(v)) : c.moveTo(x(t), y(v)));
        for (let k = s.length - 1; k >= 0; k--) c.lineTo(x(s[k][0]), i ? y(series[i - 1][k][1]) : h);
        c.fillStyle = this.colors[i];
        c.fill();
        return;
      }
      s.forEach(([t, v], k) => { if (v !== null) c[k && s[k - 1][1] !== null ? 'lineTo' : 'moveTo'](x(t), y(v)); }); // null is a gap
      c.strokeStyle = this.colors[i];
      c.lineWidth = 1.5;
      c.stroke();
      if (this.fill && i === 0) {
        c.lineTo(x(s[s.length - 1][0]), h);
        c.lineTo(x(s[0][0]), h);
        c.globalAlpha = .13;
        c.fillStyle = this.colors[i];
        c.fill();
        c.globalAlpha = 1;
      }
    });
    c.fillStyle = '#5f6d87';
    c.font = '10px system-ui, sans-serif';
    c.fillText(this.format(top), 4, 11);
  }

  // stacked gives the series each on top of those before it.
  stacked() {
    const sums = this.series[0].map(() => 0);
    return this.series.map(s => s.map(([t, v], k) => [t, sums[k] += v]));
  }
}

// nice rounds up to what a person would write on an axis.
function nice(v) {
  const p = 10 ** Math.floor(Math.log10(v));
  for (const k of [1, 1.5, 2, 3, 5, 7.5, 10]) if (k * p >= v) return k * p;
  return v;
}
