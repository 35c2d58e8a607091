package lab

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
)

// host is the server's process.
type host struct {
	server *server.Server
	title  *Subject
	clock  *slowClock

	from, until time.Duration // the window to measure; until is zero when there is none
	active      bool
	began       time.Duration
	before      hostTotals
	ticks       []time.Duration // processor time of each tick in the window
	encodes     []time.Duration
}

// hostTotals are what grows from the beginning of the process on.
type hostTotals struct {
	cpu      time.Duration
	allocs   uint64
	stats    server.Stats
	ledger   conn.Ledger
	counters link.Counters
}

// runHost serves the game from open to close.
func runHost(g *Subject, d *desk, spec *hostSpec) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(spec.Procs))
	key, err := token.ParseKey(spec.Key)
	if err != nil {
		return err
	}
	strategy, err := replica.ParseStrategy(spec.Strategy)
	if err != nil {
		return err
	}
	l, err := udp.Listen("127.0.0.1:0", udp.Options{ReadBuffer: 8 << 20, WriteBuffer: 8 << 20})
	if err != nil {
		return err
	}
	every := g.Game.TickLength()
	h := &host{title: g, clock: newSlowClock(every)}
	h.server, err = server.New(server.Options{
		Title: g.Title, Level: g.On(spec.Seed), Strategy: strategy,
		Links: []link.Link{l}, Keys: []token.Key{key}, Conn: spec.connOptions(),
		Players: spec.Players, Spectators: -1, SnapshotRate: spec.Snapshots, Workers: spec.Procs,
	})
	if err != nil {
		return err
	}
	defer h.server.Close()
	if spec.Profile != "" {
		stop, err := profile(spec.Profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	if err := d.answer(opened{Server: l.LocalAddr()}, nil); err != nil {
		return err
	}
	beat := beat{every: every}
	for {
		o, ok, err := d.next()
		switch {
		case err != nil:
			return err
		case ok && o.Do == doClose:
			return h.close()
		case ok && o.Do == doPace:
			h.clock.setPace(o.Pace, o.From)
			if err := d.answer(nil, nil); err != nil {
				return err
			}
		case ok && o.Do == doMeasure:
			h.from = h.clock.now() + changeTime
			h.until = h.from + o.Window
			if o.Kind == kindQuiet { // the bots begin earlier and end later than this
				h.from, h.until = h.from-changeTime/2, h.until-changeTime
			}
		}
		if rest := beat.next(h.clock.now()); rest > 0 {
			h.clock.sleep(rest)
		}
		if err := h.tick(h.clock.now()); err != nil {
			return err
		}
		if h.active && h.clock.now() >= h.until {
			if err := d.answer(h.end(), nil); err != nil {
				return err
			}
		}
	}
}

// tick is one of the server's, measured if it is in the window.
func (h *host) tick(now time.Duration) error {
	if !h.active && h.until != 0 && now >= h.from {
		h.begin()
	}
	if !h.active {
		return h.server.Tick(now)
	}
	before := processTime()
	err := h.server.Tick(now)
	h.ticks = append(h.ticks, processTime()-before)
	last := h.server.Last()
	h.encodes = append(h.encodes, last.Parallel)
	return err
}

func (h *host) totals() hostTotals {
	t := hostTotals{stats: h.server.Stats(), ledger: h.server.Ledger(), counters: h.server.Counters()}
	t.allocs = mallocs()
	t.cpu = processTime()
	return t
}

func (h *host) begin() {
	// Room for what is noted down, so that measuring allocates nothing.
	n := int((h.until-h.from)/h.title.Game.TickLength()) * 2
	h.ticks = slices.Grow(h.ticks[:0], n+16)
	h.encodes = slices.Grow(h.encodes[:0], n+16)
	h.active = true
	h.before = h.totals()
	h.began = h.clock.now()
}

func (h *host) end() hostSample {
	wall := h.clock.now() - h.began
	cpu, allocs := processTime(), mallocs()
	h.active, h.until = false, 0
	a, b := h.totals(), &h.before
	s := hostSample{
		Ticks: a.stats.Ticks - b.stats.Ticks, Wall: wall, CPU: cpu - b.cpu, Allocs: allocs - b.allocs,
		Stages:    lessStages(a.stats.Times, b.stats.Times),
		SentBytes: a.counters.SentBytes - b.counters.SentBytes, SentPackets: a.counters.Sent - b.counters.Sent,
		ReceivedBytes: a.counters.ReceivedBytes - b.counters.ReceivedBytes, ReceivedPks: a.counters.Received - b.counters.Received,
		Snapshots: a.stats.Snapshots - b.stats.Snapshots, Packets: a.stats.Packets - b.stats.Packets, SnapshotBytes: a.stats.Bytes - b.stats.Bytes,
		Repeated: a.stats.Commands.Repeated - b.stats.Commands.Repeated, Starved: a.stats.Starved - b.stats.Starved,
		Dropped: a.stats.Dropped - b.stats.Dropped, Sent: map[string]uint64{},
	}
	for i := range a.stats.Offences {
		s.Offences += a.stats.Offences[i] - b.stats.Offences[i]
	}
	for i := range a.ledger.Sent {
		if n := a.ledger.Sent[i] - b.ledger.Sent[i]; n > 0 {
			s.Sent[conn.Purpose(i).String()] = n
		}
	}
	s.Purposes = h.purposes(&a.stats.Replica, &b.stats.Replica)
	for _, t := range h.ticks {
		s.TickCPU += t
	}
	s.TickMedian, s.TickMost99, s.TickMost = middle(h.ticks)
	slices.Sort(h.encodes)
	if n := len(h.encodes); n > 0 {
		s.Encode = h.encodes[n/10]
	}
	return s
}

// purposes says what the bits of snapshots were for, in the window.
func (h *host) purposes(a, b *replica.Ledger) map[string]float64 {
	p := map[string]float64{}
	put := func(name string, bits float64) {
		if bits > 0 {
			p[name] = bits
		}
	}
	classes := h.title.Game.Classes()
	for i := range a.Classes {
		bits := a.Classes[i].Bits
		if i < len(b.Classes) {
			bits -= b.Classes[i].Bits
		}
		name := "others' commands"
		if i < len(classes) {
			name = classes[i].Name()
		}
		put(name, bits)
	}
	put("snapshot headers", a.Header-b.Header)
	put("views", a.Views-b.Views)
	put("events", a.Events-b.Events)
	put("tails", a.Tail-b.Tail)
	put("reliable messages", 8*float64(a.Messages-b.Messages))
	return p
}

// close checks that every byte is accounted for.
func (h *host) close() error {
	ledger, counters := h.server.Ledger(), h.server.Counters()
	if ledger.Total() != counters.SentBytes {
		return fmt.Errorf("the connections account for %d bytes, and the link has sent %d", ledger.Total(), counters.SentBytes)
	}
	return nil
}

func lessStages(a, b server.Times) server.Times {
	return server.Times{Receive: a.Receive - b.Receive, Step: a.Step - b.Step, Interest: a.Interest - b.Interest, Encode: a.Encode - b.Encode,
		Send: a.Send - b.Send, Parallel: a.Parallel - b.Parallel}
}

// middle gives the median, the 99th percentile and the largest of a list, which it sorts.
func middle[T time.Duration | int](list []T) (median, most99, most T) {
	if len(list) == 0 {
		return 0, 0, 0
	}
	slices.Sort(list)
	return list[len(list)/2], list[len(list)*99/100], list[len(list)-1]
}
