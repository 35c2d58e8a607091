package keep

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/world"
)

// A Moment is one to go back to: a time, or if that is zero, a tick.
type Moment struct {
	At   time.Time
	Tick world.Tick
}

// ErrNoMoment says that a folder has nothing of a moment. Use errors.Is.
var ErrNoMoment = errors.New("it has nothing of that moment")

// RecoverAt computes the game as it was at a moment, of which there are as many as there is
// history. Of a tick that was played in several worlds it is the last time. Nothing is changed, and
// the folder is not gone on with: what comes is for another one.
func (f *Folder) RecoverAt(m Moment) (*Kept, error) {
	list, err := Labels(f.disk)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, l := range slices.Backward(list) {
		until := m.Tick
		if !m.At.IsZero() {
			if l.At.IsZero() || m.At.Before(l.At) {
				continue
			}
			until = l.Tick + world.Tick(m.At.Sub(l.At)*time.Duration(l.Rate)/time.Second)
		} else if l.Tick > m.Tick {
			continue
		}
		k, err := f.replay(l.Name, until, true)
		switch {
		case err != nil && !unusable(err):
			return nil, err
		case err != nil:
			problems = append(problems, err)
		case !m.At.IsZero() || k.World.Tick() == m.Tick:
			k.Problems = append(problems, k.Problems...)
			return k, nil
		}
	}
	return nil, fmt.Errorf("keep: %w%s", errors.Join(append([]error{ErrNoMoment}, problems...)...),
		reach(list))
}

// reach says what moments there are.
func reach(list []Label) string {
	if len(list) == 0 {
		return ": it has no chapters"
	}
	text := fmt.Sprintf(": its chapters begin with tick %d", list[0].Tick)
	if at := list[0].At; !at.IsZero() {
		text += " of " + at.UTC().Format(time.RFC3339)
	}
	return text
}
