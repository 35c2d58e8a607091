// Package conn is a secured connection between two machines, made for games:
// encrypted, numbered packets over anything that carries datagrams, with messages that
// are as reliable as each needs to be.
//
// # Where it stands
//
//	replica, topology/...       say what to send, and when
//	conn                        tokens, handshake, encryption, acknowledgement, messages, rate
//	link                        moves datagrams: UDP, WebTransport, WebSocket, memory, netsim
//
// A [Server] and a [Client] are protocol machines without goroutines, clocks or
// sockets. A driver gives them the time and the datagrams that have come, and takes
// from them the datagrams that are to go. So the same code runs over real sockets,
// in a browser, and thousands of times faster than real time over netsim, where every run
// repeats from its seed.
//
// # Driving one
//
// Time is a [time.Duration] on any clock that runs forward, randomness a seed of 32
// bytes. A tick of a server is:
//
//	for {
//		n, err := l.Receive(batch)            // l is a link.Link
//		server.Receive(now, batch[:n])
//		for _, e := range server.Events() {
//			switch e.Kind {
//			case conn.Connected:              // e.Conn is new
//			case conn.Message:                // e.Data came on e.Channel
//			case conn.Disconnected:           // e.Reason says why
//			}
//		}
//		if n < len(batch) {
//			break
//		}
//	}
//	...                                       // step the game; c.Send, c.Compose
//	out = server.Flush(now, out[:0])
//	n, err := l.Send(out)                     // and server.Refused(i) for what the link did not take
//
// A client is driven in the same way. Packets are decrypted in place and messages
// point into them, so deal with Events before the next Receive.
//
// # Messages
//
// Each of up to sixteen channels has a [Mode]: [Unreliable], [Newest], [Ordered] or
// [Unordered]. Messages that wait are gathered into one packet at each Flush, or at a
// steady rate. Acknowledgements ride on packets that go anyway. Small reliable
// messages are repeated in front of unreliable ones until they are acknowledged, so that
// one sent before an unreliable message is delivered before it even when packets are
// lost, as in DOOM III; larger ones are sent again when they are known to be lost, large ones
// in fragments that are repaired one by one. [Conn.SendBulk] sends up to 64 MiB
// with what the rest leaves of the budget.
//
// A layer that builds its own packets, as snapshots are, uses [Conn.Compose] and
// [Conn.Commit]: it writes one message straight into the packet, learns the packet's
// number, and is told once and for all whether that packet [Arrived] or was [Lost].
// [Conn.Budget] says how much may be sent, [Conn.Quality] how the connection does.
//
// # Safety
//
// Players are let in by tokens that a backend issues with package token. Nothing is
// stored for an address that has not proved itself, and nothing larger than what
// came is sent to it. Connections are found by identifier, so a player whose port or
// address changes stays connected, once the new path has proved itself. Resumption
// tickets let a player return after a crash. Whatever is malformed, forged,
// replayed or absurd is counted in [Stats] and has no effect on others.
//
// Both ends agree on a secret by X25519, and renew their keys as they go. So whoever has recorded
// the packets of a connection cannot decrypt them, even if they learn the token's secret or the
// servers' key afterwards. That takes a server a tenth of a millisecond for a client, which it asks
// for only when the client has proved itself. [Server.Flush] does it, unless the driver takes it
// away with [Server.Exchanges] to have it done beside the ticks.
//
// # Cost
//
// In steady state nothing is allocated. Beyond a message a packet has 21 bytes
// (23 for a reliable message), and 10 more once a second for the clock. An idle
// connection takes about 5 KiB.
//
// docs/connections.md tells the concepts at more length, docs/protocol.md every byte.
package conn
