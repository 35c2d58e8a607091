package peers_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
)

func TestRelayedPlay(t *testing.T) {
	s := newStar(t, netsim.New(netsim.Options{Seed: 1}), peers.Match{Start: 2})
	s.path = netsim.WiFi
	s.sit("p0", nil)
	s.opens()
	for i := range 7 {
		s.sit(fmt.Sprint("p", i+1), func(o *peers.RelayedOptions) {
			if i%2 == 0 {
				o.Style = peers.Lockstep()
			}
		})
	}
	t.Log(s.until("all play", 5*time.Second, s.allPlay))
	s.goesOn(300, 10*time.Second)
	for _, x := range s.seats {
		t.Log(x.Relayed, x.Stats(), x.Copy().Stats(), x.stood)
		if n := x.Stats().Compared; n < 3 {
			t.Errorf("%s has compared only %d worlds", x.name, n)
		}
	}
}

// TestRelayedMatches plays whole matches over bad networks: some join late, some crash and return
// to their bodies, some are cut off from the relay, some watch. All that anybody takes for settled
// must be the same everywhere, and when the network is whole again all must play on.
func TestRelayedMatches(t *testing.T) {
	first, n := uint64(1), uint64(4)
	if os.Getenv("COEVAL_SOAK") != "" {
		n = 1000
	}
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { wholeStar(t, seed) })
	}
}

func wholeStar(t *testing.T, seed uint64) {
	net := netsim.New(netsim.Options{Seed: seed})
	r := net.Rand()
	chance := func(n int) int { return int(r.Uint64() % uint64(n)) }
	between := func(a, b time.Duration) time.Duration {
		return a + time.Duration(r.Uint64()%uint64(b-a))
	}
	players := 2 + chance(7)
	// one that crashes before it knows that it was let in leaves a seat taken for a while
	s := newStar(t, net, peers.Match{Start: 1 + chance(2), Every: 20 + chance(40), Seed: seed,
		Seats: 12})
	s.path = netsim.Both(netsim.Profile{
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
	s.sit("p0", func(o *peers.RelayedOptions) { o.Style = style() })
	s.opens()
	const length = 8 * time.Second
	for i := range players - 1 {
		at := time.Duration(0)
		if i > 0 {
			at = between(0, length)
		}
		net.After(at, func() {
			s.sit(fmt.Sprint("p", i+1), func(o *peers.RelayedOptions) { o.Style = style() })
		})
	}
	for i := range chance(3) {
		net.After(between(time.Second, length), func() {
			s.sit(fmt.Sprint("w", i), func(o *peers.RelayedOptions) {
				o.Watch, o.Behind = true, between(1, 2*time.Second)
			})
		})
	}
	for range 1 + chance(4) {
		net.After(between(time.Second, length), func() { s.trouble(chance, between) })
	}
	s.run(length + time.Second)
	for _, x := range s.seats {
		net.Heal(x.end, s.at)
	}
	s.until("all play again", 40*time.Second, s.allPlay)
	s.goesOn(100, 20*time.Second)
	if len(s.hashes) < 2 {
		s.dump()
		t.Fatalf("seed %d: only %d worlds were compared", seed, len(s.hashes))
	}
	for _, x := range s.seats {
		if st := x.Stats(); st.Differed+st.Malformed+st.Refused > 0 {
			s.dump()
			t.Fatalf("seed %d: %s: %+v", seed, x.name, st)
		}
	}
}

// trouble has one thing go wrong, and mends it some time later.
func (s *star) trouble(chance func(int) int, between func(a, b time.Duration) time.Duration) {
	x := s.seats[chance(len(s.seats))]
	holders := 0
	for _, o := range s.seats {
		if !o.down && o.Copy() != nil {
			holders++
		}
	}
	if x.down || holders < 2 && x.Copy() != nil {
		return // somebody must keep the world
	}
	heal := between(100*time.Millisecond, 6*time.Second)
	switch chance(4) {
	case 0:
		x.crash()
		s.net.After(heal, x.restart)
	case 1:
		x.say("stands still")
		x.end.Pause()
		s.net.After(heal, x.end.Resume)
	case 2:
		x.say("cut off")
		s.net.Cut(x.end, s.at)
		s.net.After(heal, func() { s.net.Heal(x.end, s.at) })
	case 3:
		x.say("changes its style")
		_ = x.SetStyle(peers.Style{Depth: chance(16), Delay: chance(5) - 1})
	}
}
