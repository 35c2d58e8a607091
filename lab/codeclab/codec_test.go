package codeclab_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/raw"
	"github.com/coeval-dev/coeval/lab/codeclab"
)

// Every strategy survives every loss, in packets so small that each frame takes several.
func TestCodecVerifies(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs in one goroutine")
	}
	w := tanks(t, 400)
	sizes := map[string]float64{}
	for _, loss := range []float64{0, 0.2, 0.97} {
		for _, packet := range []int{128, 1150} {
			done := 0.0
			results, err := codeclab.Compare(t.Context(), w, contenders(t, w.Recording.Schema),
				codeclab.Options{
					Loss: loss, Seed: 3, Packet: packet, Rounds: 1,
					Progress: func(x float64, _ string) { done = x },
				})
			if err != nil {
				t.Fatal(err)
			}
			if done != 1 {
				t.Errorf("progress ended at %v", done)
			}
			for _, r := range results {
				name := fmt.Sprintf("%s, loss %v, packets of %d", r.Strategy, loss, packet)
				if err := r.Check(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if r.Workload != "tanks" || r.Loss != loss || r.Tables == "" {
					t.Errorf("%s: %+v", name, r)
				}
				if r.BytesPerFrame > r.PacketsPerFrame*float64(packet) ||
					(packet == 128 && r.PacketsPerFrame < 1) {
					t.Errorf("%s: %v bytes in %v packets", name, r.BytesPerFrame, r.PacketsPerFrame)
				}
				if r.AllocsPerFrame != 0 {
					t.Errorf("%s: %v allocations a frame", name, r.AllocsPerFrame)
				}
				if want := r.BytesPerFrame * 20 * 8 / 1000; r.Kbps < want-0.1 || r.Kbps > want+0.1 {
					t.Errorf("%s: %v bytes are %v kbit/s", name, r.BytesPerFrame, r.Kbps)
				}
				sizes[name] = r.BytesPerFrame
			}
		}
	}
	for _, s := range codeclab.Strategies() {
		if small, large := sizes[s+", loss 0, packets of 128"],
			sizes[s+", loss 0, packets of 1150"]; small <= large {
			t.Errorf("%s: headers of small packets cost nothing: %v and %v bytes", s, small, large)
		}
		if none, some := sizes[s+", loss 0, packets of 1150"],
			sizes[s+", loss 0.97, packets of 1150"]; some <= none {
			t.Errorf("%s: loss costs nothing: %v and %v bytes", s, none, some)
		}
	}
}

func TestCodecRepeats(t *testing.T) {
	w := tanks(t, 100)
	run := func(seed uint64) (sizes []float64) {
		results, err := codeclab.Compare(t.Context(), w, contenders(t, w.Recording.Schema),
			codeclab.Options{Loss: 0.3, Seed: seed, Rounds: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			sizes = append(sizes, r.BytesPerFrame)
		}
		return sizes
	}
	if a, b := fmt.Sprint(run(1)), fmt.Sprint(run(1)); a != b {
		t.Errorf("one seed gives %s and %s", a, b)
	}
	if a, b := fmt.Sprint(run(1)), fmt.Sprint(run(2)); a == b {
		t.Errorf("two seeds both give %s", a)
	}
}

// faulty is bit packing that goes wrong in a way that only a receiver can notice.
type faulty struct {
	codec.Strategy
	encoder func(codec.PacketEncoder) codec.PacketEncoder
}

func (f faulty) NewEncoder() codec.PacketEncoder { return f.encoder(f.Strategy.NewEncoder()) }

// offByOne turns a turret a little once in a while.
type offByOne struct {
	codec.PacketEncoder
	n int
}

func (o *offByOne) Put(class int, h *codec.History, now []int32) bool {
	if o.n++; o.n%997 == 0 {
		now = append([]int32(nil), now...)
		now[4] ^= 1
	}
	return o.PacketEncoder.Put(class, h, now)
}

// cutter loses the last byte.
type cutter struct{ codec.PacketEncoder }

func (c cutter) Finish() ([]byte, error) {
	p, err := c.PacketEncoder.Finish()
	return p[:len(p)-1], err
}

// greedy compares with what was sent last, whether it arrived or not.
type greedy struct {
	codec.PacketEncoder
	last map[*int32][]int32
}

func (g *greedy) Put(class int, h *codec.History, now []int32) bool {
	newer := *h
	key := &h.Images[0][0]
	if last := g.last[key]; last != nil {
		newer.Images[0] = last
	}
	g.last[key] = now
	return g.PacketEncoder.Put(class, &newer, now)
}

func TestCodecCatchesFaults(t *testing.T) {
	w := tanks(t, 100)
	for name, x := range map[string]struct {
		encoder func(codec.PacketEncoder) codec.PacketEncoder
		want    string
	}{
		"wrong value": {
			func(e codec.PacketEncoder) codec.PacketEncoder { return &offByOne{PacketEncoder: e} },
			"field turret: "},
		"short": {
			func(e codec.PacketEncoder) codec.PacketEncoder { return cutter{e} },
			"bits: data ends too early"},
		"newer base": {
			func(e codec.PacketEncoder) codec.PacketEncoder {
				return &greedy{e, map[*int32][]int32{}}
			}, "frame "},
	} {
		bad := codeclab.Contender{
			Name: "faulty", New: func(s *codec.Schema) (codec.Strategy, error) {
				r, err := raw.New(s)
				return faulty{r, x.encoder}, err
			}}
		good := contenders(t, w.Recording.Schema)[0]
		results, err := codeclab.Compare(t.Context(), w, []codeclab.Contender{bad, good},
			codeclab.Options{Loss: 0.2, Rounds: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := results[0].Check(); err == nil || results[0].Verified ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %+v, want %q", name, results[0], x.want)
		}
		if err := results[1].Check(); err != nil {
			t.Errorf("%s spoils its neighbour: %v", name, err)
		}
	}
}

func TestCodecRefuses(t *testing.T) {
	w := tanks(t, 20)
	c := contenders(t, w.Recording.Schema)
	for _, opt := range []codeclab.Options{
		{Loss: -0.1}, {Loss: 1}, {Packet: 10}, {Packet: 1 << 20}, {Rounds: -1}} {
		if _, err := codeclab.Compare(t.Context(), w, c, opt); err == nil {
			t.Errorf("%+v passed", opt)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := codeclab.Compare(ctx, w, c, codeclab.Options{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a cancelled run ends with %v", err)
	}
	for _, names := range [][]string{{"raw", "zip"}, {"raw", "raw"}} {
		if _, err := codeclab.Contenders(names, codeclab.Tables{}); err == nil {
			t.Errorf("%q passed", names)
		}
	}
}

// A game's own tables are used, and another game's refused.
func TestTables(t *testing.T) {
	w := tanks(t, 200)
	s := w.Recording.Schema
	if b := codeclab.BundledTables(s); b.Data != nil || !strings.Contains(b.Name, "default") {
		t.Errorf("tables for a game of which there are none: %+v", b)
	}
	model, err := codec.Default(s)
	if err != nil {
		t.Fatal(err)
	}
	tables := codeclab.Tables{Name: "mine", Data: model.AppendTables(nil)}
	c, err := codeclab.Contenders([]string{"coeval"}, tables)
	if err != nil {
		t.Fatal(err)
	}
	results, err := codeclab.Compare(t.Context(), w, c, codeclab.Options{Rounds: 1})
	if err != nil || results[0].Tables != "mine" || !results[0].Verified {
		t.Errorf("%+v, %v", results, err)
	}
	s.Classes[0].Fields[0].Max++
	if _, err := codeclab.Compare(t.Context(), w, c, codeclab.Options{Rounds: 1}); !errors.Is(err,
		codec.ErrTables) {
		t.Errorf("tables of another schema: %v", err)
	}
}
