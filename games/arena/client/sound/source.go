package sound

import "math"

// A Source is where a noise comes from: how loud it is, from the left at -1 to the right at 1, and
// how much its pitch differs.
type Source struct{ Volume, Pan, Pitch float64 }

// Here is a noise in one's own head.
func Here(volume float64) Source { return Source{volume, 0, 1} }

// At is a noise so far to the right and below, as one hears it who stands in the middle. Beyond
// reach it is not heard.
func At(dx, dy, volume, reach float64) Source {
	d := math.Hypot(dx, dy)
	if d >= reach {
		return Source{}
	}
	near := 1 - d/reach
	return Source{volume * near * near, dx / (d + 4), 1} // close by, sides do not matter much
}

// Detune changes the pitch, so that the same noise twice does not sound like a machine.
func (p Source) Detune(by float64) Source {
	p.Pitch = 1 + by
	return p
}
