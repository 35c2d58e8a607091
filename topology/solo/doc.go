// Package solo runs a game alone, on one machine and with no network at all: in real time, as fast
// as the machine can, or tick by tick.
//
// It is the base case of every game, and where one is written and tried first:
//
//	run, err := solo.New(pong.Game, solo.Options{
//		Inputs: func(t world.Tick, in *world.Inputs) { world.Give(in, 1, pong.Move{Y: keyboard()}) },
//		After:  func(w *world.World, in *world.Inputs) { draw(w) },
//	})
//	err = run.Real(ctx)
//
// Inputs gives what the players do, and After sees the world after each tick: to draw it, or to
// record it. While Real runs, other goroutines may pause it, step it and change its speed. The
// world is computed in the same ticks at any speed, so the game is the same; only the time between
// ticks changes.
package solo
