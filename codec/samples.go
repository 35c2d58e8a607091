package codec

// Samples are entities as they were coded, with what the receiver was known to hold of them: what
// Learn learns from. They take a bounded amount of memory, whatever is added: of each class, those
// that changed and those that did not are kept apart, and where there is no more room a new one
// takes the place of another, so that what was long ago fades.
//
// It belongs to one goroutine at a time. Nothing is allocated once all shelves have grown.
type Samples struct {
	schema  *Schema
	shelves []shelf // two for each class: unchanged and changed
	refers  int     // numbers that the image of a reference has at most; 0 without references
	rng     uint64
}

// shelf holds rows of numbers, one for each sample.
type shelf struct {
	fields int
	width  int
	most   int // rows
	rows   []int32
	offers uint64 // how many came to be kept
}

// A row begins with these, then come the image, those that were known, and for classes that may be
// carried the same of the reference.
const (
	rowKnown   = iota // how many images were known
	rowBefore         // whether the two entities before it in the packet changed
	rowRefer          // the class of the reference and one; 0 without one
	rowReferOf        // how many images of the reference were known
	rowAges
	rowReferAges = rowAges + Depth
	rowHead      = rowReferAges + Depth
)

// mostRows is how many samples of a class are of any use, and leastRows how few may be kept where
// memory is short.
const (
	mostRows  = 16_000
	leastRows = 64
)

// NewSamples makes room for samples of a schema's classes. It takes at most about so many bytes,
// and less for as long as less was added.
func NewSamples(s *Schema, bytes int) *Samples {
	x := &Samples{schema: s, rng: 1}
	for i := range s.Classes {
		if s.Classes[i].Reference {
			for k := range s.Classes {
				x.refers = max(x.refers, len(s.Classes[k].Fields))
			}
		}
	}
	x.shelves = make([]shelf, 2*len(s.Classes))
	widths := 0
	for i := range x.shelves {
		c, sh := &s.Classes[i/2], &x.shelves[i]
		sh.fields = len(c.Fields)
		sh.width = rowHead + (1+Depth)*sh.fields
		if c.Reference {
			sh.width += (1 + Depth) * x.refers
		}
		widths += sh.width * (1 + 3*(i&1))
	}
	for i := range x.shelves {
		// those that changed say more
		rows := bytes / 4 / max(widths, 1) * (1 + 3*(i&1))
		x.shelves[i].most = min(max(rows, leastRows), mostRows)
	}
	return x
}

// Len is how many samples of entities that changed are held.
func (x *Samples) Len() (n int) {
	for i := 1; i < len(x.shelves); i += 2 {
		n += len(x.shelves[i].rows) / x.shelves[i].width
	}
	return n
}

// Reset forgets all samples, and keeps their memory.
func (x *Samples) Reset() {
	for i := range x.shelves {
		x.shelves[i].rows, x.shelves[i].offers = x.shelves[i].rows[:0], 0
	}
}

// Take keeps an entity that is about to be put into the encoder's packet.
func (e *Encoder) Take(x *Samples, class int, h *History, now []int32) {
	changed := 0
	if !same(now, h.Images[0]) {
		changed = 1
	}
	row := x.shelves[2*class+changed].place(&x.rng)
	row[rowKnown], row[rowBefore] = int32(h.Len), int32(e.c.facts[factBefore])
	row[rowRefer] = 0
	copy(row[rowAges:rowReferAges], h.Ages[:])
	at := copyImages(row, rowHead, h, now)
	ref := &e.c.ref
	if !x.schema.Classes[class].Reference || ref.model == nil {
		return
	}
	for i := range e.c.model.classes {
		if &e.c.model.classes[i] == ref.model {
			row[rowRefer] = int32(i) + 1
		}
	}
	row[rowReferOf] = int32(ref.past.Len)
	copy(row[rowReferAges:rowHead], ref.past.Ages[:])
	copyImages(row, at, ref.past, ref.now)
}

// copyImages writes an image and those that were known into a row, and says where they end.
func copyImages(row []int32, at int, h *History, now []int32) int {
	at += copy(row[at:], now)
	for i := range h.Len {
		copy(row[at+i*len(now):], h.Images[i][:len(now)])
	}
	return at + Depth*len(now)
}

// place gives the row for one more sample: in a full shelf that of another, any of them.
func (s *shelf) place(rng *uint64) []int32 {
	s.offers++
	n := len(s.rows) / s.width
	if n < s.most {
		if cap(s.rows) < len(s.rows)+s.width {
			grown := make([]int32, len(s.rows), min(max(2*n, leastRows), s.most)*s.width)
			copy(grown, s.rows)
			s.rows = grown
		}
		s.rows = s.rows[:len(s.rows)+s.width]
		return s.rows[n*s.width:]
	}
	*rng = *rng*6364136223846793005 + 1442695040888963407
	i := int(*rng >> 33 % uint64(n))
	return s.rows[i*s.width : (i+1)*s.width]
}

// Add takes over all samples of another, which is of the same schema.
func (x *Samples) Add(other *Samples) {
	for i := range x.shelves {
		from, to := &other.shelves[i], &x.shelves[i]
		if from.width != to.width {
			continue
		}
		offers := to.offers + from.offers
		for at := 0; at < len(from.rows); at += from.width {
			copy(to.place(&x.rng), from.rows[at:at+from.width])
		}
		to.offers = offers
	}
}

// taken is one row of samples.
type taken struct {
	row    []int32
	fields int
}

func (t taken) now() []int32  { return t.row[rowHead : rowHead+t.fields] }
func (t taken) base() []int32 { return t.row[rowHead+t.fields : rowHead+2*t.fields] }

func (t taken) history(h *History) {
	h.Reset()
	at := rowHead + t.fields
	for i := range int(t.row[rowKnown]) {
		h.Add(t.row[at:at+t.fields], t.row[rowAges+i])
		at += t.fields
	}
}

// refer sets the reference that the sample had.
func (t taken) refer(to *trainer) {
	class := int(t.row[rowRefer]) - 1
	if class < 0 {
		return
	}
	now := t.referred(&to.refer, len(to.schema.Classes[class].Fields))
	to.coder.ref.set(&to.model.classes[class], &to.refer, now)
}

// size is how many samples there are.
func (x *Samples) size() (n int) {
	for i := range x.shelves {
		n += len(x.shelves[i].rows) / x.shelves[i].width
	}
	return n
}

func (x *Samples) each(t *trainer, class, step int, f func(s *sample, h *History, now []int32)) {
	var h History
	c := &t.coder
	defer func() { c.count.weight = 1 }()
	for k := range 2 {
		sh := &x.shelves[2*class+k]
		n := len(sh.rows) / sh.width
		if n == 0 {
			continue
		}
		// Of both kinds as many were kept as there is room for, and not as many as there were.
		c.count.weight = x.share(2*class+k) / max(x.share(2*class+1), 1)
		for i := 0; i < n; i += step {
			s := sample{taken: taken{sh.rows[i*sh.width : (i+1)*sh.width], sh.fields}}
			s.history(&h)
			c.ref = reference{}
			s.taken.refer(t)
			c.facts[factBefore] = uint8(s.taken.row[rowBefore])
			t.pause(i)
			f(&s, &h, s.now())
		}
	}
}

// share is for how many that came one that was kept stands.
func (x *Samples) share(shelf int) float64 {
	sh := &x.shelves[shelf]
	if n := len(sh.rows) / sh.width; n > 0 {
		return float64(sh.offers) / float64(n)
	}
	return 0
}

// LearnOptions say how Learn works. The zero value is ready.
type LearnOptions struct {
	// Yield, if set, is called every now and then, many times a millisecond at most, for what
	// learns beside other work to let that go first.
	Yield func()
}

// Learn makes compact tables from samples: the same from the same samples.
func Learn(x *Samples, opt LearnOptions) []byte {
	t := &trainer{schema: x.schema, from: x, most: mostRows,
		opt: TrainOptions{Compact: true, Yield: opt.Yield}}
	t.learn()
	return t.compact()
}

// Cost is how many bits the model takes for one of the samples, on average.
func (m *Model) Cost(x *Samples) float64 {
	e := NewEncoder(m)
	var h, refer History
	// A sample takes less than the longest entity.
	buf := make([]byte, 1<<13)
	total, n := 0.0, 0.0
	for i := range x.shelves {
		sh := &x.shelves[i]
		share := x.share(i)
		for at := 0; at < len(sh.rows); at += sh.width {
			s := taken{sh.rows[at : at+sh.width], sh.fields}
			s.history(&h)
			e.Begin(buf)
			e.c.facts[factBefore] = uint8(s.row[rowBefore])
			if class := int(s.row[rowRefer]) - 1; class >= 0 {
				e.Refer(class, &refer, s.referred(&refer, len(x.schema.Classes[class].Fields)))
			}
			before := e.Spent()
			e.Put(i/2, &h, s.now())
			total += share * (e.Spent() - before)
			n += share
		}
	}
	return total / max(n, 1)
}

// referred gives the image of the reference that the sample had, and what was known of it.
func (t taken) referred(past *History, fields int) []int32 {
	at := rowHead + (1+Depth)*t.fields
	now := t.row[at : at+fields]
	past.Reset()
	for i := range int(t.row[rowReferOf]) {
		at += fields
		past.Add(t.row[at:at+fields], t.row[rowReferAges+i])
	}
	return now
}
