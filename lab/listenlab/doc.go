// Package listenlab measures the network between two places, and makes conditions of it that the
// simulated network plays again.
//
//	host/tools/lab       {program} lab listen
//	lab/listenlab        probes, and what they tell      <- here
//	netsim               what plays it again
//
// One end answers probes and the other sends them, at a steady pace. An answer is as long as its
// probe, so nobody can be flooded by way of it, and says when the probe came and which of the last
// ones did: so each direction is known by itself, although the two clocks have nothing to do with
// each other. What cannot be known is how the shortest round trip divides: each direction is taken
// to be half of it.
package listenlab
