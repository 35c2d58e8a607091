package codec

import (
	"errors"
	"slices"
)

// TrainOptions say how to train. The zero value is what coeval codec train uses.
type TrainOptions struct {
	// Loss lists the shares of frames that are taken to be lost, one pass over
	// the recordings for each. Default: none, 10 % and 25 %.
	Loss []float64
	// Compact quantises what is learned, so that the tables take a fraction of the bytes.
	Compact bool
	// Yield, if set, is called every now and then; see LearnOptions.
	Yield func()
	// Progress, if set, is told how much of the work is done, from 0 to 1.
	Progress func(done float64)
}

// sample is one entity with what was known of it when it was coded: at a frame of a recording, or
// as it was gathered.
type sample struct {
	rec    *Recording
	frame  int32
	entity int32
	known  [Depth]int32
	n      int8
	taken  taken // of Samples, if there is no recording
}

func (s *sample) history(h *History) {
	if s.rec == nil {
		s.taken.history(h)
		return
	}
	s.of(h, s.entity)
}

// of is what is known of an entity of the sample's recording.
func (s *sample) of(h *History, entity int32) {
	h.Reset()
	for _, f := range s.known[:s.n] {
		h.Add(s.rec.Image(int(f), int(entity)), s.frame-f)
	}
}

func (s *sample) now() []int32 {
	if s.rec == nil {
		return s.taken.now()
	}
	return s.rec.Image(int(s.frame), int(s.entity))
}

func (s *sample) base() []int32 {
	if s.rec == nil {
		return s.taken.base()
	}
	return s.rec.Image(int(s.known[0]), int(s.entity))
}

// A source gives the samples to learn from.
type source interface {
	// each calls f for every step-th sample of a class, with what the coder is to know of those
	// that came before it in its packet.
	each(t *trainer, class, step int, f func(s *sample, h *History, now []int32))
	// size is how many samples there are at most of all classes together.
	size() int
}

type trainer struct {
	schema *Schema
	from   source
	most   int // samples of a class from which weights are learned
	opt    TrainOptions
	model  *Model
	coder  coder
	refer  History // of a sample's reference

	steps, done int
}

// step tells that a part of the work is done.
func (t *trainer) step(n int) {
	t.done += n
	if t.opt.Progress != nil {
		t.opt.Progress(float64(min(t.done, t.steps)) / float64(t.steps))
	}
}

// pause lets other work go first every few samples.
func (t *trainer) pause(sample int) {
	if t.opt.Yield != nil && sample%64 == 0 {
		t.opt.Yield()
	}
}

// Train makes the tables of a game from recordings of it.
func Train(s *Schema, recs []*Recording, opt TrainOptions) (*Model, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if len(recs) == 0 {
		return nil, errors.New("codec: nothing to train from")
	}
	if opt.Loss == nil {
		opt.Loss = []float64{0, 0.1, 0.25}
	}
	from := &recorded{recs: recs, losses: len(opt.Loss)}
	rng := uint64(1)
	for _, r := range recs {
		var passes [][]bool
		for _, loss := range opt.Loss {
			a := make([]bool, len(r.Frames))
			for i := range a {
				rng = rng*6364136223846793005 + 1442695040888963407
				a[i] = float64(rng>>11)/(1<<53) >= loss
			}
			passes = append(passes, a)
		}
		from.arrived = append(from.arrived, passes)
	}
	// Enough is enough: weights need tens of thousands of samples, not millions.
	t := &trainer{schema: s, from: from, most: 120_000, opt: opt}
	t.learn()
	if opt.Compact {
		return LoadTables(s, t.compact())
	}
	return t.model.seal()
}

// learn makes the model.
func (t *trainer) learn() {
	t.model = newModel(t.schema)
	t.coder = coder{model: t.model, count: newCounter()}
	for i := range t.model.classes {
		m := &t.model.classes[i]
		t.steps += len(m.numbers) + 2*len(m.rotations) + 3
	}
	for i := range t.schema.Classes {
		before, m := t.done, &t.model.classes[i]
		steps := len(m.numbers) + 2*len(m.rotations) + 2
		t.class(i)
		t.step(before + steps - t.done) // still fields are not learned
	}
	t.tables()
}

// compact gives what was learned in the compact form.
func (t *trainer) compact() []byte { return t.model.compact(t.coder.count.counts) }

// recorded gives samples from recordings.
type recorded struct {
	recs    []*Recording
	losses  int
	arrived [][][]bool // by recording and pass
}

func (x *recorded) size() (total int) {
	for _, r := range x.recs {
		total += len(r.Frames) * len(r.Classes) * x.losses
	}
	return total
}

func (x *recorded) each(t *trainer, class, step int,
	f func(s *sample, h *History, now []int32)) {
	var h, rh History
	for ri, r := range x.recs {
		for _, arrived := range x.arrived[ri] {
			for n := r.Skip; n < len(r.Frames); n += step {
				frames, k := r.Known(n, arrived)
				if k == 0 {
					continue
				}
				t.coder.ref = reference{}
				t.coder.facts[factBefore] = 0
				if r.Refer >= 0 {
					r.History(&rh, r.Refer, n, frames[:k])
					t.coder.ref.set(&t.model.classes[r.Classes[r.Refer]], &rh, r.Image(n, r.Refer))
				}
				s := sample{rec: r, frame: int32(n), n: int8(k)}
				for i := range k {
					s.known[i] = int32(frames[i])
				}
				for e, c := range r.Classes {
					if c != class {
						continue
					}
					s.entity = int32(e)
					r.History(&h, e, n, frames[:k])
					f(&s, &h, r.Image(n, e))
				}
			}
		}
	}
}

// class learns all about one class but its distributions.
func (t *trainer) class(ci int) {
	m := &t.model.classes[ci]
	var samples []sample
	t.from.each(t, ci, 1, func(s *sample, h *History, now []int32) {
		if !slices.Equal(now, h.Images[0]) {
			samples = append(samples, *s)
		}
	})
	if len(samples) > t.most {
		kept := samples[:0]
		for i := range t.most {
			kept = append(kept, samples[i*len(samples)/t.most])
		}
		samples = kept
	}
	*m = *newClassModel(&t.schema.Classes[ci], stillFields(m, samples))
	t.discreteFields(m, samples)
	t.step(1)
	t.learnChange(ci, m)
	t.step(1)
	t.numbers(m, samples)
}

// stillFields finds the numbers that hardly ever move, and so are cheaper to treat as discrete.
func stillFields(m *classModel, samples []sample) []bool {
	still := make([]bool, len(m.fields))
	for i := range m.numbers {
		f := m.numbers[i].field
		still[f] = changes(samples, f)*100 < len(samples)
	}
	return still
}

// prepare has the coder gather what the past says about a sample, and gives its history.
func (t *trainer) prepare(m *classModel, s *sample, h *History) {
	s.history(h)
	t.coder.ref = reference{}
	if r := s.rec; r == nil {
		s.taken.refer(t)
	} else if r.Refer >= 0 {
		s.of(&t.refer, int32(r.Refer))
		t.coder.ref.set(&t.model.classes[r.Classes[r.Refer]], &t.refer,
			r.Image(int(s.frame), r.Refer))
	}
	t.coder.history(m, h)
	t.coder.points(m, h)
}

// history gathers all that the past says about the numbers of an entity, of which number looks at a
// part.
func (c *coder) history(m *classModel, h *History) {
	c.setGaps(h)
	for i := range m.numbers {
		n := &m.numbers[i]
		s := (*[numberFeatures]int64)(c.features[n.features:])
		c.rates(n, h, s)
		v := int64(h.Images[0][n.field]) - n.mid
		s[baseRate], s[baseValue] = clampFeature(v*c.gap<<8), clampFeature(v<<8)
	}
	if m.reckon != nil {
		c.reckon(m, h)
	}
}
