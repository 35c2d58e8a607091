package relay

import (
	"time"

	"github.com/coeval-dev/coeval/member"
)

// A Voter is a witness of a match in mesh mode: it takes part in the members' council, so that of
// two the one who remains has a majority. What members say to it with [Client.Vote], and what it
// says to them, is not the relay's to know; a program that runs a relay supplies it, by
// Options.Voter. It is called by the goroutine that drives the relay.
type Voter interface {
	// Met is told of a member that came, or of whom something else is known now.
	Met(now time.Duration, p *Peer)
	// Gone is told of a member that is no longer connected.
	Gone(now time.Duration, id member.ID)
	// Hear is given a message of a member, which is good until it returns.
	Hear(now time.Duration, from member.ID, message []byte)
	// Tick is called after those, and every voteEvery: what it says is sent.
	Tick(now time.Duration, say func(to member.ID, message []byte))
}

// Witness is the number of a match's witness. No member has it.
const Witness member.ID = ^member.ID(0)

// voteEvery is how often a witness has a turn, if nothing happens.
const voteEvery = 50 * time.Millisecond

// deliberate lets the witness of a match say what it has to say.
func (s *Server) deliberate(m *match) {
	s.wake(m, s.now+voteEvery)
	m.voter.Tick(s.now, func(to member.ID, message []byte) {
		if q := m.find(to); q != nil && len(message) <= MaxVote {
			s.scratch = append(append(s.scratch[:0], messageVoted), message...)
			s.sendRaw(q, s.scratch)
		}
	})
}
