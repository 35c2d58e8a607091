// Package predict lets a player live in the present although the server's word is always old. It
// holds a client's clock, predicts what is in view with the game's own code, predicts it anew when
// a snapshot tells otherwise, hides the errors; and it has what other games do instead, to compare
// and to choose: interpolation, and a server that goes back in time to judge a shot.
//
//	           commands, each for a tick to come                  snapshots, each of a tick that is past
//	                       |                                                    |
//	Clock ------> Client.Due, Next, Step                         Client.Snapshot, Event
//	ahead by       the next tick, from the                        back to that tick: what differs from what
//	just enough    one before, by the game's Step                 was predicted is put right, and the ticks
//	                       |                                      since are computed again
//	                       +----------------+---------------------------+
//	                                        v
//	                                  Client.Show      the world to draw, its errors on their way out,
//	                                                   each event in it once
//
// It stands beside replica, from which it takes snapshots, and above world and reckon. It has no
// clock of its own, no socket and no goroutine.
//
// # How it predicts
//
// A client keeps the worlds of the last ticks as it predicted them. A snapshot is of one of these
// ticks, a round trip ago. Its images are compared with that world's; where all are the same, which
// they mostly are in a deterministic game, nothing more is done. Otherwise what differs is
// overwritten, and the ticks since are stepped again, with the player's own commands and with those
// of others as far as they were relayed: what others held down they are taken to hold, what they
// did for a moment they do not do again. What a snapshot could not tell of stays as predicted. What
// left the view is gone from prediction, too.
//
// The present then differs from what was shown. A Class says how that goes away: by a time
// constant, and at once if it is too far.
//
// What a client spawns it cannot name as the server will. It pairs the two by who spawned it, when,
// and as the how-manieth (world.Name); events likewise. Each event is shown once: a Notice says
// that it is foreseen, and later that it was confirmed or denied.
//
// # Styles
//
// Doom3 predicts everything in view. Quake3 predicts what the player owns and shows the rest as it
// was, at the moment that a Playout finds to be the most recent that can be interpolated. HalfLife
// shows the same, and servers judge by that. None predicts nothing and shows the newest state
// that has come, for bots and for whoever wants to feel the network; it keeps no world but that
// one. The style may change while the game runs, and a Class may have a Mode of its own.
//
// # Driving it
//
// Client is the machine itself. topology/client drives it: its Frame asks for a command for each
// tick that is Due, steps, and shows. A program of another shape does the same:
//
//	for range c.Due(now) {
//		world.Give(c.Next(), me, keys())
//		c.Step()
//	}
//	draw(c.Show(now))
//
// Truth is what the server said last of everything in view; there is no other copy of it.
//
// Redundancy and Cadence say how commands are sent: how many of the last go into each packet, and
// how many packets there are in a second.
//
// In a steady state nothing is allocated.
//
// Client.Report says for each class how much of it is predicted exactly, and which field was the
// first that was not: in a game that is deterministic only what other players decide is ever wrong.
//
// The ideas are those of J.M.P. van Waveren's The DOOM III Network Architecture (2006), with what
// it says of Quake III and Half-Life; Y. Bernier described the latter's lag compensation (2001).
// docs/prediction.md tells more, with what each style costs and gives.
package predict
