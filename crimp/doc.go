// Package crimp is a reliable multicast among several machines, made for games: every
// member may send, every packet reaches every member, as soon as it can and once, or
// the application is told that it was given up.
//
// It is the clocked reliable interactive multicast protocol of Cronin, Filstrup and Kurc,
// A Distributed Multiplayer Game Server System (2001), chapter 4, which builds on SRM
// (Floyd and others, 1997), with the forward error correction that the paper proposed,
// recovery that adapts to what it observes, membership, and security.
//
// # Where it stands
//
//	topology/mirror, timeline    what mirrors tell each other
//	membership                   who is in, by which keys they know each other; the state
//	crimp                        packets to all, recovered when lost
//	link, link/multicast         moves datagrams
//
// # Driving a node
//
// A [Node] is a protocol machine without goroutines, clocks or sockets, like those of
// package conn. Its [Authority] decides who is in the group: one of package membership, in which
// one machine founds the group and the others ask to be let in. A tick is:
//
//	n, err := l.Receive(batch)                 // l is a link.Link
//	node.Receive(now, batch[:n])
//	for _, e := range node.Events() {
//		switch e.Kind {
//		case crimp.Delivered:                  // e.Data is packet e.Seq of e.Member
//		case crimp.GaveUp:                     // that packet will never come
//		case crimp.StateWanted:                // node.ProvideState(now, e.Member, state)
//		case crimp.State:                      // e.Data is the state; what follows comes after it
//		case crimp.Joined, crimp.Left:         // others come and go
//		case crimp.Revoked:                    // what one who left had said does not count; see below
//		case crimp.Denied, crimp.Dismissed:    // this one is out; e.Reason says why
//		}
//	}
//	node.Send(now, message)
//	node.Tick(now)
//	out = node.Flush(now, out[:0])
//	link.SendAll(l, out)
//
// Between ticks, [Node.Deadline] says when recovery wants to be called next. Calling it
// only with each tick works, and adds up to a tick to every recovery.
//
// A program that decides about members by itself drives a [Group] in the same way, and
// gives it a [Roster] for each change.
//
// [Group.SendLossy] multicasts what need not arrive. [Group.Whisper] says something to one
// member alone.
//
// # Loss
//
// A packet is missed when later ones come, when its source's regular clock says that it is
// overdue, or when its source says that it has sent it. It is then waited for, if forward
// error correction is likely to bring it soon, or asked for; who asks, and when, so that one
// request serves all who miss it, is told in request.go. The source answers at once,
// others only if it does not. See docs/multicast.md for all of it with figures.
//
// # Life
//
// A packet is of use for a time, the history ([Options.History]). For so long members keep it
// to repair it for others, and try to get it if they miss it. Then it is dropped, or given
// up: [GaveUp].
//
// # Those who are gone
//
// When a member crashes, the others may have been delivered different packets of it. An
// authority can have the members agree:
// each tells what it holds and takes nothing more of the one in question ([Group.Freeze]); from
// what they say follows what counts ([Agree]). With the roster that says so everybody fetches what
// it lacks, gives up what nobody has (GaveUp, and How is Agreed), and is told what it was
// delivered and does not count (Revoked). [Left] comes when all of that is done.
//
// # Safety
//
// Packets are encrypted and authenticated with a key that changes with every change of
// members, and prove which member made them: by a tag for each receiver, or a signature
// ([Proof]). A member cannot speak for another. Repairs by others are the original
// datagram, proof included. Requests and repairs are bounded, whatever a hostile member asks for
// ([Pace]).
//
// A tag proves a packet to one receiver only. So each member signs, every so often, a running
// digest of its packets, and all compare what they were told: who has signed two that contradict
// each other is named with [Equivocated], and [Evidence] shows it to anyone. A packet whose tag is
// bad for one receiver is taken by that receiver when a signed digest fits it. See digest.go.
//
// # Carriers
//
// Members with the same Site in their [Card] hear each other by IP multicast; all others
// are sent to one by one. Where both occur, the member of a site with the lowest number
// passes on between its site and the rest.
//
// With [Options.Carry], members watch the lines between them (package route), and carry for each
// other what does not get through directly: see lines.go and carry.go. Multicast is then used as
// far as members say that it comes to them, and each other one is sent to by itself: site.go.
//
// # Limits
//
// 256 members, fewer with tags in small datagrams (64 at 1200 bytes leave some 600 for a message);
// 8192 packets of a member within the history; 2^30 packets of a member in all. Total order agrees
// among all who stay; when a member crashes and nothing was agreed on, its very last packets may
// have been delivered to some and not to others.
package crimp
