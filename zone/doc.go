// Package zone is what makes an entity cross a border exactly once, whatever crashes. A world is
// divided among zones; each is computed by one server, and a server has several. A [Server] is the
// part of one of them: a machine that knows zones, ticks, journals and other servers, and of the
// game only a [Body] that it gives bytes.
//
//	commands, arrivals,      ┌──────── zone ────────┐       ghosts ──> at once
//	actions, ghosts ───────> │ Body.Step: next tick │ ────> hand-overs, actions, events
//	                         └──────────────────────┘             │ outbox
//	                                    │ record                  │
//	                                    v                         v
//	                                 journal ── acknowledged ──> sent, until it is taken
//
// # A zone is its journal
//
// A body is deterministic, so a zone is what went into its ticks. Each tick's input and output are
// part of a record, appended behind the record before it and no other. Whoever has a snapshot and
// the records behind it has the zone.
//
// # What leaves when
//
// What a zone shows others, its ghosts, leaves at once and may turn out never to have happened.
// Hand-overs, actions on others' entities and events leave when the journal has acknowledged the
// tick that they are of. [Durable] tells how far that is, for all that whoever drives the machine
// wants to hold back too, such as what is written to a store and answered then.
//
// # Hand-overs
//
// From each zone to each other there is a numbered stream. An entity is taken out of a zone and put
// into the stream in one record. It is sent when that is acknowledged, and again until the other
// zone says that it has it, which it says when the record that took it in is acknowledged. Numbers
// are taken in order and once. So after any crash both say it again, and nobody counts it twice;
// there is nothing to prepare and nobody to ask. An action on an entity that has moved on follows
// it, in the stream by which it left.
//
// # Ticks
//
// Tick n is due n lengths after the cluster's zero, in all zones. Servers follow the clock that is
// furthest ahead. The source computes an entity up to tick t, the target takes it in at a later
// tick and first computes it alone for those between, which are none if the record was acknowledged
// and the message came within a tick, and at most [MaxMissed]. A zone that was down computes the
// ticks that it missed; none is left out.
//
// # Taking over
//
// A server is taken for dead when it is neither seen in the map nor heard directly for a second,
// while whoever looks gets its own writes through: when the map is away, nobody is dead. Then the
// epoch is raised in the map, and an empty record of that epoch is appended. From then on nothing
// that the old owner appends is taken, since it expects another last record, so it does not matter
// whether it was dead. Clocks decide when that is tried, never who owns a zone.
//
// # Buddies
//
// With [Options.Buddies] a record is durable, too, when one of two other servers has it in memory,
// and all before it that the journal lacks. The map names them. That is made use of while the
// journal is slow: effects leave then, and the journal follows. Whoever takes a zone over that has
// buddies asks two of the three who hold its records, before it fences the journal. They take no
// more of the owner before, and tell what they hold, which is appended to the journal. So it does
// not matter which two: any two of three have all that has left.
//
// # What may fail
//
// Operations may fail, be refused although they are right, be in doubt for seconds, and be done
// late. What is appended or set is tried with the same bytes and the same expectation until it is
// known to be there, or that something else is. If a body panics, its zone is begun again: its
// commands are dropped, and what came into that tick is tried one at a time. What fails alone too
// is set aside, in the zone's snapshots, and told. A zone that is begun too often within a few
// seconds, by whichever servers, is halted in the map, and told.
//
// # Driving one
//
// One goroutine owns a Server. It calls Tick by its Deadline, Receive for what comes, Done for what
// operations came to, and after each call takes what there is:
//
//	for _, op := range s.Ops() {
//		// have it done, by whichever goroutine; all appends of one turn in one batch
//	}
//	for _, m := range s.Messages() {
//		// send m.Data to m.To
//	}
//	for _, n := range s.Notices() {
//		// tell clients, the operator, the store
//	}
//
// Each operation is answered by Done once, with [Doubt] if it takes too long. A zone begins with
// the snapshot that [Found] makes, in the store under its key, and an empty [Assignment] in the map
// under its [ZoneKey]. Servers find it there.
//
// # Limits
//
// All that is kept is bounded. While a peer takes nothing, at most 16384 items for it are kept;
// then it is [Input.Closed], and what would cross waits on this side. While the journal takes
// nothing, a zone computes up to 1024 ticks that may never have happened, and then stands still.
//
// The bytes are specified in docs/protocol.md; package zone/zonetest tries all of it against
// faults, and zone/zonetest/audit reads the journals afterwards without using any of this code.
package zone
