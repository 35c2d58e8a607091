package predict

import (
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// A server tells of events, and takes some back; a player's client shows each once, and tells the
// game of those that did not happen, with how long they were believed.
func TestRetractedReachesTheGame(t *testing.T) {
	// without one, the client is never ahead
	for _, trip := range []time.Duration{0, 100 * time.Millisecond} {
		retractedReachesTheGame(t, trip)
	}
}

func retractedReachesTheGame(t *testing.T, trip time.Duration) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := yard.New(world.Settings{Seed: 1})
	must(err)
	proto, err := replica.NewProtocol(yard, replica.Options{})
	must(err)
	pub, err := replica.NewPublisher(proto, w)
	must(err)
	sender, receiver, worker := replica.NewSender(pub, replica.SenderOptions{Player: 1}),
		replica.NewReceiver(proto, replica.ReceiverOptions{}), replica.NewWorker(proto)
	index, finder := interest.NewIndex(interest.Options{}), interest.NewFinder()
	follow := interest.NewFollower(index)
	rules := &interest.Rules{Sources: []interest.Source{&interest.Everything{}}}
	var seen interest.View

	var retracted []Notice
	c, err := New(yard, Options{Player: 1, Settings: world.Settings{Seed: 1}})
	must(err)
	view := c.Truth() // as it was shown last
	in := yard.NewInputs()
	in.Join(1)
	name := func(kind uint16, tick world.Tick) world.Emitted {
		return world.Emitted{Name: world.Name{Tick: tick, Ordinal: 7}, Kind: kind}
	}
	const hits, crowns = 1, 3
	stays, goes, crown := name(hits, 30), name(hits, 31), name(crowns, 31)
	shown, settled := map[world.Emitted]int{}, 0
	crowned := func() int { return len(slices.Collect(firsts(world.SavedEvents[crowned](view)))) }
	for now := time.Duration(0); w.Tick() < 120; now += yard.TickLength() {
		must(w.Host().Step(in))
		in.Reset()
		l := replica.Leading{Again: w.Tick()%7 == 0, Settled: w.Tick() - min(w.Tick(), 40)}
		add := func(what replica.Standing, e world.Emitted) {
			l.Events = append(l.Events,
				replica.Happening{
					What: what, Event: e,
					Image: make([]int32, yard.Events()[e.Kind].Layout().Len())})
		}
		switch w.Tick() {
		case 31:
			add(replica.Provisional, stays)
			add(replica.Provisional, goes)
			add(replica.Provisional, crown)
		case 45:
			if crowned() != 1 {
				t.Error("what is provisional is not kept with what is saved")
			}
		case 51:
			add(replica.Retracted, goes)
			add(replica.Retracted, crown)
		case 70:
			add(replica.Confirmed, stays)
		}
		must(pub.PublishLeading(w, l))
		follow.Follow(w)
		if finder.Update(&seen, index, rules, interest.Observer{Player: 1}) {
			sender.Look(&seen)
		}
		sender.Encode(worker, replica.Room{Packet: 1150, Budget: 4000})
		for _, m := range sender.Messages() {
			must(receiver.Message(m))
		}
		for i := range sender.Staged() {
			carrier := uint64(w.Tick())<<8 | uint64(i)
			sender.Sent(i, carrier)
			must(receiver.Packet(sender.Packet(i)))
			sender.Arrived(carrier)
		}
		list := receiver.Events()
		for i := range list {
			c.Event(&list[i])
		}
		for s := receiver.Next(); s != nil; s = receiver.Next() {
			c.SetQuality(trip, 0)
			c.Snapshot(now, s)
		}
		for range c.Due(now) {
			c.Next()
			c.Step()
		}
		view = c.Show(now)
		for e := range view.Host().Happened {
			shown[e]++
		}
		for _, n := range c.Notices() {
			switch n.What {
			case Settled:
				settled++
			case Retracted:
				retracted = append(retracted, n)
			}
		}
	}
	if shown[stays] != 1 || shown[goes] != 1 || shown[crown] != 1 || settled != 1 {
		t.Errorf("shown %v, settled %d", shown, settled)
	}
	if len(retracted) != 2 || retracted[0].Emitted != goes || retracted[1].Emitted != crown {
		t.Fatalf("retracted: %+v", retracted)
	}
	for _, n := range retracted {
		if ticks := n.Believed / yard.TickLength(); ticks < 15 || ticks > 25 {
			t.Errorf("%s was believed for %d ticks", yard.Events()[n.Kind].Name(), ticks)
		}
	}
	if n := crowned(); n != 0 {
		t.Errorf("%d crowns are kept that no one won", n)
	}
}

// firsts leaves the second of each pair out.
func firsts[A, B any](seq func(func(A, B) bool)) func(func(A) bool) {
	return func(yield func(A) bool) {
		seq(func(a A, _ B) bool { return yield(a) })
	}
}
