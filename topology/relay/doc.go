// Package relay is where players meet who have no server: it hands out who is there, gathers what
// they command into rows that are the same for everybody, and carries datagrams for those who do
// not reach each other. It knows nothing of the game.
//
// # Where it stands
//
//	topology/peers   a player's copy of the world, fed by rows
//	relay            meeting, carrying, rows     <- here
//	conn, link       secured connections, sockets
//
// A [Server] serves any number of matches over some links. A [Client] is one member's end: a
// machine that is given the time and datagrams, as conn.Client is.
//
// # Meeting
//
// A member creates a [Match] and is told its [Code], which it tells its friends. Whoever joins by
// the code and plays the same game, to the byte, becomes a member with a number that is never used
// again in this match, and, if there is room, has a seat. All members are told of each other: name,
// player, public key, addresses. The secret in [Welcome] lets a player come back to the same seat.
//
// # Rows
//
// Each member sends a stream of items, numbered from zero: what it commands, tick by tick, in a
// form of its own, each perhaps a difference from the one before. A [Row] says for each seat how
// many items of its stream are taken in a tick. Mostly it is one. If an item has not come in time,
// none is taken, and everybody repeats that player's last command; when it comes late, it is taken
// together with the next, so that nothing in a stream is ever skipped.
//
// Rows are due at the match's rate by the relay's clock. A row closes when the next item of each
// seat is there, at most half a row early, and when the match's patience is over in any case. So
// nobody is stopped by another for longer than that. After a quarter of a second without items a
// seat is not waited for, after two seconds it is absent, and after the match's grace it has left;
// the last two are changes that stand in rows. A newcomer watches, says that it is ready, and joins
// with the first row for which an item of it is there.
//
// How early items come at the relay is told to each member with the rows ([Client.Lead]), so that
// it can choose how far ahead of the rows it commands.
//
// # Carrying
//
// [Client.Carry] passes a datagram on to one other member, unread. What one member may send in this
// way is limited; see [Limits].
//
// # A relay that stops
//
// A relay keeps matches in memory alone. When it stops in good order members are told so, when it
// crashes their connections end after a timeout; either way the match is over, and a code of before
// is unknown afterwards. Members hold the world, and can go on in a new match.
//
// docs/relay.md is for operators, docs/protocol.md says what is on the wire.
package relay
