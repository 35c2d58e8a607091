package crimp

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/link"
)

// TestForward: what is lost comes without being asked for, as long as redundancy covers it,
// and unaltered.
func TestForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]ForwardMode{ForwardRepeat, ForwardParity}).Draw(t, "mode")
		f := Forward{Mode: mode, Depth: rapid.IntRange(1, maxDepth).Draw(t, "depth"),
			Window: rapid.IntRange(1, maxWindow).Draw(t, "window"),
			Parity: rapid.IntRange(1, maxParity).Draw(t, "parity")}
		g := trio(&failer{t}, func(o *Options, _ *Roster) { o.Forward = f })
		count := rapid.IntRange(1, 3).Draw(t, "windows") * f.Window
		got := map[Sequence]string{}
		sent := map[Sequence]string{}
		lostRow, lostHere := 0, 0
		now := time.Duration(0)
		for i := range count {
			text := fmt.Sprintf("%d %s", i, rapid.StringN(0, 20, 40).Draw(t, "text"))
			seq, err := g[0].Send(now, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			sent[seq] = text
			for _, d := range g[0].Flush(now, nil) {
				drop := false
				if d.Data[0] == kindData {
					if int(seq-1)%f.Window == 0 {
						lostHere = 0
					}
					drop = rapid.Bool().Draw(t, "drop")
					switch {
					case mode == ForwardRepeat:
						drop = drop && lostRow < f.Depth && i < count-1
					default:
						drop = drop && lostHere < f.Parity
					}
					if lostRow++; !drop {
						lostRow = 0
					} else {
						lostHere++
					}
				}
				if !drop {
					g[2].Receive(now, []link.Datagram{{Data: append([]byte(nil), d.Data...)}})
				}
			}
			for _, e := range g[2].Events() {
				if e.Kind == Delivered {
					if _, twice := got[e.Seq]; twice {
						t.Fatalf("packet %d came twice", e.Seq)
					}
					got[e.Seq] = string(e.Data)
				}
			}
			now += time.Millisecond
		}
		for s, text := range sent {
			if got[s] != text {
				t.Fatalf("packet %d of %d is %q, want %q (%+v)", s, count, got[s], text, f)
			}
		}
		if g[2].stats.Requests > 0 {
			t.Fatal("something was asked for")
		}
	})
}

// failer lets a property use what wants a testing.TB.
type failer struct{ *rapid.T }

func (f *failer) Helper() {}
