package mirror

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// TestWhoCounts: a command counts where its mirror spoke for the player, and nobody says so before
// it can no longer change.
func TestWhoCounts(t *testing.T) {
	r := newRoll(60)
	r.self = 3
	r.led(1, 1)
	r.registry.apply(&item{what: assignJoin, player: 1, client: 7, member: 2, tick: 100})
	p := newPeer(2)
	p.started, p.from = true, 90
	idle := newPeer(2)
	for _, c := range []struct {
		name   string
		of     *peer
		origin member.ID
		player world.Player
		tick   world.Tick
		bound  world.Tick
		want   counting
	}{
		{"its own player", p, 2, 1, 110, 100, counts},
		{"before it was started", p, 2, 1, 90, 100, countsNot},
		{"of one that was not started", idle, 2, 1, 110, 200, countsMaybe},
		{"of one that may have lost the player", p, 2, 1, 161, 100, countsMaybe},
		{"another's player, which may be its own soon", p, 2, 2, 110, 109, countsMaybe},
		{"another's player", p, 2, 2, 110, 110, countsNot},
		{"before it was given the player", p, 2, 1, 99, 99, countsNot},
	} {
		cmd := timeline.Command{Origin: c.origin, Player: c.player, Tick: c.tick}
		if got := r.counts(c.of, &cmd, c.bound); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestWhoLeads: what is decided is known as far as every überserver that is not gone has promised,
// and who follows another waits for that one.
func TestWhoLeads(t *testing.T) {
	r := newRoll(60)
	r.self = 1
	a, b := newPeer(2), newPeer(3)
	a.promise, b.promise = 40, 50
	list := peers{}.with(b).with(a)
	own := &standing{promise: 70}
	r.led(2, 1)
	if got := r.bound(own, list); got != 40 || r.succeeds(2, r.epoch, list) {
		t.Errorf("bound %d", got)
	}
	r.led(3, 2)
	if got := r.bound(own, list); got != 40 || !r.succeeds(3, r.epoch, list) {
		t.Errorf("the one before is forgotten: bound %d", got)
	}
	if r.succeeds(2, 1, list) {
		t.Error("the one before waits for the one after it")
	}
	delete(r.leaders, 2)
	if got := r.bound(own, list.without(2)); got != 50 || r.succeeds(3, r.epoch, list) {
		t.Errorf("bound %d after the one before is gone", got)
	}
	r.led(1, 3)
	delete(r.leaders, 3)
	if got := r.bound(own, list); got != 70 {
		t.Errorf("bound %d of its own", got)
	}
	if r.led(2, 4); !r.succeeds(2, 4, list) || r.resign(3, 4, 90) || !r.resign(1, 4, 90) ||
		r.succeeds(2, 4, list) || r.final != 90 || r.resign(1, 4, 99) {
		t.Errorf("after it resigned: %+v", r)
	}
	r.led(1, 5)
	if r.led(3, 6); r.first(1) != 5 || !r.succeeds(3, 6, list) || r.resign(1, 5, 91) {
		t.Errorf("it led again, and is not waited for: %+v", r)
	}
	if r.led(1, 2000); len(r.epochs) != 1 {
		t.Errorf("%d epochs are remembered", len(r.epochs))
	}
}

func TestRegistryTravels(t *testing.T) {
	r := newRegistry(60)
	for i := range 5 {
		if !r.apply(&item{kind: itemAssign, what: assignJoin, player: world.Player(i + 1),
			client: uint64(100 + i), member: member.ID(i%2 + 1), tick: 10, name: "n"}) {
			t.Fatal("not let in")
		}
	}
	r.apply(&item{what: assignMove, player: 2, client: 101, member: 1, tick: 50})
	r.apply(&item{what: assignLeave, player: 3, client: 102, member: 1, tick: 60})
	other := newRegistry(60)
	w := bits.CursorTo(nil)
	r.fields(&w)
	c := bits.CursorOver(w.Data())
	other.fields(&c)
	back := bits.CursorTo(nil)
	other.fields(&back)
	other.version = r.version // that is counted here
	if !c.Done() || !reflect.DeepEqual(r, other) || !bytes.Equal(w.Data(), back.Data()) {
		t.Errorf("%+v became %+v", r, other)
	}
}

func TestWhoSpeaks(t *testing.T) {
	r := newRegistry(60)
	r.apply(&item{what: assignJoin, player: 1, client: 7, member: 1, tick: 100})
	r.apply(&item{what: assignMove, player: 1, client: 7, member: 2, tick: 200})
	for _, c := range []struct {
		m    member.ID
		t    world.Tick
		want bool
	}{{1, 99, false}, {1, 100, true}, {1, 200, true}, {1, 260, true}, {1, 261, false}, {
		2, 199, false}, {2, 200, true}, {2, 9999, true}, {3, 300, false}} {
		if got := r.speaks(c.m, 1, c.t); got != c.want {
			t.Errorf("mirror %d at tick %d: %v, want %v", c.m, c.t, got, c.want)
		}
	}
	for _, bad := range []item{
		{what: assignJoin, player: 1, client: 8, member: 1, tick: 300}, // the number is taken
		{what: assignJoin, player: 2, client: 7, member: 1, tick: 300}, // a client has one body
		{what: assignMove, player: 1, client: 8, member: 1, tick: 300}, // it is not that client's
		{what: assignMove, player: 1, client: 7, member: 1, tick: 150}, // into the past
		{what: assignLeave, player: 2, client: 7, tick: 300},
	} {
		if r.apply(&bad) {
			t.Errorf("%+v was done", bad)
		}
	}
	r.apply(&item{what: assignLeave, player: 1, client: 7, tick: 400})
	if r.speaks(2, 1, 400) || !r.speaks(2, 1, 399) {
		t.Error("who has left is spoken for")
	}
	if r.free(10) != 2 {
		t.Error("a number is free before its leaving is settled")
	}
	if r.prune(461); r.free(10) != 1 {
		t.Error("a number is not free again")
	}
}
