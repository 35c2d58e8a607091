//go:build (js && wasm) || desktop

package client

import (
	"image/color"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/scene"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/games/arena/client/sprite"
)

// A painter draws a scene. It keeps the layers and the memory that this takes.
type painter struct {
	b       *batch
	compose *ebiten.Shader

	groundLayer *ebiten.Image
	thingsLayer *ebiten.Image
	lightLayer  *ebiten.Image // color: the light; alpha: what is in sight
	glowLayer   *ebiten.Image
	w, h        int

	sides    []side
	shape    []point
	sight    []float32 // of each face of each cell: how much it is in sight
	sightMap *arena.Map
}

// composeSource puts the layers together. Edges of what is in sight are soft, because light comes
// from lamps and not from points.
const composeSource = `//kage:unit pixels
package main

var Soft float
var Eye vec2
var Reach float

func Fragment(dst vec4, src vec2, color vec4) vec4 {
	ground := imageSrc0At(src).rgb
	things := imageSrc1At(src)
	light := imageSrc2At(src)
	glow := imageSrc3At(src).rgb
	seen := light.a * 0.25
	seen += imageSrc2At(src + vec2(Soft, 0)).a * 0.125
	seen += imageSrc2At(src - vec2(Soft, 0)).a * 0.125
	seen += imageSrc2At(src + vec2(0, Soft)).a * 0.125
	seen += imageSrc2At(src - vec2(0, Soft)).a * 0.125
	seen += imageSrc2At(src + vec2(Soft, Soft) * 0.7).a * 0.0625
	seen += imageSrc2At(src - vec2(Soft, Soft) * 0.7).a * 0.0625
	seen += imageSrc2At(src + vec2(Soft, -Soft) * 0.7).a * 0.0625
	seen += imageSrc2At(src - vec2(Soft, -Soft) * 0.7).a * 0.0625
	d := length(dst.xy - Eye) / Reach
	lamp := clamp(1 - d*d, 0, 1)
	fog := vec3(dot(ground, vec3(0.3, 0.5, 0.2))) * vec3(0.21, 0.25, 0.36)
	lit := ground * (vec3(0.38, 0.4, 0.44) + vec3(0.8, 0.78, 0.74)*lamp + light.rgb*1.5)
	c := mix(fog, lit, seen)
	a := things.a * seen
	shade := clamp(vec3(0.55) + vec3(0.45)*lamp + light.rgb*0.5, 0, 1.5)
	c = c*(1-a) + things.rgb*seen*shade
	c += glow * seen
	edge := length((dst.xy - imageDstOrigin())/imageDstSize() - vec2(0.5))
	c *= 1 - 0.45*clamp(edge*1.35 - 0.3, 0, 1)
	return vec4(c, 1)
}
`

func newPainter(b *batch) (*painter, error) {
	s, err := ebiten.NewShader([]byte(composeSource))
	if err != nil {
		return nil, err
	}
	return &painter{b: b, compose: s}, nil
}

// resize makes the layers as large as the picture.
func (p *painter) resize(w, h int) {
	if p.w == w && p.h == h {
		return
	}
	for _, l := range []**ebiten.Image{
		&p.groundLayer, &p.thingsLayer, &p.lightLayer, &p.glowLayer} {
		if *l != nil {
			(*l).Deallocate()
		}
		*l = ebiten.NewImageWithOptions(imageRect(w, h), &ebiten.NewImageOptions{Unmanaged: true})
	}
	p.w, p.h = w, h
}

// world draws the game, without what is written on it.
func (p *painter) world(dst *ebiten.Image, s *scene.Scene, v *session.View, dt float64) lens {
	w, h := dst.Bounds().Dx(), dst.Bounds().Dy()
	p.resize(w, h)
	l := newLens(s.Camera.Pos, float64(w), float64(h))
	if s.Map == nil || v.World == nil {
		dst.Fill(color.RGBA{8, 10, 16, 255})
		return l
	}
	p.groundLayer.Fill(color.RGBA{5, 6, 10, 255})
	p.thingsLayer.Clear()
	p.lightLayer.Clear()
	p.glowLayer.Clear()

	p.ground(s, &l)
	p.things(s, v, &l)
	p.light(s, &l)
	p.shining(s, v, &l)

	ex, ey := l.at(s.Eye)
	var o ebiten.DrawRectShaderOptions
	o.Images = [4]*ebiten.Image{p.groundLayer, p.thingsLayer, p.lightLayer, p.glowLayer}
	o.Uniforms = map[string]any{
		"Soft": float32(0.09 * l.scale), "Eye": []float32{float32(ex), float32(ey)},
		"Reach": float32(scene.SightReach * l.scale)}
	dst.DrawRectShader(w, h, p.compose, &o)
	p.walls(dst, s, &l, dt)
	return l
}

// light draws the lights, and marks what is in sight.
func (p *painter) light(s *scene.Scene, l *lens) {
	for i := range s.Lights {
		o := &s.Lights[i]
		if l.shows(o.Pos, o.Radius) {
			p.b.lay(l, sprite.Glow, o.Pos, 2*o.Radius, 2*o.Radius, 0, ink(o.Color, 1))
		}
	}
	for x, y := range cells(s.Map, l, 2, arena.Pit) { // what glows lights its surroundings
		at := det.Vec2{X: float64(x) + 0.5, Y: float64(y) + 0.5}
		p.b.lay(l, sprite.Glow, at, 5, 5, 0, ink(scene.Ember, 0.16))
	}
	p.b.flush(p.lightLayer, blendLight)
	if len(s.Sight) == 0 {
		return
	}
	p.shape = p.shape[:0]
	for _, v := range s.Sight {
		p.shape = append(p.shape, l.point(v))
	}
	p.b.fan(l.point(s.Eye), p.shape, ink(scene.Color{R: 1, G: 1, B: 1}, 1))
	p.b.flush(p.lightLayer, blendMask)
}
