//go:build !js

package serve

import (
	"errors"
	"net"
	"net/http"
	"syscall"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/browser"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
)

// Browsers say how browsers come to a server or a relay.
type Browsers struct {
	// WebSocket has them come at /coeval of the HTTP address, and WebTransport at a UDP address of
	// its own, or nowhere if it is empty or none. With AnyPort another port will do.
	WebSocket    bool
	WebTransport string
	AnyPort      bool
	// Hosts are names of this machine, for certificates, and Origins the hosts whose pages may
	// come; none is all.
	Hosts, Origins []string
	// Sessions is how many may come, and Each how many from one address.
	Sessions, Each int
	// Handed is a socket for WebTransport that another program had, or nil, and Opened the one that
	// Open has opened.
	Handed, Opened *net.UDPConn
}

// Open opens the links, as one, so that a connection goes on when a browser changes from WebSocket
// to WebTransport; and says in what is told to those who ask how to come.
func (b *Browsers) Open(
	mux *http.ServeMux, s *Site, a *entry.Admission,
) (links []link.Link, identity *webtransport.Identity, err error) {
	var ws, wt link.Link
	if b.WebSocket {
		if s.Listener == nil {
			return nil, nil, cli.Usagef("--websocket needs an HTTP address, and --http is none")
		}
		a.WebSocket = "/coeval"
		l := websocket.NewServer(websocket.Options{AnyOrigin: len(b.Origins) == 0,
			Origins: b.Origins, Sessions: b.Sessions, PerSource: b.Each})
		mux.Handle(a.WebSocket, l)
		ws = l
	}
	if b.WebTransport != "" && b.WebTransport != "none" {
		if len(b.Hosts) == 0 {
			b.Hosts = []string{"localhost"}
		}
		if identity, err = webtransport.NewIdentity(b.Hosts...); err != nil {
			return nil, nil, err
		}
		l, err := b.listen(webtransport.Options{Identity: identity, Sessions: b.Sessions,
			PerSource: b.Each, AnyOrigin: len(b.Origins) == 0, Origins: b.Origins})
		if err != nil {
			return nil, nil, err
		}
		a.WebTransport, b.Opened = l.LocalAddr().Port(), l.Socket()
		wt = l
	}
	if ws == nil && wt == nil {
		return nil, nil, nil
	}
	return []link.Link{browser.NewServer(wt, ws)}, identity, nil
}

// listen opens WebTransport. Where nobody asked for its port any other will do, as pages are told
// which it is.
func (b *Browsers) listen(o webtransport.Options) (*webtransport.Server, error) {
	o.Socket = b.Handed
	l, err := webtransport.Listen(b.WebTransport, o)
	if !b.AnyPort || !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	host, _, _ := net.SplitHostPort(b.WebTransport)
	return webtransport.Listen(net.JoinHostPort(host, "0"), o)
}
