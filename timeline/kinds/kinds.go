// Package kinds makes a timeline by its name, for programs that let their users choose: it is the
// one place that knows all of them.
//
//	line, err := kinds.Open("trailing", start, kinds.Options{})
package kinds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/rivals"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// Delays are those of a timeline of any kind. Each kind takes some of them, and what is 0 gets the
// default of the kind.
type Delays struct {
	// Delays has the leading world's, or for how long after the present commands are stamped where
	// that is what players wait for; the trails of trailing and auto; and the window of those and
	// of timewarp and ruled.
	timeline.Delays
	// Judge is the leading world's where the judge is: for ruled. Below 0, it does not wait.
	Judge time.Duration
	// Most is how much rollback may guess, and what Lead may become of a lockstep that adapts.
	Most time.Duration
}

// IsZero says that nothing was chosen, so that the defaults hold.
func (d Delays) IsZero() bool { return d.Delays.IsZero() && d.Judge == 0 && d.Most == 0 }

// A delay is one of those that a kind takes, in the order in which a list has them.
type delay struct {
	what string
	of   func(d *Delays) *time.Duration
}

var (
	leads  = delay{"the leading world's", func(d *Delays) *time.Duration { return &d.Lead }}
	stamps = delay{"that of commands", leads.of}
	judges = delay{"the judge's", func(d *Delays) *time.Duration { return &d.Judge }}
	window = delay{"the window", func(d *Delays) *time.Duration { return &d.Window }}
	most   = func(d *Delays) *time.Duration { return &d.Most }
)

// Options are what Open has to know. What the zero value leaves open gets the defaults of the kind.
type Options struct {
	timeline.Options
	Delays Delays
	// Mirrors are those who are waited for, this one included: for rollback, lockstep and
	// conservative.
	Mirrors []member.ID
	// Judge says that this mirror is the judge, and Term in which term: for ruled.
	Judge bool
	Term  uint32
	// Repair is what becomes of commands that were late, with trailing and auto.
	Repair Repair
	// Step and Copy are what computing a tick and copying a world take, if there is no Clock to
	// measure it: for auto.
	Step, Copy time.Duration
}

// A Repair says what trailing and auto do about commands that were late.
type Repair string

const (
	// AtOnce takes the leading world back to the command's own tick, as far as Back reaches. It is
	// the default. What is later than that is repaired as with ByTrails.
	AtOnce Repair = "at-once"
	// ByTrails is the paper's way: the leading world executes what was late next, and copies behind
	// it repair what came of that: strict events that differ, and fields by more than their
	// margins.
	ByTrails Repair = "trails"
	// Everything is the same, and repairs every difference.
	Everything Repair = "everything"
	// Places is the same as ByTrails, but where only fields with margins differ these are moved to
	// their places, and nothing is computed again.
	Places Repair = "places"
)

// Repairs lists them, the default first.
func Repairs() []string {
	return []string{string(AtOnce), string(ByTrails), string(Everything), string(Places)}
}

// Back is how far AtOnce goes back.
const Back = 250 * time.Millisecond

// Check says what is wrong with a repair for a kind of timeline.
func (r Repair) Check(kind string) error {
	switch {
	case r == "":
		return nil
	case !slices.Contains(Repairs(), string(r)):
		return fmt.Errorf("timeline: there is no repair %q; choose one of %s", string(r),
			strings.Join(Repairs(), ", "))
	case !Trails(kind):
		return fmt.Errorf("timeline: a repair, %s, is for the kinds auto and trailing, not for %s",
			string(r), kind)
	}
	return nil
}

// A Line is a timeline, and what only the ruled one can do.
type Line struct {
	timeline.Timeline
	Ruled *ruled.Timeline // nil for the others
}

// kinds are what Open knows.
var kinds = []struct {
	name   string
	delays []delay // nil for those with as many trails as one likes
	open   func(start *world.World, o *Options) (timeline.Timeline, error)
}{
	{"auto", nil, func(start *world.World, o *Options) (timeline.Timeline, error) {
		return timeline.NewAuto(start,
			timeline.AutoOptions{TrailingOptions: o.trailing(), Step: o.Step, Copy: o.Copy})
	}},
	{"trailing", nil, func(start *world.World, o *Options) (timeline.Timeline, error) {
		return timeline.NewTrailing(start, o.trailing())
	}},
	{"timewarp", []delay{leads, window},
		func(start *world.World, o *Options) (timeline.Timeline, error) {
			return rivals.NewTimeWarp(start,
				rivals.TimeWarpOptions{
					Options: o.Options, Delay: o.Delays.Lead, Window: o.Delays.Window})
		}},
	{"rollback", []delay{stamps, {"how much may be guessed", most}},
		func(start *world.World, o *Options) (timeline.Timeline, error) {
			ticks := timeline.NewClock(start).Ticks
			return rivals.NewRollback(start,
				rivals.RollbackOptions{
					Options: o.Options, Mirrors: o.Mirrors, Delay: ticks(o.Delays.Lead),
					Window: ticks(o.Delays.Most)})
		}},
	{"lockstep", []delay{stamps, {"the most it may become", most}},
		func(start *world.World, o *Options) (timeline.Timeline, error) {
			ticks := timeline.NewClock(start).Ticks
			return rivals.NewLockstep(start,
				rivals.LockstepOptions{
					Options: o.Options, Mirrors: o.Mirrors, Delay: ticks(o.Delays.Lead),
					Most: ticks(o.Delays.Most)})
		}},
	{"conservative", []delay{{"the look-ahead", leads.of}},
		func(start *world.World, o *Options) (timeline.Timeline, error) {
			return rivals.NewConservative(start,
				rivals.ConservativeOptions{
					Options: o.Options, Mirrors: o.Mirrors, LookAhead: o.Delays.Lead})
		}},
	{"bucket", []delay{{"the world's", leads.of}},
		func(start *world.World, o *Options) (timeline.Timeline, error) {
			return rivals.NewBucket(start,
				rivals.BucketOptions{Options: o.Options, Delay: o.Delays.Lead})
		}},
	{"ruled", []delay{leads, judges, window},
		func(start *world.World, o *Options) (timeline.Timeline, error) {
			return ruled.New(start,
				ruled.Options{
					Options: o.Options, Judge: o.Judge, Term: o.Term, Delay: o.Delays.Lead,
					Wait: o.Delays.Judge, Window: o.Delays.Window})
		}},
}

func (o *Options) trailing() timeline.TrailingOptions {
	t := timeline.TrailingOptions{
		Options: o.Options, Delays: o.Delays.Delays, Everything: o.Repair == Everything,
		Correct: o.Repair == Places}
	if o.Repair == "" || o.Repair == AtOnce {
		t.Back = Back
	}
	return t
}

// Names lists those that Open knows, the usual choice first.
func Names() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.name)
	}
	return out
}

// find gives the number of a kind by its name.
func find(kind string) (int, error) {
	i := slices.Index(Names(), kind)
	if i < 0 {
		return 0, fmt.Errorf("timeline: there is no kind %q; choose one of %s", kind,
			strings.Join(Names(), ", "))
	}
	return i, nil
}

// Trails says whether a kind has as many trails as one likes, and HasWindow whether it has a
// window.
func Trails(kind string) bool { return kind == "auto" || kind == "trailing" }

// HasWindow says whether a kind has a window, which all mirrors must have alike.
func HasWindow(kind string) bool { return Trails(kind) || kind == "timewarp" || kind == "ruled" }

// DelaysOf names delays that are listed as users write them:
//
//	trailing, auto   of each copy, from the leading world's to the window
//	timewarp         the leading world's, the window
//	rollback         how long after the present commands are stamped, how much may be guessed; rounded up to ticks
//	lockstep         how long after the last tick commands are stamped, the most that may become if it adapts; rounded up to ticks
//	conservative     the look-ahead
//	bucket           the world's
//	ruled            the leading world's, the judge's, the window
//
// The last ones may be left out, but for those of trailing and auto. One of 0 stands for the
// default where a kind has one, except the judge's.
func DelaysOf(kind string, list []time.Duration) (Delays, error) {
	i, err := find(kind)
	if err != nil {
		return Delays{}, err
	}
	if i := slices.IndexFunc(list,
		func(d time.Duration) bool { return d < 0 || d > time.Hour }); i >= 0 {
		return Delays{},
			fmt.Errorf("timeline: a delay of %v for kind %q; give 0 to an hour", list[i], kind)
	}
	if Trails(kind) {
		if len(list) == 1 && list[0] == 0 {
			return Delays{},
				fmt.Errorf("timeline: one copy of the world without a delay for kind %q; give at "+
					"least two delays, the last of them the window", kind)
		}
		return Delays{Delays: timeline.DelaysOf(list...)}, nil
	}
	takes := kinds[i].delays
	if len(list) > len(takes) {
		var what []string
		for _, t := range takes {
			what = append(what, t.what)
		}
		return Delays{},
			fmt.Errorf("timeline: %d delays for kind %q; give at most %d: %s", len(list), kind,
				len(takes), strings.Join(what, ", "))
	}
	var d Delays
	for i, v := range list {
		*takes[i].of(&d) = v
	}
	if kind == "ruled" && len(list) > 1 && d.Judge == 0 {
		d.Judge = -1 // where it was given, no wait is meant
	}
	return d, nil
}

// Open makes a timeline of the kind that has a name, going on from a world, which is copied. An
// error says what to do: the kinds there are, or which delays are possible.
func Open(kind string, start *world.World, o Options) (Line, error) {
	i, err := find(kind)
	if err != nil {
		return Line{}, err
	}
	if err := o.Repair.Check(kind); err != nil {
		return Line{}, err
	}
	line, err := kinds[i].open(start, &o)
	if err != nil {
		return Line{}, err
	}
	judged, _ := line.(*ruled.Timeline)
	return Line{line, judged}, nil
}
