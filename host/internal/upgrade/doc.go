//go:build !js

// Package upgrade is how one program takes the place of another that serves a game, while it is
// played: what the two say to each other, and who computes.
//
//	the new one                                   the one that runs
//	Hello ─────── who it is ────────────────────> may it?
//	<──────────── Trial and World, with sockets ─ as the game is now; it is played on
//	tries to load all of it, opens its own
//	Ready ──────────────────────────────────────> stops between two ticks
//	<──────────── Final and World ─────────────── writes them down, too
//	loads them                          Yours ──> once they are durable
//	takes the baton
//	Going ──────────────────────────────────────> tells its players to come back, and ends
//
// Either says No instead, with the reason, at any time before Going.
//
// The [Baton] decides, and nothing else: it can be taken once, by one of the two. Who has it
// computes. The new one takes it when it has the last world. The one that runs takes it back if
// that lasts too long, and goes on; if it finds it taken, the other has the world. A program that
// dies closes the channel, which the other sees: so if the new one dies before it said Going, even
// with the baton, the old one goes on, and if the old one dies after it gave the last world, the
// new one does. There are never two that compute, and never none while one of them lives.
//
// What is said goes over a Unix socket in the game's folder, and the sockets go along. That is on
// Linux alone. The logic has no socket in it: tests run it over pipes and let either side die at
// every message. docs/upgrade.md tells how to use it, and has the bytes.
package upgrade
