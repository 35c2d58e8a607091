// Package answer has a link answer some datagrams itself, before whatever else is on it hears them:
// queries of those who have not joined a server, and the challenges of a directory, on the socket
// that players use.
//
//	topology/server, topology/relay    hear what is left
//	answer.Link ── Answerer            answers what it takes
//	link/udp                           the socket
//
// Answers are made in Receive, and so by the goroutine that drives the layer above: they may look
// at the world. They are sent at once.
//
//	l := answer.Over(socket, responder, announcer)
//
// Counters are those of the socket, and [Link.Own] is what of it was answered here: the rest is
// what the layer above has sent, to the byte.
package answer
