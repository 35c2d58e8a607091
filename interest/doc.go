// Package interest decides what each client is shown: for every client a view, the set of entities
// that it is told about, with a priority for each.
//
//	world ── Follower, or Set and Remove ──> Index     one for a server, changed between ticks
//	                                           │
//	            Rules: Sources, weights ──> Finder     one for each worker, all at the same time
//	            Observer: where, how late ───┤
//	                                         View      one for each client: entries, who entered, who left
//	                                           │
//	                                         replica   snapshots, within a budget, most important first
//
// Nobody can be sent everything, and nobody should be: what a client does not know of, its owner
// cannot cheat with. So the game says what its entities are like (Traits), the rules say for which
// reasons things are shown (Sources), and a Finder finds for each client what that comes to.
//
// # Use
//
//	rules := &interest.Rules{Sources: []interest.Source{
//		&interest.Owned{Weight: 10},                                                   // one's own, wherever it is
//		&interest.Always{},                                                            // the flags
//		&interest.Limit{Max: 60, Of: &interest.Radius{Enter: 100, Leave: 120}},        // what is near, at most 60
//		&interest.Sound{Weight: 0.5},                                                  // what can be heard
//	}}
//	ix := interest.NewIndex(interest.Options{Cell: 100})
//	follower := interest.NewFollower(ix, interest.Describe(func(w *world.World, id world.ID, t *Tank) interest.Traits {
//		return interest.Traits{Pos: det.Vec3{X: t.Pos.X, Y: t.Pos.Y}, Speed: 20, Sound: t.Noise}
//	}))
//
// and then, at each tick for which there are snapshots:
//
//	follower.Follow(w)
//	// for each client, on any worker, with the worker's finder:
//	changed := finder.Update(&client.view, ix, rules, interest.Observer{Pos: eye, Speed: 20, RoundTrip: rtt, Player: p})
//	for _, e := range client.view.Entries() { ... e.ID, e.Priority ... }
//
// # Sources
//
// A view is the union of what its sources show. Radius takes hold of a thing at one distance and
// lets go at another; Sound shows what can be heard; Always, Owned and Channel show things wherever
// they are. Any, Where, Except, Limit and Relevance combine sources; Relevance asks the game
// itself, for each client and entity. A game may bring a Source of its own, such as rooms and what
// can be seen from them; the example of Source is one.
//
// To each distance is added what the entity and the client can come nearer within the client's
// round trip, so a thing is known before it comes into sight.
//
// # Priority
//
// The priority of an entry is the relevance that a source gives it (which falls with distance),
// times the importance that the game states for the entity, times the weight of its class; of
// several sources, the highest counts. It is a base: that what was not sent for long becomes more
// urgent is the business of package replica.
//
// # What can be relied on
//
// Views depend on traits, observers, rules and the view before, and on nothing else: not on the
// size of cells, the order of calls or the machine. Positions are float64, as games have them, and
// every product is rounded as package det prescribes.
//
// An update costs what is near, not what exists, and next to nothing when neither the client nor
// anything around it changed. In a steady state nothing is allocated. See docs/interest.md for
// figures, and for how it works.
package interest
