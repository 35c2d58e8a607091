//go:build !js

package inspect

import (
	"fmt"
	"strconv"

	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// mostThings is how many entities an answer lists.
const mostThings = 5000

// Things are the entities of the world, or those that one player is shown.
type Things struct {
	Tick   world.Tick   `json:"tick"`
	Player world.Player `json:"player"` // whose view it is, or 0
	Things []Thing      `json:"entities"`
	More   int          `json:"more"` // that are not listed
}

// A Thing is an entity.
type Thing struct {
	ID    string       `json:"id"`
	Class string       `json:"class"`
	Owner world.Player `json:"owner"`
	Place []float64    `json:"place"` // empty where the class has none
	View  *View        `json:"view,omitempty"`
}

// A View is how far a client was told of an entity.
type View struct {
	Priority float64 `json:"priority"`
	Waiting  float64 `json:"waiting"` // what it has gained by not being sent
	Current  bool    `json:"current"` // the client was sent what it is now
	Sends    int     `json:"sends"`
	UnderWay int     `json:"under_way"` // packets with it that are not acknowledged
	Why      string  `json:"why"`
}

func (i *Inspector) thing(w *world.World, id world.ID) Thing {
	t := Thing{ID: strconv.FormatUint(uint64(id), 16), Owner: w.Owner(id), Place: []float64{},
		Class: i.opt.Game.Title.Game.Classes()[id.Class()].Name()}
	if at, ok := i.opt.Game.Title.At(w, id); ok {
		t.Place = []float64{at.X, at.Y, at.Z}
	}
	return t
}

// things lists the world.
func (i *Inspector) things(s *server.Server) Things {
	w := s.World()
	out := Things{Tick: w.Tick(), Things: []Thing{}}
	for id := range w.Entities() {
		if len(out.Things) >= mostThings {
			out.More++
			continue
		}
		out.Things = append(out.Things, i.thing(w, id))
	}
	return out
}

// view lists what one person is shown.
func (i *Inspector) view(s *server.Server, seat *server.Seat) Things {
	w := s.World()
	out := Things{Tick: w.Tick(), Player: seat.Player, Things: []Thing{}}
	for v := range seat.Shown {
		if len(out.Things) >= mostThings {
			out.More++
			continue
		}
		if v.Player != world.Nobody || !w.Has(v.Entity) {
			continue // commands of others, and what is gone
		}
		t := i.thing(w, v.Entity)
		t.View = &View{Priority: v.Priority, Waiting: v.Waiting, Current: v.Current,
			Sends: v.Sends, UnderWay: v.UnderWay, Why: why(&v)}
		out.Things = append(out.Things, t)
	}
	return out
}

// why says in words how it stands with what someone is shown.
func why(v *replica.Shown) string {
	switch {
	case v.Current && v.UnderWay == 0:
		return "the client has it as it is"
	case v.Current:
		return fmt.Sprintf("sent as it is, in %d packets on their way", v.UnderWay)
	case v.Waiting > 0:
		return "it has changed and waits: others mattered more than there was room for"
	case v.Sends == 0:
		return "it is new, and waits for its first turn"
	}
	return "it has changed since the last turn"
}

// A Field is one value of an entity.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Role  string `json:"role"` // synced, derived or server
}

// An Entity is all that an entity holds.
type Entity struct {
	Tick   world.Tick `json:"tick"`
	There  bool       `json:"there"`
	Thing  Thing      `json:"entity"`
	Fields []Field    `json:"fields"`
}

func (i *Inspector) entity(s *server.Server, id world.ID) Entity {
	w := s.World()
	out := Entity{Tick: w.Tick(), There: w.Has(id), Fields: []Field{},
		Thing: Thing{ID: strconv.FormatUint(uint64(id), 16), Place: []float64{}}}
	if !out.There {
		return out
	}
	out.Thing = i.thing(w, id)
	for _, f := range w.Host().Fields(id) {
		out.Fields = append(out.Fields, Field{f.Name, f.String(), f.Role})
	}
	return out
}
