package codeclab

import (
	"cmp"
	"math"
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// GameTablesOptions say how much of a title is played to make tables from. Title has no default.
type GameTablesOptions struct {
	Title            *game.Title
	Level            string // default: the one that the title has for so many players
	Players, Seconds int
	Seed             uint64
	Progress         lab.Progress
}

// List describes the options.
func (o *GameTablesOptions) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Players, "players", 48, 1, 10000, "how many bots play"),
		lab.Number(&o.Seconds, "seconds", 40, 1, 3600, "how long they play, in the game's time"),
		lab.Number(&o.Seed, "seed", 1, 0, math.MaxUint64, "random seed"),
	}
}

// Recordings for tables are cut into scenes, so that entities that come and go are in some of them
// from beginning to end.
const (
	sceneTicks = 90
	warmUp     = 120 // ticks before the first, in which everyone joins and spreads out
)

// sceneAges are how old, in ticks, what the receiver has is taken to be, one scene after another: a
// snapshot interval, and round trips of 50 to 200 ms.
var sceneAges = [...]int{3, 4, 6, 9, 15}

// GameTables makes tables for a game's codec by letting bots play it: the same from the same
// options, so there is no recording to keep. replica.Options.Tables takes them.
//
// Two things are learned: how what a client knows goes on, from scenes of some ticks; and what
// comes into view for the first time looks like.
func GameTables(o GameTablesOptions) (*codec.Model, error) {
	if err := lab.Fill(o.List()); err != nil {
		return nil, err
	}
	if o.Title != nil && o.Title.Tables != nil { // which may be of rules that have changed since
		o.Title = o.Title.Clone()
		o.Title.Tables = nil
	}
	g, err := lab.NewSubject(o.Title, o.Level, o.Players)
	if err != nil {
		return nil, err
	}
	p, err := g.Protocol(replica.Coeval)
	if err != nil {
		return nil, err
	}
	m, err := lab.NewMatch(g, o.Players, o.Seed)
	if err != nil {
		return nil, err
	}
	r := newGameRecorder(g, p)
	ticks := o.Seconds * g.Game.Rate()
	for t := range warmUp + ticks {
		if t%60 == 0 {
			o.Progress.Tell(float64(t)/float64(warmUp+ticks)/4, "playing")
		}
		if err := m.Step(); err != nil {
			return nil, err
		}
		if t >= warmUp {
			r.tick(m.World)
		}
	}
	r.cut()
	recs := append(r.scenes, r.sights()...)
	return codec.Train(r.schema, recs, codec.TrainOptions{Progress: func(done float64) {
		o.Progress.Tell(0.25+0.75*done, "training")
	}})
}

// A gameRecorder collects images as the codec will see them.
type gameRecorder struct {
	schema *codec.Schema
	model  *codec.Model
	parts  [][]codecPart // by class of the game; the last is for commands
	alone  []bool        // classes that are told once, and then no more

	scene  []map[sceneKey][]int32 // images by tick
	scenes []*codec.Recording
	seen   map[sceneKey]bool
	first  []firstSight
	count  int
}

// sceneKey names an entity, or a player's command.
type sceneKey struct {
	id     world.ID
	player world.Player
}

// codecPart is a stretch of a class's images that is a class of the codec.
type codecPart struct{ class, from, to int }

type firstSight struct {
	class int
	image []int32
}

func newGameRecorder(g *lab.Subject, p *replica.Protocol) *gameRecorder {
	r := &gameRecorder{schema: p.Model().Schema(), model: p.Model(), seen: map[sceneKey]bool{}}
	next := 0
	add := func(slots int, alone bool) {
		var parts []codecPart
		for at := 0; ; {
			n := len(r.schema.Classes[next].Fields)
			parts = append(parts, codecPart{next, at, at + n})
			at += n
			next++
			if at >= slots {
				break
			}
		}
		r.parts, r.alone = append(r.parts, parts), append(r.alone, alone)
	}
	policies := g.Policies()
	for _, c := range g.Game.Classes() {
		add(len(c.Schema().Slots), policies[c.Name()].Takeover)
	}
	if c := g.Game.Commands(); c != nil {
		add(len(c.Slots), false)
	}
	return r
}

func (r *gameRecorder) class(k sceneKey) int {
	if k.player != world.Nobody {
		return len(r.parts) - 1
	}
	return k.id.Class()
}

// tick takes all that there is.
func (r *gameRecorder) tick(w *world.World) {
	now := map[sceneKey][]int32{}
	for class := range w.Game().Classes() {
		for id := range w.Host().Of(class) {
			k := sceneKey{id: id}
			image := slices.Clone(w.Host().Image(id))
			if len(image) == 0 {
				image = []int32{0} // as the codec has it
			}
			// someone sees one in 64 for the first time
			if !r.seen[k] || len(now)%64 == int(w.Tick())%64 {
				r.seen[k] = true
				r.first = append(r.first, firstSight{class, image})
			}
			if !r.alone[class] {
				now[k] = image
			}
		}
	}
	if s := w.Game().Commands(); s != nil {
		for p := range w.Players {
			image := make([]int32, max(len(s.Slots), 1))
			if w.Host().CommandImage(p, image[:len(s.Slots)]) {
				now[sceneKey{player: p}] = image
			}
		}
	}
	if r.scene = append(r.scene, now); len(r.scene) == sceneTicks {
		r.cut()
	}
}

// cut makes a recording of what was there from the scene's first tick to its last.
func (r *gameRecorder) cut() {
	scene := r.scene
	r.scene = nil
	if len(scene) < sceneTicks {
		return
	}
	var keys []sceneKey
	for k := range scene[0] {
		if !slices.ContainsFunc(scene, func(m map[sceneKey][]int32) bool { return m[k] == nil }) {
			keys = append(keys, k)
		}
	}
	// In one order, so that the same play makes the same tables.
	slices.SortFunc(keys,
		func(a, b sceneKey) int {
			return cmp.Or(cmp.Compare(a.player, b.player), cmp.Compare(a.id, b.id))
		})
	rec := &codec.Recording{
		Schema: r.schema, Rate: 60, BaseAge: sceneAges[r.count%len(sceneAges)], Refer: -1}
	r.count++
	for _, k := range keys {
		for _, p := range r.parts[r.class(k)] {
			rec.Classes = append(rec.Classes, p.class)
		}
	}
	for _, images := range scene {
		var frame []int32
		for _, k := range keys {
			for _, p := range r.parts[r.class(k)] {
				frame = append(frame, images[k][p.from:p.to]...)
			}
		}
		rec.Frames = append(rec.Frames, frame)
	}
	if len(keys) > 0 {
		r.scenes = append(r.scenes, rec)
	}
}

// firstAge is the age of the image that an entity starts from where a client knows nothing of it.
const firstAge = 255

// sights makes a recording of which only the last frame counts: what was seen for the first time,
// against what the codec starts from.
func (r *gameRecorder) sights() []*codec.Recording {
	rec := &codec.Recording{
		Schema: r.schema, Rate: 60, BaseAge: firstAge, Skip: firstAge, Refer: -1}
	var before, now []int32
	for _, f := range r.first {
		for _, p := range r.parts[f.class] {
			rec.Classes = append(rec.Classes, p.class)
			before = append(before, r.model.Start(p.class)...)
			now = append(now, f.image[p.from:p.to]...)
		}
	}
	if len(now) == 0 {
		return nil
	}
	for range firstAge {
		rec.Frames = append(rec.Frames, before)
	}
	rec.Frames = append(rec.Frames, now)
	return []*codec.Recording{rec}
}
