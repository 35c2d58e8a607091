package world

import "fmt"

// CheckRollback runs a game and, at every tick, goes back a few ticks and computes them again from
// a copy, and in turn from a saved world. If the game keeps anything outside of its fields, or asks
// anything but its inputs, the two come apart. It gives the first tick, entity and field in which
// they do, or nil. An error is one of the game's own. There are local entities only the first time,
// as on a client.
func CheckRollback(g *Game, o CheckOptions) (*Difference, error) {
	if err := o.defaults(g); err != nil {
		return nil, err
	}
	w, err := g.New(o.Settings)
	if err != nil {
		return nil, err
	}
	locals := g.NewLocals()
	if err := w.Host().SetLocals(locals); err != nil {
		return nil, err
	}
	// What the world was at each of the last ticks, and what came in.
	past, inputs := make([]*World, o.Back+1), make([]*Inputs, o.Back+1)
	for i := range past {
		past[i], inputs[i] = w.Host().Clone(), g.NewInputs()
	}
	again := w.Host().Clone()
	var saved []byte
	for t := Tick(1); t <= Tick(o.Ticks); t++ {
		now := int(t) % len(past)
		o.Inputs(t, inputs[now])
		if err := w.Host().Step(inputs[now]); err != nil {
			return nil, err
		}
		if err := locals.Step(w); err != nil {
			return nil, err
		}
		if err := past[now].Host().CopyFrom(w); err != nil {
			return nil, err
		}
		from := t - min(t, Tick(o.Back))
		start := past[int(from)%len(past)]
		if t%2 == 0 {
			if err := again.Host().CopyFrom(start); err != nil {
				return nil, err
			}
		} else {
			saved = start.Host().Save(saved[:0])
			if again, err = g.Load(saved); err != nil {
				return nil, fmt.Errorf("tick %d was saved and cannot be loaded: %w", from, err)
			}
			if d := Differ(start, again); d != nil {
				return d, nil
			}
		}
		for u := from + 1; u <= t; u++ {
			if err := again.Host().Step(inputs[int(u)%len(inputs)]); err != nil {
				return nil, err
			}
			first := past[int(u)%len(past)]
			if d := Differ(first, again); d != nil {
				return d, nil
			}
			if e, same := sameEvents(first, again); !same {
				return &Difference{
					Tick: u, Class: g.events[e.Kind].name, Entity: e.About, Field: "event",
					A: "first time", B: "again"}, nil
			}
		}
	}
	return nil, nil
}
