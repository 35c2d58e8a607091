package mistakes

import (
	"time"

	"example.com/world"
)

var Game = world.Define("mistakes",
	world.OnStart(func(w *world.World) {
		w.Tick = uint64(time.Now().Unix()) // want `time.Now is bound`
	}),
	world.OnJoin(join))

func join(w *world.World, p world.Player) {
	total++ // want `total is not part of the world.*reached by the function given to world.OnJoin > join`
}

func Open() int {
	total = int(time.Now().Unix())                                                // not a part of the rules
	return world.Define("later", world.OnStart(func(w *world.World) { total++ })) // want `total is not part`
}
