// Package keeptest is a disk for tests of package keep: in memory, and as bad as one is told. A
// crash keeps what was synced and an arbitrary part of what was not; the disk can be full, fail,
// and say that it has flushed what it has not. All of it follows from a seed.
package keeptest
