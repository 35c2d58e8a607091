//go:build !js

package serve

import (
	"context"
	"net"
	"strconv"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/queries"
	"github.com/coeval-dev/coeval/query"
	"github.com/coeval-dev/coeval/world"
)

// asked is what those are told who have not joined. There is a server by the time that they ask.
func (s *Server) asked(o *Options) queries.Subject {
	directory := o.Directory
	return queries.Subject{
		Title: s.title,
		Info: func(i *query.Info) {
			Introduce(i, s.title)
			directory.Describe(i)
			i.Open = s.open
			s.site.Describe(i)
			queries.Describe(i, s.server)
		},
		Who:   func(to []query.Player) []query.Player { return queries.Seated(to, s.server) },
		World: func() *world.World { return s.server.World() },
		Do:    func(ctx context.Context, f func()) error { return s.server.Do(ctx, f) },
	}
}

// Introduce fills in which game is played.
func Introduce(i *query.Info, t *game.Title) {
	i.Game, i.Protocol, i.Version = t.Name(), token.ProtocolID(t.Name()), t.Game.Hash()
}

// Describe fills in where a site answers.
func (s *Site) Describe(i *query.Info) {
	if _, port, err := net.SplitHostPort(s.Addr()); err == nil {
		n, _ := strconv.ParseUint(port, 10, 16) // a listener's port is one
		i.HTTP, i.Secure = uint16(n), s.Scheme() == "https"
	}
}
