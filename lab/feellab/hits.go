package feellab

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/world"
)

// This file holds the hits that players saw against those that the server gave, and finds out why
// one was denied; and those that were given against what their victims saw.

// Hits are direct ones.
type Hits struct {
	// Seen are those that shooters saw, of which the server denied some. Of those again, some were
	// of who had died by then, the shooter or the victim: no judgement of places could give them.
	// Unseen are those that the server gave and the shooter did not see.
	Seen    int   `json:"hits_seen" head:"hits seen"`
	Denied  int   `json:"hits_denied" head:"- of them denied"`
	Dead    int   `json:"hits_denied_dead" head:"- as one of the two had died"`
	Refused Share `json:"hits_refused" head:"denied to the living, of all seen by them"`
	Unseen  int   `json:"hits_unseen" head:"hits given and not seen"`
	// After are hits that a client found when news came and it predicted its past again. They were
	// not what the player saw when the shot was there, and are not among those seen.
	After int `json:"hits_foreseen_after" head:"hits foreseen after the event"`
	// All hits, and deaths by them, of players who at that tick had cover on their own screen from
	// where the shot was.
	All           int   `json:"hits" head:"hits"`
	Covered       int   `json:"hits_behind_cover" head:"- behind cover"`
	Deaths        int   `json:"deaths"`
	DeathsByHit   int   `json:"deaths_by_direct_hit" head:"deaths by direct hit"`
	DeathsCovered int   `json:"deaths_behind_cover" head:"- behind cover"`
	DeathsLate    Share `json:"deaths_late" head:"- for more than 100 ms"`
	Cover         Cover `json:"cover_ms" head:"behind cover for, median / p95 / most, ms"`

	// Reasons are why hits were denied, the most frequent first.
	Reasons []Reason `json:"reasons,omitempty"`
	// Splits are the same hits by weapon, by distance and by round trip.
	Splits []Split `json:"splits,omitempty"`
	// Curve is what would have become of the same shots, had they been judged otherwise.
	Curve []Judged `json:"curve,omitempty"`
	// Knee is the time behind cover, in ms, at which the curve bends most.
	Knee float64 `json:"knee_ms,omitempty"`
}

// A Share is how many of so many, and the interval at 95 % in which the share lies.
type Share struct {
	N    int     `json:"n"`
	Of   int     `json:"of"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func share(n, of int) Share {
	s := Share{N: n, Of: of}
	s.Low, s.High = lab.Wilson(n, of)
	return s
}

func (s Share) String() string {
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*lab.Ratio(float64(s.N), float64(s.Of)),
		100*s.Low, 100*s.High)
}

// A Cover is for how long those had been behind cover who died there.
type Cover struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Most   float64 `json:"most"`
}

func (c Cover) String() string { return fmt.Sprintf("%.0f / %.0f / %.0f", c.Median, c.P95, c.Most) }

// A Reason is why hits were denied.
type Reason struct {
	Why string `json:"why" head:"why a hit that was seen was denied"`
	N   int    `json:"n" head:"times"`
}

// The reasons, of which the first that applies is given.
const (
	victimDead  = "the victim had died by then"
	shooterDead = "the shooter had died by then"
	lateCommand = "the command came late, or was merged with another"
	lateNews    = "it was foreseen when the command had been sent"
	sightLost   = "what was shown did not come with the command"
	behindCover = "the victim had been behind cover for too long"
	tooLongAgo  = "what was shown was longer ago than is honoured"
	bounded     = "what was shown was bounded by what the server measured"
	claimLost   = "the claim was refused"
	besideWay   = "the victim was shown too far beside its way"
	inTheWay    = "someone else was in the way"
	elsewhere   = "the shooter stood elsewhere"
	another     = "another reason"
)

// A Split is some of the hits.
type Split struct {
	By      string `json:"by" head:"by"`
	What    string `json:"what" head:"hits"`
	Seen    int    `json:"seen" head:"seen"`
	Denied  int    `json:"denied" head:"denied"`
	Refused Share  `json:"refused" head:"denied to the living"`
}

// A sighting is a hit that a shooter saw.
type sighting struct {
	tick     world.Tick
	by       *guest
	victim   world.Player
	target   world.ID // the victim's body
	weapon   string
	distance float64
	trip     time.Duration
	why      string // it would be denied
	found    bool   // why is known
}

// A grant is a hit that the server gave.
type grant struct {
	game.Hit
	tick  world.Tick
	taken bool // someone had seen it
}

// apart is by how many ticks what flies may strike earlier or later than was seen.
const apart = 6

// marks are the hits of a run.
type marks struct {
	sightings []sighting
	grants    []grant
	reasons   map[string]int
	splits    map[[2]string]*Split
	cover     []float64 // ms, of those who died behind it
}

// foresaw looks at what a client foresees, for hits of its own player.
func (u *guest) foresaw(shown *world.World, n *predict.Notice) {
	r := u.run
	if r.Title.Shots.Hits == nil || u.probe.Host().CopyFrom(shown) != nil {
		return
	}
	u.probe.Host().SetTick(n.Tick) // without the other events
	if n.Deliver(u.probe) != nil {
		return
	}
	r.Title.Hits(u.probe, func(h game.Hit) bool {
		if h.Direct && h.By == u.Me && h.Victim != u.Me {
			if n.Tick <= u.looked {
				if r.On {
					r.seen.After++
				}
				return true
			}
			s := sighting{
				tick: n.Tick, by: u, victim: h.Victim, weapon: h.Weapon,
				trip: u.Client.Conn().Quality().RoundTrip}
			from, _ := r.bodyOf(shown, u.Me)
			to, _ := r.bodyOf(shown, h.Victim)
			s.target = to.ID
			s.distance = to.At.Sub(from.At).Len()
			if r.Host.World().Tick() >= n.Tick {
				s.why, s.found = lateNews, true
			}
			r.sightings = append(r.sightings, s)
		}
		return true
	})
}

// match holds the hits that were seen against those that were given, once all that can belong to
// them has happened.
func (r *run) match(now world.Tick) {
	for _, h := range r.hits {
		if h.Direct && h.By != h.Victim {
			r.grants = append(r.grants, grant{Hit: h, tick: now})
		}
	}
	n := 0
	for i := range r.sightings {
		s := &r.sightings[i]
		if s.tick+apart >= now {
			r.sightings[n] = *s
			n++
			continue
		}
		r.decide(s, r.granted(s))
	}
	r.sightings = r.sightings[:n]
	r.grants = slices.DeleteFunc(r.grants, func(g grant) bool {
		old := g.tick+2*apart < now
		if old && !g.taken {
			r.seen.Unseen++
		}
		return old
	})
}

// granted finds what the server gave of a hit that was seen: the nearest in time.
func (r *run) granted(s *sighting) bool {
	var best *grant
	least := world.Tick(apart + 1)
	for i := range r.grants {
		g := &r.grants[i]
		d := max(g.tick, s.tick) - min(g.tick, s.tick)
		if !g.taken && g.By == s.by.Me && g.Victim == s.victim && g.Weapon == s.weapon &&
			d < least {
			best, least = g, d
		}
	}
	if best != nil {
		best.taken = true
	}
	return best != nil
}

// decide counts a hit that was seen.
func (r *run) decide(s *sighting, given bool) {
	r.seen.Seen++
	dead := false
	if !given {
		why := cmp.Or(s.why, another)
		r.seen.Denied++
		r.reasons[why]++
		if dead = why == victimDead || why == shooterDead; dead {
			r.seen.Dead++
		}
	}
	for _, by := range [...][2]string{
		{"weapon", s.weapon}, {"distance", distances.of(s.distance)},
		{"round trip", trips.of(lab.Millis(s.trip))},
	} {
		x := r.splits[by]
		if x == nil {
			x = &Split{By: by[0], What: by[1]}
			r.splits[by] = x
		}
		x.Seen++
		switch {
		case dead:
			x.Denied++
		case !given:
			x.Denied++
			x.Refused.N++
			x.Refused.Of++
		default:
			x.Refused.Of++
		}
	}
}

// steps are classes of a number.
type steps struct {
	bounds []float64
	unit   string
}

var (
	distances = steps{[]float64{5, 10, 20}, "units"}
	trips     = steps{[]float64{30, 60, 90, 120, 180}, "ms"}
)

func (s *steps) of(x float64) string {
	i, _ := slices.BinarySearch(s.bounds, x)
	switch {
	case i == 0:
		return fmt.Sprintf("up to %v %s", s.bounds[0], s.unit)
	case i == len(s.bounds):
		return fmt.Sprintf("over %v %s", s.bounds[i-1], s.unit)
	}
	return fmt.Sprintf("%v to %v %s", s.bounds[i-1], s.bounds[i], s.unit)
}

// why finds out why a hit that was seen will be denied, if it will: of a tick that has just been
// computed.
func (r *run) why(s *sighting, w *world.World, in *world.Inputs, other *others) string {
	shooter, alive := r.bodyOf(r.before, s.by.Me)
	if !alive {
		return shooterDead
	}
	if _, alive := r.bodyOf(r.before, s.victim); !alive {
		return victimDead
	}
	c := s.by.commands.At(s.tick)
	if c == nil || !in.Image(s.by.Me, r.image) || !slices.Equal(r.image, c.image) {
		return lateCommand
	}
	said, given := s.by.Client.Predict().Sight(s.tick), w.Sight(s.by.Me)
	lag := max(said.Ago, given.Ago) - min(said.Ago, given.Ago)
	switch {
	case said != (world.Sight{}) && given == (world.Sight{}):
		return sightLost
	case r.kind.Style.Claims() && !claims(&said, s.target):
		return lateNews
	case other.uncovered(s):
		return behindCover
	case world.Tick(said.Ago) > 16*r.Title.Game.Rewinds():
		return tooLongAgo
	case lag > 1 && said.Claimed == 0:
		return bounded
	case said.Claimed > given.Claimed:
		return claimLost
	case other.anywhere(s):
		return besideWay
	}
	for _, h := range r.hits {
		if h.Direct && h.By == s.by.Me && h.Victim != s.victim {
			return inTheWay
		}
	}
	if poses := s.by.Shown.At(s.tick); poses != nil {
		for _, p := range *poses {
			if is, ok := r.Pose(w, shooter.ID); ok && p.ID == shooter.ID &&
				is.At.Sub(p.At).Len() > r.Title.Width()/8 {
				return elsewhere
			}
		}
	}
	return another
}

func claims(s *world.Sight, target world.ID) bool {
	return slices.ContainsFunc(s.Claims[:s.Claimed],
		func(c world.Claim) bool { return c.Target == target })
}

// victims counts those who were hit where they could not be hit, as they saw it.
func (r *run) victims(w *world.World) {
	for _, h := range r.hits {
		kill := 0
		if h.Kill {
			kill = 1
		}
		r.seen.Deaths += kill
		if !h.Direct || h.By == h.Victim {
			continue
		}
		r.seen.All++
		r.seen.DeathsByHit += kill
		if behind := r.behindCover(w, h); behind > 0 {
			r.seen.Covered++
			r.seen.DeathsCovered += kill
			if h.Kill {
				r.cover = append(r.cover, r.millis(behind))
			}
		}
	}
}

func (r *run) millis(ticks int) float64 {
	return float64(ticks) * lab.Millis(r.Title.Game.TickLength())
}

// late is what counts as a long time behind cover, in ms.
const late = 100

// behindCover is for how many ticks the victim of a hit had been behind cover on their own screen,
// from where the shot was.
func (r *run) behindCover(w *world.World, h game.Hit) (ticks int) {
	var from session.Pose
	ok := false
	if h.Shot != world.None && r.before.Has(h.Shot) {
		from.At, ok = r.Title.At(r.before, h.Shot)
	} else {
		from, ok = r.placed(w, h.By)
	}
	u := r.Of[h.Victim]
	if !ok || u == nil {
		return 0
	}
	for ; ticks < session.Remember/4; ticks++ {
		poses := u.Shown.At(w.Tick() - world.Tick(ticks))
		if poses == nil {
			break
		}
		i := slices.IndexFunc(*poses, func(p session.Pose) bool { return p.Owner == u.Me })
		if i < 0 || r.Title.Clear(w, from.At, (*poses)[i].At) {
			break
		}
	}
	return ticks
}

// hitsFound sums it up.
func (r *run) hitsFound() Hits {
	h := r.seen
	h.Refused = share(h.Denied-h.Dead, h.Seen-h.Dead)
	slices.Sort(r.cover)
	lateOnes := 0
	for _, ms := range r.cover {
		if ms > late {
			lateOnes++
		}
	}
	h.DeathsLate = share(lateOnes, h.DeathsByHit)
	if n := len(r.cover); n > 0 {
		h.Cover = Cover{Median: r.cover[n/2], P95: r.cover[n*95/100], Most: r.cover[n-1]}
	}
	for _, why := range slices.Sorted(maps.Keys(r.reasons)) {
		h.Reasons = append(h.Reasons, Reason{why, r.reasons[why]})
	}
	slices.SortStableFunc(h.Reasons, func(a, b Reason) int { return b.N - a.N })
	for _, x := range r.splits {
		x.Refused = share(x.Refused.N, x.Refused.Of)
		h.Splits = append(h.Splits, *x)
	}
	slices.SortFunc(h.Splits, func(a, b Split) int {
		return cmp.Or(-cmp.Compare(a.By, b.By), cmp.Compare(a.What, b.What))
	})
	h.Curve = r.curve()
	h.Knee = knee(h.Curve)
	return h
}
