package play

import (
	"fmt"
	"io"
	"strings"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/world"
)

// tried is what came of trying a game for determinism. The JSON names are for scripts and stay.
type tried struct {
	Game      string `json:"game"`
	Ticks     int    `json:"ticks"`
	Rollback  string `json:"rollback,omitempty"` // what differed
	Compared  int    `json:"predicted"`
	Exact     int    `json:"predicted_exactly"`
	Explained int    `json:"explained"`
	Wrong     int    `json:"wrong"`
	Hidden    string `json:"hidden,omitempty"` // what differed
	// How often something changed its server, in a world divided among some, and what a title that
	// is to be divided must change. No other title has to.
	Crossings int      `json:"crossings"`
	Borders   string   `json:"borders,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
}

// try plays a game in every way in which a game that is not deterministic shows it.
func (o *flags) try(out io.Writer, t *game.Title) error {
	settings, err := o.settings(t)
	if err != nil {
		return err
	}
	seed := o.Level.Seed
	settings.Secret, settings.Develop = seed+1, true
	c := world.CheckOptions{Settings: settings, Seed: seed, Ticks: o.Ticks, Players: o.Players}
	r := tried{Game: t.Name(), Ticks: o.Ticks}
	d, err := world.CheckRollback(t.Game, c)
	if err != nil {
		return err
	}
	if d != nil {
		r.Rollback = d.String()
	}
	rep, err := world.CheckHidden(t.Game, c)
	if err != nil {
		return err
	}
	r.Compared, r.Exact, r.Explained, r.Wrong = rep.Compared, rep.Exact, rep.Explained, rep.Wrong
	if rep.First != nil {
		r.Hidden = rep.First.String()
	}
	borders, err := world.CheckBorders(t.Game, c)
	if r.Crossings = borders.Crossings; err != nil {
		r.Borders = err.Error()
	} else if borders.Wrong > 0 {
		r.Borders = borders.String()
	}
	if r.Warnings, err = warnings(t, &c); err != nil {
		return err
	}
	err = cli.Print(out, &r, o.json)
	if err == nil && (r.Rollback != "" || r.Wrong > 0) {
		err = fmt.Errorf("%s is not deterministic", r.Game)
	}
	return err
}

// warnings are what a game is told while it is developed.
func warnings(t *game.Title, c *world.CheckOptions) (list []string, err error) {
	w, err := t.Game.New(c.Settings)
	if err != nil {
		return nil, err
	}
	in, inputs := t.Game.NewInputs(), world.RandomInputs(t.Game, c.Seed, c.Players)
	for i := range c.Ticks {
		inputs(world.Tick(i+1), in)
		if err := w.Host().Step(in); err != nil {
			return nil, err
		}
	}
	for _, x := range w.Host().Warnings() {
		list = append(list, x.String())
	}
	return list, nil
}

// String is what people are told.
func (r *tried) String() string {
	var b strings.Builder
	if r.Rollback == "" {
		fmt.Fprintf(&b,
			"rollback: %d ticks computed again from copies and saves, all the same\n", r.Ticks)
	} else {
		fmt.Fprintf(&b, "rollback: %s\n", r.Rollback)
	}
	fmt.Fprintf(&b,
		"hidden:   %d of %d predicted exactly, %d others met what was hidden, new or secret, %d "+
			"were wrong\n", r.Exact, r.Compared, r.Explained, r.Wrong)
	if r.Hidden != "" {
		fmt.Fprintf(&b, "          %s\n", r.Hidden)
	}
	if r.Borders == "" {
		fmt.Fprintf(&b, "borders:  %d crossings between servers, all well\n", r.Crossings)
	} else {
		fmt.Fprintf(&b, "borders:  it cannot be divided among servers: %s\n",
			strings.ReplaceAll(r.Borders, "\n", "\n          "))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning:  %s\n", w)
	}
	return b.String()
}
