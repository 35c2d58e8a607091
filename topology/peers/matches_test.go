package peers_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
)

// TestMatches plays whole matches over bad networks: some join late, some crash and come back, some
// are cut off, some watch; in some all commit first, and one does not reveal for a while. All that
// anybody takes for settled must be the same everywhere, and when the network is whole again all
// must play on.
func TestMatches(t *testing.T) {
	first, n := uint64(1), uint64(8)
	if os.Getenv("COEVAL_SOAK") != "" {
		n = 10000
		if from, err := strconv.ParseUint(os.Getenv("COEVAL_CASE"), 10, 64); err == nil {
			first, n = from, 1
		}
		if until, err := strconv.ParseUint(os.Getenv("COEVAL_UNTIL"), 10, 64); err == nil {
			n = until - first
		}
	}
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { wholeMatch(t, seed) })
	}
	if os.Getenv("COEVAL_SOAK") != "" {
		return
	}
	// In these, members came to suspect each other in a circle, one who entered was forgotten, or
	// one of two began anew while a third had gone on.
	for _, seed := range []uint64{1251, 1558, 1811, 4853, 6960} {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { wholeMatch(t, seed) })
	}
}

func wholeMatch(t *testing.T, seed uint64) {
	net := netsim.New(netsim.Options{Seed: seed})
	r := net.Rand()
	chance := func(n int) int { return int(r.Uint64() % uint64(n)) }
	between := func(a, b time.Duration) time.Duration {
		return a + time.Duration(r.Uint64()%uint64(b-a))
	}
	players := 2 + chance(7)
	tb := newTable(t, net, peers.Match{Start: 1 + chance(2), Every: 20 + chance(40), Seed: seed,
		Patience: time.Second, Commit: chance(3) == 0})
	tb.path = netsim.Both(netsim.Profile{
		Latency: between(time.Millisecond, 80*time.Millisecond), Loss: float64(chance(21)) / 100,
		Duplicate: float64(chance(4)) / 100,
		Reorder:   float64(chance(4)) / 100,
		Jitter:    netsim.Jitter{Shape: netsim.Uniform, Amount: between(1, 30*time.Millisecond)}})
	style := func() peers.Style {
		if chance(2) == 0 {
			return peers.Lockstep()
		}
		return peers.Style{Depth: chance(16), Delay: chance(5) - 1}
	}
	const length = 10 * time.Second
	for i := range players {
		at := time.Duration(0)
		if i > 1 {
			at = between(0, length)
		}
		net.After(at, func() {
			tb.sit(fmt.Sprint("p", i), func(o *peers.Options) { o.Style = style() })
		})
	}
	for i := range chance(4) {
		net.After(between(time.Second, length), func() {
			tb.sit(fmt.Sprint("w", i), func(o *peers.Options) {
				o.Watch, o.Watchers = true, 1
				o.Behind = between(1, time.Second)
			})
		})
	}
	for range 1 + chance(4) {
		net.After(between(time.Second, length), func() { tb.trouble(chance, between) })
	}
	tb.run(length + time.Second)
	for _, a := range tb.seats {
		for _, b := range tb.seats {
			net.Heal(a.end, b.end)
		}
	}
	tb.until("all play again", 60*time.Second, tb.allPlay)
	tb.goesOn(200, 60*time.Second) // three marks at least, however long they have stood still
	if len(tb.hashes) < 3 {
		t.Fatalf("seed %d: only %d worlds were compared", seed, len(tb.hashes))
	}
}

// trouble has one thing go wrong, and mends it some time later.
func (tb *table) trouble(chance func(int) int, between func(a, b time.Duration) time.Duration) {
	playing := 0
	for _, o := range tb.seats {
		if !o.down && o.Phase() == peers.Playing {
			playing++
		}
	}
	if playing < 2 {
		return // of one nobody remains
	}
	s := tb.seats[chance(len(tb.seats))]
	for _, o := range tb.seats {
		if o.down {
			return // one at a time, since who remains must be a majority
		}
	}
	heal := between(100*time.Millisecond, 4*time.Second)
	kinds := 5
	if tb.match.Commit {
		kinds = 8
	}
	switch chance(kinds) {
	case 0:
		for _, o := range tb.seats {
			if o.life > 1 && o.Phase() != peers.Playing && !o.opt.Watch {
				return // who crashed has forgotten what was, and counts as gone until it is back
			}
		}
		s.crash()
		tb.net.After(heal, s.restart)
	case 1:
		s.say("stands still")
		s.end.Pause()
		tb.net.After(heal, s.end.Resume)
	case 2: // cut off from some
		for _, o := range tb.seats {
			if o != s && chance(2) == 0 {
				s.say("cut from " + o.name)
				tb.net.Cut(s.end, o.end)
				tb.net.After(heal, func() { tb.net.Heal(s.end, o.end) })
			}
		}
	case 3: // cut off from all
		s.say("cut off")
		for _, o := range tb.seats {
			if o != s {
				tb.net.Cut(s.end, o.end)
				tb.net.After(heal, func() { tb.net.Heal(s.end, o.end) })
			}
		}
	case 4:
		_ = s.SetStyle(peers.Style{Depth: chance(16), Delay: chance(5) - 1})
	case 5, 6, 7:
		s.say("withholds")
		some := 1 + chance(3)
		s.Withhold(func(id member.ID) bool { return some == 1 || int(id)%some == 0 })
		tb.net.After(heal, func() {
			s.say("is honest again")
			s.BeHonest()
		})
	}
}
