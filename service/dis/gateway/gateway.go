package gateway

import (
	"encoding/binary"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/service/dis"
)

// Options say what a gateway leaves away. The zero value gathers for 50 ms and sends differences;
// both gateways of a line may have their own.
type Options struct {
	// Exercise says what is believed of the exercise on this side.
	Exercise dis.Options

	// Every is for how long PDUs are gathered, and Quorum how many make a packet. With one of them
	// zero the other decides alone, but nothing waits for more than a second; with both, whichever
	// comes first; with neither, 50 ms. Below zero nothing is gathered.
	Every  time.Duration
	Quorum int

	// Plain sends whole PDUs in place of differences.
	Plain bool
	// Loud forwards the beats of what stands still, too.
	Loud bool

	// Near, if its radius is not zero, is where entities are forwarded from: within so many metres
	// of a place.
	Near Area
	// Types are those that are forwarded, and what they fire; none means all. Numbers that are
	// zero stand for any.
	Types []dis.Type

	// MaxPacket is how large a packet may be. Zero means 1200 bytes.
	MaxPacket int
	// Dead is after how long a silence of the line the entities of the other side are no longer
	// told here. Zero means 15 s.
	Dead time.Duration
	// Beats are how often quiescent entities are told here. Zero means the standard's.
	Beats reckon.Beats
}

// Area is what lies around a place.
type Area struct {
	Pos    det.Vec3
	Radius float64
}

// Counters are what a gateway did.
type Counters struct {
	Heard, Forwarded            uint64 // PDUs of the exercise on this side
	Culled, Hushed, Replaced    uint64 // of those: not wanted there; nothing new; newer came
	Foreign                     uint64 // came from the line before, and do not go back
	Packets, Bytes              uint64 // sent over the line
	References, Differences     uint64
	Came, Told                  uint64 // packets from the line; PDUs told here because of them
	Refused                     uint64 // items of the line that were nonsense
	Claimed                     uint64 // items that speak for entities of this side
	Asked, Answered, Unanswered uint64 // for references and lost packets
	Kept                        uint64 // beats told here for what is quiescent there
}

// Gateway is one end of a line. Whoever has its sockets gives it what comes, ticks it often, and
// sends what is in ToLine and ToExercise, which are good until the next call of any method but
// Reset.
type Gateway struct {
	// ToLine are packets for the other gateway, and ToExercise datagrams for the exercise here.
	// Reset empties both once they are sent.
	ToLine, ToExercise [][]byte
	Counters           Counters

	o    Options
	here *dis.Exercise
	out  outgoing
	in   incoming
	sims simulators
	next time.Duration // when slots are looked through
}

// New makes a gateway. The session tells it from one before it at the same address: a random
// number.
func New(o Options, session uint32) *Gateway {
	if o.Every == 0 && o.Quorum == 0 {
		o.Every = 50 * time.Millisecond
	}
	if o.MaxPacket <= 0 {
		o.MaxPacket = 1200
	}
	o.MaxPacket = min(max(o.MaxPacket, 256), 60000)
	if o.Dead <= 0 {
		o.Dead = 15 * time.Second
	}
	if o.Beats == (reckon.Beats{}) {
		o.Beats = reckon.StandardBeats
	}
	if o.Exercise.Entities <= 0 || o.Exercise.Entities > maxSlots {
		o.Exercise.Entities = min(20000, maxSlots)
	}
	g := &Gateway{o: o, here: dis.NewExercise(o.Exercise)}
	g.sims = simulators{}
	g.out.start(session)
	g.in.start()
	return g
}

// Exercise is what is known of the exercise on this side.
func (g *Gateway) Exercise() *dis.Exercise { return g.here }

// Far is how many entities of the other side are told here.
func (g *Gateway) Far() int { return len(g.in.ids) }

// Reset empties ToLine and ToExercise.
func (g *Gateway) Reset() {
	g.ToLine, g.ToExercise = g.ToLine[:0], g.ToExercise[:0]
}

// FromExercise takes in a datagram of the exercise on this side; clock is what an absolute stamp of
// now would be.
func (g *Gateway) FromExercise(now time.Duration, clock dis.Stamp, datagram []byte) {
	g.here.Receive(now, clock, datagram, func(p dis.PDU) {
		g.Counters.Heard++
		g.forward(now, clock, p)
	})
	g.flushDue(now, clock)
}

// forward sends a PDU on, or does not.
func (g *Gateway) forward(now time.Duration, clock dis.Stamp, p dis.PDU) {
	var by dis.ID
	at, placed := det.Vec3{}, false
	switch p := p.(type) {
	case *dis.EntityState:
		if by = p.ID; !g.sims.is(now, by, false) {
			break
		}
		g.forwardState(now, clock, p)
		return
	case *dis.Fire:
		by, at, placed = p.Firer, p.Pos, true
	case *dis.Detonation:
		by, at, placed = p.Firer, p.Pos, true
	case *dis.RemoveEntity:
		by = p.From
	default:
		by = speaker(p.Append(nil))
	}
	switch {
	case !g.sims.is(now, by, false):
		g.Counters.Foreign++
		return
	case placed && g.far(at):
		g.Counters.Culled++
		return
	}
	if dis.HeaderOf(p).Kind == dis.KindRemoveEntity {
		g.out.gone(g, now, clock, by)
	}
	g.Counters.Forwarded++
	g.out.raw(g, now, clock, p)
}

// speaker is who says a PDU, which stands in the same place in all of them.
func speaker(b []byte) dis.ID {
	if len(b) < dis.HeaderSize+6 {
		return dis.ID{}
	}
	at := func(i int) uint16 { return binary.BigEndian.Uint16(b[dis.HeaderSize+i:]) }
	return dis.ID{Site: at(0), Application: at(2), Number: at(4)}
}

func (g *Gateway) far(at det.Vec3) bool {
	return g.o.Near.Radius > 0 && !(at.Sub(g.o.Near.Pos).Len() <= g.o.Near.Radius)
}

func (g *Gateway) wanted(t dis.Type) bool {
	for _, wide := range g.o.Types {
		if t.Within(wide) {
			return true
		}
	}
	return len(g.o.Types) == 0
}

func (g *Gateway) forwardState(now time.Duration, clock dis.Stamp, p *dis.EntityState) {
	switch {
	case g.far(p.Pos) || !g.wanted(p.Type):
		g.Counters.Culled++
		g.out.gone(g, now, clock, p.ID) // it may have been near before
	case !p.Active():
		g.out.gone(g, now, clock, p.ID)
		g.Counters.Forwarded++
		g.out.raw(g, now, clock, p)
	default:
		g.out.state(g, now, clock, p)
	}
}

// Tick lets time pass: packets that are due go out, what fell silent is told to be gone, and what
// is quiescent on the other side is told here.
func (g *Gateway) Tick(now time.Duration, clock dis.Stamp) {
	g.here.Tick(now)
	if now >= g.next {
		g.next = now + time.Second
		for _, s := range g.out.slots {
			if s != nil && g.here.Entity(s.id) == nil {
				g.out.gone(g, now, clock, s.id)
			}
		}
		g.out.remind(g, now, clock)
		g.sims.forget(now)
	}
	g.in.tick(g, now, clock)
	g.flushDue(now, clock)
}

// flushDue sends the packet that is being gathered if it is time, and an empty one where the other
// side would think that we are gone.
func (g *Gateway) flushDue(now time.Duration, clock dis.Stamp) {
	w := &g.out
	wait := time.Second
	if g.o.Every > 0 {
		wait = min(wait, g.o.Every)
	}
	full := g.o.Quorum > 0 && w.count >= g.o.Quorum
	if w.count > 0 && (g.o.Every < 0 || full || now-w.first >= wait) ||
		now-w.sent >= g.o.Dead/4 {
		w.flush(g, now, clock)
	}
}
