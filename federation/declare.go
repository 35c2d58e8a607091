package federation

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// A subscription is what a federate wants to be told of one class's objects, by the class's slots.
type subscription struct {
	plain    Set
	interval time.Duration
	regions  []regionUse
}

func (s *subscription) any() bool { return s.plain != 0 || len(s.regions) > 0 }

// An actSubscription is the same of a class of interactions.
type actSubscription struct {
	plain   bool
	regions []RegionID
}

func (s *actSubscription) any() bool { return s.plain || len(s.regions) > 0 }

// A regionUse associates some attributes with a region.
type regionUse struct {
	region RegionID
	set    Set
}

// Subscribing says how a federate wants to be told. The zero value is: everything, everywhere.
type Subscribing struct {
	// Interval is the least time between two reflections of one object. What comes in between is
	// left out, and what it comes to is told when the interval is over.
	Interval time.Duration
	// Regions are where; none is everywhere.
	Regions []RegionID
}

// checkClass finds what is wrong with a class and attributes of it.
func (f *Federate) checkClass(c ClassID, list []AttributeID) (Set, error) {
	if int(c) >= len(f.x.model.Classes) {
		return 0, fmt.Errorf("%w: no class has the number %d", ErrUnknown, c)
	}
	return f.x.set(c, list)
}

// Publish says that this federate means to update attributes of a class's objects. That is
// permission to register objects of the class, and to own those attributes.
func (f *Federate) Publish(c ClassID, attributes ...AttributeID) error {
	if err := f.acts(); err != nil {
		return err
	}
	s, err := f.checkClass(c, attributes)
	if err != nil {
		return err
	}
	f.publishes[c] |= s | 1 // and the privilege, which is the first of every class
	for _, o := range f.x.objects {
		if o.class == c {
			o.offer(f.x, f, s|1)
		}
	}
	return nil
}

// Unpublish takes that back: what this federate owns of it is divested at once. Without
// attributes it is the whole class.
func (f *Federate) Unpublish(c ClassID, attributes ...AttributeID) error {
	if err := f.acts(); err != nil {
		return err
	}
	s, err := f.checkClass(c, attributes)
	if err != nil {
		return err
	}
	if len(attributes) == 0 {
		s = ^Set(0)
	}
	f.publishes[c] &^= s
	if f.publishes[c] == 1 {
		f.publishes[c], s = 0, s|1
	}
	for _, o := range f.x.objects {
		if o.class == c {
			f.x.divest(o, o.ownedBy(f.id)&s, nil)
			o.forget(f.id, s)
		}
	}
	return nil
}

// Subscribe wants to be told of the objects of a class and of all below it, as far as they have
// these attributes.
func (f *Federate) Subscribe(c ClassID, how Subscribing, attributes ...AttributeID) error {
	if err := f.acts(); err != nil {
		return err
	}
	s, err := f.checkClass(c, attributes)
	if err != nil {
		return err
	}
	if s == 0 {
		return fmt.Errorf("%w: a subscription needs attributes", ErrUnknown)
	}
	if how.Interval < 0 {
		return fmt.Errorf("%w: an interval below 0", ErrLimit)
	}
	for _, r := range how.Regions {
		if _, err := f.region(r); err != nil {
			return err
		}
	}
	sub := &f.subscribes[c]
	sub.interval = how.Interval
	if len(how.Regions) == 0 {
		sub.plain |= s
	}
	for _, r := range how.Regions {
		sub.regions = addUse(sub.regions, r, s)
		f.x.space.use(r, useSubscription, f, 0, c)
	}
	f.x.review(f, c)
	return nil
}

// Unsubscribe takes subscriptions back: of some regions, or without any of everything. Without
// attributes it is all of them. What is known stays known.
func (f *Federate) Unsubscribe(c ClassID, regions []RegionID, attributes ...AttributeID) error {
	if err := f.acts(); err != nil {
		return err
	}
	s, err := f.checkClass(c, attributes)
	if err != nil {
		return err
	}
	if len(attributes) == 0 {
		s = ^Set(0)
	}
	sub := &f.subscribes[c]
	if len(regions) == 0 {
		sub.plain &^= s
	}
	kept := sub.regions[:0]
	for _, u := range sub.regions {
		if len(regions) == 0 || slices.Contains(regions, u.region) {
			if u.set &^= s; u.set == 0 {
				f.x.space.unuse(u.region, useSubscription, f, 0, c)
				continue
			}
		}
		kept = append(kept, u)
	}
	sub.regions = kept
	f.x.review(f, c)
	return nil
}

func addUse(list []regionUse, r RegionID, s Set) []regionUse {
	for i := range list {
		if list[i].region == r {
			list[i].set |= s
			return list
		}
	}
	return append(list, regionUse{r, s})
}

// PublishInteraction is permission to send interactions of a class.
func (f *Federate) PublishInteraction(i InteractionID) error {
	if err := f.checkInteraction(i); err != nil {
		return err
	}
	f.publishesAct[i] = true
	return nil
}

// UnpublishInteraction takes that back.
func (f *Federate) UnpublishInteraction(i InteractionID) error {
	if err := f.checkInteraction(i); err != nil {
		return err
	}
	f.publishesAct[i] = false
	return nil
}

// SubscribeInteraction wants to be told of interactions of a class and all below it, everywhere
// or where regions say.
func (f *Federate) SubscribeInteraction(i InteractionID, regions ...RegionID) error {
	if err := f.checkInteraction(i); err != nil {
		return err
	}
	for _, r := range regions {
		if _, err := f.region(r); err != nil {
			return err
		}
	}
	s := &f.subscribesAct[i]
	if len(regions) == 0 {
		s.plain = true
	}
	for _, r := range regions {
		if !slices.Contains(s.regions, r) {
			s.regions = append(s.regions, r)
			f.x.space.use(r, useInteraction, f, 0, ClassID(i))
		}
	}
	return nil
}

// UnsubscribeInteraction takes that back: of some regions, or without any of everything.
func (f *Federate) UnsubscribeInteraction(i InteractionID, regions ...RegionID) error {
	if err := f.checkInteraction(i); err != nil {
		return err
	}
	s := &f.subscribesAct[i]
	if len(regions) == 0 {
		s.plain = false
	}
	kept := s.regions[:0]
	for _, r := range s.regions {
		if len(regions) == 0 || slices.Contains(regions, r) {
			f.x.space.unuse(r, useInteraction, f, 0, ClassID(i))
			continue
		}
		kept = append(kept, r)
	}
	s.regions = kept
	return nil
}

func (f *Federate) checkInteraction(i InteractionID) error {
	if err := f.acts(); err != nil {
		return err
	}
	if int(i) >= len(f.x.model.Interactions) {
		return fmt.Errorf("%w: no interaction has the number %d", ErrUnknown, i)
	}
	return nil
}

// review finds anew what a federate is told of the objects of a class and below.
func (x *Execution) review(f *Federate, c ClassID) {
	for _, o := range x.objects {
		if x.model.Is(o.class, c) {
			x.evaluate(f, o)
		}
	}
}

// evaluate finds anew what a federate is told of an object, and discovers it if it now is told
// something.
func (x *Execution) evaluate(f *Federate, o *object) {
	if f.left || o.dying != nil {
		return
	}
	w := o.watcher(f.id)
	if w != nil {
		x.setMask(o, w, x.reach(f, o, w.class))
		return
	}
	c := o.class
	for !f.subscribes[c].any() {
		if c == Root {
			return
		}
		c = x.model.Classes[c].Parent
	}
	mask := x.reach(f, o, c)
	if mask&^o.ownedBy(f.id) == 0 {
		return
	}
	x.know(o, f, c)
	x.setMask(o, o.watcher(f.id), mask)
	if kept := mask & o.told & x.keptSet(o.class); kept != 0 {
		x.reflectKept(f, o, kept)
	}
}

func (x *Execution) keptSet(c ClassID) (s Set) {
	for i, a := range x.model.Classes[c].Attributes {
		if x.model.Attributes[a].Kept {
			s |= 1 << i
		}
	}
	return s
}

// know has a federate know an object as one of a class, and tells it so.
func (x *Execution) know(o *object, f *Federate, c ClassID) {
	o.watchers = append(o.watchers, watcher{federate: f, class: c})
	f.push(entry{kind: Discovered, object: o.id, class: c, from: o.by, name: o.name})
	o.offer(x, f, f.publishes[o.class])
}

// reach is what of an object a federate is told, that knows it as one of a class.
func (x *Execution) reach(f *Federate, o *object, c ClassID) Set {
	sub := &f.subscribes[c]
	s := x.model.translate(sub.plain, c, o.class)
	for _, u := range sub.regions {
		set := x.model.translate(u.set, c, o.class) &^ s
		if set == 0 {
			continue
		}
		everywhere := set
		for _, v := range o.regions {
			everywhere &^= v.set
			if set&v.set != 0 && x.space.overlap(u.region, v.region) {
				s |= set & v.set
			}
		}
		s |= everywhere
	}
	return s
}

// setMask changes what a federate is told, and tells owners whether anybody wants updates.
func (x *Execution) setMask(o *object, w *watcher, mask Set) {
	changed := w.mask ^ mask
	w.mask = mask
	w.interval = w.federate.subscribes[w.class].interval
	x.advise(o, changed)
}

// advise tells owners of attributes whether somebody is told of them, where that has changed.
func (x *Execution) advise(o *object, changed Set) {
	for r := changed; r != 0; r &= r - 1 {
		slot := bits.TrailingZeros64(uint64(r))
		owner := o.owners[slot]
		wanted := false
		for i := range o.watchers {
			w := &o.watchers[i]
			wanted = wanted || w.mask.has(slot) && w.federate.id != owner
		}
		if wanted == o.wanted.has(slot) {
			continue
		}
		o.wanted ^= 1 << slot
		if f := x.federate(owner); f != nil {
			kind := UpdatesIdle
			if wanted {
				kind = UpdatesWanted
			}
			f.push(entry{kind: kind, object: o.id, class: o.class,
				list: x.attributes(o.class, 1<<slot)})
		}
	}
}

// federate is the federate of a number, or nil if it is not in.
func (x *Execution) federate(id FederateID) *Federate {
	i, ok := slices.BinarySearchFunc(x.federates, id, func(f *Federate, id FederateID) int {
		return int(int64(f.id) - int64(id))
	})
	if !ok {
		return nil
	}
	return x.federates[i]
}
