//go:build !js

package find

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/service/directory/ask"
)

// A guest enters a server that was found.
type guest struct {
	server    *Server
	directory *ask.Client // nil without one
	trust     *entry.Trust
	account   string // a JWT for the directory, or nothing
}

// enter asks for a way in: at the doors of its places, the nearest first, or the directory for a
// token. All places are gone to, in the order of the ways to them.
func (g *guest) enter(ctx context.Context) (e join.Entrance, err error) {
	for _, p := range g.server.Places {
		if p.at.IsValid() {
			e.Servers = append(e.Servers, p.at)
		}
	}
	var wrong error
	for _, p := range g.server.Places {
		base, ok := doorOf(p)
		if !ok {
			continue
		}
		if e.Admission, err = entry.AskBy(ctx, base, g.trust); err == nil {
			e.Servers = first(e.Servers, p.at)
			return e, nil
		}
		wrong = errors.Join(wrong, err)
	}
	if !g.server.Tokens || g.directory == nil {
		return e, errors.Join(fmt.Errorf("%q lets nobody in", g.server.Name), wrong)
	}
	t, err := g.directory.Token(ctx, g.server.ID, g.account)
	if err != nil {
		return e, errors.Join(err, wrong)
	}
	// The server says by what else its clients must go, if it answers over HTTP where datagrams go.
	// One that does not is as servers are that nobody has set anything of.
	for _, at := range e.Servers {
		for _, scheme := range []string{"http", "https"} {
			base := &url.URL{Scheme: scheme, Host: at.String()}
			if e.Admission, err = entry.Bring(ctx, base, g.trust, t.Token); err == nil {
				return e, nil
			}
		}
	}
	e.Admission = entry.Admission{Game: t.Game, Token: t.Token}
	return e, nil
}

// doorOf is where the door of a place is.
func doorOf(p *Place) (*url.URL, bool) {
	if p.Door == "" || !p.at.IsValid() {
		return nil, false
	}
	u, err := url.Parse(strings.TrimSuffix(p.Door, "/token"))
	return u, err == nil && u.Host != ""
}

// first puts an address before the others.
func first(list []netip.AddrPort, at netip.AddrPort) []netip.AddrPort {
	out := []netip.AddrPort{at}
	for _, x := range list {
		if x != at {
			out = append(out, x)
		}
	}
	return out
}
