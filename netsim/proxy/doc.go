// Package proxy puts the impairments of a simulated network between real
// programs: a UDP proxy that delays, loses, doubles, reorders and queues what
// clients and a server send each other. It is what coeval netsim runs.
//
//	p, err := proxy.New(proxy.Options{Listen: "127.0.0.1:5000", To: "127.0.0.1:4000", Conditions: netsim.WiFi, Seed: 7})
//	...
//	go p.Run(ctx)
//	p.Command("preset lte") // while it runs
//
// Clients connect to Listen instead of the server. Each gets a socket of its own
// towards the server, which so tells them apart, and a pair of paths of its own,
// seeded by the order in which clients appear: the same traffic meets the same
// losses. Delays are as exact as the operating system's timers.
package proxy
