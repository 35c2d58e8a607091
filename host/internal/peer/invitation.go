//go:build !js

package peer

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/bits"
)

// An Invitation is what somebody needs to come into a match: where it is, and the secret by which
// those who are invited are known.
type Invitation struct {
	Game    string
	Secret  [32]byte
	Addrs   []netip.AddrPort
	Expires time.Time
}

// invitationMark is what an invitation begins with. The number is that of its version.
const invitationMark = "coeval-peer-1:"

const (
	mostAddrs      = 8
	mostInvitation = 1024 // characters
	sumSize        = 4
)

func (v *Invitation) fields(c *bits.Cursor) {
	expires := uint64(v.Expires.Unix())
	c.Text8(&v.Game, 255)
	c.Raw(v.Secret[:])
	c.U64(&expires)
	for a := range bits.List8(c, &v.Addrs, mostAddrs) {
		c.Addr(a)
	}
	c.Check(expires < 1<<40)
	v.Expires = time.Unix(int64(expires&(1<<40-1)), 0)
}

// String is the invitation as one line that can be pasted.
func (v *Invitation) String() string {
	c := bits.CursorTo(nil)
	v.fields(&c)
	sum := sha256.Sum256(c.Data())
	return invitationMark + base64.RawURLEncoding.EncodeToString(append(c.Data(), sum[:sumSize]...))
}

// What is wrong with invitations.
var (
	errNoInvitation = fmt.Errorf("that is no invitation: %q is how one begins", invitationMark)
	errDamaged      = errors.New("a part of the invitation is missing or was changed on the way: " +
		"copy the whole line")
)

// ParseInvitation reads what String wrote. Spaces and line ends that a mail put in do no harm.
func ParseInvitation(text string) (*Invitation, error) {
	text = strings.Join(strings.Fields(text), "")
	if len(text) > mostInvitation {
		return nil, errDamaged
	}
	rest, ok := strings.CutPrefix(text, invitationMark)
	if !ok {
		if strings.HasPrefix(text, "coeval-peer-") {
			return nil, errors.New("the invitation is of another version of the program; " +
				"everybody needs the same")
		}
		return nil, errNoInvitation
	}
	b, err := base64.RawURLEncoding.DecodeString(rest)
	if err != nil || len(b) < sumSize {
		return nil, errDamaged
	}
	body, sum := b[:len(b)-sumSize], sha256.Sum256(b[:len(b)-sumSize])
	if string(sum[:sumSize]) != string(b[len(body):]) {
		return nil, errDamaged
	}
	var v Invitation
	c := bits.CursorOver(body)
	if v.fields(&c); !c.Done() || len(v.Addrs) == 0 {
		return nil, errDamaged
	}
	return &v, nil
}

// fits says why an invitation does not lead into a game.
func (v *Invitation) fits(game string) error {
	if v.Game != game {
		return fmt.Errorf("the invitation is to %s, and this is %s", v.Game, game)
	}
	return nil
}

// lasts says why an invitation does not let anybody new in now.
func (v *Invitation) lasts(now time.Time) error {
	if now.After(v.Expires) {
		return fmt.Errorf("the invitation has expired %v ago: ask for another",
			now.Sub(v.Expires).Round(time.Second))
	}
	return nil
}

// name is by what a match is known again, without its secret.
func (v *Invitation) name() string {
	sum := sha256.Sum256(append([]byte("coeval invitation "), v.Secret[:]...))
	return hex.EncodeToString(sum[:8])
}
