package timeline

import "github.com/coeval-dev/coeval/world"

// follow lets the trail execute what was ruled, and never ahead of the leading world.
func (t *Ruled) follow() {
	for t.err == nil && t.trail.Tick() < t.lead.Tick() {
		n := t.trail.Tick() + 1
		r := t.rulings.at(n)
		if r == nil {
			return
		}
		if !t.resolve(t.in, r, t.trail) {
			return
		}
		t.step(t.trail, t.in)
		t.watch.record(&t.mine, t.trail, t.in)
		if every := t.options.HashEvery; every > 0 && n%world.Tick(every) == 0 {
			t.mine.hash, t.mine.hashed = t.trail.Hash(), true
		}
		if t.prove(r, &t.mine, t.trail); t.err != nil {
			return
		}
		t.check()
		if !t.held && t.err == nil {
			t.end(n, &t.mine)
		}
	}
}

// prove sees whether the same strict events happened as at the judge.
func (t *Ruled) prove(r *Ruling, did *record, w *world.World) {
	if d := t.watch.digest(did); d != r.Digest {
		t.err = t.desync(w, uint64(d), uint64(r.Digest))
	}
}

// check compares what was ruled with what the leading world did.
func (t *Ruled) check() {
	n := t.trail.Tick()
	its := t.history.at(n)
	sure := func() bool { return t.doubtFrom == 0 || n < t.doubtFrom }
	switch {
	case !sameTold(&t.mine, its):
		if t.doubtFrom == 0 {
			t.doubtFrom = n
		}
		t.doubtLast = n
	case sure() && t.ruled == n-1:
		t.ruled = n
	}
	if its != nil && t.mine.hashed && its.hashed {
		switch {
		case t.mine.hash == its.hash:
			t.doubtFrom, t.doubtLast = 0, 0
			t.ruled = max(t.ruled, n)
		case sure():
			t.err = t.desync(t.trail, t.mine.hash, its.hash)
			return
		case t.o.Calm > 0 && n > t.doubtLast+world.Tick(t.ticks(t.o.Calm)):
			t.stats.Refreshes++
			t.recover()
			return
		}
	}
	if !sure() && t.watch.compare(&t.mine, its, false) != alike {
		t.recover()
	}
}

// recover takes the leading world back to the trail and computes its ticks again.
func (t *Ruled) recover() {
	n, goal := t.trail.Tick(), t.lead.Tick()
	t.stats.Rollbacks++
	t.stats.Seen++
	t.stats.Depth += int(goal - n)
	t.stats.Deepest = max(t.stats.Deepest, int(goal-n))
	t.before.copyFrom(t.history.place(goal))
	t.copy(t.lead, t.trail)
	t.late.reset()
	t.doubtFrom, t.doubtLast, t.ruled = 0, 0, n
	if n > t.settled {
		t.tell(&t.mine)
	}
	for t.err == nil && t.lead.Tick() < goal {
		t.execute()
	}
	t.jumped(&t.before, t.history.place(goal))
}

// settle lets the last copy, if ticks are held, execute what may be settled.
func (t *Ruled) settle() {
	if !t.held {
		return
	}
	for to := min(t.Settles(), t.trail.Tick()); t.err == nil && t.settled < to; {
		n := t.settled + 1
		r := t.rulings.at(n)
		if !t.resolve(t.in, r, t.final) {
			return
		}
		t.step(t.final, t.in)
		did := &t.watch.spare
		t.watch.record(did, t.final, t.in)
		if t.prove(r, did, t.final); t.err == nil {
			t.end(n, did)
		}
	}
}

// end settles a tick for good that was computed from t.in.
func (t *Ruled) end(n world.Tick, did *record) {
	t.watch.confirm(&t.notices, t.history.at(n), did)
	t.settled = n
	t.stats.Settled++
	t.book.trim(n)
	t.terms.trim(n)
	if t.options.Settled != nil {
		t.options.Settled(t.final, t.in)
	}
}
