//go:build !js

package inspect

import (
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// Traffic is every byte by what it was for. Each Part is the sum of its parts, and Sent of all of
// them; Difference is what they are off by from what the links say they have sent.
type Traffic struct {
	Sent       uint64 `json:"sent_bytes"` // as the links say; of one player, what links were given
	Out        []Part `json:"out"`
	Difference int64  `json:"difference_bytes"`
	Received   uint64 `json:"received_bytes"` // as the links say; of one player, what was genuine
	In         []Part `json:"in"`
	Updates    []Part `json:"updates"` // how many updates of entities there were, by class
}

// A Part is what some of the bytes were for.
type Part struct {
	Name  string  `json:"name"`
	Bytes float64 `json:"bytes"`
	Parts []Part  `json:"parts,omitempty"`
}

// trafficOf books all that a server has sent and received.
func trafficOf(s *server.Server, st *server.Stats) Traffic {
	l, links := s.Ledger(), s.Counters()
	t := book(s.Protocol().Game(), &l, &st.Replica)
	t.Sent, t.Received = links.SentBytes, links.ReceivedBytes
	t.Difference = int64(l.Total()) - int64(links.SentBytes)
	t.In = []Part{{Name: "from connections", Bytes: float64(l.Received)}}
	if links.ReceivedBytes > l.Received {
		t.In = append(t.In, Part{Name: "to connect, and what was not genuine",
			Bytes: float64(links.ReceivedBytes - l.Received)})
	}
	return t
}

// trafficWith books what one person was sent and has sent.
func trafficWith(s *server.Server, seat *server.Seat) Traffic {
	l, r := seat.Ledger(), seat.Snapshots()
	t := book(s.Protocol().Game(), &l, &r)
	t.Sent, t.Received = l.Total(), l.Received
	t.In = []Part{{Name: "from the connection", Bytes: float64(l.Received)}}
	return t
}

// book makes a tree of two ledgers.
func book(g *world.Game, l *conn.Ledger, r *replica.Ledger) (t Traffic) {
	classes := Part{Name: "entities"}
	for i, c := range r.Classes {
		name := "commands of others"
		if list := g.Classes(); i < len(list) {
			name = list[i].Name()
		}
		classes.Parts = append(classes.Parts, Part{Name: name, Bytes: c.Bits / 8})
		t.Updates = append(t.Updates, Part{Name: name, Bytes: float64(c.Updates)})
	}
	snapshots := Part{Name: "snapshots", Parts: []Part{classes,
		{Name: "events that need not arrive", Bytes: r.Events / 8},
		{Name: "what left the view", Bytes: r.Views / 8},
		{Name: "headers", Bytes: r.Header / 8},
		{Name: "deferred marks and hashes", Bytes: r.Tail / 8},
	}}
	sum := 0.0
	for i := range snapshots.Parts {
		sum += total(&snapshots.Parts[i])
	}
	payload := float64(l.Sent[conn.SentUnreliable] + l.Sent[conn.SentNewest])
	snapshots.Parts = append(snapshots.Parts, Part{
		Name: "rounding, and snapshots of levels before", Bytes: payload - sum})
	reliable := Part{Name: "events and messages", Parts: []Part{
		{Name: "first", Bytes: float64(l.Sent[conn.SentReliable])},
		{Name: "the same, again", Bytes: float64(l.Sent[conn.SentRidden])},
	}}
	around := Part{Name: "connections"}
	for p, n := range l.Sent {
		switch p := conn.Purpose(p); p {
		case conn.SentUnreliable, conn.SentNewest, conn.SentReliable, conn.SentRidden:
		default:
			around.Parts = append(around.Parts, Part{Name: p.String(), Bytes: float64(n)})
		}
	}
	if l.Refused > 0 {
		around.Parts = append(around.Parts, Part{Name: "refused by links",
			Bytes: -float64(l.Refused)})
	}
	t.Out = []Part{snapshots, reliable, around}
	for i := range t.Out {
		total(&t.Out[i])
	}
	return t
}

// total fills in the sums of a part, and gives its own.
func total(p *Part) float64 {
	if len(p.Parts) == 0 {
		return p.Bytes
	}
	p.Bytes = 0
	for i := range p.Parts {
		p.Bytes += total(&p.Parts[i])
	}
	return p.Bytes
}
