package tunnel

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// A sight knows what players should be shown, by the title as it was written. Whoever sets a knob
// so that players see less saves bytes, and must be told what that costs.
type sight struct {
	title  *game.Title
	views  game.Views
	finder *interest.Finder
	eyes   []interest.Observer // by seat
	shown  []interest.View
	now    world.Tick // for which it was looked
}

// sightEvery is after how many ticks it is looked.
const sightEvery = 5

func newSight(t *game.Title, seats int) *sight {
	return &sight{title: t, finder: interest.NewFinder(), eyes: make([]interest.Observer, seats),
		shown: make([]interest.View, seats)}
}

// follow finds out what players should be shown of a tick.
func (x *sight) follow(t *Trial, w *world.World, count bool) {
	if x == nil || !count || t.body < 0 || w.Tick()%sightEvery != 0 {
		return
	}
	if x.views == nil {
		var err error
		if x.views, err = x.title.NewViews(w, t.Subject.On(t.Seed)); err != nil {
			t.Fail(err)
			return
		}
	}
	if err := x.views.Follow(w); err != nil {
		t.Fail(err)
		return
	}
	for i, s := range t.Seats {
		o := &x.eyes[i]
		o.Player, o.RoundTrip = s.Me, 0
		index, rules := x.views.Sight(w, s.Me, o)
		x.finder.Update(&x.shown[i], index, rules, *o)
	}
	x.now = w.Tick()
}

// compare counts the bodies of others that should be in a picture, and those that are not.
func (x *sight) compare(s *Seat, f *frame) {
	truth := &s.trial.truth
	if x == nil || x.now != truth.tick {
		return
	}
	for _, e := range x.shown[s.Index].Entries() {
		if is := find(truth.poses, e.ID); is == nil || is.Owner == s.Me {
			continue
		}
		s.Due++
		if find(f.poses, e.ID) == nil {
			s.Absent++
		}
	}
}
