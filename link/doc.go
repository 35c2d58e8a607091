// Package link is what everything above needs of a network: a way to move
// batches of datagrams, and nothing else.
//
// A [Link] is driven from a game's tick. It never blocks, calls back or starts
// work of its own accord as far as its user can see: at the start of a tick the
// user drains it with Receive, at the end it hands over what is to be sent with
// Send, and in between it may sleep in Wait.
//
//	for {
//		l.Wait(untilNextTick)
//		for {
//			n, err := l.Receive(batch)
//			...            // batch[:n] is good until the next Receive or Wait
//			if n < len(batch) {
//				break // drained
//			}
//		}
//		...                    // step the game, gather out
//		link.SendAll(l, out)
//	}
//
// This package holds only the contract. The carriers stand beneath it:
//
//	link/udp            batched sockets on Linux, a portable one elsewhere
//	link/mem            between goroutines of one process
//	link/websocket      ordered, for browsers and networks that pass only TCP
//	link/webtransport   QUIC datagrams, for browsers
//	netsim              a simulated network; its endpoints are links too
//
// They differ in what they promise, and the layer above must do with the least:
// datagrams may be lost, doubled, reordered, or refused because a queue is full.
// A new carrier proves itself with the tests in link/linktest.
//
// # Peers
//
// A peer is named by a [netip.AddrPort]. For UDP it is the peer's address. For
// carriers that have sessions it is made up, one for each session, and stays the
// same for as long as the session lasts; see [SessionAddr].
package link
