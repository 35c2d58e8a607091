//go:build !js

package serve

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/announced"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/announce"
)

// introduceTo says to a directory what the server is, if it is to be listed.
func (s *Server) introduceTo(a entry.Admission, o *Options) error {
	s.open = o.Open || len(o.Server.Keys) == 0
	return s.listed.Introduce(s.subject(a, o), s.mux)
}

// subject is what a directory is told of a server.
func (s *Server) subject(a entry.Admission, o *Options) announced.Subject {
	var public netip.AddrPort
	if len(o.Public) > 0 {
		public = o.Server.Addresses[0]
	}
	host := ""
	if s.page != nil && s.Secure() && s.print == "" && len(s.page.names) > 0 {
		host = s.page.names[0] // which the certificate is for
	}
	return announced.Subject{Mode: directory.Server, Game: s.title.Name(),
		Version: fmt.Sprintf("%016x", s.title.Game.Hash()), UDP: s.socket.LocalAddr(),
		Public: public, HTTP: s.HTTP(), Scheme: s.site.Scheme(), Admission: a, Open: s.open,
		Keys: o.Server.Keys, Host: host, Page: s.page != nil,
		Now: func(ctx context.Context) (announce.Status, error) {
			st, err := Ask(ctx, s.server.Do, func() Status { return StatusOf(s.server) })
			return announce.Status{Level: st.Level, Players: st.Players, Capacity: st.Most}, err
		}}
}
