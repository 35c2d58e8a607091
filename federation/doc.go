// Package federation lets simulations that know nothing of each other share objects and time, as
// ALSP and the six groups of services of the High Level Architecture describe it.
//
// # Where it stands
//
//	a program            carries calls and notices between machines
//	federation           who is told what, who owns what, and what time it is for whom
//	federation/overlap   which regions of updates and of subscriptions meet
//
// An [Execution] is the one place where all calls come together, so it is a machine without
// goroutines, clocks and sockets: a call goes in, and notices come out. A program that carries
// them lets federates be on other machines; a test needs none.
//
// # The services
//
//	the federation   [Execution.Join], [Federate.Resign], [Federate.RegisterPoint],
//	                 [Federate.RequestSave], [Federate.RequestRestore]
//	declaration      [Federate.Publish], [Federate.Subscribe], and the same of interactions;
//	                 [Execution.Extend] adds to the classes while all runs
//	objects          [Federate.Register], [Federate.Update], [Federate.Send], [Federate.Delete],
//	                 [Federate.Request]
//	ownership        [Federate.Offer], [Federate.Confirm], [Federate.Divest], [Federate.Acquire],
//	                 [Federate.Release], [Federate.Refuse]; of each attribute singly
//	time             [Federate.EnableRegulation], [Federate.EnableConstraint],
//	                 [Federate.AdvanceTo], [Federate.AdvanceToNext], [Federate.Flush],
//	                 [Federate.Retract]
//	distribution     [Federate.CreateRegion], [Federate.Commit], [Federate.Associate]
//
// docs/federation.md says what each means, and where that differs from the standard.
//
// # Driving one
//
//	x := federation.New(model, federation.Options{Patience: 10 * time.Second})
//	f, err := x.Join("radar")
//	...                                // calls of federates, one after the other
//	x.Tick(now)                        // now and then
//	for n, ok := f.Next(); ok; n, ok = f.Next() {
//		// tell the federate; n is good until the next call of Next
//	}
//
// # What can be relied on
//
// All calls are in one order, and so is what comes of them. Nobody is granted a time before the
// last message below it was delivered, and nobody is given the past. An attribute has one owner or
// none, at every moment, whoever asks. A federate that keeps nobody's rules is told so, counted,
// and put out; the others go on. What it may have in memory is bounded by [Options].
package federation
