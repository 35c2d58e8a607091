package netsim

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"pgregory.net/rapid"
)

// pair makes two endpoints; the second writes down what it gets and when.
func pair(seed uint64, c Conditions) (n *Net, a, b *Endpoint, got *[]arrival) {
	n = New(Options{Seed: seed, Conditions: c})
	a, b = n.Endpoint("a"), n.Endpoint("b")
	got = new([]arrival)
	b.Handle(func(from netip.AddrPort, data []byte) {
		*got = append(*got, arrival{n.Now(), from, string(data)})
	})
	return
}

type arrival struct {
	at   time.Duration
	from netip.AddrPort
	data string
}

func TestDelivery(t *testing.T) {
	n, a, b, got := pair(1, Both(Profile{Latency: 30 * time.Millisecond}))
	a.SendTo(b.PublicAddr(), []byte("one"))
	n.Run(10 * time.Millisecond)
	a.SendTo(b.PublicAddr(), []byte("two"))
	n.Run(19 * time.Millisecond)
	if len(*got) != 0 {
		t.Fatalf("%v arrived before its time", *got)
	}
	n.Run(time.Second)
	want := []arrival{
		{30 * time.Millisecond, a.LocalAddr(), "one"}, {
			40 * time.Millisecond, a.LocalAddr(), "two"}}
	if len(*got) != 2 || (*got)[0] != want[0] || (*got)[1] != want[1] {
		t.Errorf("got %v, want %v", *got, want)
	}
	if n.Now() != 1029*time.Millisecond {
		t.Errorf("the clock is at %v", n.Now())
	}
}

// TestRepeatable: a busy network with every preset does the same twice, and
// something else with another seed.
func TestRepeatable(t *testing.T) {
	run := func(seed uint64, c Conditions) uint64 {
		n := New(Options{Seed: seed, Conditions: c})
		server := n.Endpoint("server")
		server.Handle(func(from netip.AddrPort, data []byte) { server.SendTo(from, data) })
		for _, name := range []string{"x", "y", "z"} {
			e := n.Endpoint(name)
			e.BehindNAT(NAT{Timeout: 200 * time.Millisecond})
			e.Every(time.Second/60, func() {
				b := make([]byte, n.Rand().IntN(500))
				n.Rand().Fill(b)
				e.SendTo(server.PublicAddr(), b)
			})
		}
		if err := n.Chaos(Chaos{End: 5 * time.Second, Most: 20, Cut: []string{"*"},
			Pause: []string{"*"}, Rebind: []string{"x", "y"}, Storm: []string{"*"}}); err != nil {
			t.Fatal(err)
		}
		n.Run(5 * time.Second)
		return n.Digest()
	}
	for _, c := range Presets() {
		if a, b := run(3, c), run(3, c); a != b {
			t.Errorf("%s: digests %x and %x of one seed", c.Name, a, b)
		}
		if a, b := run(3, c), run(4, c); a == b {
			t.Errorf("%s: two seeds have digest %x", c.Name, a)
		}
	}
}

// TestDigestIsTheSameEverywhere pins a run, so that another machine, compiler
// or processor that would do otherwise is noticed.
func TestDigestIsTheSameEverywhere(t *testing.T) {
	n, a, b, _ := pair(11, Awful)
	buf := make([]byte, 100)
	for range 1000 {
		n.Rand().Fill(buf)
		a.SendTo(b.PublicAddr(), buf)
		n.Run(10 * time.Millisecond)
	}
	n.Run(time.Second)
	if want := uint64(0xb3b2b87b3cb20c48); n.Digest() != want {
		t.Errorf("digest %#x, want %#x", n.Digest(), want)
	}
}

// TestConservation: every datagram offered is accounted for, whatever happens.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := New(Options{Seed: rapid.Uint64().Draw(t, "seed"),
			Conditions: rapid.SampledFrom(Presets()).Draw(t, "preset")})
		var all []*Endpoint
		received := uint64(0)
		for _, name := range []string{"a", "b", "c"} {
			e := n.Endpoint(name)
			all = append(all, e)
			e.Every(10*time.Millisecond, func() {
				to := all[n.Rand().IntN(len(all))]
				e.SendTo(to.PublicAddr(), make([]byte, n.Rand().IntN(1000)))
			})
			e.Handle(func(netip.AddrPort, []byte) { received++ })
		}
		if rapid.Bool().Draw(t, "nat") {
			all[0].BehindNAT(NAT{Kind: PortRestricted, Timeout: 30 * time.Millisecond})
		}
		n.Chaos(Chaos{End: 2 * time.Second, Most: 12, Cut: []string{"*"}, Pause: []string{"*"},
			Restart: []string{"*"}, Rebind: []string{"*"}, Storm: []string{"*"}})
		n.Run(2 * time.Second)
		for _, e := range all {
			e.Close() // ends its timers
		}
		for n.Step() {
		}
		s := n.Stats()
		if s.Offered+s.Duplicated != s.Delivered+s.Lost+s.Overflowed+s.TooLarge+s.Cut+s.Unrouted {
			t.Fatalf("%+v does not add up", s)
		}
		// A crash or close throws away what waits in a paused endpoint's inbox.
		if received > s.Delivered {
			t.Fatalf("%d received of %d", received, s.Delivered)
		}
	})
}

func TestCutStopsWhatIsOnItsWay(t *testing.T) {
	n, a, b, got := pair(1, Both(Profile{Latency: 50 * time.Millisecond}))
	a.SendTo(b.PublicAddr(), []byte("on its way"))
	n.Run(10 * time.Millisecond)
	n.Cut(a, b)
	a.SendTo(b.PublicAddr(), []byte("into the cut"))
	n.Run(100 * time.Millisecond)
	n.Heal(a, b)
	a.SendTo(b.PublicAddr(), []byte("after"))
	n.Run(time.Second)
	if len(*got) != 1 || (*got)[0].data != "after" {
		t.Errorf("got %v", *got)
	}
	if s := n.Path(a, b).Stats(); s.Cut != 2 || s.Delivered != 1 {
		t.Errorf("%+v", s)
	}

	n.CutOneWay(a, b)
	back := 0
	a.Handle(func(netip.AddrPort, []byte) { back++ })
	b.SendTo(a.PublicAddr(), nil)
	a.SendTo(b.PublicAddr(), nil)
	n.Run(time.Second)
	if back != 1 || len(*got) != 1 {
		t.Errorf("one way: %d came back and %d went", back, len(*got)-1)
	}
}

// TestInject: forged senders reach an endpoint, and answers to them nobody.
func TestInject(t *testing.T) {
	n, _, b, got := pair(1, Awful)
	forged := netip.MustParseAddrPort("198.51.100.9:77")
	for range 100 {
		n.Inject(forged, b.PublicAddr(), []byte("spoof"))
	}
	n.Inject(forged, forged, nil)
	n.Run(0)
	if len(*got) != 100 || (*got)[0].from != forged || (*got)[0].data != "spoof" || n.Now() != 0 {
		t.Errorf("%d arrived", len(*got))
	}
	b.SendTo(forged, nil)
	if s := n.Stats(); s.Unrouted != 2 || s.Delivered != 100 || len(n.Endpoints()) != 2 {
		t.Errorf("%+v", s)
	}
}

func TestPartition(t *testing.T) {
	n := New(Options{})
	var all []*Endpoint
	heard := make(map[string]int)
	for _, name := range []string{"a", "b", "c", "d"} {
		e := n.Endpoint(name)
		e.Handle(func(netip.AddrPort, []byte) { heard[name]++ })
		all = append(all, e)
	}
	shout := func() {
		clear(heard)
		for _, e := range all {
			for _, to := range all {
				e.SendTo(to.PublicAddr(), nil)
			}
		}
		n.Run(time.Millisecond)
	}
	n.Partition(all[:1], all[1:])
	if shout(); heard["a"] != 1 || heard["b"] != 3 || heard["d"] != 3 {
		t.Errorf("parted: %v", heard)
	}
	n.HealPartition(all[:1], all[1:])
	if shout(); heard["a"] != 4 || heard["c"] != 4 {
		t.Errorf("healed: %v", heard)
	}
}

func TestPause(t *testing.T) {
	n, a, b, got := pair(1, Perfect)
	var ticks []time.Duration
	b.Every(10*time.Millisecond, func() { ticks = append(ticks, n.Now()) })
	n.Run(25 * time.Millisecond)
	b.Pause()
	a.SendTo(b.PublicAddr(), []byte("wait"))
	n.Run(100 * time.Millisecond)
	if len(*got) != 0 || len(ticks) != 2 {
		t.Fatalf("a paused endpoint got %v and ticked %v", *got, ticks)
	}
	b.Resume()
	n.Run(11 * time.Millisecond)
	if len(*got) != 1 || (*got)[0].at != 125*time.Millisecond {
		t.Errorf("got %v after the pause", *got)
	}
	if len(ticks) != 4 || ticks[2] != 125*time.Millisecond || ticks[3] != 135*time.Millisecond {
		t.Errorf("ticks %v", ticks)
	}
}

func TestRestart(t *testing.T) {
	n, a, b, got := pair(1, Perfect)
	ticks, boots := 0, 0
	b.Every(10*time.Millisecond, func() { ticks++ })
	b.OnRestart(func() { boots++ })
	n.Run(25 * time.Millisecond)
	b.Restart(50 * time.Millisecond)
	a.SendTo(b.PublicAddr(), []byte("nobody home"))
	n.Run(20 * time.Millisecond)
	if b.Running() {
		t.Error("runs while it is down")
	}
	n.Run(40 * time.Millisecond)
	a.SendTo(b.PublicAddr(), []byte("hello"))
	n.Run(time.Second)
	if boots != 1 || ticks != 2 || len(*got) != 1 || (*got)[0].data != "hello" {
		t.Errorf("%d boots, %d ticks, got %v", boots, ticks, *got)
	}
	// A second crash while down starts the wait anew, and there is one boot.
	b.Restart(50 * time.Millisecond)
	n.Run(40 * time.Millisecond)
	b.Restart(50 * time.Millisecond)
	n.Run(40 * time.Millisecond)
	if boots != 1 {
		t.Errorf("came back too soon")
	}
	n.Run(time.Second)
	if boots != 2 {
		t.Errorf("%d boots, want 2", boots)
	}
}

func TestNAT(t *testing.T) {
	n, client, server, got := pair(1, Both(Profile{Latency: time.Millisecond}))
	client.BehindNAT(NAT{Kind: PortRestricted, Timeout: time.Minute})
	back := 0
	client.Handle(func(netip.AddrPort, []byte) { back++ })
	server.SendTo(client.PublicAddr(), nil)
	n.Run(time.Second)
	if back != 0 {
		t.Error("a restricted router let a stranger in")
	}
	client.SendTo(server.PublicAddr(), nil)
	n.Run(time.Second)
	first := (*got)[0].from
	if first == client.LocalAddr() || first != client.PublicAddr() {
		t.Errorf("the server sees %v, the client is %v", first, client.LocalAddr())
	}
	server.SendTo(first, nil)
	n.Run(time.Second)
	if back != 1 {
		t.Error("the answer did not get in")
	}

	client.RebindPort()
	server.SendTo(first, nil)
	n.Run(time.Second)
	if back != 1 {
		t.Error("the old port still leads in")
	}
	client.SendTo(server.PublicAddr(), nil)
	n.Run(time.Second)
	second := (*got)[1].from
	if second.Addr() != first.Addr() || second.Port() == first.Port() {
		t.Errorf("port rebinding made %v of %v", second, first)
	}
	client.RebindAddr()
	client.SendTo(server.PublicAddr(), nil)
	n.Run(time.Second)
	if third := (*got)[2].from; third.Addr() == second.Addr() {
		t.Errorf("address rebinding made %v of %v", third, second)
	}

	before := client.PublicAddr()
	n.Run(2 * time.Minute)
	client.SendTo(server.PublicAddr(), nil)
	if client.PublicAddr() == before {
		t.Error("an idle mapping should be forgotten")
	}
}

// TestEndpointIsALink drives an endpoint only by the methods that any link has.
func TestEndpointIsALink(t *testing.T) {
	n := New(Options{Conditions: Both(Profile{Latency: 5 * time.Millisecond})})
	a, b := n.Endpoint("a"), n.Endpoint("b")
	var l link.Link = b
	out := []link.Datagram{
		{Addr: b.LocalAddr(), Data: []byte("x")}, {Addr: b.LocalAddr(), Data: []byte("y")}, {
			Addr: b.LocalAddr(), Data: make([]byte, 1201)}}
	if k, err := a.Send(out); k != 2 || !errors.Is(err, link.ErrTooLarge) {
		t.Fatalf("sent %d, %v", k, err)
	}
	if ok, err := l.Wait(time.Second); !ok || err != nil || n.Now() != 5*time.Millisecond {
		t.Fatalf("waited until %v: %v, %v", n.Now(), ok, err)
	}
	n.Run(time.Millisecond)
	batch := make([]link.Datagram, 4)
	k, err := l.Receive(batch)
	if k != 2 || err != nil || !bytes.Equal(batch[1].Data, []byte("y")) ||
		batch[0].Addr != a.LocalAddr() {
		t.Fatalf("received %d, %v: %v", k, err, batch[:k])
	}
	if ok, _ := l.Wait(20 * time.Millisecond); ok {
		t.Error("nothing should be waiting")
	}
	n.After(time.Millisecond, l.Wake)
	start := n.Now()
	if ok, _ := l.Wait(-1); ok || n.Now()-start != time.Millisecond {
		t.Error("woken too late or for nothing")
	}
	want := link.Counters{Sent: 2, SentBytes: 2, Refused: 1}
	if a.Counters() != want {
		t.Errorf("sender counts %+v", a.Counters())
	}
	if c := b.Counters(); c.Received != 2 || c.ReceivedBytes != 2 {
		t.Errorf("receiver counts %+v", c)
	}
	l.Close()
	if _, err := l.Receive(batch); !errors.Is(err, link.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

func TestInboxOverflows(t *testing.T) {
	n := New(Options{})
	a, b := n.Endpoint("a"), n.Endpoint("b")
	b.SetInbox(3)
	for range 5 {
		a.SendTo(b.LocalAddr(), nil)
	}
	n.Run(time.Second)
	if k, _ := b.Receive(make([]link.Datagram, 9)); k != 3 || b.Counters().DroppedIn != 2 {
		t.Errorf("%d received, %+v", k, b.Counters())
	}
}

func TestCorruptionFlipsOneBit(t *testing.T) {
	n, a, b, got := pair(1, Both(Profile{Corrupt: 1}))
	want := bytes.Repeat([]byte{0xaa}, 50)
	for range 100 {
		a.SendTo(b.PublicAddr(), want)
	}
	n.Run(time.Second)
	for _, g := range *got {
		flipped := 0
		for i := range want {
			for x := g.data[i] ^ want[i]; x != 0; x &= x - 1 {
				flipped++
			}
		}
		if flipped != 1 {
			t.Fatalf("%d bits flipped", flipped)
		}
	}
}

func TestTimers(t *testing.T) {
	n := New(Options{})
	var order []int
	n.After(2*time.Millisecond, func() { order = append(order, 2) })
	n.After(time.Millisecond, func() { order = append(order, 1) })
	stopped := n.After(time.Millisecond, func() { order = append(order, 9) })
	stopped.Stop()
	var every Timer
	every = n.Every(3*time.Millisecond, func() {
		if order = append(order, 3); len(order) == 4 {
			every.Stop()
		}
	})
	n.After(time.Millisecond, func() {}) // takes the stopped timer's place
	stopped.Stop()                       // and must not be stopped for it
	n.Run(time.Second)
	if len(order) != 4 || order[0] != 1 || order[1] != 2 || order[3] != 3 {
		t.Errorf("order %v", order)
	}
	Timer{}.Stop()
}

// BenchmarkNet is one datagram through the whole network, as seen by a protocol
// test: sent by a timer, delayed, handled, answered.
func BenchmarkNet(b *testing.B) {
	for _, c := range []Conditions{Perfect, WiFi} {
		for _, clients := range []int{2, 256} {
			b.Run(c.Name+"/"+map[int]string{2: "2-clients", 256: "256-clients"}[clients],
				func(b *testing.B) {
					n := New(Options{Seed: 1})
					server := n.Endpoint("server")
					server.Handle(func(from netip.AddrPort, data []byte) {
						server.SendTo(from, data)
					})
					payload := make([]byte, 100)
					for range clients {
						e := n.Endpoint("client" + string(rune('A'+len(n.endpoints))))
						n.Connect(e, server, c)
						e.Handle(func(netip.AddrPort, []byte) {})
						e.Every(time.Second/60, func() { e.SendTo(server.LocalAddr(), payload) })
					}
					n.Run(2 * time.Second) // grow the buffers
					before, start := n.Stats().Offered, n.Now()
					b.ReportAllocs()
					for b.Loop() {
						n.Run(time.Second / 60)
					}
					sent := float64(n.Stats().Offered - before)
					b.ReportMetric(sent/b.Elapsed().Seconds(), "datagrams/s")
					b.ReportMetric((n.Now()-start).Seconds()/b.Elapsed().Seconds(), "x-real-time")
				})
		}
	}
}
