package federation

import (
	"fmt"
	"iter"
	"slices"

	"github.com/coeval-dev/coeval/federation/overlap"
)

// A RegionID is the number of a region. It is never zero, and never given to another.
type RegionID uint32

// A Range is a part of a dimension, from Lo up to below Hi.
type Range struct{ Lo, Hi int64 }

// What a region is used for.
type usage uint8

const (
	useUpdate usage = iota
	useSubscription
	useInteraction
)

// A use is where a region counts.
type use struct {
	kind     usage
	federate *Federate
	object   ObjectID
	class    ClassID
}

// A region is a box in some dimensions. What has changed counts when it is committed.
type region struct {
	owner *Federate
	dims  []DimensionID
	box   overlap.Box
	next  overlap.Box
	uses  []use
}

// space has all regions of an execution, and finds which of updates and subscriptions overlap.
type space struct {
	regions map[RegionID]*region
	last    RegionID
	boxes   overlap.Space
	found   []uint32
}

func (f *Federate) region(id RegionID) (*region, error) {
	r := f.x.space.regions[id]
	if r == nil || r.owner != f {
		return nil, fmt.Errorf("region %d: %w", id, ErrUnknown)
	}
	return r, nil
}

// CreateRegion makes a region that spans the whole of some dimensions.
func (f *Federate) CreateRegion(dims ...DimensionID) (RegionID, error) {
	if err := f.acts(); err != nil {
		return 0, err
	}
	x := f.x
	if len(dims) == 0 || len(dims) > MaxDimensions {
		return 0, fmt.Errorf("%w: a region has 1 to %d dimensions", ErrLimit, MaxDimensions)
	}
	if len(x.space.regions) >= x.opt.Regions {
		return 0, fmt.Errorf("%w: there are %d regions", ErrLimit, len(x.space.regions))
	}
	r := &region{owner: f, dims: slices.Clone(dims)}
	for _, d := range dims {
		if int(d) >= len(x.model.Dimensions) {
			return 0, fmt.Errorf("%w: dimension %d", ErrUnknown, d)
		}
		if r.box.Dims&(1<<d) != 0 {
			return 0, fmt.Errorf("%w: dimension %q twice", ErrUnknown, x.model.Dimensions[d].Name)
		}
		r.box.Dims |= 1 << d
		r.box.Lo[d], r.box.Hi[d] = 0, x.model.Dimensions[d].Upper
	}
	r.next = r.box
	if x.space.regions == nil {
		x.space.regions = map[RegionID]*region{}
	}
	x.space.last++
	x.space.regions[x.space.last] = r
	return x.space.last, nil
}

// SetRange changes a region in one dimension. It counts once it is committed.
func (f *Federate) SetRange(id RegionID, d DimensionID, to Range) error {
	if err := f.acts(); err != nil {
		return err
	}
	r, err := f.region(id)
	if err != nil {
		return err
	}
	if !slices.Contains(r.dims, d) {
		return fmt.Errorf("region %d: %w: it has no dimension %d", id, ErrUnknown, d)
	}
	if upper := f.x.model.Dimensions[d].Upper; to.Lo < 0 || to.Lo >= to.Hi || to.Hi > upper {
		return fmt.Errorf("region %d: %w: from %d to %d is no part of %q, which goes from 0 to %d",
			id, ErrLimit, to.Lo, to.Hi, f.x.model.Dimensions[d].Name, upper)
	}
	r.next.Lo[d], r.next.Hi[d] = to.Lo, to.Hi
	return nil
}

// Commit has what was changed of regions count.
func (f *Federate) Commit(ids ...RegionID) error {
	if err := f.acts(); err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := f.region(id); err != nil {
			return err
		}
	}
	for _, id := range ids {
		r := f.x.space.regions[id]
		if r.box != r.next {
			f.x.move(id, r)
		}
	}
	return nil
}

// move finds anew who is told of what around a region: of those that overlapped it, and that do.
func (x *Execution) move(id RegionID, r *region) {
	found := x.space.overlaps(id, r, x.space.found[:0])
	r.box = r.next
	for _, u := range r.uses {
		switch u.kind {
		case useUpdate:
			x.space.boxes.Put(uint32(id), overlap.Update, &r.box)
		case useSubscription:
			x.space.boxes.Put(uint32(id), overlap.Subscription, &r.box)
		}
	}
	found = x.space.overlaps(id, r, found)
	slices.Sort(found)
	found = slices.Compact(found)
	x.space.found = found
	for _, u := range r.uses {
		for _, other := range found {
			for _, v := range x.space.regions[RegionID(other)].uses {
				switch {
				case u.kind == useUpdate && v.kind == useSubscription:
					x.evaluateKind(v.federate, x.byID[u.object], v.class)
				case u.kind == useSubscription && v.kind == useUpdate:
					x.evaluateKind(u.federate, x.byID[v.object], u.class)
				}
			}
		}
	}
}

func (x *Execution) evaluateKind(f *Federate, o *object, c ClassID) {
	if x.model.Is(o.class, c) {
		x.evaluate(f, o)
	}
}

// overlaps appends the regions on the other side that overlap one.
func (s *space) overlaps(id RegionID, r *region, out []uint32) []uint32 {
	var sides [2]bool
	for _, u := range r.uses {
		switch u.kind {
		case useUpdate:
			sides[overlap.Update] = true
		case useSubscription:
			sides[overlap.Subscription] = true
		}
	}
	if sides[overlap.Update] {
		out = s.boxes.Find(&r.box, overlap.Subscription, out)
	}
	if sides[overlap.Subscription] {
		out = s.boxes.Find(&r.box, overlap.Update, out)
	}
	return out
}

// overlap says whether two regions have something in common in every dimension that both have.
func (s *space) overlap(a, b RegionID) bool {
	return s.regions[a].box.Overlaps(&s.regions[b].box)
}

// use notes where a region counts.
func (s *space) use(id RegionID, kind usage, f *Federate, o ObjectID, c ClassID) {
	r := s.regions[id]
	u := use{kind, f, o, c}
	if slices.Contains(r.uses, u) {
		return
	}
	r.uses = append(r.uses, u)
	switch kind {
	case useUpdate:
		s.boxes.Put(uint32(id), overlap.Update, &r.box)
	case useSubscription:
		s.boxes.Put(uint32(id), overlap.Subscription, &r.box)
	}
}

func (s *space) unuse(id RegionID, kind usage, f *Federate, o ObjectID, c ClassID) {
	r := s.regions[id]
	if r == nil {
		return
	}
	r.uses = slices.DeleteFunc(r.uses, func(u use) bool { return u == use{kind, f, o, c} })
	if !slices.ContainsFunc(r.uses, func(u use) bool { return u.kind == kind }) {
		switch kind {
		case useUpdate:
			s.boxes.Remove(uint32(id), overlap.Update)
		case useSubscription:
			s.boxes.Remove(uint32(id), overlap.Subscription)
		}
	}
}

// DeleteRegion forgets a region, which must not be in use.
func (f *Federate) DeleteRegion(id RegionID) error {
	if err := f.acts(); err != nil {
		return err
	}
	r, err := f.region(id)
	if err != nil {
		return err
	}
	if len(r.uses) > 0 {
		return fmt.Errorf("region %d: %w: it is in use", id, ErrState)
	}
	delete(f.x.space.regions, id)
	return nil
}

// Associate has updates of an object's attributes count in a region, besides others. This
// federate must own the attributes.
func (f *Federate) Associate(id ObjectID, where RegionID, attributes ...AttributeID) error {
	o, s, err := f.owned(id, attributes)
	if err != nil {
		return err
	}
	r, err := f.region(where)
	if err != nil {
		return err
	}
	for _, a := range f.x.attributes(o.class, s) {
		if r.box.Dims&^f.x.model.Attributes[a].dims != 0 && len(attributes) > 0 {
			return fmt.Errorf("region %d: %w: attribute %q has not all of its dimensions", where,
				ErrState, f.x.model.Attributes[a].Name)
		} else if r.box.Dims&^f.x.model.Attributes[a].dims != 0 {
			slot, _ := f.x.model.slot(o.class, a)
			s &^= 1 << slot
		}
	}
	if s == 0 {
		return fmt.Errorf("region %d: %w: no attribute has its dimensions", where, ErrState)
	}
	o.regions = addUse(o.regions, where, s)
	f.x.space.use(where, useUpdate, nil, o.id, 0)
	f.x.evaluateAll(o)
	return nil
}

// Dissociate takes that back. Without attributes it is all of them.
func (f *Federate) Dissociate(id ObjectID, where RegionID, attributes ...AttributeID) error {
	if err := f.acts(); err != nil {
		return err
	}
	o, err := f.object(id)
	if err != nil {
		return err
	}
	if _, err := f.region(where); err != nil {
		return err
	}
	s, err := f.x.set(o.class, attributes)
	if err != nil {
		return err
	}
	if len(attributes) == 0 {
		s = ^Set(0)
	}
	f.x.dissociate(o, where, s)
	f.x.evaluateAll(o)
	return nil
}

func (x *Execution) dissociate(o *object, where RegionID, s Set) {
	for i := range o.regions {
		if o.regions[i].region != where {
			continue
		}
		if o.regions[i].set &^= s; o.regions[i].set == 0 {
			o.regions = slices.Delete(o.regions, i, i+1)
			x.space.unuse(where, useUpdate, nil, o.id, 0)
		}
		return
	}
}

func (x *Execution) evaluateAll(o *object) {
	for _, f := range x.federates {
		x.evaluate(f, o)
	}
}

// regionsOf are a federate's regions, in order.
func (x *Execution) regionsOf(f *Federate) iter.Seq2[RegionID, *region] {
	var ids []RegionID
	for id, r := range x.space.regions {
		if r.owner == f {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return func(yield func(RegionID, *region) bool) {
		for _, id := range ids {
			if !yield(id, x.space.regions[id]) {
				return
			}
		}
	}
}

// unreserve gives back the names that a federate has reserved.
func (x *Execution) unreserve(f *Federate) {
	for name, id := range x.reserved {
		if id == f.id {
			delete(x.reserved, name)
		}
	}
}
