package lab

import (
	"errors"
	"fmt"
	"math"
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

// Wilson is the interval in which a share lies of which n of so many were found, at 95 %.
func Wilson(n, of int) (low, high float64) {
	if of == 0 {
		return 0, 1
	}
	const z = 1.96
	p, m := float64(n)/float64(of), float64(of)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(middle-half, 0), min(middle+half, 1)
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
