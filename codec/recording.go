package codec

// Recording is a run of a game as the codec sees it: the images of a fixed
// number of entities, frame by frame. Tables are trained from recordings, and
// benchmarks play them.
type Recording struct {
	Schema  *Schema
	Classes []int     // the class of each entity, as an index into Schema.Classes
	Frames  [][]int32 // for each frame the images of all entities, one after another
	Rate    int       // frames a second
	BaseAge int       // how old the newest acknowledged frame is when one is encoded
	Skip    int       // frames at the start that do not count
	Refer   int       // the entity that others may be carried by, or -1
	offsets []int
}

// Image is one entity at one frame.
func (r *Recording) Image(frame, entity int) []int32 {
	if r.offsets == nil {
		r.offsets = make([]int, len(r.Classes)+1)
		for i, c := range r.Classes {
			r.offsets[i+1] = r.offsets[i] + len(r.Schema.Classes[c].Fields)
		}
	}
	return r.Frames[frame][r.offsets[entity]:r.offsets[entity+1]]
}

// Known lists the frames that a receiver has acknowledged when a frame is
// encoded, as far as a History looks at them: the newest that is at least
// BaseAge old, and older ones about Lag behind it. arrived tells which frames
// were received; nil means all.
func (r *Recording) Known(frame int, arrived []bool) (frames [Depth]int, n int) {
	have := func(f int) bool { return f >= 0 && (arrived == nil || arrived[f]) }
	f := frame - r.BaseAge
	for f >= 0 && !have(f) {
		f--
	}
	if f < 0 {
		return frames, 0
	}
	frames[0], n = f, 1
	for i := 1; i < Depth; i++ {
		g := min(frames[0]-int(Lag(i, int32(frame-f))), frames[n-1]-1)
		for g >= 0 && !have(g) {
			g--
		}
		if g < 0 {
			break
		}
		frames[n] = g
		n++
	}
	return frames, n
}

// History fills in what is known of one entity from a list of frames.
func (r *Recording) History(h *History, entity, frame int, known []int) {
	h.Reset()
	for _, f := range known {
		h.Add(r.Image(f, entity), int32(frame-f))
	}
}
