package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/coeval-dev/coeval/entropy"
)

// A tables file holds what training learned, for one schema:
//
//	magic   "coeval tables 1\n"
//	schema  32 bytes, the hash of the schema the tables belong to
//	size    varint, bytes of the body
//	body    the learned values of each class in turn, as varints
//	check   the first 8 bytes of the SHA-256 of all that stands before
//
// A distribution is written once and then referred to by its number.
const tablesMagic = "coeval tables 1\n"

// maxTables bounds a tables file, in bytes and in distributions.
const (
	maxTablesSize = 16 << 20
	maxTables     = 1 << 17
	maxCompact    = 1 << 15 // of a compact file, in which one may take next to nothing
)

// ErrTables is wrapped by the errors of LoadTables.
var ErrTables = errors.New("codec: bad tables")

// Hash identifies the schema: all that the coding depends on, but not its name.
func (s *Schema) Hash() [32]byte {
	var b []byte
	str := func(x string) { b = append(binary.AppendUvarint(b, uint64(len(x))), x...) }
	b = binary.AppendUvarint(b, uint64(len(s.Classes)))
	for _, c := range s.Classes {
		str(c.Name)
		has := byte(0)
		if c.Reference {
			has |= 1
		}
		if c.Reckon != nil {
			has |= 2
		}
		b = append(b, has)
		b = binary.AppendUvarint(b, uint64(len(c.Fields)))
		for _, f := range c.Fields {
			str(f.Name)
			b = binary.AppendVarint(b, int64(f.Min))
			b = binary.AppendVarint(b, int64(f.Max))
			b = append(b, byte(f.Kind))
			b = binary.AppendVarint(b, int64(max(f.Rate, -1)))
		}
	}
	return sha256.Sum256(b)
}

// Hash identifies the model: two sides whose models have the same hash
// understand each other's packets.
func (m *Model) Hash() [32]byte { return m.hash }

// Schema is the schema that the model codes.
func (m *Model) Schema() *Schema { return &m.schema }

// AppendTables appends the tables of the model, as LoadTables reads them.
func (m *Model) AppendTables(dst []byte) []byte {
	f := &tablesFile{known: map[table]int{}}
	for i := range m.classes {
		f.class(&m.classes[i])
	}
	start := len(dst)
	h := m.schema.Hash()
	dst = append(dst, tablesMagic...)
	dst = append(dst, h[:]...)
	dst = binary.AppendUvarint(dst, uint64(len(f.data)))
	dst = append(dst, f.data...)
	sum := sha256.Sum256(dst[start:])
	return append(dst, sum[:8]...)
}

// TablesFit reports whether data looks like tables for the schema.
func TablesFit(s *Schema, data []byte) bool {
	h := s.Hash()
	return len(data) > len(tablesMagic)+32 && isTables(data) &&
		[32]byte(data[len(tablesMagic):len(tablesMagic)+32]) == h
}

// isTables says whether data begins as one of the two forms of tables does.
func isTables(data []byte) bool {
	magic := string(data[:min(len(data), len(tablesMagic))])
	return magic == tablesMagic || magic == compactMagic
}

// LoadTables makes the model of a schema from tables that were trained for it, in either form.
func LoadTables(s *Schema, data []byte) (*Model, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	n := len(tablesMagic)
	if len(data) < n+32+8 || !isTables(data) {
		return nil, fmt.Errorf("%w: this is not a tables file; make one with coeval codec train",
			ErrTables)
	}
	if h := s.Hash(); [32]byte(data[n:n+32]) != h {
		return nil, fmt.Errorf(
			"%w: made for another game or version: they belong to schema %s, this is %s (%s); "+
				"train them again",
			ErrTables, hex.EncodeToString(data[n:n+4]), hex.EncodeToString(h[:4]), s.Name)
	}
	body := data[n+32:]
	size, k := binary.Uvarint(body)
	if k <= 0 || size > maxTablesSize || uint64(len(body)-k) < size+8 {
		return nil, fmt.Errorf("%w: truncated at byte %d", ErrTables, len(data))
	}
	end := n + 32 + k + int(size)
	if len(data) != end+8 {
		return nil, fmt.Errorf("%w: %d bytes follow the end", ErrTables, len(data)-end-8)
	}
	sum := sha256.Sum256(data[:end])
	if !slices.Equal(sum[:8], data[end:]) {
		return nil, fmt.Errorf("%w: the checksum does not match, the file is damaged", ErrTables)
	}
	m := newModel(s)
	f := &tablesFile{data: data[end-int(size) : end], reading: true}
	if string(data[:n]) == compactMagic {
		f.pack = &packer{dec: new(entropy.Decoder)}
		f.pack.dec.Reset(f.data)
		f.pack.begin()
	}
	for i := range m.classes {
		f.class(&m.classes[i])
		if f.err != nil {
			return nil, fmt.Errorf("%w: class %s, at byte %d: %w", ErrTables, s.Classes[i].Name,
				end-int(size)+f.off, f.err)
		}
	}
	if f.pack != nil {
		if err := f.pack.dec.Finish(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrTables, err)
		}
	} else if f.off != len(f.data) {
		return nil, fmt.Errorf("%w: %d bytes left over", ErrTables, len(f.data)-f.off)
	}
	m.hash = sha256.Sum256(data)
	for i := range m.classes {
		m.classes[i].findUses()
	}
	return m, nil
}

// newModel lays out a model without knowledge.
func newModel(s *Schema) *Model {
	m := &Model{schema: *s, classes: make([]classModel, len(s.Classes))}
	for i := range s.Classes {
		m.classes[i] = *newClassModel(&s.Classes[i], nil)
	}
	return m
}

// seal makes a model that was trained into what a reader of its tables gets.
func (m *Model) seal() (*Model, error) { return LoadTables(&m.schema, m.AppendTables(nil)) }

// tablesFile reads or writes the body, by the same functions.
type tablesFile struct {
	data    []byte
	off     int
	reading bool
	pack    *packer // of a compact file; then data is not used
	err     error
	known   map[table]int
	tables  []table
}

func (f *tablesFile) fail(why string) {
	if f.err == nil {
		f.err = errors.New(why)
	}
}

// number is a value from lo to hi, and what it is for.
func (f *tablesFile) number(purpose int, v int64, lo, hi int64) int64 {
	if f.pack != nil {
		if f.err != nil {
			return lo
		}
		v = f.pack.number(purpose, v)
		return f.within(v, lo, hi)
	}
	if !f.reading {
		f.data = binary.AppendVarint(f.data, v)
		return v
	}
	if f.err != nil {
		return lo
	}
	v, n := binary.Varint(f.data[f.off:])
	if n <= 0 {
		f.fail("truncated")
		return lo
	}
	f.off += n
	return f.within(v, lo, hi)
}

func (f *tablesFile) within(v, lo, hi int64) int64 {
	if f.reading && f.pack != nil {
		if err := f.pack.dec.Err(); err != nil {
			f.fail(err.Error())
			return lo
		}
	}
	if v < lo || v > hi {
		f.fail(fmt.Sprintf("%d is not within %d to %d", v, lo, hi))
		return lo
	}
	return v
}

func list[T any](f *tablesFile, v *[]T, most int, each func(p *T)) {
	n := int(f.number(forCount, int64(len(*v)), 0, int64(most)))
	if f.reading {
		*v = make([]T, n)
	}
	for i := range *v {
		each(&(*v)[i])
	}
}

func (f *tablesFile) int32s(v *[]int32, most int) {
	list(f, v, most, func(p *int32) { *p = int32(f.number(forValue, int64(*p), -1<<31, 1<<31-1)) })
}

// context is checked against the facts that a class has.
func (f *tablesFile) context(m *classModel, c *context, limit int, most int32) {
	n := uint8(f.number(forCount, int64(c.n), 0, maxContext))
	slots := c.slots
	if f.reading {
		*c = context{size: 1}
	}
	for i := range n {
		slot := int(f.number(forFact, int64(slots[i]), 0, int64(limit-1)))
		if f.reading {
			c.add(slot, m.cardinality(slot))
		}
	}
	if !f.reading {
		return
	}
	if c.size > most {
		f.fail("a context with too many cases")
		*c = context{size: 1}
	}
}

// table is a distribution in which each symbol of the alphabet can occur.
func (f *tablesFile) table(t *table, alphabet int) {
	if !f.reading {
		if i, ok := f.known[*t]; ok {
			f.number(forCount, int64(i), 0, 0)
			return
		}
		f.number(forCount, 0, 0, 0)
		f.known[*t] = len(f.known) + 1
	} else {
		if i := f.number(forCount, 0, 0, int64(len(f.tables))); i > 0 {
			*t = f.tables[i-1]
			if t.cum[alphabet] != 1<<tableBits || t.cum[alphabet-1] == 1<<tableBits {
				f.fail("a distribution of the wrong size")
			}
			return
		}
	}
	at := int64(0)
	for s := range alphabet {
		freq := f.number(forCount, int64(t.cum[s+1])-int64(t.cum[s]), 1, 1<<tableBits)
		if f.reading {
			t.cum[s] = uint16(at)
			at += freq
			if at > 1<<tableBits {
				f.fail("a distribution that exceeds its total")
				return
			}
		}
	}
	if f.reading {
		if at != 1<<tableBits && f.err == nil {
			f.fail("a distribution that falls short of its total")
			return
		}
		for s := alphabet; s <= tableSize; s++ {
			t.cum[s] = 1 << tableBits
		}
		if f.tables = append(f.tables, *t); len(f.tables) > maxTables {
			f.fail("too many distributions")
		}
	}
}

func (f *tablesFile) decision(m *classModel, d *decision, limit, alphabet int) {
	f.context(m, &d.context, limit, maxContextSize)
	if f.reading {
		d.tables = f.room(int(d.size))
	}
	f.allTables(d.tables, alphabet)
}

// room makes room for distributions, within bounds.
func (f *tablesFile) room(n int) []table {
	if f.pack != nil {
		if f.pack.total += n; f.pack.total > maxCompact {
			f.fail("too many distributions")
		}
	}
	return make([]table, n)
}

func (f *tablesFile) allTables(t []table, alphabet int) {
	if f.pack != nil {
		if f.err == nil {
			f.pack.tables(t, alphabet)
		}
		return
	}
	for i := range t {
		if f.err != nil {
			return
		}
		f.table(&t[i], alphabet)
	}
}

func (f *tablesFile) predictor(p *predictor, features, logs []int) {
	p.n = f.terms(p.terms[:], p.n, features, forFeature)
	f.sizes(p, logs)
}

func (f *tablesFile) sizes(p *predictor, logs []int) {
	p.logN = f.terms(p.logs[:], p.logN, logs, forLog)
	p.logBias = f.weight(forBias, p.logBias, 1000*weightOne)
}

func (f *tablesFile) terms(t []term, n uint8, allowed []int, purpose int) uint8 {
	n = uint8(f.number(forCount, int64(n), 0, int64(len(t))))
	next := 0 // where in the list the next one is likely to be
	for i := range t[:n] {
		t[i].slot = f.slot(purpose, t[i].slot, allowed, &next)
		t[i].weight = int32(f.weight(purpose+1, int64(t[i].weight), maxWeight))
		if !slices.Contains(allowed, int(t[i].slot)) {
			f.fail("a predictor looks at what it cannot know")
		}
	}
	return n
}

// weight is one from -most to most. A compact file says to what it is rounded, and then the rest.
func (f *tablesFile) weight(purpose int, v, most int64) int64 {
	if f.pack == nil {
		return f.number(purpose, v, -most, most)
	}
	shift := int64(0)
	if v != 0 {
		shift = int64(bits.TrailingZeros64(uint64(v)))
	}
	shift = f.number(purpose+1, shift, 0, 24)
	return f.within(f.number(purpose, v>>shift, -most>>shift, most>>shift)<<shift, -most, most)
}

// slot is what a predictor looks at. A compact file says where in the list of what is allowed that
// is, after the last one.
func (f *tablesFile) slot(purpose int, slot uint16, allowed []int, next *int) uint16 {
	if f.pack == nil {
		return uint16(f.number(purpose, int64(slot), 0, maxFeatures))
	}
	at := slices.Index(allowed, int(slot))
	at = *next + int(f.number(purpose, int64(at-*next), int64(-*next),
		int64(len(allowed)-1-*next)))
	*next = at + 1
	if at < 0 || at >= len(allowed) {
		f.fail("a predictor looks at nothing")
		return 0
	}
	return uint16(allowed[at])
}

func (f *tablesFile) predictors(p *[]predictor, c *context, each func(p *predictor)) {
	if f.reading {
		if f.pack != nil {
			if f.pack.total += int(c.size); f.pack.total > maxCompact {
				f.fail("too many predictors")
				c.size = 1
			}
		}
		*p = make([]predictor, c.size)
	}
	for i := range *p {
		if f.err == nil {
			each(&(*p)[i])
		}
	}
}

// class is all that is learned about one class.
func (f *tablesFile) class(m *classModel) {
	still := slices.Clone(m.still)
	for i := range still {
		if k := m.fields[i].Kind; k != Number && k != Velocity && k != Position && k != Angle {
			continue
		}
		v := int64(0)
		if still[i] {
			v = 1
		}
		still[i] = f.number(forFlag, v, 0, 1) == 1
	}
	if f.reading {
		*m = *newClassModel(&Class{Fields: m.fields, Reference: m.reference, Reckon: m.reckon},
			still)
	}
	for i := range m.defaults {
		m.defaults[i] = int32(f.number(forValue, int64(m.defaults[i]), int64(m.fields[i].Min),
			int64(m.fields[i].Max)))
	}
	f.discrete(m)
	for i := range m.numbers {
		n := &m.numbers[i]
		f.context(m, &n.choose, m.numberFact(i, 0), maxSets)
		features, logs := m.candidates(i), m.logCandidates(i)
		f.predictors(&n.sets, &n.choose, func(p *predictor) { f.predictor(p, features, logs) })
	}
	for i := range m.rotations {
		r := &m.rotations[i]
		f.context(m, &r.choose, m.numberFact(len(m.numbers), 0), maxSets)
		f.predictors(&r.sets, &r.choose,
			func(p *predictor) { f.predictor(p, m.turnCandidates(), nil) })
		for k := range r.parts {
			logs := m.partCandidates(i, k)
			f.predictors(&r.parts[k], &r.choose, func(p *predictor) { f.sizes(p, logs) })
		}
		if f.reading {
			r.largest = make([]table, largestTables)
		}
		f.allTables(r.largest, 4)
	}
	for _, e := range m.errors {
		if f.pack == nil {
			f.allTables(e[:], residualSymbols)
		} else if f.err == nil {
			f.pack.errors(e)
		}
	}
}

// discrete is what is learned about the discrete fields: first which of them are rare.
func (f *tablesFile) discrete(m *classModel) {
	all := slices.Concat(m.frequent, m.rare, m.frozen)
	slices.SortFunc(all, func(a, b discreteModel) int { return a.index - b.index })
	groups := [3]*[]discreteModel{&m.frequent, &m.rare, &m.frozen}
	var which [MaxFields]int
	for g, list := range groups {
		for _, d := range *list {
			which[d.index] = g
		}
		if f.reading {
			*list = nil
		}
	}
	for i := range all {
		g := groups[f.number(forFlag, int64(which[i]), 0, 2)]
		if f.reading {
			*g = append(*g, all[i])
		}
	}
	limit := m.numberFact(0, 0)
	f.decision(m, &m.changed.decision, limit, 2)
	f.decision(m, &m.quiet, limit, 2)
	f.decision(m, &m.anyFrozen, 1, 2)
	for _, d := range m.discrete() {
		f.int32s(&d.values, likelyValues)
		f.int32s(&d.symbols, tableSize-1)
		f.decision(m, &d.decision, limit, len(d.symbols)+1)
		d.escapeBin = int(f.number(forBin, int64(d.escapeBin), 0, bins-1))
	}
}
