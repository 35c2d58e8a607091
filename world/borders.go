package world

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/det"
)

// BordersReport is what CheckBorders found.
type BordersReport struct {
	Ticks     int
	Crossings int // how often an entity changed its world
	Caught    int // ticks that were stepped alone afterwards
	Acts      int // actions that came over a border
	Strayed   int // of those, how many had to be sent on
	// Wrong is how often what belongs to another server was changed, and anything else went wrong
	// that Complaints lists.
	Wrong int
	// Complaints say by which rule, each once, the most frequent first.
	Complaints []Complaint
}

// A Complaint is something that a title must change before its world can be divided.
type Complaint struct {
	Class string // of what was changed
	What  string // what was done to it: which field was written
	By    string // the class that stepped, an action, or a hook

	// The first time, and how often.
	Tick   Tick
	Target ID
	Count  int
}

// String says it in a line.
func (c *Complaint) String() string {
	return fmt.Sprintf("%s %v of another server: %s by %s at tick %d, %d times; use world.Act",
		c.Class, c.Target, c.What, c.By, c.Tick, c.Count)
}

// String lists the complaints, or says what was tried.
func (r *BordersReport) String() string {
	if r.Wrong == 0 {
		return fmt.Sprintf("%d ticks, %d crossings, %d actions over borders, nothing wrong",
			r.Ticks, r.Crossings, r.Acts)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d wrong", r.Wrong)
	for i := range r.Complaints {
		b.WriteString("\n\t" + r.Complaints[i].String())
	}
	return b.String()
}

// A border has a world of CheckBorders note what its rules do wrong.
type border struct{ report *BordersReport }

func (b *border) note(w *World, c *ClassInfo, id ID, what string) {
	by := "a hook"
	switch x := w.cluster.acting; {
	case x != nil:
		by = "action " + w.game.actions[x.Kind].name
	case w.me != None && w.me.Class() < len(w.game.classes):
		by = w.game.classes[w.me.Class()].name
	}
	b.report.complain(Complaint{Class: c.name, What: what, By: by, Tick: w.tick, Target: id})
}

func (r *BordersReport) complain(c Complaint) {
	r.Wrong++
	for i := range r.Complaints {
		if x := &r.Complaints[i]; x.Class == c.Class && x.What == c.What && x.By == c.By {
			x.Count++
			return
		}
	}
	c.Count = 1
	r.Complaints = append(r.Complaints, c)
}

// inspect takes back what was just done to ghosts, while it is known by whom: for CheckBorders.
func (w *World) inspect() {
	if w.cluster.border == nil {
		return
	}
	for _, t := range w.tables {
		if t.ghosts == 0 {
			continue
		}
		for pg := range t.pages {
			if pg.live&pg.away != 0 {
				t.guard(w, pg)
			}
		}
	}
}

// CheckBorders runs a game whose world is divided, with every border crossed all the time: in
// CheckOptions.Zones worlds, entities are assigned at random and move on at random, whole and
// packed, some of them ticks late. Each world has ghosts of what the others own, half of the time
// of all and half of the time of some, chosen at random. Actions go over borders, some to where
// their target is no more.
//
// What the rules do to ghosts, and to states that have their home elsewhere, is taken back and
// listed by class, field and who did it: a title that can be divided has none of it. A panic, and
// an error of the rules, is returned as an error.
func CheckBorders(g *Game, o CheckOptions) (*BordersReport, error) {
	x := &crossing{game: g, report: new(BordersReport), owner: map[ID]int{},
		left: map[Player]Tick{}}
	if err := x.start(o); err != nil {
		return x.report, err
	}
	o = x.options
	for t := Tick(1); t <= Tick(o.Ticks); t++ {
		x.rand = det.At(o.Seed, 12, uint64(t))
		if err := x.tick(t); err != nil {
			return x.report, fmt.Errorf("with the world divided (seed %d): %w", o.Seed, err)
		}
		x.report.Ticks++
	}
	slices.SortStableFunc(x.report.Complaints,
		func(a, b Complaint) int { return b.Count - a.Count })
	return x.report, nil
}

// start divides a new world.
func (x *crossing) start(o CheckOptions) error {
	g := x.game
	if err := o.defaults(g); err != nil {
		return err
	}
	w, err := g.New(o.Settings)
	if err != nil {
		return err
	}
	x.options, x.whole = o, g.NewInputs()
	allocators := make([]int, o.Zones)
	for i := range allocators {
		allocators[i] = (o.Settings.Allocator + i) % Predicted
		x.inputs = append(x.inputs, g.NewInputs())
	}
	x.zones, err = w.Host().Divide(0, allocators, func(id ID) int {
		return int(det.Draw(o.Seed, uint64(id), 0, 11) % uint64(o.Zones))
	})
	if err != nil {
		return err
	}
	x.again = x.zones[0].Host().Clone()
	for _, z := range x.zones {
		z.cluster.border = &border{x.report}
	}
	x.settle()
	return nil
}

// crossing is a cluster of worlds in one process.
type crossing struct {
	game    *Game
	options CheckOptions
	report  *BordersReport
	rand    det.Rand
	zones   []*World
	again   *World // one of them, a second time
	inputs  []*Inputs
	whole   *Inputs
	owner   map[ID]int // which world has an entity, or will have the one that is on its way
	flights []flight
	acts    []sentAct
	left    map[Player]Tick
}

// A flight is an entity between two worlds.
type flight struct {
	id    ID
	owner Player
	data  []byte
	hash  uint64
	to    int
	sent  Tick
	due   Tick // before which Step it arrives
}

type sentAct struct {
	Acted
	data []byte
}

func (x *crossing) tick(t Tick) error {
	x.options.Inputs(t, x.whole)
	for _, in := range x.inputs {
		in.Reset()
	}
	if err := x.arrive(t); err != nil {
		return err
	}
	if err := x.share(t); err != nil {
		return err
	}
	if err := x.deliver(); err != nil {
		return err
	}
	twice := x.rand.IntN(4 * len(x.zones)) // whose tick is computed a second time
	for i, w := range x.zones {
		if twice == i {
			if err := x.again.Host().CopyFrom(w); err != nil {
				return err
			}
		}
		if err := w.Host().TryStep(x.inputs[i]); err != nil {
			return fmt.Errorf("zone %d: %w", i, err)
		}
		if twice == i {
			if err := x.repeat(w, x.inputs[i]); err != nil {
				return err
			}
		}
	}
	x.depart(t)
	x.settle()
	return nil
}

// repeat looks whether a world comes to the same again, and from what it saves.
func (x *crossing) repeat(w *World, in *Inputs) error {
	if err := x.again.Host().Step(in); err != nil && w.cluster.undone == 0 {
		return err
	}
	loaded, err := x.game.Load(w.Host().Save(nil))
	if err != nil {
		return err
	}
	for _, other := range []*World{x.again, loaded} {
		if d := Differ(w, other); d != nil {
			x.report.complain(Complaint{Class: d.Class, Target: d.Entity, Tick: d.Tick,
				By: "a copy", What: fmt.Sprintf("%s is %s, and %s when computed again or loaded",
					d.Field, d.A, d.B)})
		}
	}
	return nil
}

// arrive takes in those who are due.
func (x *crossing) arrive(t Tick) error {
	for _, f := range x.flights {
		if f.due != t {
			continue
		}
		w := x.zones[f.to]
		id, stepped, err := w.Host().Unpack(f.data)
		if err != nil {
			return err
		}
		if w.Host().HashEntity(id) != f.hash {
			x.report.complain(Complaint{Class: x.game.classes[id.Class()].name, Target: id, Tick: t,
				What: "it is not the same on the other side", By: "Pack"})
		}
		missed := int(w.tick - stepped)
		if err := w.Host().Catch(id, missed); err != nil {
			return err
		}
		x.report.Caught += missed
		if f.owner != Nobody && x.left[f.owner] > f.sent {
			x.inputs[f.to].Leave(f.owner)
		}
	}
	x.flights = slices.DeleteFunc(x.flights, func(f flight) bool { return f.due == t })
	return nil
}

// share gives each world what concerns it of the inputs.
func (x *crossing) share(t Tick) error {
	home := x.inputs[0]
	for _, p := range x.whole.Joins() {
		home.Join(p)
	}
	for _, p := range x.whole.Leaves() {
		x.left[p] = t
		for i, w := range x.zones {
			if w.Present(p) {
				x.inputs[i].Leave(p)
			}
		}
	}
	image := []int32(nil)
	if s := x.game.Commands(); s != nil {
		image = make([]int32, len(s.Slots))
	}
	for _, p := range x.whole.Players() {
		if !x.whole.Image(p, image) {
			continue
		}
		for i, w := range x.zones {
			if i > 0 && !w.Present(p) {
				continue
			}
			if err := x.inputs[i].GiveImage(p, image); err != nil {
				return err
			}
			if s, ok := x.whole.Sight(p); ok {
				if err := x.inputs[i].Show(p, s); err != nil {
					return err
				}
			}
		}
	}
	for told, data := range x.whole.Tellings {
		if err := home.Tell(told, data); err != nil {
			return err
		}
	}
	return nil
}

// deliver brings the actions of the last tick to their targets, and now and then elsewhere.
func (x *crossing) deliver() error {
	for _, a := range x.acts {
		to, ok := x.owner[a.Target]
		if x.game.classes[a.Target.Class()].state {
			to, ok = 0, true
		}
		if !ok {
			continue // it is no more
		}
		if a.Hops < 3 && x.rand.IntN(8) == 0 {
			to = x.rand.IntN(len(x.zones))
		}
		if err := x.inputs[to].Act(a.Acted, a.data); err != nil && !errors.Is(err, ErrInput) {
			return err
		}
		x.report.Acts++
		if a.Hops > 0 {
			x.report.Strayed++
		}
	}
	x.acts = x.acts[:0]
	return nil
}

// depart sends entities off, and finds out who has what.
func (x *crossing) depart(t Tick) {
	var removed []ID
	for _, w := range x.zones {
		for a, data := range w.Host().Outgoing {
			x.acts = append(x.acts, sentAct{a, slices.Clone(data)})
		}
		removed = slices.AppendSeq(removed, w.Host().Removed)
	}
	clear(x.owner)
	for _, f := range x.flights {
		x.owner[f.id] = f.to
	}
	for i, w := range x.zones {
		for id := range w.Entities() {
			if w.Ghost(id) {
				continue
			}
			if _, twice := x.owner[id]; twice {
				x.report.complain(Complaint{Class: x.game.classes[id.Class()].name, Target: id,
					Tick: t, What: "it is there twice", By: "CheckBorders"})
			}
			x.owner[id] = i
		}
	}
	for i, w := range x.zones {
		for _, id := range slices.Collect(w.Entities()) {
			if w.Ghost(id) || x.rand.IntN(8) > 0 {
				continue
			}
			to := (i + 1 + x.rand.IntN(len(x.zones)-1)) % len(x.zones)
			x.flights = append(x.flights, flight{id: id, owner: w.Owner(id), to: to, sent: t,
				due: t + 1 + Tick(x.rand.IntN(3)), hash: w.Host().HashEntity(id),
				data: w.Host().Pack(id, nil)})
			w.Host().SetGhost(id)
			x.owner[id] = to
			x.report.Crossings++
		}
	}
	for _, w := range x.zones {
		for _, id := range slices.Collect(w.Entities()) {
			if _, there := x.owner[id]; !there {
				w.Host().DropGhost(id)
			}
		}
	}
	for _, id := range removed {
		for _, w := range x.zones {
			if w.settings.Allocator == id.Allocator() {
				w.Host().Forget(id)
			}
		}
	}
}

// settle shows each world what the others have.
func (x *crossing) settle() {
	period := uint64(x.zones[0].tick) / uint64(x.options.Back)
	for i, w := range x.zones {
		for j, of := range x.zones {
			if i == j {
				continue
			}
			for class, c := range x.game.classes {
				for id := range of.Host().Of(class) {
					switch {
					case of.Ghost(id):
					case !c.state && period%2 == 1 &&
						det.Draw(x.options.Seed, uint64(id), period, uint64(i))%2 == 0:
						w.Host().DropGhost(id)
					default:
						// A class that is at its limit shows no more.
						_ = w.Host().PutGhost(id, of.Host().Entry(id), of.Host().Image(id))
					}
				}
			}
		}
	}
}
