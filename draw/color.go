package draw

// A Color is red, green, blue and opacity, a byte each: 0xRRGGBBAA.
type Color uint32

// White draws images as they are. Clear of any color is nothing at all.
const (
	White Color = 0xffffffff
	Black Color = 0x000000ff
)

// RGB is an opaque color of its usual notation: RGB(0x40d9ff).
func RGB(hex uint32) Color { return Color(hex<<8 | 0xff) }

// Channels are red, green, blue and opacity.
func (c Color) Channels() (r, g, b, a uint8) {
	return uint8(c >> 24), uint8(c >> 16), uint8(c >> 8), uint8(c)
}

// Alpha is the color with a part of its opacity, from 0 to 1.
func (c Color) Alpha(part float64) Color {
	return c&^0xff | Color(channel(float64(c&0xff)*part))
}

// Mix is a color between two: c where part is 0, and d where it is 1.
func (c Color) Mix(d Color, part float64) (mixed Color) {
	for shift := 0; shift < 32; shift += 8 {
		a, b := float64(c>>shift&0xff), float64(d>>shift&0xff)
		mixed |= Color(channel(a+(b-a)*part)) << shift
	}
	return mixed
}

// channel brings a number into a byte.
func channel(x float64) uint8 {
	if !(x > 0) { // nor NaN
		return 0
	}
	return uint8(min(x+0.5, 255))
}
