package peers

import (
	"encoding/binary"
	"slices"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/topology/relay"
)

// Of two there is no majority. If they have met at a relay it is their witness: who does not hear
// the other asks it to go on alone, and it lets at most one of them, in each epoch. The other finds
// out when it is back, and returns as anyone does who was gone.

// Witness makes the witnesses of a relay's matches: for relay.Options.Voter.
func Witness(relay.Code) relay.Voter { return &witness{} }

// witness remembers whom it has let go on, and in which epoch.
type witness struct {
	epoch   uint32
	granted member.ID
}

// What the two say to the witness and it to them: 4 epoch, and its word, 1 whether it is so.
const wordSize = 4

// Hear answers one who wants to go on alone.
func (w *witness) Hear(from member.ID, b []byte, send func(to member.ID, message []byte)) {
	if len(b) != wordSize {
		return
	}
	epoch := binary.BigEndian.Uint32(b)
	if w.granted == 0 || epoch > w.epoch {
		w.epoch, w.granted = epoch, from
	}
	yes := byte(0)
	if w.epoch == epoch && w.granted == from {
		yes = 1
	}
	send(from, append(binary.BigEndian.AppendUint32(nil, epoch), yes))
}

// Gone is told that one is gone from the relay. What was granted stays granted.
func (w *witness) Gone(member.ID) {}

// appeal asks the witness, where one of two does not hear the other.
func (p *Peer) appeal() {
	d := p.council.Decree()
	r := p.opt.Meeting
	if r == nil || !p.meeting.in || len(d.Voters) != 2 || !d.Votes(p.self) || p.now < p.office.askAt ||
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
