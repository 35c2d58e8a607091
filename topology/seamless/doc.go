// Package seamless runs one world over several servers, whose borders nobody notices. Space is
// divided among zones; each has a world of its own of the same game, and is stepped by one server.
// What stands near a border exists next door as a ghost, and what crosses it changes its owner
// exactly once, whatever crashes.
//
//	Server ── zone.Server ── conn ──> other servers    ghosts, hand-overs, actions
//	   │           │
//	   │           └── a body for each zone: its world, what others show, who went where
//	   └── Map, Journal, Store ──> service/cluster     who has what; each zone's inputs; snapshots
//
// What makes a crossing happen once is package zone, which is pure and knows bytes. This package
// gives it the world of a game, a clock, sockets and a place to keep things.
//
// # Running one
//
// A world is started once, and divided:
//
//	plan, err := seamless.Found(ctx, seamless.FoundOptions{Title: title, Cluster: c, Zones: 8})
//
// From then on any number of servers run it, which find each other by the cluster's map and know
// each other by its key:
//
//	s, err := seamless.New(seamless.Options{Title: title, Cluster: c, Link: l, Keys: keys})
//	go s.Run(ctx)
//	player, err := s.Join(ctx)
//	s.Command(player, image)
//
// A server that ends in good order gives its zones to others; those of one that is gone are taken
// over, and go on from what the journal has.
//
// # Files
//
//	plan, borders, places    how space is divided, and where entities are
//	body, cross, look, show, outbox, players, saved    what a zone is, and a tick of it
//	node, lines, asking, directory    a server without goroutines, clock and sockets
//	orders, planner, carry, replan    borders that move: by order, in the map, in a zone
//	load, balance, pace               and by themselves
//	server, run, work                 those
//	found            how a world begins
//
// docs/seamless.md says what is guaranteed, and what is not there yet.
package seamless
