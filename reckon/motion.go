package reckon

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/coeval-dev/coeval/codec"
)

// Motion reckons the entities of one class. It never changes once made, so any number of goroutines
// may share it.
type Motion struct {
	axes    []axis
	fields  int
	scheme  Scheme
	once    bool
	horizon int32
}

// Options say how the entities of a class move. Fields that no axis names are left as they were in
// the base.
type Options struct {
	Axes []Axis

	// Scheme is how the game turns velocities into positions; it matters where something
	// accelerates.
	Scheme Scheme

	// Once is for games that keep more precision between ticks than their images have. Otherwise
	// reckoning rounds after each tick, as package world does, and then it gives what the game
	// gives to the last unit.
	Once bool

	// Horizon is the number of ticks after which a thing is taken to have stopped, since by then
	// nothing is known of it. At most MaxHorizon; zero means DefaultHorizon.
	Horizon int32
}

// Axis says how one number of an image moves.
type Axis struct {
	Name string // the field that moves; one of kind codec.Angle wraps

	// Velocity names the field that holds the velocity. Where there is none, the velocity is what
	// the last images show.
	Velocity string
	// Unit is how far one unit of velocity moves the number in a tick, in its own units. The zero
	// value means 1.
	Unit Ratio

	// Accel is an acceleration that never changes, such as gravity, in units of velocity a tick;
	// without a velocity field, in units of the number itself a tick squared.
	Accel Ratio
	// Order says whether the acceleration, too, is to be found from the last images. Then Accel
	// must be zero.
	Order Order

	// Low and High bound the number more tightly than the field's range, such as by a floor. Both
	// zero: they do not.
	Low, High int32
}

// Order is how many derivatives of a motion are watched.
type Order uint8

const (
	// First takes the velocity to stay as it is, but for Accel.
	First Order = iota
	// Second takes the acceleration to stay as it is: the change of the velocity field between the
	// last two images, or the parabola through the last three positions. It follows curves, and
	// magnifies what quantisation adds to them.
	Second
)

// Scheme is the way in which a game's step integrates.
type Scheme uint8

const (
	// VelocityFirst adds the acceleration to the velocity, then the new velocity to the position:
	// what most games do.
	VelocityFirst Scheme = iota
	// PositionFirst adds the old velocity to the position, then the acceleration to the velocity.
	PositionFirst
	// Parabola adds the mean of the old velocity and the new one, as in nature.
	Parabola
)

// Ratio is a fraction, for units that have no whole one between them. A Den of zero means 1.
type Ratio struct{ Num, Den int32 }

// Limits of a Motion. They keep all arithmetic within 64 bits.
const (
	DefaultHorizon = 64
	MaxHorizon     = 255
	MaxTerm        = 1 << 20 // of the terms of a Ratio
	maxGap         = 255     // images further apart tell nothing about each other
	maxWatchedSpan = 1 << 24 // of velocities whose change is watched
)

// axis is an Axis with its fields found.
type axis struct {
	slot, velocity int // velocity is -1 if there is none
	order          Order
	wraps          bool
	unitNum        int64
	unitDen        int64
	accNum, accDen int64
	low, high      int64
	span           int64
	vLow, vHigh    int64
}

// New makes a Motion for a class with the given fields. Use its Now as codec.Class.Reckon.
func New(fields []codec.Field, o Options) (*Motion, error) {
	m := &Motion{fields: len(fields), scheme: o.Scheme, once: o.Once, horizon: o.Horizon}
	m.horizon = cmp.Or(m.horizon, DefaultHorizon)
	if m.horizon < 1 || m.horizon > MaxHorizon {
		return nil, errors.New("reckon: a horizon of " + strconv.Itoa(int(o.Horizon)) +
			" ticks; use 1 to " + strconv.Itoa(MaxHorizon))
	}
	if o.Scheme > Parabola {
		return nil, errors.New("reckon: unknown scheme " + strconv.Itoa(int(o.Scheme)))
	}
	taken := make([]bool, len(fields))
	for i := range o.Axes {
		a, err := resolve(fields, &o.Axes[i], taken)
		if err != nil {
			return nil, errors.New("reckon: axis " + strconv.Quote(o.Axes[i].Name) + ": " +
				err.Error())
		}
		m.axes = append(m.axes, a)
	}
	return m, nil
}

// resolve finds the fields of an axis and sees that its numbers make sense.
func resolve(fields []codec.Field, from *Axis, taken []bool) (a axis, err error) {
	take := func(name string) (int, error) {
		i, err := find(fields, name)
		if err != nil {
			return 0, err
		}
		if taken[i] {
			return 0, errors.New("field " + name + " is moved twice; name it once")
		}
		taken[i] = true
		return i, nil
	}
	if a.slot, err = take(from.Name); err != nil {
		return a, err
	}
	f := &fields[a.slot]
	a.velocity, a.order, a.wraps = -1, from.Order, f.Kind == codec.Angle
	a.low, a.high = int64(f.Min), int64(f.Max)
	a.span = a.high - a.low + 1
	if from.Low != 0 || from.High != 0 {
		if a.wraps || from.Low > from.High || from.Low < f.Min || from.High > f.Max {
			return a, errors.New(
				"low and high must lie within the field's range, in this order, and what wraps " +
					"has neither")
		}
		a.low, a.high = int64(from.Low), int64(from.High)
	}
	if from.Order > Second {
		return a, errors.New("unknown order " + strconv.Itoa(int(from.Order)))
	}
	unit := from.Unit
	if unit == (Ratio{}) {
		unit.Num = 1
	}
	if a.unitNum, a.unitDen, err = unit.terms(); err != nil {
		return a, err
	}
	if a.unitNum == 0 {
		return a, errors.New("its unit is zero; give how far one unit of velocity goes in a tick")
	}
	if a.accNum, a.accDen, err = from.Accel.terms(); err != nil {
		return a, err
	}
	if a.accNum != 0 && a.order == Second {
		return a, errors.New(
			"its acceleration is both given and watched; use order First with Accel")
	}
	if from.Velocity == "" {
		if a.unitNum != a.unitDen {
			return a, errors.New(
				"it has a unit but no velocity; name the field or leave out the unit")
		}
		return a, nil
	}
	if a.velocity, err = take(from.Velocity); err != nil {
		return a, err
	}
	v := &fields[a.velocity]
	a.vLow, a.vHigh = int64(v.Min), int64(v.Max)
	if a.order == Second && a.vHigh-a.vLow >= maxWatchedSpan {
		return a, errors.New("velocity " + v.Name +
			" has too wide a range to watch its change; use order First, or at most 2^24 values")
	}
	return a, nil
}

// find gives the place of the one field that has the name.
func find(fields []codec.Field, name string) (int, error) {
	at := -1
	for i := range fields {
		if fields[i].Name != name {
			continue
		}
		if at >= 0 {
			return 0, errors.New("two fields are named " + strconv.Quote(name) + "; rename one")
		}
		at = i
	}
	switch {
	case at < 0:
		return 0, errors.New("there is no field " + strconv.Quote(name))
	case fields[at].Kind == codec.Quaternion || fields[at].Kind == codec.QuaternionPart:
		return 0, errors.New("field " + name +
			" is a part of a rotation, which means nothing alone")
	}
	return at, nil
}

func (r Ratio) terms() (num, den int64, err error) {
	r.Den = cmp.Or(r.Den, 1)
	if r.Den < 0 || r.Den > MaxTerm || r.Num > MaxTerm || r.Num < -MaxTerm {
		return 0, 0,
			errors.New("a ratio of " + strconv.Itoa(int(r.Num)) + " to " +
				strconv.Itoa(int(r.Den)) +
				"; keep both terms within 2^20 and the lower one positive")
	}
	return int64(r.Num), int64(r.Den), nil
}
