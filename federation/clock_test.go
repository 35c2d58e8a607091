package federation_test

import (
	"errors"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/federation"
)

// Two regulate and are constrained: each is told what the other sends, in order, and gets no time
// before nothing below it can come.
func TestAdvances(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b := timedPair(w, 10)
	o := w.register(a, "vehicle", "v")
	w.heard(b)
	w.heard(a)
	for _, at := range []federation.Time{30, 10, 20} {
		_, err := w.set(a, o, "vehicle", "place", "p", at)
		w.ok(err)
	}
	if _, err := w.set(a, o, "vehicle", "place", "p", 9); !errors.Is(err, federation.ErrTime) {
		t.Fatalf("what was promised not to come is taken: %v", err)
	}
	w.ok(b.AdvanceTo(15))
	w.hears(b, "") // a is at 0 and may still send something of 10
	w.ok(a.AdvanceTo(6))
	w.hears(a, "granted @6")
	w.hears(b, "reflected place=p @10; granted @15")
	if err := b.AdvanceTo(14); !errors.Is(err, federation.ErrTime) {
		t.Fatalf("time goes back: %v", err)
	}
	w.ok(b.AdvanceToNext(100))
	w.hears(b, "")
	w.ok(a.AdvanceTo(14))
	w.hears(a, "granted @14")
	w.hears(b, "reflected place=p @20; granted @20")
	w.ok(b.AdvanceToAvailable(30))
	w.ok(a.AdvanceTo(20))
	w.hears(b, "reflected place=p @30; granted @30")
	_, err := w.set(a, o, "vehicle", "place", "q", 30)
	w.ok(err)
	w.ok(b.AdvanceToNextAvailable(30))
	w.hears(b, "reflected place=q @30; granted @30")
	w.ok(a.Resign(federation.Divest | federation.Cancel))
	w.ok(b.AdvanceTo(1000))
	w.hears(b, `left a "resigned"; granted @1000`)
}

// timedPair are two federates that regulate with a look-ahead and are constrained; a publishes and
// b subscribes.
func timedPair(w *tester, lookahead federation.Time) (a, b *federation.Federate) {
	w.t.Helper()
	a, b = w.join("a"), w.join("b")
	w.publish(a, "vehicle", "place", "fuel")
	w.subscribe(b, "vehicle", "place", "fuel")
	for _, f := range []*federation.Federate{a, b} {
		w.ok(f.EnableRegulation(lookahead))
		w.ok(f.EnableConstraint())
		w.hears(f, "regulating @0; constrained @0")
	}
	return a, b
}

// Without look-ahead two go on by the next message each, and what was granted by an advance is
// closed.
func TestNoLookahead(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b := timedPair(w, 0)
	o := w.register(a, "vehicle", "v")
	w.heard(a)
	w.heard(b)
	w.ok(a.AdvanceToNextAvailable(100))
	w.ok(b.AdvanceToNextAvailable(50))
	w.hears(b, "granted @50")
	w.hears(a, "")
	w.ok(b.AdvanceTo(60)) // a can be told nothing before 61, so it sends nothing before that
	w.hears(b, "granted @60")
	w.hears(a, "")
	w.ok(b.Resign(federation.DeleteThenDivest))
	w.hears(a, `updatesIdle place; updatesIdle fuel; left b "resigned"; granted @100`)
	_, err := w.set(a, o, "vehicle", "place", "p", 100)
	w.ok(err) // of the very time, as it was granted as available
	w.ok(a.AdvanceTo(100))
	if _, err := w.set(a, o, "vehicle", "place", "p", 100); !errors.Is(err, federation.ErrTime) {
		t.Fatalf("something is sent of a time that is closed: %v", err)
	}
	_, err = w.set(a, o, "vehicle", "place", "p", 101)
	w.ok(err)
}

// Who begins to regulate late begins no lower than keeps what everybody was promised.
func TestRegulatesLate(t *testing.T) {
	w := newTester(t, federation.Options{})
	a := w.join("a")
	w.ok(a.EnableConstraint())
	w.ok(a.AdvanceTo(100))
	w.hears(a, "constrained @0; granted @100")
	b := w.join("b")
	w.ok(b.EnableRegulation(30))
	w.hears(b, "regulating @71") // and nothing of it comes before 101
	if got := a.Limit(); got != 101 {
		t.Fatalf("nothing comes to a before %d", got)
	}
	w.ok(b.SetLookahead(10)) // less takes effect as time passes
	if got := a.Limit(); got != 101 {
		t.Fatalf("a promise is taken back: %d", got)
	}
	w.ok(b.AdvanceTo(95))
	if got := a.Limit(); got != 105 {
		t.Fatalf("nothing comes to a before %d", got)
	}
}

// One who computes on guesses takes back what it sent: it never comes where it waits, and where it
// was delivered that is told.
func TestRetracts(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b := timedPair(w, 5)
	c := w.join("c")
	w.subscribe(c, "vehicle", "place")
	o := w.register(a, "vehicle", "v")
	w.heard(a)
	w.heard(b)
	w.heard(c)
	r, err := w.set(a, o, "vehicle", "place", "p", 10)
	w.ok(err)
	s, err := w.set(a, o, "vehicle", "place", "q", 20)
	w.ok(err)
	w.hears(c, "reflected place=p @10 as it came; reflected place=q @20 as it came")
	w.ok(a.Retract(r))
	w.hears(c, "retracted")
	w.ok(b.Flush(100)) // all that waits, and no time that others can undercut
	w.hears(b, "reflected place=q @20; granted @5")
	w.ok(a.Retract(s))
	w.hears(b, "retracted")
	if err := a.Retract(s); !errors.Is(err, federation.ErrTime) {
		t.Fatalf("retracted twice: %v", err)
	}
	d, err := a.Delete(o, federation.Sending{Stamped: true, Time: 30})
	w.ok(err)
	if _, err := w.set(a, o, "vehicle", "place", "p", 20); !errors.Is(err, federation.ErrUnknown) {
		t.Fatalf("a deleted object is updated: %v", err)
	}
	w.hears(c, "retracted; removed @30 as it came")
	w.ok(a.Retract(d))
	w.hears(c, "retracted")
	_, err = w.set(a, o, "vehicle", "place", "r", 20)
	w.ok(err)
	w.hears(c, "reflected place=r @20 as it came")
	d, err = a.Delete(o, federation.Sending{Stamped: true, Time: 30})
	w.ok(err)
	w.ok(a.AdvanceTo(26))
	w.ok(b.AdvanceTo(30))
	w.hears(b, "reflected place=r @20; removed @30; granted @30")
	if err := a.Retract(d); !errors.Is(err, federation.ErrTime) {
		t.Fatalf("what can be relied on is retracted: %v", err)
	}
	if _, err := a.Register(w.class("vehicle"), "v"); err != nil {
		t.Fatal("the name of a deleted object is still taken: ", err)
	}
}

// Who keeps others waiting is named, and put out in the end.
func TestPatience(t *testing.T) {
	w := newTester(t, federation.Options{Patience: time.Second})
	a, b := timedPair(w, 5)
	w.ok(b.AdvanceTo(10))
	for now := time.Duration(0); now <= 6*time.Second; now += time.Second / 2 {
		w.x.Tick(now)
		if !a.Left() {
			b.Lookahead()
		}
	}
	w.hears(b, `waited a "to advance its time"; `+
		`left a "others wait for it, and it says nothing: to advance its time"; granted @10`)
	w.hears(a, `out "others wait for it, and it says nothing: to advance its time"`)
}

// A federation is saved with what waits for times to come, and goes back to that as a whole.
func TestSaves(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b := timedPair(w, 5)
	o := w.register(a, "vehicle", "v")
	_, err := w.set(a, o, "vehicle", "place", "before", 20)
	w.ok(err)
	w.heard(a)
	w.heard(b)
	w.ok(a.RequestSaveAt("s", 10))
	w.hears(a, "")
	w.ok(b.AdvanceTo(12))
	w.ok(a.AdvanceTo(8))
	w.hears(a, "granted @8")
	w.ok(a.AdvanceTo(11))
	w.hears(a, "saveBegins s")
	w.hears(b, "saveBegins s")
	if _, err := w.set(a, o, "vehicle", "fuel", "1", -1); !errors.Is(err, federation.ErrState) {
		t.Fatalf("something changes while all is saved: %v", err)
	}
	if _, err := w.x.Join("late"); !errors.Is(err, federation.ErrState) {
		t.Fatalf("somebody joins while all is saved: %v", err)
	}
	w.ok(a.Saved(true))
	w.ok(b.Saved(true))
	w.hears(a, "saveEnded s true; granted @11")
	w.hears(b, "saveEnded s true; granted @12")
	data := w.x.Save("s")

	_, err = a.Delete(o, federation.Sending{})
	w.ok(err)
	w.hears(b, "removed")
	w.ok(b.RequestRestore("s"))
	w.hears(a, "restoreBegins s")
	w.ok(a.Saved(true))
	w.ok(b.Saved(true))
	w.hears(a, "restoreEnded s true; granted @11")
	w.hears(b, "restoreEnded s true; granted @12")
	w.ok(a.AdvanceTo(30))
	w.ok(b.AdvanceTo(30))
	w.hears(b, "reflected place=before @20; granted @30")

	// Another execution goes on from it.
	v := newTester(t, federation.Options{})
	v.ok(v.x.LoadSave("s", data))
	c, d := v.join("b"), v.join("a")
	v.ok(c.RequestRestore("s"))
	v.ok(c.Saved(true))
	v.ok(d.Saved(true))
	v.heard(c)
	v.heard(d)
	_, err = v.set(d, o, "vehicle", "place", "after", 25)
	v.ok(err)
	v.ok(d.AdvanceTo(30))
	v.ok(c.AdvanceTo(30))
	v.hears(c, "reflected place=before @20; reflected place=after @25; granted @30")

	data[len(data)/2] ^= 1
	if err := v.x.LoadSave("s", data); err == nil {
		t.Fatal("a damaged save is taken")
	}
}
