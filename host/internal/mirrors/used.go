//go:build !js

package mirrors

import (
	"context"
	"sync"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/service/admin"
)

// carryUsed has tokens and tickets that have let someone in at the mirrors that run let nobody in
// here. Each of them knows its own. One that does not answer has died, most likely, and what it
// knew with it: then its tokens are as good here as they are at the others.
func (s *successor) carryUsed(ctx context.Context, h *host) {
	type answer struct {
		admin.Used
		marks []token.Mark
		err   error
	}
	answers := make([]answer, len(s.targets))
	var all sync.WaitGroup
	for i, t := range s.targets {
		all.Go(func() {
			x := &answers[i]
			ctx, cancel := context.WithTimeout(ctx, s.opt.Within/2)
			defer cancel()
			if x.err = t.Post(ctx, "used", nil, &x.Used); x.err == nil {
				x.marks, x.err = x.List()
			}
		})
	}
	all.Wait()
	for i := range answers {
		switch x := &answers[i]; {
		case x.err != nil:
			s.log.Warn("a mirror does not say which tokens were used there, so that these may let "+
				"someone in once more", "mirror", s.targets[i].Name, "error", x.err)
		case h.keeper != nil:
			h.keeper.Inherit(x.marks, x.Tokens, x.Tickets)
		default:
			h.Mirror.Server.Conn.Used.Kept(x.marks, x.Tokens, x.Tickets)
		}
	}
}
