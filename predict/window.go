package predict

import "slices"

// A window holds the measurements of the last while, so that both ends of what is usual can be read
// from it. Times are in seconds.
type window struct {
	span    float64 // how long a measurement counts
	at      []float64
	value   []float64
	scratch []float64
}

func newWindow(span float64, most int) window {
	return window{
		span: span, at: make([]float64, 0, most), value: make([]float64, 0, most),
		scratch: make([]float64, 0, most)}
}

// add takes a measurement and drops those that are too old, or the oldest if there are too many.
func (w *window) add(at, value float64) {
	old := 0
	for old < len(w.at) && at-w.at[old] > w.span {
		old++
	}
	if len(w.at)-old == cap(w.at) {
		old++
	}
	w.drop(old)
	w.at, w.value = append(w.at, at), append(w.value, value)
}

// drop forgets the oldest n.
func (w *window) drop(n int) {
	if n > 0 {
		w.at = w.at[:copy(w.at, w.at[n:])]
		w.value = w.value[:copy(w.value, w.value[n:])]
	}
}

// sorted gives the measurements in order of size, each as it would be by now if all of them drifted
// so much a second.
func (w *window) sorted(now, drift float64) []float64 {
	w.scratch = w.scratch[:0]
	for i, v := range w.value {
		w.scratch = append(w.scratch, v+drift*(now-w.at[i]))
	}
	slices.Sort(w.scratch)
	return w.scratch
}

// most is the largest of the newest n.
func (w *window) most(n int) float64 { return slices.Max(w.value[max(0, len(w.value)-n):]) }

// slope is by how much the measurements rise in a second, where they do so all the time. The
// medians of three thirds, which a few outliers do not move, make two slopes, and the flatter one
// counts: a step shows in one of them only. It is not ok while there are too few to tell.
func (w *window) slope() (perSecond float64, ok bool) {
	const enough = 24
	n := len(w.at)
	if n < enough || w.at[n-1]-w.at[0] < w.span/3 {
		return 0, false
	}
	var at, median [3]float64
	for i := range 3 {
		from, to := i*n/3, (i+1)*n/3
		for _, t := range w.at[from:to] {
			at[i] += t / float64(to-from)
		}
		w.scratch = append(w.scratch[:0], w.value[from:to]...)
		slices.Sort(w.scratch)
		median[i] = w.scratch[len(w.scratch)/2]
	}
	a, b := (median[1]-median[0])/(at[1]-at[0]), (median[2]-median[1])/(at[2]-at[1])
	switch {
	case a > 0 && b > 0:
		return min(a, b), true
	case a < 0 && b < 0:
		return max(a, b), true
	}
	return 0, true
}

// shifted says that the newest n lie above all that came before, by more than a margin: the
// measurements before belong to another time.
func (w *window) shifted(n int, margin float64) bool {
	old := len(w.value) - n
	if old < 1 {
		return false
	}
	return slices.Min(w.value[old:]) > slices.Max(w.value[:old])+margin
}
