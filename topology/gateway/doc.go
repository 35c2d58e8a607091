// Package gateway is a server by which clients play in a world in zones. A client has one
// connection, to a gateway, for the whole session, and notices nothing of the borders between
// zones.
//
//	clients <── server.Server ── engine ── seamless.Gate <══ zones in view: images, commands, events
//	                                           ╚═══════════> the zone where a player is: commands
//
// To its clients a gateway is what any server is: one clock, one base, one budget for each. Its
// world is what the zones in view show, all of one tick. It has nothing that is worth saving: home
// knows who is which player, and a client whose gateway dies goes on at another with its ticket.
//
//	g, err := gateway.New(ctx, gateway.Options{
//		Server:  server.Options{Title: title, Links: []link.Link{socket}, Keys: keys, Players: 300},
//		Cluster: seamless.Options{Cluster: c, Link: line, Keys: lineKeys},
//		Public:  address,
//	})
//	err = g.Run(ctx)
//
// docs/gateways.md says what may be relied on.
package gateway
