// Package client is the arena as one plays it: in the browser as WebAssembly and,
// with a build tag, in a window on the desktop.
//
//	session   the game over a network, predicted; or alone against bots
//	scene     what there is to show: camera, lights, particles, the feed
//	sprite    the pictures, computed when the program starts
//	sound     the noises, computed too
//	client    this package: draws the scene, and makes controls of what the player does
//	play      the program
//
// A frame is drawn on a draw.Surface, and so needs no graphics library. It is made for screens that
// have none but a processor: the ground is drawn once and copied. The light that falls on it, with
// what is in sight, is a small image that is computed here, and that the ground is multiplied by.
// Then come the things that are in sight, what shines by itself, and the walls, which rise towards
// the viewer.
package client
