package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// Differences are what Diff finds, by what is written in two traces. Desync, which needs the game,
// goes further.
type Differences struct {
	Headers  []string         // what differs in the headers, in words
	First    world.Tick       // the first tick that both have
	Last     world.Tick       // the last tick that was compared
	Inputs   *InputDifference // the first difference in what came in
	Hash     *HashDifference  // the first difference in what came of it
	Compared int              // how many hashes both have, of the ticks up to Last
	A, B     error            // wraps ErrDamaged or ErrCut where one of them is not whole
	OnlyA    bool             // A goes on after Last
	OnlyB    bool             // B does
}

// Same says that no tick that both have differs.
func (d *Differences) Same() bool { return d.Inputs == nil && d.Hash == nil }

// An InputDifference is something that came into one run and not, or otherwise, into another.
type InputDifference struct {
	Tick   world.Tick   `json:"tick"`
	Player world.Player `json:"player"`
	// of the command, or "join", "leave", "command", "sight", "told"
	Field string `json:"field"`
	A     string `json:"a"`
	B     string `json:"b"`
}

func (d *InputDifference) String() string {
	return fmt.Sprintf("tick %d, player %d, %s: %s against %s", d.Tick, d.Player, d.Field, d.A, d.B)
}

// A HashDifference is a tick after which two runs had different worlds.
type HashDifference struct {
	Tick     world.Tick `json:"tick"`
	A        uint64     `json:"a"`
	B        uint64     `json:"b"`
	Bits     int        `json:"bits"`      // how many bits of the hashes both have
	LastGood world.Tick `json:"last_good"` // the last tick before at which hashes agreed
}

func (d *HashDifference) String() string {
	mask := ^uint64(0) >> (64 - d.Bits)
	return fmt.Sprintf("tick %d: hash %0*x against %0*x", d.Tick, d.Bits/4, d.A&mask, d.Bits/4,
		d.B&mask)
}

// Diff finds the first tick at which two traces have different inputs, and the first at which they
// have different hashes. An error is one of reading, or that the traces have nothing in common;
// where one of them is damaged the comparison ends there, and the result says so.
func Diff(a, b *Reader) (*Differences, error) {
	d := &Differences{Headers: differentHeaders(a.Header(), b.Header())}
	if a.Header().Game != b.Header().Game {
		return nil, fmt.Errorf("trace: %w: one is of %q, the other of %q", ErrGame, a.Header().Game,
			b.Header().Game)
	}
	if !sameSchema(a.Header().Commands, b.Header().Commands) {
		return nil, fmt.Errorf(
			"trace: %w: the two versions of %q have other commands, so inputs cannot be compared "+
				"(recorded by %s and by %s)",
			ErrGame, a.Header().Game, a.Header().Build, b.Header().Build)
	}
	if err := d.compare(a, b); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Differences) compare(a, b *Reader) error {
	x, y := &ticks{r: a}, &ticks{r: b}
	x.next()
	y.next()
	d.First = max(a.Header().First, b.Header().First) + 1
	for x.rec != nil && x.rec.Tick < d.First {
		x.next()
	}
	for y.rec != nil && y.rec.Tick < d.First {
		y.next()
	}
	d.Last = d.First - 1
	good := d.First - 1
	for x.rec != nil && y.rec != nil && (d.Inputs == nil || d.Hash == nil) {
		p, q := x.rec, y.rec
		if p.Tick != q.Tick { // one of them jumps ahead
			if p.Tick < q.Tick {
				x.next()
			} else {
				y.next()
			}
			continue
		}
		if d.Inputs == nil {
			d.Inputs = differentInputs(p, q, a.history.schema)
		}
		if n := min(p.HashBits, q.HashBits); n > 0 && d.Hash == nil {
			d.Compared++
			if sameHash(p.Hash, p.HashBits, q.Hash, q.HashBits) {
				good = p.Tick
			} else {
				d.Hash = &HashDifference{
					Tick: p.Tick, A: p.Hash, B: q.Hash, Bits: n, LastGood: good}
			}
		}
		d.Last = p.Tick
		x.next()
		y.next()
	}
	d.OnlyA, d.OnlyB = x.rec != nil && y.rec == nil, y.rec != nil && x.rec == nil
	d.A, d.B = x.damage, y.damage
	if err := errors.Join(x.err, y.err); err != nil {
		return err
	}
	if d.Last < d.First {
		return errors.Join(
			fmt.Errorf("trace: the two have no tick in common: one can be read from tick %d to "+
				"%d, the other from %d to %d",
				a.Header().First, a.Tick(), b.Header().First, b.Tick()), d.A, d.B)
	}
	return nil
}

// ticks goes through the ticks of a trace, without its states.
type ticks struct {
	r      *Reader
	rec    *Record // nil at the end
	done   bool
	damage error
	err    error
}

func (t *ticks) next() {
	for {
		rec, err := t.r.Next()
		if t.rec = rec; err != nil {
			t.rec, t.done = nil, true
			switch {
			case err == io.EOF:
			case incomplete(err):
				t.damage = err
			default:
				t.err = err
			}
			return
		}
		if !rec.IsState() {
			return
		}
	}
}

// differentInputs finds the first thing in which the inputs of a tick differ, or gives nil.
func differentInputs(a, b *Record, schema *bits.Schema) *InputDifference {
	if d := cmp.Or(differentPlayers(a.Tick, "leave", a.Leaves, b.Leaves),
		differentPlayers(a.Tick, "join", a.Joins, b.Joins),
		differentPlayers(a.Tick, "command", a.Players, b.Players)); d != nil {
		return d
	}
	for i, p := range a.Players {
		x, y := a.Command(i), b.Command(i)
		for j := range x {
			if x[j] != y[j] {
				s := &schema.Slots[j]
				return &InputDifference{
					Tick: a.Tick, Player: p, Field: s.Name, A: formatNumber(s, x[j]),
					B: formatNumber(s, y[j])}
			}
		}
		if x, y := a.Sights[i], b.Sights[i]; x != y {
			return &InputDifference{Tick: a.Tick, Player: p, Field: "sight",
				A: cmp.Or(FormatSight(&x), "as before"), B: cmp.Or(FormatSight(&y), "as before")}
		}
	}
	return differentTellings(a, b)
}

// differentTellings finds the first thing that one was told beside commands and the other was not.
func differentTellings(a, b *Record) *InputDifference {
	for i := range max(len(a.Tellings), len(b.Tellings)) {
		d := &InputDifference{Tick: a.Tick, Field: "told", A: "nothing", B: "nothing"}
		if i < len(a.Tellings) {
			d.A = fmt.Sprintf("kind %d: %x", a.Tellings[i].Kind, a.Tellings[i].Data)
		}
		if i < len(b.Tellings) {
			d.B = fmt.Sprintf("kind %d: %x", b.Tellings[i].Kind, b.Tellings[i].Data)
		}
		if d.A != d.B || a.Tellings[i].Told != b.Tellings[i].Told {
			return d
		}
	}
	return nil
}

func differentPlayers(t world.Tick, what string, a, b []world.Player) *InputDifference {
	if slices.Equal(a, b) {
		return nil
	}
	for i := 0; ; i++ {
		switch {
		case i == len(b) || i < len(a) && a[i] < b[i]:
			return &InputDifference{Tick: t, Player: a[i], Field: what, A: "yes", B: "no"}
		case i == len(a) || a[i] > b[i]:
			return &InputDifference{Tick: t, Player: b[i], Field: what, A: "no", B: "yes"}
		}
	}
}

func sameSchema(a, b *bits.Schema) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Slots, b.Slots)
}

func differentHeaders(a, b *Header) (out []string) {
	add := func(what string, x, y any) {
		if x != y {
			out = append(out, fmt.Sprintf("%s: %v against %v", what, x, y))
		}
	}
	add("game", a.Game, b.Game)
	add("declarations", fmt.Sprintf("%016x", a.Declarations), fmt.Sprintf("%016x", b.Declarations))
	add("ticks a second", a.Rate, b.Rate)
	add("seed", a.Seed, b.Seed)
	add("allocator", a.Allocator, b.Allocator)
	add("first tick", a.First, b.First)
	add("build", a.Build, b.Build)
	add("note", a.Note, b.Note)
	return out
}
