package codeclab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/lab"
)

// Options say how strategies are measured. The zero value loses nothing.
type Options struct {
	Loss           float64
	Seed           uint64
	Packet, Rounds int
	Progress       lab.Progress
}

// mostLoss is below 1, where nothing would arrive.
var mostLoss = math.Nextafter(1, 0)

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Loss, "loss", 0, 0, mostLoss,
			"share of frames that never arrive (default: both 0 and 0.2)"),
		lab.Seed(&o.Seed, "which frames are lost"),
		lab.Number(&o.Packet, "packet", 1150, 64, 1<<16,
			"size that packets are kept within, in bytes"),
		lab.Number(&o.Rounds, "rounds", 3, 1, math.MaxInt,
			"how often everything is timed; the quickest counts"),
	}
}

// Results are those of several strategies, workloads and losses.
type Results []Result

// Result is what one strategy made of one workload. The JSON names are for scripts and stay.
type Result struct {
	Workload string  `json:"workload" head:"workload"`
	Strategy string  `json:"strategy" head:"strategy"`
	Loss     float64 `json:"loss" head:"loss" as:"%g %%"`

	// BytesPerFrame are all packets of a frame with their headers, below those of the connection.
	BytesPerFrame   float64 `json:"bytes_per_frame" head:"bytes /frame" as:"%.1f"`
	Kbps            float64 `json:"kbps" head:"kbit/s" as:"%.1f"` // thousands of bits a second
	PacketsPerFrame float64 `json:"packets_per_frame" head:"packets /frame" as:"%.2f"`

	EncodePerEntity float64 `json:"encode_ns_per_entity" head:"encode ns/entity" as:"%.0f"`
	// EncodePerChanged is the same time, over the entities that differ from their base; Times is
	// that against bit packing's.
	EncodePerChanged float64 `json:"encode_ns_per_changed" head:"ns per changed" as:"%.0f"`
	Times            float64 `json:"-" head:"x raw" as:"?%.2f"`
	// EncodePerUnchanged is in frames where nothing differs.
	EncodePerUnchanged float64 `json:"encode_ns_per_unchanged" head:"ns per unchanged" as:"%.0f"`
	DecodePerEntity    float64 `json:"decode_ns_per_entity" head:"decode ns/entity" as:"%.0f"`

	// AllocsPerFrame counts allocations of encoder and decoder together, after both are warm.
	AllocsPerFrame float64 `json:"allocs_per_frame" head:"allocs /frame"`

	// Verified says that every frame that arrived was decoded, by a receiver that shares no memory
	// with the sender, to exactly what was encoded.
	Verified bool   `json:"verified" head:"verified"`
	Wrong    string `json:"wrong,omitempty"` // what was not

	Tables string `json:"tables"` // which tables the strategy used
}

// Lines are the results.
func (r Results) Lines() []any { return lab.Lines(r) }

// Check fails with what was wrong where a result was not verified.
func (r Results) Check() error { return lab.CheckAll(r) }

// Report is a table, and says once for each workload which tables the codec used.
func (r Results) Report(p *lab.Report) {
	for _, rows := range lab.Groups(r,
		func(r *Result) string { return fmt.Sprint(r.Workload, r.Loss) }) {
		if i := slices.IndexFunc(rows, func(r Result) bool { return r.Strategy == "raw" }); i >= 0 {
			for k := range rows {
				rows[k].Times = lab.Ratio(rows[k].EncodePerChanged, rows[i].EncodePerChanged)
			}
		}
	}
	p.Table([]Result(r),
		"Workload, Strategy, Loss | BytesPerFrame, Kbps, PacketsPerFrame, EncodePerEntity, "+
			"EncodePerChanged, "+
			"Times, EncodePerUnchanged, DecodePerEntity, AllocsPerFrame, Verified")
	said := map[string]bool{}
	for _, x := range r {
		if x.Strategy == "coeval" && !said[x.Workload] {
			said[x.Workload] = true
			p.Say("tables of coeval for %s: %s", x.Workload, x.Tables)
		}
	}
}

// Compare plays a workload by several strategies side by side: block of frames by block of frames,
// each strategy in turn, so that whatever else the machine does meets all of them alike. There is
// one result for each contender, in order.
func Compare(ctx context.Context, w *Workload, contenders []Contender, opt Options) (Results,
	error) {
	if err := lab.Fill(opt.List()); err != nil {
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
		done := min(at+blockFrames, len(r.Frames)) - first
		opt.Progress.Tell(float64(done)/float64(len(r.Frames)-first),
			fmt.Sprintf("%s, loss %v", w.Name, opt.Loss))
	}
	results := make(Results, len(lanes))
	for i, l := range lanes {
		results[i] = m.result(l, contenders[i])
		results[i].Workload, results[i].Loss = w.Name, opt.Loss
	}
	return results, nil
}

// result turns sums into what people ask for.
func (m *meter) result(l *lane, c Contender) Result {
	frames, entities := float64(m.frames), float64(m.frames*len(m.order))
	res := Result{
		Strategy:           c.Name,
		Tables:             c.Tables,
		BytesPerFrame:      round(float64(l.bytes)/frames, 2),
		Kbps:               round(float64(l.bytes)/frames*float64(m.recording.Rate)*8/1000, 2),
		PacketsPerFrame:    round(float64(l.packets)/frames, 3),
		EncodePerEntity:    round(float64(l.encode)/entities, 1),
		EncodePerChanged:   round(lab.Ratio(float64(l.encode), float64(m.changed)), 1),
		EncodePerUnchanged: round(float64(l.unchanged)/entities, 1),
		DecodePerEntity: round(lab.Ratio(float64(l.decode), float64(m.received*len(m.order))),
			1),
		AllocsPerFrame: round(lab.Ratio(float64(l.encodeAllocs), float64(m.counted))+
			lab.Ratio(float64(l.decodeAllocs), float64(m.countedReceived)), 3),
	}
	if l.wrong != nil {
		res.Wrong = l.wrong.Error()
	}
	res.Verified = l.wrong == nil && l.verified == m.received
	return res
}

func round(x float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(x*unit) / unit
}

// Check fails with what was wrong where a result was not verified.
func (r *Result) Check() error {
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
				return fmt.Errorf("frame %d, entity %d (%s), field %s: %d %w: %d", frame, e,
					class.Name, f.Name, want[i], errMismatch, got[i])
			}
			i++
		}
	}
	return nil
}
