package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/world"
)

// How many ticks a bundle holds before and after the first difference, and of how many the commands
// are listed.
const (
	ticksBefore  = 60
	ticksAfter   = 30
	listedBefore = 4
	listedAfter  = 1
)

// A File is a part of a bundle.
type File struct {
	Name string
	Data []byte
}

// Bundle makes what anyone needs to see the difference again: both traces cut to the ticks around
// it, the world before it, both worlds with it where they are known, the report, and a text that
// says what to do with them.
func (r *Report) Bundle() ([]File, error) {
	if r.Cause == CauseNone {
		return nil, errors.New("trace: the two do not differ, so there is nothing to bundle")
	}
	report, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	files := []File{{"README.txt", nil}, {"report.json", append(report, '\n')}}
	if r.a.ReadSeeker != nil {
		from, to := r.window()
		a, err := r.cut(r.a, from, to)
		if err != nil {
			return nil, err
		}
		b, err := r.cut(r.b, from, to)
		if err != nil {
			return nil, err
		}
		files = append(files, File{"a.trace", a}, File{"b.trace", b})
		if before := r.stateAt(a, r.LastGood); before != nil && r.Cause != CauseStart {
			files = append(files, File{"before.state", before})
		}
	}
	if r.World != nil {
		files = append(files, File{"a.state", r.worldA}, File{"b.state", r.worldB})
	}
	files[0].Data = []byte(r.readme(files))
	return files, nil
}

// window is the ticks that show the difference: from some before to the one at which it can be
// seen, and some more.
func (r *Report) window() (from, to world.Tick) {
	from = min(r.LastGood, r.Tick)
	from = max(from-min(from, ticksBefore), r.First)
	to = r.Tick
	if r.World != nil {
		to = max(to, r.World.Tick)
	}
	return from, to + ticksAfter
}

// cut takes a window out of a trace. Where this program does not compute what was recorded the
// state at the beginning cannot be had; then it is all of the trace.
func (r *Report) cut(in source, from, to world.Tick) ([]byte, error) {
	var out bytes.Buffer
	t, err := in.open()
	if err == nil {
		err = Cut(r.game, t, &out, from, to)
	}
	if errors.Is(err, errApart) {
		if _, err = in.Seek(in.at, io.SeekStart); err == nil {
			out.Reset()
			_, err = io.Copy(&out, in)
		}
	}
	return out.Bytes(), err
}

// stateAt is the world of a trace at a tick, or nil.
func (r *Report) stateAt(trace []byte, t world.Tick) (saved []byte) {
	in, err := Open(bytes.NewReader(trace))
	if err != nil {
		return nil
	}
	_, err = Replay(r.game, in,
		ReplayOptions{From: t, Until: max(t, 1), Each: func(w *world.World, _ *Record) error {
			if w.Tick() == t {
				saved = w.Host().Save(nil)
			}
			return nil
		}})
	if err != nil {
		return nil
	}
	return saved
}

// lookAround lists what was commanded about when the two came apart.
func (r *Report) lookAround() error {
	if r.a.ReadSeeker == nil {
		return nil
	}
	from, to := r.Tick-min(r.Tick, listedBefore), r.Tick+listedAfter
	a, err := r.a.open()
	if err != nil {
		return err
	}
	b, err := r.b.open()
	if err != nil {
		return err
	}
	before := from - min(from, 1) // a state stands behind the inputs of its tick
	if err := errors.Join(a.SkipTo(before), b.SkipTo(before)); err != nil {
		return err
	}
	x, y := &ticks{r: a}, &ticks{r: b}
	for t := from; t <= to; t++ {
		p, q := x.at(t), y.at(t)
		for _, player := range playersOf(p, q) {
			m := Moment{Tick: t, Player: player, A: p.describe(player, a), B: q.describe(player, b)}
			if m.A == m.B {
				m.B = ""
			}
			r.Around = append(r.Around, m)
		}
	}
	return errors.Join(x.err, y.err)
}

// at is the record of a tick, or nil. Ticks are asked for in order.
func (t *ticks) at(tick world.Tick) *Record {
	for (t.rec == nil || t.rec.Tick < tick) && !t.done {
		t.next()
	}
	if t.rec == nil || t.rec.Tick != tick {
		return nil
	}
	return t.rec
}

func playersOf(records ...*Record) (list []world.Player) {
	for _, r := range records {
		if r != nil {
			list = append(append(append(list, r.Players...), r.Joins...), r.Leaves...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// describe says in words what a player did at a tick.
func (r *Record) describe(p world.Player, in *Reader) string {
	if r == nil {
		return "not recorded"
	}
	var parts []string
	if slices.Contains(r.Leaves, p) {
		parts = append(parts, "leaves")
	}
	if slices.Contains(r.Joins, p) {
		parts = append(parts, "joins")
	}
	if i, found := slices.BinarySearch(r.Players, p); found {
		parts = append(parts, FormatCommand(in.history.schema, r.Command(i)))
		if saw := FormatSight(&r.Sights[i]); saw != "" {
			parts = append(parts, saw)
		}
	} else if len(parts) == 0 {
		parts = append(parts, "no command")
	}
	return strings.Join(parts, ", ")
}
