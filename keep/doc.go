// Package keep has a game survive its machine: it writes a world into a folder while it is played,
// and finds it there again after a crash.
//
//	each tick ──── Frame ──> the inputs, at the end of the newest chapter ──── Sync ──> durable
//	now and then ─ Begin ──> a new chapter: the whole world, beside the old one, then in its place
//	at the start ─ Recover <── the newest chapter that is whole, replayed to its last whole frame
//
// A chapter is a file: a trace (package trace) that begins with a whole world and has one frame a
// tick, each in a block of its own with a checksum. So all that reads traces reads chapters. The
// level, and who sits at which player's place, are attached to it. What a crash leaves of the last
// frame is not read. As a game computes the same from the same, the world that Recover computes is
// the one that was played, and hashes in the frames prove it.
//
// A chapter is written under another name, flushed, renamed and read back before anything relies
// on it; then those before the last two are removed. A disk that fails, is full or was slow costs
// what was played since: the error stays with the journal until the next Begin, which writes
// everything. Nothing here says that something is durable before the disk has said so.
//
// The package is pure: it has no clock and no goroutine, and its [Disk] is an interface, which
// keep/keeptest simulates with crashes and faults. The program that serves a game owns the
// goroutine that writes (host/internal/keeping).
//
// docs/keep.md tells how to use it, and describes the files to the bit.
package keep
