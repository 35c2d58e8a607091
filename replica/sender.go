package replica

import (
	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// SenderOptions say for whom a Sender works.
type SenderOptions struct {
	// Player is who plays at the client; Nobody for one who only watches. The player's own commands
	// are not relayed.
	Player world.Player
	// Epoch tells the worlds of one connection apart, as after a change of map: packets of another
	// are ignored. Its lowest two bits count.
	Epoch uint8
	// Start says that the client starts from the same world as the server, so that what is still as
	// it was at the start need not be sent. Compare Publisher.Start with Receiver.Start.
	Start bool
	// Idle is how many ticks may pass without a packet when there is nothing to say. Default: as
	// many as make a second.
	Idle world.Tick
	// Keep is how many entities that left the view are remembered, so that they cost little when
	// they return. Default: 4096.
	Keep int
}

// A Sender makes the snapshots for one client: what changed in its view,
// against what it is known to hold.
//
// Look and Encode are the work that can be spread over cores: they touch the sender and the
// worker, and only read the Publisher. All other methods belong with Publish, to one goroutine.
type Sender struct {
	pub     *Publisher
	options SenderOptions
	scheme  *Scheme
	bases   SenderBases

	handles  handles      // every entity that the client was told of
	view     view         // which of them it is shown
	flights  flights      // the packets that tell it
	events   telling      // what it is told of events
	messages messageQueue // reliable messages, with events and others
	pace     pace         // how much and how often
	pins     []pin        // bases that changed
	doubt    []int32      // handles whose bases the client wants to compare
	encodes  *Worker      // the one that encodes
	tables   uint8        // the number of the tables that packets are made with,
	model    *codec.Model // and they
	short    []byte       // a message while it is shortened
	ledger   Ledger
}

// pace is what decides how much goes into a snapshot, and whether there is one. Costs follow what
// was spent lately; without news a packet goes out when the last one is Idle ticks old or was lost.
type pace struct {
	cost   []float32  // bits that an entity of each class takes
	last   world.Tick // of the last packet
	spoke  bool       // there was one
	tidied uint32     // packets at the last sweep
}

// NewSender makes the sender for a client that holds nothing yet. What is saved
// for late joiners is the first that it sends.
func NewSender(b *Publisher, o SenderOptions) *Sender {
	if o.Idle == 0 {
		o.Idle = world.Tick(b.protocol.game.Rate())
	}
	if o.Keep == 0 {
		o.Keep = 4096
	}
	s := &Sender{pub: b, options: o, scheme: b.protocol.scheme, model: b.protocol.model}
	s.bases = s.scheme.Sender((*senderState)(s))
	s.ledger.Classes = make([]ClassLedger, len(b.protocol.classes))
	s.pace.cost = make([]float32, len(b.protocol.classes))
	for i := range s.pace.cost {
		s.pace.cost[i] = 64
	}
	s.events.next, s.events.looked = b.events.end(), b.count
	s.tellSaved(world.None)
	s.see(nil)
	return s
}

// Close gives up what the sender keeps others from forgetting. It must not be
// used afterwards.
func (s *Sender) Close() {
	for h := range s.handles.list {
		s.bases.Forget(int32(h))
	}
	s.applyPins()
	s.handles, s.view = handles{}, view{}
}

// senderState is a Sender as its strategy sees it.
type senderState Sender

func (s *senderState) Next() uint32     { return s.flights.next }
func (s *senderState) Messages() uint32 { return s.messages.sent }

func (s *senderState) Tell(content []byte) {
	m := s.messages.open()
	*m = append(append(*m, messageAdvance), content...)
	s.messages.sent++
}

func (s *senderState) Kept(handle int32, number uint32) bool {
	m, _ := s.pub.slots[s.handles.list[handle].slot].find(number)
	return m != nil
}

func (s *senderState) Pin(handle int32, number uint32)   { s.pin(handle, number, true) }
func (s *senderState) Unpin(handle int32, number uint32) { s.pin(handle, number, false) }

func (s *senderState) pin(handle int32, number uint32, hold bool) {
	r := &s.handles.list[handle]
	s.pins = append(s.pins, pin{r.slot, r.unique, number, hold})
}

// pin is a base that a client has now, or has no more. Slots are shared, so
// what is done in parallel only notes it.
type pin struct {
	slot           int32
	unique, number uint32
	hold           bool
}

// applyPins tells the slots. It is soon enough if it happens before the images
// are older than what is kept anyway.
func (s *Sender) applyPins() {
	for i := range s.pins {
		p := &s.pins[i]
		sl := &s.pub.slots[p.slot]
		switch {
		case sl.unique != p.unique:
		case p.hold:
			sl.hold(p.number)
		default:
			sl.release(p.number)
		}
	}
	s.pins = s.pins[:0]
}
