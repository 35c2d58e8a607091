// Package udp carries datagrams over UDP sockets.
//
// On Linux, [Listen] opens a socket of its own that the runtime's network poller
// does not know about, and moves whole batches with recvmmsg and sendmmsg: a server
// that drains its socket once a tick pays one system call for all its clients,
// wakes no goroutine for each datagram and allocates nothing. Several datagrams of
// the same size to one peer go out as one (UDP_SEGMENT), where the kernel can. On
// other systems Listen is [ListenPortable].
//
//	l, err := udp.Listen(":4000", udp.Options{})
//	...
//	n, err := l.Receive(batch)
//
// A socket on ":4000" or "[::]:4000" serves IPv4 and IPv6 alike, and IPv4 peers
// appear with IPv4 addresses. On "0.0.0.0:4000" it serves IPv4 only.
//
// Lost peers do not disturb it: ICMP's complaints about ports that are closed and
// hosts that are gone are not errors for a socket that serves many.
package udp
