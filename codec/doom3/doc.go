// Package doom3 sends entities as DOOM III did: for each field of a changed entity a bit that says
// whether it differs from the base, followed by its whole value if it does, and then the packet's
// bits with their runs of zeros shortened.
//
// It follows J.M.P. van Waveren, "The DOOM III network architecture" (2006), sections 4.1 to 4.3:
// bit packing, delta compression against a base that both sides hold for every entity, and
// run-length compression of zero words of three bits. Package quake3 is the other classic, package
// codec what both are measured against.
//
// # The packet
//
//	entity   0 unchanged, or 1 and its fields in the order of the schema
//	field    0 unchanged, or 1 and value - min in the width of its range
//
// These bits, lowest first, are cut into words of three. A word that is not zero is sent as it is.
// Up to eight zero words in a row are sent as one zero word and one that says how many there were,
// less one. The last word is filled up with zeros; the number of bits is not sent, as whoever reads
// knows how many entities to expect.
//
// # What differs from the original
//
// DOOM III lists the numbers of the entities that it sends, 12 bits each. Here one bit for each
// entity says the same, which is shorter wherever more than one in twelve changed, and costs next
// to nothing after run-length compression where fewer did. DOOM III lets an entity's author name a
// usual value for a field, besides the base; a schema does not know one. Positions are quantised
// here as all fields are, where DOOM III sent 32-bit floats.
//
// Fields that change seldom should stand together in the schema, as the paper advises: their zeros
// then make longer runs.
package doom3
