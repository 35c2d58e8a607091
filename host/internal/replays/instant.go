//go:build !js

package replays

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// Bounds of an answer.
const (
	mostEntities    = 2000
	mostEvents      = 200
	mostDifferences = 500
)

// An instant is a tick of one film, for people to read. The JSON names are the page's.
type instant struct {
	Tick     world.Tick `json:"tick"`
	Hash     string     `json:"hash"`
	Entities []entity   `json:"entities"`
	More     int        `json:"more,omitempty"` // entities that are not listed
	Players  []player   `json:"players"`
	Events   []event    `json:"events"`
	Scores   []score    `json:"scores,omitempty"`
}

type entity struct {
	ID    string       `json:"id"`
	Class string       `json:"class"`
	Owner world.Player `json:"owner,omitempty"`
	Place *[3]float64  `json:"place,omitempty"`
	Line  string       `json:"line"` // its fields in short
}

type player struct {
	Player  world.Player `json:"player"`
	Present bool         `json:"present"`
	Command string       `json:"command"`
	Values  []int32      `json:"values,omitempty"` // of the command, by slot
}

type event struct {
	Kind  string `json:"kind"`
	About string `json:"about,omitempty"`
	By    string `json:"by,omitempty"`
	Line  string `json:"line"`
}

type score struct {
	Player world.Player `json:"player"`
	Points int          `json:"points"`
}

// instant lists what there is in a world of the film.
func (f *film) instant(w *world.World) *instant {
	g := f.title.Game
	i := &instant{Tick: w.Tick(), Hash: fmt.Sprintf("%016x", w.Hash()), Entities: []entity{},
		Players: []player{}, Events: []event{}}
	for id := range w.Entities() {
		if len(i.Entities) >= mostEntities {
			i.More++
			continue
		}
		e := entity{ID: hexID(id), Class: g.Classes()[id.Class()].Name(), Owner: w.Owner(id),
			Line: imageLine(g.Classes()[id.Class()].Schema(), w.Host().Image(id))}
		if at, ok := f.title.At(w, id); ok {
			e.Place = place(at)
		}
		i.Entities = append(i.Entities, e)
	}
	schema := f.seeker.Header().Commands
	for p := range w.Players {
		one := player{Player: p, Present: w.Present(p)}
		if schema != nil {
			image := make([]int32, len(schema.Slots))
			if w.Host().CommandImage(p, image) {
				one.Command, one.Values = trace.FormatCommand(schema, image), image
			}
		}
		i.Players = append(i.Players, one)
	}
	w.Host().Happened(func(e world.Emitted, s bits.Syncer) bool {
		kind := g.Events()[e.Kind]
		image := make([]int32, len(kind.Layout().Schema().Slots))
		line := ""
		if kind.Layout().Pack(new(bits.Sync), s, image) == nil {
			line = imageLine(kind.Layout().Schema(), image)
		}
		one := event{Kind: kind.Name(), Line: line}
		if e.About != world.None {
			one.About = nameOf(g, e.About)
		}
		if e.By != world.None {
			one.By = nameOf(g, e.By)
		}
		i.Events = append(i.Events, one)
		return len(i.Events) < mostEvents
	})
	if f.title.Screen.Scores != nil {
		for _, s := range f.title.Screen.Scores(w) {
			i.Scores = append(i.Scores, score{s.Player, s.Points})
		}
	}
	return i
}

func place(at det.Vec3) *[3]float64 { return &[3]float64{at.X, at.Y, at.Z} }

// imageLine writes the fields of an image that are not at rest.
func imageLine(schema *bits.Schema, image []int32) string {
	line := trace.FormatCommand(schema, image)
	const most = 160
	if len(line) > most {
		cut := most
		for cut > 0 && line[cut]&0xc0 == 0x80 {
			cut--
		}
		line = line[:cut] + "…"
	}
	return line
}

// hexID writes an identifier for a page to hand back.
func hexID(id world.ID) string { return strconv.FormatUint(uint64(id), 16) }

// A field is one value of an entity.
type field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Role  string `json:"role"`
}

// fields lists all that an entity holds.
func fields(w *world.World, id world.ID) []field {
	out := []field{}
	for _, v := range w.Host().Fields(id) {
		out = append(out, field{v.Name, v.String(), v.Role})
	}
	return out
}

// A difference is a field in which two films are not the same at an instant.
type difference struct {
	ID    string `json:"id"`
	Class string `json:"class"`
	Field string `json:"field"`
	A     string `json:"a"`
	B     string `json:"b"`
}

// A holding is what a film holds at an instant: values by entity, in order.
type holding struct {
	tick world.Tick
	hash uint64
	ids  []world.ID
	of   map[world.ID][]world.FieldValue
}

func hold(w *world.World) *holding {
	h := &holding{tick: w.Tick(), hash: w.Hash(), of: map[world.ID][]world.FieldValue{}}
	for id := range w.Entities() {
		h.ids = append(h.ids, id)
		h.of[id] = w.Host().Fields(id)
	}
	return h
}

// compare lists where two films differ, entity by entity and field by field.
func compare(g *world.Game, a, b *holding) (list []difference, more int) {
	list = []difference{}
	add := func(id world.ID, name, x, y string) {
		if len(list) >= mostDifferences {
			more++
			return
		}
		list = append(list, difference{hexID(id), g.Classes()[id.Class()].Name(), name, x, y})
	}
	all := slices.Concat(a.ids, b.ids)
	slices.SortFunc(all, func(x, y world.ID) int { return cmp.Compare(x, y) })
	for _, id := range slices.Compact(all) {
		x, inA := a.of[id]
		y, inB := b.of[id]
		if !inA || !inB {
			there := func(in bool) string {
				if in {
					return "there"
				}
				return "not there"
			}
			add(id, "presence", there(inA), there(inB))
			continue
		}
		values := make(map[string]string, len(y))
		for _, v := range y {
			values[v.Name] = v.String()
		}
		for _, v := range x {
			if v.Role == "derived" {
				continue
			}
			if other, ok := values[v.Name]; !ok || other != v.String() {
				add(id, v.Name, v.String(), cmp.Or(other, "nothing"))
			}
		}
	}
	if len(list) == 0 && a.hash != b.hash {
		list = append(list, difference{
			Field: "the rest of the world, such as seeds and saved events",
			A:     fmt.Sprintf("hash %016x", a.hash), B: fmt.Sprintf("hash %016x", b.hash)})
	}
	return list, more
}
