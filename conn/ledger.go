package conn

// Purpose is what a sent byte was for.
type Purpose uint8

const (
	// SentHandshake: requests, challenges, responses, accepts, refusals.
	SentHandshake Purpose = iota
	// SentHeader: type, identifier and number of data packets.
	SentHeader
	// SentTag: what authenticates a data packet.
	SentTag
	// SentAck: acknowledgements.
	SentAck
	// SentFraming: headers, lengths and prefixes of frames.
	SentFraming
	// SentControl: pings, clocks, path proofs, tickets, closing.
	SentControl
	// SentUnreliable: payload of unreliable messages.
	SentUnreliable
	// SentNewest: payload of newest-only messages.
	SentNewest
	// SentReliable: payload of reliable messages, the first time each goes out.
	SentReliable
	// SentResent: payload of reliable messages and transfers that went out again because they were
	// lost.
	SentResent
	// SentRidden: payload of reliable messages that rode along again before their acknowledgement
	// came.
	SentRidden
	// SentBulk: payload of transfers, the first time.
	SentBulk
	// SentAnswer: answers to those who have no connection, which a link gives itself; see package
	// link/answer. Machines of this package book none.
	SentAnswer
	purposes
)

var purposeNames = [purposes]string{"handshake", "header", "tag", "ack", "framing", "control",
	"unreliable", "newest", "reliable", "resent", "ridden", "bulk", "answer"}

func (p Purpose) String() string {
	if int(p) < len(purposeNames) {
		return purposeNames[p]
	}
	return "unknown purpose"
}

// Ledger books every byte handed to the link by what it was for, and counts what
// came. The sum of Sent, less Refused, is what the link says it has sent.
type Ledger struct {
	Sent            [purposes]uint64
	Refused         uint64 // bytes that the link did not take, see Server.Refused
	Packets         uint64 // handed to the link
	Received        uint64 // bytes of packets that proved genuine
	ReceivedPackets uint64
	Messages        uint64 // handed out
	Dropped         uint64 // unreliable messages that did not fit the budget
	Late            uint64 // newest-only messages that came after a newer one
	Duplicates      uint64 // reliable messages that came again
	Spurious        uint64 // packets that turned up after they had been taken for lost
}

// Total is all bytes handed to the link and taken by it.
func (l *Ledger) Total() uint64 {
	var sum uint64
	for _, n := range l.Sent {
		sum += n
	}
	return sum - l.Refused
}

// Add adds another ledger to this one.
func (l *Ledger) Add(o *Ledger) {
	for i := range l.Sent {
		l.Sent[i] += o.Sent[i]
	}
	l.Refused += o.Refused
	l.Packets += o.Packets
	l.Received += o.Received
	l.ReceivedPackets += o.ReceivedPackets
	l.Messages += o.Messages
	l.Dropped += o.Dropped
	l.Late += o.Late
	l.Duplicates += o.Duplicates
	l.Spurious += o.Spurious
}

// Stats counts what a machine met that was not as it should be. Nothing of it
// needs action; all of it is worth a graph.
type Stats struct {
	Malformed  uint64 // too short, too long, or of no known kind
	Unknown    uint64 // for a connection that does not exist: stale, or guessed
	Forged     uint64 // failed authentication: altered, or not from the peer
	Replayed   uint64 // received before
	TooOld     uint64 // too far behind to tell whether received before
	Violations uint64 // genuine packets that broke the protocol; each ends its connection
	FalseAcks  uint64 // of those, acknowledgements of what was never sent
	Requests   uint64
	Flooded    uint64 // requests and responses not answered because too many came at once
	Crowded    uint64 // responses not looked at: an address sent too many, or others were drawn
	BadCookies uint64 // responses from addresses that were not challenged, or too long ago
	BadTokens  uint64 // responses with tokens sealed with another key, or altered
	BadProofs  uint64 // responses by someone who does not know the token's secret
	BadShares  uint64 // proved responses with a share of which no secret can be made
	Exchanges  uint64 // secrets agreed on
	Renewals   uint64 // of keys
	Duplicates uint64 // responses that came again: answered again, unless about to be
	Refusals   [ReasonGame]uint64
	Accepted   uint64
	ClockBack  uint64 // the driver's clock went backwards
	ClockJumps uint64 // the driver's clock went forward by more than it should
	// handshake packets to a client from an address it does not talk to, or that it did not ask for
	Strangers     uint64
	RefusalHints  uint64 // refusals that proved nothing
	TimedOut      uint64
	NoAcks        uint64 // connections that ended because the peer acknowledged nothing
	RefusedByLink uint64 // packets that the link did not take
	PathStats
}

// PathStats counts what became of packets from other addresses than the peer's.
type PathStats struct {
	Moves   uint64 // of peers to a new address
	Probes  uint64 // of new addresses, sent
	Stayed  uint64 // trials of new addresses that ended because the peer is still at the old one
	Returns uint64 // moves that were taken back for the same reason
	Misled  uint64 // path challenges that came from an address that a client does not talk to
}
