package timeline

import (
	"slices"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// This file is about commands that came and do not count after all. When a mirror is gone, the
// others agree on what counts of it by what they hold, and one that was not asked may hold more.

// numbered are the commands of a mirror whose numbers are from first to last.
type numbered struct {
	origin      member.ID
	first, last uint32
}

func (s *numbered) has(m stamp) bool {
	return m.origin == s.origin && m.seq >= s.first && m.seq <= s.last
}

// Withdraw says that it could not be done: most timelines keep too little of what came.
func (c *Core) Withdraw(member.ID, uint32, uint32) bool { return false }

// Withdraw takes back what a mirror commanded with numbers from one to another. Copies that have
// executed some of it are repaired as if it had been late to be known that it does not count.
func (t *Trailing) Withdraw(from member.ID, first, last uint32) bool {
	s := numbered{from, first, last}
	ticks, ok := t.Book.withdraw(&s)
	if !ok {
		return false
	}
	for i := range t.past.kept {
		t.past.kept[i].late.withdraw(&s)
	}
	for i, c := range t.trails {
		c.late.withdraw(&s)
		for _, n := range ticks {
			switch {
			case c.w.Tick() < n:
			case i == 0 && t.past.reaches(c, n):
				t.past.spoil(n)
			default:
				c.doubt(n)
			}
		}
	}
	return true
}

// withdraw takes some commands out.
func (l *Overdue) withdraw(s *numbered) {
	l.items = slices.DeleteFunc(l.items, func(b belated) bool { return s.has(b.stamp) })
}

// mostGave bounds what a page keeps of what gave way. A player has one command a tick unless it
// moves from one mirror to another just then.
const mostGave = 256

// giveWay remembers what another command of the same tick stands in for, as long as that may be
// withdrawn.
func (b *Book) giveWay(p *page, kind Kind, m stamp, image []int32, x extra) {
	switch {
	case b.keep: // it stands in entries
	case len(p.gave) == mostGave:
		p.dropped = true
	default:
		p.gave = append(p.gave, entry{kind, m, len(p.images), x})
		p.images = append(p.images, image...)
	}
}

// withdraw takes commands out, so that what had given way to them counts again. It gives the ticks
// that say something else by that. It is false where it is not known what had given way, and for
// who came or went: then nothing is changed.
func (b *Book) withdraw(s *numbered) (ticks []world.Tick, ok bool) {
	if b.keep {
		return nil, false
	}
	for n := b.base + 1; n <= b.End(); n++ {
		p := b.slot(n)
		if p.tick != n {
			continue
		}
		if slices.ContainsFunc(p.joins, s.has) || slices.ContainsFunc(p.leaves, s.has) {
			return nil, false
		}
		if slices.ContainsFunc(p.gives, s.has) ||
			slices.ContainsFunc(p.tells, func(t tellStamp) bool { return s.has(t.stamp) }) {
			if p.dropped {
				return nil, false
			}
			ticks = append(ticks, n)
		}
	}
	for n := b.base + 1; n <= b.End(); n++ {
		if p := b.slot(n); p.tick == n {
			p.gave = slices.DeleteFunc(p.gave, func(e entry) bool { return s.has(e.stamp) })
		}
	}
	for _, n := range ticks {
		b.without(b.slot(n), s)
	}
	return ticks, true
}

// without lets a page say again what it would say without some commands.
func (b *Book) without(p *page, s *numbered) {
	var all []Command
	p.list(make([]int32, len(b.image)), func(c Command) bool {
		c.Image, c.Data = slices.Clone(c.Image), slices.Clone(c.Data)
		all = append(all, c)
		return true
	})
	for _, e := range p.gave {
		c := Command{Kind: e.kind, Tick: e.stamp.tick, Origin: e.stamp.origin, Seq: e.stamp.seq,
			Player: e.stamp.player, Sight: e.sight, Shown: e.shown, Told: e.told, Data: e.data}
		if e.kind == Give {
			c.Image = slices.Clone(p.images[e.at : e.at+len(b.image)])
		}
		all = append(all, c)
	}
	p.clear()
	p.gave, p.images = p.gave[:0], p.images[:0]
	for i := range all {
		c := &all[i]
		if s.has(c.stamp()) {
			continue
		}
		copy(b.image, c.Image)
		b.extra = c.extra()
		if _, _, err := b.enter(p, c.Kind, c.stamp()); err != nil {
			panic(err) // it was valid when it came
		}
	}
}
