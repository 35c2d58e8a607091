package kept

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/world"
)

// This file is about answers that nobody can ask for again. The answer to a request is kept so that
// it is not executed twice by one who has not heard of it. Once a world is durable in which nothing
// asked up to a tick is pending, no program that goes on with it asks any of that again, and those
// answers can go.
//
// A world that was restored to an earlier moment could. So it is written down first, under the
// fence of the world, up to where answers are forgotten; whoever claims the world reads it, and
// what was asked up to there and has no answer is refused.

// pruning is how far answers are forgotten.
type pruning struct {
	done   world.Tick // up to there they are
	seen   world.Tick // a world that was seen: when it is durable,
	upTo   world.Tick // answers can be forgotten up to there
	asked  uint64     // requests and loads that were done by then
	before uint64     // and when they were forgotten last
	runs   bool
}

// pruneMargin keeps away from the tick that is being computed.
const pruneMargin = 2

// errPruned is why a request is refused whose answer may have been forgotten.
const errPruned = "the world was restored, and the answer is forgotten"

// notePrune remembers how far answers can be forgotten when this world is durable.
func (d *Desk) notePrune(w *world.World) {
	p := &d.prune
	done := d.stats.Requests + d.stats.Loads
	if !d.ready || p.runs || p.seen != 0 || done == p.before || d.opt.Prune < 0 ||
		d.tick%world.Tick(d.opt.Prune) != 0 {
		return
	}
	upTo := d.tick
	for id := range world.All[request](w) {
		upTo = min(upTo, w.Origin(id).Tick)
	}
	for i := range d.tables { // all of them, as one that asks may not have had its turn
		c := d.tables[i].class
		for id := range w.Host().Of(c.info.Number()) {
			if m := c.markOf(w.Host().Memory(id)); m.state == wanted {
				upTo = min(upTo, m.asked)
			}
		}
	}
	if upTo <= pruneMargin+p.done {
		return
	}
	p.seen, p.upTo, p.asked = d.tick, upTo-pruneMargin, done
}

// beginPrune makes a job of what was remembered, when that world is durable.
func (d *Desk) beginPrune(durable world.Tick) {
	p := &d.prune
	if p.seen == 0 || p.seen > durable || p.runs || !d.ready || !d.leads || d.fenced {
		return
	}
	j := d.job(jobPrune)
	j.tick, j.upTo, j.name.World = p.seen, p.upTo, d.world
	p.runs, p.before = true, p.asked
	d.push(j)
}

// pruneDone takes back what beginPrune has made.
func (d *Desk) pruneDone(j *Job) {
	if j.name.World != d.world || j.game != d.fence {
		return // it was another world's, or by another decree
	}
	d.stats.Prunes++
	d.prune.done = max(d.prune.done, j.upTo)
	d.prune.seen, d.prune.runs = 0, false
}

// forget writes down up to where answers are forgotten, and then forgets them.
func (j *Job) forget(ctx context.Context, s Store) error {
	if j.game.Subject != subjectOf(j.name.World) {
		return nil // another world has begun: the answers of the last seconds of this one stay
	}
	row := Row{j.prunedKey(), prunedSchema.Hash(), binary.AppendUvarint(nil, uint64(j.upTo))}
	err := s.Write(ctx, []Fence{j.game, j.executed()}, []Row{row})
	if errors.Is(err, ErrFenced) {
		_, err = j.isOld(ctx, s)
		if err == nil && !j.fenced {
			err = fmt.Errorf("%w: requests of this world", ErrFenced)
		}
		return err
	}
	if err != nil {
		return err
	}
	return s.Prune(ctx, j.name.World, j.upTo)
}

// prunedBefore is up to where answers of the world were forgotten.
func (j *Job) prunedBefore(ctx context.Context, s Store) (world.Tick, error) {
	rows, err := s.Load(ctx, []Key{j.prunedKey()})
	if err != nil || len(rows) != 1 || rows[0].Data == nil {
		return 0, err
	}
	n, _ := binary.Uvarint(rows[0].Data)
	return world.Tick(n), nil
}

// prunedKey is where it stands.
func (j *Job) prunedKey() Key { return Key{prunedClass, Thing, j.game.Subject} }

// prunedClass is the class of rows that say up to where answers of a world are forgotten.
const prunedClass = "kept.pruned"

var prunedSchema = &Schema{Class: prunedClass, Scope: Thing, leaves: []leaf{
	{path: "Tick", kind: kindUint, limits: limits{most: 1<<64 - 1}}}}
