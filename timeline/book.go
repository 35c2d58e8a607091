package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// A Book holds what came in, by tick, from the first tick that may have to be executed again to the
// last that may be stamped by now.
type Book struct {
	game    *world.Game
	base    world.Tick // ticks up to this one are gone
	pages   []page     // the tick after base and those that follow, in a ring
	check   *world.Inputs
	image   []int32
	extra   extra   // of the last command that was checked
	present []int32 // the image of the command that is there
	keep    bool    // keep what gave way as well, since what it gave way to may be struck out
}

type page struct {
	tick   world.Tick
	in     *world.Inputs
	gives  []stamp // of in.Players, in the same order
	joins  []stamp // of in.Joins
	leaves []stamp // of in.Leaves
	tells  []tellStamp

	entries []entry // if the book keeps them: all that came, in the order of compare
	gave    []entry // if it does not: what gave way to another; see withdraw
	dropped bool    // there was more of that than is kept
	images  []int32 // of entries or gave
}

// A tellStamp is the stamp of something told.
type tellStamp struct {
	told  world.Told
	stamp stamp
}

// An entry is something that came, whether it counts or not; its image stands in images.
type entry struct {
	kind  Kind
	stamp stamp
	at    int
	extra
}

// extra is what a command has beside its image, or in place of one.
type extra struct {
	sight world.Sight
	shown bool
	told  world.Told
	data  []byte
}

func (c *Command) extra() extra { return extra{c.Sight, c.Shown, c.Told, c.Data} }

func newBook(g *world.Game, base world.Tick, ticks int) *Book {
	b := &Book{game: g, base: base, pages: make([]page, ticks), check: g.NewInputs()}
	for i := range b.pages {
		b.pages[i].in = g.NewInputs()
	}
	if s := g.Commands(); s != nil {
		b.image, b.present = make([]int32, len(s.Slots)), make([]int32, len(s.Slots))
	}
	return b
}

// End is the last tick that the book has room for.
func (b *Book) End() world.Tick { return b.base + world.Tick(len(b.pages)) }

// trim gives up all ticks up to one.
func (b *Book) trim(base world.Tick) { b.base = max(b.base, base) }

// At gives what a tick is told as far as it has come.
func (b *Book) At(t world.Tick) *world.Inputs { return b.page(t).in }

// Image is that of the last command that was checked, in the form that every mirror gives it.
func (b *Book) Image() []int32 { return b.image }

// KeepAll lets the book keep what gave way as well, so that Strike can bring it back.
func (b *Book) KeepAll() { b.keep = true }

// page gives the page of a tick, after base and up to End.
func (b *Book) page(t world.Tick) *page {
	p := b.slot(t)
	if p.tick != t {
		p.tick = t
		p.clear()
		p.entries, p.images = p.entries[:0], p.images[:0]
		p.gave, p.dropped = p.gave[:0], false
	}
	return p
}

// slot is where the page of a tick stands, or will.
func (b *Book) slot(t world.Tick) *page { return &b.pages[int(t%world.Tick(len(b.pages)))] }

func (p *page) clear() {
	p.in.Reset()
	p.gives, p.joins, p.leaves, p.tells = p.gives[:0], p.joins[:0], p.leaves[:0], p.tells[:0]
}

// valid tries whether a command is one of the game's, and brings its image into the form that every
// mirror gives it; b.image is good until the next call.
func (b *Book) valid(c *Command) error {
	b.extra = c.extra()
	switch {
	case c.Kind > Tell:
		return fmt.Errorf("timeline: command of unknown %v", c.Kind)
	case c.Kind == Promise:
		return nil
	case c.Kind == Tell:
		if err := b.game.CheckTold(c.Told, c.Data); err != nil {
			return fmt.Errorf("timeline: from mirror %d for tick %d: %w", c.Origin, c.Tick, err)
		}
		return nil
	}
	if c.Player == world.Nobody {
		return fmt.Errorf("timeline: %v by player 0, who is nobody; players count from 1", c.Kind)
	}
	if c.Kind != Give {
		return nil
	}
	b.check.Reset()
	if err := b.check.GiveImage(c.Player, c.Image); err != nil {
		return fmt.Errorf("timeline: command of player %d from mirror %d for tick %d: %w", c.Player,
			c.Origin, c.Tick, err)
	}
	if !b.check.Image(c.Player, b.image) {
		return fmt.Errorf(
			"timeline: command of player %d from mirror %d for tick %d cannot be packed again",
			c.Player, c.Origin, c.Tick)
	}
	if !c.Shown {
		b.extra.sight = world.Sight{}
		return nil
	}
	if err := b.check.Show(c.Player, c.Sight); err != nil {
		return fmt.Errorf("timeline: player %d from mirror %d for tick %d: %w", c.Player, c.Origin,
			c.Tick, err)
	}
	return nil
}

// put takes a valid command in, to be executed at a tick that is mostly its own. It says what
// became of it, without regard to time, and whether two different ones had the same stamp; those
// are told apart by their images, so that even then all mirrors choose the same.
func (b *Book) put(c *Command, tick world.Tick) (f Fate, conflict bool, err error) {
	p := b.page(tick)
	if b.keep {
		p.keep(c.Kind, c.stamp(), b.image, b.extra)
	}
	return b.enter(p, c.Kind, c.stamp())
}

// enter lets a page say what it says with one thing more; the image of a command is in b.image.
func (b *Book) enter(p *page, kind Kind, m stamp) (f Fate, conflict bool, err error) {
	switch kind {
	case Join:
		return come(p.in.Joins(), &p.joins, m, p.in.Join), false, nil
	case Leave:
		return come(p.in.Leaves(), &p.leaves, m, p.in.Leave), false, nil
	case Tell:
		return b.tell(p, m)
	}
	i, found := slices.BinarySearch(p.in.Players(), m.player)
	if found {
		order := m.compare(p.gives[i])
		p.in.Image(m.player, b.present)
		there, shown := p.in.Sight(m.player)
		if order == 0 {
			order = cmp.Or(slices.Compare(b.image, b.present), boolCompare(b.extra.shown, shown),
				b.extra.sight.Compare(&there))
			if order == 0 {
				return Duplicate, false, nil
			}
			conflict = true
		}
		if order < 0 {
			b.giveWay(p, Give, m, b.image, b.extra)
			return Superseded, conflict, nil
		}
		b.giveWay(p, Give, p.gives[i], b.present, extra{sight: there, shown: shown})
		p.gives[i] = m
	} else {
		p.gives = slices.Insert(p.gives, i, m)
	}
	err = p.in.GiveImage(m.player, b.image)
	if err == nil && b.extra.shown {
		err = p.in.Show(m.player, b.extra.sight)
	}
	return OnTime, conflict, err
}

// tell lets a page say what is told in b.extra.
func (b *Book) tell(p *page, m stamp) (f Fate, conflict bool, err error) {
	told := b.extra.told
	i, found := slices.BinarySearchFunc(p.tells, told,
		func(a tellStamp, t world.Told) int { return a.told.Compare(t) })
	if found {
		order := m.compare(p.tells[i].stamp)
		if order == 0 {
			if order = slices.Compare(b.extra.data, p.in.Telling(told)); order == 0 {
				return Duplicate, false, nil
			}
			conflict = true
		}
		if order < 0 {
			b.giveWay(p, Tell, m, nil, b.extra)
			return Superseded, conflict, nil
		}
		b.giveWay(p, Tell, p.tells[i].stamp, nil,
			extra{told: told, data: slices.Clone(p.in.Telling(told))})
		p.tells[i].stamp = m
	} else {
		p.tells = slices.Insert(p.tells, i, tellStamp{told, m})
	}
	return OnTime, conflict, p.in.Tell(told, b.extra.data)
}

// boolCompare orders no before yes.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// come lets a player join or leave once. If several mirrors say so, the highest of them is
// remembered for it.
func come(list []world.Player, stamps *[]stamp, m stamp, add func(world.Player)) Fate {
	i, found := slices.BinarySearch(list, m.player)
	if found {
		if m.compare((*stamps)[i]) > 0 {
			(*stamps)[i] = m
		}
		return Duplicate
	}
	*stamps = slices.Insert(*stamps, i, m)
	add(m.player)
	return OnTime
}

// keep remembers something, of each mirror and player the last of each kind.
func (p *page) keep(kind Kind, m stamp, image []int32, x extra) {
	if kind != Give {
		image = nil
	}
	i, found := slices.BinarySearchFunc(p.entries, entry{kind: kind, stamp: m, extra: x},
		entry.compare)
	if !found {
		p.entries = slices.Insert(p.entries, i, entry{kind, m, len(p.images), x})
		p.images = append(p.images, image...)
		return
	}
	e := &p.entries[i]
	old := p.images[e.at : e.at+len(image)]
	if order := cmp.Or(m.compare(e.stamp), slices.Compare(image, old),
		boolCompare(x.shown, e.shown), x.sight.Compare(&e.sight),
		slices.Compare(x.data, e.data)); order > 0 {
		e.stamp, e.extra = m, x
		copy(old, image)
	}
}

// compare orders entries by what there is one of each.
func (e entry) compare(o entry) int {
	return cmp.Or(cmp.Compare(e.stamp.player, o.stamp.player), cmp.Compare(e.kind, o.kind),
		cmp.Compare(e.stamp.origin, o.stamp.origin), e.told.Compare(o.told))
}

// Strike takes out what a mirror said for ticks after one, so that what had given way to it counts
// again. It tells the first tick that says something else by that, or 0. KeepAll must have been
// called before anything came.
func (b *Book) Strike(from member.ID, after world.Tick) (first world.Tick) {
	for n := max(b.base, after) + 1; n <= b.End(); n++ {
		p := b.slot(n)
		before := len(p.entries)
		if p.tick != n {
			continue
		}
		p.entries = slices.DeleteFunc(p.entries,
			func(e entry) bool { return e.stamp.origin == from })
		if len(p.entries) == before {
			continue
		}
		first = cmp.Or(first, n)
		p.clear()
		for _, e := range p.entries {
			if b.extra = e.extra; e.kind == Give {
				copy(b.image, p.images[e.at:])
			}
			if _, _, err := b.enter(p, e.kind, e.stamp); err != nil {
				panic(err) // it was valid when it came
			}
		}
	}
	return first
}

// newer is the first tick after a command's own, and not after another, for which there is a
// command of the same player; or 0.
func (b *Book) newer(c *Command, until world.Tick) world.Tick {
	if c.Kind != Give {
		return 0
	}
	for n := c.Tick + 1; n <= until; n++ {
		if p := b.page(n); Listed(p.in.Players(), c.Player) {
			return n
		}
	}
	return 0
}

// list goes through all that stands in the book for ticks after one.
func (b *Book) list(after world.Tick, yield func(Command) bool) {
	image := make([]int32, len(b.image))
	for n := after + 1; n <= b.End(); n++ {
		if p := b.slot(n); p.tick == n && !p.list(image, yield) {
			return
		}
	}
}

// list goes through a page: what counts, or, if all was kept, all that came.
func (p *page) list(image []int32, yield func(Command) bool) bool {
	tell := func(kind Kind, m stamp, image []int32, x extra) bool {
		return yield(Command{Kind: kind, Tick: m.tick, Origin: m.origin, Seq: m.seq,
			Player: m.player, Image: image, Sight: x.sight, Shown: x.shown, Told: x.told,
			Data: x.data})
	}
	for _, e := range p.entries {
		var of []int32
		if e.kind == Give {
			of = image[:copy(image, p.images[e.at:])]
		}
		if !tell(e.kind, e.stamp, of, e.extra) {
			return false
		}
	}
	if len(p.entries) > 0 {
		return true
	}
	for _, m := range p.leaves {
		if !tell(Leave, m, nil, extra{}) {
			return false
		}
	}
	for _, m := range p.joins {
		if !tell(Join, m, nil, extra{}) {
			return false
		}
	}
	for _, t := range p.tells {
		if !tell(Tell, t.stamp, nil, extra{told: t.told, data: p.in.Telling(t.told)}) {
			return false
		}
	}
	for _, m := range p.gives {
		p.in.Image(m.player, image)
		sight, shown := p.in.Sight(m.player)
		if !tell(Give, m, image, extra{sight: sight, shown: shown}) {
			return false
		}
	}
	return true
}
