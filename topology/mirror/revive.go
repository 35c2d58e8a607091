package mirror

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/membership"
)

// This file is how mirrors come back after a crash: one by one to the others, as newcomers; or, if
// most of them died, all together with the world that they kept. Which of the two it is a mirror
// does not know at first, so it tries both at once.

// recall takes what the keeper has kept, and says whether this mirror comes back.
func (m *Mirror) recall() (back bool, err error) {
	k := &m.keeping
	if !m.keeps() {
		return false, nil
	}
	k.kept = m.opt.Keeper.Kept()
	b := m.opt.Keeper.Memory()
	sum := sha256.Sum256(append([]byte("mark"), m.opt.Seed[:]...))
	k.memory.Mark = uint64(sum[0]) | 1
	for _, x := range sum[1:8] {
		k.memory.Mark = k.memory.Mark<<8 | uint64(x)
	}
	if b == nil {
		return false, nil
	}
	mem, err := membership.ReadMemory(b)
	if err != nil {
		return false, fmt.Errorf("mirror: %w: put a copy of the folder in its place, name "+
			"another folder to join the others without what is kept here, or have this mirror "+
			"found the game anew from it", err)
	}
	if m.opt.Revival.Anew {
		k.memory = membership.Memory{Mark: mem.Mark}
		return false, nil
	}
	k.memory = *mem
	k.revival = m.newRevival(mem)
	return true, nil
}

// newRevival makes what finds the others that come back.
func (m *Mirror) newRevival(mem *membership.Memory) *membership.Revival {
	o := membership.RevivalOptions{Memory: *mem, Addr: m.opt.Address, Doors: m.opt.Ask,
		Keys: m.opt.Keys, Patience: m.opt.Revival.After, Remember: m.rememberRevival}
	o.Seed = sha256.Sum256(append([]byte("revival"), m.opt.Seed[:]...))
	if k := m.keeping.kept; k != nil {
		o.World, o.Tick, o.Hash = true, uint64(k.Base+k.World.Tick()), k.World.Hash()
	}
	return membership.NewRevival(o)
}

// rememberRevival has the disk take this mirror's part in a revival.
func (m *Mirror) rememberRevival(mem *membership.Memory) uint64 {
	m.keeping.memory = *mem
	return m.opt.Keeper.Remember(mem.Append(nil))
}

// rememberStay has the disk take what this mirror must not forget as a member.
func (m *Mirror) rememberStay(mem *membership.Memory) uint64 {
	k := &m.keeping
	mem.Mark, mem.Stay = k.memory.Mark, k.stay
	k.memory = *mem
	if k.revival == nil {
		k.revival = m.newRevival(mem)
	}
	k.revival.Live(mem)
	k.vowed = m.opt.Keeper.Remember(mem.Append(nil))
	return k.vowed
}

// outOfGroup is told that this mirror is out of the group, and joins anew. It knows what was
// decided, but its world is not what the others go on with.
func (m *Mirror) outOfGroup() {
	m.group.anew = membership.Anew{}
	if r := m.keeping.revival; r != nil {
		m.keeping.kept = nil
		r.Returns(false, 0, 0)
	}
}

// hearReturning takes what is for the revival out of a batch.
func (m *Mirror) hearReturning(batch []link.Datagram) []link.Datagram {
	r := m.keeping.revival
	return slices.DeleteFunc(batch, func(d link.Datagram) bool {
		if !membership.Ours(d.Data) {
			return false
		}
		if r != nil {
			r.Receive(m.clock.steady, d.Addr, d.Data)
		}
		return true
	})
}

// comeBack does what is due for a mirror that keeps the game: it passes on what the disk has, and
// if this mirror was chosen to begin the game again, it does.
func (m *Mirror) comeBack() error {
	k := &m.keeping
	if !m.keeps() {
		return nil
	}
	if n := m.opt.Keeper.Remembered(); n != k.known {
		k.known = n
		m.group.council.Remembered(n)
		if k.revival != nil {
			k.revival.Remembered(n)
		}
	}
	r := k.revival
	if r == nil {
		return k.err
	}
	if m.roll.self != 0 {
		r.Touch(m.group.council.Quorum())
		if m.life.state == cutOff && k.known >= k.vowed && !m.halt.over() &&
			r.Needed(m.clock.steady, m.group.council.Near) {
			return m.giveUp()
		}
		return k.err
	}
	r.Tick(m.clock.steady)
	if f, ok := r.Decided(); ok && r.Founds() && k.kept != nil && m.life.state == joining {
		return m.revive(f)
	}
	m.askFounder()
	m.sayWaits()
	return k.err
}

// giveUp has this mirror, which stands still, leave a group of which most have died, as those who
// came back are enough with it. It has its world as if it had crashed at this moment.
func (m *Mirror) giveUp() error {
	k := &m.keeping
	var kept *keep.Kept
	if m.goesOn() && k.begun {
		s, err := m.Present()
		if err != nil {
			return err
		}
		s.Stay = k.stay
		kept = &keep.Kept{Snapshot: *s, From: s.World.Tick()}
	}
	m.spoil("most of the others have died, and those who came back need this mirror to go on",
		m.clock.steady)
	m.life.to(joining)
	m.reset()
	m.outOfGroup()
	if k.kept = kept; kept != nil {
		k.revival.Returns(true, uint64(kept.Base+kept.World.Tick()), kept.World.Hash())
	}
	return m.join()
}

// askFounder has this mirror ask where others are who came back, if it did not know of them.
func (m *Mirror) askFounder() {
	f, ok := m.keeping.revival.Decided()
	if g := &m.group; ok && f.Addr.IsValid() && f.Addr != m.opt.Address &&
		!slices.Contains(m.opt.Ask, f.Addr) && !slices.Contains(g.met, f.Addr) {
		g.met = append(g.met, f.Addr)
		if err := m.join(); err != nil {
			m.tell(News{Kind: Refused, Text: err.Error(), Err: err})
		}
	}
}

// waitsEvery is how often a mirror says for whom it waits.
const waitsEvery = 30 * time.Second

// sayWaits says for whom this mirror waits, when that changes and now and then.
func (m *Mirror) sayWaits() {
	k, now := &m.keeping, m.clock.steady
	if now < 2*time.Second { // at first nobody is there
		return
	}
	if text := k.revival.Waits(); text != k.waits || now-k.waitsAt >= waitsEvery {
		k.waits, k.waitsAt = text, now
		m.tell(News{Kind: Returning, Text: text})
	}
}

// revive begins the game again, with the world that was kept here, as those who came back have
// decided.
func (m *Mirror) revive(f membership.Founding) error {
	k := &m.keeping
	kept := k.kept
	m.reset()
	m.group.anew = membership.Anew{Group: k.memory.Group, Epoch: f.Epoch, ID: f.ID}
	if err := m.join(); err != nil {
		return err
	}
	k.stay = kept.Stay // its chapters go on
	m.tell(News{Kind: Revived, Mirror: f.ID, Tick: kept.Base + kept.World.Tick()})
	return m.goOnWith(&kept.Snapshot)
}

// goOnWith begins with a world that was kept. Those who sat in it come back to their players.
func (m *Mirror) goOnWith(s *keep.Snapshot) error {
	was := m.show.level
	m.show.level, m.levels.base = s.Level, s.Base
	w := s.World.Host().Clone()
	t := m.at(w)
	id := max(m.group.anew.ID, founder)
	m.roll.self, m.roll.uber, m.roll.final = id, id, t
	m.roll.registry = seated(m.roll.registry.overlap, t, s.Seats)
	m.roll.reclaimAt = m.clock.steady + reclaimAfter
	m.clock.set(time.Duration(t) * m.game.TickLength())
	if err := m.openLine(w, nil); err != nil {
		return err
	}
	m.in.started, m.in.from, m.in.promise, m.in.stamp = true, t, t, t+1
	m.stats.Settled = t
	if err := m.openServer(); err != nil {
		return err
	}
	if err := m.takeLevel(&was); err != nil {
		return err
	}
	return m.keepWorld(m.line.Settled())
}
