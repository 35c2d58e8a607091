package reckon

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/codec"
)

// shells is a recording of bodies that are thrown, fly under gravity, and are thrown anew when they
// come down.
func shells(reckoned bool, seed uint64, frames int) (*codec.Recording, error) {
	class := codec.Class{Name: "shell", Fields: []codec.Field{
		{Name: "x", Min: -1 << 17, Max: 1 << 17, Kind: codec.Position, Rate: 3},
		{Name: "y", Min: -1 << 17, Max: 1 << 17, Kind: codec.Position, Rate: 4},
		{Name: "z", Min: 0, Max: 1 << 16, Kind: codec.Position, Rate: 5},
		{Name: "vx", Min: -2048, Max: 2047, Kind: codec.Velocity, Rate: -1},
		{Name: "vy", Min: -2048, Max: 2047, Kind: codec.Velocity, Rate: -1},
		{Name: "vz", Min: -2048, Max: 2047, Kind: codec.Velocity, Rate: -1},
	}}
	const gravity = -7
	unit := Ratio{1, 3}
	m, err := New(class.Fields, Options{Axes: []Axis{
		{Name: "x", Velocity: "vx", Unit: unit}, {Name: "y", Velocity: "vy", Unit: unit},
		{Name: "z", Velocity: "vz", Unit: unit, Accel: Ratio{Num: gravity}}}})
	if err != nil {
		return nil, err
	}
	if reckoned {
		class.Reckon = m.Now
	}
	r := &codec.Recording{
		Schema: &codec.Schema{Name: "shells", Classes: []codec.Class{class}}, BaseAge: 6, Skip: 24,
		Refer: -1}
	rng := seed
	draw := func(n uint64) int32 {
		rng = rng*6364136223846793005 + 1442695040888963407
		return int32(rng >> 33 % n)
	}
	bodies := make([][]int32, 40)
	for i := range bodies {
		r.Classes = append(r.Classes, 0)
		bodies[i] = []int32{
			draw(1 << 16), draw(1 << 16), draw(1 << 12), draw(800) - 400, draw(800) - 400,
			draw(600)}
	}
	step := func(p, v int32) int32 { // a third of v, to the nearest
		return p + (v+3001)/3 - 1000
	}
	for range frames {
		var f []int32
		for _, b := range bodies {
			b[5] += gravity
			b[0], b[1], b[2] = step(b[0], b[3]), step(b[1], b[4]), step(b[2], b[5])
			if b[2] < 0 {
				copy(b, []int32{draw(1 << 16), draw(1 << 16), 0, draw(800) - 400, draw(800) - 400,
					500 + draw(400)})
			}
			f = append(f, b...)
		}
		r.Frames = append(r.Frames, f)
	}
	return r, nil
}

// cost codes a recording, decodes it, and gives the bytes of a frame.
func cost(t *testing.T, m *codec.Model, r *codec.Recording, arrived []bool) float64 {
	t.Helper()
	e, d := codec.NewEncoder(m), codec.NewDecoder(m)
	buf, got := make([]byte, 1<<14), make([]int32, len(r.Schema.Classes[0].Fields))
	total := 0
	for n := r.Skip; n < len(r.Frames); n++ {
		known, k := r.Known(n, arrived)
		var h codec.History
		e.Begin(buf)
		for i := range r.Classes {
			r.History(&h, i, n, known[:k])
			if !e.Put(0, &h, r.Image(n, i)) {
				t.Fatal("full")
			}
		}
		packet, err := e.Finish()
		if err != nil {
			t.Fatal(err)
		}
		total += len(packet)
		d.Begin(packet)
		for i := range r.Classes {
			r.History(&h, i, n, known[:k])
			if _, err := d.Get(0, &h, got); err != nil || !slices.Equal(got, r.Image(n, i)) {
				t.Fatalf("frame %d: %v instead of %v, error %v", n, got, r.Image(n, i), err)
			}
		}
	}
	return float64(total) / float64(len(r.Frames)-r.Skip)
}

// To know of gravity pays: a little with default tables, which guess how large errors will be from
// how the motion changed and so do not believe in exact predictions; a lot with tables that were
// trained, here on other flights than those they code.
func TestReckoningPays(t *testing.T) {
	const frames = 300
	arrived := make([]bool, frames)
	for i := range arrived {
		arrived[i] = i < 20 || i%5 != 0 && i%7 != 0
	}
	var bytes [2][4]float64
	for i, reckoned := range []bool{false, true} {
		r, err := shells(reckoned, 7, frames)
		if err != nil {
			t.Fatal(err)
		}
		other, err := shells(reckoned, 8, frames)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := codec.Default(r.Schema)
		if err != nil {
			t.Fatal(err)
		}
		learnt, err := codec.Train(r.Schema, []*codec.Recording{other}, codec.TrainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		bytes[i] = [4]float64{
			cost(t, plain, r, nil), cost(t, plain, r, arrived), cost(t, learnt, r, nil),
			cost(t, learnt, r, arrived)}
	}
	for k, c := range []struct {
		name  string
		share float64 // of the bytes that may be left
	}{{"default tables", 0.6}, {"default tables, 31 % lost", 0.6}, {"trained tables", 0.6}, {
		"trained tables, 31 % lost", 0.6}} {
		t.Logf("%-26s %7.1f bytes a frame of 40 bodies, reckoned %7.1f", c.name, bytes[0][k],
			bytes[1][k])
		if bytes[1][k] > bytes[0][k]*c.share {
			t.Errorf("%s: reckoning leaves more than %.0f %%", c.name, 100*c.share)
		}
	}
}
