// Package pong is the smallest whole game: two paddles, a ball and a score. docs/tutorial.md builds
// it step by step. It knows nothing of networks; a paddle that no player owns plays by itself.
//
//	coeval play pong                  play it in the terminal
//	coeval play pong --check          try it for determinism
//
// Everything about a class stands next to its rules; view.go is all that a terminal needs to show
// it.
package pong
