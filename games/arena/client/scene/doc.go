// Package scene is what the arena's client shows, without the drawing: where the
// camera is, which particles fly, what shines, what is heard, what the feed
// says, and what the player's keys mean.
//
//	controls ──> Command ──> the game, wherever it runs
//	                            │ a world, once a frame
//	                          Scene ──> camera, lights, particles, marks, beams, feed, noises
//	                            │
//	                          whatever draws and plays them
//
// It knows no screen and no network, so it is tested like any other code, and
// the same picture comes from a browser, a desktop window, or a recording.
//
//	var s scene.Scene
//	s.Update(scene.Frame{World: w, Me: me, Dt: 1.0 / 60})
//	for _, p := range s.Particles.All() { ... }
package scene
