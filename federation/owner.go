package federation

import (
	"fmt"
	"math/bits"
	"slices"
)

// A claim is that a federate wants attributes of an object, which others own.
type claim struct {
	federate *Federate
	set      Set
	tag      []byte
}

// owned finds an object and checks that this federate owns attributes of it. No attributes are
// all that it owns.
func (f *Federate) owned(id ObjectID, list []AttributeID) (*object, Set, error) {
	if err := f.acts(); err != nil {
		return nil, 0, err
	}
	o, err := f.object(id)
	if err != nil {
		return nil, 0, err
	}
	own := o.ownedBy(f.id)
	if len(list) == 0 {
		return o, own, nil
	}
	s, err := f.x.set(o.class, list)
	if err != nil {
		return nil, 0, err
	}
	if s&^own != 0 {
		return nil, 0, f.strike(fmt.Errorf("object %d: %w of attribute %d", id, ErrNotOwner,
			f.x.attributes(o.class, s&^own)[0]))
	}
	return o, s, nil
}

// OwnerOf says who owns an attribute: 0 if nobody does.
func (f *Federate) OwnerOf(id ObjectID, a AttributeID) (FederateID, error) {
	if err := f.alive(); err != nil {
		return 0, err
	}
	o, err := f.object(id)
	if err != nil {
		return 0, err
	}
	slot, ok := f.x.model.slot(o.class, a)
	if !ok {
		return 0, fmt.Errorf("object %d: %w: attribute %d", id, ErrUnknown, a)
	}
	return o.owners[slot], nil
}

// Divest gives attributes up at once: to the first that wants them, or to nobody, and then they
// are offered to all that could own them. Without attributes it is all that this federate owns.
func (f *Federate) Divest(id ObjectID, tag []byte, attributes ...AttributeID) error {
	o, s, err := f.owned(id, attributes)
	if err != nil {
		return err
	}
	if len(tag) > f.x.opt.Value {
		return fmt.Errorf("%w: a tag of %d bytes", ErrLimit, len(tag))
	}
	f.x.divest(o, s, tag)
	return nil
}

// Offer offers attributes to others. This federate owns them until somebody wants them and it
// confirms.
func (f *Federate) Offer(id ObjectID, tag []byte, attributes ...AttributeID) error {
	o, s, err := f.owned(id, attributes)
	if err != nil {
		return err
	}
	if len(tag) > f.x.opt.Value {
		return fmt.Errorf("%w: a tag of %d bytes", ErrLimit, len(tag))
	}
	s &^= o.offered
	o.offered |= s
	taken := Set(0)
	for i := range o.waits {
		taken |= o.waits[i].set
	}
	if taken &= s; taken != 0 {
		f.x.agree(o, taken)
	}
	f.x.offerAll(o, s&^taken, f, tag)
	return nil
}

// Confirm gives attributes that this federate offered to those who want them.
func (f *Federate) Confirm(id ObjectID, attributes ...AttributeID) error {
	o, s, err := f.owned(id, attributes)
	if err != nil {
		return err
	}
	if len(attributes) == 0 {
		s &= o.agreed
	}
	if s&^o.agreed != 0 {
		return fmt.Errorf("object %d: %w: nobody has taken what this federate offered", id,
			ErrState)
	}
	f.x.divest(o, s, nil)
	return nil
}

// CancelOffer takes an offer back.
func (f *Federate) CancelOffer(id ObjectID, attributes ...AttributeID) error {
	o, s, err := f.owned(id, attributes)
	if err != nil {
		return err
	}
	o.offered &^= s
	o.agreed &^= s
	return nil
}

// Acquire wants attributes: those that nobody owns are this federate's at once, owners of the
// others are asked. The class must be published with them.
func (f *Federate) Acquire(id ObjectID, tag []byte, attributes ...AttributeID) error {
	o, s, err := f.acquirable(id, attributes)
	if err != nil {
		return err
	}
	if len(tag) > f.x.opt.Value {
		return fmt.Errorf("%w: a tag of %d bytes", ErrLimit, len(tag))
	}
	f.x.take(o, f, s&o.ownedBy(0))
	s &= ^o.ownedBy(f.id)
	for i := range o.waits {
		if o.waits[i].federate == f {
			s &^= o.waits[i].set
		}
	}
	if s == 0 {
		return nil
	}
	o.waits = append(o.waits, claim{federate: f, set: s, tag: slices.Clone(tag)})
	f.x.agree(o, s&o.offered)
	f.x.ask(o, s&^o.offered, f, tag)
	return nil
}

// AcquireIfAvailable takes attributes that nobody owns or whose owner offers them, and is told of
// the others that they are unavailable.
func (f *Federate) AcquireIfAvailable(id ObjectID, attributes ...AttributeID) error {
	o, s, err := f.acquirable(id, attributes)
	if err != nil {
		return err
	}
	f.x.take(o, f, s&o.ownedBy(0))
	s &^= o.ownedBy(f.id)
	if no := s &^ o.offered; no != 0 {
		f.push(entry{kind: Unavailable, object: id, class: o.class,
			list: f.x.attributes(o.class, no)})
	}
	for i := range o.waits {
		if o.waits[i].federate == f {
			s &^= o.waits[i].set
		}
	}
	if s &= o.offered; s != 0 {
		o.waits = append(o.waits, claim{federate: f, set: s})
		f.x.agree(o, s)
	}
	return nil
}

// CancelAcquire wants attributes no more.
func (f *Federate) CancelAcquire(id ObjectID, attributes ...AttributeID) error {
	o, s, err := f.acquirable(id, attributes)
	if err != nil {
		return err
	}
	o.forget(f.id, s)
	return nil
}

// Release gives those of the attributes to others that they want, and says which those were. It
// is one answer to Wanted.
func (f *Federate) Release(id ObjectID, attributes ...AttributeID) ([]AttributeID, error) {
	o, s, err := f.owned(id, attributes)
	if err != nil {
		return nil, err
	}
	wanted := Set(0)
	for i := range o.waits {
		wanted |= o.waits[i].set
	}
	s &= wanted
	f.x.divest(o, s, nil)
	return f.x.attributes(o.class, s), nil
}

// Refuse is the other: who wanted the attributes is told that they are unavailable, and wants
// them no more.
func (f *Federate) Refuse(id ObjectID, attributes ...AttributeID) error {
	o, s, err := f.owned(id, attributes)
	if err != nil {
		return err
	}
	for i := range o.waits {
		c := &o.waits[i]
		if no := c.set & s; no != 0 {
			c.set &^= no
			c.federate.push(entry{kind: Unavailable, object: id, class: o.class,
				list: f.x.attributes(o.class, no)})
		}
	}
	o.tidy()
	return nil
}

// acquirable finds an object and checks that this federate may own attributes of it.
func (f *Federate) acquirable(id ObjectID, list []AttributeID) (*object, Set, error) {
	if err := f.acts(); err != nil {
		return nil, 0, err
	}
	o, err := f.object(id)
	if err != nil {
		return nil, 0, err
	}
	s, err := f.x.set(o.class, list)
	if err != nil {
		return nil, 0, err
	}
	if s == 0 {
		return nil, 0, fmt.Errorf("object %d: %w: which attributes", id, ErrUnknown)
	}
	if s&^f.publishes[o.class] != 0 {
		return nil, 0, fmt.Errorf("object %d: %w: attributes of class %q that this federate does "+
			"not publish", id, ErrState, f.x.model.Classes[o.class].Name)
	}
	return o, s, nil
}

// divest takes attributes from their owner and gives them to whoever waits for them first.
func (x *Execution) divest(o *object, s Set, tag []byte) {
	if s == 0 {
		return
	}
	var before *Federate
	for r := s; r != 0; {
		owner := o.owners[bits.TrailingZeros64(uint64(r))]
		own := o.ownedBy(owner) & r
		r &^= own
		if f := x.federate(owner); f != nil {
			before = f
			f.push(entry{kind: Divested, object: o.id, class: o.class,
				list: x.attributes(o.class, own)})
		}
	}
	for slot := range o.owners {
		if s.has(slot) {
			o.owners[slot] = 0
		}
	}
	o.offered &^= s
	o.agreed &^= s
	free := s
	for _, c := range slices.Clone(o.waits) { // what is taken is wanted no more
		x.take(o, c.federate, c.set&free)
		free &^= c.set
	}
	o.tidy()
	x.offerAll(o, free, before, tag)
}

// take has a federate own attributes that nobody owns.
func (x *Execution) take(o *object, f *Federate, s Set) {
	if s == 0 {
		return
	}
	for slot := range o.owners {
		if s.has(slot) {
			o.owners[slot] = f.id
		}
	}
	o.forget(f.id, s)
	f.push(entry{kind: Acquired, object: o.id, class: o.class, list: x.attributes(o.class, s)})
	// Whether somebody else than the owner is told is another question with another owner.
	told := o.wanted & s
	o.wanted &^= s
	x.advise(o, s)
	if idle := told &^ o.wanted; idle != 0 {
		f.push(entry{kind: UpdatesIdle, object: o.id, class: o.class,
			list: x.attributes(o.class, idle)})
	}
}

// agree asks owners to confirm that others take what they offered.
func (x *Execution) agree(o *object, s Set) {
	s &^= o.agreed
	o.agreed |= s
	for s != 0 {
		owner := o.owners[bits.TrailingZeros64(uint64(s))]
		own := o.ownedBy(owner) & s
		s &^= own
		if f := x.federate(owner); f != nil {
			f.push(entry{kind: Confirm, object: o.id, class: o.class,
				list: x.attributes(o.class, own)})
		}
	}
}

// ask tells owners that another wants what they own.
func (x *Execution) ask(o *object, s Set, by *Federate, tag []byte) {
	tag = slices.Clone(tag)
	for s != 0 {
		owner := o.owners[bits.TrailingZeros64(uint64(s))]
		own := o.ownedBy(owner) & s
		s &^= own
		if f := x.federate(owner); f != nil {
			f.push(entry{kind: Wanted, object: o.id, class: o.class, from: by.id, tag: tag,
				list: x.attributes(o.class, own)})
		}
	}
}

// offerAll offers attributes to all who know the object and publish them.
func (x *Execution) offerAll(o *object, s Set, but *Federate, tag []byte) {
	if s == 0 {
		return
	}
	tag = slices.Clone(tag)
	for i := range o.watchers {
		f := o.watchers[i].federate
		if could := s & f.publishes[o.class]; could != 0 && f != but && !f.left {
			f.push(entry{kind: Offered, object: o.id, class: o.class, tag: tag,
				list: x.attributes(o.class, could)})
		}
	}
}

// offer offers a federate what of an object it could own and nobody owns, or is offered.
func (o *object) offer(x *Execution, f *Federate, s Set) {
	w := o.watcher(f.id)
	if w == nil || o.dying != nil {
		return
	}
	if s &= f.publishes[o.class] & (o.ownedBy(0) | o.offered&^o.ownedBy(f.id)); s != 0 {
		f.push(entry{kind: Offered, object: o.id, class: o.class, list: x.attributes(o.class, s)})
	}
}

// forget has a federate want attributes no more.
func (o *object) forget(id FederateID, s Set) {
	for i := range o.waits {
		if o.waits[i].federate.id == id {
			o.waits[i].set &^= s
		}
	}
	o.tidy()
}

// tidy drops claims of nothing, and asks no confirmation of what nobody wants any more.
func (o *object) tidy() {
	wanted := Set(0)
	kept := o.waits[:0]
	for _, c := range o.waits {
		if c.set != 0 {
			kept = append(kept, c)
			wanted |= c.set
		}
	}
	clear(o.waits[len(kept):])
	o.waits = kept
	o.agreed &= wanted
}
