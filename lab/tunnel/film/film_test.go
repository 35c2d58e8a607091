package film_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	_ "github.com/coeval-dev/coeval/lab/tunnel/all" // every architecture
	"github.com/coeval-dev/coeval/lab/tunnel/film"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// leapTick is when the walker of one player leaps, and leap how far.
const leapTick, leap = 250, 40

// walker stands where it is, but for one leap.
type walker struct{ Pos det.Vec2 }

func (x *walker) Sync(s *bits.Sync) { s.Vec2(&x.Pos, -200, 200, 1.0/64) }

func (x *walker) Step(w *world.World, me world.ID) {
	if w.Tick() == leapTick && w.Owner(me) == 2 {
		x.Pos.X += leap
	}
}

func (x *walker) Hints(h *game.Hints) {
	h.Place(&x.Pos)
	h.Body(2)
}

type nod struct{ Yes bool }

func (n *nod) Sync(s *bits.Sync) { s.Bool(&n.Yes) }

// leaping is a title that draws nothing.
func leaping() *game.Title {
	return &game.Title{Game: world.Define("leaping", world.Class[walker](), world.Commands[nod](),
		world.OnJoin(func(w *world.World, p world.Player) {
			id := world.Spawn(w, walker{Pos: det.Vec2{X: float64(10 * p), Y: float64(3 * p)}})
			w.SetOwner(id, p)
		}))}
}

// tally is all there is in a title without bodies.
type tally struct{ Count int }

func (x *tally) Sync(s *bits.Sync) { s.Int(&x.Count, 0, 1<<20) }

func (x *tally) Step(*world.World, world.ID) { x.Count = (x.Count + 1) % (1 << 20) }

func bodiless() *game.Title {
	return &game.Title{Game: world.Define("bodiless", world.Class[tally](), world.Commands[nod](),
		world.OnStart(func(w *world.World) { world.Spawn(w, tally{}) }))}
}

// Cut is an architecture of the program, whose second player is cut off for a while, two seconds
// after warm has passed.
const (
	warm  = time.Second
	cutAt = 2 * time.Second
	cut   = 700 * time.Millisecond
)

func init() {
	a, err := tunnel.Lookup("packetserver")
	if err != nil {
		panic(err)
	}
	b := *a
	b.Name = "packetserver-cut"
	b.Start = func(t *tunnel.Trial) (tunnel.Match, error) {
		m, err := a.Start(t)
		if err != nil {
			return nil, err
		}
		begun := false
		t.Net.Every(10*time.Millisecond, func() {
			if begun || !m.Playing() {
				return
			}
			begun = true
			one, rest := []*netsim.Endpoint{t.Seats[1].End}, []*netsim.Endpoint(nil)
			for _, e := range t.Net.Endpoints() {
				if e != one[0] {
					rest = append(rest, e)
				}
			}
			t.Net.After(warm+cutAt, func() { t.Net.Partition(one, rest) })
			t.Net.After(warm+cutAt+cut, func() { t.Net.HealPartition(one, rest) })
		})
		return m, nil
	}
	tunnel.Register(b)
}

func shoot(t *testing.T, title *game.Title, change func(*film.Options)) *film.Result {
	t.Helper()
	o := film.Options{Title: title, Architecture: "quake3", Network: "cable", Players: 3, Seed: 1,
		Time: 4 * time.Second, Warm: warm}
	if change != nil {
		change(&o)
	}
	r, err := film.Shoot(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLeap: a body that leaps is shown late where others are shown as they were, and that is found
// at the tick, and told as it was.
func TestLeap(t *testing.T) {
	r := shoot(t, leaping(), func(o *film.Options) { o.Kinds = []string{"off"} })
	if len(r.Moments) != 1 {
		t.Fatalf("there are %d moments: %+v", len(r.Moments), r.Moments)
	}
	m := r.Moments[0]
	x := m.What[0]
	before, after := m.Strip[0].Views[0].Server, m.Strip[2].Views[0].Server
	who := 0 // leapt
	for p := 1; p <= 3; p++ {
		if place(after, p)-place(before, p) == leap {
			who = p
		}
	}
	if x.Kind != tunnel.ShownOff || x.Other != who || x.Player == who || x.Tick < leapTick ||
		x.Tick > leapTick+3 || math.Abs(x.Bad-leap/2) > 0.1 {
		t.Errorf("found was %+v, and player %d leapt", x, who)
	}
	if text := m.Words[0]; !strings.Contains(text, "left of where it truly was") ||
		!strings.Contains(text, "20.00 body widths") || !strings.Contains(text, "earlier") {
		t.Errorf("it says: %s", text)
	}
	at := m.Strip[1]
	if at.When != "at" || at.At != m.At || at.Views[0].Player != x.Player {
		t.Fatalf("the row of the moment is %+v", at)
	}
	screen, server := at.Views[0].Screen, at.Views[0].Server
	if screen.Tick != x.Tick || server.Tick >= screen.Tick {
		t.Errorf("the screen shows tick %d, the server %d, and it is about %d", screen.Tick,
			server.Tick, x.Tick)
	}
	if place(screen, who) != place(before, who) || place(server, who) != place(before, who) {
		t.Errorf("on the screen player %d is at %v, and the server has it at %v", who,
			place(screen, who), place(server, who))
	}
}

// place is where a player's body is in a picture.
func place(p *film.Picture, who int) float64 {
	for _, b := range p.Bodies {
		if b.Player == who {
			return b.At[0]
		}
	}
	return math.NaN()
}

// TestCut: a player who was cut off saw nothing new for as long, and that is found where it was.
func TestCut(t *testing.T) {
	r := shoot(t, leaping(), func(o *film.Options) {
		o.Architecture, o.Kinds = "packetserver-cut", []string{"still"}
	})
	if len(r.Moments) == 0 {
		t.Fatal("nothing was found")
	}
	x := r.Moments[0].What[0]
	end := (cutAt + cut).Seconds()
	if x.Kind != tunnel.StoodStill || x.Player != 2 || x.At < end-0.15 || x.At > end+0.15 ||
		x.Bad < 500 || x.Bad > 800 {
		t.Errorf("found was %+v, want the second player until %.2f s", x, end)
	}
	if m := r.Moments[0]; m.From > cutAt.Seconds() || !strings.Contains(m.Words[0], "went on") {
		t.Errorf("filmed from %.3f s: %s", m.From, m.Words[0])
	}
}

// TestSameBytes: the same seed gives the same page and the same JSON.
func TestSameBytes(t *testing.T) {
	pages := make([][]byte, 2)
	texts := make([][]byte, 2)
	for i := range pages {
		r := shoot(t, leaping(), nil)
		var err error
		if pages[i], err = r.HTML(); err != nil {
			t.Fatal(err)
		}
		if texts[i], err = json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pages[0], pages[1]) || !bytes.Equal(texts[0], texts[1]) {
		t.Error("two runs of one seed differ")
	}
	for _, not := range []string{"http:", "https:", "src=", "@import"} {
		if text := strings.ReplaceAll(string(pages[0]), "http://www.w3.org/2000/svg", ""); strings.
			Contains(text, not) {
			t.Errorf("the page has %q in it", not)
		}
	}
}

// TestNoBodies: a title in which nobody has a body is filmed all the same, and told in characters.
func TestNoBodies(t *testing.T) {
	r := shoot(t, bodiless(), func(o *film.Options) {
		o.Architecture, o.Letters = "packetserver-cut", true
	})
	if len(r.Moments) == 0 || r.Moments[0].What[0].Kind != tunnel.StoodStill {
		t.Fatalf("found was %+v", r.Moments)
	}
	for _, m := range r.Moments {
		for _, row := range m.Strip {
			for _, v := range row.Views {
				if v.Screen == nil || v.Server == nil || len(v.Screen.Bodies) > 0 {
					t.Errorf("at %v: %+v", row.At, v)
				}
			}
		}
	}
	if page, err := r.HTML(); err != nil || !bytes.Contains(page, []byte("tally: 1")) {
		t.Errorf("%v, and the page does not list what there is", err)
	}
	var text strings.Builder
	p := lab.NewReport(&text, 100)
	r.Report(p)
	if !strings.Contains(text.String(), "player 2's screen, tick ") {
		t.Errorf("it reads:\n%s", text.String())
	}
}

// TestNothing: where nothing goes wrong that is said.
func TestNothing(t *testing.T) {
	r := shoot(t, leaping(), func(o *film.Options) {
		o.Architecture, o.Network, o.Time = "lockstep", "perfect", time.Second
	})
	page, err := r.HTML()
	if len(r.Moments) != 0 || err != nil || !bytes.Contains(page, []byte("went wrong")) {
		t.Errorf("%v: %+v", err, r.Moments)
	}
}

// TestBadDrawing: a title whose drawing panics is an error that names it, and one whose drawing
// changes the game is found out.
func TestBadDrawing(t *testing.T) {
	for want, show := range map[string]func(s *draw.Surface, f *game.Frame){
		"panicked while it drew": func(*draw.Surface, *game.Frame) { panic("no") },
		film.ErrDiffers.Error(): func(_ *draw.Surface, f *game.Frame) {
			for _, x := range world.All[walker](f.World) {
				x.Pos.Y++
			}
		},
	} {
		title := leaping()
		title.Screen.Draw = show
		title.Control = game.Controls(func(*game.Input) nod { return nod{} })
		_, err := film.Shoot(context.Background(), film.Options{Title: title,
			Architecture: "quake3", Network: "cable", Players: 2, Time: 4 * time.Second,
			Warm: warm})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestCanceled: a run that is no longer wanted ends.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := film.Shoot(ctx, film.Options{Title: leaping()})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
