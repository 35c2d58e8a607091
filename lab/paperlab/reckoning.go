package paperlab

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/world"
)

// A track is where one body was, tick by tick, in units of its field; nil where it was not.
type track [][]int32

// paths are the tracks of a match's bodies, and what their numbers mean.
type paths struct {
	tracks []track
	fields []codec.Field
	unit   float64 // of the field, in the world's
	width  float64 // of a body, in the world's
	rate   int
	tick   time.Duration
}

// reckoning has a sender tell of recorded bodies only what a receiver cannot reckon.
func reckoning(ctx context.Context, o *Options, p lab.Progress) (*Finding, error) {
	const players = 8
	s, err := lab.NewSubject(o.Title, o.Level, players)
	if err != nil {
		return nil, err
	}
	length := 60 * time.Second
	if o.Quick {
		length = 6 * time.Second
	}
	f := &Finding{Game: fmt.Sprintf("%s, %d bots", s.Name(), players), Seeds: o.seeds()}
	var list []*paths
	for i, seed := range f.Seeds {
		p.Tell(float64(i)/float64(len(f.Seeds)), "recording")
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, err := recordPaths(s, players, seed, length)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	t := Table{Title: "Dead reckoning of players' bodies: updates a second and body, by threshold " +
		"and order; what is shown is off by so much, in widths of a body, without delay and 100 " +
		"ms away", Keys: 2,
		Heads: []string{"threshold, widths", "order", "published", "updates/s", "of all ticks, %",
			"payload, bit/s", "off, mean", "most", "100 ms away: mean", "p95"}}
	var rates [3][]float64
	for _, threshold := range []float64{0.05, 0.25, 0.5, 1, 2} {
		for order := range 3 {
			var sums [7][]float64
			for _, x := range list {
				r, err := x.play(threshold, order)
				if err != nil {
					return nil, err
				}
				for k, v := range []float64{r.updates, r.share, r.bits, r.mean, r.most, r.lateMean,
					r.lateP95} {
					sums[k] = append(sums[k], v)
				}
				f.expect(r.most <= threshold+1e-9,
					"order %d, threshold %g: what was reckoned was off by %.3f", order, threshold,
					r.most)
			}
			rates[order] = append(rates[order], sums[0]...)
			t.add(fmt.Sprint(threshold), orderNames[order], "–", interval(sums[0], 2),
				interval(sums[1], 1), interval(sums[2], 0), interval(sums[3], 3),
				interval(sums[4], 2), interval(sums[5], 3), interval(sums[6], 2))
		}
	}
	f.Tables = append(f.Tables, t)
	n := len(list)
	f.expect(mean(rates[0][:n]) > mean(rates[0][len(rates[0])-n:]),
		"a larger threshold did not save updates")
	f.differs("The survey gives the formulas, p₀ + v₀Δt and + ½a₀Δt², and no figures for traffic; " +
		"the one that it quotes, 72 %% fewer packets in PARADISE, is of summaries of distant " +
		"groups together with reckoning.")
	f.differs("SIMNET and DIS were made for vehicles that cannot turn at once. Players of an " +
		"action game can: the second order, which believes in their acceleration, saves updates " +
		"where the threshold is narrow and costs some where it is wide; an update has half as " +
		"many bits again.")
	f.differs("Velocity and acceleration are those of the last ticks, rounded as the title's " +
		"fields are, so that both ends reckon alike to the last bit. The heartbeat is five " +
		"seconds, as DIS has it.")
	f.differs("The threshold bounds the error only where updates come at once. With 100 ms on the " +
		"way the shown error is beyond it, most so in the second order.")
	return f, nil
}

var orderNames = [3]string{"0: it stands", "1: it goes on", "2: it accelerates"}

func mean(list []float64) (sum float64) {
	for _, v := range list {
		sum += v / float64(len(list))
	}
	return sum
}

// recordPaths has bots play, and keeps where their bodies are.
func recordPaths(s *lab.Subject, players int, seed uint64, length time.Duration) (*paths, error) {
	place, ok := s.Place(s.BodyClass())
	if !ok {
		return nil, fmt.Errorf("%s does not say where bodies are", s.Name())
	}
	schema := s.Game.Classes()[s.BodyClass()].Schema()
	x := &paths{width: s.Width(), rate: s.Game.Rate(), tick: s.Game.TickLength()}
	for _, slot := range place.Slots {
		d := &schema.Slots[slot]
		x.fields = append(x.fields, codec.Field{Name: d.Name, Min: d.Min, Max: d.Max,
			Kind: codec.Position, Rate: -1})
		x.unit = max(x.unit, d.Scale)
	}
	if x.unit == 0 {
		x.unit = 1
	}
	m, err := lab.NewMatch(s, players, seed)
	if err != nil {
		return nil, err
	}
	x.tracks = make([]track, players)
	lives := make([]int, players)
	for range int(length / s.Game.TickLength()) {
		if err := m.Step(); err != nil {
			return nil, err
		}
		for i := range x.tracks {
			x.tracks[i] = append(x.tracks[i], nil)
		}
		for id := range m.World.Host().Of(s.BodyClass()) {
			i := int(m.World.Owner(id)) - 1
			if i < 0 || i >= players {
				continue
			}
			life, alive := game.Lives(m.World, id)
			if !alive || life != lives[i] {
				lives[i] = life
				continue // who comes back elsewhere is told anew
			}
			var at []int32
			image := m.World.Host().Image(id)
			for _, slot := range place.Slots {
				at = append(at, image[slot])
			}
			x.tracks[i][len(x.tracks[i])-1] = at
		}
	}
	return x, nil
}

// reckoned is what came of one threshold and order. Distances are in widths of a body.
type reckoned struct{ updates, share, bits, mean, most, lateMean, lateP95 float64 }

// heartbeat is after how long DIS sends an update although nothing is wrong.
const heartbeat = 5 * time.Second

// play has every body's owner send updates by a contract.
func (x *paths) play(threshold float64, order int) (r reckoned, err error) {
	var axes []reckon.Axis
	var names []string
	size := 0
	for _, f := range x.fields {
		a := reckon.Axis{Name: f.Name}
		if order == 2 {
			a.Order = reckon.Second
		}
		axes, names = append(axes, a), append(names, f.Name)
		size += bits.Len32(uint32(f.Max)-uint32(f.Min)) * (order + 1)
	}
	motion, err := reckon.New(x.fields, reckon.Options{Axes: axes, Horizon: reckon.MaxHorizon})
	if err != nil {
		return r, err
	}
	contract, err := reckon.NewContract(x.fields, reckon.Terms{
		Tolerances: []reckon.Tolerance{{Fields: names,
			Within: int32(threshold * x.width / x.unit)}},
		Heartbeat: world.Tick(heartbeat / x.tick), Release: reckon.Ratio{Num: 1}})
	if err != nil {
		return r, err
	}
	ticks, updates := 0, 0
	var late []float64
	for _, t := range x.tracks {
		b := &body{track: t, order: order, motion: motion, now: make([]int32, len(x.fields))}
		var watch reckon.Watch
		for i, truth := range t {
			if truth == nil {
				watch, b.sent = reckon.Watch{}, nil
				continue
			}
			ticks++
			shown := b.reckon(i, len(b.sent)-1)
			if reason := contract.Check(&watch, world.Tick(i+1), truth,
				shown); reason != reckon.Kept {
				watch.Sent(world.Tick(i + 1))
				b.sent = append(b.sent, i)
				updates++
				shown = truth
			}
			off := x.apart(truth, shown)
			r.mean, r.most = r.mean+off, max(r.most, off)
			way := int(100 * time.Millisecond / x.tick)
			k := len(b.sent) - 1
			for k >= 0 && b.sent[k]+way > i {
				k--
			}
			if k >= 0 {
				late = append(late, x.apart(truth, b.reckon(i, k)))
			}
		}
	}
	if ticks == 0 || len(late) == 0 {
		return r, fmt.Errorf("nobody was there for long enough to be reckoned")
	}
	slices.Sort(late)
	seconds := float64(ticks) / float64(x.rate)
	r.updates, r.share = float64(updates)/seconds, 100*float64(updates)/float64(ticks)
	r.bits, r.mean = float64(updates*size)/seconds, r.mean/float64(ticks)
	r.lateMean, r.lateP95 = mean(late), late[len(late)*95/100]
	return r, nil
}

// apart is how far two places are from each other.
func (x *paths) apart(a, b []int32) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i]-b[i]) * x.unit / x.width
		sum += d * d
	}
	return math.Sqrt(sum)
}

// A body is one that is told of.
type body struct {
	track  track
	order  int
	motion *reckon.Motion
	sent   []int // ticks of updates
	now    []int32
}

// reckon is where a receiver takes it to be at a tick, by one of the updates.
func (b *body) reckon(i, update int) []int32 {
	if update < 0 {
		copy(b.now, b.track[i])
		return b.now
	}
	at := b.sent[update]
	copy(b.now, b.track[at])
	if b.order == 0 {
		return b.now
	}
	var h codec.History
	for back := 0; back <= b.order && at-back >= 0 && b.track[at-back] != nil; back++ {
		h.Add(b.track[at-back], int32(min(i-at+back, 255)))
	}
	b.motion.Now(&h, b.now)
	return b.now
}
