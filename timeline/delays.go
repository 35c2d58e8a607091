package timeline

import (
	"fmt"
	"time"
)

// SetDelays changes the delays while it runs, and with them how many copies trail. Nothing is lost by that: a copy whose delay grows waits, one whose delay
// shrinks hurries, a new one begins as a copy of the one behind it, and what a copy that is given up would have found, the next one finds. The leading world
// gets there without a jump, by running a sixteenth faster or slower.
//
// The last delay cannot be changed: it decides which commands are too late, and a mirror that decides otherwise than the rest has another world.
func (t *Trailing) SetDelays(delays []time.Duration) error {
	if err := checkDelays(delays); err != nil {
		return err
	}
	window := t.final().delay
	if len(delays) == 0 || delays[len(delays)-1] != window {
		return fmt.Errorf("timeline: the last delay is %v on all mirrors; it cannot be changed while they run", window)
	}
	if (len(delays) == 1) != (len(t.states) == 1) {
		return fmt.Errorf("timeline: %d trailing states cannot become %d while they run; the leading and the last one stay", len(t.states), len(delays))
	}
	if err := t.afford(t.Leading(), len(delays), fmt.Sprintf("%d trailing states", len(delays))); err != nil {
		return err
	}
	for len(t.states) > len(delays) {
		k := len(t.states) - 2
		t.idle = append(t.idle, t.states[k])
		t.states = append(t.states[:k], t.states[k+1:]...)
	}
	for len(t.states) < len(delays) {
		t.insert()
	}
	for i, d := range delays {
		t.states[i].delay = d
	}
	return nil
}

// insert makes one more copy, just ahead of the last.
func (t *Trailing) insert() {
	last := t.final()
	var s *state
	if n := len(t.idle); n > 0 {
		s, t.idle = t.idle[n-1], t.idle[:n-1]
		for i := range s.history.ring {
			s.history.ring[i].reset(0)
		}
		t.copy(s.w, last.w)
	} else {
		s = &state{w: last.w.Host().Clone(), history: newHistory(t.size)}
		t.stats.Copies++
		t.stats.CopiedBytes += int64(last.w.Host().Size())
	}
	s.late.copyFrom(&last.late)
	s.from, s.last, s.since, s.corrections = last.from, last.last, last.w.Tick(), 0
	s.guessFrom, s.guessLast = last.guessFrom, last.guessLast
	if r := last.history.at(last.w.Tick()); r != nil {
		s.history.place(r.tick).copyFrom(r)
	}
	t.states = append(t.states[:len(t.states)-1], s, last)
}
