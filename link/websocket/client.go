package websocket

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	"github.com/coder/websocket"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/session"
)

// Client is a link to one server. It works in browsers too.
type Client struct {
	session.Link
	hub   *session.Hub
	peer  netip.AddrPort
	after sync.WaitGroup
}

var (
	_ link.Link        = (*Client)(nil)
	_ link.PeerLimiter = (*Client)(nil)
)

// Dial connects to a server at a URL like ws://host:port/path, or wss:// where it
// is encrypted.
func Dial(ctx context.Context, url string, o Options) (*Client, error) {
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{})
	if err != nil {
		return nil, fmt.Errorf("websocket: cannot connect to %s, check that a server runs there: %w", url, err)
	}
	hub := o.hub()
	hub.Reserve() // a new hub has room
	c := &Client{Link: hub.Link(), hub: hub}
	peer, ended := hub.Start(newConn(ws, c.MaxDatagram(), netip.AddrPort{}))
	c.peer = peer
	c.after.Go(func() {
		<-ended
		hub.Lose(fmt.Errorf("%w: the connection to %s has ended, dial again", link.ErrClosed, url))
	})
	return c, nil
}

// Peer is the address by which the server is sent to.
func (c *Client) Peer() netip.AddrPort { return c.peer }

// LocalAddr has no meaning here.
func (c *Client) LocalAddr() netip.AddrPort { return netip.AddrPort{} }

// Close ends the session.
func (c *Client) Close() error {
	c.hub.End(link.ErrClosed)
	c.after.Wait()
	return nil
}
