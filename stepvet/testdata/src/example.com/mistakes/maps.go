package mistakes

import (
	"maps"
	"reflect"
	"slices"

	"example.com/world"
)

func (b *Ball) maps() {
	for id := range b.Near { // want `the order of a map differs in every run; go over slices.Sorted\(maps.Keys\(m\)\), or keep a slice \(reached by \(\*Ball\).Step > \(\*Ball\).maps\) \[mapiter\]`
		b.Out = append(b.Out, int(id))
	}
	for o := range b.Owner { // want `pointers cannot be sorted`
		o.hit()
	}
	sum := 0.0
	for _, o := range b.Near { // want `\[mapiter\]`
		sum += o.X
	}
	n := 0
	for _, o := range b.Near { // want `\[mapiter\]`
		n += o.Hits
		n ^= o.Hits
	}
	var last world.ID
	for last = range b.Near { // want `\[mapiter\]`
	}
	for id, o := range b.Near { // want `\[mapiter\]`
		if o.Hits > 3 {
			last = id
			break
		}
	}
	for _, o := range b.Near { // want `\[mapiter\]`
		if o.Hits > n {
			n++
		}
	}
	keys := slices.Collect(maps.Keys(b.Near)) // want `maps.Keys comes in another order in every run; sort it with slices.Sorted, or keep a slice.*\[mapiter\]`
	for _, k := range keys {
		b.Hits += int(k)
	}
	for _, o := range maps.All(b.Near) { // want `maps.All comes in another order`
		o.hit()
	}
	reflect.ValueOf(b.Near).MapKeys() // want `reflect.Value.MapKeys comes in another order`
	generic(b.Near)
	_ = last
	_ = sum
}

func (b *Ball) hit() { b.Hits++ }

func generic[M ~map[K]V, K comparable, V any](m M) (out []K) {
	for k := range m { // want `\[mapiter\]`
		out = append(out, k)
	}
	return out
}

func (b *Ball) first() *Ball {
	for _, o := range b.Near { // want `reached by \(\*Ball\).Step > \(\*Ball\).elsewhere > \(\*Ball\).first`
		return o
	}
	return nil
}
