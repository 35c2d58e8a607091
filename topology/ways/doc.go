// Package ways is the set of connections by which a player is in a game. Mostly
// there is one. While the player goes on at another server there are more: those
// that are tried, and those that are taken leave of.
//
//	datagrams by link ──>  Set  ──> Next: what happened, and what it decided
//	links that were made ─>     ──> Flush: datagrams to send, for each way
//	time ──────────────────>
//
// A Set decides when to look for another server: when the one that is played at is
// silent, has stopped, or asks the client to move. It gets a seat there and, once
// the world is shown by that way, takes leave of the server before. It knows the
// control messages of topology/wire, but neither worlds nor snapshots: what takes
// snapshots tells it that they make sense (Show).
//
// # The states of a way
//
// A way that is tried has one of the first six states; the way that is played by
// goes from Connecting to Playing without the detour over Ready, since there is no
// world to go on with yet.
//
//	state       what it means                        what ends it
//	─────────────────────────────────────────────────────────────────────────────────────────────
//	Dialling    a link was asked for                 Dialled: Connecting, or Gone if there is none
//	Connecting  the handshake of package conn        connected: Spare
//	Spare       connected, and no seat is asked for  there is reason to go, and of all that are Spare
//	                                                 it is the nearest: Greeting; the server that is
//	                                                 played at is heard again, and a new ticket has
//	                                                 come: Leaving
//	Greeting    a seat was asked for                 Welcome: Seated
//	Seated      there is a seat, a level is awaited  Level, of the world that is played: Ready;
//	            or made ready                        of another world: this way is played by, Seated,
//	                                                 and the one before is Leaving; Begin: Playing
//	Ready       the level is ready, the world is     Show: Playing, and the way before is Lingering,
//	            awaited                              or Leaving if it is silent
//	Playing     the world is shown by this way       another level: Seated; the connection or the link
//	                                                 ends: Lost, if there is somewhere else to go;
//	                                                 otherwise Connecting anew with the ticket, or the end
//	Lost        it was played by, and is no more     another way takes over: Leaving; too late: the end
//	Lingering   the player goes on elsewhere, and    the server says that the player is not its own any
//	            commands still come here as well     more, or leaveTime: Leaving
//	Leaving     the server is told so                it knows, or leaveTime: Gone
//	Gone        nothing more is sent                 its link, if it was dialled, is closed
//
// Other servers are tried side by side, three at a time, after half of the silence that is reason
// to go: their handshakes, which nobody else can answer, tell which is the nearest, and when there
// is reason to go the way there is open. Where round trips are about the same, the server with
// fewer players is better.
//
// While all is well, a Set measures the way to every server (survey.go), and goes to one that is
// much nearer (improve.go): that way is Dialling to Ready as any that is tried, beside the one that
// is played by.
//
// A way that is tried and fails, by a refusal, a timeout or the end of its link, is
// Leaving at once.
//
// Everything about a Set is in the scripts of testdata/scenarios, which read as
// conversations; TestScenarios plays them.
//
// The package is pure: it has no clock, socket or randomness.
package ways
