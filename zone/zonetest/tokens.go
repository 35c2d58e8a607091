package zonetest

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/coeval-dev/coeval/zone"
)

// Rules are what tokens do in every zone of a run.
type Rules struct {
	// Neighbours are the zones next to one.
	Neighbours func(zone.ID) []zone.ID
	// MovePer and ActPer are out of how many ticks a token moves on or acts in one.
	MovePer, ActPer uint64
	// Quiet is from which tick on tokens do nothing any more, so that all can arrive.
	Quiet zone.Tick
	// Panics says whether a tick with this input fails; nil for never.
	Panics func(id zone.ID, in *zone.Input) bool
}

// Token is an entity that wanders among zones and gives of its value to others.
type Token struct {
	ID    uint64
	Value uint64
	// Steps and Skipped are how many ticks of its life were executed and left out, since Born.
	Steps, Skipped, Born uint64
	Last                 zone.Tick
	Acts                 uint64 // what it has given so far, which numbers its actions
}

const tokenSize = 7 * 8

func (t *Token) append(b []byte) []byte {
	for _, v := range [...]uint64{t.ID, t.Value, t.Steps, t.Skipped, t.Born, uint64(t.Last),
		t.Acts} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

func readToken(b []byte) Token {
	u := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	return Token{u(0), u(1), u(2), u(3), u(4), zone.Tick(u(5)), u(6)}
}

// Tokens is the body of a zone in which tokens are.
//
// Saved, it is the number of tokens and each of these as seven numbers: identifier, value, ticks
// executed, ticks left out, tick of birth, last tick, actions. Then what is seen of other zones.
// All numbers are of eight bytes, the highest first.
type Tokens struct {
	id     zone.ID
	rules  *Rules
	next   []zone.ID
	tokens []Token // by ID
	seen   []sight // by zone
	tick   zone.Tick
	buf    []byte
}

// sight is what a zone shows of its tokens.
type sight struct {
	zone zone.ID
	tick zone.Tick
	ids  []uint64
}

// NewTokens makes an empty body.
func NewTokens(id zone.ID, r *Rules) *Tokens {
	return &Tokens{id: id, rules: r, next: r.Neighbours(id)}
}

// Add puts a token into it, for the beginning.
func (b *Tokens) Add(t Token) { b.put(t) }

func (b *Tokens) find(id uint64) (int, bool) {
	lo, hi := 0, len(b.tokens)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if b.tokens[mid].ID < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(b.tokens) && b.tokens[lo].ID == id
}

func (b *Tokens) put(t Token) {
	at, ok := b.find(t.ID)
	if ok {
		return // it is here already: the audit finds that
	}
	b.tokens = slices.Insert(b.tokens, at, t)
}

// Has is of zone.Body.
func (b *Tokens) Has(id uint64) bool {
	_, ok := b.find(id)
	return ok
}

// mix draws a number for a token, a tick and a use.
func mix(a, b, c uint64) uint64 {
	h := a*0x9e3779b97f4a7c15 ^ b*0xc2b2ae3d27d4eb4f ^ c*0x165667b19e3779f9
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	h *= 0x94d049bb133111eb
	return h ^ h>>29
}

// Step is of zone.Body.
func (b *Tokens) Step(in *zone.Input, out *zone.Output) {
	if b.rules.Panics != nil && b.rules.Panics(b.id, in) {
		panic("a poisoned input")
	}
	b.tick = in.Tick
	for i := range in.Ghosts {
		b.look(&in.Ghosts[i])
	}
	for i := range in.Arrivals {
		b.arrive(&in.Arrivals[i])
	}
	for i := range in.Actions {
		a := &in.Actions[i]
		b.receive(a.Entity, a.Data, out)
	}
	if in.Tick < b.rules.Quiet {
		b.play(in, out)
	}
	for i := range b.tokens {
		b.tokens[i].Steps++
		b.tokens[i].Last = in.Tick
	}
	if in.Tick < b.rules.Quiet {
		b.move(in, out)
	}
	for _, to := range b.next {
		out.Show(to)
	}
}

// arrive takes a token in, and steps it alone for what it missed.
func (b *Tokens) arrive(a *zone.Arrival) {
	t := readToken(a.Data)
	t.Steps += uint64(a.Missed)
	t.Skipped += uint64(b.tick) - 1 - uint64(a.Tick) - uint64(a.Missed)
	b.put(t)
}

// An action is who acts, which of its actions it is, and what it gives.
const actionSize = 24

func (b *Tokens) receive(id uint64, data []byte, out *zone.Output) {
	at, ok := b.find(id)
	if !ok || len(data) != actionSize {
		return
	}
	b.tokens[at].Value += binary.BigEndian.Uint64(data[16:])
	out.Event(data)
}

// play has tokens give of their value, to one that is here or is seen next door.
func (b *Tokens) play(in *zone.Input, out *zone.Output) {
	for i := range b.tokens {
		t := &b.tokens[i]
		h := mix(t.ID, uint64(in.Tick), 1)
		if h%b.rules.ActPer != 0 || t.Value == 0 {
			continue
		}
		to, id := b.target(h >> 16)
		if id == 0 || id == t.ID || slices.Contains(in.Closed, to) {
			continue
		}
		give := 1 + (h>>40)%min(t.Value, 100)
		t.Value -= give
		t.Acts++
		b.buf = binary.BigEndian.AppendUint64(b.buf[:0], t.ID)
		b.buf = binary.BigEndian.AppendUint64(b.buf, t.Acts)
		b.buf = binary.BigEndian.AppendUint64(b.buf, give)
		if to == b.id {
			b.receive(id, b.buf, out)
		} else {
			out.Act(to, id, b.buf)
		}
	}
}

// target chooses a token that is here, or is thought to be next door.
func (b *Tokens) target(h uint64) (zone.ID, uint64) {
	if h&3 == 0 || len(b.seen) == 0 {
		return b.id, b.tokens[(h>>8)%uint64(len(b.tokens))].ID
	}
	s := &b.seen[(h>>2)%uint64(len(b.seen))]
	if len(s.ids) == 0 {
		return 0, 0
	}
	return s.zone, s.ids[(h>>8)%uint64(len(s.ids))]
}

// move has tokens cross to a zone next door.
func (b *Tokens) move(in *zone.Input, out *zone.Output) {
	kept := b.tokens[:0]
	for i := range b.tokens {
		t := b.tokens[i]
		h := mix(t.ID, uint64(in.Tick), 2)
		if h%b.rules.MovePer == 0 {
			if to := b.next[(h>>20)%uint64(len(b.next))]; !slices.Contains(in.Closed, to) {
				b.buf = t.append(b.buf[:0])
				out.Depart(to, t.ID, b.buf)
				continue
			}
		}
		kept = append(kept, t)
	}
	b.tokens = kept
}

// shows says which tokens zones next door see.
func shows(id uint64) bool { return id%4 == 0 }

// Observe is of zone.Body. There are so few that all are told whenever any may have changed.
func (b *Tokens) Observe(_ zone.ID, _ zone.Tick, dst []byte) []byte {
	for i := range b.tokens {
		if id := b.tokens[i].ID; shows(id) {
			dst = binary.BigEndian.AppendUint64(dst, id)
		}
	}
	return dst
}

func (b *Tokens) look(g *zone.Ghost) {
	i, ok := slices.BinarySearchFunc(b.seen, g.From, func(s sight, id zone.ID) int {
		return int(int64(s.zone) - int64(id))
	})
	if !ok {
		b.seen = slices.Insert(b.seen, i, sight{zone: g.From})
	}
	s := &b.seen[i]
	s.tick, s.ids = g.Tick, s.ids[:0]
	for data := g.Data; len(data) >= 8; data = data[8:] {
		s.ids = append(s.ids, binary.BigEndian.Uint64(data))
	}
}

// Hash is of zone.Body.
func (b *Tokens) Hash() uint64 {
	h := uint64(len(b.tokens))
	for i := range b.tokens {
		t := &b.tokens[i]
		h = mix(h, t.ID, t.Value) + mix(t.Steps, t.Skipped, uint64(t.Last)) + t.Acts*31
	}
	for i := range b.seen {
		s := &b.seen[i]
		h = mix(h, uint64(s.zone), uint64(s.tick))
		for _, id := range s.ids {
			h = mix(h, id, 3)
		}
	}
	return h
}

// Save is of zone.Body.
func (b *Tokens) Save(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(b.tokens)))
	for i := range b.tokens {
		dst = b.tokens[i].append(dst)
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(b.seen)))
	for i := range b.seen {
		s := &b.seen[i]
		dst = binary.BigEndian.AppendUint64(dst, uint64(s.zone))
		dst = binary.BigEndian.AppendUint64(dst, uint64(s.tick))
		dst = binary.BigEndian.AppendUint64(dst, uint64(len(s.ids)))
		for _, id := range s.ids {
			dst = binary.BigEndian.AppendUint64(dst, id)
		}
	}
	return dst
}

// Load is of zone.Body.
func (b *Tokens) Load(data []byte) error {
	next := func() uint64 {
		if len(data) < 8 {
			data = nil
			return 0
		}
		v := binary.BigEndian.Uint64(data)
		data = data[8:]
		return v
	}
	n := next()
	if n > uint64(len(data)/tokenSize) {
		return errors.New("zonetest: fewer tokens than said")
	}
	b.tokens, b.seen = b.tokens[:0], b.seen[:0]
	for range n {
		b.tokens = append(b.tokens, readToken(data))
		data = data[tokenSize:]
	}
	for range next() {
		s := sight{zone: zone.ID(next()), tick: zone.Tick(next())}
		for range next() {
			s.ids = append(s.ids, next())
		}
		b.seen = append(b.seen, s)
	}
	return nil
}
