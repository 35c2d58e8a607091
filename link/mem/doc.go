// Package mem carries datagrams between goroutines of one process: for games
// whose server and client run together, and for tests that want real concurrency
// without sockets.
//
//	hub := mem.NewHub(mem.Options{})
//	server, _ := hub.Open(netip.AddrPort{})
//	client, _ := hub.Open(netip.AddrPort{})
//	client.Send([]link.Datagram{{Addr: server.LocalAddr(), Data: data}})
//
// It loses nothing: a full peer makes Send return [link.ErrFull]. What goes to an
// address that nobody has is gone, and counted. For a network with delay and loss,
// see netsim.
package mem
