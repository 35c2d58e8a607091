// Package route says over whom each member of a group is reached, when some of the lines between
// them are cut. Two members are joined if what each sends directly comes to the other. A member
// that is not joined with another sends to it over those in between, as many as it takes.
//
// # Where it stands
//
//	crimp    sends and carries the datagrams, and proves who said what
//	route    who hears whom, and so who is the next on the way to whom
//	member   the number of a machine
//
// # How it finds out
//
// Each member says directly to each other, from time to time, whom it hears directly: its
// [State]. Those who do not hear it are told by others, who pass its state on as it was made. A
// pair counts as joined when both say that they hear the other. From that each member computes
// which of its neighbours is next on the shortest way to each: link-state routing, as in OSPF (RFC
// 2328), for a group so small that everybody can know everything.
//
// A line is down when nothing has come over it for [Options.Dead], and up again after a few states
// have come over it in a row; so a line that loses much does not flap. A direct line is always
// preferred, and among ways of the same length the one that is in use. A line that passes one way
// only is no line.
//
// # Driving one
//
// A [Table] has no clock and sends nothing:
//
//	t := route.New(route.Options{Self: 1, Dead: 500 * time.Millisecond})
//	t.Members(now, ids)               // whenever the group changes
//	t.Heard(now, id)                  // something came directly from a member
//	t.Say(now, state)                 // its state came directly from a member
//	t.Pass(now, state)                // a state was passed on by another than its maker
//	if t.Due(now) {
//		s := t.State(now)             // to be sent directly to all
//	}
//	hop, ok := t.Next(id)             // whom to send to what is for a member
//
// Nothing here is believed because of who passes it on: whoever drives a table must see that a
// state was made by whom it names. One who lies in its own state can claim no line that the other
// end does not confirm.
package route
