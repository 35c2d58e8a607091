// Package replica brings what a server's world holds to its clients: snapshots
// of what each is shown, as differences from what it is known to hold, within
// what its connection can carry.
//
//	world ──> Publisher   after a tick, the images of what changed; once, for all clients
//	             │
//	interest ──> Sender   for each client: what to tell it, and what it holds      (parallel, with a Worker each)
//	             │
//	            packets, each decodable alone; reliable messages before them
//	             │
//	          Receiver ──> Snapshots, events ──> a partial world, or package predict
//
// # How a snapshot is made
//
// Every image of an entity has a number that is never used for another. The server remembers for
// each client and entity which images have arrived: from the verdicts that package conn gives on
// every packet. The newest of them is the base, and older ones tell how the entity was moving;
// package codec writes the difference. A packet says in a few bits which packets the server knows
// to have arrived, so that the client, which knows what was in them, finds the same images by
// itself. Nothing else is relied on. So a lost packet costs nothing but its content, which is told
// again as it is by then.
//
// An entity is sent if it is not as it was last told. Entities appear by being sent; they disappear
// by leaving the view or by being removed, which a client can tell apart. One that returns to view
// still has its base. Where a client starts from the same world, so do its bases.
//
// What does not fit into the budget is deferred, marked as such, and gains priority until its turn
// comes.
//
// Each packet ends with a short hash of what it should have become. If that is wrong the client
// says so, compares hashes of what it holds with the server's, and is sent the entities anew that
// differ.
//
// # Use
//
// On the server, after each tick:
//
//	pub.Publish(w)
//	// for each client whose turn it is, on any worker:
//	if finder.Update(&view, index, rules, observer) {
//		sender.Look(&view)
//	}
//	sender.Encode(worker, replica.Room{Packet: c.MaxPayload(), Budget: c.Budget(now)})
//	// and then, in the goroutine that drives the connections:
//	for _, m := range sender.Messages() {
//		c.Send(reliable, m)
//	}
//	for i := range sender.Staged() {
//		buf, err := c.Compose(now, snapshots, len(sender.Packet(i)))
//		sender.Sent(i, uint64(c.Commit(append(buf, sender.Packet(i)...))))
//	}
//
// with Sender.Arrived and Sender.Lost for the verdicts and Sender.Message for what the client says.
// On the client, Receiver.Packet and Receiver.Message take what comes, Receiver.Outgoing is what to
// say, and Receiver.Apply brings a partial world up to date.
//
// # Worlds that may be taken back
//
// The leading world of a mirror is provisional: it may be copied over and computed again.
// Publisher.PublishLeading publishes such a world, with what became known of its events. Clients
// see those marked Event.Provisional until Receiver.Settled reaches their tick, or get them once
// more as Event.Retracted; Event.Deliver does the right thing to a partial world.
//
// docs/replication.md tells more; docs/protocol.md has every bit.
package replica
