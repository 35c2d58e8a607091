// Package network takes part in an exercise by a real network: by broadcast, by multicast or by
// unicast.
//
//	n, err := network.Join(network.Options{To: "239.1.2.3:3000"})
//	n.Send(pdu)
//	for d := range n.Receive(10 * time.Millisecond) { ... }
//
// Several programs on a machine may take part in the same exercise, so the port is shared with
// those that share it too. A datagram that this program sent itself is left out where that can be
// seen.
//
// On Linux; elsewhere there is unicast alone.
package network
