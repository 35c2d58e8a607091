// Package codeclab measures strategies of the codec against each other, side by side, on recordings
// and under the losses that networks have; and makes tables for a game by letting bots play it.
//
//	host/tools/bench   {program} bench codec, {program} codec train
//	lab/codeclab       workloads, comparisons          <- here
//	codec, ...         what is compared
//
// # Workloads
//
// A workload is a schema and a recording. Bundled opens those that come with the program, Open
// others from files:
//
//	game.json   entities, fields with their ranges, classes, frames a second, and hints on what fields mean
//	match.zst   32-bit little-endian integers by frame, entity and field, plain or compressed by zstd
//
// The hints are position, velocity (each the rate of the position in the same place), angles,
// quaternion (the index of the largest component, then the other three) and reference_entity (one
// that others may be carried by). base_age is how many frames old the newest acknowledged frame is
// when one is encoded; skip frames at the start do not count. README.md in folder workloads shows a
// whole one. All values are checked against their ranges when they are read.
//
// # Comparing
//
// Compare plays a workload by several strategies. The rule is that of a real connection: a frame is
// encoded from what the receiver is known to hold, and decoded from what it does hold. Frames that
// are lost stay lost. Receivers have their own instance of the strategy, their own copy of every
// packet, and keep only frames that they decoded themselves; each is then compared with the
// original. So a strategy that cheats, by state that a lost packet would have changed or by looking
// ahead, comes out as not verified.
//
// Time is taken for what a server does for each client: encoding a frame whose images and histories
// are at hand. Strategies take turns every few frames, and the quickest of several rounds counts.
package codeclab
