package mirror

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/member"
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
	// is another than before has nothing to do with what was kept before. The error is that it
	// cannot be kept.
	Begin(stay uint64, w *world.World, l game.Level, seats []keep.Seat) error
	// Tick is told of each tick when it is settled.
	Tick(w *world.World, in *world.Inputs, seats []keep.Seat)
	// Durable is the last tick of a stay's world that a crash cannot take, or 0.
	Durable(stay uint64) world.Tick
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

	seats   []keep.Seat // of the last settled tick
	version uint64      // of the registry, by which those are
	changes world.Tick  // from which tick on they are others; 0 is never

	told    item          // that others were told last about what is durable
	toldAt  time.Duration // when
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
	k.kept = nil
	if err := m.opt.Keeper.Begin(k.stay, w, m.show.level, m.seatsAt(w.Tick())); err != nil {
		return fmt.Errorf("the game cannot be kept: %w", err)
	}
	k.begun = true
	return nil
}

// keepTick tells the keeper of a tick that is settled.
func (m *Mirror) keepTick(w *world.World, in *world.Inputs) {
	if m.keeps() && m.keeping.begun {
		m.opt.Keeper.Tick(w, in, m.seatsAt(w.Tick()))
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

const (
	keptEvery = 250 * time.Millisecond // how often others are told what is durable
	keptAgain = time.Second            // if it is what they were told
)

// tellKept tells the others which tick this mirror's disk has, and finds out which all disks have.
func (m *Mirror) tellKept() {
	k, now := &m.keeping, m.clock.steady
	if !m.keeps() && !slices.ContainsFunc(m.peers,
		func(p *peer) bool { return p.kept.what == keptUpTo }) {
		return // nobody asks
	}
	it := item{kind: itemKept, epoch: m.roll.epoch, what: keptNothing}
	if m.keeps() {
		it.what = keptUpTo
		if k.begun {
			it.tick = m.opt.Keeper.Durable(k.stay)
		}
	}
	same := it.epoch == k.told.epoch && it.tick == k.told.tick
	if since := now - k.toldAt; since >= keptAgain || since >= keptEvery && !same {
		k.told, k.toldAt = it, now
		m.queue(it)
	}
	m.findSafe(it.tick)
}

// findSafe finds out which tick all disks of the group have. Each member counts, also one that has
// just come and has no world yet: then whoever comes back has it, as a voter that was given a world
// was given one that is as late. What was said under another roster does not count.
func (m *Mirror) findSafe(own world.Tick) {
	t := world.Tick(maxTick)
	if m.keeps() {
		t = own
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

// hearKept takes what another mirror says of its disk.
func (m *Mirror) hearKept(from member.ID, it *item) {
	if p := m.peers.of(from); p != nil {
		p.kept = keptSaid{it.epoch, it.what, it.tick}
	}
}

// keptSaid is what a mirror has said of its disk.
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
