// Package clientserver runs a game on a server for clients: the shape of most games. It joins the pure parts below it with links, goroutines and clocks.
//
//	            Server                                                   Client
//	links ──> conn ──> commands, in time or not ──> world.Step     Input ──> commands ──> conn ──> link
//	                                                   │
//	                            replica.Publisher  <───┘           link ──> conn ──> replica.Receiver ──> View, a partial world
//	                              │                                                        └──> Snapshot, for package predict
//	    interest, replica.Sender, for each client whose turn it is, on all cores ──> conn ──> links
//
// # A server
//
//	s, err := clientserver.NewServer(clientserver.Options{Game: tanks.Game, Links: []link.Link{socket}, Keys: keys})
//	err = s.Run(ctx)
//
// Run computes a tick whenever it is time; when the context ends, it tells everyone and stops. A driver with a time of its own calls Tick instead. Nothing else
// decides what happens: over netsim a whole run, with any number of clients and workers, repeats bit for bit from its seed.
//
// The server never waits for anyone. A command that has not come when its tick is computed is replaced by the player's last one, without its edges, and after
// half a second by none. What comes a little late still counts for its edges, such as a shot, which become part of the next command. Each snapshot tells the client how early its commands come.
//
// # People
//
// Someone who connects gets a [Seat], and with it a player of the world, or only watches. The seat outlasts the connection by [Options].KeepSeat: who crashed comes back
// with the ticket of the old connection, or a new token for the same person, and is the same player as before. A Client that loses its connection does so by itself.
//
// What clients may ask is limited by [Limits] and by the game's [Rules]. What makes no sense is counted as an [Offence], and who commits too many is dropped
// with a reason. No one's network or behaviour changes what another client is sent.
//
// # Several servers of one game
//
// An [Engine] computes the world in place of the server, so that several servers can have one game: mirrors. [Server.SetPlaces] tells clients of the others. A Client whose server
// is silent, stops or asks it to ([Server.Move], [Server.Drain]) goes on at another with its ticket, in the same body, without a break in what it shows.
//
// # Levels
//
// A world starts from a [Level]: a name, a seed, and data such as a map. [Server.Change] begins another. Everyone stays connected, and is shown the new world as soon as
// they are ready for it; who does not have the data, which is known by its hash, is sent it in the background. What is still as it was when the world
// began need not be sent at all, since a client makes the same beginning from the same level.
//
// # Versions
//
// A client whose game is not declared as the server's is, or that sends it in another way, is turned away; its error, a [VersionError], says in words what differs.
//
// # A client
//
//	c, err := clientserver.NewClient(clientserver.ClientOptions{
//		Game: tanks.Game, Link: socket, Token: token,
//		Input: func(t world.Tick, p world.Player, in *world.Inputs) { world.Give(in, p, tanks.Drive{Gas: gas}) },
//		Seen:  func(w *world.World) { draw(w) },
//	})
//	err = c.Run(ctx)
//
// This client shows the newest state that has come. One that predicts takes the raw snapshots (Snapshot, Event), brings its own [Clock], and asks Command for what it
// sent. Entities that only this client has, such as sparks, live in a world of their own (Local, Spawn).
//
// A listen server is a Server with one more link, of package link/mem, and a Client on the other end of it; the example is one.
//
// # Numbers
//
// Server.Stats, Last, Ledger and Counters tell where time and bytes go: by stage of the tick, by purpose and by class, with a sum that equals what the links have sent.
// In a steady state a tick allocates nothing. docs/clientserver.md tells more, and docs/operating.md how to run one.
package clientserver
