package peers

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/topology/relay"
)

// Of two there is no majority. If they have met at a relay it is their witness: who does not hear
// the other asks it to go on alone, and it lets at most one of them, in each epoch. The other finds
// out when it is back, and returns as anyone does who was gone.

// Witness makes the witnesses of a relay's matches: for relay.Options.Voter.
func Witness(_ relay.Code, m *relay.Match) relay.Voter {
	if m.Seats != 2 {
		return nil
	}
	return &witness{}
}

// witness remembers whom it has let go on, and in which epoch.
type witness struct {
	epoch   uint32
	granted member.ID
	seated  []member.ID // who plays; nobody else is heard
	answers []answer
}

// An answer is what the witness has to say to one of the two.
type answer struct {
	to    member.ID
	epoch uint32
}

// What the two say to the witness and it to them: 4 epoch, and its word, 1 whether it is so.
const wordSize = 4

// Hear takes the word of one who wants to go on alone.
func (w *witness) Hear(_ time.Duration, from member.ID, b []byte) {
	if len(b) != wordSize || len(w.answers) > MaxSeats || !slices.Contains(w.seated, from) {
		return
	}
	epoch := binary.BigEndian.Uint32(b)
	if w.granted == 0 || epoch > w.epoch {
		w.epoch, w.granted = epoch, from
	}
	w.answers = append(w.answers, answer{from, epoch})
}

// Tick answers.
func (w *witness) Tick(_ time.Duration, say func(to member.ID, message []byte)) {
	for _, a := range w.answers {
		yes := byte(0)
		if w.epoch == a.epoch && w.granted == a.to {
			yes = 1
		}
		say(a.to, append(binary.BigEndian.AppendUint32(nil, a.epoch), yes))
	}
	w.answers = w.answers[:0]
}

// Met is told who is at the relay.
func (w *witness) Met(_ time.Duration, p *relay.Peer) {
	if p.Player != 0 && !p.Watch {
		w.seated = member.Insert(w.seated, p.Member)
	}
}

// Gone is told that one is gone. What was granted stays granted.
func (w *witness) Gone(_ time.Duration, id member.ID) {
	w.seated = slices.DeleteFunc(w.seated, func(m member.ID) bool { return m == id })
}

// appeal asks the witness, where one of two does not hear the other.
func (p *Peer) appeal() {
	d := p.council.Decree()
	r := p.opt.Meeting
	if r == nil || !p.meeting.in || len(d.Voters) != 2 || !d.Votes(p.self) ||
		p.now < p.office.askAt ||
		p.office.granted == d.Epoch {
		return
	}
	for _, id := range d.Voters {
		if id != p.self && p.council.Silent(id) <= p.match.Patience {
			return
		}
	}
	p.office.askAt = p.now + second/4
	_ = r.Client.Vote(binary.BigEndian.AppendUint32(nil, d.Epoch))
}

// witnessed takes the word of the witness.
func (p *Peer) witnessed(b []byte) {
	if p.council == nil || len(b) != wordSize+1 || b[wordSize] != 1 {
		return
	}
	if epoch := binary.BigEndian.Uint32(b); epoch == p.council.Decree().Epoch {
		p.office.granted = epoch
	}
}

// lonely says that this peer does not hear the other of two, and may not go on without.
func (p *Peer) lonely() bool {
	d := p.council.Decree()
	return len(d.Voters) == 2 && d.Votes(p.self) && !p.alone() &&
		slices.ContainsFunc(d.Voters, func(id member.ID) bool {
			return id != p.self && p.council.Silent(id) > p.match.Patience
		})
}

// alone says whether this peer may go on without the other of two.
func (p *Peer) alone() bool {
	d := p.council.Decree()
	return len(d.Voters) == 2 && (p.match.Alone || p.office.granted == d.Epoch)
}
