// Package council lets members that may crash, and paths that may fail, agree on one
// decree after the other: who is a member, who leads, and whatever their owner puts in
// besides. There is at most one decree for an epoch, however messages are lost, doubled, delayed
// and reordered, and whoever crashes.
//
// # Where it stands
//
//	membership   which rosters and keys are decided, and how members talk
//	council      that they are decided once, and by whom
//
// # How it decides
//
// A decree names the voters who decide about the next one. That takes a quorum of them: more
// than half, or exactly half with the leader among them, so that of two members the leader can
// go on when the other is gone. Any two quorums have a member in common. With two members and a
// witness, which votes and does nothing else, either of the two can go on with it.
//
// Deciding is Paxos, once for each epoch. The proposer asks the voters to promise that they
// will listen to no lower ballot; they tell what they have accepted before, and what they know of
// members that may be taken out (the suspects), of whom they take nothing more until the
// epoch is decided. From these reports its owner makes the decree, unless one was accepted
// before, which then must be proposed again. When a quorum has accepted it, it is decided.
//
// # Who proposes
//
// The leader does, with [Council.Propose]. When it has not been heard for a while by a quorum, the
// lowest voter that is there campaigns: it asks for promises, with all who are silent as suspects,
// and the decree it makes has a new leader. Two that campaign at once may outbid each other for a
// while; their pauses differ and grow. Nobody acts on the belief to lead alone: a leader that does
// not hear a quorum knows it, see [Council.Quorum], and whatever it proposes takes a quorum.
//
// # Driving one
//
//	c, err := council.New(now, council.Options{ID: 1, Owner: owner, Seed: seed}, first)
//	for each message that comes {
//		c.Receive(now, from, data)
//	}
//	c.Tick(now)
//	for _, d := range c.Decided() {
//		// d is in force
//	}
//	if note, out := c.Dismissed(); out {
//		// a newer decree lacks this member
//	}
//	for _, m := range c.Outgoing() {
//		// send m.Data to m.To
//	}
//
// # Who is believed
//
// Messages must be authenticated by whoever carries them. Beyond that nobody is believed alone:
// promises, proposals and votes are signed ([Keys]), and a decree is believed by its proof, the
// votes of a quorum of the decree before ([Link]). Nobody outside of the present decree is heard.
// What costs signatures to check is looked at only of members, and not again for a while of one
// that said something unproven. See proof.go and learn.go.
//
// One member that says anything its keys allow cannot have two honest ones hold different decrees
// of one epoch, if there are four voters or more and the honest ones hear each other. With three,
// or where lines hide the honest from each other while the liar speaks to both, two quorums can
// have only the liar in common, and no rule that lets a majority go on can tell.
//
// # Memory
//
// A member that crashed has forgotten what it promised, so it must never come back under the same
// [member.ID]: it is taken out as silent, and let in under a new one. When a quorum is gone,
// nothing can be decided any more by those who are left. With [Options.Remembers] its owner writes
// each vote to a disk before it is given, so that those who come back know together all that was
// decided, and can begin anew from there: see membership.Revival.
//
// The bytes are specified in docs/protocol.md.
package council
