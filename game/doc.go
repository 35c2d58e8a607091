// Package game says what a title is: a game's rules, and beside them what a program must know to
// play, serve, join, mirror and measure it. It is the one place where an author says so, once.
//
//	rules (package world) ──┐
//	levels, sight, bots ────┼── Title ──┬── topology/solo, client, server, mirror
//	drawing, control ───────┘           ├── host: a program with every command
//	hints, in each class                └── lab: what each architecture costs
//
// A title needs its rules and nothing else:
//
//	var Title = &game.Title{Game: Game}
//
// More is said where it belongs. What is true of the whole game stands in the Title:
//
//	var Title = &game.Title{
//		Game: Game, About: "tanks in the dust",
//		Sight:   game.Sight{Reach: 60},
//		Bot:     game.Bots(newBot),
//		Screen:  game.Screen{Draw: show},                                    // package draw
//		Control: game.Controls(func(in *game.Input) Drive { return drive(in) }),
//	}
//
// What is true of a class stands in the class's own file, beside Sync and Step, in optional
// methods. So a new class touches one file.
//
//	func (t *Tank) Hints(h *game.Hints) {  // once, on a zero value: fields are named by pointers
//		h.Heading(&t.Turret)           // an angle that is smoothed as the place is
//		h.Body(1.5)                    // what a player moves about in
//	}
//
//	Traits(w, me) interest.Traits          // what interest management sees of an entity
//	Look(w, me) interest.Observer          // from where its owner looks at the world
//	TakenOver(w, me) bool                  // clients go on with it by themselves
//	Lives() (life int, alive bool)         // of what comes and goes without being removed
//
// Check reports all mistakes together, when a program starts: a hint that points to a field which
// is not synced, a method whose arguments are wrong and which would never be called, a class that
// contradicts itself.
//
// The package is pure. Nothing in it knows a socket, and a game that imports it compiles none.
package game
