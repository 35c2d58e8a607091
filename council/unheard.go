package council

import (
	"time"

	"github.com/coeval-dev/coeval/member"
)

// Unheard tells that what was heard of a member after some time does not count: it came over a line
// that passes one way only, and the other end will hold this member for gone.
func (c *Council) Unheard(id member.ID, after time.Duration) {
	if p := c.peers[id]; p != nil {
		p.heard = min(p.heard, after)
	}
}
