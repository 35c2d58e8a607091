// Package webtransport carries datagrams over QUIC, as browsers do with
// WebTransport: unreliable, unordered, encrypted by the browser's own rules.
//
//	identity, err := webtransport.NewIdentity("localhost")
//	server, err := webtransport.Listen(":4433", webtransport.Options{Identity: identity})
//	...
//	n, err := server.Receive(batch)   // from all clients
//
// A browser accepts a self-signed certificate if it is told the certificate's
// digest, so a game can be played without a name in the public directory. Give the
// page what [Identity.Hashes] returns:
//
//	new WebTransport("https://host:4433/coeval", {
//		serverCertificateHashes: [{algorithm: "sha-256", value: hash}],
//	})
//
// A [Client] in Go does the same with DialOptions.Hashes.
//
// What differs from UDP: QUIC has a congestion control of its own, which may delay
// what is sent when it thinks that the network is full. It cannot be asked to send
// anyway. Then the peer's queue fills, and Send says [link.ErrFull] for that peer
// alone; the tick is never held up. And how large a datagram may be depends on the
// path to each peer and may change: [link.MaxTo] says what it is now, and MaxDatagram
// what is possible on every path that carries QUIC at all.
package webtransport
