package world

// cluster is what a world has as one of several into which a larger one was divided, and for
// actions. Of it only what Settings and slots say is part of the state: the rest is of one tick.
type cluster struct {
	actions []actionTable // by kind
	acting  *Acted        // the one from elsewhere that is being done, or nil
	pen     pen
	sent    acts
	// of other allocators, and removed in the last tick
	removed  []ID
	late     []late // who has ticks to catch up with, when the next tick begins
	catching bool
	spawned  []ID    // in a tick that is caught up with
	image    []int32 // to read one into
	undone   int     // changes that were taken back
	border   *border // only CheckBorders has one
}

func (c *cluster) begin() {
	c.sent.reset()
	c.removed = c.removed[:0]
}

func (c *cluster) copyFrom(from *cluster) {
	c.sent.copyFrom(&from.sent)
	c.removed = append(c.removed[:0], from.removed...)
	c.late = append(c.late[:0], from.late...)
}

// AllocatorUse says what of an allocator there is: how many entities with its identifiers are
// here, ghosts left out, and, of the world's own, how many identifiers are taken by entities that
// were lent. An allocator can be given back if there are none in any world.
func (w Host) AllocatorUse(allocator int) (here, lent int) {
	for _, t := range w.tables {
		b := t.bank(uint16(allocator))
		if b == nil || t.class.state {
			continue
		}
		for _, pg := range b.pages {
			if pg == nil {
				continue
			}
			for s := range pg.slots {
				switch live, away := pg.live>>s&1 != 0, pg.away>>s&1 != 0; {
				case live && !away:
					here++
				case away && allocator == w.settings.Allocator &&
					pg.slots[s].generation != lastGeneration:
					lent++
				}
			}
		}
	}
	return here, lent
}

// Removed goes through the entities that were removed in the last tick and whose identifiers are of
// another allocator, so that the world that it belongs to can be told to Forget them.
func (w Host) Removed(yield func(ID) bool) {
	for _, id := range w.cluster.removed {
		if !yield(id) {
			return
		}
	}
}

// Undone is how many changes of what belongs to other servers this world has taken back since it
// was made.
func (w Host) Undone() int { return w.cluster.undone }
