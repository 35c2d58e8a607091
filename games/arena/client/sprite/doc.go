// Package sprite paints the pictures that the arena's client draws everything
// with: one sheet of small shapes in shades of grey, computed when the program
// starts, so that no image has to be loaded.
//
//	sheet, where := sprite.Sheet()
//	draw(sheet.SubImage(where[sprite.Rocket]))
//
// Each shape is given by its distance function, after the way in which vector
// shapes are drawn in shaders, so its edges are smooth. Shapes that have a
// front look to the right.
package sprite
