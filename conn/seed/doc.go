// Package seed turns a seed of 32 bytes into as many random bytes as are wanted: the same seed
// gives the same bytes, on every machine.
//
//	crypto/rand, or a test ──32 bytes──▶ Reader ──▶ nonces, keys, identifiers, delays
//
// Pure packages draw no randomness of their own. Whoever drives them gives them a seed: from
// crypto/rand in a program that runs, a fixed one in a simulation that has to repeat.
//
// The bytes are AES-256 in counter mode with the seed as its key, so without the seed nobody can
// tell them from random ones. Never use one seed for two readers.
package seed
