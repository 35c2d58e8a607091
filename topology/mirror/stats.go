package mirror

import (
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// Stats are a mirror's totals since it was made.
type Stats struct {
	// Packets and Bytes came from other mirrors, Sent and SentBytes went to them, before what
	// package crimp adds; see Traffic for that.
	Packets, Bytes, Sent, SentBytes uint64
	// commands of others for ticks that the leading world had passed
	Late uint64
	// for ticks that were settled; there are none unless a mirror breaks its word
	TooLate uint64
	// commands that did not count, and all that made no sense
	Refused, Refusals uint64
	// commands of clients here that came while this mirror took none
	Dropped              uint64
	Provisional          uint64 // events shown before they were settled
	Confirmed, Retracted uint64
	Differed             uint64 // settled worlds that were unlike another mirror's
	Rejoins              uint64
	Equivocations        uint64 // mirrors that were proven to have said two things
	Disputes             uint64 // mirrors that signed something else than what came of them
	Withdrawn            uint64 // packets that came and were agreed not to count
	// with Options.Exact: events that the überserver told of, and those that came of its rulings
	// without a word of it
	Told, Untold uint64
	Settled      world.Tick
}

// Stats gives the totals so far.
func (m *Mirror) Stats() Stats { return m.stats }

// TimelineStats are those of the timeline since this mirror last joined.
func (m *Mirror) TimelineStats() timeline.Stats { return m.show.was }

// Clock says how well this mirror's clock is kept with the others'.
func (m *Mirror) Clock() ClockReport { return m.clock.report(m.roll.uber) }

// Now is the group's time.
func (m *Mirror) Now() time.Duration { return m.clock.now() }

// Traffic books every byte that was sent to other mirrors.
func (m *Mirror) Traffic() crimp.Ledger { return m.group.node.Ledger() }

// SettledDelay is how far the settled world is behind the present.
func (m *Mirror) SettledDelay() time.Duration {
	if m.line == nil {
		return 0
	}
	w := m.line.Settled()
	return m.worldTime() - timeline.NewClock(w).Time(m.at(w))
}

// Unbelieved counts what came from other mirrors and was not believed, by reason, since this mirror
// last joined.
func (m *Mirror) Unbelieved() map[string]uint64 {
	g, c, r := m.group.node.Group().Stats(), m.group.council.Stats(), m.group.council.Refusals()
	return map[string]uint64{
		"forged": g.Forged, "unproven": g.Unproven, "stranger": g.Strangers, "old_key": g.OldKey,
		"replayed": g.Replayed, "malformed": g.Malformed, "clash": g.Clashes,
		"disputed": g.Disputed, "equivocated": g.Equivocated,
		"council_malformed": c.Malformed, "council_stranger": c.Strangers + r.Outsiders,
		"council_outsider": c.Outsiders, "council_unproven": c.Unproven,
		"council_unheard": c.Unheard, "council_claimed_out": c.Claimed, "council_split": c.Split,
		"council_distrusted": c.Distrusted, "false_evidence": r.Evidence,
		"false_end": r.Closed, "false_denial": r.Door,
	}
}
