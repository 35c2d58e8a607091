package trace

import (
	"bytes"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/coeval-dev/coeval/world"
)

// Of a trace that is cut little is lost: a second at most, and no tick that was flushed.
func TestCutLosesLittle(t *testing.T) {
	data, _ := play{ticks: 605, inputs: newPeople(1, 3).act, open: true}.record(t, shooter)
	r := open(t, data)
	var err error
	for err == nil {
		_, err = r.Next()
	}
	var damage *DamageError
	if !errors.As(err, &damage) || damage.Tick != 600 || damage.Offset != int64(len(data)) {
		t.Errorf("%v", err)
	}
}

// Every single byte of one trace, in place of some of many.
func TestEveryFlip(t *testing.T) {
	data, _ := play{ticks: 70, inputs: newPeople(1, 2).act}.record(t, shooter)
	for at := range data {
		bad := slices.Clone(data)
		bad[at] ^= 0x10
		if _, err := lines(t, bad); err == io.EOF {
			t.Errorf("byte %d of %d can change and no one notices", at, len(data))
		}
	}
}

// Blocks that are in each other's place, missing or double are damage too, though each is whole.
func TestBlocksOutOfPlace(t *testing.T) {
	data, _ := play{ticks: 200, inputs: newPeople(1, 2).act}.record(t, shooter)
	r := open(t, data)
	ends := []int64{r.blocks.at}
	for {
		if _, err := r.Next(); err != nil {
			break
		}
		if at := r.blocks.at; at != ends[len(ends)-1] {
			ends = append(ends, at)
		}
	}
	if len(ends) < 5 {
		t.Fatal(ends)
	}
	block := func(i int) []byte { return data[ends[i]:ends[i+1]] }
	for name, bad := range map[string][]byte{
		"missing": slices.Concat(data[:ends[2]], data[ends[3]:]),
		"double":  slices.Concat(data[:ends[3]], block(2), data[ends[3]:]),
		"swapped": slices.Concat(data[:ends[2]], block(3), block(2), data[ends[4]:]),
		"longer":  append(slices.Clone(data), 0),
	} {
		if _, err := lines(t, bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A source may give one byte at a time, or fail.
func TestSources(t *testing.T) {
	data, _ := play{ticks: 100, inputs: newPeople(1, 2).act}.record(t, shooter)
	r, err := Open(iotest.OneByteReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := Replay(shooter, r, ReplayOptions{From: 50})
	if err != nil || res.Last != 100 || res.Mismatch != nil || res.Damage != nil {
		t.Errorf("%+v %v", res, err)
	}
	broken := errors.New("the disk is gone")
	r, err = Open(io.MultiReader(bytes.NewReader(data[:len(data)-20]), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Replay(shooter, r, ReplayOptions{}); !errors.Is(err, broken) ||
		errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

func TestNotATrace(t *testing.T) {
	for _, x := range []struct {
		data, want string
		is         error
	}{
		{"", "does not begin like one", ErrNotTrace},
		{"MZ this is a program, not a trace", "does not begin like one", ErrNotTrace},
		{"coeval trace 4\nH", "use a program of its version", ErrNotTrace},
		{"coeval tra", "before its header", ErrCut},
		{magic, "at byte 15", ErrCut},
		{magic + "H\x05abc", "in the middle", ErrCut},
		{magic + "H\x03abcdefg", "checksum", ErrDamaged},
		{magic + "H\xff\xff\xff\xff\x7f", "a block of", ErrDamaged},
		{magic + "?", "kind", ErrDamaged},
	} {
		_, err := lines(t, []byte(x.data))
		if !errors.Is(err, x.is) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v", x.data, err)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	w, err := shooter.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	partial, err := shooter.New(world.Settings{Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewWriter(io.Discard, partial, Options{}); err == nil ||
		!strings.Contains(err.Error(), "partial world") {
		t.Error(err)
	}
	tw, err := NewWriter(io.Discard, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tw.Tick(nil, w); !errors.Is(err, ErrOrder) {
		t.Error(err)
	}
	for range 2 {
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Tick(nil, w); !errors.Is(err, ErrOrder) {
		t.Error(err)
	}
	if err := tw.State(w); err != nil { // a jump, said to be one
		t.Error(err)
	}
	old, err := shooter.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tw.State(old); !errors.Is(err, ErrOrder) {
		t.Error(err)
	}
	other := world.Define("other")
	ow, err := other.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tw.State(ow); err == nil || !strings.Contains(err.Error(), "another game") {
		t.Error(err)
	}
	if err := tw.Close(); err != nil {
		t.Error(err)
	}
	if err := tw.Tick(nil, w); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}

// full is a disk that takes so many bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if n < len(p) {
		return n, errors.New("no space left")
	}
	return n, nil
}

func TestWriterSaysThatTheDiskIsFull(t *testing.T) {
	w, err := shooter.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	tw, err := NewWriter(&full{left: 1500}, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	people, in := newPeople(1, 4), shooter.NewInputs()
	for range 6000 {
		people.act(w.Tick()+1, in)
		if err := errors.Join(w.Host().Step(in)); err != nil {
			t.Fatal(err)
		}
		if err = tw.Tick(in, w); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "no space left") || tw.Close() == nil {
		t.Error(err)
	}
}

func TestGameWithoutCommands(t *testing.T) {
	g := world.Define("clockwork", world.Class[bolt](),
		world.OnStart(func(w *world.World) { world.Spawn(w, bolt{Left: 99}) }))
	data, last := play{ticks: 130, inputs: func(tick world.Tick, in *world.Inputs) {
		in.Reset()
		if tick == 5 {
			in.Join(3)
		}
	}}.record(t, g)
	r := open(t, data)
	if r.Header().Commands != nil {
		t.Error("commands out of nowhere")
	}
	if res, err := Replay(g, r, ReplayOptions{}); err != nil || res.Mismatch != nil ||
		res.Hash != last.Hash() {
		t.Errorf("%+v %v", res, err)
	}
}

func TestBuild(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Path: "example.org/g", Version: "(devel)"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	b := BuildOf(info)
	if b.Module != "example.org/g" || b.Revision != "abc" || !b.Modified || b.Go == "" ||
		b.Platform == "" {
		t.Errorf("%+v", b)
	}
	if got := b.String(); !strings.HasPrefix(got,
		"example.org/g (devel) commit abc with uncommitted changes (go") {
		t.Error(got)
	}
	if b.SameSource(b) {
		t.Error("no one knows what was changed")
	}
	b.Modified = false
	other := b
	other.Platform = "js/wasm"
	if !b.SameSource(other) {
		t.Error("the platform does not matter")
	}
	if other.Revision = "abd"; b.SameSource(other) {
		t.Error("the commit does")
	}
	if (Build{}).SameSource(Build{}) || BuildOf(nil).Go == "" {
		t.Error("nothing is known")
	}
}
