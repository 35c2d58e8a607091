package federation

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// An object is one that has been registered and not deleted.
type object struct {
	id       ObjectID
	class    ClassID
	by       FederateID // who registered it
	name     string
	owners   []FederateID // by slot; 0 is nobody
	offered  Set          // offered by owners who still keep it
	agreed   Set          // of those: the owner was asked to confirm
	waits    []claim      // who wants what, in the order of asking
	watchers []watcher    // who knows it
	wanted   Set          // of which somebody but the owner is told
	regions  []regionUse  // where updates count
	values   [][]byte     // the last ones, by slot
	told     Set          // which of them there are
	dying    *message     // its removal, as long as that can be retracted
}

// A watcher is a federate that knows an object.
type watcher struct {
	federate *Federate
	class    ClassID // as which it knows it
	mask     Set     // what it is told, in slots of the object's class
	interval time.Duration
	due      time.Duration // when it may be told again
	held     Set           // what was left out since
}

func (o *object) watcher(id FederateID) *watcher {
	for i := range o.watchers {
		if o.watchers[i].federate.id == id {
			return &o.watchers[i]
		}
	}
	return nil
}

// ownedBy is what a federate owns of an object.
func (o *object) ownedBy(id FederateID) (s Set) {
	for i, owner := range o.owners {
		if owner == id {
			s |= 1 << i
		}
	}
	return s
}

func (o *object) grow(m *Model) {
	n := len(m.Classes[o.class].Attributes)
	o.owners = append(o.owners, make([]FederateID, n-len(o.owners))...)
	o.values = append(o.values, make([][]byte, n-len(o.values))...)
}

// ReserveName has a name belong to this federate, which alone can register an object under it.
func (f *Federate) ReserveName(name string) error {
	if err := f.acts(); err != nil {
		return err
	}
	if err := checkName("an object", name); err != nil {
		return err
	}
	x := f.x
	if x.names[name] != 0 || x.reserved[name] != 0 {
		return fmt.Errorf("object %q: %w", name, ErrName)
	}
	if len(x.reserved) >= x.opt.Objects {
		return fmt.Errorf("%w: %d names are reserved", ErrLimit, len(x.reserved))
	}
	x.reserved[name] = f.id
	return nil
}

// ReleaseName gives a reserved name back that was not used.
func (f *Federate) ReleaseName(name string) error {
	if err := f.acts(); err != nil {
		return err
	}
	if f.x.reserved[name] != f.id {
		return fmt.Errorf("object %q: %w: it is not reserved by this federate", name, ErrUnknown)
	}
	delete(f.x.reserved, name)
	return nil
}

// Register makes an object of a class that this federate publishes. It owns what it publishes of
// it, and the privilege to delete it. An empty name draws one.
func (f *Federate) Register(c ClassID, name string) (ObjectID, error) {
	if err := f.acts(); err != nil {
		return 0, err
	}
	x := f.x
	switch {
	case int(c) >= len(x.model.Classes):
		return 0, fmt.Errorf("%w: no class has the number %d", ErrUnknown, c)
	case f.publishes[c] == 0:
		return 0, fmt.Errorf("%w: class %q is not published by this federate", ErrState,
			x.model.Classes[c].Name)
	case len(x.objects) >= x.opt.Objects:
		return 0, fmt.Errorf("%w: there are %d objects", ErrLimit, len(x.objects))
	}
	id := x.nextObj + 1
	if name == "" {
		name = fmt.Sprintf("#%d", id)
	} else if err := checkName("an object", name); err != nil {
		return 0, err
	} else if name[0] == '#' {
		return 0, fmt.Errorf("object %q: %w: names with # are drawn", name, ErrName)
	}
	if by := x.reserved[name]; x.names[name] != 0 || by != 0 && by != f.id {
		return 0, fmt.Errorf("object %q: %w", name, ErrName)
	}
	delete(x.reserved, name)
	x.nextObj = id
	o := &object{id: id, class: c, by: f.id, name: name}
	o.grow(x.model)
	for i := range o.owners {
		if f.publishes[c].has(i) {
			o.owners[i] = f.id
		}
	}
	x.objects = append(x.objects, o)
	x.byID[id], x.names[name] = o, id
	o.watchers = append(o.watchers, watcher{federate: f, class: c})
	x.setMask(o, &o.watchers[0], x.reach(f, o, c))
	for _, g := range x.federates {
		if g != f {
			x.evaluate(g, o)
		}
	}
	return id, nil
}

// object finds one that this federate knows.
func (f *Federate) object(id ObjectID) (*object, error) {
	o := f.x.byID[id]
	if o == nil || o.dying != nil || o.watcher(f.id) == nil {
		return nil, fmt.Errorf("object %d: %w", id, ErrUnknown)
	}
	return o, nil
}

// Sending says how an update, an interaction or a deletion is sent. The zero value is: in the
// order of receipt.
type Sending struct {
	// Tag goes with it, and means what the federates agree on.
	Tag []byte
	// Stamped says that it is of Time: it is delivered in order of time to those who are
	// constrained, if this federate regulates.
	Stamped bool
	Time    Time
	// Regions are where an interaction counts; none is everywhere. Updates count where the object
	// is associated.
	Regions []RegionID
}

// Update tells new values of attributes that this federate owns. The bytes are copied. The
// retraction is zero unless it was sent by time.
func (f *Federate) Update(id ObjectID, values []Value, how Sending) (Retraction, error) {
	if err := f.acts(); err != nil {
		return 0, err
	}
	o, err := f.object(id)
	if err != nil {
		return 0, err
	}
	x := f.x
	m := x.messages.get()
	m.kind, m.from, m.object, m.class = Reflected, f.id, o.id, o.class
	set, err := x.takeValues(m, o, f, values, how.Tag)
	if err == nil {
		err = f.stamp(m, how)
	}
	if err != nil {
		m.refs = 1
		x.messages.release(m)
		return 0, err
	}
	for i, slot := range m.slots {
		o.values[slot] = append(o.values[slot][:0], m.values[i].Data...)
	}
	o.told |= set
	m.refs++ // until all have theirs
	for i := range o.watchers {
		if w := &o.watchers[i]; w.federate != f && w.mask&set != 0 {
			x.reflect(o, w, m, w.mask&set)
		}
	}
	number := f.sent(m)
	x.messages.release(m)
	x.settle()
	return number, nil
}

// takeValues copies values into a message, and checks each.
func (x *Execution) takeValues(m *message, o *object, f *Federate, values []Value,
	tag []byte) (set Set, err error) {
	if len(values) == 0 {
		return 0, fmt.Errorf("%w: an update needs values", ErrUnknown)
	}
	total := len(tag)
	for _, v := range values {
		slot, ok := x.model.slot(o.class, v.Attribute)
		switch {
		case !ok:
			return 0, fmt.Errorf("object %d: %w: attribute %d", o.id, ErrUnknown, v.Attribute)
		case set.has(slot):
			return 0, fmt.Errorf("object %d: %w: attribute %d twice", o.id, ErrUnknown, v.Attribute)
		case o.owners[slot] != f.id:
			return 0, f.strike(fmt.Errorf("object %d, attribute %q: %w", o.id,
				x.model.Attributes[v.Attribute].Name, ErrNotOwner))
		case len(v.Data) > x.opt.Value:
			return 0, fmt.Errorf("%w: a value of %d bytes", ErrLimit, len(v.Data))
		}
		set |= 1 << slot
		total += len(v.Data)
	}
	if total > x.opt.Values {
		return 0, fmt.Errorf("%w: %d bytes in one update", ErrLimit, total)
	}
	m.buffer = slices.Grow(m.buffer[:0], total)
	m.tag = m.copied(tag)
	for _, v := range values {
		slot, _ := x.model.slot(o.class, v.Attribute)
		m.slots = append(m.slots, uint8(slot))
		m.values = append(m.values, Value{v.Attribute, m.copied(v.Data)})
	}
	return set, nil
}

// copied puts bytes into a message's buffer, which has room for them.
func (m *message) copied(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	n := len(m.buffer)
	m.buffer = append(m.buffer, data...)
	return m.buffer[n:len(m.buffer):len(m.buffer)]
}

// reflect gives a federate its part of an update: what is by time and the rest apart, and what is
// by priority in its bands.
func (x *Execution) reflect(o *object, w *watcher, m *message, mask Set) {
	if w.interval > 0 && !m.stamped {
		if x.now < w.due {
			if w.held == 0 {
				x.late = append(x.late, lateUpdate{o.id, w.federate.id})
			}
			w.held |= mask
			return
		}
		w.due = x.now + w.interval
	}
	w.held &^= mask
	e := entry{kind: Reflected, object: o.id, class: w.class, message: m}
	if timed := mask & x.model.Classes[o.class].times; timed != 0 && m.number != 0 &&
		w.federate.clock.constrained {
		e.mask, e.order = timed, ByTime
		w.federate.queue(e)
		mask &^= timed
	}
	var bands [maxPriority + 1]Set
	for r := mask; r != 0; r &= r - 1 {
		slot := bits.TrailingZeros64(uint64(r))
		a := &x.model.Attributes[x.model.Classes[o.class].Attributes[slot]]
		if a.Order == ByPriority {
			bands[a.Priority] |= 1 << slot
			mask &^= 1 << slot
		}
	}
	if mask != 0 {
		e.mask, e.order = mask, ByReceipt
		w.federate.push(e)
	}
	for p := maxPriority; p >= 0; p-- {
		if bands[p] != 0 {
			e.mask, e.order, e.number = bands[p], ByPriority, Retraction(p)
			w.federate.push(e)
		}
	}
}

// reflectKept tells a federate the last values of attributes, as if they were updated now.
func (x *Execution) reflectKept(f *Federate, o *object, set Set) {
	m := x.messages.get()
	m.kind, m.object, m.class = Reflected, o.id, o.class
	total := 0
	for r := set; r != 0; r &= r - 1 {
		total += len(o.values[bits.TrailingZeros64(uint64(r))])
	}
	m.buffer = slices.Grow(m.buffer[:0], total)
	for r := set; r != 0; r &= r - 1 {
		slot := bits.TrailingZeros64(uint64(r))
		m.slots = append(m.slots, uint8(slot))
		m.values = append(m.values, Value{x.model.Classes[o.class].Attributes[slot],
			m.copied(o.values[slot])})
	}
	m.refs++
	f.push(entry{kind: Reflected, object: o.id, class: o.watcher(f.id).class, mask: set,
		message: m})
	x.messages.release(m)
}

// A lateUpdate is an object of which a federate has been told less than there was.
type lateUpdate struct {
	object   ObjectID
	federate FederateID
}

// flushRates tells what was left out of reflections, where the interval is over.
func (x *Execution) flushRates() {
	late := x.late
	x.late = x.late[:0]
	for _, l := range late {
		o := x.byID[l.object]
		if o == nil || o.dying != nil {
			continue
		}
		w := o.watcher(l.federate)
		switch {
		case w == nil || w.held == 0:
			continue
		case x.now < w.due:
			x.late = append(x.late, l)
			continue
		}
		held := w.held & w.mask
		w.held, w.due = 0, x.now+w.interval
		if held != 0 {
			x.reflectKept(w.federate, o, held)
		}
	}
}

// Delete removes an object for everybody. That takes the privilege.
func (f *Federate) Delete(id ObjectID, how Sending) (Retraction, error) {
	if err := f.acts(); err != nil {
		return 0, err
	}
	o, err := f.object(id)
	if err != nil {
		return 0, err
	}
	if o.owners[0] != f.id {
		return 0, f.strike(fmt.Errorf("object %d: %w of the privilege to delete it", id,
			ErrNotOwner))
	}
	if len(how.Tag) > f.x.opt.Value {
		return 0, fmt.Errorf("%w: a tag of %d bytes", ErrLimit, len(how.Tag))
	}
	m := f.x.messages.get()
	m.kind, m.from, m.object, m.class = Removed, f.id, o.id, o.class
	m.buffer = slices.Grow(m.buffer[:0], len(how.Tag))
	m.tag = m.copied(how.Tag)
	if err := f.stamp(m, how); err != nil {
		m.refs = 1
		f.x.messages.release(m)
		return 0, err
	}
	m.refs++
	f.x.remove(o, m, f)
	number := f.sent(m)
	f.x.messages.release(m)
	f.x.settle()
	return number, nil
}

// remove tells everybody but one that an object is gone. If that can be retracted the object waits
// until it cannot any more.
func (x *Execution) remove(o *object, m *message, but *Federate) {
	for i := range o.watchers {
		w := &o.watchers[i]
		if w.federate == but {
			continue
		}
		e := entry{kind: Removed, object: o.id, class: w.class, message: m}
		if m.number != 0 && w.federate.clock.constrained {
			e.order = ByTime
			w.federate.queue(e)
		} else {
			w.federate.push(e)
		}
	}
	if m.number != 0 {
		o.dying = m
		return
	}
	x.drop(o)
}

// drop forgets an object.
func (x *Execution) drop(o *object) {
	for _, u := range o.regions {
		x.space.unuse(u.region, useUpdate, nil, o.id, 0)
	}
	delete(x.byID, o.id)
	delete(x.names, o.name)
	i, _ := slices.BinarySearchFunc(x.objects, o.id, func(o *object, id ObjectID) int {
		return int(int64(o.id) - int64(id))
	})
	x.objects = slices.Delete(x.objects, i, i+1)
}

// Forget has this federate know an object no more, which may be discovered anew. It must own
// nothing of it.
func (f *Federate) Forget(id ObjectID) error {
	if err := f.acts(); err != nil {
		return err
	}
	o, err := f.object(id)
	if err != nil {
		return err
	}
	if o.ownedBy(f.id) != 0 {
		return fmt.Errorf("object %d: %w: this federate owns attributes of it", id, ErrState)
	}
	f.x.unknow(o, f)
	f.x.evaluate(f, o)
	return nil
}

// unknow takes a federate from those who know an object.
func (x *Execution) unknow(o *object, f *Federate) {
	o.forget(f.id, ^Set(0))
	for i := range o.watchers {
		if o.watchers[i].federate == f {
			mask := o.watchers[i].mask
			o.watchers = slices.Delete(o.watchers, i, i+1)
			x.advise(o, mask)
			return
		}
	}
}

// Request asks the owners of an object's attributes to tell their values.
func (f *Federate) Request(id ObjectID, tag []byte, attributes ...AttributeID) error {
	if err := f.acts(); err != nil {
		return err
	}
	o, err := f.object(id)
	if err != nil {
		return err
	}
	s, err := f.x.set(o.class, attributes)
	if err != nil {
		return err
	}
	if len(tag) > f.x.opt.Value {
		return fmt.Errorf("%w: a tag of %d bytes", ErrLimit, len(tag))
	}
	f.x.provide(o, s, slices.Clone(tag), f)
	return nil
}

// RequestClass asks for the values of all known objects of a class and below.
func (f *Federate) RequestClass(c ClassID, tag []byte, attributes ...AttributeID) error {
	if err := f.acts(); err != nil {
		return err
	}
	s, err := f.checkClass(c, attributes)
	if err != nil {
		return err
	}
	if len(tag) > f.x.opt.Value {
		return fmt.Errorf("%w: a tag of %d bytes", ErrLimit, len(tag))
	}
	tag = slices.Clone(tag)
	for _, o := range f.x.objects {
		if o.dying == nil && f.x.model.Is(o.class, c) && o.watcher(f.id) != nil {
			f.x.provide(o, f.x.model.translate(s, c, o.class), tag, f)
		}
	}
	return nil
}

func (x *Execution) provide(o *object, s Set, tag []byte, by *Federate) {
	for s != 0 {
		owner := o.owners[bits.TrailingZeros64(uint64(s))]
		own := o.ownedBy(owner) & s
		s &^= own
		if f := x.federate(owner); f != nil && f != by {
			f.push(entry{kind: Provide, object: o.id, class: o.class, from: by.id, tag: tag,
				list: x.attributes(o.class, own)})
		}
	}
}

// NameOf is the name of an object that this federate knows.
func (f *Federate) NameOf(id ObjectID) (string, bool) {
	o, err := f.object(id)
	if err != nil {
		return "", false
	}
	return o.name, true
}

// Lookup finds an object that this federate knows by its name.
func (f *Federate) Lookup(name string) (ObjectID, bool) {
	id := f.x.names[name]
	_, err := f.object(id)
	return id, err == nil
}

// ClassOf is the class of an object that this federate knows, as it was registered: the one that
// its attributes are of.
func (f *Federate) ClassOf(id ObjectID) (ClassID, bool) {
	o, err := f.object(id)
	if err != nil {
		return 0, false
	}
	return o.class, true
}
