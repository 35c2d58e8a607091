package replica

// Ledger says what the bits of a client's snapshots were for. What its parts
// leave of 8*Bytes is the rounding of packets to whole bytes.
type Ledger struct {
	Packets uint64
	Bytes   uint64 // of packets
	Lost    uint64 // packets

	// by number of the class; the last is for relayed commands, if the game has commands
	Classes []ClassLedger
	Header  float64 // bits of headers: numbers, acknowledgements, the report on commands
	Views   float64 // bits of entities that left or were removed
	Events  float64 // bits of unreliable events
	Tail    float64 // bits of deferred marks and hashes

	Messages uint64 // bytes of reliable messages
	Failed   uint64 // packets that could not be encoded, because of an image out of its range
	NoRoom   uint64 // unreliable events that found no room
	Missed   uint64 // reliable events that waited too long for Encode to take them
	Repairs  uint64 // bases that the client asked for anew
	Rejects  uint64 // packets that the client could not use
}

// ClassLedger is the part of a Ledger that one class has.
type ClassLedger struct {
	Bits     float64
	Updates  uint64
	Oversize uint64 // updates that did not fit into any packet
}

// Ledger says what was spent so far. It is the sender's own: do not keep it.
func (s *Sender) Ledger() *Ledger { return &s.ledger }
