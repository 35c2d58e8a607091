package codeclab

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/det"
)

// window is how many frames a receiver keeps, besides the very first. Older ones cannot be a base.
const window = 256

// arrivals draws which frames arrive. The first one always does: it is the state that the map
// starts with, which both sides load.
func arrivals(frames int, loss float64, seed uint64) []bool {
	arrived := make([]bool, frames)
	r := det.At(seed, 0, 0)
	for i := range arrived {
		arrived[i] = !r.Chance(loss) || i == 0
	}
	return arrived
}

// knownFrames lists the frames that both sides are known to hold when a frame is encoded, newest
// first.
func knownFrames(r *codec.Recording, frame int, arrived []bool) (known [codec.Depth]int, n int) {
	all, count := r.Known(frame, arrived)
	for _, f := range all[:count] {
		if f == 0 || frame-f < window {
			known[n] = f
			n++
		}
	}
	return known, max(n, 1) // the first frame where nothing else is known
}

// A receiver decodes frames into memory of its own. It is told how a recording is laid out, and
// after that gets nothing but packets.
type receiver struct {
	dec   codec.PacketDecoder
	order []int
	// as far as the receiver knows it: frames that did not arrive, or are too old, are nil
	recording codec.Recording
	ring      [window][]int32
	arrived   []bool
	frame     int // which is being decoded
	histories []codec.History
	images    [][]int32  // of that frame, by rank
	again     []int32    // the reference entity where it is repeated
	mail      [][][]byte // packets of the frames of a block, copied
	spare     [][]byte   // buffers for them
}

func newReceiver(r *codec.Recording, dec codec.PacketDecoder, order []int) *receiver {
	v := &receiver{
		dec:       dec,
		order:     append([]int(nil), order...),
		arrived:   make([]bool, len(r.Frames)),
		histories: make([]codec.History, len(order)),
		images:    make([][]int32, len(order)),
		mail:      make([][][]byte, blockFrames),
	}
	v.recording = codec.Recording{
		Schema:  cloneSchema(r.Schema),
		Classes: append([]int(nil), r.Classes...),
		Frames:  make([][]int32, len(r.Frames)),
		BaseAge: r.BaseAge,
		Refer:   r.Refer,
	}
	for i := range v.ring {
		v.ring[i] = make([]int32, len(r.Frames[0]))
	}
	v.recording.Frames[0] = append([]int32(nil), r.Frames[0]...)
	v.arrived[0] = true
	v.again = make([]int32, codec.MaxFields)
	return v
}

// hold gives the receiver a frame from before the start.
func (v *receiver) hold(frame int, image []int32) {
	if frame > 0 {
		copy(v.room(frame), image)
		v.arrived[frame] = true
	}
}

// room makes room for a frame, over the oldest one.
func (v *receiver) room(frame int) []int32 {
	if old := frame - window; old > 0 {
		v.recording.Frames[old] = nil
	}
	v.recording.Frames[frame] = v.ring[frame%window]
	return v.recording.Frames[frame]
}

// image is a frame as it was decoded.
func (v *receiver) image(frame int) []int32 { return v.recording.Frames[frame] }

// post delivers the packets of the block's frame number slot, as copies.
func (v *receiver) post(slot int, packets [][]byte) {
	v.spare = append(v.spare, v.mail[slot]...)
	v.mail[slot] = v.mail[slot][:0]
	for _, p := range packets {
		var b []byte
		if n := len(v.spare); n > 0 {
			b, v.spare = v.spare[n-1], v.spare[:n-1]
		} else {
			b = make([]byte, 0, 2048)
		}
		v.mail[slot] = append(v.mail[slot], append(b[:0], p...))
	}
}

// prepare gathers what is known of every entity before a frame is decoded.
func (v *receiver) prepare(frame int) {
	known, n := knownFrames(&v.recording, frame, v.arrived)
	clear(v.room(frame))
	for i, e := range v.order {
		v.recording.History(&v.histories[i], e, frame, known[:n])
		v.images[i] = v.recording.Image(frame, e)
	}
	v.frame = frame
	v.arrived[frame] = true
}

var errPacket = errors.New("the packet's header makes no sense")

// decode reads all packets of a frame, which may come in any order as long as each entity comes
// once.
func (v *receiver) decode(slot int) error {
	seen := 0
	for _, p := range v.mail[slot] {
		n, err := v.packet(p)
		if err != nil {
			return err
		}
		seen += n
	}
	if seen != len(v.order) {
		return fmt.Errorf("%d of %d entities arrived", seen, len(v.order))
	}
	return nil
}

// packet reads one packet and says how many entities came with it.
func (v *receiver) packet(p []byte) (count int, err error) {
	first := 0
	switch {
	case len(p) >= wholeHeader && p[0] == 0:
		count, p = len(v.order), p[wholeHeader:]
	case len(p) >= partHeader && p[0] == 1:
		first, count = int(binary.LittleEndian.Uint16(p[1:])),
			int(binary.LittleEndian.Uint16(p[3:]))
		p = p[partHeader:]
	default:
		return 0, errPacket
	}
	if first+count > len(v.order) {
		return 0, errPacket
	}
	v.dec.Begin(p)
	if first > 0 && v.recording.Refer >= 0 {
		if err := v.get(0, v.again[:len(v.images[0])]); err != nil {
			return 0, err
		}
	}
	for rank := first; rank < first+count; rank++ {
		if err := v.get(rank, v.images[rank]); err != nil {
			return 0, err
		}
	}
	return count, v.dec.Finish()
}

func (v *receiver) get(rank int, now []int32) error {
	class := v.recording.Classes[v.order[rank]]
	h := &v.histories[rank]
	if _, err := v.dec.Get(class, h, now); err != nil {
		return fmt.Errorf("entity %d: %w", v.order[rank], err)
	}
	if rank == 0 && v.recording.Refer >= 0 {
		v.dec.Refer(class, h, now)
	}
	return nil
}
