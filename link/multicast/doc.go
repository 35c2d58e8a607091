// Package multicast carries datagrams by IP multicast: one that is sent to the
// group's address reaches every machine that has joined it, and leaves this machine
// once.
//
//	l, err := multicast.Open(multicast.Options{Group: netip.MustParseAddrPort("239.1.2.3:4000"), Interface: "eth0"})
//	...
//	link.SendAll(l, []link.Datagram{{Addr: group, Data: data}})   // to all
//	link.SendAll(l, []link.Datagram{{Addr: peer, Data: data}})    // to one
//
// A link has two sockets. One receives what is sent to the group; any number of
// programs on a machine can have one for the same group and port. The other has a port of its own:
// all is sent from it, so a receiver sees an address that it can answer to, and what is
// sent there by unicast comes with the rest.
//
// # What it needs
//
// All machines on one network segment, or routers between them that forward multicast
// (PIM), and switches that do not filter it. Clouds mostly have neither: there, package
// crimp sends over a unicast mesh instead, through link/udp. Open says so when the machine has
// no way for multicast. That datagrams get through can only be seen by sending some: "coeval
// crimp listen" and "coeval crimp send" do that.
//
// It works on Linux. Elsewhere Open returns an error.
//
// # Where it stands
//
//	crimp            a reliable multicast; its machines know nothing of sockets
//	link/multicast   <- here
//	link             the contract of all carriers
package multicast
