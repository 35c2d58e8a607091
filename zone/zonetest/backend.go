package zonetest

import (
	"bytes"
	"time"

	"github.com/coeval-dev/coeval/zone"
)

// Odds are out of a million operations or messages.
type Odds struct {
	// Refused are refused although they are right.
	Refused int
	// Away reach nobody, and are answered so.
	Away int
	// Doubt are not answered, so that it is not known whether they are done: a third is not, a
	// third is, and a third will be, up to five seconds later.
	Doubt int
	// Old reads are given what was true a while ago, where that is allowed.
	Old int
	// Lost, Twice and Late are messages.
	Lost, Twice, Late int
}

// stalls is when which part of the cluster's keeping does nothing, or is not there.
type stalls struct {
	journal, maps, store time.Duration // until when
	away                 time.Duration // until when the map is refused at once
	full                 time.Duration // until when the journal takes nothing, and says so
}

const patience = time.Second // after which an operation that was not answered is in doubt

// latency of an operation, one way: a third of a millisecond, and now and then much more.
func (s *Sim) latency() time.Duration {
	d := 200*time.Microsecond + time.Duration(s.chance.IntN(300))*time.Microsecond
	if s.chance.IntN(200) == 0 {
		d += time.Duration(s.chance.IntN(20)) * time.Millisecond
	}
	return d
}

// submit begins an operation of a server.
func (s *Sim) submit(n *node, op zone.Op) {
	op.Data = bytes.Clone(op.Data)
	s.meter(&op)
	at, odds := s.now+s.latency(), &s.opt.Odds
	stalled := s.stalled(&op)
	switch {
	case n.cut.kept > s.now || op.Kind <= zone.MapList && n.cut.maps > s.now:
		s.answer(n, &op, s.now+patience, zone.Result{Outcome: zone.Doubt})
	case op.Kind <= zone.MapList && s.stalls.away > s.now,
		op.Kind == zone.Append && s.stalls.full > s.now, s.hit(odds.Away):
		s.answer(n, &op, at, zone.Result{Outcome: zone.Away})
	case stalled > s.now:
		s.answer(n, &op, s.now+patience, zone.Result{Outcome: zone.Doubt})
		s.effect(n, &op, stalled+s.latency(), false)
	case writes(op.Kind) && s.hit(odds.Refused):
		s.answer(n, &op, at, zone.Result{Outcome: zone.Stale})
	case s.hit(odds.Doubt):
		s.answer(n, &op, at+patience/4, zone.Result{Outcome: zone.Doubt})
		switch s.chance.IntN(3) {
		case 0:
			s.effect(n, &op, at, false)
		case 1:
			s.effect(n, &op, at+time.Duration(s.chance.IntN(5000))*time.Millisecond, false)
		}
	case s.opt.Hasty && op.Kind == zone.Append:
		s.hasty(n, &op)
	default:
		s.effect(n, &op, at, true)
	}
}

func writes(k zone.OpKind) bool {
	return k == zone.MapSet || k == zone.MapDelete || k == zone.Append
}

func (s *Sim) hit(odds int) bool {
	return odds > 0 && s.faulty && s.chance.IntN(1_000_000) < odds
}

func (s *Sim) stalled(op *zone.Op) time.Duration {
	switch {
	case op.Kind <= zone.MapList:
		return s.stalls.maps
	case op.Kind <= zone.Trim:
		return s.stalls.journal
	}
	return s.stalls.store
}

// effect has an operation done at a time, whatever became of the server that asked for it.
func (s *Sim) effect(n *node, op *zone.Op, at time.Duration, answered bool) {
	o := *op
	s.at(at, func() {
		r := s.kept.do(&o, s.hit(s.opt.Odds.Old))
		if answered {
			s.answer(n, &o, s.now+s.latency(), r)
		}
	})
}

func (s *Sim) answer(n *node, op *zone.Op, at time.Duration, r zone.Result) {
	r.ID = op.ID
	life := n.life
	s.forNode(n, life, at, func() {
		n.machine.Done(n.clock(), r)
		s.drain(n)
	})
}

// hasty acknowledges an append before it is durable: what was promised is written a while later,
// unless the server has died by then. It is what a machine that does not wait would do.
func (s *Sim) hasty(n *node, op *zone.Op) {
	j := s.kept.journal(op.Zone)
	if j.promised != op.Expect {
		s.answer(n, op, s.now+s.latency(), zone.Result{Outcome: zone.Stale})
		return
	}
	s.kept.sequence++
	seq, o, life := s.kept.sequence, *op, n.life
	j.promised = seq
	s.answer(n, op, s.now+s.latency(), zone.Result{Sequence: seq})
	s.at(s.now+50*time.Millisecond, func() {
		last, _ := j.last()
		if n.alive && n.life == life && last.Sequence == o.Expect {
			promised := j.promised
			s.kept.write(&o, seq)
			j.promised = promised
			return
		}
		j.promised = last.Sequence
	})
}
