// Package websocket carries datagrams as binary messages of WebSocket
// connections: for browsers, and for networks that let nothing but TCP through.
//
// A [Server] is both a link and an http.Handler, to be mounted wherever the game's
// web server wants it:
//
//	server := websocket.NewServer(websocket.Options{})
//	mux.Handle("/play", server)
//	...
//	n, err := server.Receive(batch)   // from all clients
//
// A [Client] is a link with one peer:
//
//	client, err := websocket.Dial(ctx, "wss://play.example.org/play", websocket.Options{})
//	client.Send([]link.Datagram{{Addr: client.Peer(), Data: data}})
//
// What differs from UDP: datagrams arrive in order and none is lost while the
// connection lasts, but one that is late delays all behind it. When the network
// stalls, the peer's queue fills and Send says [link.ErrFull] for that peer alone:
// a game then sends it less, or nothing, rather than a growing backlog of old news.
// When the connection breaks, Send says [link.ErrNoPeer] on the server, and the
// client's link ends.
package websocket
