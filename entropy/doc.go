// Package entropy makes messages as short as their information is. It stands on package bits, and
// below the snapshot codec:
//
//	codec        which values to send, and how probable each is
//	entropy      what a value with that probability costs   <- here
//	bits  det    values as bits
//
// # The range coder
//
// Encoder and Decoder turn symbols and their probabilities into bytes, at a cost of
// log2(1/probability) bits each, with no rounding to whole bits. One stream takes, in any order,
//
//   - symbols of a static distribution, by the caller's cumulative frequencies: EncodeFreq
//   - decisions with a model that learns, a Bit, and what is built of it: EncodeBit, EncodeTree,
//     EncodeUnary, EncodeUint, EncodeInt
//   - decisions with a given chance: EncodeChance
//   - numbers from 0 to n-1 for any n, all equally likely, without waste: EncodeUniform
//   - raw bits: EncodeBits
//
// The decoder makes the same calls in the same order, with models in the same state. Nothing
// allocates.
//
// An Encoder writes into the buffer it is given and notes when that is full. Len says at any time
// how long the stream would be, and Mark and Rewind take back what did not fit, so that a packet is
// filled to its last byte. A finished stream ends at most one byte after its information does; a
// Decoder takes what is missing as zeros, which is why it must be given exactly the bytes that
// Finish returned.
//
// # Whole messages
//
// A Coder works on messages of bytes. ZeroRuns is DOOM III's run-length code, Huffman a static code
// made from recordings, AdaptiveHuffman one that learns as it goes, and Adaptive the range coder
// behind the same interface. The first three also work on parts of a stream of package bits.
//
// # Hostile input
//
// Every decoder may be given anything. Results stay within the bounds asked for, memory within the
// limit given, and an error wraps ErrCorrupt. A corrupt range-coded stream usually decodes to wrong
// values for a while before it is noticed, and one whose last bytes changed may not be noticed at
// all: code lengths and counts with limits, look at Err in every loop, and protect packets by a
// checksum or an authenticated cipher.
package entropy
