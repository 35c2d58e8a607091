// Package rooms shows each client what can be seen and heard from the room that it is in:
// potentially visible sets over rooms and portals, with doors.
//
//	map ── Layout: rooms, portals, doors ──> NewPlan ──> Plan     which rooms see which if all doors are open; once for a map
//	                                                      │
//	index ── Follow, or Set and Remove ──────────────> Rooms     who is in which room, which doors are open; between ticks
//	doors ── SetDoor ──────────────────────────────────┘ │
//	                                          Sight, Hearing     sources for interest.Rules; one call for each client, on any worker
//
// A server that tells each client everything within a radius tells it who waits behind the next
// wall. Rooms tell it what the walls let through, and no more: it saves bandwidth, and what a
// client was never sent no one can read from its memory.
//
// # Use
//
//	plan, err := rooms.NewPlan(rooms.Layout{Rooms: 3, Portals: portals, Locate: roomAt})
//	r := rooms.New(plan, index, rooms.Options{})
//	rules := &interest.Rules{Sources: []interest.Source{
//		&interest.Owned{},
//		&rooms.Sight{In: r, Reach: 40},
//		&rooms.Hearing{In: r, Weight: 0.3},
//	}}
//
// and then, at each tick for which there are snapshots:
//
//	follower.Follow(w)        // the index learns where everything is
//	r.SetDoor(3, doorIsOpen)  // doors are numbered from 1
//	r.Follow(w)               // the rooms learn it from the index
//	finder.Update(&client.view, index, rules, observer)
//
// # What can be relied on
//
// Whatever there is a clear line to, through portals whose doors are open, is in a room that counts
// as seen: no walls inside of rooms are looked at, and all roundings go the same way. A test
// compares this with rays that know nothing of rooms. What is known not to be seen is not shown,
// unless it could come into sight within the client's round trip.
//
// Views depend on traits, doors, observers and the view before, as those of package interest do. An
// update of a view costs next to nothing while nothing moves in the rooms that it looks at,
// whatever goes on in others. See docs/interest.md for figures.
package rooms
