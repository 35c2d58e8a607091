package admin

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file changes a world while it runs: knobs and content. Both are inputs, which come in at the
// next tick that is open, the same on all copies of the world, and are part of recordings.

// pending are knobs that were told and have not come in yet: what is set next goes on from them.
// The API's lock busy is held.
type pending struct {
	list map[string]pendingKnob // by class
}

type pendingKnob struct {
	value bits.Syncer
	told  world.Tick // the world's, when it was
}

func (p *pending) forget() { p.list = nil }

// is says what a knob is: in the world, or on its way there.
func (p *pending) is(w *world.World, c *world.ClassInfo) (bits.Syncer, error) {
	now, err := knobValue(w, c)
	if err != nil {
		return nil, err
	}
	x, waits := p.list[c.Name()]
	// The world may be another by now, or the game may have set the knob since.
	gone := w.Tick() < x.told || w.Tick() > x.told+world.Tick(w.Game().Rate())
	if !waits || gone || sameKnob(c, now, x.value) {
		delete(p.list, c.Name())
		return now, nil
	}
	v := reflect.New(reflect.TypeOf(x.value).Elem())
	v.Elem().Set(reflect.ValueOf(x.value).Elem())
	return v.Interface().(bits.Syncer), nil
}

// sameKnob says whether two values are the same to the world.
func sameKnob(c *world.ClassInfo, a, b bits.Syncer) bool {
	var s bits.Sync
	x, y := make([]int32, c.Layout().Len()), make([]int32, c.Layout().Len())
	return c.Layout().Pack(&s, a, x) == nil && c.Layout().Pack(&s, b, y) == nil &&
		reflect.DeepEqual(x, y)
}

// Knobs are the answer to what can be set.
type Knobs struct {
	Tick  uint64 `json:"tick"`
	Knobs []Knob `json:"knobs"`
	// InForce says, after something was set, that the world has it.
	InForce *bool `json:"in_force,omitempty"`
}

func (a *API) listKnobs(c *call) (any, error) {
	var out Knobs
	err := a.with(c, func(s *server.Server) (err error) {
		out.Tick = uint64(s.World().Tick())
		out.Knobs, err = ListKnobs(s.World())
		return err
	})
	return out, err
}

// KnobsRequest asks to set knobs: all of them, in the same tick, or on an error none.
type KnobsRequest struct {
	Set []Setting `json:"set"`
}

// setKnobs sets knobs, after it has tried them on a copy of the world.
func (a *API) setKnobs(c *call) (any, error) {
	var q KnobsRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	a.busy.Lock()
	defer a.busy.Unlock()
	var changed []knobChange
	var set []Knob
	var trial *world.World
	err := a.with(c, func(s *server.Server) (err error) {
		w := s.World()
		is := func(k *world.ClassInfo) (bits.Syncer, error) { return a.knobs.is(w, k) }
		if changed, set, err = changeKnobs(w.Game(), is, q.Set); err != nil {
			return bad(err)
		}
		trial = w.Host().Clone()
		return nil
	})
	if err != nil {
		return nil, err
	}
	fill := func(in *world.Inputs) error {
		for _, k := range changed {
			if err := world.SetKnobTo(in, k.value); err != nil {
				return err
			}
		}
		return nil
	}
	in := trial.Game().NewInputs()
	if err := fill(in); err != nil {
		return nil, err
	}
	if err := try(trial, in); err != nil {
		return nil, err
	}
	told, err := a.tell(c, fill)
	if err != nil {
		return nil, err
	}
	if a.knobs.list == nil {
		a.knobs.list = map[string]pendingKnob{}
	}
	for _, k := range changed {
		a.knobs.list[k.class.Name()] = pendingKnob{k.value, told}
	}
	at, inForce := a.await(c, func(w *world.World) bool {
		for _, k := range changed {
			if v, err := knobValue(w, k.class); err != nil || !sameKnob(k.class, v, k.value) {
				return false
			}
		}
		return w.Tick() > told
	})
	return Knobs{Tick: uint64(at), Knobs: set, InForce: &inForce}, nil
}

// tell gives the world inputs, and says at which tick it was then.
func (a *API) tell(c *call, fill func(*world.Inputs) error) (told world.Tick, err error) {
	err = a.with(c, func(s *server.Server) error {
		told = s.World().Tick()
		if err := s.Tell(fill); err != nil {
			return refuse(http.StatusConflict, "not_now", "%v", err)
		}
		return nil
	})
	return told, err
}

// awaitTime is how long an answer waits until what was told is in the world.
const awaitTime = time.Second

// await waits until the world is as it should be, for a while, and says at which tick it is and
// whether that is so. A world that stands still does not get there.
func (a *API) await(c *call, is func(w *world.World) bool) (at world.Tick, yes bool) {
	for end := time.Now().Add(awaitTime); ; time.Sleep(a.game.Title.Game.TickLength()) {
		paused := false
		err := a.with(c, func(s *server.Server) error {
			at, paused, yes = s.World().Tick(), s.Paused(), is(s.World())
			return nil
		})
		if err != nil || yes || paused || time.Now().After(end) || c.Err() != nil {
			return at, yes
		}
	}
}

// lead is by how many ticks what is told may come in later: a mirror may have promised the others
// that it says nothing more about some of those that are not shown yet.
func (a *API) lead() world.Tick {
	if a.game.Mirrored {
		return world.Tick(a.game.Title.Game.Rate() / 4)
	}
	return 0
}

// Content is the answer to new content.
type Content struct {
	Tick    uint64 `json:"tick"`
	Bytes   int    `json:"bytes"`
	InForce bool   `json:"in_force"`
}

func mostContent(a *API) int64 {
	for _, in := range a.game.Title.Game.Inputs() {
		if in.Source() == world.FromContent {
			return int64(in.Limit())
		}
	}
	return 64 << 10
}

// content gives the game new content, after it has tried it on a copy of the world: if that makes
// no difference, or the game panics, nothing is done.
func (a *API) content(c *call) (any, error) {
	data := bytes.Clone(c.body)
	if len(data) == 0 {
		return nil, bad(fmt.Errorf("the body is the content, and there is none"))
	}
	fill := func(in *world.Inputs) error { return world.TellContent(in, data) }
	in := a.game.Title.Game.NewInputs()
	if err := fill(in); err != nil {
		return nil, refuse(http.StatusConflict, "no_content", "%v", err)
	}
	a.busy.Lock()
	defer a.busy.Unlock()
	var with, without *world.World
	err := a.with(c, func(s *server.Server) error {
		with, without = s.World().Host().Clone(), s.World().Host().Clone()
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := try(with, in); err != nil {
		return nil, err
	}
	if err := try(without, nil); err != nil {
		return nil, err
	}
	if with.Hash() == without.Hash() {
		return nil, refuse(http.StatusUnprocessableEntity, "no_difference", "the game makes "+
			"nothing of it, so nothing was changed: it is damaged, or is what the game has already")
	}
	told, err := a.tell(c, fill)
	if err != nil {
		return nil, err
	}
	at, past := a.await(c, func(w *world.World) bool { return w.Tick() > told+a.lead() })
	return Content{Tick: uint64(at), Bytes: len(data), InForce: past}, nil
}
