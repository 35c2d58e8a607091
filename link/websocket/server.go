//go:build !js

package websocket

import (
	"net/http"
	"net/netip"

	"github.com/coder/websocket"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/session"
)

// Server is a link to all clients that connect to it as a web handler.
type Server struct {
	session.Link
	hub *session.Hub
	o   Options
}

var (
	_ link.Link        = (*Server)(nil)
	_ link.PeerLimiter = (*Server)(nil)
	_ link.Keeper      = (*Server)(nil)
	_ http.Handler     = (*Server)(nil)
)

// NewServer makes a server. It does nothing until a web server calls its
// ServeHTTP.
func NewServer(o Options) *Server {
	hub := session.New(o.session())
	return &Server{Link: hub.Link(), hub: hub, o: o}
}

// ServeHTTP makes a session of a request, and returns when it is over.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	remote = netip.AddrPortFrom(remote.Addr().Unmap(), remote.Port())
	place := s.hub.Enter(remote, nil)
	if place == nil {
		http.Error(w, "the server is full or closing, or too many come from your address; "+
			"try again later", http.StatusServiceUnavailable)
		return
	}
	defer place.Leave()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		OriginPatterns:     s.o.Origins,
		InsecureSkipVerify: s.o.AnyOrigin,
		CompressionMode:    websocket.CompressionDisabled, // what is sent is encrypted already
	})
	if err != nil {
		return // Accept has answered
	}
	if _, ended := place.Start(newConn(ws, s.MaxDatagram(), remote)); ended != nil {
		<-ended
	}
}

// Close ends all sessions, after a moment for what was taken to be sent. The web
// server is closed by whoever opened it.
func (s *Server) Close() error {
	s.hub.End(link.ErrClosed)
	return nil
}
