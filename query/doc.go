// Package query is what a machine asks a server that it is not connected to: what is this, who
// plays, how long is the way; a text for whoever runs it, and whatever else a game answers. It has
// the datagrams, the machines that ask, and the one that answers, without goroutines, clocks or
// sockets.
//
//	Query ──> as long as its answer may be, by padding
//	      <── Answer, never longer than its query
//
// The datagrams share the server's UDP socket with its players: their first byte, 0x70 or 0x71,
// tells them apart. Nothing is remembered of those who ask. An answer brings a cookie, which proves
// an address when it comes back: proven addresses are answered while strangers flood the server,
// and only they may leave a message. The bytes are specified in docs/protocol.md, and
// docs/queries.md explains it to users.
//
// # Measuring many servers
//
// A [Prober] pings many addresses at once, several times each, spread over time, and gives the
// median, the jitter and the loss of each; with Info it also asks what they are. Only answers that
// come from where a query went, with its nonce, count. A program that looks for servers drives it
// so, and may Add addresses and look at any time:
//
//	p := query.NewProber(query.ProbeOptions{Seed: seed, Pings: 8, Info: true})
//	for _, a := range candidates {
//		p.Add(now, a)                            // every place of every group
//	}
//	for !p.Done() {
//		out = p.Flush(now, out[:0])
//		link.SendAll(l, out)                     // l is a link.Link, such as of link/udp
//		due, _ := p.Deadline()
//		l.Wait(due - now)
//		n, err := l.Receive(batch)
//		p.Receive(now, batch[:n])
//		for i := range p.Len() {
//			show(p.At(i, now))                   // Median, Jitter, Loss(), Info if Known
//		}
//	}
//
// Receive soon after a datagram came, or have a link that says how long it Waited: what passes
// until then is taken for a part of the way.
//
// On a local network, send Query{Kind: AskInfo}.Append(nil, Most) to a broadcast or multicast
// address, and Add every address from which a datagram comes that ParseAnswer reads with that
// nonce.
//
// # Asking one thing
//
// An [Asker] has one question for one server, asks again when nothing comes, proves its address
// where that is wanted, and ends with an [Answer]; [ParseInfo] and [ParseWho] read its body.
//
// # Answering
//
// A [Responder] is given each datagram that begins as a query does, and appends its answer. What it
// says is made by functions that it calls no more often than AnswerOptions.Every says, however many
// ask; strangers, proven addresses and each address have limits, in tables of a fixed size.
package query
