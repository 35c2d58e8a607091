package dis

import (
	"time"

	"github.com/coeval-dev/coeval/reckon"
)

// Sender tells an exercise of our own entities: each when others would be too far off, and now and
// then all the same. It hands out PDUs and sends nothing itself.
type Sender struct {
	// Header is that of all PDUs: version and exercise.
	Header Header
	// Site and Application are ours.
	Site, Application uint16
	// Rules are those by which entities are told. Zero bounds and beats mean the standard's.
	Rules reckon.Rules
	// Quiet stops the beats of what stands still, but for a few after it stopped: PARADISE's
	// quiescent entities. Only for receivers that know of it, such as our own gateways.
	Quiet bool

	own   map[uint16]*ownEntity
	ready bool
}

// lastBeats is how many times a quiescent entity is told that it stands still.
const lastBeats = 3

type ownEntity struct {
	pledge reckon.Pledge[reckon.Flight]
	state  EntityState
	still  int // how many times it was told to be where it is
}

func (s *Sender) prepare() {
	if s.ready {
		return
	}
	s.ready = true
	s.own = map[uint16]*ownEntity{}
	if s.Rules.Bounds == (reckon.Bounds{}) {
		s.Rules.Bounds = reckon.StandardBounds
	}
	if s.Rules.Beats == (reckon.Beats{}) {
		s.Rules.Beats = reckon.StandardBeats
	}
}

// Describe says what one of our entities is: all of the PDU that is not about how it moves. It is
// told at once, and again when it is described differently.
func (s *Sender) Describe(number uint16, e *EntityState) {
	s.prepare()
	o := s.own[number]
	if o == nil {
		o = &ownEntity{}
		o.pledge.Seed = uint64(number) + 1
		s.own[number] = o
	}
	o.pledge = reckon.Pledge[reckon.Flight]{Seed: o.pledge.Seed}
	o.state = *e
	o.state.Parts = append([]Parameter(nil), e.Parts...)
	o.state.ID = ID{s.Site, s.Application, number}
}

// Move says where one of our entities is, and adds a PDU to b if one is due; stamp is that of now.
// The body is in the axes of the model, which is how others are to reckon it.
func (s *Sender) Move(
	b []byte, now time.Duration, stamp Stamp, number uint16, m reckon.Model, body *reckon.Body,
) ([]byte, reckon.Reason) {
	s.prepare()
	o := s.own[number]
	if o == nil {
		return b, reckon.Kept
	}
	why := o.pledge.Check(&s.Rules, now, body)
	if why == reckon.Kept || why == reckon.Heartbeat && s.Quiet && o.still >= lastBeats {
		return b, reckon.Kept
	}
	o.state.SetBody(m, body)
	told := o.state.Body()
	o.pledge.Tell(&s.Rules, now, reckon.Flight{Model: m, Body: told})
	if told.Vel.Len() <= s.Rules.Slow && told.Spin.Len() <= s.Rules.Slow {
		o.still++
	} else {
		o.still = 0
	}
	o.state.Header = s.Header
	o.state.Time = stamp
	return o.state.Append(b), why
}

// Remove says that one of our entities is no more: it adds a last Entity State PDU that says so,
// and a Remove Entity PDU.
func (s *Sender) Remove(b []byte, stamp Stamp, number uint16) []byte {
	o := s.own[number]
	if o == nil {
		return b
	}
	delete(s.own, number)
	o.state.Header = s.Header
	o.state.Time = stamp
	o.state.Looks |= 1 << 23
	b = o.state.Append(b)
	gone := RemoveEntity{Header: s.Header, Request: Request{From: o.state.ID, To: o.state.ID}}
	gone.Time = stamp
	return gone.Append(b)
}

// Len is how many entities of ours there are.
func (s *Sender) Len() int { return len(s.own) }
