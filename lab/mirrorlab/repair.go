package mirrorlab

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// repairs find out whom a repair of a leading world has moved: the world as it was shown last takes
// the step that the repaired one took, and then they are compared. So what is found is what came of
// the repair, and not of the tick that passed meanwhile.
type repairs struct {
	last  *world.World // as it was shown
	in    *world.Inputs
	image []int32
	list  map[world.Player][]time.Duration // when a player's body was changed
	count int
}

// remember keeps the leading world as it is shown now.
func (s *machine) remember(w *world.World) {
	r := &s.repair
	if r.last == nil {
		r.last, r.in, r.list = w.Host().Clone(), s.Title.Game.NewInputs(),
			map[world.Player][]time.Duration{}
		r.image = make([]int32, len(s.Title.Game.Commands().Slots))
		return
	}
	s.Fail(r.last.Host().CopyFrom(w))
}

// repaired is called when the leading world was taken back in the last poll.
func (s *machine) repaired(w *world.World) {
	r := &s.repair
	if r.last == nil || w.Tick() < r.last.Tick() || w.Tick()-r.last.Tick() > 8 {
		return
	}
	for r.last.Tick() < w.Tick() {
		r.in.Reset()
		t := r.last.Tick() + 1
		for p := range w.Players {
			if t == w.Tick() {
				if !w.Repeated(p) && w.Host().CommandImage(p, r.image) {
					s.Fail(r.in.GiveImage(p, r.image))
				}
			} else if x := s.find(p, t); x != nil && x.at == s.index {
				s.Fail(r.in.GiveImage(p, x.image)) // of others it is not known when they came
			}
		}
		_ = r.last.Host().Step(r.in) // the mirror's own world reports the same errors
	}
	for id := range w.Host().Of(s.Body) {
		u := s.of[s.Of[w.Owner(id)]]
		if u == nil || u.home != s.index || r.last.Has(id) &&
			slices.Equal(r.last.Host().Image(id), w.Host().Image(id)) {
			continue
		}
		if s.struck(id) {
			s.Strike(u.Me, w.Tick())
			continue
		}
		r.list[u.Me] = append(r.list[u.Me], s.Net.Now())
		if s.On {
			r.count++
		}
	}
	s.Fail(r.last.Host().CopyFrom(w))
}

// struck says that with the repair came news of something that others did to a body, and nothing
// about it was taken back: a shot of another mirror's player is told as late as it comes, as by a
// server that is far away. The correction counts as one for a hit, and not for the repair.
func (s *machine) struck(id world.ID) (news bool) {
	for _, n := range s.mirror.Timeline().Notices() {
		if n.Event.About != id || n.Event.By == id {
			continue
		}
		switch n.What {
		case timeline.Provisional:
			news = true
		case timeline.Retracted:
			return false
		}
	}
	return news
}

// tookBack says whether a repair changed a player's body after the snapshot of one tick was sent,
// and not after that of another.
func (s *machine) tookBack(p world.Player, from, to world.Tick) bool {
	a, b := s.log.reach.At(from), s.log.reach.At(to)
	if a == nil || b == nil {
		return false
	}
	list := s.repair.list[p]
	for len(list) > 0 && list[0] <= *a {
		list = list[1:]
	}
	s.repair.list[p] = list
	return len(list) > 0 && list[0] <= *b
}
