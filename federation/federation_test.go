package federation_test

import (
	"errors"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/federation"
)

var plain = federation.Sending{}

// An object is discovered as one of the most specific class that is subscribed, with what is known
// of that class.
func TestDiscovers(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b, c := w.join("a"), w.join("b"), w.join("c")
	w.subscribe(b, "vehicle", "place", "fuel")
	w.publish(a, "truck", "fuel", "load", "plate")
	o := w.register(a, "truck", "t1")
	w.hears(b, "discovered vehicle t1")
	_, err := w.set(a, o, "truck", "fuel", "7", -1)
	w.ok(err)
	_, err = w.set(a, o, "truck", "load", "sand", -1)
	w.ok(err)
	_, err = w.set(a, o, "truck", "plate", "X1", -1)
	w.ok(err)
	w.hears(b, "reflected fuel=7")
	w.subscribe(b, "truck", "load")
	o2 := w.register(a, "truck", "t2")
	w.hears(b, "discovered truck t2")
	_, err = w.set(a, o, "truck", "load", "clay", -1)
	w.ok(err)
	_, err = w.set(a, o2, "truck", "load", "oil", -1)
	w.ok(err)
	w.hears(b, "reflected load=oil")
	w.subscribe(c, "truck", "plate", "fuel") // what is kept is told to those who come later
	w.hears(c, "discovered truck t1; reflected plate=X1; discovered truck t2")
	w.hears(a, "updatesWanted fuel; updatesWanted load; updatesWanted plate; "+
		"updatesWanted fuel; updatesWanted plate")
	w.ok(c.Unsubscribe(w.class("truck"), nil))
	_, err = w.set(a, o, "truck", "fuel", "6", -1)
	w.ok(err)
	w.hears(c, "")
	w.ok(c.Forget(o2))
	w.subscribe(c, "vehicle", "fuel")
	w.hears(c, "discovered vehicle t2")
	_, err = a.Delete(o2, plain)
	w.ok(err)
	w.hears(c, "removed")
	w.hears(b, "reflected fuel=6; removed")
	if _, ok := c.Lookup("t2"); ok {
		t.Fatal("a deleted object is known")
	}
	if id, ok := c.Lookup("t1"); !ok || id != o {
		t.Fatal("an object is not known by its name")
	}
}

// Interactions come as the most specific class that is subscribed, with its parameters.
func TestInteractions(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b, c := w.join("a"), w.join("b"), w.join("c")
	call, _ := w.m.Interaction("call")
	crash, _ := w.m.Interaction("crash")
	text, _ := w.m.Parameter(crash, "text")
	speed, _ := w.m.Parameter(crash, "speed")
	args := []federation.Argument{{Parameter: text, Data: []byte("ouch")},
		{Parameter: speed, Data: []byte("90")}}
	if _, err := a.Send(crash, args, plain); !errors.Is(err, federation.ErrState) {
		t.Fatalf("an interaction that is not published is sent: %v", err)
	}
	w.ok(a.PublishInteraction(crash))
	w.ok(b.SubscribeInteraction(call))
	w.ok(c.SubscribeInteraction(crash))
	_, err := a.Send(crash, args, federation.Sending{Tag: []byte("!")})
	w.ok(err)
	w.hears(a, "")
	w.hears(b, `interacted call text=ouch "!"`)
	w.hears(c, `interacted crash text=ouch speed=90 "!"`)
}

// What has a higher priority overtakes what waits.
func TestPriority(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b := w.join("a"), w.join("b")
	w.publish(a, "truck", "fuel", "horn")
	w.subscribe(b, "truck", "fuel", "horn")
	o := w.register(a, "truck", "t")
	w.hears(b, "discovered truck t")
	for _, name := range []string{"fuel", "horn"} {
		_, err := w.set(a, o, "truck", name, "1", -1)
		w.ok(err)
	}
	w.hears(b, "reflected horn=1; reflected fuel=1")
}

// A subscription with an interval is told what it came to.
func TestInterval(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b := w.join("a"), w.join("b")
	w.publish(a, "vehicle", "fuel", "plate")
	w.ok(b.Subscribe(w.class("vehicle"), federation.Subscribing{Interval: time.Second},
		w.attrs("vehicle", "fuel", "plate")...))
	o := w.register(a, "vehicle", "v")
	for _, v := range []string{"1", "2", "3"} {
		_, err := w.set(a, o, "vehicle", "fuel", v, -1)
		w.ok(err)
	}
	_, err := w.set(a, o, "vehicle", "plate", "P", -1)
	w.ok(err)
	w.hears(b, "discovered vehicle v; reflected fuel=1")
	w.x.Tick(time.Second / 2)
	w.hears(b, "")
	w.x.Tick(time.Second)
	w.hears(b, "reflected fuel=3 plate=P")
	w.x.Tick(3 * time.Second)
	w.hears(b, "")
}

// Regions decide who is told, by the dimensions that both have, once they are committed.
func TestRegions(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b := w.join("a"), w.join("b")
	w.publish(a, "vehicle", "place", "fuel")
	o := w.register(a, "vehicle", "v")
	box := func(f *federation.Federate, lo, hi int64) federation.RegionID {
		r, err := f.CreateRegion(0, 1)
		w.ok(err)
		for d := range federation.DimensionID(2) {
			w.ok(f.SetRange(r, d, federation.Range{Lo: lo, Hi: hi}))
		}
		w.ok(f.Commit(r))
		return r
	}
	here, there := box(a, 0, 10), box(b, 500, 600)
	w.ok(a.Associate(o, here, w.attrs("vehicle", "place")...))
	w.ok(b.Subscribe(w.class("vehicle"), federation.Subscribing{
		Regions: []federation.RegionID{there}}, w.attrs("vehicle", "place")...))
	update := func() {
		_, err := w.set(a, o, "vehicle", "place", "p", -1)
		w.ok(err)
	}
	update()
	w.hears(b, "")
	w.ok(a.SetRange(here, 0, federation.Range{Lo: 595, Hi: 605}))
	w.ok(a.SetRange(here, 1, federation.Range{Lo: 595, Hi: 605}))
	update()
	w.hears(b, "")
	w.ok(a.Commit(here))
	update()
	w.hears(b, "discovered vehicle v; reflected place=p")
	w.ok(b.SetRange(there, 1, federation.Range{Lo: 0, Hi: 5}))
	w.ok(b.Commit(there))
	update()
	w.hears(b, "")
	w.ok(a.Dissociate(o, here))
	update()
	w.hears(b, "reflected place=p")
	w.ok(a.DeleteRegion(here))
	if err := b.DeleteRegion(there); !errors.Is(err, federation.ErrState) {
		t.Fatalf("a region that is in use is deleted: %v", err)
	}
	if err := a.SetRange(there, 0, federation.Range{Hi: 1}); !errors.Is(err,
		federation.ErrUnknown) {
		t.Fatalf("another's region is changed: %v", err)
	}
	if err := b.SetRange(there, 0, federation.Range{Lo: 5, Hi: 1001}); !errors.Is(err,
		federation.ErrLimit) {
		t.Fatalf("a region is beyond its dimension: %v", err)
	}
}

// Attributes change owners by negotiation, and have one or none at every moment.
func TestOwnership(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b, c := w.join("a"), w.join("b"), w.join("c")
	for _, f := range []*federation.Federate{a, b, c} {
		w.publish(f, "vehicle", "place", "fuel")
		w.subscribe(f, "vehicle", "place", "fuel")
	}
	o := w.register(a, "vehicle", "v")
	place, fuel := w.attrs("vehicle", "place"), w.attrs("vehicle", "fuel")
	w.heard(a)
	w.hears(b, "discovered vehicle v")
	w.hears(c, "discovered vehicle v")

	w.ok(b.Acquire(o, []byte("please"), place...)) // asked of the owner
	w.hears(a, `wanted place "please"`)
	w.ok(a.Refuse(o, place...))
	w.hears(b, "unavailable place")
	w.ok(b.Acquire(o, nil, place...))
	w.hears(a, "wanted place")
	given, err := a.Release(o)
	w.ok(err)
	if len(given) != 1 || given[0] != place[0] {
		t.Fatalf("released %v", given)
	}
	w.hears(a, "divested place")
	w.hears(b, "acquired place; updatesWanted place")
	if _, err := w.set(a, o, "vehicle", "place", "p", -1); !errors.Is(err, federation.ErrNotOwner) {
		t.Fatalf("who is not the owner updates: %v", err)
	}

	w.ok(a.Offer(o, []byte("who?"), fuel...)) // kept until somebody wants it and it confirms
	w.hears(b, `offered fuel "who?"`)
	w.hears(c, `offered fuel "who?"`)
	w.ok(c.AcquireIfAvailable(o, append(place, fuel...)...))
	w.hears(c, "unavailable place")
	w.hears(a, "confirm fuel")
	if owner, _ := b.OwnerOf(o, fuel[0]); owner != a.ID() {
		t.Fatalf("before it is confirmed %d owns it", owner)
	}
	w.ok(a.Confirm(o))
	w.hears(c, "acquired fuel; updatesWanted fuel")
	w.hears(a, "divested fuel")

	w.ok(b.Divest(o, nil)) // unowned at once, and offered
	w.hears(b, "divested place")
	w.hears(a, "offered place")
	w.hears(c, "offered place")
	if owner, _ := c.OwnerOf(o, place[0]); owner != 0 {
		t.Fatalf("%d owns what was given up", owner)
	}
	w.ok(a.AcquireIfAvailable(o, place...))
	w.hears(a, "acquired place; updatesWanted place")

	w.ok(c.Unpublish(w.class("vehicle"), fuel...))
	w.hears(c, "divested fuel")
	w.hears(a, "offered fuel")
	w.hears(b, "offered fuel")
	if err := c.Acquire(o, nil, fuel...); !errors.Is(err, federation.ErrState) {
		t.Fatalf("what is not published is acquired: %v", err)
	}
	if _, err := b.Delete(o, plain); !errors.Is(err, federation.ErrNotOwner) {
		t.Fatalf("an object is deleted without the privilege: %v", err)
	}
	if err := a.Resign(federation.Cancel); !errors.Is(err, federation.ErrState) {
		t.Fatalf("who owns something resigns without a word of it: %v", err)
	}
	w.ok(a.Resign(federation.Divest | federation.Cancel))
	w.hears(b, `offered privilege place; left a "resigned"`)
}

// What a lost federate owned is offered, and deleted if nobody takes anything of it.
func TestLost(t *testing.T) {
	w := newTester(t, federation.Options{Adopt: time.Second})
	a, b := w.join("a"), w.join("b")
	w.publish(a, "vehicle", "fuel")
	w.publish(b, "vehicle", "fuel")
	w.subscribe(b, "vehicle", "fuel")
	o := w.register(a, "vehicle", "kept")
	w.register(a, "vehicle", "gone")
	w.ok(b.ReserveName("mine"))
	w.heard(b)
	w.x.Lose(a, "it is silent")
	w.hears(a, `out "it is silent"`)
	w.hears(b, `offered privilege fuel; offered privilege fuel; left a "it is silent"`)
	w.ok(b.Acquire(o, nil, w.attrs("vehicle", "fuel")...))
	w.hears(b, "acquired fuel; updatesIdle fuel")
	w.x.Tick(time.Second)
	w.hears(b, "removed")
	if err := a.EnableConstraint(); !errors.Is(err, federation.ErrGone) {
		t.Fatalf("who has left is served: %v", err)
	}
	if _, err := w.x.Join("a"); err != nil {
		t.Fatal("a lost federate cannot come back", err)
	}
}

// Synchronisation points, with late-comers, failures and those who leave.
func TestPoints(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b := w.join("a"), w.join("b")
	w.ok(a.RegisterPoint("ready", []byte("go")))
	c := w.join("c")
	d := w.join("d")
	for _, f := range []*federation.Federate{a, b, c, d} {
		w.hears(f, `pointAnnounced ready "go"`)
	}
	w.ok(a.Achieve("ready", true))
	w.ok(b.Achieve("ready", false))
	w.ok(c.Achieve("ready", true))
	if err := c.Achieve("ready", true); !errors.Is(err, federation.ErrState) {
		t.Fatalf("a point is achieved twice: %v", err)
	}
	w.hears(a, "")
	w.ok(d.Resign(federation.DeleteThenDivest))
	w.hears(a, `left d "resigned"; pointReached ready without [b]`)
	w.ok(a.RegisterPoint("two", nil, "b", "c"))
	w.hears(a, "")
	w.ok(b.Achieve("two", true))
	w.ok(c.Achieve("two", true))
	w.heard(b)
	if err := a.RegisterPoint("three", nil, "nobody"); !errors.Is(err, federation.ErrUnknown) {
		t.Fatalf("a point for nobody: %v", err)
	}
}

// The model grows while the federation runs.
func TestExtends(t *testing.T) {
	w := newTester(t, federation.Options{})
	a, b := w.join("a"), w.join("b")
	w.publish(a, "truck", "load")
	w.subscribe(b, "vehicle", "fuel")
	o := w.register(a, "truck", "t")
	more := &federation.ModelFile{Classes: []federation.ClassFile{
		{Name: "vehicle", Attributes: []federation.AttributeFile{{Name: "colour"}}},
		{Name: "tanker", Parent: "truck"}}}
	w.ok(w.x.Extend(more))
	w.hears(b, "discovered vehicle t; extended")
	w.ok(w.x.Extend(more)) // again, which is nothing new
	w.subscribe(b, "vehicle", "colour")
	w.publish(a, "truck", "colour")
	w.ok(a.Acquire(o, nil, w.attrs("truck", "colour")...))
	_, err := w.set(a, o, "truck", "colour", "red", -1)
	w.ok(err)
	w.hears(b, "extended; reflected colour=red")
	clash := &federation.ModelFile{Classes: []federation.ClassFile{
		{Name: "cart"}, {Name: "truck", Parent: "cart"}}}
	if err := w.x.Extend(clash); !errors.Is(err, federation.ErrModel) {
		t.Fatalf("a clash is taken: %v", err)
	}
	if _, ok := w.x.Model().Class("cart"); ok {
		t.Fatal("half of a refused extension is there")
	}
}

// A federate that takes nothing, or goes on doing what it may not, is put out; the rest go on.
func TestPutOut(t *testing.T) {
	w := newTester(t, federation.Options{Strikes: 3, Waiting: 100})
	a, b, c := w.join("a"), w.join("b"), w.join("c")
	w.publish(a, "vehicle", "fuel")
	w.subscribe(b, "vehicle", "fuel")
	w.subscribe(c, "vehicle", "fuel")
	o := w.register(a, "vehicle", "v")
	for range 4 {
		if _, err := w.set(b, o, "vehicle", "fuel", "0", -1); !errors.Is(err,
			federation.ErrNotOwner) {
			t.Fatalf("another's attribute is claimed: %v", err)
		}
	}
	w.hears(b, `out "it went on doing what it may not: object 1, attribute \"fuel\": not the owner"`)
	for i := range 200 {
		_, err := w.set(a, o, "vehicle", "fuel", "0", -1)
		w.ok(err)
		if i == 0 {
			w.hears(a, `updatesWanted fuel; left b "it went on doing what it may not: `+
				`object 1, attribute \"fuel\": not the owner"`)
		}
	}
	w.hears(c, `out "it takes nothing: too much waits for it"`)
	w.hears(a, `updatesIdle fuel; left c "it takes nothing: too much waits for it"`)
	if len(w.x.Federates()) != 1 {
		t.Fatalf("%d are in", len(w.x.Federates()))
	}
}
