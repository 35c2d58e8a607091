// Package vector draws lists of package draw as SVG: for pages that show many frames beside each
// other and one after the other, and print well.
//
//	surface.Begin(480, 270)
//	title.Screen.Drawer()(&surface, &frame)
//	sheet := vector.Sheet{Width: 480, Height: 270}
//	picture, err := sheet.Screen().Frame(surface.Library(), surface.List())
//	page := sheet.Defs() + sheet.SVG(picture)
//
// Frames of a game have most of what they show in common. So a Sheet keeps each piece once, in the
// game's own units where there is a camera, and a frame is a list of the numbers of its pieces: a
// wall that a moving camera shows in a hundred frames stands in the page once.
//
// Shapes are exact. Text is in the browser's own fonts, and there is no sound. What a Sheet is
// given may come from anywhere: it never panics, and it keeps at most Most bytes.
//
// The package is pure.
package vector
