// Package sound makes every noise of the arena from sines and random numbers,
// when the program starts, and mixes what is heard at a time into one stereo
// stream.
//
//	m := sound.NewMixer()
//	player := audio.NewPlayerF32(m)          // it is an io.Reader of samples
//	m.Play(sound.Burst, sound.At(dx, dy))    // from the game's loop
package sound
