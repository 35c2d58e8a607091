// Package timeline keeps copies of one world consistent when commands arrive late: trailing state
// synchronization, behind an interface that its rivals have too.
//
// Mirrors are servers that each hold the whole world and each take the commands of the players
// nearest to them. They send each other those commands and nothing else, and every mirror executes
// all of them. If it did so when they arrive, each would have them in another order and soon
// another world. A timeline is what stands between:
//
//	players ── Stamp ──> commands ──> all mirrors
//	                                      │ Submit, in whatever order they arrive
//	                                  timeline ── Advance(now)
//	                                      ├── Leading   the world that players are shown now
//	                                      ├── Settled   the world that is the same on every mirror
//	                                      └── Notices   what happened, what did so for good, and what did not after all
//
// It stands on package world. It starts no goroutine, reads no clock and knows no network: package
// topology/mirror gives it those.
//
// # What is here
//
//	Trailing     a few copies of the world, each a delay behind the time; the copies behind repair those ahead
//	Auto         Trailing with delays that it chooses and changes: what mirrors run unless told otherwise
//
// Others stand beside it, each a Timeline and made of the same Core. Package timeline/rivals has
// what trailing states compete with: time warp, rollback, lock step, conservative synchronization
// and bucket synchronization. Package timeline/ruled has the event-based protocol, in which one
// mirror decides. Package timeline/kinds makes any of them by its name.
//
// To read it, follow a command: Command is what is stamped, Trailing.Submit takes it into the Book,
// Trailing.Advance lets each trail execute it in turn, compare.go says whether that came to
// something else than in the copy ahead, Trailing.recover repairs that, and Core.Settle ends the
// tick once hold.go allows it.
//
// # Using one
//
//	line, err := timeline.NewTrailing(w, timeline.TrailingOptions{})
//	...
//	c := timeline.Command{Tick: line.Stamp(now), Origin: self, Seq: seq, Player: p, Image: image}
//	line.Submit(now, c)           // and send it to the other mirrors, who do the same
//	...
//	err = line.Advance(now)       // whenever something came, and at line.Next()
//	show(line.Leading())
//	for _, n := range line.Notices() { ... }
//
// # Promises, and mirrors that come and go
//
// A window is no promise: what comes later than that to one mirror only makes it another world. A
// program that knows up to which tick everything has come, from everyone, makes the timeline with
// Options.Held and tells it by Hold; then no more is settled than that, and nothing is too late
// that was promised. Timelines that wait count for themselves, and are told by SetMirrors who is to
// be waited for.
//
// A mirror that joins is sent another's Settled world and what Pending lists there, and starts from
// these.
//
// A world that began later than the group, such as that of another level, has a timeline by Shift.
//
// # Time
//
// Tick n is due n tick lengths after time zero, which mirrors agree on. What comes in until then is
// stamped n. A copy with delay d computes tick n at that time plus d: delays are durations and need
// not be whole ticks, so on a network of 2 ms a delay of 5 ms is enough, though ticks are 16.7 ms
// long. Clocks that disagree make commands come that much earlier or later, and no more.
//
// # What is compared
//
// Trailing compares what a tick did in a copy with what it did in the copy ahead. Strict events
// must be the same: emitted by the same entity at the same tick, about the same entity, with the
// same fields. Of weak events and of entities those fields are compared for which Options.Margins
// has a margin. A copy that was told exactly what the book now says is not compared at all, as a
// deterministic game then did the same; that it did is checked now and then by hash, and a game
// that does not is ended by a DesyncError.
//
// docs/timelines.md has the reasons, the figures, and the model by which Auto chooses.
package timeline
