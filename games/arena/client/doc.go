// Package client is the arena as one plays it: with Ebitengine, in the browser
// as WebAssembly and, with a build tag, in a window on the desktop.
//
//	session   the game over a network, predicted; or alone against bots
//	scene     what there is to show: camera, lights, particles, the feed
//	sprite    the pictures, computed when the program starts
//	sound     the noises, computed too
//	client    this package: draws the scene, reads keys, mouse, touch and gamepad
//	play      the program
//
// What is drawn goes through four layers, each an image of the size of the screen: the
// ground, what stands on it, the light that falls on both with what is in sight,
// and what shines by itself. A small shader puts them together. Walls rise
// towards the viewer and are drawn last, lit corner by corner.
//
// Everything that needs Ebitengine carries the build constraint
//
//	(js && wasm) || desktop
//
// so that the rest of the project builds without a C compiler or its headers:
//
//	coeval demo                                              # in the browser
//	go run -tags desktop ./games/arena/client/play --help    # in a window
package client
