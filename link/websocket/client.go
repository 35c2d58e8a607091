package websocket

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/coder/websocket"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/session"
)

// Client is a link to one server. It works in browsers too.
type Client struct{ *session.Client }

var (
	_ link.Link        = (*Client)(nil)
	_ link.PeerLimiter = (*Client)(nil)
)

// Dial connects to a server at a URL like ws://host:port/path, or wss:// where it
// is encrypted.
func Dial(ctx context.Context, url string, o Options) (*Client, error) {
	ws, _, err := websocket.Dial(ctx, url, dialOptions(&o))
	if err != nil {
		return nil, fmt.Errorf(
			"websocket: cannot connect to %s, check that a server runs there: %w", url, err)
	}
	ended := fmt.Errorf("%w: the connection to %s has ended, dial again", link.ErrClosed, url)
	conn := newConn(ws, o.session().Max, netip.AddrPort{})
	return &Client{session.NewClient(o.session(), conn, ended)}, nil
}
