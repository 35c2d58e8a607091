package replica

import (
	"slices"

	"github.com/coeval-dev/coeval/entropy"
	"github.com/coeval-dev/coeval/world"
)

// flights are the packets that were made for a client. One is under way from when it is made until
// its verdict is dealt with, which happens when the next snapshot is made.
type flights struct {
	next      uint32    // number of the next packet
	snapshots uint32    // how many snapshots there were
	list      []*flight // under way, oldest first
	pool      []*flight // for more
	verdicts  []verdict // on those under way
	staged    []staged  // the packets of the present snapshot
	sent      []*Sent   // the same

	arrived packetSet // which of the latest packets have
	newest  uint32    // the newest that arrived and counts
	any     bool      // any does
	floor   uint32    // what came in packets before this one does not count

	confirmed uint32 // the newest tick of which a packet is known to have arrived; 0 for none
}

// flight is a packet under way.
type flight struct {
	Sent
	carrier uint64 // the number that the connection gave it
	sent    bool
	judged  bool // what became of it is known, and not dealt with yet
}

// staged is a packet that was encoded and has not been sent.
type staged struct {
	data   []byte
	flight *flight
}

// verdict is what became of a packet.
type verdict struct {
	f  *flight
	ok bool
}

// packetSet remembers something of each of the latest 256 packets.
type packetSet [4]uint64

func (p *packetSet) has(n uint32) bool { return p[n>>6&3]>>(n&63)&1 != 0 }
func (p *packetSet) add(n uint32)      { p[n>>6&3] |= 1 << (n & 63) }
func (p *packetSet) drop(n uint32)     { p[n>>6&3] &^= 1 << (n & 63) }

// recent says whether a packet is one of those that the set of arrived ones can tell apart.
func (f *flights) recent(packet uint32) bool { return f.next-packet <= window+1 }

// landed notes that a packet arrived.
func (f *flights) landed(packet uint32) {
	if f.recent(packet) {
		f.arrived.add(packet)
		if f.counts(packet) && (!f.any || int32(packet-f.newest) > 0) {
			f.newest, f.any = packet, true
		}
	}
}

// renounce has no packet count that was made so far. A client is then told of none of them that it
// arrived, and so takes none of their images for a base unless it is named: what is forgotten here
// of an entity is out of use there as well, whatever the client keeps and whatever is under way.
func (f *flights) renounce() { f.any, f.floor = false, f.next }

// counts says whether a packet that arrived is one to count on.
func (f *flights) counts(packet uint32) bool { return int32(packet-f.floor) >= 0 }

// disown forgets that a packet arrived.
func (f *flights) disown(packet uint32) {
	f.arrived.drop(packet)
	if f.newest != packet {
		return
	}
	f.any = false
	for p := packet - 1; f.next-p <= window && f.counts(p); p-- {
		if f.arrived.has(p) {
			f.newest, f.any = p, true
			return
		}
	}
}

// Messages are the reliable messages that must be sent before the staged
// packets. They are good until the next Encode.
func (s *Sender) Messages() [][]byte {
	s.applyPins()
	m := s.messages.list[:s.messages.n]
	if s.scheme.Shortens {
		for i := range m {
			s.short = entropy.ZeroRuns{}.Encode(s.short[:0], m[i])
			m[i] = append(m[i][:0], s.short...)
		}
	}
	for _, b := range m {
		s.ledger.Messages += uint64(len(b))
	}
	s.messages.n = 0
	return m
}

// Staged is how many packets were encoded and are to be sent.
func (s *Sender) Staged() int { return len(s.flights.staged) }

// Packet is a staged packet, to be sent as one unreliable message.
func (s *Sender) Packet(i int) []byte { return s.flights.staged[i].data }

// Sent tells that a staged packet was handed to the connection, and by which
// number the connection will speak of it.
func (s *Sender) Sent(i int, carrier uint64) {
	f := s.flights.staged[i].flight
	f.carrier, f.sent = carrier, true
	s.flights.staged[i].flight = nil
}

// Unsent tells that a staged packet will not be sent. It counts as lost.
func (s *Sender) Unsent(i int) {
	if f := s.flights.staged[i].flight; f != nil {
		s.flights.staged[i].flight = nil
		s.land(f, false)
	}
}

// unstage takes back what was staged and neither sent nor taken back.
func (s *Sender) unstage() {
	for i := range s.flights.staged {
		s.Unsent(i)
	}
	s.flights.staged = s.flights.staged[:0]
}

// Arrived tells that the connection's packet of that number has been received.
func (s *Sender) Arrived(carrier uint64) { s.judge(carrier, true) }

// Confirmed is the tick of the newest snapshot of which a packet is known to have arrived, or 0.
func (s *Sender) Confirmed() world.Tick {
	if s.flights.confirmed == 0 {
		return 0
	}
	return s.pub.tick - world.Tick(Age(uint32(s.pub.tick), s.flights.confirmed))
}

// Lost tells that the connection's packet of that number is taken for lost.
func (s *Sender) Lost(carrier uint64) { s.judge(carrier, false) }

// judge notes a verdict. It is dealt with at the next Encode, which looks at
// the same entities and may run beside that of others.
func (s *Sender) judge(carrier uint64, ok bool) {
	s.applyPins()
	for _, f := range s.flights.list {
		if f.sent && !f.judged && f.carrier == carrier {
			f.judged = true
			if ok && (s.flights.confirmed == 0 || int32(f.Tick-s.flights.confirmed) > 0) {
				s.flights.confirmed = f.Tick
			}
			s.flights.verdicts = append(s.flights.verdicts, verdict{f, ok})
			return
		}
	}
}

// landAll deals with the verdicts that have come.
func (s *Sender) landAll() {
	for _, v := range s.flights.verdicts {
		if !v.ok {
			s.ledger.Lost++
		}
		s.land(v.f, v.ok)
	}
	s.flights.verdicts = s.flights.verdicts[:0]
	if s.flights.next-s.pace.tidied >= 64 {
		s.pace.tidied = s.flights.next
		s.sweep()
	}
}

// land deals with the end of a packet's way.
func (s *Sender) land(f *flight, ok bool) {
	if i := slices.Index(s.flights.list, f); i >= 0 {
		s.flights.list = slices.Delete(s.flights.list, i, i+1)
	}
	if ok = s.bases.Landed(&f.Sent, ok); ok {
		s.flights.landed(f.Packet)
	}
	s.end(f, ok)
}

// end sees that what a lost packet said is said again, be it only that there is nothing to say.
// What is known to be heard as removed is forgotten.
func (s *Sender) end(f *flight, ok bool) {
	if !ok && len(f.Said) == 0 {
		s.pace.spoke = false
	}
	for i := range f.Said {
		e := &f.Said[i]
		r := s.at(e.Handle)
		if r.unique != e.Unique {
			continue
		}
		r.under--
		switch latest := r.packet == f.Packet; {
		case !latest:
		case !ok:
			r.told = untold
			s.view.stale = true
		case e.What == Removed && r.under == 0 && !s.scheme.Repeats:
			s.forget(e.Handle)
		}
	}
	s.flights.pool = append(s.flights.pool, f)
}

// flight gives an empty packet.
func (s *Sender) flight() *flight {
	if n := len(s.flights.pool); n > 0 {
		f := s.flights.pool[n-1]
		s.flights.pool = s.flights.pool[:n-1]
		*f = flight{Sent: Sent{Said: f.Said[:0]}}
		return f
	}
	return new(flight)
}

// stage keeps a packet that was encoded until it is sent.
func (s *Sender) stage(f *flight, data []byte) []byte {
	t := &s.flights
	t.next++
	t.arrived.drop(f.Packet)
	n := len(t.staged)
	if n < cap(t.staged) {
		t.staged = t.staged[:n+1]
	} else {
		t.staged = append(t.staged, staged{})
	}
	st := &t.staged[n]
	st.data = append(st.data[:0], data...)
	st.flight = f
	t.list = append(t.list, f)
	s.ledger.Packets++
	s.ledger.Bytes += uint64(len(data))
	return st.data
}

// oversize gives up an entity that does not fit into any packet. Others go on.
func (s *Sender) oversize(h int32) {
	r := s.at(h)
	if r.want == Held {
		sl := &s.pub.slots[r.slot]
		s.ledger.Classes[sl.class].Oversize++
		r.number, r.unsaid = sl.number, true
	}
	r.told, s.view.stale = r.want, true
}
