package peers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

// four lets four play for a while.
func four(t *testing.T, seed uint64, m peers.Match) *table {
	m.Start = 4
	tb := newTable(t, netsim.New(netsim.Options{Seed: seed}), m)
	tb.path = netsim.Cable
	for i := range 4 {
		tb.sit(fmt.Sprint("p", i), nil)
	}
	tb.until("all play", 10*time.Second, tb.allPlay)
	tb.goesOn(150, 10*time.Second)
	return tb
}

func (tb *table) said(what string) bool {
	for _, l := range tb.log {
		if strings.Contains(l, what) {
			return true
		}
	}
	return false
}

// TestWorldsThatDiffer damages the world of one. It is found out, it is named in what the worlds
// differ, and the one that is wrong takes over the world of the others.
func TestWorldsThatDiffer(t *testing.T) {
	tb := four(t, 1, peers.Match{})
	tb.loose = true
	tb.seats[2].Damage(func(w *world.World) {
		for _, b := range world.All[body](w) {
			b.Shots += 1000
			break
		}
	})
	tb.until("it is repaired", 10*time.Second,
		func() bool { return tb.seats[2].Stats().Repaired > 0 })
	if !tb.said("Shots") {
		tb.dump()
		t.Fatal("nobody says in what the worlds differed")
	}
	tb.loose, tb.hashes = false, map[world.Tick]uint64{}
	for _, s := range tb.seats {
		s.marked = s.Copy().Known() + 120
	}
	tb.goesOn(400, 20*time.Second)
	if len(tb.hashes) == 0 {
		t.Fatal("nothing was compared")
	}
}

// TestLiarAboutHashes has one say that its world is another, again and again. It is put out, and
// the others play on.
func TestLiarAboutHashes(t *testing.T) {
	tb := four(t, 2, peers.Match{})
	tb.seats[1].LieAboutHashes()
	tb.until("the liar is out", 20*time.Second, func() bool { return tb.said("p0: left member") })
	tb.seats[1].crash()
	tb.goesOn(200, 10*time.Second)
}

// TestTwoFaced has one tell different peers different commands for one tick. It is found out and
// named by what it has signed, put out, and the others agree on one world again.
func TestTwoFaced(t *testing.T) {
	for seed := range uint64(3) {
		tb := four(t, seed, peers.Match{})
		tb.loose = true
		liar := tb.seats[int(seed)+1]
		liar.BeTwoFaced(liar.World().Tick()+20, func(id member.ID) bool { return id%2 == 0 })
		tb.until("the liar is named", 20*time.Second, func() bool {
			return tb.said(fmt.Sprint("two-faced member ", liar.ID()))
		})
		liar.crash()
		tb.until("it is out", 20*time.Second, func() bool { return tb.said("left member") })
		tb.run(5 * time.Second)
		tb.loose, tb.hashes = false, map[world.Tick]uint64{}
		for _, s := range tb.seats {
			s.marked = s.Copy().Known() + 60
		}
		tb.goesOn(300, 20*time.Second)
		if len(tb.hashes) < 2 {
			t.Fatal("nothing was compared")
		}
	}
}
