package world

import (
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/det"
)

// HiddenReport is what CheckHidden found.
type HiddenReport struct {
	Runs     int // how often a part of the world was predicted
	Compared int // how many entities were compared, once for each tick
	Exact    int // how many were predicted to the last bit
	// how many were not, but had to do with something hidden, new, secret, server-only or left to
	// the world that Decides
	Explained int
	Wrong     int // how many were not, without such a reason

	// the first that was wrong: A is what the server has, B what a client predicts
	First *Difference
}

// CheckHidden runs a game and, again and again, predicts it as a client would that is shown only
// some of the entities, chosen at random, as their images tell. The game must not fail when an
// entity that it looks for is not there, and must predict those exactly that have nothing to do
// with what is hidden. A panic or an error with entities hidden is returned as an error. The client
// has local entities, the server has none.
func CheckHidden(g *Game, o CheckOptions) (*HiddenReport, error) {
	if err := o.defaults(g); err != nil {
		return nil, err
	}
	w, err := g.New(o.Settings)
	if err != nil {
		return nil, err
	}
	s := o.Settings
	s.Partial, s.States = true, nil
	client, err := g.New(s)
	if err != nil {
		return nil, err
	}
	locals := g.NewLocals()
	if err := client.Host().SetLocals(locals); err != nil {
		return nil, err
	}
	in := g.NewInputs()
	rep := new(HiddenReport)
	for t := Tick(1); t <= Tick(o.Ticks); {
		if err := showSome(client, w, det.At(o.Seed, 2, uint64(w.tick))); err != nil {
			return rep, err
		}
		x := newWatch(w, client)
		rep.Runs++
		for range min(o.Back, o.Ticks-int(t)+1) {
			o.Inputs(t, in)
			x.begin(in)
			w.watch = x
			err := w.Host().Step(in)
			w.watch = nil
			if err != nil {
				return rep, err
			}
			if err := stepGuarded(client, in, locals); err != nil {
				return rep, fmt.Errorf("with entities hidden at random (seed %d): %w", o.Seed, err)
			}
			rep.compare(w, client, x)
			t++
		}
	}
	return rep, nil
}

// showSome makes the client's world what it is shown: all states, and entities by chance.
func showSome(client, w *World, r det.Rand) error {
	for id := range client.Entities() {
		client.Host().Drop(id)
	}
	client.Host().SetTick(w.tick)
	part := r.Range(0.2, 0.95)
	for i, c := range w.game.classes {
		for id := range w.Host().Of(i) {
			if c.state || r.Chance(part) {
				if err := client.Host().Put(id, w.Host().Entry(id),
					w.Host().Image(id)); err != nil {
					return err
				}
			}
		}
	}
	client.copyPlayers(w)
	return nil
}

// stepGuarded turns a panic of the game into an error that says when and where.
func stepGuarded(w *World, in *Inputs, locals *Locals) (err error) {
	defer func() {
		if r := recover(); r != nil {
			class := ""
			if w.me != None {
				class = w.game.classes[w.me.Class()].name
			}
			err = &Error{Tick: w.tick, Class: class, Entity: w.me, Err: fmt.Errorf("panic: %v", r)}
		}
	}()
	if err := w.Host().Step(in); err != nil {
		return err
	}
	return locals.Step(w)
}

func (rep *HiddenReport) compare(w, client *World, x *watch) {
	for i, c := range w.game.classes {
		for id := range w.Host().Of(i) {
			if !x.shown[id] {
				continue
			}
			rep.judge(w, client, x, id, client.Has(id) && sameImage(w, client, id),
				len(c.server) > 0 || x.asked[id])
		}
		for id := range client.Host().Of(i) {
			if x.shown[id] && !w.Has(id) {
				rep.judge(w, client, x, id, false, len(c.server) > 0 || x.asked[id])
			}
		}
	}
}

func (rep *HiddenReport) judge(w, client *World, x *watch, id ID, exact, excused bool) {
	rep.Compared++
	switch {
	case exact:
		rep.Exact++
	case x.suspect[id] || excused:
		rep.Explained++
		x.suspect[id] = true // and so is whatever it meets from now on
	default:
		rep.Wrong++
		if rep.First == nil {
			rep.First = hiddenDifference(w, client, id)
		}
	}
}

func sameImage(a, b *World, id ID) bool {
	return slices.Equal(a.Host().Image(id), b.Host().Image(id)) && a.Owner(id) == b.Owner(id)
}

func hiddenDifference(w, client *World, id ID) *Difference {
	d := &Difference{
		Tick: w.tick, Class: w.game.classes[id.Class()].name, Entity: id, Field: "presence",
		A: "there", B: "not there"}
	switch {
	case !w.Has(id):
		d.A, d.B = "not there", "there"
	case client.Has(id):
		d.inEntity(w, client, id)
	}
	return d
}

// A watch follows what the entities of a whole world have to do with each other, to tell which of
// them a client can predict.
type watch struct {
	shown map[ID]bool // what the client was shown
	// what asked whether the world decides, and so may do what a client leaves out
	asked   map[ID]bool
	suspect map[ID]bool // what may have been touched by something that it was not
	me      ID          // who is stepping
	seen    []ID        // what it has looked at so far
}

func newWatch(w, client *World) *watch {
	x := &watch{shown: map[ID]bool{}, asked: map[ID]bool{}, suspect: map[ID]bool{}}
	for i := range w.tables {
		for id := range w.Host().Of(i) {
			if client.Has(id) {
				x.shown[id] = true
			} else {
				x.suspect[id] = true
			}
		}
	}
	return x
}

// begin is told what comes in: the game's hooks run for those who join and leave, but not on a
// client.
func (x *watch) begin(in *Inputs) {
	x.suspect[None] = len(in.joins)+len(in.leaves) > 0
	x.me, x.seen = None, x.seen[:0]
}

// saw notes that one entity looked at another, and may have changed it, or itself by it. It may
// still hold what it saw before, so that counts as well.
func (x *watch) saw(me, id ID) {
	if me != x.me {
		x.me, x.seen = me, x.seen[:0]
	}
	if !x.suspect[me] && !x.suspect[id] {
		x.seen = append(x.seen, id)
		return
	}
	x.suspect[id] = true
	for _, s := range x.seen {
		x.suspect[s] = true
	}
	x.seen = x.seen[:0]
	if me != None {
		x.suspect[me] = true
	}
}

// spawned notes a new entity. On a client it has another identifier, so nothing about it can be
// compared.
func (x *watch) spawned(id ID) { x.suspect[id] = true }

// decided notes that an entity asked whether the world decides. It is excused if it differs, and
// only then suspect: most of what asks does the same on both sides most of the time.
func (x *watch) decided(me ID) { x.asked[me] = true }

func (x *watch) drewSecret(me ID) { x.suspect[me] = true; x.saw(me, me) }
