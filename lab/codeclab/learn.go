package codeclab

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/replica"
)

// LearnOptions say how learning is measured.
type LearnOptions struct {
	After    time.Duration // how much play is learned from
	Seed     uint64        // which frames are lost
	Progress lab.Progress
}

// List describes the options.
func (o *LearnOptions) List() []*lab.Option {
	return []*lab.Option{
		lab.Span(&o.After, "after", time.Second, time.Minute, time.Second, time.Hour,
			"with --learn, how much play is learned from, at most two thirds of the recording"),
		lab.Number(&o.Seed, "learn-seed", 1, 0, math.MaxUint64,
			"with --learn, which frames are lost"),
	}
}

// Learned is what learning makes of one workload. The JSON names are for scripts and stay.
type Learned struct {
	Workload string  `json:"workload" head:"workload"`
	Seconds  float64 `json:"seconds" head:"learned from s" as:"%.0f"`

	// Bytes a frame of what was played after that, by tables: none that were trained, those that
	// are bundled, if any, those that were learned, and some trained on exactly this, with no bound
	// on what they take.
	Untrained float64 `json:"untrained" head:"untrained" as:"%.1f"`
	Bundled   float64 `json:"bundled" head:"bundled" as:"?%.1f"`
	Learned   float64 `json:"learned" head:"learned" as:"%.1f"`
	Self      float64 `json:"self" head:"trained on it" as:"%.1f"`

	TableBytes int `json:"table_bytes" head:"table bytes"`
	Samples    int `json:"samples" head:"samples"`
	// WithTables is the learned tables' bytes a frame with their own bytes over ten minutes, and
	// Times that against those trained on it.
	WithTables float64 `json:"with_tables" head:"with tables" as:"%.1f"`
	Times      float64 `json:"times" head:"x trained" as:"%.3f"`
	CPU        float64 `json:"cpu_seconds" head:"learning s" as:"%.1f"`
}

// LearnedList are several.
type LearnedList []Learned

// Lines are the results.
func (l LearnedList) Lines() []any { return lab.Lines(l) }

// Check finds nothing wrong: what was coded is compared where strategies are.
func (l LearnedList) Check() error { return nil }

// Report is a table.
func (l LearnedList) Report(p *lab.Report) {
	p.Table([]Learned(l), "Workload, Seconds | Untrained, Bundled, Learned, Self, TableBytes, "+
		"Samples, WithTables, Times, CPU")
}

// learnLosses are those of the clients of which is learned, one for each.
var learnLosses = [...]float64{0, 0.1, 0.25}

// A played is content in two parts: what is learned from, and what comes after it.
type played struct {
	name          string
	seconds       float64
	rate          int
	schema        *codec.Schema
	before, after []*codec.Recording
	tables        []byte // of the game, if it has any
}

// Learn plays the beginning of a workload to three clients as a server would that learns, and
// measures the rest of it by what was learned.
func Learn(ctx context.Context, w *Workload, o LearnOptions) (*Learned, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	r := w.Recording
	first := max(r.Skip, 1)
	frames := min(int(o.After.Seconds()*float64(r.Rate)), (len(r.Frames)-first)*2/3)
	if frames < 1 {
		return nil, fmt.Errorf("%s has %d frames: too few to learn from", w.Name, len(r.Frames))
	}
	before, after := *r, *r
	before.Frames, before.Skip = r.Frames[:first+frames], first
	after.Frames, after.Skip = r.Frames[frames:], first
	return o.learn(ctx, &played{w.Name, float64(frames) / float64(r.Rate), r.Rate, r.Schema,
		[]*codec.Recording{&before}, []*codec.Recording{&after}, BundledTables(r.Schema).Data})
}

// LearnGame lets bots play a title, and does as Learn does with what they play. What is bundled are
// the title's own tables.
func LearnGame(ctx context.Context, t *game.Title, players int, o LearnOptions) (*Learned, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	tables := t.Tables
	t = t.Clone()
	t.Tables = nil
	g, err := lab.NewSubject(t, "", players)
	if err != nil {
		return nil, err
	}
	p, err := g.Protocol(replica.Coeval)
	if err != nil {
		return nil, err
	}
	m, err := lab.NewMatch(g, players, o.Seed)
	if err != nil {
		return nil, err
	}
	r := newGameRecorder(g, p)
	learn := int(o.After.Seconds() * float64(g.Game.Rate()))
	split := 0
	for tick := range warmUp + learn*3/2 {
		if err := m.Step(); err != nil {
			return nil, err
		}
		if tick >= warmUp {
			r.tick(m.World)
		}
		if tick == warmUp+learn {
			split = len(r.scenes)
		}
	}
	const settle = 30 // ticks that all ages of bases lie back
	for _, s := range r.scenes {
		s.Skip = settle
	}
	if split == 0 || split == len(r.scenes) {
		return nil, fmt.Errorf("%s was played for too short a time to learn from", t.Name())
	}
	return o.learn(ctx, &played{fmt.Sprintf("%s, %d players", t.Name(), players),
		o.After.Seconds(), g.Game.Rate(), r.schema, r.scenes[:split], r.scenes[split:], tables})
}

// learn learns from the first part, and measures the second.
func (o *LearnOptions) learn(ctx context.Context, c *played) (*Learned, error) {
	plain, err := codec.Default(c.schema)
	if err != nil {
		return nil, err
	}
	res := &Learned{Workload: c.name, Seconds: c.seconds}
	o.Progress.Tell(0, c.name+": playing")
	x := codec.NewSamples(c.schema, 64<<20)
	for _, r := range c.before {
		gather(x, plain, r, o.Seed)
	}
	res.Samples = x.Len()
	o.Progress.Tell(0.1, c.name+": learning")
	began := lab.ProcessTime()
	tables := codec.Learn(x, codec.LearnOptions{})
	res.CPU, res.TableBytes = (lab.ProcessTime() - began).Seconds(), len(tables)
	learned, err := codec.LoadTables(c.schema, tables)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	self, err := codec.Train(c.schema, c.after, codec.TrainOptions{Loss: learnLosses[:],
		Progress: func(done float64) { o.Progress.Tell(0.2+0.6*done, c.name+": training on it") }})
	if err != nil {
		return nil, err
	}
	models := []*codec.Model{plain, learned, self}
	results := []*float64{&res.Untrained, &res.Learned, &res.Self}
	if c.tables != nil {
		m, err := codec.LoadTables(c.schema, c.tables)
		if err != nil {
			return nil, err
		}
		models, results = append(models, m), append(results, &res.Bundled)
	}
	for i, m := range models {
		if *results[i], err = bytesBy(m, c.after); err != nil {
			return nil, err
		}
	}
	const tenMinutes = 600
	res.WithTables = res.Learned + float64(res.TableBytes)/float64(tenMinutes*c.rate)
	res.Times = lab.Ratio(res.WithTables, res.Self)
	return res, nil
}

// gather plays a recording to the clients, and takes what a server would.
func gather(x *codec.Samples, m *codec.Model, r *codec.Recording, seed uint64) {
	enc := codec.NewEncoder(m)
	order := sendingOrder(r)
	buf := make([]byte, 1<<16)
	var now moment
	for i, loss := range learnLosses {
		c := &meter{recording: r, order: order, rounds: 1,
			arrived: arrivals(len(r.Frames), loss, seed+uint64(i))}
		for f := max(r.Skip, 1); f < len(r.Frames); f++ {
			c.prepare(&now, f)
			enc.Begin(buf)
			for rank, e := range order {
				h := &now.histories[rank]
				enc.Take(x, r.Classes[e], h, now.now[rank])
				enc.Put(r.Classes[e], h, now.now[rank])
				if rank == 0 && r.Refer >= 0 {
					enc.Refer(r.Classes[e], h, now.now[rank])
				}
			}
		}
	}
}

// bytesBy is how many bytes a frame takes by a model, packet headers included.
func bytesBy(m *codec.Model, recs []*codec.Recording) (float64, error) {
	bytes, frames := 0, 0
	for _, r := range recs {
		order := sendingOrder(r)
		s := newSender("coeval", r, m.Strategy().NewEncoder(), order, 1150)
		c := &meter{recording: r, order: order, arrived: arrivals(len(r.Frames), 0, 1), rounds: 1}
		var now moment
		for f := max(r.Skip, 1); f < len(r.Frames); f++ {
			c.prepare(&now, f)
			if err := s.encode(&now, now.now); err != nil {
				return 0, err
			}
			bytes += s.size()
			frames++
		}
	}
	return float64(bytes) / float64(max(frames, 1)), nil
}
