// Package bandwidthlab measures what three ways to join players cost: one server, peers, and
// mirrored servers. It is chapter 2 of Cronin, Filstrup and Kurc, "A Distributed Multiplayer Game
// Server System" (2001), done again with this toolkit, and the study of topologies which that
// chapter left for later.
//
//	cmd/coeval                      coeval lab bandwidth
//	lab/bandwidthlab                model, measurements, topologies       <- here
//	topology/{server,client}, crimp what is measured, over netsim
//
// # Bandwidth
//
// Run lets bots play a game on a real server, over a simulated network, with different numbers of
// clients. From what the links carried come the paper's variables:
//
//	a     what a client sends its server
//	b     what one client's commands take from one mirror, or peer, to one other
//	c     what the server sends a client when there are no clients
//	d, e  and how much more for each client: always, and for each that is near
//	α     the share of the other clients in a state update
//
// As in the paper, c and d+e are found by regression. The paper could not tell d from e, since both
// grow with the number of clients; here the server's ledger knows what each bit was for, and
// receivers count who is in an update.
//
// Variables has the paper's Table 2.2 as Paper, and as Counted the same without its
// simplifications. Both are compared with what is measured. Peers, and mirrors, send each other the
// very commands that the bots gave, over real groups of package crimp, and each packet that is
// delivered is compared with what was sent.
//
// # Latency
//
// A Topology is a set of places with delays between them, and where players, server and mirrors
// are. For each and each architecture it is computed, and measured over the same simulated network,
// how long a player's command takes until another player sees it. Medoids finds where mirrors
// should stand; Cities has published delays between twelve places, and ReadDelays reads others.
//
// What mirrors do stands in two functions, mirrored and timeMirrors. The page docs/bandwidth.md has
// the figures, and says how to read them.
package bandwidthlab
