package tell

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/world"
)

// Typed is a class that says what type of entity it is in an exercise, such as "1.1.225.1.1.3.0".
type Typed interface{ DIS() string }

// Rule is how a class is told.
type Rule struct {
	Type  dis.Type
	Force uint8 // 1 friendly, 2 opposing, 3 neutral
}

// Mapping says which class is told as what, by the class's name. It goes before what classes say of
// themselves.
type Mapping map[string]Rule

// ParseMapping reads a mapping from JSON: {"Tank": {"type": "1.1.225.1", "force": 1}}.
func ParseMapping(text []byte) (Mapping, error) {
	var all map[string]struct {
		Type  string
		Force uint8
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("tell: the mapping is no JSON such as {\"Tank\": {\"type\": "+
			"\"1.1.225.1\", \"force\": 1}}: %w", err)
	}
	m := Mapping{}
	for class, r := range all {
		t, err := dis.ParseType(r.Type)
		if err != nil {
			return nil, fmt.Errorf("tell: class %s: %w", class, err)
		}
		m[class] = Rule{t, r.Force}
	}
	return m, nil
}

// lifeForm is what a body is told as of which nobody says more.
var lifeForm = Rule{Type: dis.Type{Kind: dis.LifeForm, Domain: dis.Land}}

// Teller tells the entities of a title.
type Teller struct {
	// Ground is where on Earth the level lies.
	Ground dis.Ground
	// Jump is by how much an entity may move in a tick without having jumped there. Zero means 5
	// of the level's units.
	Jump float64

	title   *game.Title
	rules   []*Rule // by class
	sender  *dis.Sender
	known   map[world.ID]*shown
	numbers []uint16 // that are free
	used    uint16
	round   uint64
	Full    int // entities that there were no numbers for
}

// shown is an entity that is told.
type shown struct {
	number uint16
	at     det.Vec3
	facing det.Quat
	tick   world.Tick
	vel    det.Vec3
	past   []moment // the last places, the oldest first
	round  uint64
	life   int
}

type moment struct {
	at   det.Vec3
	tick world.Tick
}

// A place is rounded to the steps in which it is sent, so the way of a single tick says little of
// the speed: it is taken from the last few, and what is slow has no direction.
const (
	window = 10
	short  = 3
	turned = 2 // metres a second by which it now goes otherwise
	slow   = 0.5
)

// New makes a teller for a title. Sender has the header and who we are, and the rules; without
// bounds, entities are told when others would be 1 m off, and headings go with that. Where neither
// the mapping nor a class says anything, what players move about in is told as a life form.
func New(t *game.Title, s *dis.Sender, m Mapping) (*Teller, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if s.Rules.Bounds == (reckon.Bounds{}) {
		s.Rules.Bounds = reckon.Bounds{Pos: reckon.StandardBounds.Pos} // headings are guessed
	}
	x := &Teller{title: t, sender: s, known: map[world.ID]*shown{}}
	left := Mapping{}
	for name, r := range m {
		left[name] = r
	}
	told := 0
	var names []string
	for i, c := range t.Game.Classes() {
		x.rules = append(x.rules, nil)
		if _, ok := t.Place(i); !ok || c.State() {
			continue
		}
		names = append(names, c.Name())
		r, ok := left[c.Name()]
		delete(left, c.Name())
		if typed, is := c.New().(Typed); is && !ok {
			kind, err := dis.ParseType(typed.DIS())
			if err != nil {
				return nil, fmt.Errorf("tell: class %s: %w", c.Name(), err)
			}
			r, ok = Rule{Type: kind}, true
		}
		if ok {
			x.rules[i] = &r
			told++
		}
	}
	for name := range left {
		return nil, fmt.Errorf("tell: the mapping names %q, which is no class with a place; there "+
			"are %s", name, strings.Join(names, ", "))
	}
	if body, _, ok := t.Body(); told == 0 && ok {
		x.rules[body.Number()] = &lifeForm
		told++
	}
	if told == 0 {
		return nil, fmt.Errorf("tell: nothing of %s has a type in an exercise: give its classes "+
			"a method DIS() string, or a mapping; there are %s", t.Game.Name(),
			strings.Join(names, ", "))
	}
	return x, nil
}

// World tells what is due of a world at a time, in datagrams for send.
func (x *Teller) World(now time.Duration, stamp dis.Stamp, w *world.World, send func([]byte)) {
	x.round++
	for class, rule := range x.rules {
		if rule == nil {
			continue
		}
		for id := range w.Host().Of(class) {
			at, ok := x.title.At(w, id)
			life, alive := game.Lives(w, id)
			if ok && alive {
				x.entity(now, stamp, w.Tick(), id, rule, at, life, send)
			}
		}
	}
	var gone []world.ID
	for id, s := range x.known {
		if s.round != x.round {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		x.remove(stamp, id, send)
	}
}

func (x *Teller) entity(now time.Duration, stamp dis.Stamp, tick world.Tick, id world.ID,
	rule *Rule, at det.Vec3, life int, send func([]byte)) {
	s := x.known[id]
	if s == nil {
		if s = x.add(id, rule, at, tick, life); s == nil {
			x.Full++
			return
		}
	}
	s.round = x.round
	s.move(x, at, tick, life)
	level := reckon.Body{Pos: at, Vel: s.vel, Facing: s.facing}
	body := x.Ground.BodyToWorld(&level)
	if b, why := x.sender.Move(nil, now, stamp, s.number, reckon.FPW, &body); why != reckon.Kept {
		send(b)
	}
}

// add finds a number for an entity that is new, nil if all are in use.
func (x *Teller) add(id world.ID, rule *Rule, at det.Vec3, tick world.Tick, life int) *shown {
	s := &shown{at: at, tick: tick, facing: det.Identity, life: life}
	switch n := len(x.numbers); {
	case n > 0:
		s.number, x.numbers = x.numbers[0], x.numbers[1:]
	case x.used < dis.AssignToMe-1:
		x.used++
		s.number = x.used
	default:
		return nil
	}
	x.known[id] = s
	name := x.title.Game.Classes()[id.Class()].Name()
	x.sender.Describe(s.number, &dis.EntityState{Type: rule.Type, Force: rule.Force,
		Marking: dis.Mark(fmt.Sprintf("%.6s %d", name, s.number))})
	return s
}

// move notes where an entity is, and finds out how it moves.
func (s *shown) move(x *Teller, at det.Vec3, tick world.Tick, life int) {
	if tick <= s.tick {
		return
	}
	jump := x.Jump
	if jump <= 0 {
		jump = 5
	}
	if at.Sub(s.at).Len() > float64(jump*float64(tick-s.tick)) || life != s.life {
		s.past = s.past[:0] // it appears here anew
	}
	if len(s.past) == window {
		s.past = append(s.past[:0], s.past[1:]...)
	}
	s.past = append(s.past, moment{at, tick})
	s.vel = det.Vec3{}
	if first := s.past[0]; tick > first.tick {
		seconds := (time.Duration(tick-first.tick) * x.title.Game.TickLength()).Seconds()
		s.vel = at.Sub(first.at).Mul(1 / seconds)
		if n := len(s.past); n > short { // it may just have turned
			near := s.past[n-1-short]
			seconds := (time.Duration(tick-near.tick) * x.title.Game.TickLength()).Seconds()
			now := at.Sub(near.at).Mul(1 / seconds)
			if now.Sub(s.vel).Len() > turned {
				s.vel = now
			}
		}
	}
	if s.vel.Len() > slow {
		nose := det.Look(s.vel, det.Vec3{Z: 1})
		nose = nose.Mul(det.AxisAngle(det.Vec3{X: 1}, det.Pi)).Unit() // Z is up here
		if nose.To(s.facing) > det.Degrees(10) {
			s.facing = nose
		}
	}
	s.at, s.tick, s.life = at, tick, life
}

func (x *Teller) remove(stamp dis.Stamp, id world.ID, send func([]byte)) {
	s := x.known[id]
	delete(x.known, id)
	if b := x.sender.Remove(nil, stamp, s.number); len(b) > 0 {
		send(b)
	}
	x.numbers = append(x.numbers, s.number)
}

// End tells that all of them are gone.
func (x *Teller) End(stamp dis.Stamp, send func([]byte)) {
	x.round++
	var all []world.ID
	for id := range x.known {
		all = append(all, id)
	}
	slices.Sort(all)
	for _, id := range all {
		x.remove(stamp, id, send)
	}
}

// Len is how many entities are told.
func (x *Teller) Len() int { return len(x.known) }
