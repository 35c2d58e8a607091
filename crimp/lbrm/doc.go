// Package lbrm is log-based reliable multicast: for one source and many receivers, of what changes
// rarely and must be known soon, such as terrain, doors and destroyed bridges. Where everybody
// talks all the time package crimp does better.
//
//	source --- multicast ---> receivers of a site ---+
//	   |                      secondary log <--------+  asks for what it misses
//	   +-- until logged -->   primary log   <-- asks, if the secondary log has it not either
//
// The source says something, and then says by heartbeats that there was nothing more: soon at
// first, and ever more rarely, so that a loss is noticed at once and yet silence costs next to
// nothing. Who has missed something asks the log server of its own site, which asks the primary
// log. So a loss on the line to a site is repaired over that line once, and the source is not asked
// at all.
//
// By statistical acknowledgement the source learns how many have missed a packet without hearing
// from all: it has a few of the logs, drawn by lot, acknowledge each packet. If many of those do
// not, it says the packet again to everyone at once; otherwise each is repaired by unicast.
//
// Source, Log and Receiver are machines without goroutines, clocks and sockets. Each is given what
// comes and the time, and hands back datagrams:
//
//	receiver.Receive(now, batch[:n])
//	for _, e := range receiver.Events() { ... }
//	receiver.Tick(now)
//	out = receiver.Flush(out[:0])
//	link.SendAll(l, out)
//
// All that is said is encrypted and authenticated under one key that all share, so whoever has it
// is believed.
//
// It is the protocol of Holbrook, Singhal and Cheriton, Log-Based Receiver-Reliable Multicast for
// Distributed Interactive Simulation (1995), as surveyed in R. McFarlane's Network Software
// Architectures for Real-Time Massively-Multiplayer Online Games (2005). Here a log asks and
// answers for many at once, and repairs to a site with many askers go by the site's own multicast
// if it has one. docs/lbrm.md has the format and the figures.
package lbrm
