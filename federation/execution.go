package federation

import (
	"errors"
	"fmt"
	"time"
)

// A FederateID is the number of a federate in an execution. It is never zero, and never given to
// another.
type FederateID uint32

// An ObjectID is the number of an object. It is never zero, and never given to another.
type ObjectID uint32

// Errors that callers tell apart. What a method returns wraps one of them and says more.
var (
	ErrName     = errors.New("the name is taken")
	ErrUnknown  = errors.New("there is no such thing")
	ErrNotOwner = errors.New("not the owner")
	ErrState    = errors.New("not now")
	ErrTime     = errors.New("too early")
	ErrLimit    = errors.New("beyond a limit")
	ErrGone     = errors.New("the federate has left")
)

// Options of an execution. The zero value is fit for use.
type Options struct {
	// Federates, Objects and Regions are the most there may be: 1024, 1<<20 and 1<<20 if zero.
	Federates, Objects, Regions int
	// Value is the longest value of an attribute or parameter, and Values are the bytes that one
	// update or interaction may have in all: 64 KiB and 256 KiB if zero.
	Value, Values int
	// Queue is how many bytes and Waiting how many notices may wait for one federate: 64 MiB and
	// 1<<18 if zero. A federate that takes nothing for so long is put out.
	Queue, Waiting int
	// Strikes is how often a federate may break what it has promised, or claim what is not its
	// own, before it is put out. Zero is 100; negative is any number.
	Strikes int
	// Patience is for how long others wait for a federate's time, or for its word in a
	// synchronisation, save or restore, until all are told who keeps them waiting; after four
	// times as long it is put out. Zero waits for ever.
	Patience time.Duration
	// Lost is what becomes of what a federate owns that is put out or was lost, if nobody takes
	// it within Adopt.
	Lost Resignation
	// Adopt is for how long what a lost federate owned is offered to others before objects of
	// which nobody owns anything are deleted.
	Adopt time.Duration
}

func (o Options) filled() Options {
	for _, d := range []struct {
		v   *int
		def int
	}{{&o.Federates, 1024}, {&o.Objects, 1 << 20}, {&o.Regions, 1 << 20}, {&o.Value, 64 << 10},
		{&o.Values, 256 << 10}, {&o.Queue, 64 << 20}, {&o.Waiting, 1 << 18}, {&o.Strikes, 100}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if o.Lost == 0 {
		o.Lost = DeleteThenDivest
	}
	return o
}

// An Execution is a federation while it runs. It is a machine without goroutines and clocks, and
// belongs to one goroutine. Federates call methods of their [Federate], and take what they are to
// be told from there.
type Execution struct {
	opt   Options
	model *Model
	now   time.Duration

	federates []*Federate // by number of joining; those who left are taken out
	nextID    FederateID

	objects  []*object // by number
	byID     map[ObjectID]*object
	names    map[string]ObjectID
	reserved map[string]FederateID
	nextObj  ObjectID

	space  space
	points []*point
	saving *saving
	saves  map[string][]byte
	fresh  []string // labels of saves that nobody has asked for yet

	messages pool
	sequence uint64
	orphans  []orphan
	late     []lateUpdate

	doomed []doomed

	round               []*Federate // scratch
	settling, unsettled bool
}

// New begins an execution with a model.
func New(m *Model, o Options) *Execution {
	return &Execution{opt: o.filled(), model: m, byID: map[ObjectID]*object{},
		names: map[string]ObjectID{}, reserved: map[string]FederateID{}, saves: map[string][]byte{}}
}

// Model is what the execution's classes are. It is replaced when it grows, and never changed.
func (x *Execution) Model() *Model { return x.model }

// Extend adds to the model, and tells every federate. What clashes is refused as a whole.
func (x *Execution) Extend(f *ModelFile) error {
	m, err := x.model.Extended(f)
	if err != nil {
		return err
	}
	x.model = m
	for _, f := range x.federates {
		f.grow(m)
		f.push(entry{kind: Extended})
	}
	for _, o := range x.objects {
		o.grow(m)
	}
	return nil
}

// Federates are those who are in, by when they joined.
func (x *Execution) Federates() []*Federate { return x.federates }

// Find is the federate of a name, or nil.
func (x *Execution) Find(name string) *Federate {
	for _, f := range x.federates {
		if f.name == name {
			return f
		}
	}
	return nil
}

// Join lets a federate in under a name that no other has.
func (x *Execution) Join(name string) (*Federate, error) {
	if err := checkName("a federate", name); err != nil {
		return nil, err
	}
	switch {
	case x.Find(name) != nil:
		return nil, fmt.Errorf("federate %q: %w", name, ErrName)
	case len(x.federates) >= x.opt.Federates:
		return nil, fmt.Errorf("%w: there are %d federates", ErrLimit, len(x.federates))
	case x.saving != nil:
		return nil, fmt.Errorf("%w: the federation is being saved or restored", ErrState)
	}
	x.nextID++
	f := &Federate{x: x, id: x.nextID, name: name, heard: x.now}
	f.grow(x.model)
	x.federates = append(x.federates, f)
	x.joinPoints(f)
	return f, nil
}

// Empty says whether nobody is in: then the execution may be destroyed.
func (x *Execution) Empty() bool { return len(x.federates) == 0 }

// Tick tells the time, on any clock that runs forward: for patience, rates and adoption.
func (x *Execution) Tick(now time.Duration) {
	x.now = max(x.now, now)
	x.adopt()
	x.watch()
	x.flushRates()
	x.settle()
}

// Objects is how many objects there are.
func (x *Execution) Objects() int { return len(x.objects) }
