package tunnel

import (
	"cmp"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// An IncidentKind says what went wrong in an incident.
type IncidentKind string

// The kinds.
const (
	ShownOff     IncidentKind = "off"
	Corrected    IncidentKind = "correction"
	HitDenied    IncidentKind = "denied"
	HitUnseen    IncidentKind = "unseen"
	DeathCovered IncidentKind = "covered"
	EventTaken   IncidentKind = "taken"
	StoodStill   IncidentKind = "still"
)

// A KindEntry describes a kind of incident.
type KindEntry struct {
	Kind IncidentKind `json:"kind"`
	// Name is its heading, Unit that of how bad one is, and About says what that is.
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	About string `json:"about"`
}

var incidentKinds = []KindEntry{
	{ShownOff, "somebody shown elsewhere", "widths",
		"how far another's body was shown from where it truly was at that tick"},
	{Corrected, "own body moved", "widths",
		"how far the player's own body jumped when it was set right"},
	{HitDenied, "hit seen and denied", "widths",
		"how far the victim was shown from where it truly was at that tick"},
	{HitUnseen, "hit given and not seen", "widths",
		"how far the victim was shown from where it truly was at that tick"},
	{DeathCovered, "death behind cover", "ms",
		"for how long the victim had been behind cover on its own screen"},
	{EventTaken, "event shown and taken back", "ms",
		"for how long the player believed in it"},
	{StoodStill, "picture stood still", "ms",
		"for how long there was nothing new when there should have been"},
}

// IncidentKinds lists the kinds of incidents.
func IncidentKinds() []KindEntry { return incidentKinds }

// EntryOf describes a kind.
func (k IncidentKind) EntryOf() KindEntry {
	for _, e := range incidentKinds {
		if e.Kind == k {
			return e
		}
	}
	return KindEntry{Kind: k, Name: string(k)}
}

// An Incident is a moment in which something went wrong for a player.
type Incident struct {
	Kind IncidentKind `json:"kind"`
	// Player is for whom it went wrong, counted from 1, and Other whom it was about, if anybody.
	Player int `json:"player"`
	Other  int `json:"other,omitempty"`
	// At is the instant, in seconds since measuring began, and Tick the one that the player's
	// screen showed then.
	At   float64    `json:"at"`
	Tick world.Tick `json:"tick"`
	// Bad is how bad it was, in the unit of its kind.
	Bad float64 `json:"bad"`
	// What names the event, or the weapon.
	What string `json:"what,omitempty"`
}

// Instant is when it was, since measuring began.
func (i *Incident) Instant() time.Duration {
	return time.Duration(i.At*float64(time.Second) + 0.5)
}

// worseFirst is the order of incidents of a kind.
func worseFirst(a, b Incident) int {
	return cmp.Or(cmp.Compare(b.Bad, a.Bad), cmp.Compare(a.At, b.At),
		cmp.Compare(a.Player, b.Player), cmp.Compare(a.Other, b.Other))
}

const (
	// usualWorst is how many incidents of each kind are kept of a run.
	usualWorst = 3
	// together is how near two moments of one kind and player are one incident.
	together = 500 * time.Millisecond
)

// Least of what counts as an incident: in widths, and of standing still in ticks.
const (
	leastOff   = 0.1
	leastStill = 2
)

// worst keeps the worst incidents of each kind. Its memory does not grow with time.
type worst struct {
	most int
	of   map[IncidentKind][]Incident // the worst first
}

// add keeps an incident if it is among the worst. Of two that belong together the worse one stays.
func (x *worst) add(i Incident) {
	list := x.of[i.Kind]
	if len(list) == x.most && worseFirst(i, list[len(list)-1]) >= 0 {
		return
	}
	same := func(o Incident) bool {
		return o.Player == i.Player && o.Other == i.Other &&
			(o.Instant()-i.Instant()).Abs() < together
	}
	if slices.ContainsFunc(list, func(o Incident) bool {
		return same(o) && worseFirst(o, i) <= 0
	}) {
		return
	}
	list = append(slices.DeleteFunc(list, same), i)
	slices.SortFunc(list, worseFirst)
	x.of[i.Kind] = list[:min(len(list), x.most)]
}

// all lists the incidents, kind by kind.
func (x *worst) all() (list []Incident) {
	for _, k := range incidentKinds {
		list = append(list, x.of[k.Kind]...)
	}
	return list
}

// wrong notes that something went wrong for a player, if that was while it was measured.
func (s *Seat) wrong(k IncidentKind, other world.Player, at time.Duration, tick world.Tick,
	bad float64, what string) {
	t := s.trial
	if !t.measured(at) {
		return
	}
	i := Incident{Kind: k, Player: s.Index + 1, At: (at - t.since).Seconds(), Tick: tick, Bad: bad,
		What: what}
	if o := t.players[other]; o != nil && o != s {
		i.Other = o.Index + 1
	}
	t.worst.add(i)
}

// sawAt is when a tick was first shown to the player, or now if it was not.
func (s *Seat) sawAt(tick world.Tick) time.Duration {
	if f := s.shown.At(tick); f != nil {
		return f.at
	}
	return s.trial.Net.Now()
}

// offAt is how far a player's body was shown from where it truly was at a tick, in widths, as far
// as that is known.
func (s *Seat) offAt(tick world.Tick, of world.Player) float64 {
	f := s.shown.At(tick)
	if f == nil {
		return 0
	}
	for i := range min(len(f.poses), len(f.off)) {
		if f.poses[i].Owner == of {
			return float64(f.off[i]) / s.trial.width()
		}
	}
	return 0
}

// nameOf is what an event is called.
func (t *Trial) nameOf(e world.Emitted) string { return t.Subject.Game.Events()[e.Kind].Name() }

// ownerOf is whose body an event is about, as the player was shown it.
func (s *Seat) ownerOf(e world.Emitted, tick world.Tick) world.Player {
	if f := s.shown.At(tick); f != nil {
		for i := range f.poses {
			if f.poses[i].ID == e.About {
				return f.poses[i].Owner
			}
		}
	}
	return world.Nobody
}
