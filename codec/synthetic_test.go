package codec

import "math"

// synthetic is a small recording with all that the codec has models for: things that walk where
// they look, a reference entity that rolls about, crates that it carries or leaves alone, and
// fields that are set.
func synthetic(seed uint64, frames int) *Recording {
	walker := Class{Name: "walker", Fields: []Field{
		{Name: "x", Min: 0, Max: 65535, Kind: Position, Rate: 3},
		{Name: "y", Min: 0, Max: 65535, Kind: Position, Rate: 4},
		{Name: "yaw", Min: 0, Max: 4095, Kind: Angle, Rate: -1},
		{Name: "vx", Min: -512, Max: 511, Kind: Velocity, Rate: -1},
		{Name: "vy", Min: -512, Max: 511, Kind: Velocity, Rate: -1},
		{Name: "health", Min: 0, Max: 100, Rate: -1},
		{Name: "weapon", Min: 0, Max: 7, Rate: -1},
		{Name: "model", Min: 0, Max: math.MaxInt32, Rate: -1},
	}}
	solid := []Field{
		{Name: "largest", Min: 0, Max: 3, Kind: Quaternion, Rate: -1},
		{Name: "a", Min: 0, Max: 1023, Kind: QuaternionPart, Rate: -1},
		{Name: "b", Min: 0, Max: 1023, Kind: QuaternionPart, Rate: -1},
		{Name: "c", Min: 0, Max: 1023, Kind: QuaternionPart, Rate: -1},
		{Name: "x", Min: -32768, Max: 32767, Kind: Position, Rate: -1},
		{Name: "y", Min: -32768, Max: 32767, Kind: Position, Rate: -1},
		{Name: "z", Min: 0, Max: 8191, Kind: Position, Rate: -1},
		{Name: "held", Min: 0, Max: 1, Rate: -1},
	}
	s := &Schema{
		Name: "synthetic", Classes: []Class{
			walker, {Name: "roller", Fields: solid}, {
				Name: "crate", Fields: solid, Reference: true}}}
	r := &Recording{Schema: s, Rate: 30, BaseAge: 3, Skip: 10, Refer: 0}
	const walkers, crates = 8, 12
	r.Classes = append(r.Classes, 1)
	for range walkers {
		r.Classes = append(r.Classes, 0)
	}
	for range crates {
		r.Classes = append(r.Classes, 2)
	}
	rnd := func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
	type body struct{ x, y, yaw, turn, speed, hp, weapon float64 }
	w := make([]body, walkers)
	for i := range w {
		w[i] = body{20000 + 20000*rnd(), 20000 + 20000*rnd(), 6.28 * rnd(), 0, 200, 100, 1}
	}
	quat := func(image []int32, ax, ay, angle float64) {
		q := [4]float64{ax * math.Sin(angle/2), ay * math.Sin(angle/2), 0, math.Cos(angle / 2)}
		largest := 0
		for i := range q {
			if math.Abs(q[i]) > math.Abs(q[largest]) {
				largest = i
			}
		}
		image[0] = int32(largest)
		k := 1
		for i := range q {
			if i != largest {
				v := q[i]
				if q[largest] < 0 {
					v = -v
				}
				image[k] = int32(min(max(math.Round((v*math.Sqrt2+1)/2*1023), 0), 1023))
				k++
			}
		}
	}
	for n := range frames {
		var f []int32
		t := float64(n) / 30
		px, py, roll := 9000*math.Sin(t/2), 9000*math.Cos(t/3), 3*t
		im := make([]int32, 8)
		quat(im, math.Cos(t/9), math.Sin(t/9), roll)
		im[4], im[5], im[6] = int32(px), int32(py), 500
		f = append(f, im...)
		for i := range w {
			b := &w[i]
			b.turn = b.turn*0.9 + (rnd()-0.5)*0.05
			b.yaw = math.Mod(b.yaw+b.turn+2*math.Pi, 2*math.Pi)
			vx, vy := b.speed*math.Cos(b.yaw), b.speed*math.Sin(b.yaw)
			b.x = min(max(b.x+vx/30*8, 0), 65535)
			b.y = min(max(b.y+vy/30*8, 0), 65535)
			if rnd() < 0.02 {
				b.hp = max(0, b.hp-math.Floor(rnd()*20))
				b.weapon = math.Floor(rnd() * 8)
			}
			f = append(f, int32(b.x), int32(b.y), int32(b.yaw/(2*math.Pi)*4096)&4095, int32(vx),
				int32(vy), int32(b.hp), int32(b.weapon), int32(1000*i))
		}
		for i := range crates {
			im := make([]int32, 8)
			if i < 4 { // carried: it turns about the reference
				a := float64(i) + roll/2
				quat(im, math.Cos(t/9), math.Sin(t/9), roll+float64(i))
				im[4], im[5], im[6] = int32(px+800*math.Cos(a)), int32(py+800*math.Sin(a)),
					int32(600+100*math.Sin(a))
				im[7] = 1
			} else { // at rest, but for a push now and then
				quat(im, 1, 0, float64(i)+float64(n/40))
				im[4], im[5], im[6] = int32(i*1000+n/40*3), int32(-i*1000), 100
			}
			f = append(f, im...)
		}
		r.Frames = append(r.Frames, f)
	}
	return r
}
