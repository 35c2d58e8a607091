package crowd

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// A service is a server without its sockets: a world, and for each player a view and a sender. A
// third of the players have their turn at each tick, and acknowledge two ticks later.
type service struct {
	*run
	pub      *replica.Publisher
	index    *interest.Index
	follower *interest.Follower
	rules    *interest.Rules
	finder   *interest.Finder
	worker   *replica.Worker
	views    []interest.View
	senders  []*replica.Sender
	acks     [3][]acknowledgement
	carrier  uint64

	step, publish, look, encode time.Duration
	snapshots, packets, bytes   int
}

type acknowledgement struct {
	sender *replica.Sender
	number uint64
}

func newService(t testing.TB, players int, o replica.Options) *service {
	t.Helper()
	s := &service{
		run: newRun(t, players, SettingsFor(players, 1)), index: interest.NewIndex(Index()),
		rules: Rules(), finder: interest.NewFinder()}
	p, err := replica.NewProtocol(Game, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.pub, err = replica.NewPublisher(p, s.w); err != nil {
		t.Fatal(err)
	}
	s.follower, s.worker = interest.NewFollower(s.index, descriptions()...), replica.NewWorker(p)
	s.views = make([]interest.View, players)
	for i := range players {
		s.senders = append(s.senders,
			replica.NewSender(s.pub,
				replica.SenderOptions{Player: world.Player(i + 1), Start: true}))
	}
	return s
}

func (s *service) tick(t testing.TB) {
	t0 := busy()
	s.run.step(t)
	t1 := busy()
	if err := s.pub.Publish(s.w); err != nil {
		t.Fatal(err)
	}
	due := &s.acks[s.w.Tick()%3]
	for _, a := range *due {
		a.sender.Arrived(a.number)
	}
	*due = (*due)[:0]
	t2 := busy()
	s.follower.Follow(s.w)
	last := busy()
	s.step += t1 - t0
	s.publish += t2 - t1
	s.look += last - t2
	for i := int(s.w.Tick() % 3); i < len(s.senders); i += 3 {
		x := s.senders[i]
		o := interest.Observer{Player: world.Player(i + 1), RoundTrip: 50 * time.Millisecond}
		observe(s.w, o.Player, &o)
		if s.finder.Update(&s.views[i], s.index, s.rules, o) {
			x.Look(&s.views[i])
		}
		mark := busy()
		x.Encode(s.worker, replica.Room{Packet: 1150, Budget: 4000})
		s.look += mark - last
		last = busy()
		s.encode += last - mark
		s.snapshots++
		for j := range x.Staged() {
			s.carrier++
			s.packets++
			s.bytes += len(x.Packet(j))
			x.Sent(j, s.carrier)
			at := &s.acks[(s.w.Tick()+2)%3]
			*at = append(*at, acknowledgement{x, s.carrier})
		}
	}
}

// forget begins to count anew.
func (s *service) forget() {
	s.step, s.publish, s.look, s.encode = 0, 0, 0, 0
	s.snapshots, s.packets, s.bytes = 0, 0, 0
}

// TestTables: the tables that come with the game are for the game as it is, and worth their place.
func TestTables(t *testing.T) {
	size := func(o replica.Options) float64 {
		s := newService(t, 60, o)
		for range 120 {
			s.tick(t)
		}
		s.forget()
		for range 240 {
			s.tick(t)
		}
		return float64(s.bytes) / float64(s.snapshots)
	}
	with := size(sent())
	plain := sent()
	plain.Tables = nil
	if without := size(plain); with > 0.8*without {
		t.Errorf("%.1f bytes a snapshot with tables, %.1f without; make new ones by go generate",
			with, without)
	} else {
		t.Logf("%.1f bytes a snapshot with tables, %.1f without", with, without)
	}
}

// BenchmarkSnapshots is what a tick of a server costs, without its sockets, in processor time.
func BenchmarkSnapshots(b *testing.B) {
	for _, players := range []int{100, 1000} {
		for _, relay := range []bool{false, true} {
			b.Run(strconv.Itoa(players)+"/relay="+strconv.FormatBool(relay),
				func(b *testing.B) { benchSnapshots(b, players, relay) })
		}
	}
}

func benchSnapshots(b *testing.B, players int, relay bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	o := sent()
	o.NoRelay = !relay
	s := newService(b, players, o)
	for range 240 {
		s.tick(b)
	}
	s.forget()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		s.tick(b)
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(b.N) }
	b.ReportMetric(ms(s.step), "step-ms")
	b.ReportMetric(ms(s.publish), "publish-ms")
	b.ReportMetric(ms(s.look), "interest-ms")
	b.ReportMetric(ms(s.encode), "encode-ms")
	b.ReportMetric(s.encode.Seconds()*1e6/float64(s.snapshots), "encode-µs/snapshot")
	b.ReportMetric(float64(s.bytes)/float64(s.snapshots), "B/snapshot")
	b.ReportMetric(float64(s.packets)/float64(s.snapshots), "packets/snapshot")
}
