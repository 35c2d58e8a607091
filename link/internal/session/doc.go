// Package session makes a [link.Link] of connections that each belong to one
// peer and may block: WebSocket and WebTransport. Every session has a goroutine
// that reads into a shared mailbox and one that writes from a mailbox of its own, so
// that neither a slow peer nor a congested network ever holds up the tick.
package session
