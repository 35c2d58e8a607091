// Package netsim is a network in which time and chance belong to the test. Any
// number of machines talk to each other in one goroutine, thousands of times
// faster than real time, over paths that delay, lose, double, reorder, damage and
// queue their datagrams; and the same seed gives the same run, to the last bit.
//
// # A run
//
//	n := netsim.New(netsim.Options{Seed: 7})
//	server, client := n.Endpoint("server"), n.Endpoint("client")
//	n.Connect(client, server, netsim.WiFi)
//
//	server.Handle(func(from netip.AddrPort, data []byte) {
//		server.SendTo(from, data) // echo
//	})
//	client.Every(time.Second/60, func() {
//		client.SendTo(server.PublicAddr(), []byte("tick"))
//	})
//	n.Run(time.Minute) // of the network's time
//
// An [Endpoint] is called when a datagram arrives (Handle) and when time has
// passed (After, Every), or it is asked for what has arrived (Receive), whichever
// suits the machine under test. It is also a [link.Link], with the one liberty that
// Wait makes the network's time pass. A protocol machine without clock and socket,
// which is given now and a datagram, is driven like this:
//
//	client.Handle(func(from netip.AddrPort, data []byte) {
//		machine.Receive(n.Now(), from, data)
//		flush()
//	})
//	client.Every(time.Second/60, func() { machine.Tick(n.Now()); flush() })
//
// # What can go wrong
//
// Each direction between two endpoints is a [Path] with a [Profile]. The presets
// ([Perfect], [LAN], [Cable], [WiFi], [LTE], [Transatlantic], [Satellite], [Modem],
// [Awful]) are connections that players have. Beyond that, endpoints can be cut
// off, paused, restarted, and given new ports and addresses, by calls, by a
// [Script] with times, or at random by a plan for [Chaos].
//
// # Finding and keeping failures
//
// [Explore] runs a test over many seeds. When one fails, it writes down all that
// chance did in that run, datagram by datagram, and takes away what does not
// matter, until a few faults are left:
//
//	seed 41: message 3 arrived twice
//	reduced from 1893 faults to 2 in 96 runs; replay this script:
//	seed 41
//	exact
//	drop server > client 12
//	delay client > server 9 by 35ms
//
// [Replay] runs that script again, in a debugger or for ever after as a test. Tests
// mostly use the package simtest, which does both and takes seeds from the
// environment.
//
// # Where it stands
//
//	replica, predict, timeline, ...   tested over it
//	conn, crimp                       tested over it
//	link  <-  netsim                  its endpoints are links
//
// It starts no goroutines and reads no clock. The package proxy does the same to
// real programs, over real sockets.
package netsim
