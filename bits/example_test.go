package bits_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
)

type Tank struct {
	Pos     det.Vec2
	Turret  det.Angle
	Health  int
	Burning bool
	Heat    int
}

// Sync names every networked field once; it reads and it writes.
func (t *Tank) Sync(s *bits.Sync) {
	s.Vec2(&t.Pos, 0, 1024, 1.0/32)
	s.Angle(&t.Turret, 10)
	s.Int(&t.Health, 0, 100)
	if s.Bool(&t.Burning) {
		s.Int(&t.Heat, 0, 10)
	}
}

func Example() {
	tank := Tank{Pos: det.Vec2{X: 100.01, Y: 7}, Turret: 1, Health: 80, Burning: true, Heat: 3}

	var s bits.Sync
	w := bits.NewWriter(make([]byte, 1200))
	s.StartWrite(w)
	tank.Sync(&s)
	fmt.Println(w.Len(), "bits, error", s.Err())

	var got Tank
	r := bits.NewReader(w.Bytes())
	s.StartRead(r)
	got.Sync(&s)
	fmt.Printf("%.4f %.3f %d %d, error %v\n", got.Pos, got.Turret, got.Health, got.Heat, r.Finish())
	// Output:
	// 54 bits, error <nil>
	// {100.0000 7.0000} 1.000 80 3, error <nil>
}

// A layout is made once for a type. Then each entity's fields become numbers, each in its place
// whichever branch is taken.
func ExampleLayout() {
	layout, err := bits.NewLayout((*Tank)(nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, slot := range layout.Schema().Slots {
		fmt.Printf("%-8s %-6v %d..%d\n", slot.Name, slot.Kind, slot.Min, slot.Max)
	}

	var s bits.Sync
	image := make([]int32, layout.Len())
	tank := Tank{Pos: det.Vec2{X: 100.01, Y: 7}, Health: 80}
	// the tank now holds what a reader of the image will hold
	if err := layout.QuantiseInto(&s, &tank, image); err != nil {
		fmt.Println(err)
	}
	fmt.Println(image, tank.Pos)
	tank.Burning, tank.Heat = true, 3
	if err := layout.QuantiseInto(&s, &tank, image); err != nil {
		fmt.Println(err)
	}
	fmt.Println(image)
	// Output:
	// Pos.X    vec2   0..32768
	// Pos.Y    vec2   0..32768
	// Turret   angle  -512..511
	// Health   int    0..100
	// Burning  bool   0..1
	// Heat     int    0..10
	// [3200 224 0 80 0 0] {100 7}
	// [3200 224 0 80 1 3]
}

// In development, values that a field cannot hold are reported by name.
func ExampleSync_SetStrict() {
	layout := bits.MustLayout((*Tank)(nil))
	var s bits.Sync
	s.SetStrict(true)
	fmt.Println(layout.Quantise(&s, &Tank{Health: 120}))
	// Output:
	// bits: bits_test.Tank.Health: value out of range: int was given 120, not in 0..100
}

type Shell struct {
	Kind   uint8
	Target bits.Option[uint32]
}

func (h *Shell) Sync(s *bits.Sync) {
	bits.Enum(s, &h.Kind, 3)
	bits.Optional(s, &h.Target, func(id *uint32, s *bits.Sync) { s.Uint32(id, 0, 4095) })
}

func ExampleSlice() {
	shells := []Shell{{Kind: 2}, {Kind: 1, Target: bits.Some(uint32(77))}}

	var s bits.Sync
	w := bits.NewWriter(make([]byte, 100))
	s.StartWrite(w)
	bits.Slice(&s, &shells, 8, (*Shell).Sync)

	var got []Shell
	s.StartRead(bits.NewReader(w.Bytes()))
	bits.Slice(&s, &got, 8, (*Shell).Sync)
	fmt.Println(w.Len(), "bits:", got, s.Err())
	// Output:
	// 22 bits: [{2 {0 false}} {1 {77 true}}] <nil>
}
