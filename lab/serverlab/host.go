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
	server *server.Server
	addr   netip.AddrPort
	title  *lab.Subject
	lab.Shift
	beat    lab.Beat
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
	return d.Work(&h.Shift)
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
	h := &host{
		title: g, addr: l.LocalAddr(), beat: lab.Beat{Every: g.Game.TickLength()}}
	h.Shift = lab.Shift{
		Clock: lab.NewClock(g.Game.TickLength()), Turn: h.tick, Measure: h.measure, Begin: h.begin,
		End:   h.end,
		Close: func() error { return lab.Account(h.server.Ledger(), h.server.Counters()) }}
	h.server, err = server.New(server.Options{
		Title: g.Title, Level: g.On(s.Seed), Strategy: strategy,
		Links: []link.Link{l}, Keys: []token.Key{key}, Conn: s.connOptions(),
		Players: s.Players, Spectators: -1, SnapshotRate: s.Snapshots, Workers: s.Procs,
	})
	return h, err
}

// measure sets the window. While the bots keep still they begin earlier and end later than this.
func (h *host) measure(o lab.Order) error {
	wait, length := lab.ChangeTime, o.Window
	if o.Kind == kindQuiet {
		wait, length = lab.ChangeTime/2, o.Window-lab.ChangeTime/2
	}
	h.Window.Set(h.Clock.Now()+wait, length)
	return nil
}

// tick is one of the server's, measured if it is in the window, and the rest until the next.
func (h *host) tick() error {
	before := lab.ProcessTime()
	err := h.server.Tick(h.Clock.Now())
	if h.Window.Active {
		h.ticks = append(h.ticks, lab.ProcessTime()-before)
		h.encodes = append(h.encodes, h.server.Last().Parallel)
	}
	h.Clock.Sleep(h.beat.Next(h.Clock.Now()))
	return err
}

func (h *host) totals() hostTotals {
	return hostTotals{Stats: h.server.Stats(), Ledger: h.server.Ledger(), Link: h.server.Counters()}
}

func (h *host) begin() {
	// Room for what is noted down, so that measuring allocates nothing.
	n := int(h.Window.Length()/h.title.Game.TickLength()) * 2
	h.ticks = slices.Grow(h.ticks[:0], n+16)
	h.encodes = slices.Grow(h.encodes[:0], n+16)
	h.before = h.totals()
	h.before.Used = lab.Used()
	h.began = h.Clock.Now()
}

func (h *host) end() any {
	s := hostSample{Wall: h.Clock.Now() - h.began, Sent: map[string]uint64{}}
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
