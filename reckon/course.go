package reckon

import "github.com/coeval-dev/coeval/det"

// Flight is the course of a body by one of the models of DIS.
type Flight struct {
	Model Model
	Body  Body // in the model's axes
}

// After is of Course.
func (f Flight) After(seconds float64) Body {
	b := f.Model.After(&f.Body, seconds)
	if f.Model < FPW || f.Model > FVB {
		b.Vel = det.Vec3{}
	}
	if !f.Model.accelerates() {
		b.Accel = det.Vec3{}
	}
	if !f.Model.Turns() {
		b.Spin = det.Vec3{}
	}
	if f.Model.Own() {
		return f.Model.As(RVW, &b)
	}
	return b
}

// Route is the course of what goes from point to point at an even speed, as patrols and units with
// orders do: told once, for minutes. It faces where it goes.
type Route struct {
	Points []det.Vec3
	Speed  float64  // metres a second
	Down   det.Vec3 // towards which its Z axis is kept, such as Vec3{Z: 1}

	// Around says that the last point is followed by the first. Otherwise the body stops there.
	Around bool
}

// After is of Course.
func (r Route) After(seconds float64) Body {
	b := Body{Facing: det.Identity}
	legs := len(r.Points) - 1
	if r.Around {
		legs++
	}
	if legs < 1 {
		if len(r.Points) > 0 {
			b.Pos = r.Points[0]
		}
		return b
	}
	left := float64(max(r.Speed, 0) * max(seconds, 0))
	if r.Around {
		var total float64
		for i := range legs {
			total += r.leg(i).Len()
		}
		left = det.Mod(left, total)
	}
	for i := range legs {
		leg := r.leg(i)
		long := leg.Len()
		if long == 0 {
			continue
		}
		u := leg.Unit()
		b.Facing = det.Look(u, r.Down)
		if left < long || r.Around && i == legs-1 {
			b.Pos, b.Vel = r.Points[i].MulAdd(u, left), u.Mul(max(r.Speed, 0))
			return b
		}
		left -= long
	}
	b.Pos = r.Points[len(r.Points)-1]
	return b
}

func (r *Route) leg(i int) det.Vec3 {
	return r.Points[(i+1)%len(r.Points)].Sub(r.Points[i])
}

// Arc is the course of what circles: around a centre, and perhaps climbing along the axis.
type Arc struct {
	Start  Body // Pos and Facing count
	Centre det.Vec3
	Rate   det.Vec3 // the axis of the circle, as long as the radians a second around it
	Climb  float64  // metres a second along the axis

	// Ends is after how many seconds the body goes on straight. Zero means never.
	Ends float64
}

// After is of Course.
func (a Arc) After(seconds float64) Body {
	t := seconds
	if a.Ends > 0 {
		t = min(t, a.Ends)
	}
	turn := det.TurnBy(a.Rate.Mul(t))
	from := turn.Rotate(a.Start.Pos.Sub(a.Centre))
	up := a.Rate.Unit().Mul(a.Climb)
	b := Body{
		Pos:    a.Centre.Add(from).MulAdd(up, t),
		Vel:    a.Rate.Cross(from).Add(up),
		Accel:  a.Rate.Cross(a.Rate.Cross(from)),
		Facing: turn.Mul(a.Start.Facing).Unit(),
	}
	b.Spin = b.Facing.Conj().Rotate(a.Rate)
	if t < seconds {
		b.Pos = b.Pos.MulAdd(b.Vel, seconds-t)
		b.Accel, b.Spin = det.Vec3{}, det.Vec3{}
	}
	return b
}

// Wing is the course of one of a formation, which keeps its place beside a leader: who knows the
// leader's course knows those of all.
type Wing[C Course] struct {
	Leader C
	Offset det.Vec3 // in the axes of the leader
	Turned det.Quat // from the leader's orientation to the wing's; zero means as the leader
}

// After is of Course.
func (w Wing[C]) After(seconds float64) Body {
	l := w.Leader.After(seconds)
	from, spin := l.Facing.Rotate(w.Offset), l.Facing.Rotate(l.Spin)
	b := Body{
		Pos:    l.Pos.Add(from),
		Vel:    l.Vel.Add(spin.Cross(from)),
		Accel:  l.Accel.Add(spin.Cross(spin.Cross(from))),
		Facing: l.Facing,
		Spin:   l.Spin,
	}
	if w.Turned != (det.Quat{}) {
		b.Facing = l.Facing.Mul(w.Turned).Unit()
		b.Spin = w.Turned.Conj().Rotate(l.Spin)
	}
	return b
}
