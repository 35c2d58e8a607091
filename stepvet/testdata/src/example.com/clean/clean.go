// Package clean does close to the same as package mistakes, and nothing wrong.
package clean

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"example.com/bits"
	"example.com/det"
	"example.com/dice"
	"example.com/world"
)

type Ball struct {
	X, Y, VX, VY float64
	Hits         int
	Near         map[world.ID]*Ball
	Grid         [16]int
}

const gravity = 9.81

var names = []string{"red", "blue"}

func (b *Ball) Sync(s *bits.Sync) {
	s.Float(&b.X, 0, 100, 0.1)
	s.Int(&b.Hits, 0, 100)
}

func (b *Ball) Step(w *world.World, me world.ID) {
	w.Seed()
	b.maps()
	b.products(1.0 / 60)
	b.whole(w)
	b.others(w, me)
	if n := len(names); n > 0 {
		_ = strings.ToUpper(names[b.Hits%n])
	}
}

func (b *Ball) maps() {
	for _, id := range slices.Sorted(maps.Keys(b.Near)) {
		b.Near[id].Hits++
	}
	for _, o := range slices.SortedFunc(maps.Values(b.Near), func(x, y *Ball) int { return x.Hits - y.Hits }) {
		o.Hits++
	}
	var ids []world.ID
	for id := range b.Near {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids = ids[:0]
	for id, o := range b.Near {
		if o.Hits > 3 {
			ids = append(ids, id)
		}
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	keys := slices.Collect(maps.Keys(b.Near))
	slices.Sort(keys)
	n, any := 0, false
	for _, o := range b.Near {
		n += o.Hits
		if o.Hits > 3 {
			any = true
		}
	}
	for _, o := range b.Near {
		if o.Hits > 3 {
			any = true
			break
		}
	}
	other := map[world.ID]*Ball{}
	for id, o := range b.Near {
		other[id] = o
	}
	for id := range other {
		delete(other, id)
	}
	maps.Insert(other, maps.All(b.Near))
	clear(other)
	for range b.Near {
		b.Hits++
	}
	if b.anyone() && any {
		b.Hits = n
	}
}

func (b *Ball) anyone() bool {
	for _, o := range b.Near {
		if o.Hits > 0 {
			return true
		}
	}
	return false
}

type vec struct{ X, Y float64 }

func (v vec) add(w vec) vec       { return vec{v.X + w.X, v.Y + w.Y} }
func (v vec) scale(k float64) vec { return vec{float64(v.X * k), float64(v.Y * k)} }
func (v vec) dot(w vec) float64   { return float64(v.X*w.X) + float64(v.Y*w.Y) }
func mul(x, y float64) float64    { return x * y }

type meters float64

func (b *Ball) products(dt float64) {
	b.X += float64(b.VX * dt)
	b.VY -= float64(gravity * dt)
	b.Y += b.VY/3 + 2*b.VX - b.VX*0.5 // products by powers of two are exact
	area := b.X * b.Y                 // a product that is never added
	if area > 3 && b.X*b.X > b.Y {
		b.Hits++
	}
	i := b.Hits*3 + 4*b.Hits
	b.Grid[i&15]++
	p := vec{b.X, b.Y}.add(vec{b.VX, b.VY}.scale(dt))
	b.X, b.Y = p.X, p.dot(p)
	m := meters(b.X)
	m = meters(m*m) + 1
	q := b.X * dt
	q = 3
	b.X = q + 1
	b.VX = b.VX * 0.99
	b.Y += b.VY // another field
	if mul(b.X, b.Y) > 4 {
		b.Hits++
	}
	b.X = math.Sqrt(float64(b.X*b.X)+1) + math.Abs(b.X) + math.Floor(b.X) + min(b.X*b.Y, 3)
	b.X = float64(b.X*dt) + det.Sin(b.Y)
	switch {
	case b.X > 3:
		b.X *= 0.7
	case b.X > 2:
		b.X++
	}
	if b.Y > 3 {
		b.Y *= 0.7
	} else {
		b.Y++
	}
	const c = 2.5*3.5 + 1
}

func clamp[T float32 | float64](x, lo, hi T) T { return min(max(x, lo), hi) }

func (b *Ball) whole(w *world.World) {
	b.Hits = int(det.Int32(b.X))
	b.Hits = int(det.Clamp(b.X, 0, 100))
	b.Hits = int(clamp(b.X, -b.Y, b.Y))
	b.Hits = int(math.Floor(det.Clamp(b.X, 0, 100) / 7))
	b.Hits = int(float64(b.Hits) * 0.5)
	b.Hits = int(min(max(b.X, 0), 15))
	b.Hits = int(math.Max(0, math.Min(b.X, 15)))
	r := det.At(w.Seed(), 1, w.Tick)
	b.Grid[uint8(r.Float64()*15)]++
	x := det.Clamp(b.X, 0, 15)
	b.Grid[int(x)]++
	if b.X >= 0 && b.X < 15 {
		b.Grid[int(b.X)]++
	}
	y := b.Y
	if y < 0 {
		y = 0
	} else if y > 15 {
		y = 15
	}
	b.Grid[uint8(y)]++
	z := b.VX
	if !(z >= 0 && z <= 3) {
		return
	}
	b.Hits = int(z)
	b.Hits = int(3.0)
	switch {
	case b.X >= 15:
		b.Hits = 15
	case b.X >= 0:
		b.Hits = int(b.X)
	}
	v := b.VY
	switch {
	case v < 0:
		v = 0
	case v > 9:
		return
	}
	b.Hits = int(v)
	if math.Abs(b.VX) < 100 {
		b.Hits = int(b.VX)
	} else if !(b.VY < 0) && b.VY < 5 {
		b.Hits = int(b.VY)
	}
	b.Hits = int(det.Sin(b.X) * 7)
	b.Hits += int(w.Tick)
}

type shape interface{ area() float64 }
type square struct{ side float64 }

func (s square) area() float64 { return float64(s.side * s.side) }

func total(shapes []shape) (sum float64) {
	for _, s := range shapes {
		sum += s.area()
	}
	return sum
}

func (b *Ball) others(w *world.World, me world.ID) {
	b.X = total([]shape{square{b.X}})
	b.Hits = dice.Sides()
	b.Hits = dice.Twice(dice.Loaded{})
	b.Hits = dice.Best{}.Roll()
	b.X = dice.Sum(b.X, 3) + float64(dice.Mul(b.X, b.Y))
	local := map[string]int{}
	local[fmt.Sprint(me)] = 1
	d := 2 * time.Second
	if w.Tick > uint64(d/time.Second)*60 {
		b.Hits = 0
	}
	list := []int{1, 2}
	dice.Fill(list)
	fresh := &Ball{}
	fresh.Hits = 1
	var text strings.Builder
	text.WriteString("x")
	fmt.Fprintf(&text, "%d %v", b.Hits, b)
	copy(b.Grid[:], list)
	func() { b.Hits++ }()
}
