package codec

// Depth is how many acknowledged images of an entity the codec looks at: the
// base, and older ones that tell how the entity was moving.
const Depth = 4

// Lag is how much older than the base the i-th image of a History should be,
// in ticks, where the receiver acknowledged one of about that age. The further
// the base lies back, the further apart they may be: close ones follow a change of
// motion sooner, distant ones average out quantisation.
func Lag(i int, base int32) int32 {
	unit := max(1, (base+1)/3)
	return [Depth]int32{0, 1, 2, 4}[i] * unit
}

// History is what sender and receiver are both known to hold of one entity:
// acknowledged images, newest first. Only what is in it may influence how the
// entity is coded, so a packet that was lost can never corrupt a later one.
type History struct {
	Images [Depth][]int32 // Images[0] is the base
	Ages   [Depth]int32   // how many ticks before now each was true; rising
	Len    int            // how many are known
}

// Reset forgets all images.
func (h *History) Reset() { h.Len = 0 }

// Add appends an image that is older than those added before. Images beyond
// Depth, or not older, are ignored.
func (h *History) Add(image []int32, age int32) {
	if h.Len == Depth || h.Len > 0 && age <= h.Ages[h.Len-1] {
		return
	}
	h.Images[h.Len], h.Ages[h.Len] = image, age
	h.Len++
}

// maxAge bounds ages in arithmetic; older images count as this old.
const maxAge = 255

// gaps returns the age of the base, bounded, and how many ticks lie between
// each image and the next older one, 0 where there is none.
func (h *History) gaps() (base int64, between [Depth - 1]int64) {
	base = int64(min(max(h.Ages[0], 1), maxAge))
	for i := 1; i < h.Len; i++ {
		between[i-1] = int64(min(h.Ages[i]-h.Ages[i-1], maxAge))
	}
	return base, between
}
