package replica

import "github.com/coeval-dev/coeval/codec"

// depth is how many acknowledged images of an entity a history is chosen
// from: the newest that many.
const depth = 12

// choose picks from images that a client acknowledged, newest first, those
// that the codec should look at: the newest, and older ones about codec.Lag behind it. ticks
// are when each was true. Sender and receiver call it with the same ticks, and
// so agree on the result without a word.
func choose(now uint32, ticks []uint32) (picked [codec.Depth]int, n int) {
	if len(ticks) == 0 {
		return picked, 0
	}
	n = 1
	base := int32(Age(now, ticks[0]))
	last := base
	for i := 1; i < codec.Depth; i++ {
		want := max(base+codec.Lag(i, base), last+1)
		j := picked[n-1] + 1
		for j < len(ticks) && int32(now-ticks[j]) < want {
			j++
		}
		if j == len(ticks) {
			break
		}
		picked[n] = j
		n++
		last = int32(now - ticks[j])
	}
	return picked, n
}
