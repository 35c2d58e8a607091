package trailinglab

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

var bothMirrors = []member.ID{1, 2}

// A run is two mirrors on a simulated network.
type run struct {
	b       *bench
	job     job
	net     *netsim.Net
	mirrors []*mirror
	sent    []timeline.Command // all that was stamped by anyone
	packets []packet           // all that was sent
	failed  error
}

// A mirror is one of them, with the half of the players that plays there.
type mirror struct {
	run      *run
	id       member.ID
	line     timeline.Timeline
	end      *netsim.Endpoint
	peer     *mirror
	seq      uint32
	promised world.Tick
	vowed    time.Duration      // when it promised
	queue    []timeline.Command // what could not be stamped yet
	since    []time.Duration    // when each of those came in
	recent   []timeline.Command // sent with every datagram, so that lost ones do not matter
	heard    map[uint32]bool    // what has come from the peer
	believed world.Tick         // what it has promised
	tooLate  map[member.ID]map[uint32]bool
	hashes   []uint64 // of settled worlds, by tick
	places   [][]place
	cpu      time.Duration
	data     []byte
	alarm    time.Duration // when it wakes of itself
	stirred  bool          // it will, at this moment

	// Of this mirror's own commands: when they came in, by the tick that they are executed in; and
	// how long that took.
	came  map[world.Tick][]time.Duration
	delay time.Duration
	shown int
	led   world.Tick
	plan  *timeline.Plan // of Auto, while players still play
	sees  *lab.Audience
}

// A place is where somebody is.
type place struct {
	player world.Player
	at     [3]float64
}

// redundancy is how many commands go into each datagram: those of a few ticks.
const redundancy = 24

// run plays the recorded inputs to two mirrors, each player's to their own, and says what became of
// it.
func (b *bench) run(j job) (*Row, error) {
	r := &run{b: b, job: j, net: netsim.New(netsim.Options{Seed: b.o.Seed + 1})}
	r.net.Use(netsim.Conditions{Up: j.network, Down: j.network})
	for _, id := range bothMirrors {
		m := &mirror{
			run: r, id: id, end: r.net.Endpoint(fmt.Sprintf("mirror%d", id)),
			sees: lab.NewAudience(b.title),
			came: map[world.Tick][]time.Duration{}, heard: map[uint32]bool{},
			tooLate: map[member.ID]map[uint32]bool{}}
		for _, o := range bothMirrors {
			m.tooLate[o] = map[uint32]bool{}
		}
		m.hashes, m.places = make([]uint64, j.ticks+1), make([][]place, j.ticks+1)
		options := timeline.Options{Margins: b.o.Margins, Settled: m.settled}
		if id == 1 {
			options.Clock = lab.ThreadTime
		}
		var err error
		if m.line, err = j.make(b.start, options); err != nil {
			return nil, err
		}
		m.sees.On = true
		m.end.Handle(m.receive)
		r.mirrors = append(r.mirrors, m)
	}
	r.mirrors[0].peer, r.mirrors[1].peer = r.mirrors[1], r.mirrors[0]
	r.schedule()
	end := r.time(world.Tick(j.ticks)) + 4*time.Second
	// who waits for others may not get that far
	r.net.RunUntil(end, func() bool { return r.failed != nil || r.done() })
	if r.failed != nil {
		return nil, r.failed
	}
	return r.row()
}

func (r *run) done() bool {
	return !slices.ContainsFunc(r.mirrors,
		func(m *mirror) bool { return m.hashes[r.job.ticks] == 0 })
}

func (r *run) time(t world.Tick) time.Duration {
	return time.Duration(t) * time.Second / time.Duration(r.b.title.Game.Rate())
}

// schedule lets players' commands come in, a tick at a time, and wakes the mirrors. A player's
// command comes in at any time within the tick before the one it is stamped with, drawn anew for
// each command: were it drawn once for each player, how many are late on a short path would hang on
// a handful of draws.
func (r *run) schedule() {
	n := world.Tick(0)
	var tick func()
	tick = func() {
		n++
		now := r.net.Now()
		for _, m := range r.mirrors {
			if int(n) <= r.job.ticks {
				for _, c := range r.b.input[n] {
					m.later(n, c)
				}
			}
			// after what comes at that time
			r.net.After(r.time(n)-now, func() { r.net.After(0, func() { m.wake(true) }) })
		}
		r.net.After(r.time(n)-now, tick)
	}
	for _, m := range r.mirrors {
		m.wake(true)
	}
	tick()
}

// later lets a command of one of the mirror's own players come in when that player's do.
func (m *mirror) later(n world.Tick, c timeline.Command) {
	r := m.run
	half := (r.b.o.Players + 1) / 2
	if first := int(c.Player) <= half; first != (m.id == 1) {
		return
	}
	length := r.b.title.Game.TickLength()
	phase := time.Duration(det.Draw(r.b.o.Seed, uint64(c.Player), uint64(n), 0) % uint64(length))
	if r.b.o.AtTick {
		phase = 0
	}
	r.net.After(r.time(n)-phase-r.net.Now(), func() {
		m.queue = append(m.queue, c)
		m.since = append(m.since, r.net.Now())
		m.soon()
	})
}

// soon wakes the mirror when all that comes at this moment has come, as a mirror that empties its
// socket before it computes would.
func (m *mirror) soon() {
	if !m.stirred {
		m.stirred = true
		m.run.net.After(0, func() { m.stirred = false; m.wake(false) })
	}
}

// wake does all there is to do at a moment.
func (m *mirror) wake(boundary bool) {
	if m.run.failed != nil {
		return
	}
	m.pump(boundary)
	if m.run.job.lazy && !boundary {
		return
	}
	began := lab.ThreadTime()
	err := m.line.Advance(m.run.net.Now())
	m.cpu += lab.ThreadTime() - began
	if err != nil {
		m.run.failed = err
		return
	}
	m.sees.Hear(m.run.net.Now(), m.line.Notices())
	m.lead()
	if auto, ok := m.line.(*timeline.Auto); ok &&
		m.run.net.Now() < m.run.time(world.Tick(m.run.job.ticks)) {
		m.plan = auto.Plan()
	}
	if next := m.line.Next(); next != m.alarm && next > m.run.net.Now() {
		m.alarm = next
		m.run.net.After(next-m.run.net.Now(), m.soon)
	}
	if m.run.job.round && m.line.Stamp(m.run.net.Now()) > m.promised { // others wait for it
		m.pump(boundary)
	}
}

// pump stamps what came in and sends it, with a promise where one is due.
func (m *mirror) pump(boundary bool) {
	now := m.run.net.Now()
	stamp := m.line.Stamp(now)
	send := false
	if stamp > m.promised {
		m.merge()
		for i, c := range m.queue {
			m.seq++
			c.Tick, c.Origin, c.Seq = stamp, m.id, m.seq
			m.run.sent = append(m.run.sent, c)
			m.recent = append(m.recent, c)
			if c.Kind == timeline.Give {
				m.came[stamp] = append(m.came[stamp], m.since[i])
			}
			m.submit(c)
			send = true
		}
		m.queue, m.since = m.queue[:0], m.since[:0]
		// it is late itself, so it makes no one wait longer
		behind := m.run.job.round && m.run.time(m.line.Leading().Tick()+1) < now
		if m.run.job.waits && (boundary || behind) {
			m.promised, m.vowed = stamp, now
			m.submit(m.promise())
			send = true
		}
	}
	if len(m.recent) > redundancy {
		m.recent = slices.Delete(m.recent, 0, len(m.recent)-redundancy)
	}
	if send || boundary && m.run.job.network.MeanLoss() > 0 {
		m.send()
	}
}

// merge leaves of each player only the newest command that waits.
func (m *mirror) merge() {
	n := 0
	for i, c := range m.queue {
		old := c.Kind == timeline.Give &&
			slices.ContainsFunc(m.queue[i+1:],
				func(o timeline.Command) bool {
					return o.Kind == timeline.Give && o.Player == c.Player
				})
		if !old {
			m.queue[n], m.since[n] = c, m.since[i]
			n++
		}
	}
	m.queue, m.since = m.queue[:n], m.since[:n]
}

func (m *mirror) promise() timeline.Command {
	return timeline.Command{
		Kind: timeline.Promise, Tick: m.promised, Origin: m.id, Seq: m.seq, Sent: m.vowed}
}

func (m *mirror) submit(c timeline.Command) {
	began := lab.ThreadTime()
	f, err := m.line.Submit(m.run.net.Now(), c)
	m.cpu += lab.ThreadTime() - began
	if err != nil && m.run.failed == nil {
		m.run.failed = err
	}
	if f == timeline.TooLate && c.Kind != timeline.Promise {
		m.tooLate[c.Origin][c.Seq] = true
	}
}

// lead counts how long the mirror's own players waited for what they did to be in the leading
// world.
func (m *mirror) lead() {
	w := m.line.Leading().Tick()
	if m.led < w {
		m.sees.Show(m.line.Leading())
	}
	for m.led < w {
		m.led++
		for _, t := range m.came[m.led] {
			m.delay += m.run.net.Now() - t
			m.shown++
		}
		delete(m.came, m.led)
	}
}

// settled keeps what a tick came to.
func (m *mirror) settled(w *world.World, _ *world.Inputs) {
	m.sees.Settle(w)
	if int(w.Tick()) < len(m.hashes) {
		m.hashes[w.Tick()] = w.Hash()
		m.places[w.Tick()] = m.run.b.placesIn(w)
	}
}

// placesIn lists where players' bodies are, if the title says what those are.
func (b *bench) placesIn(w *world.World) []place {
	if b.title.Embodied("") != nil {
		return nil
	}
	var out []place
	for id := range w.Host().Of(b.title.BodyClass()) {
		at, _ := b.title.At(w, id)
		out = append(out, place{w.Owner(id), [3]float64{at.X, at.Y, at.Z}})
	}
	return out
}

// A packet is what one mirror tells the other: the commands that it may not have, and a promise.
// The datagram on the network only says which packet it is.
type packet struct {
	commands []timeline.Command
	promise  timeline.Command
}

// send gives the other mirror what it may not have.
func (m *mirror) send() {
	r := m.run
	m.data = binary.AppendUvarint(m.data[:0], uint64(len(r.packets)))
	r.packets = append(r.packets, packet{slices.Clone(m.recent), m.promise()})
	if err := m.end.SendTo(m.peer.end.PublicAddr(), m.data); err != nil && r.failed == nil {
		r.failed = err
	}
}

// receive takes a datagram of the other mirror in.
func (m *mirror) receive(_ netip.AddrPort, data []byte) {
	n, _ := binary.Uvarint(data)
	p := &m.run.packets[n]
	for _, c := range p.commands {
		if !m.heard[c.Seq] {
			m.heard[c.Seq] = true
			m.submit(c)
		}
	}
	if m.run.job.waits && p.promise.Tick > m.believed {
		m.believed = p.promise.Tick
		m.submit(p.promise)
	}
	m.soon()
}
