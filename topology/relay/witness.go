package relay

import "github.com/coeval-dev/coeval/member"

// A Voter is a witness of a match of two, who have no majority among themselves: it takes part in
// their council. What it says is not the relay's to know; a program that runs a relay supplies it.
type Voter interface {
	// Hear is given a message of a member, and says what to send to whom.
	Hear(from member.ID, message []byte, say func(to member.ID, message []byte))
	// Gone is told that a member is no longer connected.
	Gone(member.ID)
}

func (s *Server) vote(m *match, p *peer, b []byte) {
	m.voter.Hear(p.id, b, func(to member.ID, message []byte) {
		if q := m.find(to); q != nil && len(message) <= MaxVote {
			s.scratch = append(append(s.scratch[:0], messageVoted), message...)
			s.sendRaw(q, s.scratch)
		}
	})
}
