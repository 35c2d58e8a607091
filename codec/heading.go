package codec

// heading is an angle that turns a velocity: what walks, drives or flies
// mostly moves where it faces.
type heading struct {
	angle int // index of the number that is the angle, or -1
	x, y  int // indices of the numbers that are the velocity in the plane
	span  int64
	scale int64 // turns an angle into 1/65536 of the circle, in 1/2^24
	used  bool
}

// sines holds a full circle in 1024 steps, in 1/16384.
var sines = func() (t [1025]int32) {
	// Built from one value by adding angles, in integers, so that every
	// platform has the same table: sin and cos of 2 pi/1024 in 1/2^30.
	const s1, c1 = 6588356, 1073721611
	s, c := int64(0), int64(1<<30)
	for i := range 257 {
		t[i] = int32((s + 1<<15) >> 16)
		t[512-i] = t[i]
		s, c = (s*c1+c*s1+1<<29)>>30, (c*c1-s*s1+1<<29)>>30
	}
	for i := 513; i <= 1024; i++ {
		t[i] = -t[i-512]
	}
	return t
}()

// sinCos is the sine and cosine of an angle, in 1/16384.
func (h *heading) sinCos(angle int64) (sin, cos int64) {
	a := angle * h.scale >> 24 & 0xffff // in 1/65536 of the circle
	return interpolate(a), interpolate((a + 1<<14) & 0xffff)
}

func interpolate(a int64) int64 {
	i, f := a>>6, a&63
	return int64(sines[i]) + int64(sines[i+1]-sines[i])*f>>6
}

// turnHeading fills in the features that the heading gives to the velocity.
func (c *coder) turnHeading(m *classModel, base, now []int32) {
	h := &m.heading
	f := m.numbers[h.angle].field
	sin, cos := h.sinCos(wrapUp(m.numbers[h.angle].difference(now[f], base[f]), h.span))
	fs, fc := h.sinCos(int64(now[f]) - int64(m.fields[f].Min))
	x := c.features[m.numberFeature(h.x, 0):][:numberFeatures]
	y := c.features[m.numberFeature(h.y, 0):][:numberFeatures]
	nx, ny := &m.numbers[h.x], &m.numbers[h.y]
	vx := clampFeature((int64(base[nx.field]) - nx.mid) << 8)
	vy := clampFeature((int64(base[ny.field]) - ny.mid) << 8)
	x[turnCos], y[turnCos] = vx*(cos-1<<14)>>14, vy*(cos-1<<14)>>14
	x[turnSin], y[turnSin] = -vy*sin>>14, vx*sin>>14
	x[facing], y[facing] = fc<<1, fs<<1
}
