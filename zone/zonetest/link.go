package zonetest

import (
	"bytes"
	"time"

	"github.com/coeval-dev/coeval/zone"
)

// send carries a message to the server that has that number, if it lives and is reached.
func (s *Sim) send(n *node, m zone.Message) {
	s.report.Cost.Messages++
	s.report.Cost.MessageBytes += uint64(len(m.Data))
	var to *node
	for _, other := range s.nodes {
		if other.alive && other.id == m.To {
			to = other
		}
	}
	if to == nil || n.cut.to[to.slot] > s.now || s.hit(s.opt.Odds.Lost) {
		return
	}
	data := bytes.Clone(m.Data)
	copies := 1
	if s.hit(s.opt.Odds.Twice) {
		copies = 2
	}
	for range copies {
		wait := 50*time.Microsecond + time.Duration(s.chance.IntN(100))*time.Microsecond
		if s.hit(s.opt.Odds.Late) {
			wait += time.Duration(s.chance.IntN(60)) * time.Millisecond
		}
		from := n.id
		s.forNode(to, to.life, s.now+wait, func() {
			to.machine.Receive(to.clock(), from, data)
			s.drain(to)
		})
	}
}

// meter counts what an operation costs.
func (s *Sim) meter(op *zone.Op) {
	c := &s.report.Cost
	switch op.Kind {
	case zone.Append:
		c.Appends++
		c.AppendBytes += uint64(len(op.Data))
	case zone.Put:
		c.StoreBytes += uint64(len(op.Data))
	case zone.MapGet, zone.MapSet, zone.MapDelete, zone.MapList:
		c.MapOps++
		c.MapBytes += uint64(len(op.Key) + len(op.Data))
		if op.Kind == zone.MapList {
			for _, e := range s.kept.list(op.Key, true) {
				c.MapBytes += uint64(len(e.Key) + len(e.Value))
			}
		}
	}
}
