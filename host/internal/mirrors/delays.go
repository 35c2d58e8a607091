//go:build !js

package mirrors

import (
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/kinds"
)

// Delays makes the delays of a timeline from what --delays and --window say.
func Delays(kind string, texts []string, window time.Duration) (d kinds.Delays, err error) {
	if !slices.Contains(kinds.Names(), kind) {
		return d, cli.Usagef("--timeline is %q: choose one of %s", kind,
			strings.Join(kinds.Names(), ", "))
	}
	var list []time.Duration
	for _, t := range texts {
		d, err := time.ParseDuration(strings.TrimSpace(t))
		if err != nil || d < 0 {
			return kinds.Delays{},
				cli.Usagef("--delays has %q: write durations from 0 up, separated by commas, "+
					"such as 0,100ms,1s", t)
		}
		list = append(list, d)
	}
	if window < 0 {
		return d, cli.Usagef("--window is %v: it must be above zero", window)
	}
	if window > 0 && kinds.Trails(kind) {
		if len(texts) == 0 {
			list = []time.Duration{0}
			if usual := 100 * time.Millisecond; window > usual {
				list = append(list, usual)
			}
		}
		if last := list[len(list)-1]; last > window {
			return d, cli.Usagef(
				"--delays ends with %v, and --window is %v: a copy cannot be further behind than "+
					"the window; leave one of them out, or make the window longer", last, window)
		} else if last < window {
			list = append(list, window)
		}
	}
	if d, err = kinds.DelaysOf(kind, list); err != nil {
		return d, cli.Usagef("--delays are impossible: %w", err)
	}
	switch {
	case window == 0:
	case !kinds.HasWindow(kind):
		return d, cli.Usagef(
			"--window goes with the timelines auto, trailing, timewarp and ruled, not with %s",
			kind)
	case d.Window != 0 && d.Window != window:
		return d, cli.Usagef(
			"--delays says that the window is %v, and --window %v: leave one of them out", d.Window,
			window)
	default:
		d.Window = window
	}
	return d, nil
}

// Repair is what --repair says.
func Repair(kind, text string) (kinds.Repair, error) {
	r := kinds.Repair(text)
	if err := r.Check(kind); err != nil {
		return "", cli.Usagef("--repair: %w", err)
	}
	return r, nil
}

// TryDelays finds out before anyone is asked whether a timeline can be made with these delays.
func TryDelays(t *game.Title, kind string, delays kinds.Delays) error {
	if delays.IsZero() {
		return nil
	}
	settings, err := t.Settings(game.Level{Name: t.Levels.First()})
	if err != nil {
		return err
	}
	w, err := t.Game.New(settings)
	if err != nil {
		return err
	}
	o := kinds.Options{
		Delays: delays, Mirrors: []member.ID{1}, Judge: true, Step: time.Microsecond,
		Copy: time.Microsecond}
	if _, err := kinds.Open(kind, w, o); err != nil {
		return cli.Usagef("--delays are impossible: %w", err)
	}
	return nil
}
