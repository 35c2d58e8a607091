// Package tell tells an exercise of simulators what happens in a coeval game: every entity that is
// seen and has a type there is an entity of the exercise, told by the rules of DIS.
//
//	a client that watches -> world -> Teller -> Entity State PDUs
//
// Which class is which type is said beside the class, by a method that needs nothing of this
// package:
//
//	func (*Tank) DIS() string { return "1.1.225.1.1.3.0" }
//
// or by a mapping, where the game is somebody else's. What a game knows of a place is enough:
// velocities and headings are those that its entities show from tick to tick.
//
// It is one way: what is in the exercise does not come into the game.
package tell
