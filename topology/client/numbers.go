package client

import (
	"time"
)

// Numbers are how the network and the prediction of a session do: what a net graph and a panel
// show.
type Numbers struct {
	Path
	Ahead          float64 // ticks that the client is ahead of the newest snapshot
	Behind         float64 // ticks that interpolated things are behind the newest snapshot
	Early          int     // quarters of a tick that commands came early
	Snapshots      uint64  // received
	SnapshotBytes  uint64
	Received, Sent uint64  // bytes of datagrams, all in
	Packets        uint64  // received
	Corrections    uint64  // entities that were not where they were predicted
	Corrected      float64 // by how much, in the world's units
	Furthest       float64 // the largest of them
	Own            float64 // the sum, of the player's own entities alone
	Repredictions  int
	Resteps        int
	Repeated       int // commands that the server had to make up
	Bad            uint64
	Returns        uint64
	Worlds         uint64 // that began: a move to another server of the same game begins none
	Moves          uint64 // to other servers
	Nearer         uint64 // of those, of its own accord as the other was nearer
	Retracted      uint64 // events that were shown and did not happen after all
	Tick, Known    uint64
}

// A Path is how the network between a client and its server does.
type Path struct {
	RoundTrip, Jitter time.Duration
	LossIn, LossOut   float64
	// Rate is bytes a second that may be sent, headers included; Limit what the way to the server
	// was seen to carry, zero where no queue has formed. QueueOut and QueueIn are what packets wait
	// on the way to the server and on the way back.
	Rate, Limit       int
	QueueOut, QueueIn time.Duration
}

// A Sample is one moment of the net graph.
type Sample struct {
	RoundTrip float64 // milliseconds
	Bytes     float64 // received since the last
	Corrected float64 // units by which predictions were wrong since the last
	Ahead     float64 // ticks
	Gap       bool    // nothing came
}

// A Graph is the last few seconds, one sample a frame. The zero value is empty.
type Graph struct {
	ring [GraphLength]Sample
	next int
}

// GraphLength is how many samples a Graph holds.
const GraphLength = 240

// Add appends a sample.
func (g *Graph) Add(s Sample) {
	g.ring[g.next] = s
	g.next = (g.next + 1) % GraphLength
}

// At gives a sample: 0 is the oldest.
func (g *Graph) At(i int) Sample { return g.ring[(g.next+i)%GraphLength] }

// Numbers tells how it goes.
func (s *Session) Numbers() Numbers { return s.numbers }

// Graph gives the last few seconds.
func (s *Session) Graph() *Graph { return &s.graph }

// measure takes stock after a frame.
func (s *Session) measure(v *View) {
	n, c := &s.numbers, s.client
	before := *n
	if cn := c.Conn(); cn != nil {
		q := cn.Quality()
		n.RoundTrip, n.Jitter, n.LossIn, n.LossOut = q.RoundTrip, q.Jitter, q.LossIn, q.LossOut
		n.Rate, n.Limit, n.QueueOut, n.QueueIn = q.Rate, q.Limit, q.Queue, q.QueueIn
	}
	st, l := c.Stats(), c.Ledger()
	n.Snapshots, n.SnapshotBytes, n.Early = st.Snapshots, st.Bytes, st.Early
	n.Bad, n.Returns, n.Moves, n.Nearer = st.Bad, st.Returns, st.Moves, st.Nearer
	n.Received, n.Packets, n.Sent = l.Received, l.ReceivedPackets, l.Total()
	n.Retracted += uint64(len(v.Retracted))
	sample := Sample{
		RoundTrip: n.RoundTrip.Seconds() * 1000,
		Bytes:     float64(n.Received - min(n.Received, before.Received)),
		Gap:       n.Snapshots == before.Snapshots,
	}
	if p := c.Predict(); p != nil {
		for _, x := range p.Corrections() {
			sample.Corrected += x.Distance
			n.correct(x.Distance, v.World != nil && v.World.Owner(x.Entity) == v.Me)
		}
		ps := p.Stats()
		n.Ahead, n.Behind = p.Ahead(), p.Behind()
		n.Repredictions, n.Resteps, n.Repeated = ps.Repredictions, ps.Steps, ps.Repeated
		n.Tick, n.Known = uint64(p.Tick()), uint64(p.Known())
		sample.Ahead = n.Ahead
	}
	s.graph.Add(sample)
}

// correct books an entity that was not where it was predicted.
func (n *Numbers) correct(distance float64, own bool) {
	n.Corrections++
	n.Corrected += distance
	n.Furthest = max(n.Furthest, distance)
	if own {
		n.Own += distance
	}
}
