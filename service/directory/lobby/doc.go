// Package lobby is where players gather before a match: rooms that are joined by a code, and queues
// in which a game's own rule groups those who wait.
//
//	coevald directory        sockets, and commands that start servers
//	service/directory        HTTP, accounts, tokens
//	service/directory/lobby  who is in which room, who waits, who plays with whom   <- here
//
// A [Lobby] is a pure machine. It is given the time and what somebody asks; it hands back what
// changed, in [Lobby.Changes], and the matches for which a server is to be found, in
// [Lobby.Orders]. So a whole evening of rooms runs from a seed.
//
// A person is in at most one room, and waits in at most one queue. Those who are silent for
// [Grace] are gone. If the host leaves, whoever is there longest is the host.
//
// A game's own rule for its queue is a [Matcher]. An author's program has it by one line:
//
//	func init() { lobby.Use("tanks", rule{}) }
//
// [Sized] is the rule of those who bring none. [Holds] has seats of servers be kept for those who
// are on their way, so that two rooms do not fill the same ones.
//
// docs/lobby.md explains it to users.
package lobby
