package interest

import "github.com/coeval-dev/coeval/world"

// A Follower keeps an index up to date with a world. Each time it describes every entity anew and
// compares, so it may be used at any tick, and after a world was copied over. A program that knows
// what changed may call Index.Set and Index.Remove itself instead.
type Follower struct {
	ix           *Index
	descriptions []Description
	known        []followed // by class
	next         []world.ID
}

// followed is what a Follower knows of a class.
type followed struct {
	as  *Description // nil until there was an entity to try them on
	ids []world.ID   // what was there the last time, in order
}

// A Description tells a Follower what the entities of one class are like. Describe and
// DescribeClass make it.
type Description struct {
	traits func(w *world.World, id world.ID) Traits
	class  int // by number, where an entity need not show it
	// whether an entity is of the class; nil if it is by number
	is func(w *world.World, id world.ID) bool
}

// Describe gives the traits of entities of type T. An Owner that is left out is the one that the
// world knows.
func Describe[T any](traits func(w *world.World, id world.ID, e *T) Traits) Description {
	return Description{
		traits: func(w *world.World, id world.ID) Traits {
			if e := world.Get[T](w, id); e != nil {
				return traits(w, id, e)
			}
			return Traits{Never: true}
		},
		is: func(w *world.World, id world.ID) bool { return world.Get[T](w, id) != nil },
	}
}

// DescribeClass gives the traits of entities of a class by its number in the game, as
// ClassInfo.Number has it, for programs that know their classes as numbers and not as types. An
// Owner that is left out is the one that the world knows. One of a class that the game does not
// have describes nothing.
func DescribeClass(class int, traits func(w *world.World, id world.ID) Traits) Description {
	return Description{traits: traits, class: class}
}

// undescribed are classes of which nothing is said: without a place, and shown to everyone who has
// source Always, so that a game works before its author thinks of interest.
var undescribed = Description{traits: func(*world.World, world.ID) Traits {
	return Traits{Always: true, Nowhere: true}
}}

// NewFollower makes a follower by descriptions of classes. Entities of other classes have no place,
// and the trait Always.
func NewFollower(ix *Index, descriptions ...Description) *Follower {
	return &Follower{ix: ix, descriptions: descriptions}
}

// Follow brings the index up to date with the world: once a tick, or each time before views are
// updated. States are not entities; every client has them.
func (f *Follower) Follow(w *world.World) {
	for n, c := range w.Game().Classes() {
		if n >= len(f.known) {
			f.known = append(f.known, followed{})
		}
		if !c.State() {
			f.class(w, n)
		}
	}
}

// class walks through what is and what was, both in order, and so sees what is gone.
func (f *Follower) class(w *world.World, number int) {
	k := &f.known[number]
	was := k.ids
	f.next = f.next[:0]
	for id := range w.Host().Of(number) {
		if k.as == nil {
			k.as = f.describe(w, id)
		}
		for len(was) > 0 && was[0] < id {
			f.ix.Remove(was[0])
			was = was[1:]
		}
		if len(was) > 0 && was[0] == id {
			was = was[1:]
		}
		t := k.as.traits(w, id)
		if t.Owner == world.Nobody {
			t.Owner = w.Owner(id)
		}
		f.ix.Set(id, t)
		f.next = append(f.next, id)
	}
	for _, id := range was {
		f.ix.Remove(id)
	}
	k.ids, f.next = f.next, k.ids
}

// describe finds the first description of the class of an entity.
func (f *Follower) describe(w *world.World, id world.ID) *Description {
	for i := range f.descriptions {
		d := &f.descriptions[i]
		if d.is == nil && d.class == id.Class() || d.is != nil && d.is(w, id) {
			return d
		}
	}
	return &undescribed
}
