package film

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/world"
)

// Result is what was found and filmed. The JSON names are for scripts and stay.
type Result struct {
	Version      int     `json:"version"`
	Game         string  `json:"game"`
	Level        string  `json:"map"`
	Architecture string  `json:"architecture"`
	About        string  `json:"about"`
	Network      string  `json:"network"`
	Players      int     `json:"players"`
	Rate         int     `json:"tick_rate"`
	Seed         uint64  `json:"seed"`
	Seconds      float64 `json:"seconds"`
	Warm         float64 `json:"warm_seconds"`
	Open         bool    `json:"open_loop,omitempty"`
	Who          string  `json:"players_are"`
	// Width is how wide a body is, in the game's units, or 0 where players have none.
	Width float64 `json:"body_width,omitempty"`
	// Trips are how long a datagram of each player takes to a server in the best place and back.
	Trips   []float64 `json:"round_trips_ms"`
	Moments []Moment  `json:"moments"`
	// Page is the file with the films, if one was written.
	Page string `json:"page,omitempty"`

	crew *crew
}

// Version is that of results.
const Version = 1

// A Moment is one in which something went wrong.
type Moment struct {
	// At is the instant, in seconds since measuring began; From and To are what is filmed.
	At   float64 `json:"at"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// What went wrong, and Words say that in sentences.
	What  []tunnel.Incident `json:"what"`
	Words []string          `json:"words"`
	// Players are who was filmed; first those whom it is about, of whom there are Involved.
	Players  []int `json:"players"`
	Involved int   `json:"involved"`
	// Strip is the moment in a few instants.
	Strip []Row `json:"strip"`

	window *window
}

// A Row is an instant of a moment.
type Row struct {
	When  string  `json:"when"` // "before", "at" or "after"
	At    float64 `json:"at"`
	Views []Sight `json:"views"`
}

// A Sight is what there was at an instant for one player.
type Sight struct {
	Player int `json:"player"`
	// Server is what who decides held, and Screen what the player saw. Either may be missing.
	Server *Picture `json:"server,omitempty"`
	Screen *Picture `json:"screen,omitempty"`
}

// A Picture is what was held, or shown.
type Picture struct {
	Tick world.Tick `json:"tick"`
	// Since is when it was new.
	Since  float64 `json:"since"`
	Bodies []Body  `json:"bodies,omitempty"`
}

// ErrDiffers says that the run that was filmed was not the one in which moments were found.
var ErrDiffers = errors.New("the same seed gave another run when it was filmed: either the game " +
	"is not deterministic (play --check finds out), or its Screen changes the world")

// Shoot plays a run, finds its worst moments, and films them in a second run of the same seed. The
// same options give the same result.
func Shoot(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	first, second := o.setup, o.setup
	var still *dots
	if !o.setup.Subject.Screen.Drawn() {
		still = newDots(o.setup.Subject)
		first.Film = still
	}
	found, err := tunnel.Play(ctx, first, o.Progress.Within(0, 0.5))
	if err != nil {
		return nil, err
	}
	c := newCrew(&o, choose(found.Incidents, &o))
	if still != nil {
		c.drawer = still.drawer
	}
	if len(c.windows) > 0 {
		second.Film = c
		again, err := tunnel.Play(ctx, second, o.Progress.Within(0.5, 0.5))
		if err != nil {
			return nil, err
		}
		if err := c.end(); err != nil {
			return nil, err
		}
		if again.Digest != found.Digest {
			return nil, ErrDiffers
		}
	}
	return newResult(&o, found, c), nil
}

func newResult(o *Options, found *tunnel.Sample, c *crew) *Result {
	s := &o.setup
	r := &Result{Version: Version, Game: s.Subject.Name(), Level: s.Subject.Level,
		Architecture: s.Arch.Name, About: s.Arch.About, Network: s.Field.Name, Players: s.Players,
		Rate: s.Subject.Game.Rate(), Seed: s.Seed, Seconds: s.Time.Seconds(),
		Warm: s.Warm.Seconds(), Open: s.Tape != nil, Who: tunnel.Who(o.Open, o.Traces), crew: c}
	if c.body >= 0 {
		r.Width = s.Subject.Width()
	}
	for _, p := range found.Players {
		r.Trips = append(r.Trips, p.Trip)
	}
	for _, w := range c.windows {
		m := Moment{At: w.at.Seconds(), From: w.from.Seconds(), To: w.to.Seconds(), What: w.list,
			Players: w.players, Involved: w.involved, window: w}
		c.judge(w)
		for _, x := range []struct {
			when string
			by   time.Duration
		}{{"before", -o.Around / 2}, {"at", 0}, {"after", o.Around / 2}} {
			m.Strip = append(m.Strip, w.row(x.when, w.at+x.by))
		}
		m.Words = c.words(w)
		r.Moments = append(r.Moments, m)
	}
	return r
}

// judge holds what screens showed against the truth of the same tick.
func (c *crew) judge(w *window) {
	for _, v := range w.views {
		if v.server {
			continue
		}
		for i := range v.pictures {
			p := &v.pictures[i]
			truth := w.truth[p.tick]
			for k := range p.bodies {
				b := &p.bodies[k]
				if is := findBody(truth, b.id); is != nil && is.life == b.life {
					off := math.Round(distance(b, is)/c.subject.Width()*1e4) / 1e4
					b.Off = &off
				}
			}
		}
	}
}

func findBody(list []Body, id world.ID) *Body {
	for i := range list {
		if list[i].id == id {
			return &list[i]
		}
	}
	return nil
}

// of finds the body of a player.
func of(list []Body, player int) *Body {
	for i := range list {
		if list[i].Player == player {
			return &list[i]
		}
	}
	return nil
}

func distance(a, b *Body) float64 {
	sum := 0.0
	for i := range a.At {
		d := a.At[i] - b.At[i]
		sum += d * d
	}
	return math.Sqrt(sum)
}

// view finds the camera of a player.
func (w *window) view(player int, server bool) *view {
	i := slices.IndexFunc(w.views, func(v *view) bool {
		return v.player == player && v.server == server
	})
	if i < 0 {
		return nil
	}
	return w.views[i]
}

// when is the picture that a view shows at an instant, or nil.
func (v *view) when(at time.Duration) *picture {
	if v == nil {
		return nil
	}
	var last *picture
	for i := range v.pictures {
		if v.pictures[i].at <= at {
			last = &v.pictures[i]
		}
	}
	return last
}

// row is what all saw at an instant.
func (w *window) row(when string, at time.Duration) Row {
	r := Row{When: when, At: at.Seconds()}
	tell := func(p *picture) *Picture {
		if p == nil {
			return nil
		}
		return &Picture{Tick: p.tick, Since: p.at.Seconds(), Bodies: p.bodies}
	}
	for _, p := range w.players {
		r.Views = append(r.Views, Sight{Player: p, Server: tell(w.view(p, true).when(at)),
			Screen: tell(w.view(p, false).when(at))})
	}
	return r
}

// Check is never an error: that nothing went wrong is a result, too.
func (r *Result) Check() error { return nil }

// title is what a moment is called.
func (m *Moment) title() string {
	var names []string
	for _, i := range m.What {
		if n := i.Kind.EntryOf().Name; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	text := ""
	for i, n := range names {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return fmt.Sprintf("%.3f s: %s", m.At, text)
}

// instant is a time that was told in seconds.
func instant(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}
