package server

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A wireless is a link between a server and its clients in one goroutine that allocates nothing, so
// that what is counted is the server's own.
type wireless struct {
	link.Link // for what is not used
	addr      netip.AddrPort
	peers     map[netip.AddrPort]*wireless
	inbox     []link.Datagram
	handed    []link.Datagram
	spare     [][]byte
	counters  link.Counters
}

func (l *wireless) Receive(batch []link.Datagram) (int, error) {
	for _, d := range l.handed {
		l.spare = append(l.spare, d.Data)
	}
	n := copy(batch, l.inbox)
	l.handed = append(l.handed[:0], batch[:n]...)
	l.inbox = l.inbox[:copy(l.inbox, l.inbox[n:])]
	return n, nil
}

func (l *wireless) Send(batch []link.Datagram) (int, error) {
	for _, d := range batch {
		to := l.peers[d.Addr]
		var b []byte
		if n := len(to.spare); n > 0 {
			b, to.spare = to.spare[n-1], to.spare[:n-1]
		} else {
			b = make([]byte, 0, 1500)
		}
		to.inbox = append(to.inbox, link.Datagram{Addr: l.addr, Data: append(b[:0], d.Data...)})
		l.counters.Sent++
		l.counters.SentBytes += uint64(len(d.Data))
	}
	return len(batch), nil
}

func (l *wireless) MaxDatagram() int          { return 1200 }
func (l *wireless) LocalAddr() netip.AddrPort { return l.addr }
func (l *wireless) Counters() link.Counters   { return l.counters }
func (l *wireless) Close() error              { return nil }

// newWireless makes one more link among peers, with buffers at hand.
func newWireless(peers map[netip.AddrPort]*wireless) *wireless {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], 10<<24+uint32(len(peers)))
	l := &wireless{
		addr: netip.AddrPortFrom(netip.AddrFrom4(a), 1), peers: peers,
		inbox: make([]link.Datagram, 0, 4096), handed: make([]link.Datagram, 0, 256)}
	for range 64 {
		l.spare = append(l.spare, make([]byte, 0, 1500))
	}
	peers[l.addr] = l
	return l
}

// A rig is a server and clients in one goroutine, over memory, in a time of its own.
type rig struct {
	server  *Server
	clients []*client.Client
	now     time.Duration
}

func newRig(t testing.TB, clients, workers int) *rig {
	air := map[netip.AddrPort]*wireless{}
	l := newWireless(air)
	r := &rig{}
	var err error
	r.server, err = New(Options{Title: yardTitle(40, 200, 60), Links: []link.Link{l},
		Players: clients, Workers: workers})
	must(t, err)
	title := yardTitle(40, 200, 60)
	for i := range clients {
		tok, err := r.server.Token(uint64(i+1), nil, time.Hour)
		must(t, err)
		c, err := client.New(client.Options{Title: title, Style: predict.None,
			Link: newWireless(air), Token: tok, Servers: []netip.AddrPort{l.LocalAddr()}})
		must(t, err)
		r.clients = append(r.clients, c)
	}
	for range 2400 {
		r.play(t)
		must(t, r.server.Tick(r.now))
	}
	for _, c := range r.clients {
		if c.Phase() != client.Playing || c.Stats().Snapshots < 100 {
			t.Fatalf("a client is %v, with %d snapshots", c.Phase(), c.Stats().Snapshots)
		}
	}
	return r
}

// play lets the clients have their turn.
func (r *rig) play(t testing.TB) {
	r.now += yard.TickLength()
	for _, c := range r.clients {
		must(t, c.Frame(r.now, wander).Err)
	}
}

func wander(t world.Tick, p world.Player, _ *world.World, in *world.Inputs) {
	_ = world.Give(in, p, walk{X: int8(t/30%3) - 1, Y: int8(t/20%3) - 1})
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// TestSteadyStateAllocatesNothing: a tick of a server with players who move about. What is still
// seen are rings and grids that grow to their size, so the limit is not zero, but far below one in
// a tick.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it is slow, and nothing in it runs at once that does not elsewhere")
	}
	r := newRig(t, 16, 1)
	defer r.server.Close()
	const ticks = 600
	n := uint64(0)
	for range ticks {
		r.play(t)
		before := mallocs()
		err := r.server.Tick(r.now)
		n += mallocs() - before
		must(t, err)
	}
	each := float64(n) / ticks
	t.Logf("%.3f allocations a tick", each)
	if each > 0.5 {
		t.Errorf("%.2f allocations a tick", each)
	}
}

// BenchmarkTick is a tick of a server, of which a third of the clients are sent a snapshot. It
// reports the parts of it.
func BenchmarkTick(b *testing.B) {
	for _, x := range []struct{ clients, workers int }{{16, 1}, {100, 1}, {100, 2}} {
		b.Run(fmt.Sprintf("clients=%d/workers=%d", x.clients, x.workers), func(b *testing.B) {
			r := newRig(b, x.clients, x.workers)
			defer r.server.Close()
			before := r.server.Stats()
			b.ReportAllocs()
			b.ResetTimer()
			b.StopTimer()
			for range b.N {
				r.play(b)
				b.StartTimer()
				err := r.server.Tick(r.now)
				b.StopTimer()
				must(b, err)
			}
			after := r.server.Stats()
			each := func(a, c time.Duration, unit string) {
				b.ReportMetric(float64((c-a).Microseconds())/float64(b.N), unit)
			}
			each(before.Times.Receive, after.Times.Receive, "receive-µs")
			each(before.Times.Step, after.Times.Step, "step-µs")
			each(before.Times.Interest, after.Times.Interest, "interest-µs")
			each(before.Times.Encode, after.Times.Encode, "encode-µs")
			each(before.Times.Send, after.Times.Send, "send-µs")
		})
	}
}
