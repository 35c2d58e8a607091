package crimp

// Purpose is what a sent byte was for.
type Purpose uint8

const (
	// SentHeader: headers and prefixes of data packets.
	SentHeader Purpose = iota
	// SentProof: tags and signatures of data packets.
	SentProof
	// SentMessage: messages, the first time each goes out.
	SentMessage
	// SentOrder: what causal and total order need.
	SentOrder
	// SentForward: predecessors carried, and parity packets whole.
	SentForward
	// SentControl: control packets whole: requests, reports, signs of life.
	SentControl
	// SentRepair: repairs whole.
	SentRepair
	// SentRelay: what a bridge passes on.
	SentRelay
	// SentMembership: joining, rosters and the state.
	SentMembership
	// SentLossy: lossy packets whole.
	SentLossy
	// SentWhisper: whispers whole, those of the authority included.
	SentWhisper
	// SentLine: what members tell each other of the lines between them, and beacons.
	SentLine
	// SentCarry: what is carried for others whole, and what being carried adds to our own.
	SentCarry
	purposes
)

var purposeNames = [purposes]string{
	"header", "proof", "message", "order", "forward", "control", "repair", "relay", "membership",
	"lossy", "whisper", "line", "carry"}

func (p Purpose) String() string { return nameOf(p, purposeNames[:], "unknown purpose") }

// Ledger books every byte handed to the link by what it was for. A packet that goes to
// several addresses counts as often. The sum of Sent is what Flush has handed out.
type Ledger struct {
	Sent      [purposes]uint64
	Datagrams uint64
}

// Total is all bytes handed out.
func (l *Ledger) Total() (sum uint64) {
	for _, n := range l.Sent {
		sum += n
	}
	return sum
}

// Stats counts what a machine has met. Nothing of it needs action; all of it is
// worth a graph.
type Stats struct {
	Delivered  uint64 // packets handed to the application
	Repaired   uint64 // of those, by a repair
	Forwarded  uint64 // of those, from what other packets carried
	Lost       uint64 // packets noticed as missing
	Spurious   uint64 // of those, ones that were only late
	Phantom    uint64 // of those, ones that were never sent
	GaveUp     uint64 // of those, ones whose life ended
	Requests   uint64 // packets that this member asked for, each time
	Suppressed uint64 // requests not sent because another asked first
	Repairs    uint64 // repairs sent
	Held       uint64 // requests not answered because a repair was under way
	Paced      uint64 // requests and repairs not sent because there were too many
	Duplicates uint64 // packets that came again

	Malformed  uint64 // no packet of this protocol, or against its rules
	OtherGroup uint64 // of another group on the same address
	OldKey     uint64 // under a key that is not known here: not yet, or not any more
	Strangers  uint64 // of a member that is not in the roster
	Forged     uint64 // damaged, or not sealed with the group's key
	Unproven   uint64 // sealed by a member, but not by the one it names
	Replayed   uint64 // control packets that had come before
	TooOld     uint64 // behind the history
	TooNew     uint64 // so far ahead that it cannot be
	Whispers   uint64 // whispers handed to the application
	Uncounted  uint64 // of a member whose packets do not count at present, or no longer
	Clashes    uint64 // made with this member's own identity, elsewhere

	CarryStats
	DigestStats
}

// CarryStats counts what came of lines and multicast that do not pass.
type CarryStats struct {
	Carried      uint64 // datagrams carried for others
	CarriedBytes uint64
	Uncarried    uint64 // not carried: nobody is next, or they had been carried too far
	Overpaid     uint64 // not carried: whoever handed them over did so too often
	CastLost     uint64 // times that a member's multicast was heard and its packets did not come
}

// DigestStats counts what signed digests have led to.
type DigestStats struct {
	Attested    uint64 // packets that did not prove themselves here, but by a signed digest
	Disputed    uint64 // members whose signed digest does not fit what came of them
	Equivocated uint64 // members that have signed two digests that contradict each other
}
