// Package dice is what a game might import: some of it is deterministic.
package dice

import (
	"math/rand/v2"
	"time"
)

func Roll() int                { return roll() }
func roll() int                { return 1 + rand.IntN(6) }
func Sides() int               { return 6 }
func Mul(x, y float64) float64 { return x * y }
func Sum(x, y float64) float64 { return x + y }
func Fill(s []int)             { s[0] = 1 }

var Hook = func() int64 { return time.Now().Unix() }

// Seeded is where the rules begin.
func Seeded() time.Time {
	return time.Now() //coeval:allow clock -- only used to name the log file
}

type Roller interface{ Roll() int }

func Twice(r Roller) int { return r.Roll() + r.Roll() }

type Loaded struct{}

func (Loaded) Roll() int { return 6 }

// Best calls its own interface.
type Best struct{ A, B Roller }

func (b Best) Roll() int { return max(b.A.Roll(), b.B.Roll()) }
