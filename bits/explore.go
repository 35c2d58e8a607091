package bits

import (
	"reflect"
	"unsafe"
)

// How much is tried. Trying is cheap (about a microsecond a run) and done once.
const (
	maxPaths  = 1024 // if there are no more ways through the branches than this, all are tried
	maxSingle = 4096 // runs in which one choice differs from all the others
	randoms   = 256  // runs with random choices
	samples   = 8    // of which so many values are kept for trying to write and read them
)

// A definer runs a Sync method on values of its own making, chooses the values that branches may
// depend on, and notes which fields it meets. First it goes through all combinations of bools,
// enumerations and lengths, as long as there are not too many; then it lets each choice, numbers
// too, differ alone; then it tries random ones. A branch that all this misses is found out when it
// is first taken: then the field is unknown, which is an error.
type definer struct {
	typ     reflect.Type
	root    *sketch
	at      *sketch // the struct or element at hand
	slice   *sketch // the element type of the slice last met
	choices []choice
	policy  func(i int, c choice) int
	random  uint64 // not zero: numbers are random too
	err     error
	samples []Syncer
}

// A choice is one that was made in a run: got of n. A branch is one that combinations are tried of.
type choice struct {
	n, got int
	branch bool
}

func (d *definer) explore() error {
	// All ways through, in the manner of an odometer over the branches.
	var prefix []int
	for range maxPaths {
		branch := 0
		d.run(func(_ int, c choice) int {
			if !c.branch {
				return 0
			}
			branch++
			if branch <= len(prefix) {
				return prefix[branch-1]
			}
			return 0
		})
		prefix = prefix[:0]
		last := 0
		for _, c := range d.choices {
			if c.branch {
				prefix = append(prefix, c.got)
				if c.got+1 < c.n {
					last = len(prefix)
				}
			}
		}
		if d.err != nil || last == 0 {
			break
		}
		prefix = prefix[:last]
		prefix[last-1]++
	}
	// One different from all the others, which take their first or their last.
	runs := 0
	for _, first := range []bool{true, false} {
		base := func(_ int, c choice) int {
			if first {
				return 0
			}
			return c.n - 1
		}
		d.samples = append(d.samples, d.run(base))
		for i, c := range append([]choice(nil), d.choices...) {
			for o := 0; o < c.n && runs < maxSingle && d.err == nil; o++ {
				if o == c.got {
					continue
				}
				runs++
				d.run(func(j int, c choice) int {
					if j == i {
						return min(o, c.n-1)
					}
					return base(j, c)
				})
			}
		}
	}
	for i := 0; i < randoms && d.err == nil; i++ {
		d.random = uint64(i + 1)
		v := d.run(func(_ int, c choice) int { return int(d.draw() % uint64(c.n)) })
		if i < samples {
			d.samples = append(d.samples, v)
		}
	}
	return d.err
}

// run goes through the Sync method once, and gives the value that resulted. The policy makes choice
// i of the run.
func (d *definer) run(policy func(i int, c choice) int) (sample Syncer) {
	if d.err != nil {
		return nil
	}
	v := reflect.New(d.typ)
	s := &Sync{mode: describing, def: d}
	d.policy, d.choices = policy, d.choices[:0]
	defer func() {
		if r := recover(); r != nil {
			d.err = &FieldError{
				Type: d.typ.String(), Err: ErrUse,
				Detail: "the Sync method panics on a zero value: " + panicText(r)}
		}
	}()
	d.at = d.root
	d.root.begin(v.UnsafePointer())
	sample = v.Interface().(Syncer)
	sample.Sync(s)
	if d.err == nil {
		d.err = d.root.end()
	}
	if d.err == nil {
		d.err = s.err
	}
	d.err = named(d.err, d.typ.String())
	return sample
}

func (d *definer) choose(n int, branch bool) int {
	c := choice{n: n, branch: branch}
	if n > 1 {
		c.got = d.policy(len(d.choices), c)
		d.choices = append(d.choices, c)
	}
	return c.got
}

// draw is a step of SplitMix64, good enough to try things with.
func (d *definer) draw() uint64 {
	d.random += 0x9e3779b97f4a7c15
	z := d.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (d *definer) value(kind Kind, lo, hi int32) int32 {
	none := nearestZero(lo, hi)
	span := uint64(uint32(hi - lo))
	few := span < 16 || kind == KindEnum && span < 256
	switch {
	case d.random != 0 && !few:
		return lo + int32(d.draw()%(span+1))
	case few:
		// All of them, the value nearest to zero first.
		o := uint64(d.choose(int(span+1), kind == KindBool || kind == KindEnum))
		return lo + int32((uint64(uint32(none-lo))+o)%(span+1))
	}
	return [...]int32{none, lo, hi}[d.choose(3, false)]
}

// numbers chooses the values of a field of several.
func (d *definer) numbers(p unsafe.Pointer, kind Kind, n int, k, lo, hi *[4]int32, aux uint64) {
	d.at.meet(p, kind, int32(n), *lo, *hi, aux)
	switch kind {
	case KindDirection, KindCoarseDirection, KindQuat:
		return // not every combination is one: keep what the scratch value gave
	}
	for i := range n {
		k[i] = d.value(kind, lo[i], hi[i])
	}
}

// length chooses the length of a string or slice: none, one or all.
func (d *definer) length(p unsafe.Pointer, kind Kind, limit int, size *uintptr) int32 {
	slots, aux := int32(1+(limit+3)/4), uint64(0)
	if size != nil {
		slots, aux = 1, uint64(*size)
	}
	f := d.at.meet(p, kind, slots, [4]int32{}, [4]int32{int32(limit)}, aux)
	if size != nil {
		if f.item == nil {
			f.item = &sketch{typ: elementType(d.at.typ, f.offset), size: *size}
		}
		d.slice = f.item
	}
	lengths := [...]int{0, min(1, limit), limit}
	return int32(lengths[d.choose(3, size != nil)])
}

// enter makes an element of the slice last met the struct at hand, and gives what leave needs to go
// back.
func (d *definer) enter(p unsafe.Pointer) *sketch {
	out := d.at
	d.at = d.slice
	d.at.begin(p)
	return out
}

func (d *definer) leave(out *sketch) {
	if err := d.at.end(); err != nil && d.err == nil {
		d.err = err
	}
	d.at = out
}

func panicText(r any) string {
	switch r := r.(type) {
	case error:
		return r.Error()
	case string:
		return r
	}
	return "with a value of type " + reflect.TypeOf(r).String()
}
