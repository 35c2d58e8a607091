package convert

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// Options say what a conversion begins with.
type Options struct {
	// Fresh is a new world of the game, from which states that were gained, and fields of states,
	// have their values. Default: one without a level.
	Fresh *world.World
}

// World loads a world that a version of the game has saved which declared something else. An *Error
// lists all that cannot be converted.
func World(g *world.Game, d *world.Declared, saved []byte, o Options) (*world.World, *Report,
	error) {
	c, err := newConversion(g, d, o)
	if err != nil {
		return nil, nil, err
	}
	from, err := d.Parse(saved)
	if err != nil {
		return nil, nil, err
	}
	to := c.world(from)
	if err := c.wrong.err(g.Name()); err != nil {
		return nil, c.report, err
	}
	w, err := g.Adopt(to)
	if err != nil {
		return nil, c.report, fmt.Errorf("convert: what came of it is no world of %q: %w", g.Name(),
			err)
	}
	return w, c.report, nil
}

// Check says what would become of worlds that were saved by a version of the game, whatever is in
// them. An *Error lists what could not be loaded.
func Check(g *world.Game, d *world.Declared) (*Report, error) {
	c, err := newConversion(g, d, Options{})
	if err != nil {
		return nil, err
	}
	return c.report, c.wrong.err(g.Name())
}

// A conversion is that of one world.
type conversion struct {
	game   *world.Game
	old    *world.Declared
	now    *world.Declared
	fresh  *world.World
	report *Report
	wrong  problems

	classes  []class // by number of now
	numbers  []int   // what became of each class of then: its number, or -1
	events   []event // by number of now
	commands *Fields // nil if there are none to convert
}

// class is how entities of one class are made.
type class struct {
	info   *world.ClassInfo
	from   int // the number of then, or -1
	fields *Fields
	rules  *Rules
	image  []int32 // of a new one
	server []world.SavedValue
}

type event struct {
	info   *world.EventInfo
	from   int
	fields *Fields
}

func newConversion(g *world.Game, d *world.Declared, o Options) (*conversion, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	if g.Name() != d.Game {
		return nil, fmt.Errorf("convert: %w: it is of game %q, not %q", world.ErrGame, d.Game,
			g.Name())
	}
	c := &conversion{game: g, old: d, now: g.Declared(), fresh: o.Fresh}
	if c.fresh == nil {
		var err error
		if c.fresh, err = g.New(world.Settings{Partial: true}); err != nil {
			return nil, err
		}
	}
	c.report = &Report{Game: d.Game, From: fmt.Sprintf("%016x", d.Hash),
		To: fmt.Sprintf("%016x", c.now.Hash)}
	if d.Rate != c.now.Rate {
		c.wrong.add(Problem{Class: "game", Field: "Rate", Why: fmt.Sprintf(
			"was %d ticks a second and is %d: what was counted in ticks would mean another time; "+
				"leave the rate as it was", d.Rate, c.now.Rate)})
	}
	for _, step := range []func() error{c.planClasses, c.planEvents} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if d.Commands != nil && c.now.Commands != nil {
		c.commands = NewFields("commands", &Side{Fields: *d.Commands},
			&Side{Fields: *c.now.Commands}, nil)
		c.report.Changes = append(c.report.Changes, c.commands.changes...)
		// One that does not fit is only let go of, so none of it is a problem.
	}
	return c, nil
}

// planClasses pairs classes by name.
func (c *conversion) planClasses() error {
	c.numbers = slices.Repeat([]int{-1}, len(c.old.Classes))
	for i, info := range c.game.Classes() {
		value := info.New()
		r, err := rulesOf("class "+info.Name(), value, info.PathOf)
		if err != nil {
			return err
		}
		x := class{info: info, rules: r, from: c.find(info.Name(), r.class)}
		if x.image, x.server, err = c.begin(info); err != nil {
			return err
		}
		if x.from < 0 {
			c.report.Changes = append(c.report.Changes, Change{Class: info.Name(), What: Gained})
			c.classes = append(c.classes, x)
			continue
		}
		c.numbers[x.from] = i
		was, is := &c.old.Classes[x.from], &c.now.Classes[i]
		if was.Name != is.Name {
			c.report.Changes = append(c.report.Changes, Change{Class: is.Name, What: Renamed,
				Was: was.Name, Is: is.Name})
		}
		if was.State != is.State {
			c.wrong.add(Problem{Class: is.Name,
				Why: "was a class and is a state, or the other way " +
					"round: give one of them another name"})
		}
		x.fields = NewFields(is.Name, &Side{was.Fields, was.Server}, &Side{is.Fields, is.Server}, r)
		c.report.Changes = append(c.report.Changes, x.fields.changes...)
		c.wrong.add(x.fields.wrong...)
		c.classes = append(c.classes, x)
	}
	for i, to := range c.numbers {
		if to < 0 {
			c.report.Changes = append(c.report.Changes, Change{Class: c.old.Classes[i].Name,
				What: Lost})
		}
	}
	return nil
}

// find is the class of then that a class of now is made of. A name that a class of now has is that
// one's, whatever a rule says.
func (c *conversion) find(name string, was []string) int {
	index := func(name string) int {
		return slices.IndexFunc(c.old.Classes,
			func(x world.DeclaredClass) bool { return x.Name == name })
	}
	if i := index(name); i >= 0 {
		return i
	}
	for _, w := range was {
		taken := slices.ContainsFunc(c.game.Classes(),
			func(x *world.ClassInfo) bool { return x.Name() == w })
		if i := index(w); i >= 0 && !taken && c.numbers[i] < 0 {
			return i
		}
	}
	return -1
}

// begin is what a new entity of a class is; of a state, what a new world has.
func (c *conversion) begin(info *world.ClassInfo) ([]int32, []world.SavedValue, error) {
	value := info.New()
	if info.State() {
		for id := range c.fresh.Host().Of(info.Number()) {
			value = c.fresh.Host().Value(id)
		}
	}
	image := make([]int32, info.Layout().Len())
	var s bits.Sync
	if err := info.Layout().Pack(&s, value.(bits.Syncer), image); err != nil {
		return nil, nil, err
	}
	server, err := info.ServerValues(value)
	return image, server, err
}

// planEvents pairs kinds of events that are kept.
func (c *conversion) planEvents() error {
	for i, info := range c.game.Events() {
		x := event{info: info, from: slices.IndexFunc(c.old.Events,
			func(e world.DeclaredEvent) bool { return e.Name == info.Name() })}
		if x.from >= 0 && c.old.Events[x.from].Saved && c.now.Events[i].Saved {
			r, err := rulesOf("event "+info.Name(), info.New(), info.PathOf)
			if err != nil {
				return err
			}
			x.fields = NewFields(info.Name(), &Side{Fields: c.old.Events[x.from].Fields},
				&Side{Fields: c.now.Events[i].Fields}, r)
			c.report.Changes = append(c.report.Changes, x.fields.changes...)
			c.wrong.add(x.fields.wrong...)
		}
		c.events = append(c.events, x)
	}
	return nil
}

// id is what became of an identifier: that of the same entity, or none if its class was lost.
func (c *conversion) id(id world.ID) world.ID {
	if id == world.None {
		return id
	}
	if id.Class() >= len(c.numbers) || c.numbers[id.Class()] < 0 {
		return world.None
	}
	return world.MakeID(c.numbers[id.Class()], id.Allocator(), id.Index(), id.Generation())
}

// world converts all of it.
func (c *conversion) world(from *world.Contents) *world.Contents {
	to := &world.Contents{Settings: from.Settings, Tick: from.Tick,
		Tables: make([]world.SavedTable, len(c.classes)),
		Events: make([][]world.SavedEvent, len(c.events))}
	c.report.Tick = from.Tick
	for _, p := range from.Players {
		to.Players = append(to.Players, world.SavedPlayer{Player: p.Player,
			Command: c.command(p.Command), Sight: c.sight(p.Sight)})
	}
	for i := range c.classes {
		x := &c.classes[i]
		switch {
		case x.fields != nil:
			to.Tables[i] = c.table(x, &from.Tables[x.from])
		case x.info.State():
			to.Tables[i].Banks = []world.SavedBank{{Slots: []world.SavedSlot{{Generation: 1,
				Entity: &world.SavedEntity{Ago: uint32(from.Tick), Image: x.image,
					Server: x.server}}}}}
		}
	}
	for i, t := range from.Tables {
		if c.numbers[i] < 0 {
			c.report.Dropped += entities(t)
		}
	}
	for i := range c.events {
		if x := &c.events[i]; x.fields != nil {
			to.Events[i] = c.saved(x, from.Events[x.from])
		}
	}
	to.Moments = c.moments(from.Moments)
	return to
}

func entities(t world.SavedTable) (n int) {
	for _, b := range t.Banks {
		for i := range b.Slots {
			if b.Slots[i].Entity != nil {
				n++
			}
		}
	}
	return n
}

// table converts the entities of a class.
func (c *conversion) table(x *class, from *world.SavedTable) (to world.SavedTable) {
	limit, used := x.info.Limit(), 0
	n := entities(*from)
	c.report.Entities += n
	for _, b := range from.Banks {
		nb := world.SavedBank{Allocator: b.Allocator, Slots: make([]world.SavedSlot, len(b.Slots))}
		for i, s := range b.Slots {
			nb.Slots[i] = world.SavedSlot{Generation: s.Generation, Away: s.Away, Ghost: s.Ghost}
			if s.Entity != nil {
				nb.Slots[i].Entity = c.entity(x, s.Entity)
			}
			if s.Entity != nil || s.Away {
				used = max(used, i+1)
			}
		}
		to.Banks = append(to.Banks, nb)
	}
	if was := c.old.Classes[x.from].Limit; limit < was {
		for i := range to.Banks { // what is free beyond the limit is not counted on any more
			b := &to.Banks[i]
			b.Slots = b.Slots[:min(len(b.Slots), max(used, limit))]
		}
	}
	if n > limit || used > limit && limit < c.old.Classes[x.from].Limit {
		c.wrong.add(Problem{Class: x.info.Name(),
			Why: fmt.Sprintf("has %d entities, up to index %d, "+
				"and its limit is %d: raise it", n, used-1, limit)})
	}
	return to
}

// entity converts one.
func (c *conversion) entity(x *class, from *world.SavedEntity) *world.SavedEntity {
	to := &world.SavedEntity{Owner: from.Owner, By: c.id(from.By), Ago: from.Ago,
		Ordinal: from.Ordinal, Image: slices.Clone(x.image), Server: slices.Clone(x.server)}
	wrong := x.fields.Convert(to.Image, to.Server, from.Image, from.Server, c.id)
	if c.wrong.add(wrong...); len(wrong) > 0 || len(x.fields.wrong) > 0 {
		return to
	}
	v := x.info.New()
	err := settle(x.info.Layout(), v.(bits.Syncer), to.Image)
	if err == nil {
		err = x.info.SetServerValues(v, to.Server)
	}
	if err == nil && x.rules.then != nil {
		err = x.rules.then(v, Values{x.fields, from.Image, from.Server})
		var s bits.Sync
		if err == nil {
			err = x.info.Layout().QuantiseInto(&s, v.(bits.Syncer), to.Image)
		}
		if err == nil {
			err = settle(x.info.Layout(), v.(bits.Syncer), to.Image)
		}
		if err == nil {
			to.Server, err = x.info.ServerValues(v)
		}
	}
	if err != nil {
		c.wrong.add(misfit(x.info.Name(), err))
	}
	return to
}

// command converts a player's last one. One that does not fit becomes one at rest.
func (c *conversion) command(from []int32) []int32 {
	if c.now.Commands == nil {
		return nil
	}
	rest, err := c.game.CommandImage(nil)
	if err != nil || c.commands == nil || len(c.commands.wrong) > 0 {
		return rest
	}
	image := slices.Clone(rest)
	if len(c.commands.Convert(image, nil, from, nil, c.id)) > 0 {
		return rest
	}
	if image, err = c.game.CommandImage(image); err != nil {
		return rest
	}
	if again, err := c.game.CommandImage(image); err != nil || !slices.Equal(image, again) {
		return rest
	}
	return image
}

// saved converts events. Those about an entity that was lost are lost.
func (c *conversion) saved(x *event, list []world.SavedEvent) (out []world.SavedEvent) {
	for _, e := range list {
		about := c.id(e.About)
		if about != e.About && about == world.None {
			continue
		}
		to := world.SavedEvent{Emitted: e.Emitted, Image: make([]int32, x.info.Layout().Len())}
		to.Kind, to.About, to.By = uint16(x.info.Number()), about, c.id(e.By)
		v := x.info.New()
		var s bits.Sync
		err := x.info.Layout().Pack(&s, v, to.Image)
		if err == nil {
			wrong := x.fields.Convert(to.Image, nil, e.Image, nil, c.id)
			if c.wrong.add(wrong...); len(wrong) > 0 || len(x.fields.wrong) > 0 {
				continue
			}
			err = settle(x.info.Layout(), v, to.Image)
		}
		if err != nil {
			c.wrong.add(misfit(x.info.Name(), err))
		}
		out = append(out, to)
	}
	if n := x.info.Limit(); len(out) > n {
		c.wrong.add(Problem{Class: x.info.Name(), Why: fmt.Sprintf(
			"%d such events are saved, and the limit is %d: raise it", len(out), n)})
	}
	return out
}

// sight is what a player saw, without what cannot be shot at any more.
func (c *conversion) sight(s world.Sight) world.Sight {
	list := s.Claims[:s.Claimed]
	for i := range list {
		list[i].Target = c.id(list[i].Target)
	}
	if c.game.CheckSight(&s) != nil {
		return world.Sight{}
	}
	return s
}

// moments are where things were, of those whose place is still meant so.
func (c *conversion) moments(list []world.SavedMoment) (out []world.SavedMoment) {
	if c.now.Rewinds == 0 {
		return nil
	}
	list = list[max(0, len(list)-int(c.now.Rewinds)-1):]
	for _, m := range list {
		type where struct {
			id    world.ID
			place [3]int32
		}
		var all []where
		for i, id := range m.IDs {
			if to := c.id(id); to != world.None && c.samePlace(id.Class()) {
				all = append(all, where{to, m.Places[i]})
			}
		}
		slices.SortFunc(all, func(a, b where) int { return cmp.Compare(a.id, b.id) })
		var to world.SavedMoment
		for _, x := range all {
			to.IDs, to.Places = append(to.IDs, x.id), append(to.Places, x.place)
		}
		out = append(out, to)
	}
	return out
}

// samePlace says that a class of then is rewound as it is now.
func (c *conversion) samePlace(number int) bool {
	was, is := &c.old.Classes[number], &c.now.Classes[c.numbers[number]]
	if len(was.Place) != len(is.Place) {
		return false
	}
	for i := range was.Place {
		a, b := was.Fields.Slots[was.Place[i]], is.Fields.Slots[is.Place[i]]
		if a.Min != b.Min || a.Max != b.Max || a.Scale != b.Scale {
			return false
		}
	}
	return true
}
