// Package sprite paints the pictures that the arena's client draws everything
// with: small shapes in shades of grey, computed when the program starts, so that
// no image has to be loaded.
//
//	surface.Picture("rocket", 1, 1, sprite.Cell, func(s *draw.Surface) {
//		s.Pixels(0, 0, 1, 1, sprite.Cell, sprite.Pixels(sprite.Rocket))
//	})
//
// Each shape is given by its distance function, after the way in which vector
// shapes are drawn in shaders, so its edges are smooth. Shapes that have a
// front look to the right.
package sprite
