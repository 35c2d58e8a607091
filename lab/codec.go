package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/codec"
)

// CodecOptions say how strategies are measured. The zero value loses nothing.
type CodecOptions struct {
	// Loss is the share of frames that never arrive, from 0 up to but not including 1.
	Loss float64
	// Seed decides which ones.
	Seed uint64
	// Packet is the size that packets are kept within, in bytes. Default: 1150.
	Packet int
	// Rounds is how often everything is timed; the quickest counts. Default: 3.
	Rounds int
	// Progress, if set, is told how much of the work is done, from 0 to 1.
	Progress func(done float64)
}

func (o *CodecOptions) check() error {
	if o.Packet == 0 {
		o.Packet = 1150
	}
	if o.Rounds == 0 {
		o.Rounds = 3
	}
	switch {
	case !(o.Loss >= 0 && o.Loss < 1):
		return fmt.Errorf("a loss of %v: it must be at least 0 and below 1", o.Loss)
	case o.Packet < 64 || o.Packet > 1<<16:
		return fmt.Errorf("packets of %d bytes: it must be 64 to %d", o.Packet, 1<<16)
	case o.Rounds < 1:
		return fmt.Errorf("%d rounds: it must be at least 1", o.Rounds)
	}
	return nil
}

// CodecResult is what one strategy made of one workload. The JSON names are for scripts and stay.
type CodecResult struct {
	Workload string  `json:"workload"`
	Strategy string  `json:"strategy"`
	Loss     float64 `json:"loss"`

	BytesPerFrame   float64 `json:"bytes_per_frame"` // all packets of a frame with their headers, below those of the connection
	Kbps            float64 `json:"kbps"`            // thousands of bits a second
	PacketsPerFrame float64 `json:"packets_per_frame"`

	EncodePerEntity    float64 `json:"encode_ns_per_entity"`
	EncodePerChanged   float64 `json:"encode_ns_per_changed"`   // the same time, over the entities that differ from their base
	EncodePerUnchanged float64 `json:"encode_ns_per_unchanged"` // in frames where nothing differs
	DecodePerEntity    float64 `json:"decode_ns_per_entity"`

	// AllocsPerFrame counts allocations of encoder and decoder together, after both are warm.
	AllocsPerFrame float64 `json:"allocs_per_frame"`

	// Verified says that every frame that arrived was decoded, by a receiver that shares no memory with the sender, to exactly what was encoded.
	Verified bool   `json:"verified"`
	Wrong    string `json:"wrong,omitempty"` // what was not

	Tables string `json:"tables"` // which tables the strategy used
}

// Codec plays a workload by several strategies side by side: block of frames by block of frames, each strategy in turn, so that whatever else
// the machine does meets all of them alike. There is one result for each contender, in order.
func Codec(ctx context.Context, w *Workload, contenders []Contender, opt CodecOptions) ([]CodecResult, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	r := w.Recording
	arrived := arrivals(len(r.Frames), opt.Loss, opt.Seed)
	order := sendingOrder(r)
	lanes := make([]*lane, len(contenders))
	for i, c := range contenders {
		l, err := newLane(c, r, order, opt.Packet)
		if err != nil {
			return nil, fmt.Errorf("strategy %s: %w", c.Name, err)
		}
		lanes[i] = l
	}
	first := max(r.Skip, 1)
	for f := range first {
		if arrived[f] {
			for _, l := range lanes {
				l.receiver.hold(f, r.Frames[f])
			}
		}
	}
	m := &meter{recording: r, order: order, arrived: arrived, rounds: opt.Rounds}
	for at := first; at < len(r.Frames); at += blockFrames {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := m.block(lanes, at, min(at+blockFrames, len(r.Frames))); err != nil {
			return nil, err
		}
		if opt.Progress != nil {
			opt.Progress(float64(min(at+blockFrames, len(r.Frames))-first) / float64(len(r.Frames)-first))
		}
	}
	results := make([]CodecResult, len(lanes))
	for i, l := range lanes {
		results[i] = m.result(l, contenders[i])
		results[i].Workload, results[i].Loss = w.Name, opt.Loss
	}
	return results, nil
}

// result turns sums into what people ask for.
func (m *meter) result(l *lane, c Contender) CodecResult {
	frames, entities := float64(m.frames), float64(m.frames*len(m.order))
	res := CodecResult{
		Strategy:           c.Name,
		Tables:             c.Tables,
		BytesPerFrame:      round(float64(l.bytes)/frames, 2),
		Kbps:               round(float64(l.bytes)/frames*float64(m.recording.Rate)*8/1000, 2),
		PacketsPerFrame:    round(float64(l.packets)/frames, 3),
		EncodePerEntity:    round(float64(l.encode)/entities, 1),
		EncodePerChanged:   round(ratio(float64(l.encode), float64(m.changed)), 1),
		EncodePerUnchanged: round(float64(l.unchanged)/entities, 1),
		DecodePerEntity:    round(ratio(float64(l.decode), float64(m.received*len(m.order))), 1),
		AllocsPerFrame:     round(ratio(float64(l.encodeAllocs), float64(m.counted))+ratio(float64(l.decodeAllocs), float64(m.countedReceived)), 3),
	}
	if l.wrong != nil {
		res.Wrong = l.wrong.Error()
	}
	res.Verified = l.wrong == nil && l.verified == m.received
	return res
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func round(x float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(x*unit) / unit
}

// Check fails with what was wrong where a result was not verified.
func (r *CodecResult) Check() error {
	if r.Verified {
		return nil
	}
	return fmt.Errorf("%s on %s with loss %v: %s", r.Strategy, r.Workload, r.Loss, r.Wrong)
}

// errMismatch is wrapped where a frame decoded to something else.
var errMismatch = errors.New("decoded to something else")

// compare finds the first difference between what was sent and what came out.
func compare(r *codec.Recording, frame int, got []int32) error {
	want := r.Frames[frame]
	if slices.Equal(want, got) {
		return nil
	}
	i := 0
	for e, c := range r.Classes {
		class := &r.Schema.Classes[c]
		for _, f := range class.Fields {
			if want[i] != got[i] {
				return fmt.Errorf("frame %d, entity %d (%s), field %s: %d %w: %d", frame, e, class.Name, f.Name, want[i], errMismatch, got[i])
			}
			i++
		}
	}
	return nil
}
