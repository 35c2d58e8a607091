package arena

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// work is what a tick is computed with: the scene, and who stands where. It is made anew at the
// start of every tick from the entities alone, so it is no part of the world: a copy, a save or a
// client that holds only some of the entities comes to its own.
type work struct {
	scene Scene
	from  det.Vec2               // where the shot is that is judged
	clear func(to det.Vec3) bool // whether nothing stands between it and a place

	ids      []world.ID // those who live, in order
	fighters []*Fighter
	cols     int
	rows     int
	start    []int32 // by bucket: where its members begin in order
	order    []int32 // indices of fighters, bucket by bucket
	found    []int32
}

const (
	bucket = 4.0 // side of a bucket
	// drift is how far someone may have gone since the buckets were filled: the way of one tick at
	// top speed, and a push or two.
	drift = 1.0
)

// gather looks around.
func (k *work) gather(w *world.World, m *Match) {
	k.ids, k.fighters = k.ids[:0], k.fighters[:0]
	if !k.scene.Look(w) {
		return
	}
	k.cols, k.rows = (m.level.Width+3)/bucket, (m.level.Height+3)/bucket
	n := k.cols*k.rows + 1
	if cap(k.start) < n+1 {
		k.start = make([]int32, n+1)
	}
	k.start = k.start[:n+1]
	clear(k.start)
	for id, f := range world.All[Fighter](w) {
		if f.Health > 0 {
			k.ids, k.fighters = append(k.ids, id), append(k.fighters, f)
			k.start[k.bucket(f.Pos)+2]++
		}
	}
	// A sort by counting: two places on, start holds how many are in a bucket; then one place on,
	// where the bucket begins; and after filling, in place.
	for i := 2; i < len(k.start); i++ {
		k.start[i] += k.start[i-1]
	}
	k.order = k.order[:0]
	for i := range k.fighters {
		k.order = append(k.order, int32(i))
	}
	for i, f := range k.fighters {
		b := k.bucket(f.Pos) + 1
		k.order[k.start[b]] = int32(i)
		k.start[b]++
	}
}

func (k *work) bucket(p det.Vec2) int {
	x, y := k.axis(p.X, k.cols), k.axis(p.Y, k.rows)
	return y*k.cols + x
}

func (k *work) axis(x float64, n int) int {
	return min(max(int(det.Int32(x*(1/bucket))), 0), n-1)
}

// near lists who may be within a distance of a point, as indices, in an order that depends only on
// where they are. The list is good until the next call.
func (k *work) near(p det.Vec2, distance float64) []int32 {
	k.found = k.found[:0]
	distance += drift
	x0, x1 := k.axis(p.X-distance, k.cols), k.axis(p.X+distance, k.cols)
	y0, y1 := k.axis(p.Y-distance, k.rows), k.axis(p.Y+distance, k.rows)
	for y := y0; y <= y1; y++ {
		// Buckets side by side are one stretch.
		k.found = append(k.found, k.order[k.start[y*k.cols+x0]:k.start[y*k.cols+x1+1]]...)
	}
	return k.found
}
