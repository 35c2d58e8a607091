// Package server runs a game on a server for clients: the shape of most games. It joins the pure
// parts below it with links, goroutines and clocks.
//
//	links ──> conn ──> commands, in time or not ──> world.Step
//	                                                   │
//	                            replica.Publisher  <───┘
//	                              │
//	    interest, replica.Sender, for each client whose turn it is, on all cores ──> conn ──> links
//
// # A server
//
//	s, err := server.New(server.Options{Title: tanks.Title, Links: []link.Link{socket}, Keys: keys})
//	err = s.Run(ctx)
//
// Run computes a tick whenever it is time; when the context ends, it tells everyone and stops. A
// driver with a time of its own calls Tick instead. Nothing else decides what happens: over netsim
// a whole run, with any number of clients and workers, repeats bit for bit from its seed.
//
// The server never waits for anyone. A command that has not come when its tick is computed is
// replaced by the player's last one, without its edges, and after half a second by none. What comes
// a little late still counts for its edges, such as a shot, which become part of the next command.
// Each snapshot tells the client how early its commands come.
//
// # People
//
// Someone who connects gets a [Seat], and with it a player of the world, or only watches. The seat
// outlasts the connection by [Options].KeepSeat: who crashed comes back with the ticket of the old
// connection, or a new token for the same person, and is the same player as before. A client that
// loses its connection does so by itself.
//
// What people can take from each other is limited by address: seats, connections, and with links
// that have places, such as those of browsers, how long one may be taken up by somebody who does
// not prove who they are. What comes by a link is taken in so much at a time (receive.go).
//
// What clients may ask is limited by [Limits] and by the game's [Rules]. What makes no sense is
// counted as an [Offence], and who commits too many is dropped with a reason. No one's network or
// behaviour changes what another client is sent.
//
// # Engines
//
// What computes the world is the server's [Engine]. The plain one owns its world (local.go); a
// mirror is another, so that several servers can have one game. An engine returns what it decides
// and never calls the server. [Server.SetOtherServers] tells clients of the other servers. A client
// whose server is silent, stops or asks it to ([Server.Move], [Server.Drain]) goes on at another
// with its ticket, in the same body, without a break in what it shows.
//
// A game that panics ends the match in good order, or begins its level anew; see [OnPanic] and
// [Flight].
//
// # The walk of a command
//
//	receive.go   takeIn     the link's datagrams, in batches, go through package conn
//	peer.go      message    an event of the connection: by its channel, a packet of commands
//	command.go   commands   too many, or of another world? replica.CommandReader reads the packet
//	command.go   takeOne    for each command in it: the rules are asked (allows)
//	queue.go     put        taken, or again, late, too far ahead, a second thought
//	edges.go     add        of one that is late, the edges wait
//	turn.go      gather     the tick is due: for each player who is inside
//	queue.go     take       the command for this tick; if there is none, missing counts it
//	edges.go     merge      edges that waited become part of it
//	local.go     Give       into the inputs of the tick
//	local.go     Advance    world.TryStep, with who enters and who leaves
//
// An engine that is eager is given the command in takeOne, and turn.go's pass counts afterwards.
//
// # The walk of a snapshot
//
//	engine.go    step       Engine.Advance has returned; past.go remembers where things were
//	engine.go    publish    replica.Publisher quantises and compares what changed, once for all clients
//	snapshot.go  choose     whose turn it is, and how much room each connection has; the views follow
//	pool.go      run        on all cores, for each of them:
//	snapshot.go  look       what the client is shown (package interest), and replica.Sender encodes it
//	snapshot.go  send       the packets are composed into those of package conn
//	port.go      flush      and handed to the links
//
// # Levels
//
// A world starts from a [Level]: a name, a seed, and data such as a map. [Server.Change] begins
// another, which [Server.Prepare] can make ready beside the ticks. Everyone stays connected, and is
// shown the new world as soon as they are ready for it; who does not have the data, which is known
// by its hash, is sent it in the background. What is still as it was when the world began need not
// be sent at all, since a client makes the same beginning from the same level.
//
// # Versions
//
// A client whose game is not declared as the server's is, or that sends it in another way, is
// turned away; its error, a client.VersionError, says in words what differs.
//
// # The clients
//
// The other end is topology/client. A listen server is a Server with one more link, of package
// link/mem, and a client on the other end of it in the same program; the example is one.
//
// # Numbers
//
// Server.Stats, Last, Ledger and Counters tell where time and bytes go: by step of the tick, by
// purpose and by class, with a sum that equals what the links have sent. In a steady state a tick
// allocates nothing. docs/clientserver.md tells more, and docs/operating.md how to run one.
package server
