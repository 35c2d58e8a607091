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
	// lateBy is how much work of its own the relay may have behind it before the rows that it
	// closes count as late.
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
	h := &turns{relay: r, clock: clock, due: clock.Now(), last: clock.Now()}
	sample := func() relaySample {
		t, c := r.Stats(), l.Counters()
		return relaySample{Used: lab.Used(), Wall: clock.Now(), Rows: t.Rows, Repeated: t.Repeated,
			Late: h.late, Received: c.Received, Sent: c.Sent}
	}
	var began relaySample
	w := lab.Shift{
		Clock: clock, Close: func() error { return lab.Account(r.Status().Ledger, l.Counters()) },
		Begin: func() { began = sample() },
		End:   func() any { return lab.Less(sample(), began) },
		Turn:  h.turn}
	w.Measure = func(o lab.Order) error {
		w.Window.Set(clock.Now()+lab.ChangeTime, o.Window)
		return nil
	}
	return d.Work(&w)
}

// turns drives a relay. How late it is counts by its own processor time, of which others on the
// machine take nothing: behind is the work that it would not be done with, had it a core to itself.
type turns struct {
	relay     *relay.Server
	clock     *lab.Clock
	due, last time.Duration
	behind    time.Duration
	late      uint64
}

func (h *turns) turn() error {
	now, used, rows := h.clock.Now(), lab.ProcessTime(), h.relay.Stats().Rows
	err := h.relay.Tick(now)
	h.behind = max(h.behind+lab.ProcessTime()-used-(now-h.last), 0)
	h.last = now
	if h.behind > lateBy {
		h.late += h.relay.Stats().Rows - rows
	}
	if h.due += step; h.due < now {
		h.due = now
	}
	if rest := h.due - h.clock.Now(); rest > 0 {
		h.clock.Sleep(rest)
	}
	return err
}
