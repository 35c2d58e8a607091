// Package token issues and opens connect tokens: sealed letters by which a
// directory, or a game's own backend, tells a game server who a player is.
//
//	backend ──Issue(key)──▶ Token ──over https──▶ client ──Sealed, in the handshake──▶ server ──Open(key)──▶ Grant
//
// The backend and the servers share a [Key]. The client never learns it. A
// [Token] holds two things: the sealed letter, which only a holder of the key can
// read, and a secret that is also inside the letter. So the client can prove to
// the server that the token is its own, without the secret crossing the network,
// and the server proves that it could read the letter.
//
// A token names the game, the player, the servers it may be used at, when it
// expires, and carries up to [MaxUserData] bytes that the backend wants the server
// to know (a name, a team, a rank). Package conn lets each token in once at each
// server, and hands out resumption tickets, which are tokens too, issued by the
// server itself. A ticket hands on what limits the token: the servers that it names,
// when it was issued, and until when players may come back with tickets; see [Grant.Ticket].
//
// Randomness is passed in, as everywhere below the topologies: give
// crypto/rand.Reader.
//
// The bytes are specified in docs/protocol.md.
package token
