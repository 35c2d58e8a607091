package relaylab

import (
	"runtime"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/topology/relay"
)

const (
	// step is how often the relay looks, as its Run does.
	step = 2 * time.Millisecond
	// lateBy is how late a turn of the relay may be before the rows that it closes count as late.
	lateBy = 4 * time.Millisecond
)

// runRelay serves from open to close.
func runRelay(d *lab.Desk, s *spec) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one core is what is measured
	key, err := token.ParseKey(s.Key)
	if err != nil {
		return err
	}
	l, err := udp.Listen("127.0.0.1:0", udp.Options{ReadBuffer: 8 << 20, WriteBuffer: 8 << 20})
	if err != nil {
		return err
	}
	clock := lab.NewClock(step)
	clock.SetPace(s.Pace, time.Now())
	r, err := relay.New(relay.Options{
		Links: []link.Link{l}, Keys: []token.Key{key}, Conn: s.options(clock),
		Limits: relay.Limits{Matches: s.Matches, Connections: s.Matches*s.Players + 64}})
	if err != nil {
		return err
	}
	defer r.Close()
	stop, err := lab.Profile(s.Profile)
	if err != nil {
		return err
	}
	defer stop()
	if err := d.Answer(lab.Opened{Server: l.LocalAddr()}); err != nil {
		return err
	}
	var late uint64
	var lost time.Duration
	sample := func() relaySample {
		t, c := r.Stats(), l.Counters()
		return relaySample{Used: lab.Used(), Wall: clock.Now(), Rows: t.Rows, Repeated: t.Repeated,
			Late: late, Received: c.Received, Sent: c.Sent, Lost: lost}
	}
	var began relaySample
	due := clock.Now()
	w := lab.Shift{
		Clock: clock, Close: func() error { return lab.Account(r.Status().Ledger, l.Counters()) },
		Begin: func() { began = sample() },
		End:   func() any { return lab.Less(sample(), began) },
		Turn: func() error {
			now := clock.Now()
			behind, rows := now-due, r.Stats().Rows
			err := r.Tick(now)
			if behind > lateBy {
				late += r.Stats().Rows - rows
				lost += behind
				due = now
			}
			due += step
			if rest := due - clock.Now(); rest > 0 {
				clock.Sleep(rest)
			}
			return err
		}}
	w.Measure = func(o lab.Order) error {
		w.Window.Set(clock.Now()+lab.ChangeTime, o.Window)
		return nil
	}
	return d.Work(&w)
}
