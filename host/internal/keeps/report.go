//go:build !js

package keeps

import (
	"fmt"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/world"
)

// A listed is what list prints.
type listed struct {
	Game         string    `json:"game"`
	Declarations string    `json:"declarations"`
	Mirror       bool      `json:"mirror"`
	Bytes        int64     `json:"bytes"`
	Chapters     []chapter `json:"chapters"`
	// Back is the chapter that would be gone on with, and Tick where; Seats are those there.
	Back  string     `json:"back,omitempty"`
	Tick  world.Tick `json:"tick"`
	Level string     `json:"level,omitempty"`
	Seats []string   `json:"seats"`
}

type chapter struct {
	Name         string     `json:"name"`
	First        world.Tick `json:"first_tick"`
	Last         world.Tick `json:"last_tick"`
	At           *time.Time `json:"began,omitempty"`
	Bytes        int64      `json:"bytes"`
	State        string     `json:"state"` // ended, open, cut or damaged
	Damage       string     `json:"damage,omitempty"`
	Declarations string     `json:"declarations"`
	Build        string     `json:"build"`
}

// list says what is in a folder.
func (s *source) list() (*listed, error) {
	survey, err := keep.NewSurvey(s.disk)
	if err != nil {
		return nil, s.explain(err)
	}
	r := &listed{Game: survey.Game, Declarations: fmt.Sprintf("%016x", survey.Declarations),
		Mirror: survey.Group, Chapters: []chapter{}, Seats: []string{}}
	of, err := stay(s.disk)
	if err != nil {
		return nil, s.explain(err)
	}
	for i := range survey.Chapters {
		c := &survey.Chapters[i]
		x := chapter{Name: c.Name, First: c.Tick, Last: c.Last, Bytes: c.Bytes, State: "open",
			Declarations: fmt.Sprintf("%016x", c.Declarations), Build: c.Build.String()}
		if at := c.Label.At; !at.IsZero() {
			x.At = &at
		}
		switch {
		case c.Ended:
			x.State = "ended"
		case c.Damage != nil:
			x.State, x.Damage = "damaged", c.Damage.Error()
		case c.Cut:
			x.State = "cut"
		}
		r.Bytes += c.Bytes
		r.Chapters = append(r.Chapters, x)
		if c.Whole > 0 && (of == 0 || c.Stay == of) {
			r.Back, r.Tick, r.Level, r.Seats = c.Name, c.Last, c.Level, []string{}
			for _, seat := range c.Seats {
				r.Seats = append(r.Seats, fmt.Sprintf("%d %s", seat.Player, seat.Name))
			}
		}
	}
	return r, nil
}

// when is a time for people.
func when(at *time.Time) string {
	if at == nil {
		return ""
	}
	return " of " + at.Local().Format(time.RFC3339)
}

// endOf is about when a chapter ended.
func endOf(c *keep.Chapter) *time.Time {
	if c.Label.At.IsZero() || c.Rate <= 0 {
		return nil
	}
	at := c.Label.At.Add(time.Duration(c.Last-c.Tick) * time.Second / time.Duration(c.Rate))
	return &at
}

func (r *listed) String() string {
	var rows cli.Rows
	rows.Add("game", "%s, declarations %s", r.Game, r.Declarations)
	if r.Mirror {
		rows.Add("mirror", "it remembers its group")
	}
	for _, c := range r.Chapters {
		state := c.State
		if c.Damage != "" {
			state += ": " + c.Damage
		}
		rows.Add(c.Name, "ticks %d to %d%s, %d bytes, %s", c.First, c.Last, when(c.At), c.Bytes,
			state)
	}
	if r.Back == "" {
		rows.Add("goes on", "with nothing, no chapter can be used")
	} else {
		rows.Add("goes on", "at tick %d of %s, level %s", r.Tick, r.Back, r.Level)
	}
	rows.Add("seats", "%d %s", len(r.Seats), strings.Join(r.Seats, ", "))
	return rows.String()
}

// A checked is what check prints.
type checked struct {
	Game      string     `json:"game"`
	Chapter   string     `json:"chapter"`
	From      world.Tick `json:"from_tick"`
	Tick      world.Tick `json:"tick"`
	Hashes    int        `json:"hashes"`
	Seats     int        `json:"seats"`
	Converted string     `json:"converted,omitempty"`
	Chapters  int        `json:"chapters"`
	Computed  int        `json:"computed"`
	Problems  []string   `json:"problems"`
}

func (r *checked) String() string {
	var rows cli.Rows
	rows.Add("game", "%s", r.Game)
	if r.Chapter != "" {
		rows.Add("loads", "%s, ticks %d to %d, %d seats, %d hashes are the same", r.Chapter, r.From,
			r.Tick, r.Seats, r.Hashes)
	}
	if r.Converted != "" {
		rows.Add("converted", "%s", strings.ReplaceAll(strings.TrimSpace(r.Converted), "\n", "; "))
	}
	rows.Add("chapters", "%d, of which %d were computed", r.Chapters, r.Computed)
	for _, p := range r.Problems {
		rows.Add("problem", "%s", strings.ReplaceAll(p, "\n", "; "))
	}
	return rows.String()
}

// check loads what is in a folder.
func (s *source) check(p *cli.Program, all bool) (r *checked, err error) {
	for try := 1; ; try++ {
		var again bool
		if r, again, err = s.checkOnce(p, all); err != nil || !again || try == tries {
			return r, err
		}
	}
}

// checkOnce also says whether a chapter was removed meanwhile, so that it says nothing.
func (s *source) checkOnce(p *cli.Program, all bool) (r *checked, again bool, err error) {
	survey, err := keep.NewSurvey(s.disk)
	if err != nil {
		return nil, false, s.explain(err)
	}
	t, err := title(p, survey)
	if err != nil {
		return nil, false, s.explain(err)
	}
	r = &checked{Game: survey.Game, Chapters: len(survey.Chapters), Problems: []string{}}
	problem := func(err error) {
		again = again || swept(err)
		r.Problems = append(r.Problems, err.Error())
	}
	k, err := load(t, s.disk)
	if err != nil {
		problem(err)
	} else {
		r.Chapter, r.From, r.Tick, r.Hashes = k.Chapter, k.From, k.World.Tick(), k.Compared
		r.Seats, r.Computed = len(k.Seats), 1
		if k.Converted != nil {
			r.Converted = k.Converted.String()
		}
		for _, err := range k.Problems {
			problem(err)
		}
	}
	f, err := keep.Peek(s.disk, t.Game, keep.Options{Build: recording.Build()})
	if err != nil {
		return r, again, nil // it was said
	}
	for i := range survey.Chapters {
		c := &survey.Chapters[i]
		var err error
		switch {
		case c.Damage != nil:
			err = fmt.Errorf("%s: after tick %d: %w", c.Name, c.Last, c.Damage)
		case all && c.Name != r.Chapter && c.Declarations == t.Game.Hash():
			_, err = f.Replay(c.Name)
			if swept(err) {
				err = nil // it is not needed any more
			} else {
				r.Computed++
			}
		}
		if err != nil {
			problem(err)
		}
	}
	return r, again, nil
}
