package seamless

import (
	"testing"
	"time"
)

// A zone that hardly keeps up shows less of what is far, and more again when it can.
func TestPace(t *testing.T) {
	var p pace
	length := 16 * ms
	feed := func(d time.Duration, n int) {
		for range n {
			p.took(d, length)
		}
	}
	feed(8*ms, 300)
	if p.thin != 0 || p.over != 0 {
		t.Fatalf("%+v, and it has half of its time left", p)
	}
	feed(20*ms, 2000)
	if p.thin != maxThin || p.over != 2000 || p.worst != 20*ms {
		t.Errorf("%+v, and it cannot keep up", p)
	}
	feed(11*ms, 1000)
	if p.thin != maxThin {
		t.Errorf("%+v, and nothing is to go to and fro", p)
	}
	feed(4*ms, 3000)
	if p.thin != 0 || max(p.worst, p.past) != 4*ms {
		t.Errorf("%+v, and it has time to spare", p)
	}
}

// Where rates are lowered, less is shown, and all comes to the same.
func TestThin(t *testing.T) {
	var shown [2]uint64
	for i := range shown {
		s := newSim(t, 11, goldTitle(), 4, 3*goldReach)
		for range 2 {
			s.start(nil)
		}
		s.at(120)
		for _, b := range s.owned() {
			b.pace.thin = i * maxThin
		}
		s.at(goldShut + 120)
		s.audit(goldPurses, goldPurses*goldEach)
		for _, x := range s.all {
			shown[i] += x.lines.stats.SentBytes
		}
	}
	t.Logf("%d bytes, and %d where rates are lowered", shown[0], shown[1])
	if shown[1]*5 > shown[0]*4 {
		t.Errorf("%d bytes, and %d where rates are lowered", shown[0], shown[1])
	}
}
