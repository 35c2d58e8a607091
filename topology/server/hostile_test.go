package server

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/ways"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// attack is something that a client with a valid token can do; it is called at each tick once the
// client plays.
type attack struct {
	name  string
	do    func(b *bot, r *netsim.Rand)
	count Offence
	ends  conn.Reason // how it ends for the attacker; ReasonNone if it may stay
}

func attacks() []attack {
	junk := func(r *netsim.Rand, n int) []byte {
		b := make([]byte, 1+r.IntN(n))
		r.Fill(b)
		return b
	}
	return []attack{
		{"garbage on the control channel",
			func(b *bot, r *netsim.Rand) { b.send(wire.ControlChannel, junk(r, 100)) }, BadControl,
			wire.ReasonHostile},
		{"garbage to replica", func(b *bot, r *netsim.Rand) {
			b.send(wire.StateChannel, append([]byte{byte(b.Epoch())}, junk(r, 60)...))
		}, BadState, wire.ReasonHostile},
		{"garbage for commands", func(b *bot, r *netsim.Rand) {
			b.send(wire.CommandChannel, append([]byte{byte(b.Epoch())}, junk(r, 60)...))
		}, BadCommand, wire.ReasonHostile},
		{"snapshots to the server",
			func(b *bot, r *netsim.Rand) { b.send(wire.SnapshotChannel, junk(r, 60)) }, BadControl,
			wire.ReasonHostile},
		{"messages that only a server sends",
			func(b *bot, r *netsim.Rand) { b.say(wire.Message{Kind: wire.Welcome, Player: 1}) },
			BadControl, wire.ReasonHostile},
		{"a second hello", func(b *bot, r *netsim.Rand) {
			b.say(wire.Message{Kind: wire.Hello, Version: b.sim.server.protocol.Hash()})
		}, BadControl, wire.ReasonHostile},
		{"ready again and again",
			func(b *bot, r *netsim.Rand) {
				b.say(wire.Message{Kind: wire.Ready, Epoch: b.Epoch()})
			}, BadControl, wire.ReasonHostile},
		{"asking for levels that do not exist",
			func(b *bot, r *netsim.Rand) { b.say(wire.Message{Kind: wire.Need, Epoch: b.Epoch()}) },
			BadControl, wire.ReasonHostile},
		{"asking for tables that were never offered", func(b *bot, r *netsim.Rand) {
			b.say(wire.Message{Kind: wire.Answers, Number: 1, Answer: wire.Send})
		}, BadControl, wire.ReasonHostile},
		{"claiming to hold tables that were never offered", func(b *bot, r *netsim.Rand) {
			b.say(wire.Message{Kind: wire.Answers, Number: 2, Answer: wire.Holds})
		}, BadControl, wire.ReasonHostile},
		{"beginning anew at each tick",
			func(b *bot, r *netsim.Rand) {
				b.say(wire.Message{Kind: wire.Again, Epoch: b.Epoch()})
			}, ManyRequests, conn.ReasonNone},
		{"a flood of chat", func(b *bot, r *netsim.Rand) { b.Say("buy my things") }, ManyLines,
			conn.ReasonNone},
		{"a flood of requests", func(b *bot, r *netsim.Rand) {
			for range 20 {
				b.SetPaused(true)
			}
		}, ManyRequests, wire.ReasonHostile},
		{"changing its mind", func(b *bot, r *netsim.Rand) {
			for i := range 3 {
				image := []int32{int32(i%3) - 1, int32(r.IntN(3)) - 1, 0}
				b.command(b.Sent()+10, image)
			}
		}, SecondMind, wire.ReasonHostile},
		{"a flood of commands", func(b *bot, r *netsim.Rand) {
			for range 30 {
				b.command(b.Sent(), b.Made(b.Sent()))
			}
		}, ManyCommands, wire.ReasonHostile},
		{"repairs that nobody needs", func(b *bot, r *netsim.Rand) {
			for range 5 {
				// the entity of handle 0, please
				b.send(wire.StateChannel, []byte{byte(b.Epoch()), replicaFresh, 1, 0})
			}
		}, ManyRequests, conn.ReasonNone},
	}
}

// command sends commands up to a tick, past all that the client would do.
func (b *bot) command(t world.Tick, images ...[]int32) {
	w := replica.NewCommandWriter(b.sim.server.protocol)
	if msg, err := w.Append([]byte{byte(b.Epoch())}, t, images, nil,
		200); err == nil {
		b.send(wire.CommandChannel, msg)
	}
}

// TestHostileClients: whoever sends valid packets with invalid content is counted, limited and
// dropped with a reason, and the one who plays beside them sees everything as it is.
func TestHostileClients(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	for _, x := range attacks() {
		t.Run(x.name, func(t *testing.T) {
			simtest.Run(t, 1, func(n *netsim.Net) error {
				s, err := newSim(n, Options{Title: near(100)})
				if err != nil {
					return err
				}
				defer s.close()
				good := s.join("good", 1, netsim.Cable, client.Options{})
				evil := s.join("evil", 2, netsim.Cable, client.Options{})
				good.fires = true
				if !s.playing(5 * time.Second) {
					s.fail("not all are playing")
					return s.err
				}
				before := good.Stats()
				evil.end.Every(yard.TickLength(), func() {
					if evil.ended == nil && evil.Phase() == client.Playing {
						x.do(evil, n.Rand())
					}
				})
				n.Run(20 * time.Second)
				st := s.server.Stats()
				if st.Offences[x.count] == 0 {
					s.fail("nothing was counted as %v: %v", x.count, st.Offences)
				}
				var end *client.EndError
				if x.ends != conn.ReasonNone &&
					(!errors.As(evil.ended, &end) || end.Reason != x.ends ||
						s.server.Seat(2) != nil) {
					s.fail("the attacker ended with %v: %v", evil.ended, st.Offences)
				}
				after := good.Stats()
				if got := after.Snapshots - before.Snapshots; got < 380 || after.Bad != 0 {
					s.fail("the other one got %d snapshots in 20 seconds, %d of them bad", got,
						after.Bad)
				}
				evil.Leave()
				n.Run(time.Second)
				return s.settle(time.Second)
			})
		})
	}
}

// joinDeaf makes a client that gets a seat and a world, and then makes nothing of what it is told.
// Its connection acknowledges everything all the same.
func (s *sim) joinDeaf(name string, id uint64, c netsim.Conditions) *ways.Set {
	end := s.net.Endpoint(name)
	s.net.Connect(end, s.end, c)
	set, err := ways.New(ways.Options{Protocol: token.ProtocolID(yard.Name()),
		Hash: s.server.protocol.Hash(), Tick: yard.TickLength(), Token: s.token(id), Name: name,
		Conn: conn.Options{Seed: seedOf(s.net.Seed(), byte(id))}, Datagram: end.MaxDatagram()})
	if err != nil {
		s.fail("%v", err)
		return nil
	}
	events := func() {
		for e, ok := set.Next(); ok; e, ok = set.Next() {
			if e.Kind == ways.Level {
				set.Begin(e.Way, false)
			}
		}
	}
	batch := make([]link.Datagram, 64)
	end.Every(yard.TickLength(), func() {
		k, _ := end.Receive(batch)
		for i := 0; i < k; {
			i += set.Receive(s.net.Now(), ways.First, batch[i:k])
			events()
		}
		set.Tend(s.net.Now(), yard.TickLength())
		out := set.Flush(s.net.Now(), set.Main(), nil)
		events()
		_, _ = end.Send(out)
	})
	return set
}

// TestLiars: clients that acknowledge what they never looked at, or report nonsense about what they
// hold, hurt themselves alone.
func TestLiars(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		s, err := newSim(n, Options{Title: near(100)})
		if err != nil {
			return err
		}
		defer s.close()
		good := s.join("good", 1, netsim.WiFi, client.Options{})
		deaf := s.joinDeaf("deaf", 2, netsim.WiFi)
		liar := s.join("liar", 3, netsim.WiFi, client.Options{})
		good.fires = true
		if !s.playing(10 * time.Second) {
			s.fail("not all are playing")
			return s.err
		}
		liar.end.Every(100*time.Millisecond, func() {
			if liar.ended == nil {
				// It says that it could not use some packet, and doubts some entity.
				liar.send(wire.StateChannel,
					[]byte{byte(liar.Epoch()), replicaReject, byte(n.Rand().IntN(128)), 1,
						byte(n.Rand().IntN(8))})
			}
		})
		n.Run(20 * time.Second)
		if deaf.Phase() != ways.PhasePlaying {
			s.fail("the deaf one is %v: %v", deaf.Phase(), deaf.Err())
		}
		if good.ended != nil || good.Stats().Bad != 0 || good.snaps < 300 {
			s.fail("the honest one: %v, %+v", good.ended, good.Stats())
		}
		s.clients = s.clients[:1]
		return s.settle(time.Second)
	})
}

// stream is all that the server sent to one client.
type stream struct {
	at   []time.Duration
	data [][]byte
}

// TestTroubleIsNotContagious: what one client is sent is the same, to the byte and the moment,
// whether or not another's network breaks down. The two do not see each other, since what one does
// because of its network may well be seen by the other.
func TestTroubleIsNotContagious(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	run := func(seed uint64, trouble bool) (stream, error) {
		var out stream
		n := netsim.New(netsim.Options{Seed: seed})
		o := Options{Title: near(30), Players: 80, Rules: Rules{}}
		s, err := newSim(n, o)
		if err != nil {
			return out, err
		}
		defer s.close()
		a := s.join("a", 1, netsim.Cable, client.Options{})
		b := s.join("b", 2, netsim.Cable, client.Options{})
		a.quiet = true
		a.makeMove = func(world.Tick) walk { return walk{} }
		b.makeMove = func(t world.Tick) walk { return walk{X: int8(t/10%2)*2 - 1, Y: 1} }
		n.SetTrace(func(e netsim.Event) {
			if e.What == netsim.Sent && e.From == "server" && e.To == "b" {
				out.at = append(out.at, e.At)
				out.data = append(out.data, bytes.Clone(e.Data))
			}
		})
		if !s.playing(5 * time.Second) {
			return out, fmt.Errorf("seed %d: not all are playing", seed)
		}
		n.Run(2 * time.Second)
		if trouble {
			n.Connect(a.end, s.end,
				conditions(t,
					"latency=300ms jitter=longtail:80ms loss=40% duplicate=5% corrupt=2%"))
		}
		n.Run(5 * time.Second)
		if trouble {
			n.Cut(a.end, s.end)
		}
		n.Run(15 * time.Second)
		if trouble {
			n.Heal(a.end, s.end)
		}
		n.Run(5 * time.Second)
		if trouble != (a.Stats().Returns > 0) {
			s.fail("a has returned %d times", a.Stats().Returns)
		}
		return out, s.err
	}
	for seed := range uint64(5) {
		x, err := run(seed, false)
		must(t, err)
		y, err := run(seed, true)
		must(t, err)
		if len(x.data) != len(y.data) || len(x.data) < 400 {
			t.Fatalf("seed %d: %d packets without trouble, %d with", seed, len(x.data), len(y.data))
		}
		for i := range x.data {
			if x.at[i] != y.at[i] || !bytes.Equal(x.data[i], y.data[i]) {
				t.Fatalf("seed %d: packet %d at %v and %v: %d and %d bytes, the same: %v", seed, i,
					x.at[i], y.at[i], len(x.data[i]), len(y.data[i]),
					bytes.Equal(x.data[i], y.data[i]))
			}
		}
	}
}

// TestRunsRepeat: the same seed gives the same run, to the byte, on any number of workers.
func TestRunsRepeat(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	run := func(seed uint64, workers int) (uint64, uint64) {
		n := netsim.New(netsim.Options{Seed: seed})
		s, err := newSim(n, Options{Title: near(100), Workers: workers})
		must(t, err)
		defer s.close()
		for i := range 9 {
			s.join(fmt.Sprint("c", i), uint64(i+1), netsim.Presets()[i],
				client.Options{}).fires = true
		}
		n.Run(15 * time.Second)
		must(t, s.err)
		return n.Digest(), s.server.World().Hash()
	}
	seeds := uint64(1)
	if soak() {
		seeds = 4
	}
	for seed := range seeds {
		digest, hash := run(seed, 1)
		for _, workers := range []int{1, 2, 5} {
			if d, h := run(seed, workers); d != digest || h != hash {
				t.Errorf("seed %d: %d workers give %x and %x, one gave %x and %x", seed, workers, d,
					h, digest, hash)
			}
		}
	}
}

// TestMemoryIsBounded: people come and go, some without a word, for a long time, and nothing is
// left of them.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	n := netsim.New(netsim.Options{Seed: 3})
	s, err := newSim(n,
		Options{Title: near(100), KeepSeat: 2 * time.Second, Players: 40,
			Conn: conn.Options{Timeout: 2 * time.Second}, TicketLife: time.Second})
	must(t, err)
	defer s.close()
	heap := func() int64 {
		for _, o := range s.oracle { // the test's own memory
			o.images, o.saved = map[world.ID][]published{}, nil
		}
		s.news = nil
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	s.server.opt.After = nil
	guests := 0
	names := 12
	round := func() {
		s.clients = nil
		for i := range names {
			guests++
			b := &bot{sim: s, id: uint64(guests), end: n.Endpoint(fmt.Sprint("g", i))}
			n.Connect(b.end, s.end, netsim.WiFi)
			b.start(client.Options{Return: -1}, s.token(b.id))
			b.careless = true
			timer := b.end.Every(yard.TickLength(), func() {
				if b.ended == nil {
					b.ended = b.frame()
				}
			})
			n.After(3*time.Second, func() {
				if i%2 == 0 {
					b.Leave()
				} else {
					timer.Stop()
				}
			})
			n.After(7*time.Second, func() { timer.Stop() })
		}
		n.Run(10 * time.Second)
	}
	for range 8 {
		round()
	}
	before := heap()
	for range 40 {
		round()
	}
	after := heap()
	must(t, s.err)
	if p := s.server.Population(); p != (Population{}) || len(s.server.seats) != 0 ||
		len(s.server.peers) != 0 {
		t.Errorf("%+v are left, %d seats", p, len(s.server.seats))
	}
	if got := s.server.Stats(); got.Joined < 500 || got.Joined != got.Left {
		t.Errorf("%d joined, %d left", got.Joined, got.Left)
	}
	if grown := after - before; grown > 2<<20 {
		t.Errorf("%d KB more after %d guests", grown>>10, guests)
	}
}

// What a client may say to package replica: that a packet was of no use, and that it wants entities
// anew.
const (
	replicaReject = 4
	replicaFresh  = 5
)
