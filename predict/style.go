package predict

import (
	"fmt"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/world"
)

// A Style is how a client shows what it cannot know yet.
type Style uint8

const (
	// Doom3 predicts everything in view, so that players see the present as it will most likely be,
	// and shoot at what they see.
	Doom3 Style = iota
	// Quake3 predicts what belongs to the player, and shows everything else as it was when the
	// server last told, a moment ago. Players must lead their targets.
	Quake3
	// HalfLife shows what Quake3 does, and the server goes back in time to judge shots by what the
	// shooter saw. See world.World.Sees.
	HalfLife
	// None predicts nothing, and shows the newest state that has come. It keeps no world but that
	// one, so that a program can have a thousand such clients.
	None
	// Quake predicts nothing, the player included, and shows everything as it was a moment ago,
	// between two states that have come.
	Quake
	// QuakeWorld predicts what belongs to the player, and shows everything else by the newest state
	// that has come, without waiting for another: things where that says, and other players carried
	// on for half of the time since.
	QuakeWorld
)

var styleNames = [...]string{"doom3", "quake3", "halflife", "none", "quake", "quakeworld"}

func (s Style) String() string {
	if int(s) < len(styleNames) {
		return styleNames[s]
	}
	return fmt.Sprintf("style %d", uint8(s))
}

// Claims says whether clients of the style tell the server what their shots were seen to hit. In
// the others players must lead their targets.
func (s Style) Claims() bool { return s != Quake3 && s != Quake && s != QuakeWorld }

// ParseStyle finds a style by its name.
func ParseStyle(name string) (Style, error) {
	for i, n := range styleNames {
		if n == name {
			return Style(i), nil
		}
	}
	return 0, fmt.Errorf("unknown style %q, use doom3, quake3, halflife, none, quake or "+
		"quakeworld", name)
}

// A Mode is how the entities of one class are shown, where that is not left to the style.
type Mode uint8

const (
	// ByStyle leaves it to the style.
	ByStyle Mode = iota
	// Predicted entities are stepped by the client.
	Predicted
	// Own entities are predicted for their owner, and interpolated for everyone else.
	Own
	// Interpolated entities are shown as they were a moment ago.
	Interpolated
)

// A Class says how the entities of one class are predicted and shown. The zero value leaves that to
// the style, and smooths the errors of a field called Pos.
type Class struct {
	// Place names the field that says where an entity is: a vector, or a number. Default: Pos, if
	// there is one.
	Place string
	// Heading names an angle that is smoothed like the place.
	Heading string
	// Smooth is how an error of the place goes away once it is known. Its Limit is in the world's
	// units; an entity that is further off, or that moved further between two snapshots, jumps.
	// Default: a time constant of a tenth of a second, and a limit of a second's walk, 4 units. Of
	// Cubic, the velocities are taken to be equal.
	Smooth reckon.Converge
	// Mode overrides the style.
	Mode Mode
	// Obstacle keeps interpolated entities in the way of what is predicted, at the place that was
	// last told. Without it what is predicted does not know of them.
	Obstacle bool
	// Alone says that the class's Step looks at no other entity and changes none, spawns nothing,
	// and that nothing else looks at it. Such entities, where they were predicted wrongly, are
	// predicted again by themselves, and the rest is left as it is.
	Alone bool
	// Leap takes an image some ticks further in one go, as reckon.Motion.After does. A class that
	// has it takes no part in predicting anew: an entity that was wrong is taken to the present in
	// one step, and others do not meet it until then. It is for things that are many, and of which
	// an error is not noticed.
	Leap func(image []int32, ticks int32, now []int32)
	// Sparse is for a class whose replica.Policy lets it fall behind (Interval, Far, Takeover):
	// what is not told of it may have changed, so it is compared only when it is told.
	Sparse bool
	// Reckon goes on from the last images where an interpolated entity's next one is late;
	// reckon.Motion.Now is one. Default: as the last two images lead.
	Reckon func(h *codec.History, now []int32)
}

// class is a Class made ready.
type class struct {
	info        *world.ClassInfo
	o           Class
	fields      fields
	place, turn reckon.Converge // in steps of the image
	image       []int32         // scratch
	report      ClassReport
}

func newClass(info *world.ClassInfo, o Class) (*class, error) {
	f, err := fieldsOf(info.Schema(), o.Place, o.Heading)
	if err != nil {
		return nil, err
	}
	if info.State() && (o.Mode != ByStyle || o.Alone || o.Leap != nil) {
		return nil, fmt.Errorf(
			"predict: %s is a state: there is one, and it is always predicted; leave its Mode, "+
				"Alone and Leap empty", info.Name())
	}
	c := &class{info: info, o: o, fields: f, image: make([]int32, info.Layout().Len())}
	c.report = ClassReport{Class: info.Name(), Fields: make([]int, len(f.slots))}
	if o.Smooth == (reckon.Converge{}) {
		o.Smooth = reckon.Converge{By: reckon.Exponential, Ticks: 6, Limit: det.FixedInt(4)}
	}
	c.place, c.turn = o.Smooth, o.Smooth
	c.place.Turn = 0
	if len(f.place) > 0 && f.scale > 0 {
		c.place.Limit = det.FixedOf(o.Smooth.Limit.Float() / f.scale)
	}
	if f.turn >= 0 {
		sl := &f.slots[f.turn]
		c.turn.Limit, c.turn.Turn = 0, det.FixedInt(sl.Max-sl.Min+1)
	}
	return c, nil
}

// leaps says whether an entity cannot have moved from one image to the other, and must have been
// put there.
func (c *class) leaps(a, b []int32) bool {
	l := c.o.Smooth.Limit.Float()
	if c.o.Smooth == (reckon.Converge{}) {
		l = 4
	}
	return l > 0 && len(c.fields.place) > 0 && c.fields.distance(a, b) > l
}

// predicts says whether an entity of the class is stepped by the client.
func (c *class) predicts(s Style, own bool) bool {
	if c.info.State() {
		return true
	}
	if s == Quake {
		return false
	}
	switch c.o.Mode {
	case Predicted:
		return true
	case Own:
		return own
	case Interpolated:
		return false
	}
	return s == Doom3 || own
}
