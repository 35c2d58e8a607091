// Package raw sends entities by bit packing alone: one bit says whether an entity changed, and all
// fields of one that did follow, each in as few bits as its range needs.
//
// It is what any game can do without thinking about what its entities are like, and so the measure
// of the other strategies: bytes saved and time spent count from here. It stands beside them:
//
//	codec          differences, predicted and range coded
//	codec/quake3   the changed fields, Huffman coded
//	codec/doom3    the changed fields, runs of zeros shortened
//	codec/raw      all fields                            <- here
//
// The packet is a stream of package bits: for each entity in the order of Put a 1 and value-min for
// each field in the order of the schema, in the number of bits that max-min takes, or a 0. Glenn
// Fiedler's "Reading and writing packets" and the section on bit packing of J.M.P. van Waveren's
// "The DOOM III network architecture" (2006) describe the same.
//
// Layouts, where each field of a schema gets its width, serves the other two as well, which start
// from packed fields too.
package raw
