package serverlab

import (
	"net/netip"
	"runtime"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
)

// host is the server's process.
type host struct {
	server  *server.Server
	addr    netip.AddrPort
	title   *lab.Subject
	clock   *lab.Clock
	window  lab.Window
	began   time.Duration
	before  hostTotals
	ticks   []time.Duration // processor time of each tick in the window
	encodes []time.Duration
}

// runHost serves the game from open to close.
func runHost(g *lab.Subject, d *lab.Desk, s *spec) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(s.Procs))
	h, err := newHost(g, s)
	if err != nil {
		return err
	}
	defer h.server.Close()
	stop, err := lab.Profile(s.Profile)
	if err != nil {
		return err
	}
	defer stop()
	if err := d.Answer(lab.Opened{Server: h.addr}); err != nil {
		return err
	}
	beat := lab.Beat{Every: g.Game.TickLength()}
	for {
		o, err := d.Next()
		switch {
		case err != nil:
			return err
		case o.Do == lab.Close:
			return lab.Account(h.server.Ledger(), h.server.Counters())
		case o.Do == lab.SetPace:
			h.clock.SetPace(o.Pace, o.From)
			err = d.Answer(nil)
		case o.Do == lab.Measure && o.Kind == kindQuiet:
			// the bots begin earlier and end later than this
			h.window.Set(h.clock.Now()+lab.ChangeTime/2, o.Window-lab.ChangeTime/2)
		case o.Do == lab.Measure:
			h.window.Set(h.clock.Now()+lab.ChangeTime, o.Window)
		}
		if err != nil {
			return err
		}
		if rest := beat.Next(h.clock.Now()); rest > 0 {
			h.clock.Sleep(rest)
		}
		if err := h.tick(h.clock.Now()); err != nil {
			return err
		}
		if h.window.Closes(h.clock.Now()) {
			if err := d.Answer(h.end()); err != nil {
				return err
			}
		}
	}
}

func newHost(g *lab.Subject, s *spec) (*host, error) {
	key, err := token.ParseKey(s.Key)
	if err != nil {
		return nil, err
	}
	strategy, err := replica.ParseStrategy(s.Strategy)
	if err != nil {
		return nil, err
	}
	l, err := udp.Listen("127.0.0.1:0", udp.Options{ReadBuffer: 8 << 20, WriteBuffer: 8 << 20})
	if err != nil {
		return nil, err
	}
	h := &host{title: g, addr: l.LocalAddr(), clock: lab.NewClock(g.Game.TickLength())}
	h.server, err = server.New(server.Options{
		Title: g.Title, Level: g.On(s.Seed), Strategy: strategy,
		Links: []link.Link{l}, Keys: []token.Key{key}, Conn: s.connOptions(),
		Players: s.Players, Spectators: -1, SnapshotRate: s.Snapshots, Workers: s.Procs,
	})
	return h, err
}

// tick is one of the server's, measured if it is in the window.
func (h *host) tick(now time.Duration) error {
	if h.window.Opens(now) {
		h.begin()
	}
	if !h.window.Active {
		return h.server.Tick(now)
	}
	before := lab.ProcessTime()
	err := h.server.Tick(now)
	h.ticks = append(h.ticks, lab.ProcessTime()-before)
	h.encodes = append(h.encodes, h.server.Last().Parallel)
	return err
}

func (h *host) totals() hostTotals {
	return hostTotals{Stats: h.server.Stats(), Ledger: h.server.Ledger(), Link: h.server.Counters()}
}

func (h *host) begin() {
	// Room for what is noted down, so that measuring allocates nothing.
	n := int(h.window.Length()/h.title.Game.TickLength()) * 2
	h.ticks = slices.Grow(h.ticks[:0], n+16)
	h.encodes = slices.Grow(h.encodes[:0], n+16)
	h.before = h.totals()
	h.before.Used = lab.Used()
	h.began = h.clock.Now()
}

func (h *host) end() hostSample {
	s := hostSample{Wall: h.clock.Now() - h.began, Sent: map[string]uint64{}}
	used := lab.Used()
	s.hostTotals = h.totals()
	s.Used = used
	s.hostTotals = lab.Less(s.hostTotals, h.before)
	for i, n := range s.Ledger.Sent {
		if n > 0 {
			s.Sent[conn.Purpose(i).String()] = n
		}
	}
	s.Purposes = h.purposes(&s.Stats.Replica)
	for _, t := range h.ticks {
		s.TickCPU += t
	}
	s.Ticks = middleOf(h.ticks)
	slices.Sort(h.encodes)
	if n := len(h.encodes); n > 0 {
		s.Encode = h.encodes[n/10]
	}
	return s
}

// purposes says what the bits of snapshots were for, in the window.
func (h *host) purposes(l *replica.Ledger) map[string]float64 {
	p := map[string]float64{
		"snapshot headers": l.Header, "views": l.Views, "events": l.Events, "tails": l.Tail,
		"reliable messages": 8 * float64(l.Messages),
	}
	classes := h.title.Game.Classes()
	for i := range l.Classes {
		name := "others' commands"
		if i < len(classes) {
			name = classes[i].Name()
		}
		p[name] += l.Classes[i].Bits
	}
	for name, bits := range p {
		if bits <= 0 {
			delete(p, name)
		}
	}
	return p
}
