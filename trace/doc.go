// Package trace records runs of a game and repeats them: every command, every join and leave, and
// the world they began with. As a game computes the same from the same, that is the whole run, for
// half a kilobyte a second.
//
//	a run ── Writer ──> trace ──┬── Replay   the run again, each tick's hash compared
//	                            ├── Diff     the first tick at which two traces differ
//	                            ├── Desync   the first entity and field, and why; with a bundle to show others
//	                            └── Cut      a part that stands alone
//
// It stands on package world, and below the topologies, any of which can record. It opens no files
// and reads no clock: it takes an io.Writer and an io.Reader.
//
// # Recording
//
// Begin with the world as it is, and say after each tick what went in:
//
//	tw, err := trace.NewWriter(file, w, trace.Options{Build: trace.BuildOf(info)})
//	...
//	err = w.Step(in)
//	err = tw.Tick(in, w)
//	...
//	err = tw.Close()
//
// With topology/solo, Tick is what to call in After. A Writer holds a second in memory and writes
// it in one piece, so a program that is killed loses a second, and what it wrote can be used.
// Machines that go back and compute ticks again record a tick when it is final.
//
// Along with the inputs go eight bits of the world's hash at every tick, all of it every second,
// and the whole world every minute; see Options. Hashing is most of what recording costs in a large
// world.
//
// A trace holds the world's Secret. Keep traces of a match from its players while it lasts.
//
// # Repeating
//
// Replay needs the game, and compares hashes wherever the trace has them. That they differ is a
// result, not an error:
//
//	r, err := trace.Open(file)
//	res, err := trace.Replay(tanks.Game, r, trace.ReplayOptions{})
//	if res.Mismatch != nil { ... }
//
// A trace can be read by any machine, and gives the same hashes on each: that is how a game is
// tried on processors that behave differently. It can be repeated by any build whose game has the
// same declarations (Header.Fits); if the rules changed in between, hashes differ.
//
// Without the game, a Reader gives each tick's inputs as numbers, with their names in the header.
//
// # Any tick
//
// A Seeker gives the world at any tick, in any order, within a fraction of a second for hours of
// play. Its Branch is the run as it would have been with other commands from a tick on:
//
//	s, err := trace.NewSeeker(tanks.Game, file, size, trace.SeekOptions{})
//	w, err := s.At(36000)
//
// # When two machines disagree
//
// Let both record, and give both traces to Desync. It tells whether different things came in or the
// same was computed differently, by whom, at which tick, and in which field of which entity.
// Report.Bundle makes files of it from which anyone can see it again.
//
// # When a game panics
//
// There is no world after a tick in which the game panicked. Writer.Fatal ends a trace with what
// went into it; WriteRun makes a trace of a world and what went in since, as a server keeps them. A
// replay of either panics at the same place, which is Replayed.Panic.
//
// # Damage
//
// Every block has a checksum that includes those before it. A file that was cut or changed can be
// read up to there; the error is a *DamageError and says where. Any bytes may be given to Open:
// what they take of this machine is in proportion to their number, and Limits bound it further.
//
// docs/trace.md describes the format, to the bit.
package trace
