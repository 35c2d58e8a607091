package seamless

import (
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A Dot is where something is, for maps that people look at.
type Dot struct {
	X, Y, Z float32
	// Owned says that it is a player's.
	Owned bool
}

// Dots appends where things of a zone are, as many as there may be at most: of more, every second,
// third and so on. It is for Do.
func (s *Server) Dots(id zone.ID, most int, dst []Dot) []Dot {
	if s.node == nil || most < 1 {
		return dst
	}
	b := s.node.body(id)
	if b == nil {
		return dst
	}
	h, n, stride := b.w.Host(), 0, 1+b.census.entities/most
	for class := range b.where {
		p := &b.where[class]
		if len(p.slots) == 0 {
			continue
		}
		for e := range h.Of(class) {
			if b.w.Ghost(e) {
				continue
			}
			if n++; n%stride != 0 {
				continue
			}
			at := p.at(h.Image(e))
			dst = append(dst, Dot{float32(at[0]), float32(at[1]), float32(at[2]),
				b.w.Owner(e) != world.Nobody})
		}
	}
	return dst
}
