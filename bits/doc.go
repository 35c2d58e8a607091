// Package bits turns values into bits and back: bit streams, and one Sync method per structure that
// both reads and writes it.
//
// It is the lowest of the networking packages. It knows nothing of packets, connections or
// entities, and can be used alone:
//
//	a game's struct ── Sync ──┬── Writer, Reader    bit streams: commands, events, messages
//	                          ├── UniformEncoder    the same without wasted fractions of bits (package entropy)
//	                          └── Layout, image     whole numbers, one slot each: what package codec takes differences of
//
// # One method
//
// A structure names its networked fields once, with their ranges:
//
//	type Tank struct {
//		Pos     det.Vec2
//		Turret  det.Angle
//		Health  int
//		Burning bool
//		Heat    int
//		Shells  []Shell
//	}
//
//	func (t *Tank) Sync(s *bits.Sync) {
//		s.Vec2(&t.Pos, 0, 1024, 1.0/32)
//		s.Angle(&t.Turret, 10)
//		s.Int(&t.Health, 0, 100)
//		if s.Bool(&t.Burning) {
//			s.Int(&t.Heat, 0, 10)
//		}
//		bits.Slice(s, &t.Shells, 8, (*Shell).Sync)
//	}
//
// The same method writes (StartWrite), reads (StartRead), codes and decodes (StartEncode,
// StartDecode), brings each field to the nearest value that can be sent (StartQuantise), and
// through a Layout makes and reads images. Errors stick: look at Err once, at the end.
//
// A branch may depend on fields that were synced before it, and on nothing else. In a stream the
// fields of a branch not taken take no bits. In an image each field keeps its slots whichever
// branches are taken, since a Layout knows a field by its place in the struct. Reading leaves the
// fields of a branch not taken as they were.
//
// A value that is not in the struct itself, such as a local variable that holds a converted form of
// a field, can be synced as well. In images such values are told apart by kind, range and order;
// NewLayout refuses those that cannot be.
//
// # Quantisers
//
// Each is idempotent, to the last bit: a value that was sent is a value that can be sent exactly.
// So a server that replaces its own values by the quantised ones (Layout.Settle) holds what its
// clients hold. Arithmetic is the same on every machine. With the width in bits and the worst
// error:
//
//	Bool                        1                             exact
//	Int, Int8 ... Uint64        bits of max-min               exact; beyond the range, the nearer end
//	Integer, Enum               the same, for types of the game's own
//	Varint, Uvarint             5 for each 4 bits needed      exact
//	Float, Float32              bits of (max-min)/res         res/2
//	Vec2, Vec3, Vec2In, Vec3In  the same for each component   res/2 each
//	SmallFloat                  1 + exponent + mantissa       1 part in 2^(mantissa+1)
//	FullFloat, FullFloat32      64, 32                        exact
//	Angle                       n                             π/2^n
//	Direction                   2n                            2.2/(2^(n-1)-1) radians
//	CoarseDirection             9                             13.3 degrees
//	Quat                        2 + 3n                        2.6/(2^(n-1)-1) radians of turn
//	String, Bytes               bits of limit + 8 a byte      exact; cut at the limit
//	Slice                       bits of limit + the elements  cut at the limit
//	Optional                    1 + the value if there is one
//
// Floats that are not numbers become zero or what in the range is nearest to zero; infinities
// become the ends of the range. With SetStrict, for development, that is an error which names the
// field.
//
// # The order of bits
//
// This is part of the protocol. A stream is a sequence of bits; bit i of the stream is bit i mod 8
// of byte i div 8, where bit 0 of a byte is the least significant. A value of width w takes the
// next w bits of the stream, its least significant bit first. The last byte is filled up with zero
// bits. Put differently: values are packed from the least significant bit of little-endian words
// upwards.
//
// A number in min..max is the unsigned value v-min in as many bits as max-min has, none if they are
// equal. Every field is made of such numbers: those of a vector, direction or quaternion follow
// each other in the order of their slots; a number too large for one slot is still one number in a
// stream. A Uvarint of d hexadecimal digits (one for zero) is d-1 one bits, a zero bit, and the
// number in 4d bits; a Varint is the Uvarint of 2v for v from zero up and of -2v-1 below. Strings,
// byte slices and slices are their length in 0..limit, and then their bytes or elements.
//
// Every value has exactly one form; readers refuse all others. A Reader takes data from anyone: it
// never reads past the end, never panics, and allocates no more than the data or the limits allow.
//
// # Images
//
// An image is an []int32 with one number, or slot, or several for each field; the Schema says what
// each is, and its least and greatest value. A range coder can code each as one of Max-Min+1
// equally likely values at worst. Slots of branches not taken, and of elements and bytes beyond the
// length, hold the value nearest to zero in their range (Slot.Absent), so that equal entities have
// equal images.
package bits
