// Package world is the contract between a game and everything that runs it: classes of entities,
// commands, events, and a world that can be stepped, copied, compared and saved.
//
// A game is written as if one person played it on one machine. It knows ticks, commands, entities
// and events; it knows no sockets and no clients. The same code then runs alone, on a server, ahead
// of the server on a client, on mirrors, and in a replay:
//
//	your structs ── Sync, Step ──> Define ──> Game ──> New ──> World ── Step(Inputs) ──> World at the next tick
//	                                                             ├── images    to package replica, for clients
//	                                                             ├── CopyFrom  to package predict and timeline, to go back
//	                                                             └── Hash, Save, Fields   to package trace and to tools
//
// # A game
//
// An entity is a plain struct. Sync names every networked field with its range; Step says what it
// does each tick:
//
//	type Tank struct {
//		Pos    det.Vec2
//		Turret det.Angle
//		Health int
//	}
//
//	func (t *Tank) Sync(s *bits.Sync) {
//		s.Vec2(&t.Pos, 0, 1024, 1.0/32)
//		s.Angle(&t.Turret, 10)
//		s.Int(&t.Health, 0, 100)
//	}
//
//	func (t *Tank) Step(w *world.World, me world.ID) {
//		cmd := world.Command[Drive](w, me)
//		t.Turret = cmd.Aim
//		t.Pos = t.Pos.MulAdd(cmd.Aim.Vec(), 20*cmd.Gas*w.Seconds())
//		if cmd.Fire {
//			world.Spawn(w, Shell{Pos: t.Pos, Vel: t.Turret.Vec().Mul(60)})
//			world.Emit(w, me, Fired{})
//		}
//		if t.Health == 0 {
//			w.Remove(me)
//		}
//	}
//
//	var Game = world.Define("tanks",
//		world.Class[Tank](),
//		world.Class[Shell](world.ClassOptions{Limit: 500}),
//		world.State[Score](),
//		world.Local[Spark](),
//		world.Commands[Drive](),
//		world.Event[Fired](),
//		world.OnJoin(func(w *world.World, p world.Player) { w.SetOwner(world.Spawn(w, Tank{Health: 100}), p) }),
//	)
//
// All that Step may use: Get, All, Count and StateOf to look around; Command; Spawn, Remove,
// SetOwner and Emit; Act, StateID and Ghost; Sees and Strike; Rand and Secret; Decides; Tick and
// Seconds. With package det for mathematics, that is the whole of it.
//
// # The rules
//
// What is sent is what is true. At the end of each tick every synced field is replaced by its own
// quantised value, on every machine. A client that is sent an image holds exactly what the server
// holds, and what it predicts from there is exactly what the server will compute. Choose
// resolutions fine enough to play on.
//
// A field that Sync leaves out says why, by a tag; one that does not is an error when the game
// starts:
//
//	Path   [8]det.Vec2 `world:"server"`   // clients do without it: on a client it is zero
//	Corner det.Vec2    `world:"derived"`  // the method Derive() sets it from synced fields, after each tick and each reading
//	Level  int         `world:"synced"`   // Sync handles it through another value
//
// Where Sync has a branch (if s.Bool(&t.Burning) { ... }), the fields of a branch not taken are
// zero at the end of the tick.
//
// Who is there does not change during a tick. What is spawned can be looked up at once, but All
// finds it and it steps only from the next tick on; what is removed is there until the end of the
// tick. So it does not matter who steps first, except that entities step in order of identifier,
// class after class in the order of Define, and see what those before them did.
//
// An entity may not be there. On a client most are not: Get gives nil, All leaves them out.
// CheckHidden proves that a game copes.
//
// Chance belongs to entities. Rand depends on the seed, the entity that steps, the tick and how
// many numbers that entity drew before, so it is the same for whoever computes that entity. Secret
// is for what players must not foresee: a stream of a cipher, of which clients do not have the key.
//
// What a client cannot know is left to the machine that decides. A rule may ask w.Decides(), which
// is false where the world is predicted from a part: who dies, and where they appear again, waits
// for the server's word.
//
// What is done to another is an action. In a world that is divided among servers the other may be a
// ghost: here to be looked at, and owned elsewhere. Act does it where the other is; in one world it
// is a call. A state is at home on one server; what it gathers to work with, by a method Gather, is
// there on each. CheckBorders proves that a game can be divided, and docs/borders.md has the rest.
//
// Local entities are only looked at. What is declared by Local, such as sparks, exists on clients
// alone and is no part of the world: rules spawn it and cannot see it, its own Step may look at
// everything and change nothing else, and whoever draws finds it by All.
//
// Commands have levels and edges. If a player's command is missing the last one is used again, but
// fields tagged `world:"edge"` are zero then. Others are told the levels of those whom they see,
// but for fields tagged `world:"private"`.
//
// All that comes from outside is an input. Beside joins, leaves and commands these are what players
// were shown, by which shots are judged (see Rewinder and Sees), knobs, answers, messages and
// content (see Knob, Answer, Message and OnContent). So recordings, mirrors and copies that go back
// come to the same.
//
// Memory is plain. Entities stand in pages that never move, so a pointer is good until the end of
// the tick. Whether one changed is found by comparing memory with that of the last tick; no one
// marks anything. A world is copied as memory is; a class with slices, maps or pointers must have a
// method CopyFrom. Strings are fine.
//
// # Running it
//
// Package topology/solo runs a game alone. By hand it is:
//
//	w, err := Game.New(world.Settings{Seed: 1})
//	in := Game.NewInputs()
//	in.Join(1)
//	world.Give(in, 1, Drive{Gas: 1})
//	err = w.Host().Step(in)
//
// Set Settings.Develop while developing: values out of range become errors that name class and
// field, and Warnings lists motion that is too small for its resolution. CheckRollback and
// CheckHidden belong into the tests of every game, CheckBorders into those of one that is to be
// divided.
//
// See docs/world.md for the costs, and docs/tutorial.md for a game built step by step.
package world
