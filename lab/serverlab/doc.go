// Package serverlab measures what it costs a server to serve many players, and how many there can
// be.
//
//	host/tools/bench   {program} bench server
//	lab/serverlab      the measurement          <- here
//	topology/server    what is measured
//
// Bots play a title on a real server over this machine's loopback, encryption on; the server and
// the bots are workers of their own. Run says what that cost: time by what it went to, bytes by
// purpose and allocations. docs/bench-server.md tells more.
package serverlab
