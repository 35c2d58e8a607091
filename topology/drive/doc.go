// Package drive is the one loop by which servers, clients and bots live by the clock.
//
//	Loop ── Tick ──> at every step, and hurries after time that it is a little behind
//	     ── Poll ──> a few times between two ticks, if it is set
//	     ── Stop ──> once, when the context ends; ticks go on until Done, or for Grace
//	Calls ─────────> what other goroutines ask for, between ticks
//
// All of it happens in the goroutine that calls Run, so what is driven needs no locks:
//
//	calls := &drive.Calls{}
//	err := drive.Loop{Step: game.TickLength(), Tick: s.Tick, Poll: s.Receive, Calls: calls}.Run(ctx)
//
// and from any other goroutine:
//
//	err := calls.Do(ctx, func() { s.Kick(seat, "enough") })
//
// A Loop never hurries after more than [Stall]: when the machine slept, or cannot keep up, that
// time is given up and Lost is told how much it was.
//
// Time comes from a [Clock], so that a test runs hours of it in a moment.
package drive
