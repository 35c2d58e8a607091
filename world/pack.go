package world

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// MaxPack is how many bytes an entity may take, with all that belongs to it.
const MaxPack = 1 << 20

// Pack appends an entity, or a state, to dst: all that goes with it to another world of those into
// which one was divided. That are its fields, server-only ones included, owner, name, the saved
// events about it, and the last command of its owner, to be repeated. What is not this world's own
// is not packed, and dst is returned as it is.
func (w Host) Pack(id ID, dst []byte) []byte {
	pg, s := w.find(id)
	if pg == nil || pg.away>>s&1 != 0 {
		return dst
	}
	a := &archive{data: dst[:cap(dst)], at: len(dst)}
	t := w.tables[id.Class()]
	fixed(a, &id)
	uvarint(a, &w.tick)
	a.writeSlot(w.World, t, pg, s)
	w.packOwner(a, pg.slots[s].owner)
	for k, e := range w.events {
		for i := range e.count(true) {
			if x := *e.emitted(i, true); x.About == id {
				kind := k + 1
				uvarint(a, &kind)
				a.eventName(&x)
				a.value(w.World, w.game.events[k].layout, e.syncer(i, true))
			}
		}
	}
	end := 0
	uvarint(a, &end)
	return a.data[:a.at]
}

// eventName is the name of a saved event.
func (a *archive) eventName(e *Emitted) {
	fixed(a, &e.By)
	uvarint(a, &e.Tick)
	below(a, &e.Ordinal, 1<<16)
}

// packOwner writes what an owner commanded last, or reads it into w.turns.own and the sight that is
// returned.
func (w *World) packOwner(a *archive, p Player) (there bool, seen Sight) {
	here := 0
	if !a.reading && w.Present(p) {
		here = 1
		seen = w.Sight(p)
	}
	if below(a, &here, 2); here == 0 {
		return false, seen
	}
	if w.commands != nil {
		v := w.needOwn().syncer(0)
		if !a.reading {
			v = w.commands.syncer(int(p))
		}
		a.value(w, w.game.commands.layout, v)
	}
	if w.game.rewinds > 0 {
		a.sight(&seen)
		if a.reading && a.err == nil {
			a.failIf(w.game.CheckSight(&seen))
		}
	}
	return true, seen
}

// needOwn is a command to read into.
func (w *World) needOwn() commandTable {
	if w.turns.own == nil {
		w.turns.own = w.game.commands.newTable()
		w.turns.own.resize(1)
	}
	return w.turns.own
}

// failIf is fail for what may be nil.
func (a *archive) failIf(err error) {
	if err != nil {
		a.fail(err)
	}
}

// ErrEarly says that an entity comes from a tick that this world has not come to. Use errors.Is.
var ErrEarly = errors.New("it comes from a later tick; wait until this world has come there")

// Unpack brings an entity or a state into this world that Pack has packed, and makes it this
// world's own, between ticks and at once. Its owner is present from now on. It gives the tick
// through which the entity was stepped: those since are for Catch. The data may come from a
// stranger; if it is not what Pack makes, or has no place here, nothing is changed.
func (w Host) Unpack(data []byte) (id ID, stepped Tick, err error) {
	if len(data) > MaxPack {
		return None, 0, fmt.Errorf("world: an entity of %d bytes; at most %d", len(data), MaxPack)
	}
	a := &archive{data: data, reading: true, memory: 1 << 40}
	fixed(a, &id)
	uvarint(a, &stepped)
	if a.err != nil {
		return None, 0, a.fault()
	}
	t, err := w.placeFor(id, false)
	switch {
	case err != nil:
		return None, 0, err
	case !w.settings.Divided:
		return None, 0, errWhole
	case stepped > w.tick:
		return None, 0, fmt.Errorf("world: entity %v of tick %d at tick %d: %w", id, stepped,
			w.tick, ErrEarly)
	}
	sl, image, err := w.unpackEntity(a, t, id, stepped)
	if err != nil {
		return None, 0, err
	}
	there, seen := w.packOwner(a, sl.owner)
	if there && sl.owner == Nobody {
		a.fail(errors.New("nobody commands nothing"))
	}
	events := a.at
	w.unpackEvents(a, id, false)
	if a.err == nil && a.at != len(data) {
		a.fail(fmt.Errorf("%d bytes are left over", len(data)-a.at))
	}
	if a.err != nil {
		return None, 0, a.fault()
	}
	pg, s, here := t.place(id)
	t.settle(pg, s, here, sl, t.spare, image)
	pg.touched |= 1 << s
	if there {
		w.seat(sl.owner, w.turns.own, seen)
	}
	for _, e := range w.events {
		e.disown(id)
	}
	a.at = events
	w.unpackEvents(a, id, true)
	return id, stepped, nil
}

// unpackEntity reads an entity into the spare place of its table.
func (w *World) unpackEntity(a *archive, t *table, id ID, stepped Tick) (sl slot, image []int32,
	err error) {
	state, generation := 0, uint32(0)
	below(a, &state, slotLive+1)
	below(a, &generation, lastGeneration+1)
	var ago uint32
	below(a, &sl.owner, 1<<16)
	fixed(a, &sl.by)
	below(a, &ago, 1<<32)
	below(a, &sl.ordinal, 1<<16)
	sl.tick, sl.generation = uint32(stepped)-ago, generation
	if state != slotLive || int(generation) != id.Generation() {
		a.fail(errors.New("it is not an entity"))
	}
	n := t.class.layout.Len()
	if len(w.cluster.image) < n {
		w.cluster.image = make([]int32, n)
	}
	image = a.image(w.cluster.image[:n], t.class.layout)
	if a.err != nil {
		return sl, nil, a.fault()
	}
	if err := t.read(w, nil, 0, false, image); err != nil {
		return sl, nil, fmt.Errorf("world: entity %v of class %s: %w", id, t.class.name, err)
	}
	for i := range t.class.server {
		a.server(&t.class.server[i], t.spare)
	}
	return sl, image, nil
}

// unpackEvents reads the saved events about an entity, and keeps them or only looks whether they
// can be read.
func (w *World) unpackEvents(a *archive, id ID, keep bool) {
	for a.err == nil {
		kind := 0
		if below(a, &kind, uint64(len(w.events)+1)); kind == 0 {
			return
		}
		t, info := w.events[kind-1], w.game.events[kind-1]
		e := Emitted{About: id, Kind: uint16(kind - 1)}
		if a.eventName(&e); info.delivery != Saved {
			a.fail(fmt.Errorf("event %s is not saved", info.name))
		}
		if a.value(w, info.layout, t.blank()); a.err != nil {
			return
		}
		if keep && t.count(true) < info.limit {
			t.keep(e)
		}
	}
}

// Seat has a player be present in this world, as in one that has nothing of the player's yet. The
// image is that of the last command, nil for one at rest. No hook runs: the player has joined
// elsewhere.
func (w Host) Seat(p Player, command []int32) error {
	if p == Nobody {
		return errNobody
	}
	if w.commands == nil {
		w.seat(p, nil, Sight{})
		return nil
	}
	own := w.needOwn()
	own.wipe(0)
	if command != nil {
		if err := w.game.commands.layout.Unpack(&w.sync, own.syncer(0), command); err != nil {
			return err
		}
	}
	w.seat(p, own, Sight{})
	return nil
}

func (w *World) seat(p Player, command commandTable, seen Sight) {
	if w.Present(p) {
		return
	}
	w.admitOne(p)
	if w.commands != nil && command != nil {
		w.commands.set(int(p), command, 0)
	}
	if len(w.sights) > 0 {
		w.sights[p] = seen
	}
}

// Unseat has a player be present here no more, whose entities are all elsewhere. No hook runs.
func (w Host) Unseat(p Player) {
	if w.Present(p) {
		w.unseat(p)
	}
}

// MaxCatch is how many ticks an entity can catch up with.
const MaxCatch = 8

// A late is an entity that has missed ticks between two worlds.
type late struct {
	id       ID
	ticks    int
	commands [][]int32
}

// Catch has an entity that came by Unpack be stepped alone, at the beginning of the next Step, for
// the last ticks up to the one that the world is at: those that it missed on its way. It has their
// numbers and random numbers, and sees the world as it is. What it spawns meanwhile catches up as
// well. The commands are images of those of its owner in these ticks, the oldest first; where there
// is none, nil, the last is repeated. It is no part of a saved world, so save after Step.
func (w Host) Catch(id ID, ticks int, commands ...[]int32) error {
	pg, s := w.find(id)
	switch {
	case pg == nil || pg.away>>s&1 != 0:
		return fmt.Errorf("world: entity %v is not this world's own, and has nothing to catch up "+
			"with", id)
	case ticks < 0 || ticks > MaxCatch || Tick(ticks) > w.tick || len(commands) > ticks:
		return fmt.Errorf("world: entity %v is to catch up with %d ticks, by %d commands; at most "+
			"%d", id, ticks, len(commands), MaxCatch)
	}
	for i, c := range commands {
		if c == nil {
			continue
		}
		if w.commands == nil {
			return errNoCommands
		}
		if err := w.game.commands.layout.Unpack(&w.sync, w.needOwn().syncer(0), c); err != nil {
			return err
		}
		commands[i] = slices.Clone(c)
	}
	if ticks > 0 {
		w.cluster.late = append(w.cluster.late, late{id, ticks, commands})
	}
	return nil
}

// catchUp steps those alone who have ticks to catch up with.
func (w *World) catchUp() {
	c := &w.cluster
	for i := range c.late {
		c.late[i].catch(w)
	}
	clear(c.late)
	c.late = c.late[:0]
	w.enter(None)
}

func (l *late) catch(w *World) {
	now, p := w.tick, w.Owner(l.id)
	commands := w.commands != nil && w.Present(p)
	if commands {
		w.needOwn().set(0, w.commands, int(p))
	}
	team := []ID{l.id}
	w.cluster.catching = true
	for k := range l.ticks {
		w.tick, w.cluster.spawned = now-Tick(l.ticks-k), w.cluster.spawned[:0]
		if commands {
			w.commands.repeat(int(p))
			if k < len(l.commands) && l.commands[k] != nil {
				w.commands.wipe(int(p))
				_ = w.game.commands.layout.Unpack(&w.sync, w.commands.syncer(int(p)),
					l.commands[k]) // Catch has tried
			}
		}
		for _, id := range team {
			w.stepLate(id, true)
		}
		w.enter(None)
		for _, id := range w.cluster.spawned {
			w.stepLate(id, false)
		}
		team = append(team, w.cluster.spawned...)
		slices.SortFunc(team, cmp.Compare[ID])
		team = slices.DeleteFunc(team, w.buryLate)
	}
	w.tick, w.cluster.catching = now, false
	if commands {
		w.commands.set(int(p), w.turns.own, 0)
	}
}

// stepLate steps an entity, if that is due, and quantises it as the end of a tick would.
func (w *World) stepLate(id ID, due bool) {
	t := w.tables[id.Class()]
	pg, s := t.find(id)
	if pg == nil || pg.away>>s&1 != 0 {
		return
	}
	if due && t.class.steps {
		w.enter(id)
		t.class.kind.step(t.at(pg, s), w, id)
	}
	t.quantiseOne(w, pg, s)
	pg.born &^= 1 << s
	pg.touched |= 1 << s
}

// buryLate frees the slot of one that was removed in a tick that is over.
func (w *World) buryLate(id ID) bool {
	t := w.tables[id.Class()]
	pg, s := t.find(id)
	if pg == nil || pg.dying>>s&1 == 0 {
		return pg == nil
	}
	t.buryOne(w, pg, s)
	for _, e := range w.events {
		e.disown(id)
	}
	return true
}
