// Package client is one player's end of a game that a server runs: it sends what the player does,
// takes in what the server tells, and shows the world, predicted or as it came.
//
//	c, err := client.New(client.Options{Title: tanks.Title, Link: l, Token: t, Name: "ann"})
//	for each frame {
//		v := c.Frame(now, keys)  // keys makes a command for each tick that is due
//		draw(v.World, v.Me)
//	}
//
// Frame is the whole of it, and can be read from top to bottom in frame.go: receive, advance, send,
// show. It is called at any rate, from any loop, with the time as an argument; its parts are
// methods as well, for loops of another shape. Nothing is called back but the command. Whatever
// else happens is in the View: a world that began, a move to another server, words, events that
// were taken back, the end.
//
// A Session does the same for as long as the player wants to play: when a connection is over for
// good it looks for another way in. Most programs want one.
//
// It stands on package ways, which decides by which connection the player plays, and on package
// predict, which holds the one copy of what the server said and makes of it what is shown.
// Interpolation and no prediction at all are styles of the same loop (predict.Style).
//
// # The walk of a snapshot
//
// A rocket was fired by someone else. This is how it comes to be drawn:
//
//	frame.go    Client.Receive     for each link: what waits there
//	receive.go  Client.drain       datagrams, a few at a time
//	            ways.Set.Receive   to the connection that they belong to, which decrypts them
//	            ways.Set.Next      a message on the snapshot channel, by the way that is played by
//	            Client.packet      to that way's replica.Receiver, which decodes it
//	            Client.apply       events and snapshots in the order in which they are to be seen
//	            Client.snapshot    predict.Client.Snapshot: into the truth; what was predicted otherwise
//	                               is marked to be predicted again
//	frame.go    Client.Advance     predict.Client.Step: the ticks since are computed again, with the rocket
//	view.go     Client.Show        predict.Client.Show: the world to draw, its errors on their way out
//
// # The walk of a command
//
// And this is how the answer to it goes to the server, in the same frame:
//
//	frame.go    Client.Due         predict.Client.Due: which ticks there should be commands for by now
//	            Client.Advance     the author's Command, once for each tick; remembered, and predicted
//	                               with in the same breath, so that it is shown in this frame
//	command.go  Client.post        the last few commands: more of them where more is lost
//	            Client.postTo      replica.CommandWriter encodes them; ways.Set.Send queues the message
//	frame.go    Client.Send        as many packets a second as the path carries (predict.Cadence)
//	            Client.flush       ways.Set.Flush: encrypted datagrams; link.Link.Send
//
// # What is kept where
//
//	ways.Set         connections, the seat, the search for other servers
//	predict.Client   the truth, and the worlds that are predicted from it; a new one for each world
//	hearing          what one server told of one world: its replica.Receiver
//	commands         what the player did in the last 64 ticks
//	carriedOver      what was in view before a move, until the new server has told of everything
//	alreadyTold      which events were told, so that a new server does not tell them twice
//
// In a steady state a frame allocates nothing.
package client
