package replica

import "slices"

// keepOld is how many images of an entity a client keeps beyond the latest
// packets. A base is relied on only if fewer were sent after it.
const keepOld = 4

// Messages are the reliable messages that must be sent before the staged
// packets. They are good until the next Encode.
func (s *Sender) Messages() [][]byte {
	s.applyPins()
	m := s.messages.list[:s.messages.n]
	for _, b := range m {
		s.ledger.Messages += uint64(len(b))
	}
	s.messages.n = 0
	return m
}

// Staged is how many packets were encoded and are to be sent.
func (s *Sender) Staged() int { return len(s.staged) }

// Packet is a staged packet, to be sent as one unreliable message.
func (s *Sender) Packet(i int) []byte { return s.staged[i].data }

// Sent tells that a staged packet was handed to the connection, and by which
// number the connection will speak of it.
func (s *Sender) Sent(i int, carrier uint64) {
	f := s.staged[i].flight
	f.carrier, f.sent = carrier, true
	s.staged[i].flight = nil
}

// Unsent tells that a staged packet will not be sent. It counts as lost.
func (s *Sender) Unsent(i int) {
	if f := s.staged[i].flight; f != nil {
		s.staged[i].flight = nil
		s.land(f, false)
	}
}

// unstage takes back what was staged and neither sent nor taken back.
func (s *Sender) unstage() {
	for i := range s.staged {
		s.Unsent(i)
	}
	s.staged = s.staged[:0]
}

// Arrived tells that the connection's packet of that number has been received.
func (s *Sender) Arrived(carrier uint64) { s.judge(carrier, true) }

// Lost tells that the connection's packet of that number is taken for lost.
func (s *Sender) Lost(carrier uint64) { s.judge(carrier, false) }

// judge notes a verdict. It is dealt with at the next Encode, which looks at
// the same records and may run beside that of others.
func (s *Sender) judge(carrier uint64, ok bool) {
	s.applyPins()
	for _, f := range s.flights {
		if f.sent && !f.judged && f.carrier == carrier {
			f.judged = true
			s.verdicts = append(s.verdicts, verdict{f, ok})
			return
		}
	}
}

// verdict is what became of a packet.
type verdict struct {
	f  *flight
	ok bool
}

// settle deals with the verdicts that have come.
func (s *Sender) settle() {
	for _, v := range s.verdicts {
		if !v.ok {
			s.ledger.Lost++
		}
		s.land(v.f, v.ok)
	}
	s.verdicts = s.verdicts[:0]
	if s.next-s.tidied >= 64 {
		s.tidied = s.next
		s.sweep()
	}
}

// pin is a base that a client has now, or has no more. Slots are shared, so
// what is done in parallel only notes it.
type pin struct {
	slot           int32
	unique, number uint32
	hold           bool
}

func (s *Sender) hold(r *record, number uint32) {
	s.pins = append(s.pins, pin{r.slot, r.unique, number, true})
}

func (s *Sender) release(r *record, number uint32) {
	s.pins = append(s.pins, pin{r.slot, r.unique, number, false})
}

// applyPins tells the slots. It is soon enough if it happens before the images
// are older than what is kept anyway.
func (s *Sender) applyPins() {
	for i := range s.pins {
		p := &s.pins[i]
		sl := &s.pub.slots[p.slot]
		switch {
		case sl.unique != p.unique:
		case p.hold:
			sl.hold(p.number)
		default:
			sl.release(p.number)
		}
	}
	s.pins = s.pins[:0]
}

// land deals with the end of a packet's way.
func (s *Sender) land(f *flight, ok bool) {
	if i := slices.Index(s.flights, f); i >= 0 {
		s.flights = append(s.flights[:i], s.flights[i+1:]...)
	}
	if s.classic != nil {
		ok = s.classic.landed(f, ok)
	}
	if !ok {
		s.dropped(f)
		return
	}
	// Beyond the set's memory its place may be another packet's.
	if s.next-f.packet <= window+1 {
		s.arrived.add(f.packet)
		if !s.any || int32(f.packet-s.newest) > 0 {
			s.newest, s.any = f.packet, true
		}
	}
	for i := range f.entries {
		e := &f.entries[i]
		r := &s.records[e.handle]
		if r.unique != e.unique {
			continue
		}
		r.under--
		if s.classic != nil {
			continue
		}
		switch e.what {
		case held:
			if int32(f.packet-r.since) < 0 {
				break
			}
			r.bound = true
			s.acknowledge(r, ack{f.packet, e.number, f.tick, e.sends})
		case removed:
			if r.packet == f.packet && r.under == 0 {
				s.forget(e.handle)
			}
		}
	}
	s.pool = append(s.pool, f)
}

// acknowledge moves the client's base of an entity on.
func (s *Sender) acknowledge(r *record, a ack) {
	before := r.ack(0).number
	had := r.acked > 0
	if !r.acknowledge(a) {
		return
	}
	s.hold(r, a.number)
	if had {
		s.release(r, before)
	}
}

// dropped sees that what a lost packet said is said again, be it only that there is nothing to say.
func (s *Sender) dropped(f *flight) {
	if len(f.entries) == 0 {
		s.spoke = false
	}
	for i := range f.entries {
		e := &f.entries[i]
		r := &s.records[e.handle]
		if r.unique != e.unique {
			continue
		}
		r.under--
		if r.packet == f.packet {
			r.told = untold
			s.stale = true
		}
	}
	s.pool = append(s.pool, f)
}

// oversize gives up an entity that does not fit into any packet. Others go on.
func (s *Sender) oversize(h int32) {
	r := &s.records[h]
	sl := &s.pub.slots[r.slot]
	if r.want == held {
		s.ledger.Classes[sl.class].Oversize++
		r.number, r.unsaid = sl.number, true
	}
	r.told = r.want
	s.stale = true
}
