package replica

import "github.com/coeval-dev/coeval/world"

// record is what a server knows about one client and one entity.
type record struct {
	slot   int32
	unique uint32 // of the slot when the record was made: another one there means that the entity is no more; 0 if the handle is free
	mark   uint32 // the last Look that found it in view, for commands

	want  uint8 // what the client should be told: held, left or removed
	told  uint8 // what the newest packet says that is not known to be lost
	bound bool  // the client knows which entity the handle stands for

	unsaid bool // the image that counts as told last fits no packet, and was never sent

	under  uint16 // packets under way that speak of it
	number uint32 // the image that was told last
	packet uint32 // by which packet
	tick   uint32 // at which tick
	sends  uint32 // how many times it was sent
	since  uint32 // packets before this one say nothing about what the client holds

	priority float32 // as interest has it
	waiting  float32 // what it gained by not being sent
	owner    world.Player

	acked uint8 // how many images the client is known to hold
	front uint8 // where the newest is in the ring
	acks  [16]ack

	id     world.ID // of the entity that the handle stands for
	before world.ID // of the one that the client may think it stands for, from before
}

// ack is an image that a client is known to hold.
type ack struct {
	packet uint32
	number uint32
	tick   uint32 // of the snapshot
	sends  uint32 // of the record, when it was sent
}

// ack is the i-th newest that the client is known to hold.
func (r *record) ack(i int) *ack { return &r.acks[(int(r.front)+i)&15] }

// acknowledge notes that the client has an image, and says whether it is the
// newest it has.
func (r *record) acknowledge(a ack) (newest bool) {
	at := 0
	for at < int(r.acked) && int32(r.ack(at).packet-a.packet) > 0 {
		at++
	}
	if at == depth {
		return false
	}
	r.front = (r.front - 1) & 15
	for i := range at { // those that are newer move up
		*r.ack(i) = *r.ack(i + 1)
	}
	*r.ack(at) = a
	if r.acked < depth {
		r.acked++
	}
	return at == 0
}

// disown forgets an image that the client says it does not have, and says
// whether it was the newest.
func (r *record) disown(packet uint32) (number uint32, newest bool) {
	for i := range int(r.acked) {
		if r.ack(i).packet == packet {
			number = r.ack(i).number
			for ; i+1 < int(r.acked); i++ {
				*r.ack(i) = *r.ack(i + 1)
			}
			r.acked--
			return number, r.acked == 0 || int32(packet-r.ack(0).packet) > 0
		}
	}
	return 0, false
}

// flight is a packet under way, with what it says of each entity.
type flight struct {
	packet   uint32 // our number
	carrier  uint64 // the number that the connection gave it
	snapshot uint32 // which snapshot it is part of, for Quake3
	tick     uint32
	size     int
	sent     bool
	judged   bool // what became of it is known, and not dealt with yet
	entries  []flightEntry
}

type flightEntry struct {
	handle int32
	unique uint32
	number uint32
	sends  uint32
	what   uint8
}
