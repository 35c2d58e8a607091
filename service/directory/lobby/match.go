package lobby

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// A Matcher is a game's rule of who plays with whom.
type Matcher interface {
	// Match groups those who wait, who are given in the order in which they came: each group is a
	// match, and nobody is in two. Regions are those in which there are servers now, if any. It is
	// asked about once a second, and the same must give the same.
	Match(waiting []Unit, regions []string) []Group
}

// A Unit is who stays together: somebody alone, or a room.
type Unit struct {
	Players []Player
	Waited  time.Duration
}

// A Group is a match: numbers of units, and the region where it should be, if that is known.
type Group struct {
	Units  []int
	Region string
}

var rules = struct {
	sync.RWMutex
	of map[string]Matcher
}{of: map[string]Matcher{}}

// Use has the program group those who wait for a game by a rule.
func Use(game string, m Matcher) {
	rules.Lock()
	defer rules.Unlock()
	rules.of[game] = m
}

// RuleOf is the rule that Use was given for a game, or nil.
func RuleOf(game string) Matcher {
	rules.RLock()
	defer rules.RUnlock()
	return rules.of[game]
}

// Sized is the rule of games that bring none: matches of Size players, who are near a region and of
// about the same skill. Both widen while somebody waits; whoever waits longest decides. The zero
// values of the others are their defaults.
type Sized struct {
	Size int
	// Trip is the longest round trip at first, in milliseconds, and TripMore what is added to it
	// each second. Defaults: 80 and 10.
	Trip, TripMore int
	// Skill is the largest difference of skills at first, and SkillMore what is added each second.
	// Defaults: 100 and 20.
	Skill, SkillMore int
}

var _ Matcher = Sized{}

// look is how many others are considered for somebody in a region: those nearest in skill.
const look = 64

// mostRegions bounds what is considered of the world.
const mostRegions = 32

// A waiter is a unit as the rule sees it.
type waiter struct {
	size, skill   int
	trip, spread  int   // that it puts up with now
	regions       []int // within its trip, the nearest first
	taken, useful bool
}

// Match groups. With n units and r regions it takes a time of about n r (log n + look).
func (s Sized) Match(waiting []Unit, regions []string) (out []Group) {
	if s.Size < 1 {
		return nil
	}
	if len(regions) > mostRegions {
		regions = regions[:mostRegions]
	}
	if len(regions) == 0 {
		regions = []string{""}
	}
	all := make([]waiter, len(waiting))
	for i := range waiting {
		all[i] = s.waiter(&waiting[i], regions)
	}
	lists := make([]bySkill, len(regions))
	for r := range regions {
		lists[r] = listOf(all, r)
	}
	for i := range all {
		if !all[i].useful || all[i].taken {
			continue
		}
		for _, r := range all[i].regions {
			if g := s.gather(all, &lists[r], i); g != nil {
				for _, u := range g {
					all[u].taken = true
					for _, q := range all[u].regions {
						lists[q].remove(u)
					}
				}
				slices.Sort(g)
				out = append(out, Group{g, regions[r]})
				break
			}
		}
	}
	return out
}

// waiter says what a unit puts up with.
func (s Sized) waiter(u *Unit, regions []string) waiter {
	waited := int(u.Waited / time.Second)
	w := waiter{size: len(u.Players), useful: len(u.Players) > 0 && len(u.Players) <= s.Size,
		trip:   cmp.Or(s.Trip, 80) + waited*cmp.Or(s.TripMore, 10),
		spread: cmp.Or(s.Skill, 100) + waited*cmp.Or(s.SkillMore, 20)}
	if !w.useful {
		return w
	}
	for _, p := range u.Players {
		w.skill += p.Skill
	}
	w.skill /= w.size
	trips := make([]int, len(regions))
	nearest := 0
	for r := range regions {
		trips[r] = worst(u.Players, regions[r:r+1])
		if trips[r] < trips[nearest] {
			nearest = r
		}
		if trips[r] <= w.trip {
			w.regions = append(w.regions, r)
		}
	}
	if len(w.regions) == 0 && u.Waited >= patience {
		w.regions = []int{nearest} // far from everywhere
	}
	slices.SortStableFunc(w.regions, func(a, b int) int { return trips[a] - trips[b] })
	return w
}

// patience is after how long somebody who is far from every region plays all the same.
const patience = 20 * time.Second

// bySkill is a list of units by skill, from which any can be taken at once.
type bySkill struct {
	next, prev []int32 // by unit; -1 at the ends
}

// listOf lists the units that put up with a region.
func listOf(all []waiter, region int) bySkill {
	l := bySkill{next: make([]int32, len(all)), prev: make([]int32, len(all))}
	var in []int32
	for i := range all {
		if slices.Contains(all[i].regions, region) {
			in = append(in, int32(i))
		}
	}
	slices.SortStableFunc(in, func(a, b int32) int {
		return cmp.Compare(all[a].skill, all[b].skill)
	})
	for i, u := range in {
		l.next[u], l.prev[u] = -1, -1
		if i > 0 {
			l.prev[u], l.next[in[i-1]] = in[i-1], u
		}
	}
	return l
}

func (l *bySkill) remove(u int) {
	next, prev := l.next[u], l.prev[u]
	if prev >= 0 {
		l.next[prev] = next
	}
	if next >= 0 {
		l.prev[next] = prev
	}
}

// gather finds a whole match around a unit, by those nearest to it in skill, or nothing.
func (s Sized) gather(all []waiter, l *bySkill, first int) []int {
	me := &all[first]
	group, size := []int{first}, me.size
	down, up := l.prev[first], l.next[first]
	for n := 0; size < s.Size && n < look; n++ {
		u := down
		if down < 0 || up >= 0 && all[up].skill-me.skill < me.skill-all[down].skill {
			u = up
		}
		if u < 0 {
			break
		}
		if u == up {
			up = l.next[u]
		} else {
			down = l.prev[u]
		}
		x := &all[u]
		if max(x.skill-me.skill, me.skill-x.skill) > me.spread {
			break // all others are further away
		}
		if size+x.size <= s.Size {
			group, size = append(group, int(u)), size+x.size
		}
	}
	if size < s.Size {
		return nil
	}
	return group
}
