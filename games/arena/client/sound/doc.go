// Package sound makes every noise of the arena from sines and random numbers,
// when they are first needed, and says how loud and from which side one is heard.
//
//	surface.Samples("burst", sound.Rate, func() []float32 { return sound.Samples(sound.Burst) })
//	from := sound.At(dx, dy, 1, 20)
//	surface.Sound("burst", from.Volume, from.Pan)
package sound
