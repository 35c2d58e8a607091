// Package peerlab has bots play matches between players' machines, without a server, over a
// simulated network in virtual time, and measures what a player gets and what it costs.
//
//	host/tools/lab     {program} lab peers
//	lab/peerlab        matches, and what is measured of them      <- here
//	topology/peers     what is measured, over netsim
//
// [Run] plays the same title once with each style: rollback, lock step, lock step in which all
// commit to their commands before they are revealed, and lock step in DOOM's own way. As everywhere
// in the lab, the caller brings the title. The same options give the same figures, but for
// processor time.
//
// # What is measured
//
// A player's own input counts as shown when the first tick that executes it is shown on that
// player's screen. What another gave is shown when a tick is shown that was computed with it;
// that is measured of commands that nobody could guess, those that are not the one before
// repeated. A tick that is shown later than a tick's length after the one before has waited, and
// the match stood still for that player.
//
// A guess is wrong where a tick was first shown with another command of somebody than the one that
// was given.
//
// Bytes are those that a machine hands to its link for one other, with 28 more for each datagram:
// the headers of IPv4 and UDP. What they were for is in the ledger of the connections.
//
// Every mark that a peer takes for settled is compared with that of the others.
//
// # Through a relay
//
// With [Options].Relay the match goes through a relay that gathers commands into rows, and what
// goes out of it and into it is counted. A relay takes a command that comes late in a later tick,
// together with the next: then it counts as shown with that tick.
//
// # Joining late
//
// With [Options].Join a peer joins a running match whose world takes a megabyte, of which nothing
// can be compressed, and it is measured how long that takes and whether the others waited.
package peerlab
