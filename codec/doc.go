// Package codec turns the images of entities into packets: as differences from
// images that the receiver is known to hold, in as few bits as it can.
//
//	world    images: []int32 per entity
//	  |
//	codec    History (what the receiver holds) + image  ->  packet  ->  image
//	  |
//	entropy  a range coder
//
// What is coded may depend on three things only: the Model, which belongs to
// the game and is the same for every client; the History of each entity, images
// that the receiver acknowledged; and what came earlier in the same packet. So
// a lost packet costs nothing but its own content, packets can be decoded in any
// order, and a server keeps no coding state for its clients.
//
// Numbers are predicted before they are coded. A predictor is a short weighted
// sum of features: how the number moved between acknowledged images, its
// velocity, what the fields coded before it turned out to be. A second sum, over
// logarithms, gives the size that the error should have, and that size picks the
// distribution under which the error is coded. Fields that are set rather than
// moved come first, because what they say (it bounced, it was hit) selects the
// weights for the rest. All arithmetic is in integers. docs/codec.md explains
// the method and shows what it reaches.
//
// To use it, describe the game's images in a Schema, and make a Model of it: by
// Default from the schema alone, or by LoadTables from tables that Train made
// of recordings (coeval codec train). Then fill packets with an Encoder and read
// them with a Decoder:
//
//	enc.Begin(buf)
//	for _, e := range view {
//		if !enc.Put(e.class, e.history, e.image) {
//			break // full: what is left goes into the next packet
//		}
//	}
//	packet, err := enc.Finish()
//
// What goes into packets can be gathered in Samples (Encoder.Take), of which Learn
// makes compact tables while a game runs.
//
// Other strategies behind the same interface, for comparison: codec/raw,
// codec/quake3 and codec/doom3.
//
// An image must be within the ranges of its schema when it is encoded; bits and
// world see to that. Decoders take any bytes and stay within the ranges.
package codec
