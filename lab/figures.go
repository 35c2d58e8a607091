package lab

import (
	"errors"
	"fmt"
	"time"
)

// Millis is a duration in milliseconds, as results have it.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Ratio is a by b, or nothing where b is.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Per is how many there are for each, or all of them if there is none of the other.
func Per[A, B int | uint64](a A, b B) float64 { return float64(a) / float64(max(b, 1)) }

// A Target is something that should be reached, and what was.
type Target struct {
	What    string  `json:"what" head:"what should be reached"`
	Got     float64 `json:"got" head:"got" as:"%.4g"`
	Want    string  `json:"want" head:"wanted"`
	Reached bool    `json:"reached" head:"reached"`
}

// Missed is an error that lists what was not reached.
func Missed(list []Target) error {
	var all []error
	for _, t := range list {
		if !t.Reached {
			all = append(all, fmt.Errorf("%s: %.4g, which should be %s", t.What, t.Got, t.Want))
		}
	}
	return errors.Join(all...)
}
