// Package draw is a surface to draw a frame of a game on, with about a dozen calls.
//
// A game draws once, and every screen shows it: a page in a browser, a window, a terminal, a
// picture in a file. So a Surface draws nothing itself. It writes a list of calls to a buffer of
// bytes, and a screen replays the list in its own way and at its own size:
//
//	                              ┌── web        a canvas in the browser, one call a frame
//	a game's Draw ── Surface ─────┼── window     on the desktop
//	                 (a list)     ├── terminal   coloured half blocks, or characters
//	                              ├── raster     pixels, for pictures, films and tests
//	                              └── vector     SVG, for pages of many frames
//
// A frame looks like this:
//
//	s.Clear(draw.RGB(0x101418))
//	s.Camera(draw.Camera{X: 32, Y: 18, Width: 64, Height: 36, Up: true})
//	s.Circle(ball.X, ball.Y, 0.5, draw.White)
//	s.Image("tank.png", t.X, t.Y, 3, 3, t.Turret, draw.White)
//	s.Overlay()
//	s.Text(s.Width()/2, 40, 32, "3 : 2", draw.White, draw.Center)
//
// # Units
//
// After Camera, places and sizes are in the game's own units, and the screen shows the camera's
// rectangle as large as fits. After Overlay they are in units of the screen, for scores and menus:
// the origin is at the top left, and the screen is about 720 units high, or fewer where it is
// narrow. Angles are in radians, from the first axis to the second.
//
// # Lists
//
// A list is complete: together with its library, which holds the names, pictures and sounds that
// its calls refer to, it can be kept, sent, replayed later and compared. A Reader reads it back.
// The format is in docs/drawing.md. Reading is bounded by the list's own size and never panics.
//
// The package is pure.
package draw
