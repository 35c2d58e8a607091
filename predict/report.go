package predict

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A Correction is an entity that turned out not to be where it was predicted.
type Correction struct {
	Tick     world.Tick // the present, when it was found out
	Entity   world.ID
	Distance float64 // in the world's units, at present
	Snapped  bool    // it jumped there, since it was too far to slide
}

// Corrections are those since they were last asked for; of very many, the first. They are good
// until the next call.
func (c *Client) Corrections() []Correction {
	c.given = append(c.given[:0], c.moved...)
	c.moved = c.moved[:0]
	return c.given
}

// Stats count what a client did.
type Stats struct {
	Snapshots     int // packets of news
	Overtaken     int // those older than one that came before
	Behind        int // those newer than anything that was predicted
	Stalls        int // times that prediction stopped because nothing was heard
	Repredictions int // times that something was predicted again
	Steps         int // ticks that were computed again for it
	Alone         int // entities that were predicted again by themselves
	Leaps         int // entities that were taken to the present in one step
	Relayed       int // commands of others that were not as expected
	Repeated      int // commands of this player that the server had to make up

	SpawnsConfirmed int // foreseen spawns that came
	SpawnsDenied    int // and that did not
}

// Stats tells what the client did so far.
func (c *Client) Stats() Stats { return c.stats }

// A ClassReport says how well the entities of one class are predicted. A class of which other
// players do not decide, and that is wrong all the same, has rules that are not deterministic, or
// look at what a client does not know; First says where to look.
type ClassReport struct {
	Class    string
	Compared int         // images that were compared with what was predicted
	Wrong    int         // of these, how many were not the same
	First    *Difference // the first of them, or nil
	Fields   []int       // by number in the image: how often it was the first to differ
}

// A Difference is a field that was predicted wrongly.
type Difference struct {
	Tick      world.Tick
	Entity    world.ID
	Field     string
	Predicted int32 // as in the image
	Actual    int32
	Scale     float64 // what one step of it is worth; 0 for what has no steps
}

func (d *Difference) String() string {
	if d.Scale > 0 {
		return fmt.Sprintf("tick %d, entity %v: %s was predicted as %g and is %g", d.Tick, d.Entity,
			d.Field, float64(d.Predicted)*d.Scale, float64(d.Actual)*d.Scale)
	}
	return fmt.Sprintf("tick %d, entity %v: %s was predicted as %d and is %d", d.Tick, d.Entity,
		d.Field, d.Predicted, d.Actual)
}

func (r *ClassReport) String() string {
	if r.First == nil {
		return fmt.Sprintf("%s: all of %d as predicted", r.Class, r.Compared)
	}
	return fmt.Sprintf("%s: %d of %d not as predicted; first, %v", r.Class, r.Wrong, r.Compared,
		r.First)
}

// differ books an image that was predicted wrongly.
func (r *ClassReport) differ(t world.Tick, id world.ID, slots []bits.Slot, was, is []int32) {
	r.Wrong++
	field := -1
	for i := range is {
		if was[i] != is[i] {
			field = i
			break
		}
	}
	if field >= 0 {
		r.Fields[field]++
	}
	if r.First != nil {
		return
	}
	r.First = &Difference{Tick: t, Entity: id, Field: "owner"}
	if field >= 0 {
		sl := &slots[field]
		r.First.Field, r.First.Predicted, r.First.Actual, r.First.Scale = sl.Name, was[field],
			is[field], sl.Scale
	}
}

// Report says how well each class is predicted, in the order of the game's definition.
func (c *Client) Report() []ClassReport {
	list := make([]ClassReport, len(c.classes))
	for i, x := range c.classes {
		list[i] = x.report
		list[i].Fields = slices.Clone(x.report.Fields)
	}
	return list
}
