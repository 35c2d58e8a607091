package tunnel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
)

// The search for the best settings of some knobs goes in three steps. First a race: from the
// defaults each knob by itself, and points that are spread over all of them, play two seeds each;
// those that are clearly worse than the best are left, as is the worse half, and the rest play
// twice as many. All points play the same seeds. Then from the best it goes to its neighbours, as
// long as one of them is better, and closer when none is. At last the best and the defaults are
// played on seeds that were not looked at.

// A point is one choice of values.
type point struct {
	values  knob.Values
	from    string    // why it was tried
	figures []figures // by network
	runs    int       // that are complete on all networks
	refused string    // why it cannot be played so
	left    string    // why it was not looked at further
}

// A tuner searches.
type tuner struct {
	o      *TuneOptions
	arch   *Architecture
	knobs  []knob.Knob // that are searched
	goal   objective
	store  *Store
	digest string
	sights bool

	usual  *point // with the defaults
	points map[string]*point
	order  []*point
	used   int // evaluations
	budget int
}

// point is the one with some values, which is new or was tried before.
func (t *tuner) point(values knob.Values, from string) *point {
	key := values.String()
	if p := t.points[key]; p != nil {
		return p
	}
	p := t.fresh(values, from)
	t.points[key] = p
	t.order = append(t.order, p)
	return p
}

func (t *tuner) fresh(values knob.Values, from string) *point {
	return &point{values: values, from: from, figures: make([]figures, len(t.o.fields))}
}

// price is how many evaluations it takes until points have so many runs.
func (t *tuner) price(list []*point, runs int) (n int) {
	for _, p := range list {
		if p.refused == "" {
			n += max(runs-p.runs, 0) * len(t.o.fields)
		}
	}
	return n
}

// left is how many evaluations there are still, but for those that are kept for later.
func (t *tuner) left(kept int) int { return t.budget - t.used - kept }

// afford are as many of the first points as there are evaluations for.
func (t *tuner) afford(list []*point, runs, kept int) []*point {
	n := len(list)
	for n > 0 && t.price(list[:n], runs) > t.left(kept) {
		n--
	}
	return list[:n]
}

// play has points play until they have so many runs, with seeds from one on.
func (t *tuner) play(ctx context.Context, list []*point, runs int, seed uint64) error {
	var jobs []lab.Job
	var lock sync.Mutex
	for _, p := range list {
		if p.refused != "" {
			continue
		}
		for i := range p.figures {
			for run := len(p.figures[i]); run < runs; run++ {
				p.figures[i] = append(p.figures[i], nil)
				jobs = append(jobs, t.job(&lock, p, i, run, seed))
			}
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	share := float64(len(jobs)) / float64(t.budget)
	err := lab.Spread(ctx, jobs, t.o.Progress.Within(float64(t.used)/float64(t.budget), share))
	t.used += len(jobs)
	for _, p := range list {
		p.runs = max(p.runs, runs)
	}
	return err
}

// job is one run of a point on one network, or reading what was found before.
func (t *tuner) job(lock *sync.Mutex, p *point, field, run int, from uint64) lab.Job {
	s := t.o.setup(t.arch, t.o.fields[field], run)
	s.Seed, s.Values, s.Sights, s.Cut = from+uint64(run), p.values, t.sights, 0
	if t.goal.weights[Faults] > 0 {
		s.Cut = Cut
	}
	key := fmt.Sprintf("%s\nseed %d, cut %v, sights %v", cellKey(&t.o.Options, s.Field, t.digest,
		p.values), s.Seed, s.Cut, s.Sights)
	return lab.Job{What: s.Field.Name + ": " + t.differs(p.values), Work: 1,
		Do: func(ctx context.Context) error {
			r, known := t.store.Load(key)
			var err error
			if !known {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				if r, err = Play(ctx, s, nil); ctx.Err() != nil {
					return ctx.Err()
				}
			}
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				p.refused = cmp.Or(p.refused, err.Error())
				return nil
			}
			p.figures[field][run] = r.Figures
			if known {
				return nil
			}
			return t.store.Save(key, r)
		}}
}

// differs names the values that are not the defaults.
func (t *tuner) differs(values knob.Values) string {
	out := knob.Values{}
	for name, v := range values {
		if v != t.usual.values[name] {
			out[name] = v
		}
	}
	if len(out) == 0 {
		return "the defaults"
	}
	return out.String()
}

// compare orders points by what they cost in their first runs, those within the limits first.
func (t *tuner) compare(a, b *point, runs int) int {
	if (a.refused == "") != (b.refused == "") {
		return cmp.Compare(len(a.refused), len(b.refused))
	}
	if a.refused != "" {
		return 0
	}
	x, _ := t.goal.beyond(a, runs, true)
	y, _ := t.goal.beyond(b, runs, true)
	// what differs by less is rounding
	whole := func(p *point) float64 {
		return math.Round(1e6 * t.goal.more(p, t.usual, runs).Mean)
	}
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(whole(a), whole(b)))
}

// firstRuns is how many seeds a point plays before anything is said of it.
const firstRuns = 2

// race finds the best of some points, of which the first is the one to beat: it stays until another
// is clearly better. Kept evaluations are for later.
func (t *tuner) race(ctx context.Context, list []*point, kept int) (*point, error) {
	first := list[0]
	best, most := first, t.o.Runs
	for runs := min(firstRuns, most); ; runs = min(2*runs, most) {
		if list = t.afford(list, runs, kept); len(list) == 0 {
			return best, nil
		}
		if err := t.play(ctx, list, runs, t.o.Seed); err != nil {
			return nil, err
		}
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b *point) int { return t.compare(a, b, runs) })
		if best = list[0]; t.compare(first, best, runs) == 0 {
			best = first
		}
		list = t.drop(list, first, runs)
		if len(list) == 1 || runs == most {
			return best, nil
		}
	}
}

// drop leaves the points that are clearly worse than the first of them, and those that are not
// among the better half but for one.
func (t *tuner) drop(list []*point, but *point, runs int) []*point {
	kept := list[:1:1]
	best, half := list[0], (len(list)+1)/2
	within, _ := t.goal.beyond(best, runs, true)
	for _, p := range list[1:] {
		by, limit := t.goal.beyond(p, runs, true)
		switch {
		case p.refused != "":
			p.left = "cannot be played"
		case by > within:
			p.left = "beyond the limit of " + limit.Axis
		case t.goal.more(p, best, runs).Low > 0:
			p.left = "clearly worse"
		case len(kept) >= half && p != but:
			p.left = "in the worse half"
		default:
			p.left = ""
			kept = append(kept, p)
		}
	}
	return kept
}

// begin are the points of the first race: the defaults, each knob by itself with what is nearest to
// its default first, and as many again that are spread over all knobs.
func (t *tuner) begin() []*point {
	list := []*point{t.usual}
	var single []*point
	for far := 1; ; far++ {
		n := len(single)
		for i := range t.knobs {
			k := &t.knobs[i]
			at := t.nearest(k, t.usual.values[k.Name])
			for _, level := range []int{at - far, at + far} {
				if level >= 0 && level < len(k.Levels) && k.Levels[level] != k.Default {
					single = append(single, t.point(t.usual.values.With(k.Name, k.Levels[level]),
						"one knob"))
				}
			}
		}
		if len(single) == n && far > 1 {
			break
		}
	}
	for i := range len(single) {
		list = append(list, single[i])
		if values := t.spread(i / 2); len(t.knobs) > 1 && i%2 == 0 {
			list = append(list, t.point(values, "spread"))
		}
	}
	seen := map[*point]bool{}
	return slices.DeleteFunc(list, func(p *point) bool {
		twice := seen[p]
		seen[p] = true
		return twice
	})
}

// nearest is which of a knob's levels is nearest to a value: the first that is not below it.
func (t *tuner) nearest(k *knob.Knob, value string) int {
	if i := slices.Index(k.Levels, value); i >= 0 {
		return i
	}
	v, err := k.Parse(value)
	for i, l := range k.Levels {
		if x, wrong := k.Parse(l); err == nil && wrong == nil && !x.Auto() && x.Number >= v.Number {
			return i
		}
	}
	return len(k.Levels) - 1
}

// spread is the nth of Halton's points: in each knob another base, so that any number of them fill
// the room evenly.
func (t *tuner) spread(n int) knob.Values {
	bases := []int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}
	values := t.usual.values
	for i := range t.knobs {
		k, base := &t.knobs[i], bases[i%len(bases)]
		x, part := 0.0, 1.0
		for j := n + 1 + i/len(bases); j > 0; j /= base {
			part /= float64(base)
			x += part * float64(j%base)
		}
		values = values.With(k.Name, k.Levels[min(int(x*float64(len(k.Levels))),
			len(k.Levels)-1)])
	}
	return values
}
