package lab

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// Shown is how wrong is what players are shown: each body when its tick is first shown, against
// the settled truth of that tick; and events that were shown and then taken back. Distances are in
// the world's units, times in milliseconds.
type Shown struct {
	// Bodies were looked at; Wrong are those that were in another place at all, or there and in
	// truth not, or the other way round; OffSome those by more than 0.05, and OffFar by more than
	// 0.5.
	Bodies  int     `json:"bodies" head:"bodies"`
	Wrong   float64 `json:"bodies_wrong_share" head:"wrong" as:"%.2f %%"`
	OffSome float64 `json:"bodies_off_by_0.05_share" head:"> 0.05" as:"%.2f %%"`
	OffFar  float64 `json:"bodies_off_by_0.5_share" head:"> 0.5" as:"%.3f %%"`
	// How far bodies were off, those included that were not.
	OffMean float64 `json:"bodies_off_mean" head:"mean" as:"%.4f"`
	OffP95  float64 `json:"bodies_off_p95" head:"p95" as:"%.3f"`
	OffP99  float64 `json:"bodies_off_p99" head:"p99" as:"%.3f"`
	// Events were shown; Taken is how many were taken back, also as a share, and Believed how long
	// those had been shown.
	Events      int                   `json:"events_shown" head:"events"`
	Taken       int                   `json:"events_taken_back" head:"taken back"`
	TakenShare  float64               `json:"events_taken_back_share" head:"share" as:"%.2f %%"`
	BelievedP50 float64               `json:"events_believed_ms_p50" head:"for ms" as:"%.0f"`
	BelievedP95 float64               `json:"events_believed_ms_p95" head:"p95 ms" as:"%.0f"`
	ByEvent     map[string]EventCount `json:"events_by_kind,omitempty"`
}

// EventCount is how many events of a kind were shown, and taken back.
type EventCount struct {
	Shown int `json:"shown"`
	Taken int `json:"taken_back"`
}

// An Audience watches one mirror as its players do, and finds out later how wrong that was. It
// counts while On is set.
type Audience struct {
	On    bool
	title *Subject
	shown map[world.Tick][]stand // until the tick is settled
	spare [][]stand
	// the last tick that is settled
	settled world.Tick
	open    map[world.Emitted]time.Duration // events that may still be taken back, and since when

	bodies   int
	off      []float64 // those that were wrong
	missing  int       // shown and not there, or there and not shown
	events   []EventCount
	believed []time.Duration
}

// A stand is where a body is.
type stand struct {
	id world.ID
	at [3]float64
}

// NewAudience is one for a title.
func NewAudience(s *Subject) *Audience {
	return &Audience{
		title: s, shown: map[world.Tick][]stand{}, open: map[world.Emitted]time.Duration{},
		events: make([]EventCount, len(s.Game.Events()))}
}

// Show is called with the leading world, at each tick when that is first shown.
func (a *Audience) Show(w *world.World) {
	if a.shown[w.Tick()] != nil || !a.On || a.title.body == nil {
		return
	}
	if w.Tick() <= a.settled { // what is shown is the truth already
		for range w.Host().Of(a.title.BodyClass()) {
			a.bodies++
		}
		return
	}
	var list []stand
	if n := len(a.spare); n > 0 {
		list, a.spare = a.spare[n-1][:0], a.spare[:n-1]
	}
	a.shown[w.Tick()] = a.stands(list, w)
}

// stands lists where bodies are, in the order of their numbers.
func (a *Audience) stands(list []stand, w *world.World) []stand {
	for id := range w.Host().Of(a.title.BodyClass()) {
		at, _ := a.title.At(w, id)
		list = append(list, stand{id, [3]float64{at.X, at.Y, at.Z}})
	}
	slices.SortFunc(list, func(a, b stand) int { return cmp.Compare(a.id, b.id) })
	return list
}

// Settle is called with each settled world.
func (a *Audience) Settle(w *world.World) {
	a.settled = w.Tick()
	list, ok := a.shown[w.Tick()]
	if !ok {
		return
	}
	delete(a.shown, w.Tick())
	a.spare = append(a.spare, list)
	for id := range w.Host().Of(a.title.BodyClass()) {
		a.bodies++
		i, found := slices.BinarySearchFunc(list, id,
			func(s stand, id world.ID) int { return cmp.Compare(s.id, id) })
		if !found {
			a.missing++
			continue
		}
		p, q := list[i].at, [3]float64{}
		at, _ := a.title.At(w, id)
		q[0], q[1], q[2] = at.X, at.Y, at.Z
		if d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); d > 0 {
			a.off = append(a.off, d)
		}
	}
	for _, s := range list {
		if !w.Has(s.id) {
			a.bodies++
			a.missing++
		}
	}
}

// Hear is called with what a timeline found out about events.
func (a *Audience) Hear(now time.Duration, list []timeline.Notice) {
	for i := range list {
		n := &list[i]
		since, known := a.open[n.Event]
		switch n.What {
		case timeline.Provisional:
			a.open[n.Event] = now
			if a.On {
				a.events[n.Event.Kind].Shown++
			}
		case timeline.Confirmed:
			delete(a.open, n.Event)
		case timeline.Retracted:
			delete(a.open, n.Event)
			if a.On && known {
				a.events[n.Event.Kind].Taken++
				a.believed = append(a.believed, now-since)
			}
		}
	}
}

// SumShown sums up what the players of some mirrors were shown.
func SumShown(list ...*Audience) Shown {
	s := Shown{ByEvent: map[string]EventCount{}}
	var off []float64
	var believed []time.Duration
	missing := 0
	for _, a := range list {
		s.Bodies += a.bodies
		missing += a.missing
		off, believed = append(off, a.off...), append(believed, a.believed...)
		for i, e := range a.events {
			if e.Shown > 0 || e.Taken > 0 {
				name := a.title.Game.Events()[i].Name()
				sum := s.ByEvent[name]
				s.ByEvent[name] = EventCount{sum.Shown + e.Shown, sum.Taken + e.Taken}
			}
			s.Events, s.Taken = s.Events+e.Shown, s.Taken+e.Taken
		}
	}
	slices.Sort(off)
	slices.Sort(believed)
	share := func(n int) float64 { return Per(n, s.Bodies) }
	beyond := func(d float64) int {
		i, _ := slices.BinarySearch(off, math.Nextafter(d, math.Inf(1)))
		return len(off) - i
	}
	s.Wrong, s.OffSome = share(len(off)+missing), share(beyond(0.05)+missing)
	s.OffFar = share(beyond(0.5) + missing)
	for _, d := range off {
		s.OffMean += d / float64(max(s.Bodies, 1))
	}
	// all that are not in off were right
	at := func(q float64) float64 {
		i := int(q*float64(s.Bodies)) - (s.Bodies - len(off))
		if i < 0 || len(off) == 0 {
			return 0
		}
		return off[min(i, len(off)-1)]
	}
	s.OffP95, s.OffP99 = at(0.95), at(0.99)
	s.TakenShare = Per(s.Taken, s.Events)
	if n := len(believed); n > 0 {
		s.BelievedP50, s.BelievedP95 = Millis(believed[n/2]), Millis(believed[min(n*95/100, n-1)])
	}
	return s
}

// Kinds lists the kinds of events by how many were taken back, in words.
func (s *Shown) Kinds() string {
	var names []string
	for name, n := range s.ByEvent {
		if n.Taken > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.ByEvent[b].Taken, s.ByEvent[a].Taken), cmp.Compare(a, b))
	})
	text := ""
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		n := s.ByEvent[name]
		text += name + " " + strconv.Itoa(n.Taken) + " of " + strconv.Itoa(n.Shown)
	}
	return cmp.Or(text, "none")
}
