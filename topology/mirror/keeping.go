package mirror

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/membership"
	"github.com/coeval-dev/coeval/world"
)

// A Keeper keeps a mirror's game on a disk of its own: the settled world, what went into each tick
// since, who sits where, and what the mirror must not forget of its group. Its methods are called
// by the goroutine that drives the mirror and must not wait for the disk, but for Begin, which may
// where a mirror has its first world.
type Keeper interface {
	// Memory is what was remembered last when the mirror was started, or nil.
	Memory() []byte
	// Kept is the game that was kept then, of the stay that is remembered, or nil.
	Kept() *keep.Kept
	// Begin is told of each world that the mirror goes on with, before its first tick. A stay that
	// is another than before has nothing to do with what was kept before; with another base, a
	// level has begun that follows what was kept. The error is that it cannot be kept.
	Begin(s *keep.Snapshot) error
	// Tick is told of each tick when it is settled.
	Tick(w *world.World, in *world.Inputs, seats []keep.Seat)
	// Durable is the last tick of a stay that a crash cannot take, as the group counts them: with
	// the base of its world. It is 0 if there is none.
	Durable(stay uint64) world.Tick
	// Hurry has all that was told by Tick be made durable at once, as somebody waits for it.
	Hurry()
	// Safe is told each time that Mirror.Safe has risen.
	Safe(world.Tick)
	// Remember begins to write what must not be forgotten, in place of what was written before,
	// and gives it a number, which grows; Remembered is up to which the disk has them.
	Remember(memory []byte) uint64
	Remembered() uint64
}

// keeping is what a mirror does for its Keeper.
type keeping struct {
	memory  membership.Memory // as the disk was given it last
	kept    *keep.Kept        // that the mirror came back with
	revival *membership.Revival
	stay    uint64 // in the group, or in the one that it tries to get into
	begun   bool   // the keeper was told of this stay's world
	err     error  // it could not take it
	known   uint64 // what is remembered, as was passed on
	vowed   uint64 // what is to be remembered of this stay's group, as it was numbered

	seats   []keep.Seat // of the last settled tick
	version uint64      // of the registry, by which those are
	changes world.Tick  // from which tick on they are others; 0 is never

	own     keptSaid      // what this mirror's disk has
	told    world.Tick    // up to which tick others were told that it has the game
	wanted  world.Tick    // up to which somebody waits for it
	repeat  bool          // they were told that it has that, and are to be told once more
	safe    world.Tick    // up to which tick all disks have the game
	waitsAt time.Duration // when it was last said for whom this mirror waits
	waits   string        // what was said then
}

// keeps says whether this mirror has a disk.
func (m *Mirror) keeps() bool { return m.opt.Keeper != nil }

// newStay gives what the next stay in a group is called.
func (m *Mirror) newStay() uint64 {
	b := append([]byte("stay"), m.opt.Seed[:]...)
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(b, m.group.tries))
	return binary.BigEndian.Uint64(sum[:]) | 1
}

// keepWorld tells the keeper of a world that this mirror goes on with.
func (m *Mirror) keepWorld(w *world.World) error {
	if !m.keeps() {
		return nil
	}
	k := &m.keeping
	k.version, k.changes = 0, 0
	k.told, k.wanted = 0, 0
	k.kept = nil
	if err := m.opt.Keeper.Begin(&keep.Snapshot{World: w, Level: m.show.level, Stay: k.stay,
		Base: m.levels.base, Seats: m.seatsAt(m.at(w))}); err != nil {
		return fmt.Errorf("the game cannot be kept: %w", err)
	}
	k.begun = true
	return nil
}

// keepTick tells the keeper of a tick that is settled.
func (m *Mirror) keepTick(w *world.World, in *world.Inputs) {
	if m.keeps() && m.keeping.begun {
		m.opt.Keeper.Tick(w, in, m.seatsAt(m.at(w)))
	}
}

// seatsAt is who sits where in the world of a settled tick. By then all is known that was decided
// up to it.
func (m *Mirror) seatsAt(t world.Tick) []keep.Seat {
	k, r := &m.keeping, m.roll.registry
	if k.version == r.version && (k.changes == 0 || t < k.changes) && k.version != 0 {
		return k.seats
	}
	k.version, k.changes, k.seats = r.version, 0, k.seats[:0]
	later := func(at world.Tick) {
		if at > t && (k.changes == 0 || at < k.changes) {
			k.changes = at
		}
	}
	for _, h := range r.list() {
		later(h.terms[0].from)
		if later(h.left); h.terms[0].from <= t && (h.left == 0 || h.left > t) {
			k.seats = append(k.seats, keep.Seat{
				Client: h.client, Player: h.player, Name: h.name, Inside: true})
		}
	}
	return k.seats
}

// lookAtDisk looks which tick this mirror's disk has, and finds out which all disks have.
func (m *Mirror) lookAtDisk() {
	k := &m.keeping
	k.own = keptSaid{}
	switch {
	case m.keeps():
		k.own = keptSaid{epoch: m.roll.epoch, what: keptUpTo}
		if k.begun {
			k.own.tick = m.opt.Keeper.Durable(k.stay)
		}
	case slices.ContainsFunc(m.peers, func(p *peer) bool { return p.kept.what == keptUpTo }):
		k.own = keptSaid{epoch: m.roll.epoch, what: keptNothing}
	default:
		return // nobody asks
	}
	was := k.safe
	if m.findSafe(); k.safe != was && m.keeps() {
		m.opt.Keeper.Safe(k.safe)
	}
}

// sayKept puts into a packet what this mirror's disk has. Every packet says it, so that it does not
// matter which of them are lost.
func (m *Mirror) sayKept(h *header) {
	k := &m.keeping
	if h.disk = k.own.what != 0; !h.disk {
		return
	}
	h.kept = k.own
	h.kept.tick = min(h.kept.tick, h.promise)
	k.repeat = k.told < k.wanted && h.kept.tick >= k.wanted
	k.told = h.kept.tick
}

// Hurry has what is settled be flushed, and the others told, sooner than they are otherwise: for a
// request that waits for Safe. All mirrors know of it at about the same time, as they settle the
// same, so each does it by itself and none has to be asked.
func (m *Mirror) Hurry() {
	if m.keeps() && m.keeping.begun {
		m.keeping.wanted = m.stats.Settled
		m.opt.Keeper.Hurry()
	}
}

// news says whether somebody waits for what this mirror's disk has since the last packet. It is
// said twice, as the first packet may be lost.
func (k *keeping) news() bool {
	return k.repeat || k.told < k.wanted && k.own.tick >= k.wanted
}

// findSafe finds out which tick all disks of the group have. Each member counts, also one that has
// just come and has no world yet: then whoever comes back has it, as a voter that was given a world
// was given one that is as late. What was said under another roster does not count.
func (m *Mirror) findSafe() {
	t := world.Tick(maxTick)
	if m.keeps() {
		t = m.keeping.own.tick
	}
	for _, id := range m.group.node.Group().Members() {
		if id == m.roll.self {
			continue
		}
		p := m.peers.of(id)
		if p == nil || p.kept.epoch != m.roll.epoch || p.kept.what == 0 {
			return
		}
		if p.kept.what == keptUpTo {
			t = min(t, p.kept.tick)
		}
	}
	if t != maxTick {
		m.keeping.safe = max(m.keeping.safe, t)
	}
}

// keptSaid is what a mirror says of its disk: under which roster, and up to which tick it has the
// game.
type keptSaid struct {
	epoch uint32
	what  byte
	tick  world.Tick
}

// What a mirror says of its disk.
const (
	keptNothing byte = 1 // it has none
	keptUpTo    byte = 2
)

// fields reads or writes it. The tick is no later than the packet's promise.
func (s *keptSaid) fields(c *bits.Cursor, promise world.Tick) {
	bits.Number(c, &s.epoch, math.MaxUint32)
	var behind uint64
	if s.what == keptUpTo {
		behind = 1 + uint64(promise-s.tick)
	}
	bits.Number(c, &behind, 1+uint64(promise))
	if s.what = keptNothing; behind > 0 {
		s.what, s.tick = keptUpTo, promise+1-world.Tick(behind)
	}
}

// Safe is the tick up to which every mirror that keeps the game has it on its disk: whatever
// crashes, the group goes on from there or later.
func (m *Mirror) Safe() world.Tick { return m.keeping.safe }

// Kept says whether the settled world is one that the keeper was told of.
func (m *Mirror) Kept() bool { return m.keeping.begun && m.line != nil && !m.life.broken() }

// Waits says for whom a mirror waits that has come back after a crash, or nothing.
func (m *Mirror) Waits() string {
	if r := m.keeping.revival; r != nil && m.roll.self == 0 {
		return r.Waits()
	}
	return ""
}

// seated is a registry of those who sat in a world that was kept. Nobody speaks for them until they
// turn up, or the überserver takes them over.
func seated(overlap, t world.Tick, seats []keep.Seat) *registry {
	r := newRegistry(overlap)
	for _, s := range slices.Backward(seats) {
		if !s.Inside || s.Empty {
			continue
		}
		h := &holding{player: s.Player, client: s.Client, name: s.Name, terms: []term{{t, 0}}}
		r.players[h.player], r.clients[h.client] = h, h
	}
	r.version++
	return r
}
