// Package tunnel is the wind tunnel: it plays one title under every architecture on every network,
// and measures on the same axes what each costs in consistency, responsiveness, bandwidth and
// processor time.
//
//	host/tools/lab          {program} lab run
//	lab/tunnel/...          an architecture each: how a title is played between machines
//	lab/tunnel              who plays, on what, and what is measured      <- here
//	lab/session, topology   machines and players
//
// An Architecture registers itself; those that come later appear without a change here. It is given
// a Trial: a title, a Field on which machines stand, and a Seat for each player. It makes the
// machines, lets time pass over the simulated network of the trial, and tells two things: what each
// player is shown (Seat.Show, Seat.Computed), and what is true in the end (Trial.Truth). All that
// is measured follows from these, by the same code for all.
//
// Players are bots that act on what their own machine shows them, so that errors and delays have
// the consequences that they have for people; or a Tape of commands, the same for all
// architectures.
package tunnel
