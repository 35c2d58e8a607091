package replica

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// Who joins a world of 10,000 entities is told the most important first, never
// more than the budget at a time, and in the end everything.
func TestJoinIntoALargeWorld(t *testing.T) {
	const count = 10000
	large := world.Define("large", world.Class[pebble2](world.ClassOptions{Limit: count}),
		world.Commands[walk]())
	p, err := NewProtocol(large, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := large.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := NewPublisher(p, w)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count { // they come from elsewhere, so that the client cannot know them
		image := slices.Clone(p.start(0))
		image[0], image[1], image[4] = int32(i%8000)*3-12000, int32(i/100), 50
		if err := w.Host().Put(world.MakeID(0, 1, i, 1), world.Entry{}, image); err != nil {
			t.Fatal(err)
		}
	}
	ix := interest.NewIndex(interest.Options{})
	for i := range count {
		ix.Set(world.MakeID(0, 1, i, 1),
			interest.Traits{Always: true, Importance: 0.1 + float32(i)/count})
	}
	var view interest.View
	interest.NewFinder().Update(&view, ix,
		&interest.Rules{Sources: []interest.Source{&interest.Always{}}}, interest.Observer{})
	if len(view.Entries()) != count {
		t.Fatalf("%d in view", len(view.Entries()))
	}
	s, worker := NewSender(pub, SenderOptions{}), NewWorker(p)
	r := NewReceiver(p, ReceiverOptions{})
	const budget = 2000
	order := make([]int, 0, count) // at which snapshot each came, by index
	came := map[world.ID]int{}
	carrier := uint64(0)
	for snapshot := 0; len(came) < count; snapshot++ {
		if snapshot > 200 {
			t.Fatalf("%d of %d after %d snapshots", len(came), count, snapshot)
		}
		if err := w.Host().Step(nil); err != nil {
			t.Fatal(err)
		}
		pub.Publish(w)
		s.Look(&view)
		s.Encode(worker, Room{Packet: 1150, Budget: budget})
		bytes := 0
		for i := range s.Staged() {
			carrier++
			bytes += len(s.Packet(i))
			s.Sent(i, carrier)
			if err := r.Packet(s.Packet(i)); err != nil {
				t.Fatal(err)
			}
			s.Arrived(carrier)
		}
		if bytes > budget {
			t.Fatalf("%d bytes in a snapshot", bytes)
		}
		for n := r.Next(); n != nil; n = r.Next() {
			for _, u := range n.Updates {
				if _, ok := came[u.ID]; ok {
					t.Fatalf("%v came twice", u.ID)
				}
				came[u.ID] = snapshot
				if !slices.Equal(u.Image, w.Host().Image(u.ID)) {
					t.Fatalf("%v came as %v", u.ID, u.Image)
				}
			}
		}
	}
	for i := range count {
		order = append(order, came[world.MakeID(0, 1, i, 1)])
	}
	// Those of the most important tenth came before those of the least, each of them.
	if first, last := slices.Max(order[count*9/10:]), slices.Min(order[:count/10]); first > last {
		t.Errorf("some of the most important came at snapshot %d, some of the least at %d", first,
			last)
	}
	t.Logf("all there after %d snapshots of at most %d bytes", slices.Max(order)+1, budget)
}
