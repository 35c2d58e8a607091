// Package linktest holds the tests that every [link.Link] must pass. A carrier's
// own test says how to open it and calls Run:
//
//	func TestLink(t *testing.T) {
//		linktest.Run(t, linktest.Carrier{
//			Open: func(t testing.TB) (link.Link, func() linktest.Client) { ... },
//		})
//	}
//
// They move batches of all sizes between a server and many clients, overfill
// queues, close and wake from other goroutines, compare every counter with what was
// really moved, and look for goroutines left behind. Run them with the race
// detector too.
package linktest
