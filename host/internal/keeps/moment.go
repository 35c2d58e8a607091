//go:build !js

package keeps

import (
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/world"
)

// parseMoment reads a moment to go back to: a tick, a time of the calendar, a time of the day that
// was last, or so long ago.
func parseMoment(text string, now time.Time) (*keep.Moment, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		return &keep.Moment{Tick: world.Tick(n)}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil && !t.IsZero() {
		return &keep.Moment{At: t}, nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		t, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(),
			t.Nanosecond(), now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return &keep.Moment{At: at}, nil
	}
	before, ago := strings.CutSuffix(text, "ago")
	if d, err := time.ParseDuration(strings.TrimSpace(before)); ago && err == nil && d >= 0 {
		return &keep.Moment{At: now.Add(-d)}, nil
	}
	return nil, cli.Usagef("--to is %q: it must be a tick such as 7200, a time such as "+
		"2026-03-01T14:05:00Z or 14:05, or one such as \"10m ago\"", text)
}
