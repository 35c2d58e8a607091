package game

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// A Sight says who is shown what. The zero value shows everything to everyone. What the classes are
// like to interest management, they say themselves: see Seen and Eye.
type Sight struct {
	// Reach is how far players see, in the world's units: they are shown their own things, what is
	// for everyone, and what is within reach. For most games that is all there is to say.
	Reach float64
	// Rules, if set, make other rules than those of Reach: for players, and for those who watch
	// (nil: the same).
	Rules func() (players, spectators *interest.Rules)
	// Weights are how much classes matter beside each other, by their names, where there is not
	// room for all in a packet: for Reach and Rules. A class without one has 1.
	Weights map[string]float64
	// Index fits the search to the game.
	Index interest.Options
	// Views, if set, finds views by something else altogether, for each new world: for games whose
	// interest depends on the map. The traits are those of the title's classes, for
	// interest.NewFollower.
	Views func(w *world.World, l Level, traits []interest.Description) (Views, error)
}

// Views finds what clients are shown of one world.
type Views interface {
	// Follow takes in what the last tick changed, before views are looked for.
	Follow(w *world.World) error
	// Sight says where to look for what a player is shown, and by which rules. The observer has the
	// Player and RoundTrip of the client already, and the place from where it looked last; the rest
	// is to be filled in. It is called from several goroutines at once, and must not change the
	// world. Those who watch are world.Nobody.
	Sight(w *world.World, p world.Player, o *interest.Observer) (*interest.Index, *interest.Rules)
}

// leaveBeyond is how much further than it came into sight something goes out of it, as a part of
// the reach: what walks along the edge does not flicker.
const leaveBeyond = 0.05

// rules are those of a reach, or of no bounds.
func (s *Sight) rules() (players, spectators *interest.Rules) {
	switch {
	case s.Rules != nil:
		players, spectators = s.Rules()
	case s.Reach > 0:
		players = &interest.Rules{Sources: []interest.Source{
			&interest.Owned{Weight: 4}, &interest.Always{Weight: 0.5},
			&interest.Radius{Enter: s.Reach, Leave: float64(s.Reach * (1 + leaveBeyond))},
		}}
	}
	if players == nil {
		players = &interest.Rules{Sources: []interest.Source{&interest.Everything{}}}
	}
	if spectators == nil {
		spectators = players
	}
	return players, spectators
}

// weighted are rules in which classes weigh as Sight says.
func (t *Title) weighted(r *interest.Rules) *interest.Rules {
	if len(t.Sight.Weights) == 0 {
		return r
	}
	out := *r
	out.Weights = make([]float32, len(t.Game.Classes()))
	copy(out.Weights, r.Weights)
	for i, c := range t.Game.Classes() {
		if w, ok := t.Sight.Weights[c.Name()]; ok && out.Weights[i] >= 0 {
			out.Weights[i] = float32(w)
		}
	}
	return &out
}

// NewViews makes what finds views of a new world.
func (t *Title) NewViews(w *world.World, l Level) (Views, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if t.Sight.Views != nil {
		return t.Sight.Views(w, l, t.traits())
	}
	o := t.Sight.Index
	if o.Cell == 0 && t.Sight.Reach > 0 {
		o.Cell = t.Sight.Reach
	}
	v := &views{index: interest.NewIndex(o)}
	v.players, v.spectators = t.Sight.rules()
	v.players, v.spectators = t.weighted(v.players), t.weighted(v.spectators)
	var eyes []interest.Description
	for _, c := range t.eyes() { // before the others, as the first description of a class counts
		eyes = append(eyes, v.watch(c))
	}
	v.follower = interest.NewFollower(v.index, append(eyes, t.traits()...)...)
	return v, nil
}

// traits describe the title's classes to package interest: by their Traits methods, or by where
// their places are.
func (t *Title) traits() (list []interest.Description) {
	for i := range t.classes {
		c := &t.classes[i]
		switch {
		case c.info == nil || c.info.State():
		case c.seen:
			list = append(list,
				interest.DescribeClass(c.info.Number(),
					func(w *world.World, id world.ID) interest.Traits {
						if e, ok := w.Host().Value(id).(Seen); ok {
							return e.Traits(w, id)
						}
						return interest.Traits{Never: true}
					}))
		case len(c.place.Slots) > 0:
			list = append(list,
				interest.DescribeClass(c.info.Number(),
					func(w *world.World, id world.ID) interest.Traits {
						return c.placed(w, id)
					}))
		}
	}
	return list
}

// at is where an entity's image says that it is.
func (c *class) at(w *world.World, id world.ID) det.Vec3 {
	image := w.Host().Image(id)
	if image == nil {
		return det.Vec3{}
	}
	slots := c.info.Schema().Slots
	var v [3]float64
	for i, slot := range c.place.Slots[:min(len(c.place.Slots), len(v))] {
		v[i] = float64(image[slot]) * slots[slot].Scale
	}
	return det.Vec3{X: v[0], Y: v[1], Z: v[2]}
}

// eyes are the classes that players look through: those with the method Look, or else their body.
func (t *Title) eyes() (list []*class) {
	for i := range t.classes {
		if c := &t.classes[i]; c.eye {
			list = append(list, c)
		}
	}
	for i := range t.classes {
		if c := &t.classes[i]; c.body > 0 && len(list) == 0 {
			list = append(list, c)
		}
	}
	return list
}

// views are those of a Sight itself. Where players look from is gathered once a tick, while the
// follower goes through everything there is.
type views struct {
	players, spectators *interest.Rules
	index               *interest.Index
	follower            *interest.Follower

	looks []interest.Observer // by player
	known []bool              // of which players there is one, by player
}

// Follow takes in what changed.
func (v *views) Follow(w *world.World) error {
	clear(v.known)
	v.follower.Follow(w)
	return nil
}

// watch describes a class that players look through, as traits does, and notes from where they
// look.
func (v *views) watch(c *class) interest.Description {
	return interest.DescribeClass(c.info.Number(),
		func(w *world.World, id world.ID) (t interest.Traits) {
			owner, none := w.Owner(id), interest.Observer{}
			o := &none
			if owner != world.Nobody {
				o = v.look(owner)
			}
			switch e := w.Host().Value(id).(type) {
			case seenEye:
				t, *o = e.Traits(w, id), e.Look(w, id)
			case Seen:
				t, *o = e.Traits(w, id), interest.Observer{Pos: c.at(w, id)}
			case Eye:
				t, *o = c.placed(w, id), e.Look(w, id)
			default:
				t = c.placed(w, id)
				*o = interest.Observer{Pos: t.Pos}
			}
			if t.Owner == world.Nobody {
				t.Owner = owner
			}
			return t
		})
}

// A seenEye is most of what players look through, and so tried first.
type seenEye interface {
	Seen
	Eye
}

// placed are the traits of a class that says no more than where it is, or not even that.
func (c *class) placed(w *world.World, id world.ID) interest.Traits {
	if len(c.place.Slots) == 0 {
		return interest.Traits{Always: true, Nowhere: true}
	}
	return interest.Traits{Pos: c.at(w, id)}
}

// look is where it is kept from where a player looks.
func (v *views) look(p world.Player) *interest.Observer {
	for int(p) >= len(v.looks) {
		v.looks, v.known = append(v.looks, interest.Observer{}), append(v.known, false)
	}
	v.known[p] = true
	return &v.looks[p]
}

// Sight says what a player is shown. Who watches looks over the shoulder of the first player there
// is.
func (v *views) Sight(_ *world.World, p world.Player, o *interest.Observer) (*interest.Index,
	*interest.Rules) {
	rules, from := v.players, int(p)
	if p == world.Nobody {
		rules = v.spectators
		for from < len(v.known) && !v.known[from] {
			from++
		}
	}
	if from < len(v.known) && v.known[from] {
		eye := v.looks[from]
		eye.Player, eye.RoundTrip = o.Player, o.RoundTrip
		*o = eye
	}
	return v.index, rules
}
