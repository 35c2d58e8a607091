package membership

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// Options are for New. Those of crimp must be the ones that the node is made with.
type Options struct {
	crimp.Options
	// Card is where the others reach this mirror; its keys are taken from the identity.
	Card crimp.Card
	// Protocol names the game, see token.ProtocolID. Keys are the operator's secret, which all
	// mirrors share: who knows one of them can issue tokens to itself and so ask to be let in. The
	// first is used for that, all of them are accepted. Wall is the Unix time at now = 0, by
	// which tokens expire.
	Protocol uint64
	Keys     []token.Key
	Wall     int64
	// Found makes a new group with this mirror as its überserver. Otherwise Ask says whom to
	// ask, any mirrors of the group: the next is asked beside one that does not answer, three at a
	// time at most, and they name the überserver.
	Found bool
	Ask   []netip.AddrPort
	// Anew, with Found, has the group be that of before a crash, as a Revival has decided. The zero
	// value begins a new one.
	Anew Anew
	// Remember, if set, is given what this member must not forget, when that changes. It begins to
	// write it to a disk, and returns a number that grows; votes wait until Remembered is told that
	// number. What it is given is its own.
	Remember func(*Memory) uint64
	// Patience is how long to ask before giving up with Denied. Zero means for ever.
	Patience time.Duration
	// About is what this mirror runs. All must run the same.
	About About
	// Witness joins as one that votes and does nothing else: it gets no packets and no
	// state, and never leads.
	Witness bool
	// MaxMembers bounds the group, witnesses included. Zero means 16, the most is 256.
	MaxMembers int
	// Proof is how packets show who made them; the founder's counts.
	Proof crimp.Proof
	// Sign says that this mirror was told something else than was signed, when it was a member
	// before: packets are to be signed.
	Sign bool
	// Silence is for how long a mirror may not be heard before it is dropped. Zero means three
	// quarters of the history. All mirrors should have the same.
	Silence time.Duration
	// MaxState is the largest state to take; zero means 64 MiB.
	MaxState int
	// Admit, if set, is asked by an überserver about each candidate. An error turns it away,
	// and is told to it.
	Admit func(Candidate) error
}

// Anew is how a group that has crashed begins again.
type Anew struct {
	Group uint64
	Epoch uint32
	ID    member.ID
}

// Candidate is who wants to join.
type Candidate struct {
	Client   uint64 // as its token says
	UserData []byte // as its token says
	Addr     netip.AddrPort
	Card     crimp.Card
}

// About says what a mirror runs, so that it is not let in among others that run something
// else.
type About struct {
	Name    string // of the game
	Version uint64 // a hash over all that must be the same
	Text    string // the same for people: lines that can be compared, 16 KiB at most
}

const maxText = 16 << 10

func (o *Options) fill() error {
	switch {
	case o.Seed == [32]byte{}:
		return errors.New("membership: no seed, fill Options.Seed from crypto/rand")
	case o.Identity == nil:
		return errors.New("membership: no identity, make one with crimp.NewIdentity")
	case len(o.Keys) == 0:
		return errors.New("membership: no key, give all mirrors the operator's key")
	case !o.Card.Addr.IsValid():
		return errors.New(
			"membership: other mirrors must know where this one is, set Options.Card.Addr")
	case !o.Found && len(o.Ask) == 0:
		return errors.New(
			"membership: nobody to ask, name a mirror in Options.Ask, or make a group with " +
				"Options.Found")
	case o.Found && o.Witness:
		return errors.New("membership: a witness cannot found a group, have it join")
	case len(o.About.Text) > maxText || len(o.About.Name) > 255:
		return fmt.Errorf(
			"membership: a description of %d bytes and a name of %d, at most %d and 255",
			len(o.About.Text), len(o.About.Name), maxText)
	}
	o.History = cmp.Or(o.History, time.Second)
	o.Datagram = cmp.Or(o.Datagram, 1200)
	o.MaxMembers = cmp.Or(o.MaxMembers, 16)
	o.Silence = cmp.Or(o.Silence, o.History*3/4)
	if o.MaxMembers < 1 || o.MaxMembers > crimp.MaxMembers {
		return fmt.Errorf("membership: a group of at most %d members, choose 1 to %d", o.MaxMembers,
			crimp.MaxMembers)
	}
	if o.Silence < 5*time.Millisecond || o.Silence > time.Minute {
		return fmt.Errorf("membership: a silence of %v, choose 5ms to 1m", o.Silence)
	}
	return nil
}

// differs says what is not the same about a candidate, for people, or nothing.
func (a *About) differs(b *About) (why crimp.Reason, text string) {
	switch {
	case a.Name != b.Name:
		return crimp.ReasonGame, fmt.Sprintf("the group plays %q, the candidate %q", a.Name, b.Name)
	case a.Text != b.Text:
		return crimp.ReasonProgram, differingLines(a.Text, b.Text)
	case a.Version != b.Version:
		return crimp.ReasonProgram,
			fmt.Sprintf("the group runs version %016x, the candidate %016x", a.Version, b.Version)
	}
	return 0, ""
}

// differingLines shows the first lines in which two descriptions differ.
func differingLines(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	at := func(list []string, i int) string {
		if i < len(list) {
			return clip(strings.TrimSpace(list[i]), 80)
		}
		return ""
	}
	var out []string
	for i := 0; i < max(len(x), len(y)) && len(out) < 3; i++ {
		if at(x, i) != at(y, i) {
			out = append(out, fmt.Sprintf("the group has %q, the candidate %q", at(x, i), at(y, i)))
		}
	}
	if len(out) == 0 {
		return "the descriptions differ in what follows their first lines"
	}
	return strings.Join(out, "; ")
}

func clip(s string, n int) string { return s[:min(n, len(s))] }
