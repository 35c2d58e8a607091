package timeline

import (
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// Overdue commands are those that came after a copy of the world had passed their ticks, until the
// copy's next tick executes them. It is not their place, but better than to know that somebody
// turned round and let them run on.
type Overdue struct {
	items  []belated
	images []int32
}

// A belated is one of them; its image stands in images.
type belated struct {
	kind   Kind
	stamp  stamp
	at, n  int32
	latest bool
	extra
}

// mostLate bounds what a mirror that comes back after a long silence can pile up. What is beyond it
// waits for the repair.
const mostLate = 4096

// Empty says that there are none.
func (l *Overdue) Empty() bool { return len(l.items) == 0 }

// Reset forgets them.
func (l *Overdue) Reset() { l.items, l.images = l.items[:0], l.images[:0] }

func (l *Overdue) copyFrom(o *Overdue) {
	l.items = append(l.items[:0], o.items...)
	l.images = append(l.images[:0], o.images...)
}

// Add keeps a command in the order of its stamp among the others. Of each player, only the latest
// command and the latest coming or going matter, and of what is told only the latest of each.
func (l *Overdue) Add(c *Command, image []int32) {
	b := belated{kind: c.Kind, stamp: c.stamp(), latest: true, extra: c.extra()}
	for i := range l.items {
		o := &l.items[i]
		if o.stamp.player != c.Player || (o.kind == Give) != (c.Kind == Give) || !o.latest ||
			o.told != c.Told {
			continue
		}
		if later(o, &b) {
			return
		}
		o.latest = false
	}
	if len(l.items) == mostLate {
		l.sweep()
	}
	if len(l.items) == mostLate {
		return
	}
	if c.Kind == Give {
		b.at, b.n = int32(len(l.images)), int32(len(image))
		l.images = append(l.images, image...)
	}
	l.items = append(l.items, b)
}

// addAll keeps all that another has.
func (l *Overdue) addAll(o *Overdue) {
	for i := range o.items {
		if b := &o.items[i]; b.latest {
			c := Command{Kind: b.kind, Tick: b.stamp.tick, Origin: b.stamp.origin,
				Seq: b.stamp.seq, Player: b.stamp.player, Sight: b.sight, Shown: b.shown,
				Told: b.told, Data: b.data}
			l.Add(&c, o.images[b.at:b.at+b.n])
		}
	}
}

func later(a, b *belated) bool {
	if a.stamp.tick != b.stamp.tick {
		return a.stamp.tick > b.stamp.tick
	}
	if a.kind != b.kind {
		return a.kind == Join // who leaves and joins in one tick leaves first
	}
	return a.stamp.compare(b.stamp) > 0
}

// sweep drops what later ones stand in for. Images stay until all is executed.
func (l *Overdue) sweep() {
	l.items = slices.DeleteFunc(l.items, func(b belated) bool { return !b.latest })
}

// Merge makes in what a tick is to be told: what is in its own page, and before that, of those who
// have nothing there, what came late. It says whether that is anything else than the page.
func (l *Overdue) Merge(in, page *world.Inputs) bool {
	if err := in.CopyFrom(page); err != nil {
		panic(err) // they are of one game
	}
	more := false
	for i := range l.items {
		b := &l.items[i]
		if !b.latest {
			continue
		}
		p := b.stamp.player
		switch b.kind {
		case Join:
			if !Listed(page.Leaves(), p) {
				in.Join(p)
				more = true
			}
		case Leave:
			if !Listed(page.Joins(), p) {
				in.Leave(p)
				more = true
			}
		case Give:
			if !Listed(page.Players(), p) && in.GiveImage(p, l.images[b.at:b.at+b.n]) == nil {
				more = true
				if b.shown {
					_ = in.Show(p, b.sight) // it was checked when it came
				}
			}
		case Tell:
			if page.Telling(b.told) == nil && in.Tell(b.told, b.data) == nil {
				more = true
			}
		}
	}
	l.Reset()
	return more
}

// Listed says whether a player is in a list that is in order.
func Listed(list []world.Player, p world.Player) bool {
	_, found := slices.BinarySearch(list, p)
	return found
}
