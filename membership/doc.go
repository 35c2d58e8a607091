// Package membership decides who is in a group of mirrors, without a coordinator that all
// would depend on: the mirrors decide by majority. It is a [crimp.Authority], so a
// [crimp.Node] is driven with it as with any other.
//
// # Where it stands
//
//	topology/mirror              the game, its clients and its clock
//	membership   who is in, who leads; newcomers and their state
//	council      that all agree on it
//	crimp, conn                  packets to all, whispers to one; connections at the door
//
// # How to use it
//
// One mirror founds the group, the others name some mirrors to ask:
//
//	m, err := membership.New(membership.Options{
//		Options: o,                                 // the node's own
//		Card: crimp.Card{Addr: public},             // where the others reach this one
//		Protocol: protocol, Keys: keys, Wall: wall, // who has the operator's key may join
//		Found: first, Ask: others,
//		About: membership.About{Name: "arena", Version: hash, Text: settings},
//	})
//	node, err := crimp.NewNode(o, m)
//
// The node's events tell the rest, besides those that package crimp explains:
//
//	crimp.Led        a roster is in force; Member leads, Seq is the epoch. Also when only the roster has changed
//	crimp.CutOff     not in touch with a majority, one way or the other: stop, as the others may go on
//	                 without this mirror. Membership.Absent says with whom
//	crimp.Reunited   it is heard again, and nothing was decided meanwhile that excludes this mirror
//	crimp.StateWanted  at the überserver: a newcomer wants the state, see ProvideState
//	crimp.Left       of Member all up to Seq counts, and is here
//	crimp.GaveUp     if How is not Agreed, this mirror lacks what others have: leave and join anew
//	crimp.Revoked    this mirror has been delivered what does not count: leave and join anew, or take it back
//	                 (leave in good order, by Node.Leave and only if Membership.Spare: who just vanishes takes a vote along)
//	crimp.Dismissed  this mirror is out; make a new Membership, Node and Identity, and join anew
//	crimp.Denied     not let in; Reason and Data say why and what to do
//
// # What is decided
//
// A decree of the council holds the roster of the group with its key, the witnesses, and the next
// identifier to give out. Every change is one: a newcomer comes as one that only listens, gets the
// state from the überserver while everything goes on, says that it has begun, and is given a vote;
// one that was silent for three quarters of the history is taken out, as is one that wants to
// leave. What counts of one that is taken out is decided with it, from what a majority holds
// ([crimp.Agree]), so that all who stay have the same of it.
//
// # The überserver
//
// It is the leader of the newest decree: it lets in, takes out and gives out the state. When it
// dies another is elected, and no two ever decide different things. It is only trusted while
// [Membership.Quorum] is true, and whatever it decides takes a majority anyway. Mirrors that are
// not it send candidates on to it, and ask for those that do not reach it.
//
// # How many
//
// Of three mirrors one may fail at a time, of five two. Of two, the überserver goes on when the
// other fails, but not the other way round, unless there is a witness: a small program that votes
// and does nothing else ([Options.Witness]). When a majority has crashed at once, nothing can be
// decided any more by those who are left: no game is worth running twice. One that crashed comes
// back as a new member. Where mirrors have disks ([Options.Remember]), those that come back after
// a majority has died agree by a [Revival] on one that begins the group again.
//
// # Safety
//
// A candidate needs a token sealed with the operator's key. Members know each other by the keys in
// the roster: what the council says travels in whispers that only two can read and make. A mirror
// that plays another game, runs another version or has other settings is refused, with the lines in
// which they differ. Decrees are proved by signatures of those who voted, with the keys of their
// cards, and a member that has signed two accounts of its own packets is put out by that
// ([crimp.Evidence]). A voter does not vote for a decree that changes what is not the überserver's
// to change: the group, the keys of those who stay, and that newcomers have no vote at first. Whom
// to take out otherwise, and which world a newcomer gets, is the überserver's word.
//
// The bytes are specified in docs/protocol.md.
package membership
