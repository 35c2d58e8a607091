// Package quake codes entities as Quake, QuakeWorld and Quake II did, to compare with: which fields
// differ from the base, as flags, and each of these fields in whole bytes.
//
//	codec          differences, predicted and range coded
//	codec/quake3   the changed fields, Huffman coded
//	codec/doom3    the changed fields, runs of zeros shortened
//	codec/quake    the changed fields, in whole bytes    <- here
//	codec/raw      all fields
//
// By the released sources (U_MOREBITS and the other flags of an update in Quake's protocol.h) an
// update begins with a byte of flags, one of which says that more flags follow; a coordinate takes
// two bytes, an angle one. So here a byte has the flags of seven fields and one for more, and a
// field takes as many bytes as its range needs. An entity that did not change is a byte of zeros.
//
// What differs: flags stand in the order of the schema, where these games chose an order in which
// the first byte is mostly enough. What goes along with entities, such as which they are, is packed
// in bits as with the other strategies, so that a comparison shows what becomes of the images.
package quake
