package mirror

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// Packets that all hold are forgotten, without a new piece of memory for each that comes; and those
// of a mirror that holds up all others are bounded.
func TestTakenPacketsAreFew(t *testing.T) {
	p, seq := newPeer(2), crimp.Sequence(0)
	k := &packet{}
	k.items = []item{{kind: itemGive, tick: 1, seq: 1}}
	took := func() {
		seq++
		k.promise = world.Tick(seq)
		p.took(seq, k, max(k.promise, 60)-60)
	}
	for range 1000 {
		took()
	}
	if n := testing.AllocsPerRun(1000, took); n != 0 || len(p.recent) > 200 {
		t.Errorf("%v allocations a packet, %d are kept", n, len(p.recent))
	}
	for range 3 * mostRecent {
		seq++
		k.promise = world.Tick(seq)
		p.took(seq, k, 0)
	}
	if n := len(p.recent); n > mostRecent || n < mostRecent/2 || p.recent[n-1].seq != seq {
		t.Errorf("%d are kept, the last of them %d of %d", n, p.recent[n-1].seq, seq)
	}
}

// What cannot be taken back is not: what an überserver said, what is settled, what was never heard,
// and what somebody said who has lied.
func TestWhatIsNotTakenBack(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 3})
	f := tallyFleet(n, 3, 0, line)
	defer f.close()
	n.Run(2 * time.Second)
	m := f.machines[2].mirror
	other := f.machines[1].mirror.ID()
	p := m.peers.of(other)
	for name, c := range map[string]struct {
		id     member.ID
		change func(t *taken)
		liar   member.ID
		ahead  crimp.Sequence
	}{
		"überserver": {id: m.Uber()},
		"stranger":   {id: 99},
		"settled":    {id: other, change: func(t *taken) { t.earliest = m.settle.held }},
		"decision":   {id: other, change: func(t *taken) { t.decides = true }},
		"not heard":  {id: other, ahead: 1},
		"liar":       {id: other, liar: other},
	} {
		last := p.recent[len(p.recent)-1]
		if c.change != nil {
			c.change(&p.recent[len(p.recent)-1])
		}
		m.settle.liar = c.liar
		if seq := last.seq + c.ahead; m.withdraw(c.id, seq, seq) {
			t.Errorf("%s: it was taken back", name)
		}
		m.settle.liar, p.recent[len(p.recent)-1] = 0, last
	}
	if last := p.recent[len(p.recent)-1]; !m.withdraw(other, last.seq, last.seq) {
		t.Error("nothing can be taken back")
	}
}
