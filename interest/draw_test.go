package interest

import (
	"math"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
	"pgregory.net/rapid"
)

// drawSource makes up a source, with others inside it while depth lasts.
func drawSource(t *rapid.T, depth int) Source {
	number := func(name string, of ...float64) float64 {
		return rapid.SampledFrom(of).Draw(t, name)
	}
	classes := rapid.SampledFrom([]Classes{{}, ClassesOf(1), ClassesOf(0, 2)})
	last := 5
	if depth > 0 {
		last = 10
	}
	switch rapid.IntRange(0, last).Draw(t, "source") {
	case 0, 1:
		return &Radius{
			Enter: number("enter", 0, 5, 12, 30, 1e9), Leave: number("leave", 0, 10, 20, 35),
			Far:    number("far", 0, 0.5, 1),
			Weight: number("weight", 0, 2), Classes: classes.Draw(t, "classes")}
	case 2:
		return &Sound{
			Hearing: number("hearing", 0, 0.5, 3), Hold: number("hold", 0, 1, 2),
			Far:    number("far", 0, 0.5),
			Weight: number("weight", 0, 0.5), Classes: classes.Draw(t, "classes")}
	case 3:
		return &Always{Weight: number("weight", 0, 0.5)}
	case 4:
		return &Owned{Weight: number("weight", 0, 9)}
	case 5:
		return &Channel{
			Of: rapid.Uint64Range(0, 7).Draw(t, "of"), Weight: number("weight", 0, 0.25)}
	case 6:
		return &Everything{Weight: number("weight", 0, 0.01)}
	case 7:
		return Any{drawSource(t, depth-1), drawSource(t, depth-1)}
	case 8:
		if rapid.Bool().Draw(t, "where") {
			return &Where{drawSource(t, depth-1), drawSource(t, depth-1)}
		}
		return &Except{drawSource(t, depth-1), drawSource(t, depth-1)}
	case 9:
		return &Relevance{
			Of: drawSource(t, depth-1), Judge: judge, Steady: rapid.Bool().Draw(t, "steady")}
	}
	return &Limit{
		Of: drawSource(t, depth-1), Max: rapid.IntRange(0, 6).Draw(t, "max"),
		Keep: number("keep", 0, -1, 3)}
}

// judge is a game's relevance: it looks at all that it is given.
func judge(o *Observer, id world.ID, t *Traits) float64 {
	switch {
	case id.Index()%5 == 4:
		return -1
	case t.Pos.X > o.Pos.X:
		return 1.5
	}
	return 1
}

func drawRules(t *rapid.T) *Rules {
	r := &Rules{Weights: rapid.SampledFrom([][]float32{nil, {2}, {0, 0.5, -1}}).Draw(t, "weights")}
	for range rapid.IntRange(1, 4).Draw(t, "sources") {
		r.Sources = append(r.Sources, drawSource(t, 2))
	}
	return r
}

// drawPos is mostly on a coarse lattice, so that distances are often exactly those of a border, and
// sometimes absurd.
func drawPos(t *rapid.T) det.Vec3 {
	axis := rapid.Custom(func(t *rapid.T) float64 {
		switch rapid.IntRange(0, 40).Draw(t, "where") {
		case 40:
			return rapid.SampledFrom([]float64{1e6, -3e9, 1e18, -1e300}).Draw(t, "far away")
		case 36, 37, 38, 39:
			return rapid.Float64Range(-40, 40).Draw(t, "anywhere")
		}
		return float64(rapid.IntRange(-40, 40).Draw(t, "lattice"))
	})
	p := det.Vec3{X: axis.Draw(t, "x"), Y: axis.Draw(t, "y")}
	if rapid.IntRange(0, 3).Draw(t, "up") == 3 {
		p.Z = axis.Draw(t, "z")
	}
	if rapid.IntRange(0, 60).Draw(t, "absurd") == 60 {
		p.X = rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "x")
	}
	return p
}

func drawTraits(t *rapid.T) Traits {
	v := Traits{Pos: drawPos(t)}
	some := func(name string, p int) bool { return rapid.IntRange(0, p).Draw(t, name) == p }
	number := func(name string, of ...float64) float64 {
		return rapid.SampledFrom(of).Draw(t, name)
	}
	if some("moves", 1) {
		v.Speed = number("speed", 4, 20, 400)
	}
	if some("large", 4) {
		v.Nimbus = number("nimbus", 2, 25, 3000)
	}
	if some("loud", 2) {
		v.Sound = number("sound", 3, 20, 90, 5000)
	}
	if some("important", 4) {
		v.Importance = float32(number("importance", 3, 0.5, -1))
	}
	if some("owned", 3) {
		v.Owner = world.Player(rapid.IntRange(1, 3).Draw(t, "owner"))
	}
	if some("told", 4) {
		v.Channels = rapid.Uint64Range(1, 7).Draw(t, "channels")
	}
	if some("hidden", 6) {
		v.Only = rapid.Uint64Range(1, 7).Draw(t, "only")
	}
	v.Always, v.Never, v.Nowhere = some("always", 8), some("never", 12), some("nowhere", 12)
	return v
}

func drawObserver(t *rapid.T) Observer {
	p := drawPos(t)
	if math.IsNaN(p.X) || math.IsInf(p.X, 0) {
		p.X = 0
	}
	return Observer{
		Pos:       p,
		Speed:     rapid.SampledFrom([]float64{0, 10, 100}).Draw(t, "speed"),
		RoundTrip: time.Duration(rapid.IntRange(0, 400).Draw(t, "round trip")) * time.Millisecond,
		Player:    world.Player(rapid.IntRange(0, 4).Draw(t, "player")),
		Channels:  rapid.Uint64Range(0, 7).Draw(t, "channels"),
	}
}
