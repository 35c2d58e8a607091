package replica

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// A stall is a server and a client with pebbles that stand still, for tests of one thing at a time.
// Nothing arrives unless the test says so.
type stall struct {
	t       *testing.T
	w       *world.World
	pub     *Publisher
	s       *Sender
	r       *Receiver
	worker  *Worker
	ix      *interest.Index
	view    interest.View
	carrier uint64
}

var stallGame = world.Define("stall", world.Class[pebble2](), world.Event[thrown](),
	world.Event[died](world.EventOptions{Delivery: world.Saved}))

func newStall(t *testing.T, o Options, so SenderOptions) *stall {
	t.Helper()
	p, err := NewProtocol(stallGame, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &stall{t: t, worker: NewWorker(p), ix: interest.NewIndex(interest.Options{})}
	if s.w, err = stallGame.New(world.Settings{}); err != nil {
		t.Fatal(err)
	}
	if s.pub, err = NewPublisher(p, s.w); err != nil {
		t.Fatal(err)
	}
	s.s, s.r = NewSender(s.pub, so), NewReceiver(p, ReceiverOptions{})
	return s
}

// put places a pebble in the world, as another server's, so that it may go and come at will.
func (s *stall) put(index int, x int32) world.ID {
	s.t.Helper()
	id := world.MakeID(0, 1, index, 1)
	image := slices.Clone(s.pub.protocol.start(0))
	image[0] = x
	if err := s.w.Host().Put(id, world.Entry{}, image); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// publish lets a tick pass and everything be compared.
func (s *stall) publish(events ...Happening) {
	s.t.Helper()
	if err := s.w.Host().Step(nil); err != nil {
		s.t.Fatal(err)
	}
	s.tell(Leading{Again: true, Events: events})
}

func (s *stall) tell(l Leading) {
	s.t.Helper()
	if err := s.pub.PublishLeading(s.w, l); err != nil {
		s.t.Fatal(err)
	}
}

// see makes some entities the view.
func (s *stall) see(ids ...world.ID) {
	for i := range 200 {
		if id := world.MakeID(0, 1, i, 1); slices.Contains(ids, id) {
			s.ix.Set(id, interest.Traits{Always: true})
		} else {
			s.ix.Remove(id)
		}
	}
	interest.NewFinder().Update(&s.view, s.ix,
		&interest.Rules{Sources: []interest.Source{&interest.Always{}}}, interest.Observer{})
	s.s.Look(&s.view)
}

// packet makes the next packet.
func (s *stall) packet() (data []byte, carrier uint64) {
	s.t.Helper()
	s.s.Encode(s.worker, Room{Packet: 1150, Budget: 1150})
	for _, m := range s.s.Messages() {
		if err := s.r.Message(m); err != nil {
			s.t.Fatal(err)
		}
	}
	if s.s.Staged() == 0 {
		return nil, 0 // there is nothing to say
	}
	s.carrier++
	data = slices.Clone(s.s.Packet(0))
	s.s.Sent(0, s.carrier)
	return data, s.carrier
}

func (s *stall) deliver(data []byte) {
	s.t.Helper()
	if err := s.r.Packet(data); err != nil {
		s.t.Fatal(err)
	}
}

// exchange makes a packet that arrives at once.
func (s *stall) exchange() {
	s.t.Helper()
	if data, carrier := s.packet(); data != nil {
		s.deliver(data)
		s.s.Arrived(carrier)
	}
}

// shown applies what came, and gives what is then at some index: its first number, or -1.
func (s *stall) shown(to *world.World, id world.ID) int32 {
	s.t.Helper()
	if _, err := s.r.Apply(to); err != nil {
		s.t.Fatal(err)
	}
	if image := to.Host().Image(id); image != nil {
		return image[0]
	}
	return -1
}

func (s *stall) partial() *world.World {
	w, err := stallGame.New(world.Settings{Partial: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// What went and came again between two snapshots is told anew, though the view is the same.
func TestReturnsWithoutALook(t *testing.T) {
	for _, strategy := range everyStrategy {
		s := newStall(t, Options{Strategy: strategy}, SenderOptions{})
		shown := s.partial()
		x := s.put(3, 50)
		s.publish()
		s.see(x)
		s.exchange()
		s.w.Host().Lend(x)
		s.publish()
		s.put(3, 70)
		s.publish()
		for range 3 {
			s.exchange()
		}
		if at := s.shown(shown, x); at != 70 {
			t.Errorf("%v: it is shown at %d", strategy, at)
		}
	}
}

// An entity that is there, goes, and is there again ends up as it was last, in whatever order the
// packets arrive.
func TestReturnsInAnyOrder(t *testing.T) {
	for _, strategy := range everyStrategy {
		for _, last := range []int32{70, -1} {
			for _, order := range [][]int{
				{0, 1, 2, 3}, {2, 0, 1, 3}, {3, 2, 1, 0}, {2, 1, 0, 3}, {1, 3, 0, 2}, {3, 0, 2, 1},
				{1, 2, 3, 0}, {2, 3, 0, 1}} {
				s := newStall(t, Options{Strategy: strategy}, SenderOptions{})
				shown := s.partial()
				x, y := s.put(3, 50), s.put(4, 10)
				var packets [][]byte
				step := func() {
					s.publish()
					s.see(x, y)
					data, _ := s.packet()
					packets = append(packets, data)
				}
				step()
				s.w.Host().Lend(x)
				step()
				s.put(3, 70)
				step()
				if last < 0 {
					s.w.Host().Lend(x)
				}
				s.put(4, 11)
				step()
				for _, i := range order {
					_ = s.r.Packet(packets[i])
					s.shown(shown, x)
				}
				if at := s.shown(shown, x); at != last {
					t.Errorf("%v, %v: it is shown at %d, and should be at %d", strategy, order, at,
						last)
				}
			}
		}
	}
}

// A snapshot that had to wait for longer than those after it brings nothing back that they changed.
func TestWaitedTooLong(t *testing.T) {
	s := newStall(t, Options{}, SenderOptions{})
	shown := s.partial()
	x, y := s.put(3, 50), s.put(4, 10)
	s.publish()
	s.see(x, y)
	s.exchange()
	// as if its lowest bits had been taken for another count
	s.r.queue.list[0].count = s.r.events.received + 1
	s.w.Host().Lend(x)
	s.put(4, 20)
	s.publish()
	s.see(y)
	s.exchange()
	if at := s.shown(shown, y); at != 20 {
		t.Fatalf("the second is shown at %d", at)
	}
	s.r.events.received++
	if x, y := s.shown(shown, x), s.shown(shown, y); x != -1 || y != 20 {
		t.Errorf("they are shown at %d and %d", x, y)
	}
}

// Who left the view and was forgotten by the server, and returns while the client still has it,
// does not get the handle that it had: the client would count on images that the server does not
// know of any more.
func TestReturnsAfterBeingForgotten(t *testing.T) {
	s := newStall(t, Options{}, SenderOptions{Keep: 1})
	shown := s.partial()
	a, b, c := s.put(1, 10), s.put(2, 20), s.put(3, 30)
	for i := range int32(400) {
		s.put(1, 10+i*i%50)
		s.put(2, 20+i)
		s.put(3, 30+i)
		s.publish()
		if at := i % 64; at < 3 || at > 57 { // the server tidies up each 64 packets
			s.see(c)
		} else {
			s.see(a, b, c)
		}
		s.exchange()
		s.shown(shown, a)
	}
	if st := s.r.Stats(); st.Rejected > 0 {
		t.Errorf("%+v", st)
	}
}

// An identifier that was given to another entity when the world was computed again brings that
// one's name to the client, for predicted spawns to be paired by.
func TestAnotherOfTheSameName(t *testing.T) {
	for _, strategy := range everyStrategy {
		s := newStall(t, Options{Strategy: strategy}, SenderOptions{})
		shown := s.partial()
		x, y := s.put(3, 50), s.put(4, 10)
		for _, origin := range []world.Name{
			{By: y, Tick: 1, Ordinal: 1}, {By: y, Tick: 1, Ordinal: 2}} {
			if err := s.w.Host().Put(x, world.Entry{Origin: origin},
				s.w.Host().Image(x)); err != nil {
				t.Fatal(err)
			}
			s.publish()
			s.see(x, y)
			s.exchange()
			s.shown(shown, x)
			if got := shown.Origin(x); got != origin {
				t.Errorf("%v: its name is %+v, and should be %+v", strategy, got, origin)
			}
		}
	}
}

// What both sides start from still is what an entity is a difference from after it was gone for a
// while.
func TestStartThatReturns(t *testing.T) {
	for _, strategy := range everyStrategy {
		s := newStall(t, Options{Strategy: strategy}, SenderOptions{})
		x := s.put(3, 50)
		start, err := stallGame.New(world.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if err := start.Host().Put(x, world.Entry{}, s.w.Host().Image(x)); err != nil {
			t.Fatal(err)
		}
		if s.pub, err = NewPublisher(s.pub.protocol, s.w); err != nil {
			t.Fatal(err)
		}
		s.s, s.r = NewSender(s.pub, SenderOptions{Start: true}),
			NewReceiver(s.pub.protocol, ReceiverOptions{Start: start})
		if s.r.Start() != s.pub.Start() {
			t.Fatal("they do not start from the same")
		}
		shown := s.partial()
		s.w.Host().Lend(x)
		s.publish()
		s.put(3, 70)
		s.publish()
		s.see(x)
		s.exchange()
		if at := s.shown(shown, x); at != 70 || s.r.Stats().Rejected > 0 {
			t.Errorf("%v: it is shown at %d, %+v", strategy, at, s.r.Stats())
		}
	}
}

// A tick that goes back takes the client's along.
func TestTickGoesBack(t *testing.T) {
	s := newStall(t, Options{}, SenderOptions{})
	shown := s.partial()
	x := s.put(3, 50)
	s.publish()
	s.see(x)
	early := s.w.Host().Clone()
	for i := range int32(20) {
		s.put(3, 60+i)
		s.publish()
		s.exchange()
	}
	if err := s.w.Host().CopyFrom(early); err != nil {
		t.Fatal(err)
	}
	s.tell(Leading{Again: true})
	s.exchange()
	if at := s.shown(shown, x); at != 50 || s.r.Tick() != s.w.Tick() || shown.Tick() != s.w.Tick() {
		t.Errorf("at %d, tick %d and %d instead of %d", at, s.r.Tick(), shown.Tick(), s.w.Tick())
	}
}

// Packets that are overtaken by almost as many as may be still find what they are a difference
// from.
func TestOvertakenByMany(t *testing.T) {
	for seed := range uint64(12) {
		s := newSite(t, Options{}, seed, 5)
		g := newGuest(s, 1, seed)
		g.delay, g.jitter, g.every = 1+int(seed), overtaken-2, 1
		for range 400 {
			s.step()
			g.tick()
		}
		if len(g.fails) > 0 {
			t.Errorf("seed %d: %v, %+v", seed, g.fails, g.r.Stats())
		}
	}
}
