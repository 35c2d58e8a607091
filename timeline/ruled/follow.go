package ruled

import (
	"cmp"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// follow lets the trail execute what was ruled, and never ahead of the leading world.
func (t *Timeline) follow() {
	for t.Err == nil && t.trail.Tick() < t.lead.Tick() {
		n := t.trail.Tick() + 1
		r := t.rulings.at(n)
		if r == nil {
			return
		}
		if !t.resolve(t.in, r, t.trail) {
			return
		}
		t.Step(t.trail, t.in)
		did := t.Observe(t.trail, t.in)
		t.mine, *did = *did, t.mine
		t.Hash(&t.mine, t.trail)
		if t.prove(r, &t.mine, t.trail); t.Err != nil {
			return
		}
		t.check()
		if !t.Held() && t.Err == nil {
			t.end(n, &t.mine)
		}
	}
}

// prove sees whether the same strict events happened as at the judge.
func (t *Timeline) prove(r *Ruling, did *timeline.Outcome, w *world.World) {
	if d := t.Digest(did); d != r.Digest {
		t.Err = t.Desync(w, uint64(d), uint64(r.Digest))
	}
}

// check compares what was ruled with what the leading world did.
func (t *Timeline) check() {
	n := t.trail.Tick()
	its := t.history.At(n)
	sure := func() bool { return t.doubtFrom == 0 || n < t.doubtFrom }
	switch {
	case !t.mine.SameTold(its):
		t.doubtFrom = cmp.Or(t.doubtFrom, n)
		t.doubtLast = n
	case sure() && t.ruled == n-1:
		t.ruled = n
	}
	if a, b, both := t.mine.Hashes(its); both {
		switch {
		case a == b:
			t.doubtFrom, t.doubtLast = 0, 0
			t.ruled = max(t.ruled, n)
		case sure():
			t.Err = t.Desync(t.trail, a, b)
			return
		case t.o.Calm > 0 && n > t.doubtLast+world.Tick(t.Clock.Ticks(t.o.Calm)):
			t.Counts.Refreshes++
			t.recover()
			return
		}
	}
	if !sure() && t.Differ(&t.mine, its) {
		t.recover()
	}
}

// recover takes the leading world back to the trail and computes its ticks again.
func (t *Timeline) recover() {
	n, goal := t.trail.Tick(), t.lead.Tick()
	t.Rewind(&t.history, n, goal, true, func() {
		t.Copy(t.lead, t.trail)
		t.late.Reset()
		t.doubtFrom, t.doubtLast, t.ruled = 0, 0, n
		if n > t.Done() {
			t.Tell(&t.history, &t.mine)
		}
		for t.Err == nil && t.lead.Tick() < goal {
			t.execute()
		}
	})
}

// settle lets the last copy, if ticks are held, execute what may be settled.
func (t *Timeline) settle() {
	if !t.Held() {
		return
	}
	for to := min(t.Settles(), t.trail.Tick()); t.Err == nil && t.Done() < to; {
		n := t.Done() + 1
		r := t.rulings.at(n)
		if !t.resolve(t.in, r, t.final) {
			return
		}
		t.Step(t.final, t.in)
		did := t.Observe(t.final, t.in)
		if t.prove(r, did, t.final); t.Err == nil {
			t.end(n, did)
		}
	}
}

// end settles a tick for good that was computed from t.in.
func (t *Timeline) end(n world.Tick, did *timeline.Outcome) {
	t.terms.trim(n)
	t.Settle(t.history.At(n), did, t.in, t.Settled)
}
