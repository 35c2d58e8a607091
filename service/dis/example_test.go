package dis_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/service/dis"
)

// A simulator tells of an aircraft, and another one reckons where it is two seconds later.
func Example() {
	ground := dis.NewGround(dis.Spot{Lat: det.Degrees(37.8), Lon: det.Degrees(-122.4)}, 0)
	level := reckon.Body{Pos: det.Vec3{Z: 500}, Vel: det.Vec3{X: 100}, Facing: det.Identity}
	plane := ground.BodyToWorld(&level)

	sender := dis.Sender{Header: dis.Header{Exercise: 1}, Site: 1, Application: 1}
	sender.Describe(7, &dis.EntityState{Force: 1, Marking: dis.Mark("falcon"),
		Type: dis.Type{Kind: dis.Platform, Domain: dis.Air, Country: 225}})
	datagram, why := sender.Move(nil, 0, dis.Relative(0), 7, reckon.FPW, &plane)
	fmt.Println(len(datagram), "bytes:", why)

	there := dis.NewExercise(dis.Options{Site: 2, Application: 1})
	there.Receive(0, dis.Relative(0), datagram, nil)
	for e := range there.Entities() {
		world := e.At(2 * time.Second)
		at := ground.BodyToLevel(&world)
		fmt.Printf("%v %v: %.0f m east, %.0f m up\n", e.ID, e.Marking, at.Pos.X, at.Pos.Z)
	}
	// Output:
	// 144 bytes: unsent
	// 1:1:7 falcon: 200 m east, 500 m up
}
