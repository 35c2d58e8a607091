// Package mirror runs a game on several servers at once, wherever its players are: each holds the
// whole world, serves the clients nearest to it, and executes what the clients of all of them
// command, so that it stays one game. It is the system of Cronin, Filstrup and Kurc, A Distributed
// Multiplayer Game Server System (2001), with what they left for later.
//
//	clients ──> server.Server ──> stamped commands ──> crimp, to all other mirrors
//	                  ^                        │                       │
//	                  └── leading world ── timeline <── commands of others ┘
//	                                           └──> settled world, the same everywhere
//
// # A mirror
//
//	m, err := mirror.New(mirror.Options{
//		Server: server.Options{Title: tanks.Title, Links: []link.Link{forClients}},
//		Link: between, Address: where, Keys: keys, Found: true, // or Ask: others
//	})
//	err = m.Run(ctx)
//
// One founds the game, with Found; the others Ask any that is there. Who joins is sent the world
// while everyone plays on. Clients connect to one mirror as to any server, predict as with any
// server, and are told of the others: when theirs dies, they go on at another one in the same body.
//
// # What is promised
//
// Settled worlds are the same on all mirrors at every tick, whatever the network does. A window of
// time alone cannot promise that, because a command may be too late at one mirror only; so each
// mirror tells with every packet up to which tick it will stamp nothing more (its promise), and up
// to which tick it holds everything of everybody. A tick is settled when every mirror holds it.
// When a mirror is gone, a majority agrees on the last of its packets that counts (package
// membership), everyone gets those from whoever has them, and the rest counts nowhere.
//
// What clients are shown is the leading world, which does not wait: it is provisional. An event in
// it that turns out otherwise is taken back; see replica.Leading.
//
// # Who decides what
//
// The überserver admits mirrors, starts them, and says which mirror speaks for which player; a
// mirror cannot speak for another's players. If it dies, a majority of mirrors elects another; with
// two mirrors, a Witness decides. A part that is not in touch with a majority stops, and joins anew
// when it can. Nobody decides about the world: that follows from the commands. But with the
// timeline "ruled" the überserver does, which is the paper's event-based protocol.
//
// # Time
//
// Tick n is due n tick lengths after the group's time zero. Mirrors keep their clocks together by
// what packets tell, each following the median of all. One whose clock jumped, or stood still,
// takes nothing until the others have told it the time.
//
// # Trust
//
// Who has the operator's key may join. Packets prove which mirror made them. A mirror bounds what
// its clients may stamp; the others bound the mirror: what it stamps at or before what it promised,
// or far in the future, or for players that it was not given, counts nowhere, and it is dropped.
//
// # Where things are
//
//	mirror.go             a mirror is made of the parts below; its loop names each step
//	life.go               joining, serving, leaving: the states, and how one comes to another
//	group.go              the way to the others: datagrams, and what the group says
//	ingress.go            what clients here command: stamped, promised, packed, sent
//	packet.go, fields.go  the bytes, described once for both ways
//	receive.go, peers.go  what comes from others: parsed, put in order, counted
//	roll.go, registry.go  who leads, who speaks for which player, and so what counts
//	uber.go               what the überserver decides, and what follows from it
//	line.go, ruled.go     the timeline, and the event-based protocol
//	settle.go             what is settled and why, and whether it is the same everywhere
//	clock.go              the time that all keep
//	show.go               the server that clients see
//	handover.go           what a newcomer is sent
//	keeping.go, revive.go what is kept on disk, and how mirrors come back after a crash
//	halt.go               how a group gives its game to another
//	level.go, turn.go     how all agree on another level, and begin it
//
// docs/architecture.md follows a command through them, from one mirror's client to another's.
//
// docs/mirrors.md tells how to run mirrors, and what they cost; docs/protocol.md has the packets.
package mirror
