// Package mirrorlab measures what mirrored servers cost their players, and what happens to players
// when a mirror dies: real mirrors and real clients that predict, on a simulated network, in
// virtual time.
//
//	cmd/coeval                        coeval lab mirrors
//	lab/mirrorlab                     mirrors, players, judge              <- here
//	topology/mirror, server, client   what is measured, over netsim
//
// Run starts the mirrors, lets bots come in at each and play, warms up, and then measures. As
// everywhere in the lab, the caller brings the title.
//
// # Who sees what when
//
// Each command of each player is followed: when the client gave it, when it came in at its mirror,
// when the leading world of another mirror had executed it, in which snapshot that was told to each
// player there, and when that player's client took the snapshot in. Sight sums it up.
//
// A command that comes late is executed at the next tick, if the player has none there; so what a
// leading world has executed is found by looking at the command that it had for each player, at
// each tick. One that was passed over counts as seen when a newer one of its player is.
//
// # What comes of mirrors
//
// Players correct their own bodies for many reasons that have nothing to do with mirrors: they are
// hit, they bump into others. So a judge looks at each repair of a leading world: the world that
// was shown before it takes the step that the repaired one took, and whoever's body is then
// different was moved by the repair. A correction that follows from such a repair is booked as
// taken back, unless the repair brought news of a hit by another mirror's player and took back
// nothing about that body: then it is one of those hit, whom a server far away tells as late. The
// same players also play on a plain server, for comparison.
//
// # What is shown
//
// An Audience of package lab watches each mirror as its players do: where bodies are when a tick is
// first shown, against the settled world of that tick, and which events are shown and then taken
// back. With Options.Clock the processor time of mirrors is held against that of a plain server.
//
// The judge also compares every settled world of every mirror with those of the others, at every
// tick.
//
// # Faults
//
// With Options.Fault a mirror is killed without a word, or the überserver, or one more mirror
// joins. A player plays again when shown the own body, by a mirror that lives, in a state in which
// it has obeyed a command that was given since.
//
// All of it repeats from the seed.
package mirrorlab
