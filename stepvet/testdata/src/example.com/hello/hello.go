// Package hello makes one mistake: a lamp that blinks by the clock on the wall.
package hello

import (
	"time"

	"example.com/world"
)

type Lamp struct{ Lit bool }

func (l *Lamp) Step(w *world.World, me world.ID) { l.Lit = time.Now().Second()%2 == 0 }
