// Package film shows the worst moments of a run: what who decides held and what each player saw, at
// the same instant, side by side.
//
//	host/tools/lab      {program} lab incident
//	lab/tunnel/film     finds the moments, films them, and tells of them      <- here
//	lab/tunnel          plays, and measures
//	draw/vector         a frame of the title as SVG
//
// A run is played twice, with the same seed. The first time finds the worst moments, by the code
// that measures; how bad one was is often known only seconds later, when it is decided what was
// true. The second time films the windows around those moments, and nothing else. So memory does
// not grow with how long is played, and what is measured is what is filmed. That both runs were the
// same is checked, by a digest of all datagrams.
//
// Pictures are drawn by the title itself, each player's by its own eyes; a title that draws nothing
// has dots where things are.
package film
