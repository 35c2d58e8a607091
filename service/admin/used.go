package admin

import (
	"encoding/binary"
	"fmt"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
)

// Used is the answer to which tokens and tickets have let someone in at a mirror: whoever takes
// over its game lets nobody in by them again. Nobody can connect with what it holds.
type Used struct {
	// Marks are of markSize bytes each: 1 for a token and 2 for a ticket, 8 bytes for the client
	// and 8 for when it expires, as Unix time, little-endian, and its identifier.
	Marks []byte `json:"marks"`
	// Tokens and Tickets are up to when those that expire count as used.
	Tokens  int64 `json:"tokens"`
	Tickets int64 `json:"tickets"`
}

const markSize = 1 + 8 + 8 + token.IDSize

// newUsed writes marks.
func newUsed(marks []token.Mark, tokens, tickets int64) *Used {
	u := &Used{Marks: make([]byte, 0, markSize*len(marks)), Tokens: tokens, Tickets: tickets}
	for _, m := range marks {
		kind := byte(1)
		if m.Resumed {
			kind = 2
		}
		u.Marks = append(u.Marks, kind)
		u.Marks = binary.LittleEndian.AppendUint64(u.Marks, m.Client)
		u.Marks = binary.LittleEndian.AppendUint64(u.Marks, uint64(m.Expires))
		u.Marks = append(u.Marks, m.ID[:]...)
	}
	return u
}

// List reads the marks.
func (u *Used) List() ([]token.Mark, error) {
	if n := len(u.Marks); n%markSize != 0 || n/markSize > 2*conn.MostUsed {
		return nil, fmt.Errorf("%d bytes are no marks of used tokens", n)
	}
	list := make([]token.Mark, 0, len(u.Marks)/markSize)
	for b := u.Marks; len(b) > 0; b = b[markSize:] {
		if b[0] != 1 && b[0] != 2 {
			return nil, fmt.Errorf("a mark of kind %d is none of used tokens", b[0])
		}
		list = append(list, token.Mark{Resumed: b[0] == 2,
			Client:  binary.LittleEndian.Uint64(b[1:]),
			Expires: int64(binary.LittleEndian.Uint64(b[9:])),
			ID:      [token.IDSize]byte(b[17:markSize])})
	}
	return list, nil
}

// used answers with which tokens were used.
func (a *API) used(c *call) (any, error) {
	var out *Used
	err := a.group(c, func(Halter) error {
		if a.game.Group.Used == nil {
			out = newUsed(nil, 0, 0)
			return nil
		}
		out = newUsed(a.game.Group.Used.Marks())
		return nil
	})
	return out, err
}
