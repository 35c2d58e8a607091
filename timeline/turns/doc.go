// Package turns runs a copy of a world by turns. A turn is all that goes into one tick: the command
// of each player, and who joins and leaves. Machines that execute the same turns have the same
// world, so they need to send each other nothing else.
//
// # Where it stands
//
//	topology/peers   who plays, and which turns there are
//	turns            what a command takes on the wire; a world that runs by turns
//	world            the game
//
// # What is here
//
//	Coder    a command as an item: a few bytes that say what is different from the one before
//	Stream   the items of one player, as they come in
//	Copy     a world that executes turns: only those that are known (lock step), or some beyond
//	         that with what is missing guessed, and again from there if the guess was wrong
//	         (rollback)
//	Viewer   what a screen shows of a copy: each event once, however often its tick is computed
//
// Lock step and rollback are the same machine. [Copy.SetDepth] says how many ticks may be shown
// beyond what is known: none is lock step. It can be changed at any time, by each machine for
// itself, since what is guessed is never told to anyone.
//
// # Using a copy
//
//	c, err := turns.NewCopy(w, source, turns.Options{Depth: 8})
//	...
//	c.Learn(t)                   // something of tick t is known that was not
//	err = c.Repair()             // computes again what was guessed wrong
//	went, err := c.Advance()     // shows one tick more, or has to wait
//	show(c.World())
//
// The source tells what goes into a tick, as far as it knows, and guesses the rest. The guess for a
// command is the player's last one without its edges: see world.Inputs.Repeat.
//
// # Marks
//
// Every so many ticks the copy keeps a mark: the world as it was when everything up to there was
// known, with its hash. Marks are what machines compare, what they send to someone who joins late,
// and where they go back to when it turns out that something known does not count after all.
// [Copy.Settle] says up to where that cannot happen any more.
//
// It starts no goroutine, reads no clock and knows no network.
package turns
