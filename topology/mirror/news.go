package mirror

import (
	"fmt"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// News is something that happened between mirrors that whoever runs one may want to know.
type News struct {
	Kind   NewsKind
	Mirror member.ID // whom it is about
	Via    member.ID // over whom that mirror is reached, of LineDown; zero if it is not
	Player world.Player
	Tick   world.Tick
	Text   string
	Err    error
}

// NewsKind says what News are about.
type NewsKind uint8

// What can happen between mirrors.
const (
	Established  NewsKind = iota + 1 // this mirror is in the group, as Mirror
	Began                            // this mirror holds the world, and clients may come
	Started                          // a mirror takes commands of its clients from now on
	MirrorJoined                     // a mirror came into the group
	MirrorLeft                       // a mirror is out of it; Text says why
	Led                              // a mirror is überserver now
	// this mirror is not in touch with most of the others: it stops; Text says with whom
	CutOff
	Reunited    // it is in touch with them again
	Rejoining   // this mirror asks to be let in anew; Text says why
	Differs     // a settled world was not the same on two mirrors, at Tick
	ClockJumped // this machine's clock jumped or stood still
	// something of another mirror was refused; Text says what and why
	Refused
	PlayerMoved // a player belongs to Mirror now
	Ended       // this mirror is out of the group for good; Err says why
	// a mirror is not reached directly any more; Text says over whom, or that it is not at all
	LineDown
	LineUp      // it is reached directly again
	Equivocated // a mirror has told different things to different mirrors, by its own signatures
	Disputed    // a mirror has signed something else than what came of it here
	Kept        // this mirror was to join anew, is the last with a world, and goes on with it
	CastUp      // a mirror hears this one's multicast, and is sent to by it
	CastDown    // it does not any more, or nobody else does
	Congested   // lines to other mirrors carry too little: this one sends less often
	Relieved    // it sends as often as it should again
	// packets of a mirror that is gone do not count, and were taken back; Text says which
	Withdrawn
	// this mirror came back after a crash, and waits; Text says for whom
	Returning
	Revived // most had died, and this mirror begins the game again with what was kept up to Tick
	Halts   // nothing counts after Tick, as another group is to have the game
	GoesOn  // nobody has taken the game that halted at Tick, and it goes on
	Ceded   // another group has the game from Tick on; Text says where
	// another level begins; Text is its name, and Tick the group's with which its world begins
	LevelBegan
)

var newsNames = [...]string{
	"", "in the group", "holds the world", "started", "mirror joined", "mirror left",
	"new überserver", "cut off", "in touch again", "joining again",
	"settled worlds differ", "clock jumped", "refused", "player moved", "ended", "line down",
	"line up", "told different things", "signed something else", "keeps its world",
	"multicast passes", "multicast does not pass", "lines congested", "lines relieved",
	"packets taken back", "coming back", "begins the game again", "halts", "goes on",
	"the game is another group's", "another level begins"}

func (k NewsKind) String() string {
	if int(k) < len(newsNames) {
		return newsNames[k]
	}
	return fmt.Sprintf("news %d", uint8(k))
}

func (m *Mirror) tell(n News) {
	if m.opt.News != nil {
		m.opt.News(n)
	}
}
