package federation

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/federation/overlap"
	"github.com/coeval-dev/coeval/internal/heap"
)

// A saving is a save or a restore under way. Without one nothing is stopped and nobody awaited.
type saving struct {
	label   string
	restore bool
	timed   bool
	at      Time
	begun   bool
	waits   []*Federate
	failed  bool
	state   *state
}

const maxSaves = 64

// stops says whether nobody may change anything, as all save what they have.
func (s *saving) stops() bool { return s != nil && s.begun }

func (s *saving) awaits(f *Federate) bool { return s.stops() && slices.Contains(s.waits, f) }

// holds says whether a federate must not be granted a time before the save has begun.
func (s *saving) holds(t Time) bool { return s != nil && !s.begun && s.timed && t > s.at }

func (s *saving) lost(x *Execution, f *Federate) {
	if s == nil {
		return
	}
	if i := slices.Index(s.waits, f); i >= 0 {
		s.waits, s.failed = slices.Delete(s.waits, i, i+1), true
	}
	if s.begun {
		s.failed = true
		x.endSaving()
	}
}

// RequestSave has the whole federation saved under a label, now.
func (f *Federate) RequestSave(label string) error { return f.requestSave(label, false, 0) }

// RequestSaveAt has it saved when everybody who is constrained is at a time.
func (f *Federate) RequestSaveAt(label string, t Time) error {
	return f.requestSave(label, true, t)
}

func (f *Federate) requestSave(label string, timed bool, t Time) error {
	if err := f.acts(); err != nil {
		return err
	}
	x := f.x
	if err := checkName("a save", label); err != nil {
		return err
	}
	switch {
	case x.saving != nil:
		return fmt.Errorf("%w: save %q is under way", ErrState, x.saving.label)
	case len(x.saves) >= maxSaves && x.saves[label] == nil:
		return fmt.Errorf("%w: there are %d saves", ErrLimit, maxSaves)
	case timed && slices.ContainsFunc(x.federates, func(g *Federate) bool {
		return g.clock.constrained && g.clock.now > t
	}):
		return fmt.Errorf("%w: somebody is beyond %d already", ErrTime, t)
	}
	x.saving = &saving{label: label, timed: timed, at: t}
	x.unsettled = true
	x.settle()
	x.beginSave()
	return nil
}

// beginSave begins a save that was asked for when nobody can go on without passing its time.
func (x *Execution) beginSave() {
	s := x.saving
	if s == nil || s.begun {
		return
	}
	if s.timed && slices.ContainsFunc(x.federates, func(f *Federate) bool {
		c := &f.clock
		return c.constrained && c.now < s.at && (c.asked == idle || c.at <= s.at)
	}) {
		return
	}
	s.begun, s.waits = true, slices.Clone(x.federates)
	for _, f := range x.federates {
		f.push(entry{kind: SaveBegins, name: s.label, time: s.at})
	}
}

// Saved says that this federate has saved or restored what is its own, or could not.
func (f *Federate) Saved(ok bool) error {
	if err := f.alive(); err != nil {
		return err
	}
	s := f.x.saving
	if !s.awaits(f) {
		return fmt.Errorf("%w: nothing is being saved or restored", ErrState)
	}
	s.waits = slices.DeleteFunc(s.waits, func(g *Federate) bool { return f == g })
	s.failed = s.failed || !ok
	f.x.endSaving()
	return nil
}

// endSaving ends a save or restore when all have said that they are done.
func (x *Execution) endSaving() {
	s := x.saving
	if len(s.waits) > 0 {
		return
	}
	x.saving = nil
	kind, ok := SaveEnded, !s.failed
	switch {
	case s.restore:
		kind = RestoreEnded
		if ok {
			x.setState(s.state)
		}
	case ok:
		x.saves[s.label] = x.state().encode()
		x.fresh = append(x.fresh, s.label)
	}
	for _, f := range x.federates {
		f.push(entry{kind: kind, name: s.label, ok: ok, from: f.id})
	}
	x.unsettled = true
	x.settle()
}

// RequestRestore has the whole federation go back to what was saved under a label. The same
// federates must be in, by their names.
func (f *Federate) RequestRestore(label string) error {
	if err := f.acts(); err != nil {
		return err
	}
	x := f.x
	if x.saving != nil {
		return fmt.Errorf("%w: save %q is under way", ErrState, x.saving.label)
	}
	data := x.saves[label]
	if data == nil {
		return fmt.Errorf("save %q: %w", label, ErrUnknown)
	}
	st, err := decodeState(data)
	if err != nil {
		return fmt.Errorf("save %q: %w", label, err)
	}
	if len(st.Federates) != len(x.federates) {
		return fmt.Errorf("%w: %d federates were saved, and %d are in", ErrState,
			len(st.Federates), len(x.federates))
	}
	for i := range st.Federates {
		if x.Find(st.Federates[i].Name) == nil {
			return fmt.Errorf("%w: federate %q was saved, and is not in", ErrState,
				st.Federates[i].Name)
		}
	}
	x.saving = &saving{label: label, restore: true, begun: true, state: st,
		waits: slices.Clone(x.federates)}
	for _, g := range x.federates {
		g.push(entry{kind: RestoreBegins, name: label})
	}
	return nil
}

// Save is what was saved under a label, to be kept elsewhere: nil if there is none.
func (x *Execution) Save(label string) []byte { return slices.Clone(x.saves[label]) }

// Fresh are the labels under which something was saved since the last call, for a program that
// takes saves elsewhere.
func (x *Execution) Fresh() []string {
	labels := x.fresh
	x.fresh = nil
	return labels
}

// LoadSave has what another execution of this model saved be there to restore.
func (x *Execution) LoadSave(label string, data []byte) error {
	st, err := decodeState(data)
	if err != nil {
		return err
	}
	if st.Model != x.model.fingerprint() {
		return errors.New("the save is of another object model: extend the model as it was then")
	}
	x.saves[label] = slices.Clone(data)
	return nil
}

// fingerprint is what is the same of equal models alone.
func (m *Model) fingerprint() string {
	data, _ := json.Marshal(m)
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// A state is all of an execution that a save has.
type state struct {
	Model      string
	Sequence   uint64
	NextID     FederateID
	NextObject ObjectID
	LastRegion RegionID
	Reserved   map[string]FederateID
	Messages   []savedMessage
	Federates  []savedFederate
	Regions    []savedRegion
	Objects    []savedObject
}

type savedMessage struct {
	From      FederateID
	Object    ObjectID
	Class     ClassID
	Action    InteractionID
	Kind      Kind
	Time      Time
	Number    Retraction
	Told      []FederateID
	Tag       []byte
	Values    []Value
	Slots     []byte
	Arguments []Argument
}

type savedFederate struct {
	ID            FederateID
	Name          string
	Publishes     []Set
	Subscribes    []savedSubscription
	PublishesAct  []bool
	SubscribesAct []savedAct
	Now           Time
	Lookahead     Time
	Floor         Time
	Regulates     bool
	Constrained   bool
	Closed        bool
	Asked         request
	At            Time
	Queue         []savedEntry
	Sent          []int
}

type savedSubscription struct {
	Plain    Set
	Interval time.Duration
	Regions  []savedUse
}

type savedAct struct {
	Plain   bool
	Regions []RegionID
}

type savedUse struct {
	Region RegionID
	Set    Set
}

type savedEntry struct {
	Kind    Kind
	Mask    Set
	Class   ClassID
	Object  ObjectID
	Message int
}

type savedRegion struct {
	ID        RegionID
	Owner     FederateID
	Dims      []DimensionID
	Box, Next overlap.Box
}

type savedObject struct {
	ID              ObjectID
	Class           ClassID
	By              FederateID
	Name            string
	Owners          []FederateID
	Offered, Agreed Set
	Wanted, Told    Set
	Waits           []savedClaim
	Watchers        []savedWatcher
	Regions         []savedUse
	Values          [][]byte
	Dying           int // its removal, plus one
}

type savedClaim struct {
	Federate FederateID
	Set      Set
	Tag      []byte
}

type savedWatcher struct {
	Federate FederateID
	Class    ClassID
	Mask     Set
	Interval time.Duration
}

func (s *state) encode() []byte {
	data, _ := json.Marshal(s)
	sum := sha256.Sum256(data)
	return append(sum[:], data...)
}

var errDamaged = errors.New("the save is damaged: use another one")

func decodeState(data []byte) (*state, error) {
	if len(data) < sha256.Size {
		return nil, errDamaged
	}
	if sum := sha256.Sum256(data[sha256.Size:]); !bytes.Equal(sum[:], data[:sha256.Size]) {
		return nil, errDamaged
	}
	s := &state{}
	if err := json.Unmarshal(data[sha256.Size:], s); err != nil {
		return nil, fmt.Errorf("%w (%w)", errDamaged, err)
	}
	return s, nil
}

// state copies what is to be saved.
func (x *Execution) state() *state {
	s := &state{Model: x.model.fingerprint(), Sequence: x.sequence, NextID: x.nextID,
		NextObject: x.nextObj, LastRegion: x.space.last, Reserved: x.reserved}
	index := map[*message]int{}
	number := func(m *message) int {
		i, ok := index[m]
		if !ok {
			i = len(s.Messages)
			index[m] = i
			s.Messages = append(s.Messages, savedMessage{m.from, m.object, m.class, m.action,
				m.kind, m.time, m.number, m.told, m.tag, m.values, m.slots, m.arguments})
		}
		return i
	}
	for _, f := range x.federates {
		s.Federates = append(s.Federates, f.save(number))
		for id, r := range x.regionsOf(f) {
			s.Regions = append(s.Regions, savedRegion{id, f.id, r.dims, r.box, r.next})
		}
	}
	for _, o := range x.objects {
		s.Objects = append(s.Objects, o.save(number))
	}
	return s
}

func (f *Federate) save(number func(*message) int) savedFederate {
	c := &f.clock
	s := savedFederate{ID: f.id, Name: f.name, Publishes: f.publishes,
		PublishesAct: f.publishesAct, Now: c.now, Lookahead: c.lookahead, Floor: c.floor,
		Regulates: c.regulates, Constrained: c.constrained, Closed: c.closed, Asked: c.asked,
		At: c.at}
	for i := range f.subscribes {
		sub := &f.subscribes[i]
		s.Subscribes = append(s.Subscribes,
			savedSubscription{sub.plain, sub.interval, saveUses(sub.regions)})
	}
	for _, a := range f.subscribesAct {
		s.SubscribesAct = append(s.SubscribesAct, savedAct{a.plain, a.regions})
	}
	for i := range c.queue {
		if e := &c.queue[i].Value; !e.message.retracted {
			s.Queue = append(s.Queue, savedEntry{e.kind, e.mask, e.class, e.object,
				number(e.message)})
		}
	}
	for _, m := range c.sent {
		s.Sent = append(s.Sent, number(m))
	}
	return s
}

func (o *object) save(number func(*message) int) savedObject {
	s := savedObject{ID: o.id, Class: o.class, By: o.by, Name: o.name, Owners: o.owners,
		Offered: o.offered, Agreed: o.agreed, Wanted: o.wanted, Told: o.told,
		Regions: saveUses(o.regions), Values: o.values}
	for _, c := range o.waits {
		s.Waits = append(s.Waits, savedClaim{c.federate.id, c.set, c.tag})
	}
	for i := range o.watchers {
		w := &o.watchers[i]
		s.Watchers = append(s.Watchers, savedWatcher{w.federate.id, w.class, w.mask, w.interval})
	}
	if o.dying != nil {
		s.Dying = number(o.dying) + 1
	}
	return s
}

func saveUses(list []regionUse) (out []savedUse) {
	for _, u := range list {
		out = append(out, savedUse{u.region, u.set})
	}
	return out
}

func loadUses(list []savedUse) (out []regionUse) {
	for _, u := range list {
		out = append(out, regionUse{u.Region, u.Set})
	}
	return out
}

// setState goes back to what was saved. Federates are the same by their names, and get the numbers
// that they had.
func (x *Execution) setState(s *state) {
	for _, f := range x.federates {
		f.reset()
	}
	x.sequence, x.nextID, x.nextObj = s.Sequence, max(x.nextID, s.NextID), s.NextObject
	x.reserved = map[string]FederateID{}
	for name, id := range s.Reserved {
		x.reserved[name] = id
	}
	x.space = space{last: s.LastRegion, regions: map[RegionID]*region{}}
	x.objects, x.byID, x.names = nil, map[ObjectID]*object{}, map[string]ObjectID{}
	x.orphans, x.late, x.points = nil, nil, nil
	messages := make([]*message, len(s.Messages))
	for i := range s.Messages {
		messages[i] = s.Messages[i].load()
	}
	for i := range s.Federates {
		x.Find(s.Federates[i].Name).load(x.model, &s.Federates[i], messages)
	}
	slices.SortFunc(x.federates, func(a, b *Federate) int { return int(int64(a.id) - int64(b.id)) })
	for i := range s.Regions {
		r := &s.Regions[i]
		x.space.regions[r.ID] = &region{owner: x.federate(r.Owner), dims: r.Dims, box: r.Box,
			next: r.Next}
	}
	for i := range s.Objects {
		x.loadObject(&s.Objects[i], messages)
	}
	for _, f := range x.federates {
		for c := range f.subscribes {
			for _, u := range f.subscribes[c].regions {
				x.space.use(u.region, useSubscription, f, 0, ClassID(c))
			}
		}
		for c := range f.subscribesAct {
			for _, r := range f.subscribesAct[c].regions {
				x.space.use(r, useInteraction, f, 0, ClassID(c))
			}
		}
	}
}

// reset drops all that a federate is and has, but its name.
func (f *Federate) reset() {
	for i := range f.queues {
		f.dropQueue(&f.queues[i])
	}
	f.waiting, f.bytes = 0, 0
	for _, it := range f.clock.queue {
		f.x.messages.release(it.Value.message)
	}
	for _, m := range f.clock.sent {
		f.x.messages.release(m)
	}
	f.clock = clock{}
}

func (s *savedMessage) load() *message {
	m := &message{from: s.From, object: s.Object, class: s.Class, action: s.Action, kind: s.Kind,
		stamped: true, time: s.Time, number: s.Number, told: s.Told}
	total := len(s.Tag)
	for _, v := range s.Values {
		total += len(v.Data)
	}
	for _, a := range s.Arguments {
		total += len(a.Data)
	}
	m.buffer = make([]byte, 0, total)
	m.tag = m.copied(s.Tag)
	m.slots = s.Slots
	for _, v := range s.Values {
		m.values = append(m.values, Value{v.Attribute, m.copied(v.Data)})
	}
	for _, a := range s.Arguments {
		m.arguments = append(m.arguments, Argument{a.Parameter, m.copied(a.Data)})
	}
	return m
}

func (f *Federate) load(m *Model, s *savedFederate, messages []*message) {
	f.id = s.ID
	f.publishes, f.publishesAct = slices.Clone(s.Publishes), slices.Clone(s.PublishesAct)
	f.subscribes, f.subscribesAct = nil, nil
	for _, sub := range s.Subscribes {
		f.subscribes = append(f.subscribes,
			subscription{sub.Plain, sub.Interval, loadUses(sub.Regions)})
	}
	for _, a := range s.SubscribesAct {
		f.subscribesAct = append(f.subscribesAct, actSubscription{a.Plain, a.Regions})
	}
	f.grow(m)
	f.clock = clock{now: s.Now, lookahead: s.Lookahead, floor: s.Floor, regulates: s.Regulates,
		constrains: s.Constrained || s.Asked == toConstrain, constrained: s.Constrained,
		asked: s.Asked, at: s.At, closed: s.Closed}
	for _, e := range s.Queue {
		n := entry{kind: e.Kind, order: ByTime, mask: e.Mask, class: e.Class, object: e.Object,
			message: messages[e.Message]}
		n.message.refs++
		f.bytes += n.size()
		f.clock.queue = f.clock.queue.Push(heap.Item[Time, entry]{Key: n.message.time,
			Order: n.message.order(), Value: n})
	}
	for _, i := range s.Sent {
		messages[i].refs++
		f.clock.sent = append(f.clock.sent, messages[i])
	}
}

func (x *Execution) loadObject(s *savedObject, messages []*message) {
	o := &object{id: s.ID, class: s.Class, by: s.By, name: s.Name, owners: slices.Clone(s.Owners),
		offered: s.Offered, agreed: s.Agreed, wanted: s.Wanted, told: s.Told,
		regions: loadUses(s.Regions)}
	for _, v := range s.Values {
		o.values = append(o.values, slices.Clone(v))
	}
	o.grow(x.model)
	for _, c := range s.Waits {
		o.waits = append(o.waits, claim{x.federate(c.Federate), c.Set, c.Tag})
	}
	for _, w := range s.Watchers {
		o.watchers = append(o.watchers, watcher{federate: x.federate(w.Federate), class: w.Class,
			mask: w.Mask, interval: w.Interval})
	}
	if s.Dying > 0 {
		o.dying = messages[s.Dying-1]
	}
	x.objects = append(x.objects, o)
	x.byID[o.id], x.names[o.name] = o, o.id
	for _, u := range o.regions {
		x.space.use(u.region, useUpdate, nil, o.id, 0)
	}
}
