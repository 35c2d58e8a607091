// Package paths is how the machine of a player reaches those of the others: directly through their
// routers where that can be done, carried by a relay where it cannot, and carried by other players
// where a line is cut and there is no relay.
//
// # Where it stands
//
//	topology     owns the link, the connections with members and the one with the relay
//	conn         knows each member by an address that is made up and never changes
//	paths        says where each datagram really goes
//	link         carries datagrams to real addresses
//
// It stands beneath connections, moves their datagrams whole, and knows nothing of what is in
// them. A connection with a member never learns by which path its datagrams go.
//
// # Driving one
//
// There is no clock and no socket here:
//
//	p := paths.New(paths.Options{Self: 1, Seed: seed})
//	p.Reserve(relayAddress)                    // which is no member's
//	p.SetRelay(now, true)                      // the connection with the relay is open
//	p.Add(now, 2, key, candidates)             // and again when more addresses become known
//
//	for _, d := range p.Receive(now, batch) {  // what came from the link
//		...                                    // give it to the connections
//	}
//	d, ok := p.Carried(now, c)                 // what the relay carried here; the same
//
//	out = p.Tick(now, out[:0])                 // at every tick, or when Deadline says so
//	out = p.Send(now, connections.Flush(out))  // then to the link
//	for _, c := range p.Carry() {
//		...                                    // to the relay, as an unreliable message
//	}
//	if v, due := p.Vector(now, nil); due {
//		...                                    // to every member, as an unreliable message
//	}
//	err := p.TakeVector(now, id, v)            // what came of those
//
// The relay needs to know nothing: it hands what one member gives it to another, and puts the
// sender's number in place of the receiver's ([Carried]). What it tells its members beside that is
// from where it hears each, since those are addresses to try.
//
// # How a path proves itself
//
// A member is asked by small datagrams, under a key that the two share. The answer comes back by
// the same path and proves it, in both directions. Both ask all addresses of each other at the same
// time, which opens their routers; an address from which a fresh ask came is tried as well. An
// address is used while it is proved, and no other is ever sent anything but asks.
//
// Datagrams that keep coming are proof enough that a path passes one way. A member that sent all
// the time and falls silent is asked by all paths at once, with the remark that it is not heard:
// then it leaves the path by which it has been sending, whether or not that still looks well from
// its side. So a path that passes in one direction only is left by both.
//
// docs/paths.md has the ideas, and which routers can be passed; docs/protocol.md the bytes.
package paths
