package client

import (
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/session"
)

// A painter draws a scene. It keeps the memory that this takes.
type painter struct {
	brush
	lens    lens
	zoom    float64 // how many times as large the units are in which is written
	lights  lightmap
	level   *arena.Map
	squares []piece
	roofs   []arena.Rect
	pits    []arena.Rect
	sides   []side
	rims    []rim
	runs    runs
	sight   []float32 // of each face of each cell: how much it is in sight
	shape   []float64
}

// world draws the game, without what is written on it.
func (p *painter) world(s *scene.Scene, v *session.View, dt float64) {
	p.lens = newLens(s.Camera.Pos, p.Width(), p.Height())
	if s.Map == nil || v.World == nil {
		p.Clear(draw.RGB(0x080a10))
		return
	}
	p.give()
	p.Clear(draw.RGB(0x05060a))
	p.Camera(p.lens.camera())
	p.ground(s)
	p.light(s)
	if len(s.Sight) > 2 { // what moves is seen within the sight only
		p.shape = p.shape[:0]
		for _, at := range s.Sight {
			p.shape = append(p.shape, at.X, at.Y)
		}
		p.Clip(p.shape...)
		p.things(s, v)
		p.Blend(draw.Add)
		p.shining(s, v)
		p.Blend(draw.Over)
		p.Clip()
	}
	p.walls(s, dt)
}
