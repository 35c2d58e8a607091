// Package window shows a game in a window on the desktop, with Ebitengine. It replays the lists of
// package draw, plays their sounds, and reads keys, mouse, touch and gamepads into a game.Input, as
// the page does in a browser.
//
//	func main() {
//		err := window.Run(shooter.Title, window.Options{Server: "localhost:8080"})
//		...
//	}
//
// A game with a loop of its own asks for frames alone:
//
//	window.Open(window.Options{Title: "shooter"}, func(s *window.Screen) {
//		play(s.Input())
//		paint(&s.Surface)
//	})
//
// Everything here carries the build constraint desktop, so that the rest of the project builds
// without Ebitengine and what that needs: on Linux a C compiler and the headers of X11, OpenGL and
// ALSA; on Windows nothing at all.
//
//	go run -tags desktop ./games/arena/client/play --help
package window
