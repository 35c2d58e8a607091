package trace

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// readAll reads whatever it is given to the end, in every way there is. It must end, with an error
// or without, and take memory in proportion.
func readAll(t *testing.T, data []byte) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, hash, err := walk(t, data)
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > allowed(len(data)) {
		t.Errorf("%d bytes took %d bytes of memory", len(data), taken)
	}
	if m, again, _ := walk(t, data); m != n || again != hash {
		t.Errorf("%d records, hash %x, the second time %d and %x", n, hash, m, again)
	}
	if err == io.EOF && n == 0 {
		t.Error("a whole trace without a state")
	}
	r, err := Open(bytes.NewReader(data))
	if err != nil {
		return
	}
	if err := r.SkipTo(100); err != nil {
		t.Error(err)
	}
	if r.Header().Fits(shooter) != nil {
		return
	}
	res, err := Replay(shooter, r, ReplayOptions{Until: 1000})
	if err == nil && res.Last < res.First {
		t.Errorf("%+v", res)
	}
}

// allowed is what a trace of so many bytes may take to be read: the models of an honest one, the
// numbers of all players, and what is in proportion.
func allowed(size int) uint64 { return 48<<20 + 256*uint64(size) }

func walk(t *testing.T, data []byte) (records int, hash uint64, err error) {
	r, err := Open(bytes.NewReader(data))
	if err != nil {
		if !errors.Is(err, ErrNotTrace) && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrCut) {
			t.Errorf("an error that is none of the three: %v", err)
		}
		return 0, 0, err
	}
	last := r.Header().First
	for ; ; records++ {
		rec, err := r.Next()
		if err != nil {
			if err != io.EOF && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrCut) &&
				!errors.Is(err, ErrLimit) {
				t.Errorf("an error that is none of the three: %v", err)
			}
			return records, hash, err
		}
		if rec.Tick < last || !rec.IsState() && rec.Tick != last+1 {
			t.Errorf("tick %d after %d", rec.Tick, last)
		}
		last = rec.Tick
		hash = hash*31 + rec.Hash
		if rec.IsState() {
			data, err := rec.State()
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Error(err)
			}
			hash = hash*31 + uint64(len(data))
			continue
		}
		for i := range rec.Players {
			if i > 0 && rec.Players[i] <= rec.Players[i-1] {
				t.Errorf("players %v", rec.Players)
			}
			if err := r.history.schema.Check(rec.Command(i)); err != nil {
				t.Error(err)
			}
		}
	}
}

// FuzzReader is given files as they are.
func FuzzReader(f *testing.F) {
	data, _ := play{
		ticks: 70, inputs: newPeople(1, 2).act, options: Options{StateEvery: 40}}.record(f, shooter)
	f.Add(data)
	f.Add(data[:len(data)*2/3])
	f.Add([]byte(magic))
	frames, _, _ := journal(f, 12)
	f.Add(frames)
	f.Fuzz(readAll)
}

// FuzzBlocks is given the payloads of blocks, and puts right checksums to them, to get to what is
// behind: each is its kind, its length in two bytes, and itself. What begins with a block that is
// no header comes after a right one.
func FuzzBlocks(f *testing.F) {
	data, _ := play{
		ticks: 70, inputs: newPeople(1, 2).act, options: Options{StateEvery: 40}}.record(f, shooter)
	whole := unframe(data)
	f.Add(whole)
	frames, _, _ := journal(f, 12)
	f.Add(unframe(frames))
	w, err := shooter.New(world.Settings{Seed: 7, Secret: 9})
	if err != nil {
		f.Fatal(err)
	}
	h := headerOf(w, Build{}, "")
	header := h.append(nil)
	f.Add(whole[3+len(header):])
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		b := &blockWriter{out: &out}
		b.start(attachedMagic) // of which the second version is a part
		if len(data) > 0 && data[0] != blockHeader {
			b.put(blockHeader, header)
		}
		for len(data) >= 3 {
			n := min(int(data[1])|int(data[2])<<8, len(data)-3)
			b.put(data[0], data[3:3+n])
			data = data[3+n:]
		}
		readAll(t, out.Bytes())
	})
}

// unframe takes the checksums off.
func unframe(data []byte) (out []byte) {
	var b blockReader
	b.reset(bytes.NewReader(data[len(magic):]), 0, 0)
	b.crc = crcOf(string(data[:len(magic)]))
	for {
		kind, payload, err := b.next()
		if err != nil {
			return out
		}
		out = append(append(out, kind, byte(len(payload)), byte(len(payload)>>8)), payload...)
	}
}
