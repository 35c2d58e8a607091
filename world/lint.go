package world

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

// A Warning is something that works but is likely not what the author meant. Worlds made with
// Settings.Develop collect them.
type Warning struct {
	Tick       Tick
	Class      string
	Field      string
	Entity     ID
	Motion     float64 // by how much the field was to change in one tick
	Resolution float64 // what its Sync method can tell apart
}

func (w Warning) String() string {
	return fmt.Sprintf(
		"%s.%s moves by %.3g a tick and its resolution is %.3g, so it does not move at all (seen "+
			"at tick %d, entity %v); choose a finer resolution, or let it come to rest",
		w.Class, w.Field, w.Motion, w.Resolution, w.Tick, w.Entity)
}

// Warnings lists what was noticed since the world was made, each field once. It is empty unless
// Settings.Develop is set.
func (w Host) Warnings() []Warning {
	if w.lint == nil {
		return nil
	}
	return slices.Clone(w.lint.warnings)
}

// scaled is a float with a resolution.
type scaled struct {
	leaf
	resolution float64
}

func scaledFields(fields []leaf, schema *bits.Schema) (out []scaled) {
	for _, l := range fields {
		if l.kind != reflect.Float64 && l.kind != reflect.Float32 {
			continue
		}
		for i := range schema.Slots {
			s := &schema.Slots[i]
			if s.Name == l.path && s.Scale > 0 &&
				(s.Kind == bits.KindFloat || s.Kind == bits.KindVec2 || s.Kind == bits.KindVec3 ||
					s.Kind == bits.KindAngle) {
				out = append(out, scaled{l, s.Scale})
			}
		}
	}
	return out
}

// A lint finds motion that quantising takes back, tick after tick: something that was to creep and
// stands still, or was to slow down to nothing and never does.
type lint struct {
	was      []float64 // the fields at hand before they were quantised
	lost     map[lintKey]lintCount
	told     map[string]bool
	warnings []Warning
}

type lintKey struct {
	id    ID
	field int
}

type lintCount struct {
	tick Tick
	n    int
	up   bool // which way it was to go
}

const (
	lintTicks = 16 // in a row and the same way, before it is worth a word: a quarter of a second
	// one of so many entities that change is written and read again each tick, to see that Sync
	// does both alike
	lintShare = 16
	// motion below this part of the resolution is noise, such as what a solver leaves
	lintLeast = 32
)

func newLint() *lint { return &lint{lost: map[lintKey]lintCount{}, told: map[string]bool{}} }

func (l *leaf) float(at unsafe.Pointer) float64 { return math.Float64frombits(l.word(at)) }

func (l *lint) before(c *ClassInfo, at unsafe.Pointer) {
	l.was = l.was[:0]
	for i := range c.scaled {
		l.was = append(l.was, c.scaled[i].float(at))
	}
}

func (l *lint) after(w *World, c *ClassInfo, id ID, past, at unsafe.Pointer) {
	for i := range c.scaled {
		f := &c.scaled[i]
		from, to := f.float(past), f.float(at)
		motion := l.was[i] - from
		if to != from || !(det.Abs(motion)*lintLeast > f.resolution) {
			continue
		}
		k := lintKey{id, i}
		n := l.lost[k]
		if n.tick+1 != w.tick || n.up != (motion > 0) {
			n.n = 0
		}
		n = lintCount{w.tick, n.n + 1, motion > 0}
		l.lost[k] = n
		if name := c.name + "." + f.path; n.n >= lintTicks && !l.told[name] {
			l.told[name] = true
			l.warnings = append(l.warnings,
				Warning{Tick: w.tick, Class: c.name, Field: f.path, Entity: id, Motion: motion,
					Resolution: f.resolution})
		}
	}
}
