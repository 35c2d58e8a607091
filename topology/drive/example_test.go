package drive_test

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/topology/drive"
)

// A thing that lives by the clock: twenty ticks a second, until the context ends.
func Example() {
	ctx, cancel := context.WithCancelCause(context.Background())
	ticks := 0
	loop := drive.Loop{
		Step: 50 * time.Millisecond,
		Tick: func(time.Duration) error {
			if ticks++; ticks == 3 {
				cancel(fmt.Errorf("maintenance"))
			}
			return nil
		},
		Stop: func(cause error) { fmt.Println("telling everyone:", drive.Reason(cause)) },
		Done: func() bool { return ticks >= 5 },

		Grace: time.Second,
		Clock: &virtual{}, // leave it out, and time goes by as it does
	}
	err := loop.Run(ctx)
	fmt.Println(ticks, "ticks, error:", err)
	// Output:
	// telling everyone: maintenance
	// 5 ticks, error: <nil>
}

// virtual is a clock whose time goes by as soon as someone waits for it.
type virtual struct {
	now   time.Duration
	still bool // an alarm that is never due is not waited for
}

func (v *virtual) Now() time.Duration { return v.now }
func (v *virtual) Rest()              {}

func (v *virtual) Alarm(d time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	if v.still && d > 24*time.Hour {
		return c
	}
	c <- time.Time{}
	v.now += d
	return c
}
