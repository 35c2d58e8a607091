// Package raster draws lists of package draw as pixels: for pictures, films and tests of any title,
// and for terminals, which show two pixels in each character.
//
//	surface.Begin(1280, 720)
//	title.Screen.Drawer()(&surface, &frame)
//	picture := image.NewRGBA(image.Rect(0, 0, 1280, 720))
//	err := r.Draw(picture, surface.Library(), surface.List())
//
// All of it is computed here, with no library and no graphics card, so the same list gives the same
// picture everywhere but for the last bit of a channel. Edges are smooth: a pixel that a shape
// covers by half gets half of its color. Images are made smaller by averages, and larger by blends
// of neighbours. Text has a font of its own, with the characters of Latin-1 and a few more; others
// are boxes.
//
// A Raster makes no sound. What it is given may come from anywhere: it never panics, and neither
// its memory nor its time grows beyond what the size of the list, of the picture and of Pixels
// allow.
//
// The package is pure.
package raster
