// Package reckon does dead reckoning: it works out where an entity is from images of it that sender
// and receiver both have, in integers, so that both come to the same.
//
//	       sender                                        receiver
//	  the truth: an image
//	       |
//	Contract.Check <-- Motion.Now                       Motion.Now     what should it be by now?
//	       |           (what does the receiver          |
//	       | due        make of what it has?)           Blend.Show     and how does it get there
//	       v                                            |              from what was shown before?
//	    update  - - - - - - - network - - - - - - - ->  Blend.Correct
//
//	          true  . . o . .
//	              o           ` o        o  what happens
//	           o . - - _  _       ` o    -  what is reckoned from the last update
//	         o'            ` - _  |      |  the error: beyond the tolerance, so an update is due
//
// It stands on world's row of the map, next to interest, and uses codec for what a field and a
// history are.
//
// There are three parts, and each can be used alone.
//
// A Motion extrapolates. It is told which fields are places, which are their velocities and in
// which units, what accelerates them, and how the game integrates; it then gives, for a
// codec.History, the image of now. Under a velocity and acceleration that stay as they are it gives
// exactly what the game computes, because it rounds where the game rounds. It serves as the codec's
// predictor:
//
//	motion, err := reckon.New(class.Fields, reckon.Options{Axes: []reckon.Axis{
//		{Name: "Pos.X", Velocity: "Vel.X", Unit: reckon.Ratio{Num: 1, Den: 30}},
//		{Name: "Pos.Z", Velocity: "Vel.Z", Unit: reckon.Ratio{Num: 1, Den: 30}, Accel: reckon.Ratio{Num: -8, Den: 3}},
//		{Name: "Turret"}, // has no velocity: goes on as it did
//	}})
//	class.Reckon = motion.Now
//
// With tables that were not trained the codec believes it alone, so name every number that moves.
//
// A Contract says how far what is reckoned may be from the truth before the sender owes an update,
// for single fields and for points; with a release, so that what is due stays due until it has
// arrived, and a heartbeat. A Watch holds what a sender remembers for each entity.
//
// A Converge says how a receiver removes the error that an update reveals: at once, in equal steps,
// along a curve that keeps velocities continuous, or by a time constant; with a limit beyond which
// it jumps. A Blend holds what is left of the error of one entity.
//
// Images are integers on both sides. What simulators send each other is not: for that a Body moves
// in space in floats, by package det, so that all machines still come to the same. A Model is one
// of the nine ways of DIS to reckon a Body; a Course is a motion told in advance, such as a Route;
// a Track reckons from places alone. A Pledge is the Contract of a body, with Bounds that a Sight
// fits to an observer and Beats that are the standard's or your own. A Lean is the Blend of an
// orientation.
//
// Nothing allocates once made, and all results are the same on every machine.
//
// The ideas are those of SIMNET and DIS, as surveyed in R. McFarlane's Network Software
// Architectures for Real-Time Massively-Multiplayer Online Games (2005), with position histories by
// Singhal and Cheriton (PARADISE), predictive contracts by Mellon and West, and tolerances for each
// observer by Cai, Lee and Chen. That machines whose floats differ drift apart is a warning of the
// Gamenet thesis, and the reason for integers. docs/reckon.md tells more.
package reckon
