package paperlab

import (
	"context"
	"fmt"
	"math/bits"
	"time"

	packed "github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/entropy"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/world"
)

// A stage is one of the ways to write a snapshot that DOOM III's section 6 compares.
type stage struct {
	about     string
	of        int    // the stage whose bytes it is compared with, or -1
	published string // by how much it is smaller than that
	bytes     []float64
}

// doom3Stages are what is measured of a recorded world.
func doom3Stages() []*stage {
	return []*stage{
		{about: "every variable in 32 bits", of: -1},
		{about: "packed, what is a multiple of a step left at 32 bits", of: 0,
			published: "10 to 15 %"},
		{about: "packed, all", of: 0, published: "–"},
		{about: "and as differences, unchanged entities written", of: 2, published: "80 to 90 %"},
		{about: "and as differences, unchanged entities omitted", of: 2, published: "90 to 100 %"},
		{about: "differences, unchanged written, run lengths", of: 3, published: "15 to 50 %"},
		{about: "differences, unchanged omitted, run lengths", of: 4, published: "15 to 50 %"},
	}
}

// doom3 is section 6 of the DOOM III paper, on recorded worlds.
func doom3(ctx context.Context, o *Options, p lab.Progress) (*Finding, error) {
	const players = 8
	s, err := lab.NewSubject(o.Title, o.Level, players)
	if err != nil {
		return nil, err
	}
	length := 30 * time.Second
	if o.Quick {
		length = 4 * time.Second
	}
	f := &Finding{Game: fmt.Sprintf("%s, %d bots", s.Name(), players), Seeds: o.seeds()}
	stages := doom3Stages()
	for i, seed := range f.Seeds {
		p.Tell(float64(i)/float64(len(f.Seeds)+1), "recording")
		sums, err := writeSnapshots(ctx, s, players, seed, length)
		if err != nil {
			return nil, err
		}
		for k, sum := range sums {
			stages[k].bytes = append(stages[k].bytes, sum)
		}
	}
	t := Table{Title: "Section 6: bytes of a snapshot with all entities, 20 a second, as " +
		"differences from what was acknowledged a tenth of a second before", Keys: 1,
		Heads: []string{"snapshot", "bytes", "smaller than", "by, published", "by, here"}}
	for _, x := range stages {
		row := []string{x.about, interval(x.bytes, 1), "", "", ""}
		if x.of >= 0 {
			var less []float64
			for k, v := range x.bytes {
				less = append(less, 100*(1-v/stages[x.of].bytes[k]))
			}
			row[2], row[3], row[4] = stages[x.of].about, x.published, interval(less, 1)+" %"
		}
		t.Rows = append(t.Rows, row)
	}
	f.Tables = append(f.Tables, t)
	for k := range f.Seeds {
		f.expect(stages[4].bytes[k] <= stages[3].bytes[k] && stages[6].bytes[k] <=
			stages[5].bytes[k], "omitting what is unchanged made snapshots larger")
	}
	if err := doom3Played(ctx, o, f, p.Within(0.8, 0.2)); err != nil {
		return nil, err
	}
	f.differs("DOOM III packs little since its places and orientations stay 32-bit floats; the " +
		"second row does the same and saves what counters and flags do. Here all fields are " +
		"multiples of a step within bounds, so packing them saves much more, and differences " +
		"have less left to save.")
	f.differs("How much differences save depends on how much stands still. Bots of an action " +
		"game keep moving, and DOOM III's levels have many entities that never do.")
	f.differs("Run lengths save little where unchanged entities are omitted: their zeros are gone " +
		"already. Where they are written, run lengths take back about half of what that costs.")
	return f, nil
}

// A seen entity is an image and whether it was there.
type images map[world.ID][]int32

// writeSnapshots records a match, and gives the mean bytes of a snapshot by stage.
func writeSnapshots(ctx context.Context, s *lab.Subject, players int, seed uint64,
	length time.Duration) ([]float64, error) {
	m, err := lab.NewMatch(s, players, seed)
	if err != nil {
		return nil, err
	}
	const rate, back = 20, 2 // snapshots a second, and how many the base is old
	every := max(s.Game.Rate()/rate, 1)
	var kept []images
	sums := make([]float64, len(doom3Stages()))
	n := 0
	w := newSnapshotWriter(s.Game)
	for tick := range int(length / s.Game.TickLength()) {
		if err := m.Step(); err != nil {
			return nil, err
		}
		if tick%every != 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		now := images{}
		for class := range s.Game.Classes() {
			for id := range m.World.Host().Of(class) {
				now[id] = append([]int32(nil), m.World.Host().Image(id)...)
			}
		}
		if kept = append(kept, now); len(kept) <= back+rate {
			continue // everybody has come in
		}
		for k, size := range w.write(m.World, now, kept[len(kept)-1-back]) {
			sums[k] += size
		}
		n++
	}
	if n == 0 {
		return nil, fmt.Errorf("%v is too short to record", length)
	}
	for k := range sums {
		sums[k] /= float64(n)
	}
	return sums, nil
}

// A snapshotWriter writes snapshots in each of the ways.
type snapshotWriter struct {
	game   *world.Game
	fields []*packed.Schema
	buf    []byte
	out    []byte
}

func newSnapshotWriter(g *world.Game) *snapshotWriter {
	w := &snapshotWriter{game: g, buf: make([]byte, 1<<20), out: make([]byte, 1<<20)}
	for _, c := range g.Classes() {
		w.fields = append(w.fields, c.Schema())
	}
	return w
}

// numberBits is what DOOM III takes to name an entity.
const numberBits = 12

func width(s *packed.Slot) int { return bits.Len32(uint32(s.Max) - uint32(s.Min)) }

// write gives the bytes of a snapshot by stage.
func (w *snapshotWriter) write(world *world.World, now, base images) []float64 {
	var whole, some, all int
	for id, image := range now {
		for i := range image {
			slot := &w.fields[id.Class()].Slots[i]
			whole += 32
			all += width(slot)
			if slot.Scale != 0 {
				some += 32
			} else {
				some += width(slot)
			}
		}
	}
	named := numberBits * len(now)
	out := []float64{float64(whole+named) / 8, float64(some+named) / 8, float64(all+named) / 8}
	var runs []float64
	for _, omit := range []bool{false, true} {
		n := w.differences(world, now, base, omit)
		out = append(out, float64(n)/8)
		to := packed.NewWriter(w.out)
		entropy.ZeroRuns{}.EncodeBits(to, w.buf, n)
		runs = append(runs, float64(to.Len())/8)
	}
	return append(out, runs...)
}

// differences writes a snapshot as differences into buf, and says how many bits that took.
func (w *snapshotWriter) differences(in *world.World, now, base images, omit bool) int {
	to := packed.NewWriter(w.buf)
	for class := range w.fields {
		for id := range in.Host().Of(class) {
			image, was := now[id], base[id]
			if omit && equal(image, was) {
				continue
			}
			to.WriteBits(uint64(id.Index())&(1<<numberBits-1), numberBits)
			for i, v := range image {
				slot := &w.fields[class].Slots[i]
				before := slot.Absent
				if was != nil {
					before = was[i]
				}
				if to.WriteBool(v != before); v != before {
					to.WriteBits(uint64(uint32(v)-uint32(slot.Min)), width(slot))
				}
			}
		}
	}
	return to.Len()
}

func equal(a, b []int32) bool {
	for i := range a {
		if b == nil || a[i] != b[i] {
			return false
		}
	}
	return b != nil
}

// doom3Played is what whole strategies send a client, on real servers.
func doom3Played(ctx context.Context, o *Options, f *Finding, p lab.Progress) error {
	t := Table{Title: "Whole architectures on real servers, eight bots on cable: what a client is " +
		"sent, B/s with headers", Keys: 1,
		Heads: []string{"architecture", "published", "here"}}
	for _, name := range []string{"quake3", "doom3", "doom3-exact", "coeval"} {
		if _, err := tunnel.Lookup(name); err != nil {
			continue
		}
		list, err := tunnelFigures(ctx, o, p, trial{arch: name, network: "cable", players: 8,
			time: 10 * time.Second})
		if err != nil {
			return err
		}
		t.add(name, "–", interval(pick(list, "client_down"), 0))
	}
	f.Tables = append(f.Tables, t)
	return nil
}
