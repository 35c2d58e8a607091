package client

import (
	"math"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/games/arena/client/sound"
)

// noises gathers what is to be heard until the next frame.
type noises struct {
	list  []noise
	given sound.Sound // how many the surface has
}

type noise struct {
	sound  sound.Sound
	source sound.Source
}

// mostNoises bounds what one frame lets sound.
const mostNoises = 16

// hear adds a noise.
func (n *noises) hear(s sound.Sound, from sound.Source) {
	if s < sound.Sounds && from.Volume > 0.002 && len(n.list) < mostNoises {
		n.list = append(n.list, noise{s, from})
	}
}

// pitches are how fast each noise may be played, so that the same one twice does not sound like a
// machine.
var pitches = [...]float64{0.96, 1, 1.04}

// voices are what noises are called, in each pitch.
var voices = func() (list [sound.Sounds][len(pitches)]string) {
	for s := range list {
		for i := range pitches {
			list[s][i] = "noise " + string(rune('A'+s)) + string(rune('1'+i))
		}
	}
	return list
}()

// play gives the surface what is to be heard. It computes one noise a frame until all are there.
func (n *noises) play(to *draw.Surface, muted bool) {
	if n.given < sound.Sounds && !muted {
		samples := sound.Samples(n.given)
		for i, p := range pitches {
			to.Samples(voices[n.given][i], int(sound.Rate*p), func() []float32 { return samples })
		}
		n.given++
	}
	for _, o := range n.list {
		if o.sound >= n.given || muted {
			continue
		}
		// the nearest
		i := int(math.Round((o.source.Pitch - pitches[0]) / (pitches[1] - pitches[0])))
		i = min(max(i, 0), len(pitches)-1)
		to.Sound(voices[o.sound][i], 0.9*o.source.Volume, o.source.Pan)
	}
	n.list = n.list[:0]
}
