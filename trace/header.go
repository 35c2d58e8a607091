package trace

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A Header says what a trace is a recording of, and what is needed to repeat it. It can be read
// without the game.
type Header struct {
	Game         string       // the game's name
	Declarations uint64       // world.Game.Hash: its classes, fields, ranges, commands and events
	Rate         int          // ticks a second
	Seed         uint64       // of the world's settings
	Allocator    int          // of the world's settings
	First        world.Tick   // the tick of the state that the trace begins with
	Build        Build        // of the program that recorded
	Note         string       // whatever else the recorder had to say
	Commands     *bits.Schema // what the numbers of a command mean; nil if the game has none
	Rewinds      world.Tick   // how many ticks back shots are judged; 0 if none are
	Inputs       []InputKind  // what else the game takes in
}

// A Build identifies a program, so that one can find the program again whose rules a trace was
// recorded with.
type Build struct {
	Module   string `json:"module,omitempty"`
	Version  string `json:"version,omitempty"`  // a release, or (devel)
	Revision string `json:"revision,omitempty"` // the commit
	Modified bool   `json:"modified,omitempty"` // whether there were uncommitted changes
	Go       string `json:"go,omitempty"`
	Platform string `json:"platform,omitempty"` // system/processor
}

// BuildOf takes from what the go command recorded, as runtime/debug.ReadBuildInfo gives it, what
// identifies a build. It may be nil.
func BuildOf(info *debug.BuildInfo) Build {
	b := Build{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	b.Module, b.Version = info.Main.Path, info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String writes what tells builds apart: module, version and commit, then compiler and platform.
func (b Build) String() string {
	text := b.Module
	text = cmp.Or(text, "an unknown program")
	if b.Version != "" {
		text += " " + b.Version
	}
	if b.Revision != "" {
		text += " commit " + b.Revision
	}
	if b.Modified {
		text += " with uncommitted changes"
	}
	if b.Go != "" || b.Platform != "" {
		text += fmt.Sprintf(" (%s, %s)", b.Go, b.Platform)
	}
	return text
}

// SameSource says whether two builds are known to come from the same source, whatever they were
// compiled with and for.
func (b Build) SameSource(o Build) bool {
	known := b.Revision != "" || b.Version != "" && b.Version != "(devel)"
	return known && b.Module == o.Module && b.Version == o.Version && b.Revision == o.Revision &&
		!b.Modified && !o.Modified
}

// ErrGame says that a trace is of another game than the one at hand, or of another version of its
// declarations. Use errors.Is.
var ErrGame = errors.New("trace of another game or version")

// Fits says whether a game can repeat the trace, and if not, what would be needed.
func (h *Header) Fits(g *world.Game) error {
	switch {
	case g.Err() != nil:
		return g.Err()
	case h.Game != g.Name():
		return fmt.Errorf(
			"trace: %w: it is of game %q, not %q; use it with that game, as built by %s", ErrGame,
			h.Game, g.Name(), h.Build)
	case h.Declarations != g.Hash():
		return fmt.Errorf(
			"trace: %w: %q had other classes, fields, ranges or commands then (declarations "+
				"%016x, here %016x); use it with the program that recorded it, %s",
			ErrGame, h.Game, h.Declarations, g.Hash(), h.Build)
	}
	return nil
}

// headerOf describes a recording that starts from a world.
func headerOf(w *world.World, b Build, note string) Header {
	g, s := w.Game(), w.Host().Settings()
	h := Header{
		Game: g.Name(), Declarations: g.Hash(), Rate: g.Rate(), Seed: s.Seed,
		Allocator: s.Allocator, First: w.Tick(), Build: b, Note: note, Commands: g.Commands(),
		Rewinds: g.Rewinds()}
	for _, i := range g.Inputs() {
		k := InputKind{Name: i.Name(), Source: i.Source()}
		if i.Layout() != nil {
			k.Schema = i.Layout().Schema()
		}
		h.Inputs = append(h.Inputs, k)
	}
	if h.Commands != nil { // as a server may execute them as they come
		h.Inputs = append(h.Inputs, InputKind{Name: "move", Source: world.FromCommands})
	}
	return h
}

// The bounds of a header, so that a damaged one claims no memory.
const (
	maxSlots = 1 << 14 // numbers in a command
	maxText  = 1 << 16
)

func (h *Header) check() error {
	for _, s := range []string{
		h.Game, h.Note, h.Build.Module, h.Build.Version, h.Build.Revision, h.Build.Go,
		h.Build.Platform} {
		if len(s) > maxText {
			return fmt.Errorf("trace: a text of %d bytes for the header; at most %d fit", len(s),
				maxText)
		}
	}
	if h.Commands != nil && len(h.Commands.Slots) > maxSlots {
		return fmt.Errorf("trace: commands of %d numbers; at most %d can be recorded",
			len(h.Commands.Slots), maxSlots)
	}
	if len(h.Inputs) > maxKinds {
		return fmt.Errorf("trace: %d kinds of inputs; at most %d can be recorded", len(h.Inputs),
			maxKinds)
	}
	for _, k := range h.Inputs {
		if len(k.Name) > maxText || k.Schema != nil && len(k.Schema.Slots) > maxSlots {
			return fmt.Errorf("trace: %v %.40s is too large to be recorded", k.Source, k.Name)
		}
	}
	return nil
}

func (h *Header) append(b []byte) []byte {
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	text(h.Game)
	b = binary.LittleEndian.AppendUint64(b, h.Declarations)
	b = binary.AppendUvarint(b, uint64(h.Rate))
	b = binary.LittleEndian.AppendUint64(b, h.Seed)
	b = binary.AppendUvarint(b, uint64(h.Allocator))
	b = binary.AppendUvarint(b, uint64(h.First))
	text(h.Build.Module)
	text(h.Build.Version)
	text(h.Build.Revision)
	b = append(b, flag(h.Build.Modified, 1))
	text(h.Build.Go)
	text(h.Build.Platform)
	text(h.Note)
	b = appendSchema(b, h.Commands)
	b = binary.AppendUvarint(b, uint64(h.Rewinds))
	b = binary.AppendUvarint(b, uint64(len(h.Inputs)))
	for _, k := range h.Inputs {
		text(k.Name)
		b = appendSchema(append(b, byte(k.Source)), k.Schema)
	}
	return b
}

// appendSchema writes a schema, or that there is none.
func appendSchema(b []byte, of *bits.Schema) []byte {
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	if of == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(of.Slots))+1)
	text(of.Name)
	for i := range of.Slots {
		s := &of.Slots[i]
		text(s.Name)
		b = append(b, byte(s.Kind), flag(s.Wraps, 1)|flag(s.Optional, 2))
		b = binary.AppendUvarint(b, uint64(s.Field))
		b = binary.AppendUvarint(b, uint64(s.Part))
		b = binary.AppendUvarint(b, uint64(s.Parts))
		b = binary.AppendVarint(b, int64(s.Min))
		b = binary.AppendVarint(b, int64(s.Max))
		b = binary.AppendVarint(b, int64(s.Absent))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.Scale))
	}
	return b
}

func flag(on bool, bit byte) byte {
	if on {
		return bit
	}
	return 0
}

func parseHeader(data []byte, first bool) (Header, error) {
	r := &parser{data: data}
	h := Header{
		Game: r.text(), Declarations: r.fixed(), Rate: int(r.below(1001)), Seed: r.fixed(),
		Allocator: int(r.below(world.Predicted)), First: world.Tick(r.uvarint())}
	h.Build = Build{
		Module: r.text(), Version: r.text(), Revision: r.text(), Modified: r.byte()&1 != 0,
		Go: r.text(), Platform: r.text()}
	h.Note = r.text()
	h.Commands = r.schema()
	if !first {
		h.Rewinds = world.Tick(r.below(1 << 16))
		for n := r.below(maxKinds + 1); n > 0 && r.err == nil; n-- {
			k := InputKind{Name: r.text(), Source: world.InputSource(r.byte()), Schema: r.schema()}
			h.Inputs = append(h.Inputs, k)
		}
	}
	if r.err == nil && h.Rate == 0 {
		r.err = errors.New("no ticks a second")
	}
	return h, r.end()
}

// schema reads a schema, or nil where there is none.
func (r *parser) schema() *bits.Schema {
	n := r.below(maxSlots + 2)
	if n == 0 {
		return nil
	}
	s := &bits.Schema{Name: r.text()}
	for i := uint64(1); i < n && r.err == nil; i++ {
		s.Slots = append(s.Slots, r.slot())
	}
	return s
}

func (r *parser) slot() bits.Slot {
	s := bits.Slot{Name: r.text(), Kind: bits.Kind(r.byte())}
	flags := r.byte()
	s.Wraps, s.Optional = flags&1 != 0, flags&2 != 0
	s.Field, s.Part, s.Parts = int(r.below(maxSlots)), int(r.below(maxSlots)),
		int(r.below(maxSlots+1))
	s.Min, s.Max, s.Absent = r.int32(), r.int32(), r.int32()
	s.Scale = math.Float64frombits(r.fixed())
	if r.err == nil && (s.Min > s.Max || s.Absent < s.Min || s.Absent > s.Max) {
		r.err = fmt.Errorf("field %s has no range", s.Name)
	}
	return s
}

// A parser takes a payload apart. The first error stays; after it every value is zero.
type parser struct {
	data []byte
	err  error
}

var errShort = errors.New("it ends too early")

func (r *parser) bytes(n uint64) []byte {
	if r.err == nil && n > uint64(len(r.data)) {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *parser) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *parser) fixed() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *parser) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if r.err == nil && n <= 0 {
		r.err = errShort
	}
	if r.err != nil {
		return 0
	}
	r.data = r.data[n:]
	return v
}

// below is a number that must be less than n.
func (r *parser) below(n uint64) uint64 {
	v := r.uvarint()
	if v < n {
		return v
	}
	if r.err == nil {
		r.err = fmt.Errorf("%d is not below %d", v, n)
	}
	return 0
}

func (r *parser) int32() int32 {
	u := r.uvarint()
	v := int64(u>>1) ^ -int64(u&1)
	if r.err == nil && v != int64(int32(v)) {
		r.err = fmt.Errorf("%d does not fit in 32 bits", v)
	}
	return int32(v)
}

func (r *parser) text() string { return string(r.bytes(r.below(maxText + 1))) }

// end sees that nothing is left over.
func (r *parser) end() error {
	if r.err == nil && len(r.data) > 0 {
		r.err = fmt.Errorf("%d bytes are left over", len(r.data))
	}
	return r.err
}
