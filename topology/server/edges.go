package server

import (
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A command that comes too late is of no use, except for its edges: a shot, a line of chat, of
// which the player knows that it was made. They wait here, and become part of the next commands
// that are used, one of a kind in each: so no one does more by being late than one edge a tick.
// What has waited for longer than Limits.Late is given up.

// An edgeFinder finds the edges in commands: what is not left of one when it is repeated.
type edgeFinder struct {
	in     *world.Inputs
	slots  []bits.Slot
	levels []int32
	trial  []int32
}

func newEdgeFinder(g *world.Game) (*edgeFinder, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	e := &edgeFinder{in: g.NewInputs(), slots: g.Commands().Slots}
	e.levels, e.trial = make([]int32, len(e.slots)), make([]int32, len(e.slots))
	return e, nil
}

// level makes in e.levels what is left of a command when it is repeated.
func (e *edgeFinder) level(image []int32) bool {
	const anyone = 1
	e.in.Reset()
	return e.in.GiveImage(anyone, image) == nil && e.in.Repeat(anyone) &&
		e.in.Image(anyone, e.levels)
}

// split numbers the edges of a command, from 1: edge says for each number of the image to which it
// belongs. Fields of which one is there only with another, such as a text with the word that
// something is said, are one edge. It gives how many there are.
func (e *edgeFinder) split(image []int32, edge []uint8) int {
	clear(edge)
	if !e.level(image) {
		return 0
	}
	n, fields := uint8(0), 0
	for i := range image {
		if image[i] == e.levels[i] {
			continue
		}
		if j := e.fieldBefore(i, edge); j >= 0 {
			edge[i] = edge[j]
			continue
		}
		if fields++; n < 255 {
			n++
		}
		edge[i] = n
	}
	if fields > 1 {
		e.join(image, edge)
	}
	return int(n)
}

// fieldBefore finds a number of the same field that is part of an edge, or gives -1.
func (e *edgeFinder) fieldBefore(i int, edge []uint8) int {
	for j := i - 1; j >= 0 && e.slots[j].Field == e.slots[i].Field; j-- {
		if edge[j] != 0 {
			return j
		}
	}
	return -1
}

// join makes one of edges that depend on each other: where one is taken out of the command, the
// other cannot be there.
func (e *edgeFinder) join(image []int32, edge []uint8) {
	most := slices.Max(edge)
	for p := uint8(1); p <= most; p++ {
		if !slices.Contains(edge, p) {
			continue
		}
		for i := range image {
			if e.trial[i] = image[i]; edge[i] == p {
				e.trial[i] = e.levels[i]
			}
		}
		e.in.Reset()
		whole := e.in.GiveImage(1, e.trial) == nil && e.in.Image(1, e.trial)
		for i := range edge {
			if edge[i] == 0 || edge[i] == p || whole && e.trial[i] == image[i] {
				continue
			}
			other := edge[i]
			for j := range edge {
				if edge[j] == other {
					edge[j] = p
				}
			}
		}
	}
}

// lateEdges are those of one player that wait to become part of a command.
type lateEdges struct {
	waiting []lateCommand // in order of their ticks
	spare   []lateCommand
	busy    []uint8
	merged  []int32
}

type lateCommand struct {
	tick  world.Tick
	image []int32
	edge  []uint8 // which edge each number belongs to; 0 for none, or for one that has been used
}

// mostLate bounds how many late commands wait.
const mostLate = 32

// add keeps the edges of a late command, if it has any.
func (l *lateEdges) add(e *edgeFinder, t world.Tick, image []int32) {
	if len(l.waiting) == mostLate {
		return
	}
	var c lateCommand
	if n := len(l.spare); n > 0 {
		c, l.spare = l.spare[n-1], l.spare[:n-1]
	} else {
		c = lateCommand{image: make([]int32, len(image)), edge: make([]uint8, len(image))}
	}
	if e.split(image, c.edge) == 0 {
		l.spare = append(l.spare, c)
		return
	}
	c.tick = t
	copy(c.image, image)
	at := len(l.waiting)
	for at > 0 && l.waiting[at-1].tick > t {
		at--
	}
	l.waiting = slices.Insert(l.waiting, at, c)
}

// merge gives the command for a tick with the edges that waited, each kind of which it has not
// itself; and how many late commands that made complete. What is older than the limit is given up.
// The image that it is given stays as it is; the one that it gives is good until the next call.
func (l *lateEdges) merge(e *edgeFinder, t, limit world.Tick, image []int32) (out []int32,
	done int) {
	l.waiting = slices.DeleteFunc(l.waiting, func(c lateCommand) bool {
		if c.tick+limit < t {
			l.spare = append(l.spare, c)
			return true
		}
		return false
	})
	if len(l.waiting) == 0 {
		return image, 0
	}
	l.merged = append(l.merged[:0], image...)
	l.busy = slices.Grow(l.busy[:0], len(image))[:len(image)]
	e.split(image, l.busy)
	kept := l.waiting[:0]
	for _, c := range l.waiting {
		if l.use(e, &c) {
			done++
			l.spare = append(l.spare, c)
		} else {
			kept = append(kept, c)
		}
	}
	l.waiting = kept
	return l.merged, done
}

// use takes the edges of a late command that are free, and says whether those were all.
func (l *lateEdges) use(e *edgeFinder, c *lateCommand) bool {
	all := true
	for p, most := uint8(1), slices.Max(c.edge); p <= most; p++ {
		if !l.free(e, c, p) {
			all = false
			continue
		}
		for i := range c.edge {
			if c.edge[i] == p {
				l.merged[i], l.busy[i], c.edge[i] = c.image[i], 255, 0
			}
		}
	}
	return all
}

// free says whether none of an edge's fields is an edge of the command already.
func (l *lateEdges) free(e *edgeFinder, c *lateCommand, p uint8) bool {
	for i := range c.edge {
		if c.edge[i] != p {
			continue
		}
		for j := range l.busy {
			if l.busy[j] != 0 && e.slots[j].Field == e.slots[i].Field {
				return false
			}
		}
	}
	return true
}

// reset forgets what waits.
func (l *lateEdges) reset() {
	l.spare = append(l.spare, l.waiting...)
	l.waiting = l.waiting[:0]
}
