package relay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/relay"
)

// chaos is a match in which everything happens at once: loss of up to 20 %, jitter, reordering and
// doubled packets; people who are cut off, crash and return, leave, come late, and watch.
func chaos(n *netsim.Net) error {
	r := n.Rand()
	n.Use(netsim.Conditions{Name: "chaos", Up: hostile(r), Down: hostile(r)})
	w := newTown(n, relay.Limits{})
	count := 2 + r.IntN(7)
	var all []*person
	// A person that crashes is somebody else from then on, as far as its rows go.
	var histories []*person
	keep := func(p *person) {
		if len(p.rows) > 0 {
			histories = append(histories, &person{name: p.name, rows: p.rows, first: p.first})
		}
	}
	for i := range count {
		all = append(all, w.person(fmt.Sprintf("%c%d", 'a'+i, i)))
	}
	send := []uint8{60, 20, 30}[r.IntN(3)]
	start := 1 + r.IntN(count)
	w.match(relay.Match{Seats: uint8(count), Start: uint8(start), SendRate: send,
		Patience: time.Duration(r.IntN(150)) * time.Millisecond, Grace: 4 * time.Second},
		all[:start]...)
	if w.err != nil {
		return w.err
	}
	code := all[0].in.Code
	for step := range 40 {
		n.Run(time.Duration(50+r.IntN(500)) * time.Millisecond)
		p := all[r.IntN(len(all))]
		switch k := r.IntN(10); {
		case k < 2:
			n.Cut(p.at, w.at)
			n.After(time.Duration(r.IntN(4000))*time.Millisecond, func() { n.Heal(p.at, w.at) })
		case k < 4 && p.in != nil:
			keep(p)
			secret := p.in.Secret
			e := relay.Entry{}
			if r.IntN(2) == 0 {
				e.From, e.Again = p.next(), true
			}
			p.connect()
			p.join(code, secret, e)
		case k < 5 && p.in != nil && step > 10 && !p.over:
			keep(p)
			_ = p.client.Leave()
			n.Run(300 * time.Millisecond)
			p.connect()
			p.join(code, none, relay.Entry{Watch: r.IntN(2) == 0,
				Delay: time.Duration(r.IntN(30)) * 100 * time.Millisecond})
		case p.in == nil && (p.refusal() != 0 || p.over):
			keep(p)
			p.connect()
			p.refused = nil
			fallthrough
		case p.in == nil:
			_ = p.client.Join(code, game, relay.Rows, none, relay.Entry{Name: p.name})
		}
		if w.err != nil {
			return w.err
		}
	}
	n.Run(5 * time.Second)
	rows, next := 0, uint32(0)
	for _, p := range all {
		rows, next = max(rows, len(p.rows)), max(next, p.next())
	}
	if rows < 60 {
		return fmt.Errorf("nobody has more than %d rows", rows)
	}
	for _, p := range all { // nobody is left behind, but for who watches three seconds later
		if p.in != nil && !p.over && int(next-p.next()) > (3+2)*60 {
			return fmt.Errorf("%s is at row %d, others at %d", p.name, p.next(), next)
		}
	}
	if s := w.relay.Stats(); s.Offences > 0 {
		return fmt.Errorf("somebody honest was taken for an offender: %+v", w.news)
	}
	return w.same(append(histories, all...)...)
}

func hostile(r *netsim.Rand) netsim.Profile {
	return netsim.Profile{
		Latency: time.Duration(1+r.IntN(120)) * time.Millisecond,
		Jitter: netsim.Jitter{
			Shape: netsim.LongTail, Amount: time.Duration(r.IntN(15)) * time.Millisecond},
		Loss:      float64(r.IntN(21)) / 100,
		Duplicate: 0.02, Reorder: 0.05, HoldBack: 30 * time.Millisecond,
	}
}

func TestChaos(t *testing.T) {
	seeds := 6
	if soak {
		seeds = 2000
	}
	simtest.Run(t, seeds, chaos)
}
