package drive

import "time"

// A Clock is where a loop's time comes from. It belongs to the goroutine that drives.
type Clock interface {
	// Now is the time since some moment. It runs forward.
	Now() time.Duration
	// Alarm gives a channel on which something comes when that much time has passed. There is one
	// alarm: setting it again takes the place of the last.
	Alarm(d time.Duration) <-chan time.Time
	// Rest ends the alarm.
	Rest()
}

// Since is the machine's clock, counted from a moment.
func Since(begin time.Time) Clock { return &machine{begin: begin} }

type machine struct {
	begin time.Time
	timer *time.Timer
}

func (m *machine) Now() time.Duration { return time.Since(m.begin) }

func (m *machine) Alarm(d time.Duration) <-chan time.Time {
	if m.timer == nil {
		m.timer = time.NewTimer(d)
	} else {
		m.timer.Reset(d)
	}
	return m.timer.C
}

func (m *machine) Rest() {
	if m.timer != nil {
		m.timer.Stop()
	}
}
