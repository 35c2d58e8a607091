// Package quake3 sends entities as Quake III Arena did: the fields of a changed entity up to the
// last that differs from the base, a bit for each to say whether it does, and whole bytes by a
// static Huffman code.
//
// It follows the source that id Software released in 2005, where MSG_WriteDeltaEntity and
// MSG_WriteBits do this, and the description of snapshots in J.M.P. van Waveren's "The DOOM III
// network architecture" (2006). Package doom3 is the other classic, package codec what both are
// measured against.
//
// # The packet
//
//	entity   0 unchanged, or 1, how many fields there are up to the last changed one (8 bits), and those
//	field    0 unchanged, or 1 and its value
//	value    0 for the field's zero, or 1 and value - min in the width of its range
//	number   the bits that make no whole byte as they are, lowest first; then each byte by its Huffman code
//
// A field that ranges over all 32 bits and is not Discrete is what Quake III keeps as a float. As
// there, one more bit then chooses between 13 bits, for a value near zero, and all 32. Narrower
// fields would lose by it, since every value would pay for the bit.
//
// # What differs from the original
//
// Quake III names each entity that it sends, in 10 bits, and adds two flags. Here one bit for each
// entity says whether it changed, which is shorter wherever more than one in twelve did. As in
// Quake III all entities are compared with one acknowledged snapshot, which is what
// History.Images[0] of each comes from; older images are not looked at. Its Huffman code was made
// from games of Quake, and this package's from recordings of the bundled workloads; Options takes
// another.
//
// Fields that change often should come first in the schema, since nothing is sent for those after
// the last that changed.
package quake3
