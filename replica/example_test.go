package replica_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

type Kite struct{ Pos, Vel det.Vec2 }

func (k *Kite) Sync(s *bits.Sync) {
	s.Vec2(&k.Pos, 0, 1000, 1.0/32)
	s.Vec2(&k.Vel, -50, 50, 1.0/32)
}

func (k *Kite) Step(w *world.World, me world.ID) { k.Pos = k.Pos.MulAdd(k.Vel, w.Seconds()) }

var kites = world.Define("kites", world.Class[Kite](), world.OnStart(func(w *world.World) {
	for i := range 20 {
		world.Spawn(w,
			Kite{Pos: det.Vec2{X: float64(i * 10), Y: 5}, Vel: det.Vec2{X: 3, Y: float64(i)}})
	}
}))

// A server and one client, without a network between them: packets are handed
// over, and the server is told that they arrived.
func Example() {
	protocol, err := replica.NewProtocol(kites, replica.Options{})
	if err != nil {
		panic(err)
	}
	// The server.
	w, _ := kites.New(world.Settings{Seed: 1})
	pub, _ := replica.NewPublisher(protocol, w)
	sender, worker := replica.NewSender(pub, replica.SenderOptions{}), replica.NewWorker(protocol)
	index := interest.NewIndex(interest.Options{})
	follower, finder := interest.NewFollower(index), interest.NewFinder()
	rules := &interest.Rules{Sources: []interest.Source{&interest.Everything{}}}
	var view interest.View
	// The client.
	receiver := replica.NewReceiver(protocol, replica.ReceiverOptions{})
	shown, _ := kites.New(world.Settings{Seed: 1, Partial: true})

	packets := uint64(0)
	for tick := 1; tick <= 60; tick++ {
		w.Host().Step(nil)
		pub.Publish(w)
		if tick%3 != 0 {
			continue
		}
		follower.Follow(w)
		if finder.Update(&view, index, rules, interest.Observer{}) {
			sender.Look(&view)
		}
		sender.Encode(worker, replica.Room{Packet: 1150, Budget: 1150})
		for i := range sender.Staged() {
			packets++
			sender.Sent(i, packets)
			if err := receiver.Packet(sender.Packet(i)); err != nil {
				panic(err)
			}
			sender.Arrived(packets)
		}
		if _, err := receiver.Apply(shown); err != nil {
			panic(err)
		}
	}
	fmt.Println("tick", shown.Tick(), "with", world.Count[Kite](shown), "kites")
	for id, kite := range world.All[Kite](shown) {
		if *kite != *world.Get[Kite](w, id) {
			fmt.Println(id, "differs")
		}
	}
	// Each kite is 9 bytes as its fields are packed.
	ledger := sender.Ledger()
	fmt.Println("less than 2 bytes a kite and snapshot:", ledger.Bytes < 20*2*ledger.Packets)
	// Output:
	// tick 60 with 20 kites
	// less than 2 bytes a kite and snapshot: true
}
