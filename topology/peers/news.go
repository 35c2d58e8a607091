package peers

import (
	"fmt"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A Kind says what news is about.
type Kind uint8

// What there can be news of.
const (
	Entered   Kind = iota + 1 // this peer is a member, and plays from tick Tick on
	Joined                    // another is a member
	Left                      // another is gone; Text says why
	Refused                   // somebody knocked in vain, or this peer did
	Out                       // this peer was taken for gone; it asks to come back
	Waiting                   // this peer waits for Member, who is silent
	Differs                   // the worlds have come apart: Text says in what
	Repaired                  // this peer has taken over the world of another
	TwoFaced                  // Member has told different peers different things, and is put out
	Over                      // the match is over; Text says why
	Watching                  // somebody watches
	Following                 // this peer has the world, and follows the match
	Met                       // this peer is at the relay; Text is the code
	Parted                    // the relay is gone
	Lapsed                    // Member's last command is repeated from tick Tick to Until
)

var kinds = [...]string{"", "entered", "joined", "left", "refused", "out", "waiting", "differs",
	"repaired", "two-faced", "over", "watching", "following", "met", "parted",
	"lapsed"}

func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("news %d", k)
}

// News is something that happened in a match.
type News struct {
	Kind   Kind
	Member member.ID
	Player world.Player
	Tick   world.Tick
	Until  world.Tick
	Text   string
	Err    error
	// Mine and Theirs are, of Repaired, the two worlds of the tick, saved: what the command desync
	// compares.
	Mine, Theirs []byte
}

func (n News) String() string {
	s := n.Kind.String()
	if n.Member != 0 {
		s += fmt.Sprintf(" member %d", n.Member)
	}
	if n.Tick != 0 {
		s += fmt.Sprintf(" tick %d", n.Tick)
	}
	if n.Until != 0 {
		s += fmt.Sprintf(" to %d", n.Until)
	}
	if n.Text != "" {
		s += ": " + n.Text
	}
	if n.Err != nil {
		s += ": " + n.Err.Error()
	}
	return s
}

func (p *Peer) tell(n News) {
	if p.opt.News != nil {
		p.opt.News(n)
	}
}
