package sitting_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab/blind"
	"github.com/coeval-dev/coeval/lab/blind/sitting"
	_ "github.com/coeval-dev/coeval/lab/tunnel/all"
	"github.com/coeval-dev/coeval/world"
)

// The track is a game for tests: runners who turn around at once.

type runner struct{ Pos, Vel det.Vec2 }

func (x *runner) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -2000, 2000, 1.0/64)
	s.Vec2(&x.Vel, -8, 8, 1.0/64)
}

func (*runner) Hints(h *game.Hints) { h.Body(1) }

func (x *runner) Step(w *world.World, me world.ID) {
	x.Vel = det.Vec2{X: 4 * float64(world.Command[run](w, me).X)}
	x.Pos = x.Pos.MulAdd(x.Vel, w.Seconds())
}

type run struct{ X int8 }

func (c *run) Sync(s *bits.Sync) { s.Int8(&c.X, -1, 1) }

var track = &game.Title{
	Game: world.Define("track", world.Class[runner](), world.Commands[run](),
		world.OnJoin(func(w *world.World, p world.Player) {
			w.SetOwner(world.Spawn(w, runner{}), p)
		})),
	Players: 4,
	Bot: func(seed uint64) game.Bot {
		return func(_ *world.World, me world.Player, t world.Tick, in *world.Inputs) error {
			// each turns around several times a second, when nobody would think so
			at := (uint64(t)/5 + uint64(me)<<32 + seed) * 0x9e3779b97f4a7c15
			return world.Give(in, me, run{X: int8(at>>40&1)*2 - 1})
		}
	},
}

// A person takes a test, and looks at nothing but frames.
type person struct {
	*sitting.Sitting
	clock  time.Duration
	states []string

	// What is felt of the present match: by how much others jump, and how many frames it takes
	// until the own body turns around.
	match  int
	seen   map[world.ID]det.Vec2
	tick   world.Tick
	jumps  int
	turned int // frames since then
	late   []int
	begun  []string // what each match began with
}

// way is where the person runs: to and fro, each for half a second.
func (p *person) way() int8 { return int8(p.clock/(500*time.Millisecond)%2)*2 - 1 }

func (p *person) command(_ *world.World, me world.Player, _ world.Tick, in *world.Inputs) error {
	return world.Give(in, me, run{X: p.way()})
}

// look takes a frame in.
func (p *person) look(f *game.Frame, match int) {
	if match != p.match {
		p.match, p.seen, p.jumps, p.late = match, map[world.ID]det.Vec2{}, 0, nil
		p.begun = append(p.begun, fmt.Sprint(f.Me, f.World.Tick()/8, f.Name(f.Me), f.Name(2)))
	}
	seconds := float64(f.World.Tick()-p.tick) / 60
	p.tick = f.World.Tick()
	for id, r := range world.All[runner](f.World) {
		at := r.Pos.MulAdd(r.Vel, f.Ahead(id))
		was, known := p.seen[id]
		p.seen[id] = at
		if f.World.Owner(id) == f.Me {
			if p.turned++; r.Vel.X > 0 == (p.way() > 0) && p.turned > 0 {
				p.late = append(p.late, p.turned)
				p.turned = -1 << 20 // until the next turn
			}
			continue
		}
		// nobody runs faster than 4 a second
		if d := at.X - was.X; known && max(d, -d) > 4*(seconds+1.0/60)+0.1 {
			p.jumps++
		}
	}
}

// take goes on until the test is over, and answers by what was felt.
func (p *person) take(t *testing.T, trials int, answer func(felt []float64) int,
	feel func(p *person) float64) {
	t.Helper()
	var felt []float64
	p.Begin()
	last := blind.Waiting
	for n := 0; n < trials; {
		before := p.way()
		p.clock += time.Second / 60
		if p.way() != before {
			p.turned = 0
		}
		if f, match := p.Frame(p.clock, p.command); f != nil {
			p.look(f, match)
		}
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
		st := p.State()
		b, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		if st.Result == nil {
			p.states = append(p.states, string(b))
		}
		if last == blind.Playing && st.Phase != last {
			felt = append(felt, feel(p))
		}
		last = st.Phase
		if st.Phase == blind.Asking && p.Answer(st.Trial, answer(felt)) == nil {
			t.Logf("trial %d: %v", st.Trial, felt)
			felt, n = nil, n+1
		}
		if st.Phase == blind.Finished {
			return
		}
	}
}

func jumps(p *person) float64 { return float64(p.jumps) }

// slow is how many frames it takes until the own body turns around, of half of the turns at most.
func slow(p *person) float64 {
	if len(p.late) == 0 {
		return 0
	}
	slices.Sort(p.late)
	return float64(p.late[len(p.late)/2])
}

// sit makes a test. Saved gets what is kept.
func sit(t *testing.T, sides string, trials int, seed uint64, saved *[]byte) (*person,
	*blind.Sheet) {
	t.Helper()
	s, asked, err := sitting.ParseSides(sides)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := blind.NewSheet(blind.Plan{Game: "track", Sides: s.Names(), Question: asked,
		Trials: trials, Interval: 2000, Network: "cable", Players: 3}, "ann", seed)
	if err != nil {
		t.Fatal(err)
	}
	if saved != nil && *saved != nil {
		if sheet, err = blind.ReadSheet(*saved); err != nil {
			t.Fatal(err)
		}
	}
	p, err := sitting.New(sitting.Options{Title: track, Sides: s, Sheet: sheet, File: "ann.json",
		Save: func(s *blind.Sheet) (err error) {
			if saved != nil {
				*saved, err = s.Data()
			}
			return err
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return &person{Sitting: p}, sheet
}

// nearest says which of the first two is nearer to the third.
func nearest(felt []float64) int {
	gap := func(i int) float64 { return max(felt[i]-felt[2], felt[2]-felt[i]) }
	if gap(1) < gap(0) {
		return 1
	}
	return 0
}

// Somebody who looks at nothing but what is drawn tells rollbacks from none, and what was measured
// says that they really were as many. With few trials nothing is shown all the same.
func TestRollbacksAreSeen(t *testing.T) {
	trials := 3
	if os.Getenv("COEVAL_SOAK") != "" {
		trials = 16
	}
	p, sheet := sit(t, "rollback=0,4", trials, 7, nil)
	p.take(t, trials, nearest, jumps)
	if sheet.Count() != trials {
		t.Errorf("seed 7: right in %d of %d", sheet.Count(), trials)
	}
	r := p.State().Result
	if r == nil || len(r.Trials) != trials || r.Sides[1] != "rollback=4@100ms" {
		t.Fatalf("%+v", r)
	}
	for i, want := range []float64{0, 4} {
		m := sheet.Measured[i]
		if got := m.Figures["rollbacks"]; got < 0.75*want || got > 1.25*want ||
			m.Seconds != float64(2*trials) {
			t.Errorf("side %d: %v rollbacks a second in %v s, want %v", i, got, m.Seconds, want)
		}
	}
	shown := strings.Contains(r.Words[0], "can be told apart")
	if shown != (trials == 16) {
		t.Errorf("of %d trials: %q", trials, r.Words)
	}
}

// Somebody who wants to be answered soon prefers the architecture that predicts, in every trial.
func TestSoonIsPreferred(t *testing.T) {
	p, sheet := sit(t, "lockstep,coeval", 2, 5, nil)
	p.take(t, 2, func(felt []float64) int {
		if felt[1] < felt[0] {
			return 1
		}
		return 0
	}, slow)
	if sheet.Count() != 0 {
		t.Errorf("lock step was preferred %d times", sheet.Count())
	}
	if o := sheet.Measured; o[0].Figures["own_ms"] < 30 || o[1].Figures["own_ms"] > 10 {
		t.Errorf("what was measured of both: %+v", o)
	}
	for _, b := range p.begun {
		if b != p.begun[0] {
			t.Errorf("matches begin with %v", p.begun)
			break
		}
	}
}

// All that a person is told during a test is the same if the sides change places.
func TestNothingIsTold(t *testing.T) {
	var told [2][]string
	for i, sides := range []string{"lockstep,quake3", "quake3,lockstep"} {
		p, _ := sit(t, sides, 1, 12, nil)
		p.take(t, 1, func([]float64) int { return 1 }, jumps)
		told[i] = p.states
		if !strings.Contains(fmt.Sprint(p.State().Result), "lockstep") {
			t.Error("nor is it told at the end")
		}
	}
	for i := range min(len(told[0]), len(told[1])) {
		if told[0][i] != told[1][i] {
			t.Fatalf("frame %d: %s\nand if the sides change places\n%s", i, told[0][i], told[1][i])
		}
		for _, word := range []string{"lockstep", "quake", "about"} {
			if strings.Contains(told[0][i], word) {
				t.Fatalf("frame %d: %s", i, told[0][i])
			}
		}
	}
	if len(told[0]) != len(told[1]) {
		t.Errorf("%d frames and %d", len(told[0]), len(told[1]))
	}
}

// A test that is interrupted goes on with the trial that had no answer; an answer that cannot be
// kept is none.
func TestGoesOn(t *testing.T) {
	var file []byte
	p, _ := sit(t, "rollback=0,2", 2, 3, &file)
	p.take(t, 1, nearest, jumps)
	before := slices.Clone(file)
	for range 200 { // into the next trial
		p.clock += time.Second / 60
		p.Frame(p.clock, p.command)
	}
	p.Close()
	again, sheet := sit(t, "rollback=0,2", 2, 99, &file)
	if st := again.State(); st.Trial != 2 || st.Phase != blind.Waiting || sheet.Seed != 3 {
		t.Fatalf("%+v with seed %d", st, sheet.Seed)
	}
	again.take(t, 1, nearest, jumps)
	if sheet.Count() != 2 || !sheet.Full() || again.State().Result == nil {
		t.Errorf("%d of %d", sheet.Count(), len(sheet.Answers))
	}
	if len(file) <= len(before) {
		t.Error("nothing was kept")
	}

	s, asked, err := sitting.ParseSides("lockstep,rollback")
	if err != nil {
		t.Fatal(err)
	}
	sheet, err = blind.NewSheet(blind.Plan{Game: "track", Sides: s.Names(), Question: asked,
		Trials: 1, Interval: 1000, Network: "lan", Players: 2}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	refuse := true
	bad, err := sitting.New(sitting.Options{Title: track, Sides: s, Sheet: sheet,
		Save: func(*blind.Sheet) error {
			if refuse {
				return full
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	q := &person{Sitting: bad}
	q.Begin()
	for q.State().Phase != blind.Asking || q.clock < 15*time.Second {
		q.clock += time.Second / 60
		q.Frame(q.clock, q.command)
	}
	if err := q.Answer(1, 0); !errors.Is(err, full) || len(sheet.Answers) != 0 ||
		sheet.Measured[0].Seconds != 0 {
		t.Errorf("%v, and %+v", err, sheet)
	}
	refuse = false
	if err := q.Answer(1, 0); err != nil || !sheet.Full() || sheet.Measured[0].Seconds != 1 {
		t.Errorf("%v, and %+v", err, sheet)
	}
}

// A page that is not looked at stops the time of the test.
func TestAsleep(t *testing.T) {
	p, _ := sit(t, "lockstep,coeval", 1, 1, nil)
	p.Begin()
	for p.State().Phase != blind.Playing {
		p.clock += time.Second / 60
		p.Frame(p.clock, p.command)
	}
	left := p.State().Left
	for range 10 {
		p.clock += 3 * time.Second
		p.Frame(p.clock, p.command)
	}
	if st := p.State(); st.Phase != blind.Playing || st.Left != left {
		t.Errorf("%v s were left, and then %+v", left, st)
	}
}

func TestBadSides(t *testing.T) {
	for text, want := range map[string]string{
		"coeval":               "name two",
		"coeval,quake3,quake":  "name two",
		"coeval,quake9":        "no architecture",
		"coeval,coeval":        "both are the same",
		"rollback=0,0@50ms":    "both are the same",
		"rollback=0,":          "no rate of rollbacks",
		"rollback=0,NaN":       "from 0 to",
		"rollback=0,4@1s":      "up to 400ms",
		"rollback=0,4@-1ms":    "up to",
		"rollback=0,7@200ms":   "leave no time",
		"rollback=1,2,3":       "name two",
		"rollback=0@x,1@100ms": "no rate of rollbacks",
	} {
		if _, _, err := sitting.ParseSides(text); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if s, q, err := sitting.ParseSides("rollback=2@50ms, 2@200ms"); err != nil || q != blind.ABX ||
		s.Names() != [2]string{"rollback=2@50ms", "rollback=2@200ms"} {
		t.Error(s, q, err)
	}
	s, _, err := sitting.ParseSides("coeval,halflife")
	if err != nil {
		t.Fatal(err)
	}
	sheet, _ := blind.NewSheet(blind.Plan{Game: "track", Sides: s.Names(), Question: blind.ABX,
		Trials: 1, Interval: 1000, Network: "lan", Players: 2}, "", 1)
	if _, err := sitting.New(sitting.Options{Title: track, Sides: s, Sheet: sheet}); err == nil ||
		!strings.Contains(err.Error(), "nothing in track can be rewound") {
		t.Error(err)
	}
	s, _, _ = sitting.ParseSides("coeval,lockstep")
	sheet, _ = blind.NewSheet(blind.Plan{Game: "track", Sides: s.Names(), Question: blind.ABX,
		Trials: 1, Interval: 1000, Network: "satellite", Players: 3}, "", 1)
	far, err := sitting.New(sitting.Options{Title: track, Sides: s, Sheet: sheet})
	if err != nil {
		t.Fatal(err)
	}
	if err := far.Rehearse(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "choose another network") {
		t.Error(err)
	}
}
