package replica

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// secret is an event for some players alone; those that are kept are of another kind.
type secret struct {
	To   [2]world.Player
	Text string
}

func (x *secret) Sync(s *bits.Sync) {
	for i := range x.To {
		bits.Integer(s, &x.To[i], 0, 1<<16-1)
	}
	s.String(&x.Text, 16)
}

func (x *secret) For(p world.Player) bool { return p == x.To[0] || p == x.To[1] }

type note struct{ secret }

func (x *note) Sync(s *bits.Sync) { x.secret.Sync(s) }

type teller struct{ Said int }

func (x *teller) Sync(s *bits.Sync) { s.Int(&x.Said, 0, 100) }

func (x *teller) Step(w *world.World, me world.ID) {
	if x.Said++; x.Said == 3 {
		text := secret{[2]world.Player{1, 3}, "hush"}
		world.Emit(w, me, text)
		world.Emit(w, world.None, note{text})
	}
}

// TestAddressedEvents: what is for some players alone is sent to them, whether they were there or
// came later, and not a byte of it to anyone else who sees the same; what it was made of may change
// afterwards.
func TestAddressedEvents(t *testing.T) {
	g := world.Define("whispers", world.Class[teller](), world.Event[secret](),
		world.Event[note](world.EventOptions{Delivery: world.Saved}),
		world.OnStart(func(w *world.World) { world.Spawn(w, teller{}) }))
	p, err := NewProtocol(g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := g.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := NewPublisher(p, w)
	if err != nil {
		t.Fatal(err)
	}
	worker := NewWorker(p)
	sender := func(who world.Player) *Sender {
		return NewSender(pub, SenderOptions{Player: who})
	}
	hears := func(s *Sender) (kinds []string) {
		t.Helper()
		var view []interest.Entry
		for id := range w.Host().Of(0) {
			view = append(view, interest.Entry{ID: id, Priority: 1})
		}
		s.see(view)
		s.Encode(worker, Room{Packet: 1000, Budget: 1000})
		r := NewReceiver(p, ReceiverOptions{})
		for _, m := range s.Messages() {
			if err := r.Message(m); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range r.Events() {
			kinds = append(kinds, g.Events()[e.Kind].Name())
		}
		return kinds
	}
	there := map[world.Player]*Sender{}
	for _, who := range []world.Player{world.Nobody, 1, 2, 3} {
		there[who] = sender(who)
		hears(there[who])
	}
	for range 5 {
		if err := w.Host().Step(g.NewInputs()); err != nil {
			t.Fatal(err)
		}
		if err := pub.Publish(w); err != nil {
			t.Fatal(err)
		}
	}
	for who, s := range there {
		var now, later []string
		if who == 1 || who == 3 {
			now, later = []string{"secret", "note"}, []string{"note"}
		}
		if got := hears(s); !slices.Equal(got, now) {
			t.Errorf("player %d, who was there, hears %v, want %v", who, got, now)
		}
		if got := hears(sender(who)); !slices.Equal(got, later) {
			t.Errorf("player %d, who came later, hears %v, want %v", who, got, later)
		}
	}
}
