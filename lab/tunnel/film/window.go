package film

import (
	"cmp"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/world"
)

// A window is what is filmed of one moment, in which one thing went wrong or several did.
type window struct {
	list []tunnel.Incident // the first is what the moment is shown for
	// at is the moment, and from and to are what is filmed around it, since measuring began.
	at, from, to time.Duration
	// low and high are the ticks whose truth is kept.
	low, high world.Tick
	// players are who is filmed, counted from 1: first those whom it is about.
	players  []int
	involved int // of players
	truth    map[world.Tick][]Body
	views    []*view // a server's and a screen of each player
}

const (
	// merging is how near two moments are shown as one, if they have a player in common.
	merging = 250 * time.Millisecond
	// lead is for how long a title draws before a film begins, to have what flashes or glides.
	lead = 500 * time.Millisecond
	// mostPlayers is how many are filmed at once.
	mostPlayers = 8
	// past is how far back the way of a body is known, to tell how late it is shown.
	past = 1500 * time.Millisecond
)

// choose takes the worst of each kind that is wanted, and makes windows of them in the order in
// which they happened.
func choose(all []tunnel.Incident, o *Options) (list []*window) {
	var chosen []tunnel.Incident
	taken := map[tunnel.IncidentKind]int{}
	for _, i := range all { // the worst of a kind first
		if !slices.Contains(o.Kinds, string(i.Kind)) {
			continue
		}
		if taken[i.Kind]++; taken[i.Kind] <= o.Count {
			chosen = append(chosen, i)
		}
	}
	slices.SortStableFunc(chosen, func(a, b tunnel.Incident) int { return cmp.Compare(a.At, b.At) })
	for _, i := range chosen {
		if n := len(list); n > 0 && list[n-1].belongs(&i) {
			list[n-1].list = append(list[n-1].list, i)
			continue
		}
		list = append(list, &window{list: []tunnel.Incident{i}})
	}
	for _, w := range list {
		w.frame(o)
	}
	return list
}

// belongs says whether an incident is of the same moment.
func (w *window) belongs(i *tunnel.Incident) bool {
	if i.Instant()-w.list[0].Instant() > merging {
		return false
	}
	for k := range w.list {
		for _, p := range []int{w.list[k].Player, w.list[k].Other} {
			if p != 0 && (p == i.Player || p == i.Other) {
				return true
			}
		}
	}
	return false
}

// frame says what is to be filmed of the incidents of a window.
func (w *window) frame(o *Options) {
	length := o.setup.Subject.Game.TickLength()
	w.at = w.list[0].Instant()
	w.from, w.to = w.at, w.at
	w.low, w.high = w.list[0].Tick, w.list[0].Tick
	add := func(p int) {
		if p != 0 && !slices.Contains(w.players, p) && len(w.players) < mostPlayers {
			w.players = append(w.players, p)
		}
	}
	for _, i := range w.list {
		begin := i.Instant()
		if i.Kind == tunnel.StoodStill { // it ends then
			begin -= min(time.Duration(i.Bad*float64(time.Millisecond)), mostAround)
		}
		w.from, w.to = min(w.from, begin), max(w.to, i.Instant())
		w.low, w.high = min(w.low, i.Tick), max(w.high, i.Tick)
		add(i.Player)
		add(i.Other)
	}
	w.involved = len(w.players)
	for p := range o.Players {
		add(p + 1)
	}
	w.from, w.to = w.from-o.Around, w.to+o.Around
	margin := world.Tick((w.to - w.from + past) / length)
	w.low, w.high = w.low-min(w.low, margin), w.high+margin
	w.truth = map[world.Tick][]Body{}
}

// films says whether the window shows an instant, or will soon.
func (w *window) films(at time.Duration) bool { return at >= w.from-lead && at <= w.to }
