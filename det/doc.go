// Package det is arithmetic that gives the same bits on every machine: on amd64 of any level,
// arm64, 386 and WebAssembly. Games that compare or repeat worlds between machines (prediction,
// lock step, mirrors, replays) compute with it.
//
// What differs between machines, and what this package does about it:
//
//   - Some processors fuse x*y + z into one operation with one rounding, and compilers use it where
//     they may. Here every product is rounded by an explicit conversion, float64(x*y), which the
//     language promises to respect. Do the same in your own formulas.
//   - The standard library's Exp, Pow and others are written in assembly for some processors. The
//     functions here are the same code everywhere. Each says how accurate it is, in ulp, units in
//     the last place, of the result; the tests measure it against long arithmetic. Correct rounding
//     is 0.5.
//   - Conversion of a float outside the integer's range is left to the processor. Int32 and its
//     siblings keep to the nearest bound.
//   - Processors make different NaNs. Functions here return one; plain operators may not, so use
//     Canon on what is hashed or sent.
//   - A stream of random numbers depends on who drew before. Draw and At give each entity, tick and
//     ordinal its own.
//
// The operators + - / and comparisons, Sqrt, and products that are rounded as above, are exact in
// the sense of IEEE 754 and need no replacement. docs/determinism.md tells the whole story, and how
// the tests prove it.
package det
