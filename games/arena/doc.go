// Package arena is a fast shooter seen from above: rooms, corridors and doors, rockets that throw
// people about, a rail gun, things to pick up, teams, chat, and bots. It is what the demo shows,
// what the lab measures, and the example of a game that uses most of what package world has. It
// knows nothing of networks.
//
//	match.go    the round: map, terms, score         fighter.go  who runs, bumps and dies        weapon.go, hit.go, shot.go  what hurts
//	pickup.go, door.go, sheet.go                     the rest of the world                       event.go, command.go        what goes out and what comes in
//	map.go, parse.go, outline.go, registry.go        maps: text, geometry, which there are       scene.go, walk.go           rays and feet against walls and doors
//	visible.go  what an eye sees, for drawing        interest.go what a server shows to whom     bot*.go, nav.go             players of flesh and wire
//
// # To play
//
//	settings, err := arena.Settings("foundry", arena.Options{Seed: 1, Teams: true})
//	w, err := arena.Game.New(settings)
//	bot := arena.NewBot(7)
//	in.Join(1)
//	world.Give(in, 1, bot.Think(w, 1))
//
// # To draw
//
// Everything is plain data. The Map has Walls, Floors, Pits, Rooms and Portals; entities are
// structs with positions; events say what to show and sound once. A Scene is the map with its doors
// as they stand, and an Eye gives the region that can be seen from a point, for shadows. One unit
// is about a metre, X grows to the right and Y downward, angles grow from X toward Y.
//
// # To serve
//
// Interest finds what each client is shown. Rewind lets a server judge the rail gun by what the
// shooter saw. A client that lacks the map of its world finds Match.Level nil: it asks for the text
// by Match.Map, parses and registers it, and goes on.
//
// # What is kept out of the world
//
// A map is static, so worlds hold only its hash; Match finds the map itself by that, as a derived
// field. What a tick is computed with, such as who stands in which part of the map, hangs on the
// Match as well, is made anew each tick from the entities, and is neither copied, saved, sent nor
// hashed. docs/arena.md tells more, and has the format of maps.
package arena
