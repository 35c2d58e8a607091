package replica

import "github.com/coeval-dev/coeval/codec"

// begin starts a packet with its header.
func (s *Sender) begin(w *Worker, buf []byte, first bool, room Room) *flight {
	seq := s.next
	f := s.flight()
	f.packet, f.tick = seq, uint32(s.pub.tick)
	enc := w.enc
	enc.Begin(buf)
	w.skips = skips{}
	enc.Bits(uint32(s.options.Epoch)&(1<<epochBits-1), epochBits)
	enc.Bits(seq&(1<<packetBits-1), packetBits)
	enc.Bits(f.tick&(1<<tickBits-1), tickBits)
	enc.Flag(first, chanceFirst)
	if s.classic == nil {
		s.putKnown(enc, seq)
	} else {
		s.classic.header(enc, seq)
	}
	if first {
		enc.Bits(uint32(min(max(room.Early, -1<<(earlyBits-1)), 1<<(earlyBits-1)-1))&(1<<earlyBits-1), earlyBits)
		enc.Flag(room.Repeated > 0, chanceRepeated)
		if room.Repeated > 0 {
			enc.Bits(uint32(min(room.Repeated, 1<<repeatBits-1)), repeatBits)
		}
	}
	s.ledger.Header += enc.Spent()
	return f
}

// putKnown says what of all that was sent before is known to have arrived, and
// how many messages were sent.
func (s *Sender) putKnown(enc codec.PacketEncoder, seq uint32) {
	s.putAcks(enc, seq)
	count := uint8(s.messages.sent & (1<<eventBits - 1))
	s.counts[seq&255] = count
	if s.any && seq-s.newest <= window {
		changed := count != s.counts[s.newest&255]
		enc.Flag(changed, chanceEvents)
		if changed {
			enc.Bits(uint32(count), eventBits)
		}
	} else {
		enc.Bits(uint32(count), eventBits)
	}
}

// putAcks says which of the latest packets are known to have arrived: the
// newest, and all before it but for some. It is what bases are chosen from.
func (s *Sender) putAcks(enc codec.PacketEncoder, seq uint32) {
	known := s.any && seq-s.newest <= window
	enc.Flag(known, chanceAck)
	s.low = seq // nothing is older
	if !known {
		return
	}
	enc.Bits(seq-s.newest, ageBits)
	s.low = s.newest - min(s.newest, span) - 1 // numbers begin at 0
	missing := rare
	for p := s.newest - 1; p != s.low; p-- {
		lost := !s.arrived.has(p) || s.faded(p) && age(uint32(s.pub.tick), s.made[p&255].tick) <= recent
		enc.Flag(lost, missing.chance())
		missing.count(lost)
	}
	enc.Flag(s.undecided(), chanceUndecided)
}

// faded says that images from a packet may no longer be found though they are few ticks old, since there were several publications of a tick. Such a packet is not
// counted on: it is said not to have arrived.
func (s *Sender) faded(packet uint32) bool {
	return s.pub.crowded && uint32(s.pub.count)-s.made[packet&255].count > recent
}

// undecided says whether a packet before the newest that arrived is still under
// way as far as is known.
func (s *Sender) undecided() bool {
	for _, f := range s.flights {
		if int32(f.packet-s.newest) < 0 {
			return true
		}
	}
	return false
}
