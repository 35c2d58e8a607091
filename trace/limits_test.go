package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A forger writes traces that no Writer would, with checksums that are right.
type forger struct {
	out    bytes.Buffer
	blocks blockWriter
	coder  coder
	head   *history
	buf    []byte
	tick   world.Tick
}

// forge begins a trace whose commands have so many numbers.
func forge(slots int) *forger {
	f := &forger{buf: make([]byte, 4<<20)}
	f.blocks.out = &f.out
	s := &bits.Schema{Name: "c"}
	for range slots {
		s.Slots = append(s.Slots, bits.Slot{Min: -1 << 31, Max: 1<<31 - 1, Parts: 1})
	}
	h := Header{Game: "shooter", Rate: 60, Commands: s}
	f.head = newHistory(&Header{Commands: s}, 1<<30)
	f.blocks.start(magic)
	f.blocks.put(blockHeader, h.append(nil))
	f.state([]byte("a world"), true)
	return f
}

func (f *forger) state(plain []byte, given bool) {
	var p packer
	p.total = -1 << 40 // nothing is padded
	head, body, err := p.pack(f.tick, 0, plain, given, 0)
	if err != nil {
		panic(err)
	}
	f.blocks.put(blockState, head, body)
	f.head.reset()
}

// inputs writes one block of ticks.
func (f *forger) inputs(records ...*Record) {
	f.coder.enc.Reset(f.buf)
	for _, r := range records {
		r.slots = len(f.head.rest)
		for range r.Players {
			r.images = append(r.images, f.head.rest...)
		}
		f.head.tick(&f.coder, r)
	}
	body, err := f.coder.enc.Finish()
	if err != nil || f.coder.bad {
		panic(fmt.Sprint(err, f.coder.bad))
	}
	b := []byte{}
	for v := uint64(f.tick) + 1; ; v >>= 7 { // uvarint
		if v < 0x80 {
			b = append(b, byte(v))
			break
		}
		b = append(b, byte(v)|0x80)
	}
	f.blocks.put(blockInputs, append(b, byte(len(records)), 0), body)
	f.tick += world.Tick(len(records))
}

// everyone lists players.
func everyone(from, to int) (out []world.Player) {
	for p := from; p <= to; p++ {
		out = append(out, world.Player(p))
	}
	return out
}

// taken is how many bytes are allocated to read a trace to its end.
func taken(t *testing.T, data []byte, l Limits) (bytesTaken uint64, last error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := OpenWithin(bytes.NewReader(data), l)
	for err == nil {
		var rec *Record
		if rec, err = r.Next(); err == nil && rec.IsState() {
			_, err = rec.State()
		}
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// TestAStrangersTrace reads files of a few kilobytes that ask for as much as they can. On the
// reader before, the first made 1.75 GB of allocations, and the third took minutes.
func TestAStrangersTrace(t *testing.T) {
	crowd := forge(1200)
	crowd.inputs(&Record{Joins: everyone(1, 1<<16-1)})
	strangers := forge(1200)
	strangers.inputs(&Record{Players: everyone(1, 800)}, &Record{Players: everyone(1, 800)})

	// Those who come always stand before those who are there.
	pushing := forge(0)
	pushing.inputs(&Record{Joins: everyone(1<<15, 1<<16-1)})
	for range 8 {
		pushing.inputs(&Record{Joins: everyone(1, 1<<15-1)}, &Record{Leaves: everyone(1, 1<<15-1)})
	}

	nothing := make([]byte, 1<<20)
	bomb := forge(1)
	for range 20 {
		bomb.state(nothing, true)
	}
	for _, x := range []struct {
		name string
		f    *forger
		is   error
	}{
		{"a crowd with long commands", crowd, ErrDamaged},
		{"long commands of strangers", strangers, ErrDamaged},
		{"a crowd that pushes to the front", pushing, ErrCut},
		{"states that unpack to much", bomb, ErrLimit},
	} {
		data := x.f.out.Bytes()
		n, err := taken(t, data, Limits{})
		t.Logf("%s: %d bytes take %d kB: %v", x.name, len(data), n>>10, err)
		if !errors.Is(err, x.is) {
			t.Errorf("%s: %v, want %v", x.name, err, x.is)
		}
		if n > allowed(len(data)) {
			t.Errorf("%s: %d bytes took %d of memory", x.name, len(data), n)
		}
	}
}

// TestLimits sees that a caller's limits are kept, and that those who trust a file get all of it.
func TestLimits(t *testing.T) {
	bomb := forge(1)
	for range 20 {
		bomb.state(make([]byte, 1<<20), true)
	}
	if _, err := taken(t, bomb.out.Bytes(), Limits{States: 32 << 20}); !errors.Is(err, ErrCut) {
		t.Errorf("a trusted file: %v", err)
	}
	data, _ := play{
		ticks: 200, inputs: newPeople(1, 8).act, options: Options{StateEvery: 40}}.record(t,
		shooter)
	for _, x := range []struct {
		name string
		l    Limits
		is   error
	}{
		{"none", Limits{}, io.EOF},
		{"ticks", Limits{Ticks: 100}, ErrLimit},
		{"states", Limits{States: 10}, ErrLimit},
		{"numbers", Limits{Numbers: 10}, ErrDamaged},
	} {
		if _, err := taken(t, data, x.l); !errors.Is(err, x.is) {
			t.Errorf("limit of %s: %v, want %v", x.name, err, x.is)
		}
	}
	r, err := OpenWithin(bytes.NewReader(data), Limits{World: world.LoadLimits{Memory: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(shooter, r, ReplayOptions{From: 150}); !errors.Is(err, world.ErrMemory) {
		t.Errorf("a world of more than 1000 bytes: %v", err)
	}
}

// TestPadding records worlds that pack far better than a reader lets pass, and reads them.
func TestPadding(t *testing.T) {
	var out bytes.Buffer
	w, err := newWriter(&out, Header{Game: "x", Rate: 60}, false)
	if err != nil {
		t.Fatal(err)
	}
	plain := make([]byte, 8<<20)
	for range 3 {
		if err := w.putState(0, 0, plain, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := taken(t, out.Bytes(), Limits{}); err != io.EOF {
		t.Error(err)
	}
	if got, most := out.Len(), 3*len(plain)/stateRatio+1000; got > most {
		t.Errorf("%d bytes, want at most %d", got, most)
	}
}
