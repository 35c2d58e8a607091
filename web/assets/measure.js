// Round trips as far as a page can tell them: it asks each site several times for nothing, over a connection that is open, and takes the median. What passes before the
// request is sent does not count, where the browser says when that was.

const rounds = 9; // probes of a site
const apart = 60; // milliseconds between two of them
const again = 20000; // until a site is measured anew
const patience = 2000;
const atOnce = 8; // sites
const median = list => { const s = [...list].sort((a, b) => a - b), n = s.length; return (s[(n - 1) >> 1] + s[n >> 1]) / 2; };
const pause = time => new Promise(done => setTimeout(done, time));

// took is how long a request was on its way.
function took(url, from) {
  const whole = performance.now() - from;
  const e = performance.getEntriesByName(url).pop();
  const way = e && e.requestStart > 0 && e.responseStart > 0 ? e.responseStart - e.requestStart : 0;
  return way > 0 ? Math.min(way, whole) : whole;
}

export class Measure {
  #sites = new Map();
  #running = 0;
  #changed;
  #number = 0;

  // Changed is called when something new is known.
  constructor(changed) { this.#changed = changed; }

  // add has a site be measured, now and again.
  add(site) {
    if (this.#sites.has(site)) return;
    this.#sites.set(site, { due: 0, trips: [], lost: 0 });
    this.#next();
  }

  // of is what is known of a site: rtt, jitter and loss, or silent.
  of(site) {
    const s = this.#sites.get(site);
    return s ? s.known ?? { silent: s.silent } : null;
  }

  #next() {
    const now = performance.now();
    for (const [site, s] of this.#sites) {
      if (this.#running >= atOnce) return;
      if (s.busy || s.due > now) continue;
      s.busy = true;
      this.#running++;
      this.#measure(site, s).finally(() => {
        s.busy = false;
        s.due = performance.now() + again;
        setTimeout(() => this.#next(), again + 10);
        this.#running--;
        this.#next();
      });
    }
  }

  async #measure(site, s) {
    const trips = [];
    let lost = 0;
    // The first opens the connection, and does not count.
    if (await this.#probe(site) === null && await this.#probe(site) === null) {
      s.known = undefined;
      s.silent = true;
      return this.#changed();
    }
    for (let i = 0; i < rounds; i++) {
      const trip = await this.#probe(site);
      if (trip === null) lost++;
      else trips.push(trip);
      if (trips.length > 2 || i === rounds - 1) this.#tell(s, trips, lost);
      await pause(apart * (0.5 + Math.random()));
    }
  }

  #tell(s, trips, lost) {
    s.silent = !trips.length;
    if (!trips.length) s.known = undefined;
    else {
      const differ = trips.slice(1).map((t, i) => Math.abs(t - trips[i]));
      s.known = { rtt: median(trips), jitter: differ.length ? differ.reduce((a, b) => a + b) / differ.length : 0, loss: lost / (lost + trips.length), probes: trips.length + lost };
    }
    this.#changed();
  }

  async #probe(site) {
    const url = `${site}/ping?${++this.#number}`;
    const from = performance.now();
    try {
      const answer = await fetch(url, { cache: 'no-store', credentials: 'omit', priority: 'high', signal: AbortSignal.timeout(patience) });
      return answer.ok ? took(url, from) : null;
    } catch {
      return null;
    } finally {
      if (this.#number % 100 === 0) performance.clearResourceTimings();
    }
  }
}
