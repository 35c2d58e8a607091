package reckon

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
)

// A bodyCase is one reference vector: a body, a time, and where it leads.
type bodyCase struct {
	name    string
	model   Model
	body    Body
	seconds float64
	want    Body
}

func bodyCases(t testing.TB) (cases []bodyCase) {
	f, err := os.Open("testdata/dis-models.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		n := make([]float64, len(words)-2)
		for i := range n {
			if n[i], err = strconv.ParseFloat(words[i+2], 64); err != nil {
				t.Fatal(err)
			}
		}
		vec := func(i int) det.Vec3 { return det.Vec3{X: n[i], Y: n[i+1], Z: n[i+2]} }
		facing := func(i int) det.Quat {
			return det.Euler{Yaw: det.Angle(n[i]), Pitch: det.Angle(n[i+1]),
				Roll: det.Angle(n[i+2])}.Quat()
		}
		cases = append(cases, bodyCase{
			name: words[0] + " " + words[1], model: Model(n[0]), seconds: n[16],
			body: Body{Pos: vec(1), Vel: vec(4), Accel: vec(7), Facing: facing(10), Spin: vec(13)},
			want: Body{Pos: vec(17), Facing: facing(20)},
		})
	}
	return cases
}

func TestModelsAgainstReference(t *testing.T) {
	cases := bodyCases(t)
	if len(cases) != 360 {
		t.Fatalf("%d cases, not 40 of each of nine models", len(cases))
	}
	var place, turned float64
	for _, c := range cases {
		got := c.model.After(&c.body, c.seconds)
		off, turn := got.Pos.Sub(c.want.Pos).Len(), float64(got.Facing.To(c.want.Facing))
		if !(off <= 1e-6) || !(turn <= 1e-9) {
			t.Errorf("%s: off by %g m and %g rad", c.name, off, turn)
		}
		place, turned = max(place, off), max(turned, turn)
	}
	t.Logf("worst of %d: %.2g m, %.2g rad", len(cases), place, turned)
}

func drawVec3(t *rapid.T, name string, most float64) det.Vec3 {
	n := rapid.Float64Range(-most, most)
	return det.Vec3{X: n.Draw(t, name+".x"), Y: n.Draw(t, name+".y"), Z: n.Draw(t, name+".z")}
}

func drawBody(t *rapid.T) Body {
	spin := drawVec3(t, "spin", 3)
	spin = spin.Mul(math.Pow(10, float64(-rapid.IntRange(0, 12).Draw(t, "slow"))))
	return Body{Pos: drawVec3(t, "pos", 1e4), Vel: drawVec3(t, "vel", 300),
		Accel: drawVec3(t, "accel", 30), Facing: det.TurnBy(drawVec3(t, "facing", 3)), Spin: spin}
}

// Two steps lead to where one of their sum does, and a step back leads back, in every model.
func TestModelsCompose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, m := drawBody(t), Model(rapid.IntRange(0, 10).Draw(t, "model"))
		times := rapid.Float64Range(-10, 10)
		t1, t2 := times.Draw(t, "t1"), times.Draw(t, "t2")
		first := m.After(&b, t1)
		twice, once := m.After(&first, t2), m.After(&b, t1+t2)
		back := m.After(&first, -t1)
		for _, pair := range [][2]Body{{twice, once}, {back, b}} {
			if d := pair[0].Pos.Sub(pair[1].Pos).Len(); !(d < 1e-8) {
				t.Fatalf("%v: places differ by %g m", m, d)
			}
			if d := float64(pair[0].Facing.To(pair[1].Facing)); !(d < 1e-12) {
				t.Fatalf("%v: orientations differ by %g", m, d)
			}
			if d := pair[0].Vel.Sub(pair[1].Vel).Len(); !(d < 1e-9) {
				t.Fatalf("%v: velocities differ by %g m/s", m, d)
			}
		}
	})
}

// The world's velocity is how the place changes; and a body told in another model's axes moves, for
// a moment, as before.
func TestModelsAreSmooth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBody(t)
		m := Model(rapid.IntRange(int(FPW), int(FVB)).Draw(t, "model"))
		at := rapid.Float64Range(0, 5).Draw(t, "at")
		mid := m.After(&b, at)
		const h = 1e-3
		before, after := m.After(&b, at-h), m.After(&b, at+h)
		slope := after.Pos.Sub(before.Pos).Mul(1 / (2 * h))
		if d := slope.Sub(m.WorldVel(&mid)).Len(); !(d < 3e-2) {
			t.Fatalf("%v: velocity is off by %g m/s", m, d)
		}
		to := Model(rapid.SampledFrom([]Model{RVW, RVB}).Draw(t, "to"))
		if m != RVW && m != RVB {
			return
		}
		other := m.As(to, &mid)
		one, two := m.After(&mid, h), to.After(&other, h)
		if d := one.Pos.Sub(two.Pos).Len(); !(d < 1e-5) {
			t.Fatalf("%v as %v: off by %g m after %g s", m, to, d, h)
		}
	})
}

// What is not finite, or of no model, does no harm to what is.
func TestModelsTakeAnything(t *testing.T) {
	nan := math.NaN()
	b := Body{Pos: det.Vec3{X: 1}, Vel: det.Vec3{X: 5}, Facing: det.Identity}
	for m := range Model(12) {
		if got := m.After(&b, nan); got != b {
			t.Errorf("%v, no time at all: %v", m, got)
		}
		wild := b
		wild.Spin = det.Vec3{Z: math.Inf(1)}
		if got := m.After(&wild, 1); got.Facing != det.Identity {
			t.Errorf("%v, endless spin: %v", m, got.Facing)
		}
		if m.String() == "" {
			t.Error("no name")
		}
	}
	if got := Model(0).After(&b, 5); got != b {
		t.Errorf("no model, but it moved to %v", got.Pos)
	}
}

// ten thousand bodies, each with a model of its own, reckoned to now.
func BenchmarkModels(b *testing.B) {
	cases := bodyCases(b)
	for m := Static; m <= FVB; m++ {
		b.Run(m.String(), func(b *testing.B) {
			b.ReportAllocs()
			c := cases[(int(m)-1)*40+3]
			var sink Body
			for b.Loop() {
				sink = m.After(&c.body, 0.3)
			}
			_ = sink
		})
	}
}
