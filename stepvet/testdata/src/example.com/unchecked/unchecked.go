// Package unchecked calls what cannot be followed.
package unchecked

import "example.com/world"

type power interface{ use() }

type Ball struct {
	hook   func()
	powers []power
	table  map[string]func()
}

var late func()

func assembly(x int) int // want `assembly has no body in Go`

func (b *Ball) Step(w *world.World, me world.ID) {
	b.hook()          // want `hook holds a function that is not known here.*\[unchecked\]`
	late()            // want `late holds a function`
	b.table["x"]()    // want `the function called here is not known`
	b.powers[0].use() // want `no type that implements use is known here`
	assembly(1)
	each(func() {})
}

func each(f func()) {
	f()
	g := f
	g()
	func() {}()
}
