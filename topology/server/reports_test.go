package server

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
)

// TestPredictionIsReported: a client that predicts tells its server how far ahead it is and what
// that takes, and one that does not says nothing.
func TestPredictionIsReported(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 5})
	g, err := newLeague(n, 1, Options{Title: near(100)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	ticking := time.Duration(0)
	clock := func() time.Duration { ticking += time.Millisecond; return ticking }
	for i, style := range []predict.Style{predict.Doom3, predict.None} {
		g.joinAs(string(rune('a'+i)), uint64(i+1), netsim.Cable, g.members[0],
			client.Options{Style: style, Clock: clock})
	}
	if !g.playing(20 * time.Second) {
		t.Fatal("not all are playing")
	}
	n.Run(12 * time.Second)
	for seat := range g.members[0].server.Seats {
		p := seat.Predicts()
		t.Logf("%s: %+v, busy for %.3f of its time", seat.Name, p, p.Share())
		if seat.Name == "b" {
			if p.Ahead != 0 || p.Took != 0 {
				t.Errorf("%s does not predict, and says %+v", seat.Name, p)
			}
			continue
		}
		// A frame takes a millisecond by that clock, and there are sixty in a second.
		if p.Ahead < 16 || p.Ahead > 16*30 || p.Share() < 0.03 || p.Share() > 0.2 {
			t.Errorf("%s says %+v", seat.Name, p)
		}
	}
	if g.err != nil {
		t.Error(g.err)
	}
}
