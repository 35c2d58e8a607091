package session

import (
	"net/netip"
	"sync"

	"github.com/coeval-dev/coeval/link"
)

// Client is a link to one server: a hub with a single session. Carriers embed it.
type Client struct {
	Link
	peer  netip.AddrPort
	after sync.WaitGroup
}

// NewClient makes a link of a connection. When the connection has ended, what arrived before can
// still be received; then comes the error.
func NewClient(o Options, conn Conn, ended error) *Client {
	hub := New(o)
	place := hub.Enter(netip.AddrPort{}, nil) // a new hub has room
	c := &Client{Link: hub.Link()}
	peer, over := place.Start(conn)
	c.peer = peer
	c.after.Go(func() {
		<-over
		hub.Lose(ended)
	})
	return c
}

// Peer is the address by which the server is sent to.
func (c *Client) Peer() netip.AddrPort { return c.peer }

// Close ends the session.
func (c *Client) Close() error {
	c.hub.End(link.ErrClosed)
	c.after.Wait()
	return nil
}
