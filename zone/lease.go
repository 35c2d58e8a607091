package zone

import "errors"

// MaxAllocators is how many allocators of identifiers a cluster has, numbered from 1: what an
// identifier has room for, without that of worlds that predict (world.Predicted). Each zone
// needs one to spawn with, and one whose numbers live on is held: with 4094 there can be no more
// zones than that, and fewer after many merges.
const MaxAllocators = 4094

// AllocatorsKey is where the map has who leased which allocator.
const AllocatorsKey = "allocators"

// ErrAllocators says that all allocators are leased. Give back those of which nothing lives, or
// merge no more zones until something of theirs has died.
var ErrAllocators = errors.New(
	"zone: all 4094 allocators are leased; return those whose entities are all gone")

// Allocators says which zone has leased which allocator of identifiers. Change a copy of what the
// map has, and write that if the map's revision is still the same. When it is in doubt whether it
// was written, read it back: Of says what a zone has.
type Allocators struct {
	holders [MaxAllocators + 1]ID // by number; 0 for none
}

// Lease gives a zone the lowest allocator that nobody has.
func (a *Allocators) Lease(id ID) (number int, err error) {
	for n := 1; n <= MaxAllocators; n++ {
		if a.holders[n] == 0 {
			a.holders[n] = id
			return n, nil
		}
	}
	return 0, ErrAllocators
}

// Return gives an allocator back, if the zone has it. Nothing that it numbered may live any more,
// in no zone and in no outbox, since its numbers are given again.
func (a *Allocators) Return(id ID, number int) bool {
	if number < 1 || number > MaxAllocators || a.holders[number] != id {
		return false
	}
	a.holders[number] = 0
	return true
}

// Merge has one zone hold what another held.
func (a *Allocators) Merge(from, into ID) {
	for n := range a.holders {
		if n > 0 && a.holders[n] == from {
			a.holders[n] = into
		}
	}
}

// Of lists the allocators that a zone has, by number.
func (a *Allocators) Of(id ID) (numbers []int) {
	for n := 1; n <= MaxAllocators; n++ {
		if a.holders[n] == id {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// Append writes them as they stand in the map.
func (a *Allocators) Append(b []byte) []byte {
	b = append(b, wireVersion)
	gap := uint64(0)
	for n := 1; n <= MaxAllocators; n++ {
		if a.holders[n] == 0 {
			gap++
			continue
		}
		b = appendUint(b, gap)
		b = appendUint(b, uint64(a.holders[n]))
		gap = 0
	}
	return b
}

// ReadAllocators reads what Append wrote. No bytes at all are those of which none is leased.
func ReadAllocators(b []byte) (*Allocators, error) {
	a := new(Allocators)
	if len(b) == 0 {
		return a, nil
	}
	r := reader{b: b}
	if r.byte() != wireVersion {
		return nil, errDamaged
	}
	for n := uint64(0); len(r.b) > 0; {
		gap := r.uint()
		if gap > MaxAllocators || n+gap+1 > MaxAllocators {
			return nil, errDamaged
		}
		n += gap + 1
		a.holders[n] = r.id()
	}
	if r.bad {
		return nil, errDamaged
	}
	return a, nil
}
