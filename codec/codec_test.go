package codec

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func trained(t testing.TB) *Model {
	t.Helper()
	r := synthetic(1, 300)
	m, err := Train(r.Schema, []*Recording{r}, TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func untrained(t testing.TB, s *Schema) *Model {
	t.Helper()
	m, err := Default(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// play encodes a recording frame by frame with some frames lost, decodes what arrives with a
// decoder that holds only what it decoded itself, and returns the bytes a frame.
func play(t testing.TB, enc, dec *Model, r *Recording, arrived []bool) float64 {
	t.Helper()
	e, d := NewEncoder(enc), NewDecoder(dec)
	buf := make([]byte, 1<<14)
	held := &Recording{
		Schema: r.Schema, Classes: r.Classes, Frames: make([][]int32, len(r.Frames)),
		BaseAge: r.BaseAge}
	for n := range r.Skip {
		held.Frames[n] = slices.Clone(r.Frames[n])
	}
	var h, rh History
	total, frames := 0, 0
	for n := r.Skip; n < len(r.Frames); n++ {
		known, k := r.Known(n, arrived)
		if k == 0 {
			continue
		}
		e.Begin(buf)
		for i, c := range r.Classes {
			r.History(&h, i, n, known[:k])
			if !e.Put(c, &h, r.Image(n, i)) {
				t.Fatalf("frame %d does not fit", n)
			}
			if i == r.Refer {
				rh = h
				e.Refer(c, &rh, r.Image(n, i))
			}
		}
		packet, err := e.Finish()
		if err != nil {
			t.Fatal(err)
		}
		total += len(packet)
		frames++
		if arrived != nil && !arrived[n] {
			continue
		}
		held.Frames[n] = make([]int32, len(r.Frames[n]))
		d.Begin(slices.Clone(packet))
		for i, c := range r.Classes {
			held.History(&h, i, n, known[:k])
			now := held.Image(n, i)
			changed, err := d.Get(c, &h, now)
			if err != nil {
				t.Fatalf("frame %d, entity %d: %v", n, i, err)
			}
			if want := r.Image(n, i); !slices.Equal(now, want) {
				t.Fatalf("frame %d, entity %d: %v instead of %v", n, i, now, want)
			}
			if same := slices.Equal(now, h.Images[0]); changed == same {
				t.Fatalf("frame %d, entity %d: changed is %v", n, i, changed)
			}
			if i == r.Refer {
				rh = h
				d.Refer(c, &rh, now)
			}
		}
		if err := d.Finish(); err != nil {
			t.Fatalf("frame %d: %v", n, err)
		}
	}
	return float64(total) / float64(frames)
}

// Training must help on recordings that it has not seen, and a loss may cost bytes but never a
// wrong value.
func TestTrainingHelps(t *testing.T) {
	r := synthetic(2, 400)
	some := make([]bool, len(r.Frames))
	rng := uint64(7)
	for i := range some {
		rng = rng*6364136223846793005 + 1442695040888963407
		some[i] = i < r.Skip || rng>>60 >= 4 // a quarter is lost
	}
	m := trained(t)
	again, err := LoadTables(r.Schema, m.AppendTables(nil))
	if err != nil {
		t.Fatal(err)
	}
	with, lossy := play(t, m, again, r, nil), play(t, m, again, r, some)
	without := play(t, untrained(t, r.Schema), untrained(t, r.Schema), r, nil)
	t.Logf("bytes a frame: untrained %.1f, trained %.1f, with a quarter lost %.1f", without, with,
		lossy)
	if with > without*0.8 {
		t.Errorf("trained tables take %.1f bytes a frame, none take %.1f", with, without)
	}
	if lossy < with {
		t.Errorf("losing frames makes the rest cheaper: %.1f instead of %.1f", lossy, with)
	}
}

// anyImage draws an image that the schema allows, or one near another.
func anyImage(t *rapid.T, c *Class, near []int32) []int32 {
	im := make([]int32, len(c.Fields))
	for i, f := range c.Fields {
		switch how := rapid.IntRange(0, 3).Draw(t, "how"); {
		case near != nil && how == 0:
			im[i] = near[i]
		case near != nil && how == 1:
			im[i] = clampValue(&f, int64(near[i])+rapid.Int64Range(-20, 20).Draw(t, "step"))
		default:
			im[i] = rapid.OneOf(rapid.Int32Range(f.Min, f.Max), rapid.Just(f.Min),
				rapid.Just(f.Max)).Draw(t, "value")
		}
	}
	return im
}

// Whatever the images and histories, and however absurd their ages, what comes out is what went in.
func TestRoundTrip(t *testing.T) {
	schema := synthetic(1, 1).Schema
	wide := Class{Name: "wide", Fields: []Field{
		{Name: "a", Min: -1 << 31, Max: 1<<31 - 1, Kind: Number, Rate: -1},
		{Name: "b", Min: -1 << 31, Max: 1<<31 - 1, Kind: Angle, Rate: -1},
		{Name: "c", Min: -1 << 31, Max: 1<<31 - 1, Kind: Velocity, Rate: -1},
		{Name: "d", Min: -1 << 31, Max: 1<<31 - 1, Kind: Velocity, Rate: -1},
		{Name: "e", Min: -1 << 31, Max: 1<<31 - 1, Kind: Position, Rate: 2},
		{Name: "f", Min: -1 << 31, Max: 1<<31 - 1, Kind: Discrete, Rate: -1},
		{Name: "g", Min: 5, Max: 5, Kind: Number, Rate: -1},
	}}
	extreme := &Schema{Name: "extreme", Classes: []Class{wide}}
	models := []*Model{untrained(t, schema), trained(t), untrained(t, extreme)}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(models).Draw(t, "model")
		type item struct {
			class int
			h     History
			now   []int32
		}
		var items []item
		for range rapid.IntRange(1, 8).Draw(t, "entities") {
			it := item{class: rapid.IntRange(0, len(m.schema.Classes)-1).Draw(t, "class")}
			c := &m.schema.Classes[it.class]
			var last []int32
			age := rapid.Int32Range(0, 300).Draw(t, "age")
			for range rapid.IntRange(1, Depth).Draw(t, "known") {
				last = anyImage(t, c, last)
				it.h.Add(last, age)
				age += rapid.Int32Range(1, 300).Draw(t, "older")
			}
			it.now = anyImage(t, c, it.h.Images[0])
			items = append(items, it)
		}
		e, d := NewEncoder(m), NewDecoder(m)
		size := rapid.IntRange(1, 2000).Draw(t, "size")
		e.Begin(make([]byte, size))
		n := 0
		for ; n < len(items) && e.Put(items[n].class, &items[n].h, items[n].now); n++ {
			if n == 0 {
				e.Refer(items[0].class, &items[0].h, items[0].now)
			}
		}
		packet, err := e.Finish()
		if err != nil {
			t.Fatalf("%d of %d entities in %d bytes: %v", n, len(items), size, err)
		}
		d.Begin(packet)
		for i := range n {
			now := make([]int32, len(items[i].now))
			if _, err := d.Get(items[i].class, &items[i].h, now); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(now, items[i].now) {
				t.Fatalf("entity %d: %v instead of %v", i, now, items[i].now)
			}
			if i == 0 {
				d.Refer(items[0].class, &items[0].h, now)
			}
		}
		if err := d.Finish(); err != nil {
			t.Fatal(err)
		}
	})
}

// A game's own prediction is worth what it knows: here, that walls reflect.
func TestReckon(t *testing.T) {
	const wall = 1000
	bounce := func(x, v int32) (int32, int32) {
		if x += v; x < 0 || x > wall {
			x, v = min(max(x, 0), wall), -v
		}
		return x, v
	}
	class := Class{Name: "ball", Fields: []Field{
		{Name: "x", Min: 0, Max: wall, Kind: Position, Rate: 1},
		{Name: "v", Min: -200, Max: 200, Kind: Velocity, Rate: -1},
	}}
	bytes := func(reckon func(h *History, now []int32)) float64 {
		class := class
		class.Reckon = reckon
		r := &Recording{
			Schema: &Schema{Name: "balls", Classes: []Class{class}}, BaseAge: 3, Skip: 8, Refer: -1}
		balls := make([][2]int32, 20)
		for i := range balls {
			r.Classes = append(r.Classes, 0)
			balls[i] = [2]int32{int32(i * 50), int32(61 + 3*i)}
		}
		for range 200 {
			var f []int32
			for i := range balls {
				balls[i][0], balls[i][1] = bounce(balls[i][0], balls[i][1])
				f = append(f, balls[i][0], balls[i][1])
			}
			r.Frames = append(r.Frames, f)
		}
		return play(t, untrained(t, r.Schema), untrained(t, r.Schema), r, nil)
	}
	plain := bytes(nil)
	reckoned := bytes(func(h *History, now []int32) {
		for range h.Ages[0] {
			now[0], now[1] = bounce(now[0], now[1])
		}
	})
	t.Logf("bytes a frame: %.1f, reckoned %.1f", plain, reckoned)
	if reckoned > plain/2 {
		t.Errorf("knowing about walls saves too little: %.1f bytes a frame instead of %.1f",
			reckoned, plain)
	}
}

// A packet must not depend on what the encoder or decoder coded before.
func TestPacketsStandAlone(t *testing.T) {
	r := synthetic(3, 60)
	m := trained(t)
	encode := func(e *Encoder, n int) []byte {
		var h, rh History
		known, k := r.Known(n, nil)
		e.Begin(make([]byte, 1<<14))
		for i, c := range r.Classes {
			r.History(&h, i, n, known[:k])
			e.Put(c, &h, r.Image(n, i))
			if i == r.Refer {
				rh = h
				e.Refer(c, &rh, r.Image(n, i))
			}
		}
		packet, err := e.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return packet
	}
	used := NewEncoder(m)
	for n := r.Skip; n < len(r.Frames); n++ {
		if a, b := encode(used, n), encode(NewEncoder(m), n); !slices.Equal(a, b) {
			t.Fatalf("frame %d differs when it is the first", n)
		}
	}
}

// Default must be the same on every platform, since both sides make it for themselves.
func TestDefaultIsTheSameEverywhere(t *testing.T) {
	h := untrained(t, synthetic(1, 1).Schema).Hash()
	const want = "557ef47357c66253"
	if got := hex.EncodeToString(h[:8]); got != want {
		t.Errorf("the default model has hash %s, not %s: if it was changed on purpose, change "+
			"this too", got, want)
	}
}

// The two ends of a connection may run on different machines, so a packet must have the same bytes
// on all of them.
func TestPacketsAreTheSameEverywhere(t *testing.T) {
	schema := synthetic(1, 1).Schema
	e := NewEncoder(untrained(t, schema))
	e.Begin(make([]byte, 1<<16))
	rng := uint64(1)
	draw := func(f *Field) int32 {
		rng = rng*6364136223846793005 + 1442695040888963407
		return f.Min + int32(rng>>33%uint64(f.span()))
	}
	for i := range 300 {
		class := i % len(schema.Classes)
		fields := schema.Classes[class].Fields
		var images [Depth + 1][]int32
		for k := range images {
			images[k] = make([]int32, len(fields))
			for j := range fields {
				if v := draw(&fields[j]); k == 0 || v%3 == 0 {
					images[k][j] = v
				} else {
					images[k][j] = clampValue(&fields[j], int64(images[k-1][j])+int64(v%7)-3)
				}
			}
		}
		h := new(History)
		for k := range Depth {
			h.Add(images[k+1], int32(2+3*k))
		}
		if !e.Put(class, h, images[0]) {
			t.Fatal("full")
		}
		if class == 1 {
			e.Refer(class, h, images[0])
		}
	}
	packet, err := e.Finish()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(packet)
	const want = "68065e452e5756e9"
	if got := hex.EncodeToString(sum[:8]); got != want {
		t.Errorf("%d bytes with hash %s, not %s", len(packet), got, want)
	}
}

func TestNoAllocations(t *testing.T) {
	r := synthetic(1, 40)
	m := trained(t)
	e, d := NewEncoder(m), NewDecoder(m)
	buf := make([]byte, 1<<14)
	now := make([]int32, MaxFields)
	var h, rh History
	known, k := r.Known(30, nil)
	if n := testing.AllocsPerRun(50, func() {
		e.Begin(buf)
		for i, c := range r.Classes {
			r.History(&h, i, 30, known[:k])
			e.Put(c, &h, r.Image(30, i))
			if i == r.Refer {
				rh = h
				e.Refer(c, &rh, r.Image(30, i))
			}
		}
		packet, _ := e.Finish()
		d.Begin(packet)
		for i, c := range r.Classes {
			r.History(&h, i, 30, known[:k])
			im := r.Image(30, i)
			if _, err := d.Get(c, &h, now[:len(im)]); err != nil {
				t.Fatal(err)
			}
			if i == r.Refer {
				rh = h
				d.Refer(c, &rh, im)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
