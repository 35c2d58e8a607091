package relay_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/relay"
)

// A bus carries datagrams between a relay and its members at once, and allocates nothing.
type bus struct {
	link.Link
	in, spare [][]byte
	from      []netip.AddrPort
	at        int
	members   map[netip.AddrPort]*rider
	counters  link.Counters
}

func (b *bus) Receive(batch []link.Datagram) (int, error) {
	n := 0
	for ; n < len(batch) && b.at < len(b.in); n++ {
		batch[n] = link.Datagram{Addr: b.from[b.at], Data: b.in[b.at]}
		b.at++
	}
	if b.at == len(b.in) && n < len(batch) {
		b.spare = append(b.spare, b.in...)
		b.in, b.from, b.at = b.in[:0], b.from[:0], 0
	}
	return n, nil
}

// put brings a datagram to the relay.
func (b *bus) put(from netip.AddrPort, data []byte) {
	var buf []byte
	if n := len(b.spare); n > 0 {
		buf, b.spare = b.spare[n-1], b.spare[:n-1]
	}
	b.in = append(b.in, append(buf[:0], data...))
	b.from = append(b.from, from)
}

func (b *bus) Send(batch []link.Datagram) (int, error) {
	for i := range batch {
		if r := b.members[batch[i].Addr]; r != nil {
			b.counters.Sent++
			r.inbox = append(r.inbox, link.Datagram{Addr: batch[i].Addr,
				Data: append(r.memory(), batch[i].Data...)})
		}
	}
	return len(batch), nil
}

func (b *bus) MaxDatagram() int          { return 1200 }
func (b *bus) Counters() link.Counters   { return b.counters }
func (b *bus) Close() error              { return nil }
func (b *bus) LocalAddr() netip.AddrPort { return relayAddr }

var relayAddr = netip.MustParseAddrPort("10.0.0.1:9000")

// A rider is a member on a bus.
type rider struct {
	bus    *bus
	addr   netip.AddrPort
	client *relay.Client
	inbox  []link.Datagram
	spare  [][]byte
	out    []link.Datagram
	in     *relay.Welcome
	rows   int
	items  int
}

func (r *rider) memory() []byte {
	if n := len(r.spare); n > 0 {
		b := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return b[:0]
	}
	return make([]byte, 0, 1500)
}

func (r *rider) tick(now time.Duration, item []byte) {
	for i := range r.inbox {
		r.inbox[i].Addr = relayAddr
	}
	r.client.Receive(now, r.inbox)
	for _, e := range r.client.Events() {
		if e.Kind == relay.Welcomed {
			r.in = e.Welcome
			_ = r.client.Ready()
		}
	}
	for row, ok := r.client.NextRow(); ok; row, ok = r.client.NextRow() {
		r.rows++
		for i := range row.Seats {
			for range row.Seats[i].Items {
				r.items++
			}
		}
	}
	for i := range r.inbox {
		r.spare = append(r.spare, r.inbox[i].Data)
	}
	r.inbox = r.inbox[:0]
	if r.in != nil && r.client.Ahead() < 3 {
		_, _ = r.client.Submit(item)
	}
	r.out = r.client.Flush(now, r.out[:0])
	for i := range r.out {
		r.bus.put(r.addr, r.out[i].Data)
	}
}

// ride makes matches of four on a bus, and calls step with the time until all are in.
type ride struct {
	bus    *bus
	relay  *relay.Server
	riders []*rider
	now    time.Duration
}

func newRide(tb testing.TB, matches int, send uint8) *ride {
	key := token.Key{1}
	b := &bus{members: map[netip.AddrPort]*rider{}}
	o := relay.Options{Links: []link.Link{b}, Keys: []token.Key{key},
		Conn:   conn.Options{Wall: wall, Seed: [32]byte{1}},
		Limits: relay.Limits{Matches: matches, MatchesPerAddress: matches, PerAddress: 8 * matches}}
	s, err := relay.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	x := &ride{bus: b, relay: s, now: time.Second}
	for i := range matches {
		var first *rider
		for j := range 4 {
			n := 4*i + j
			tok, err := s.Token(uint64(n+1), 10*time.Minute)
			if err != nil {
				tb.Fatal(err)
			}
			co := conn.ClientOptions{Token: tok, Servers: []netip.AddrPort{relayAddr}}
			co.Wall, co.Seed = wall, [32]byte{2, byte(n), byte(n >> 8)}
			r := &rider{
				bus: b, addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(n >> 8),
					byte(n)}), 4000)}
			if r.client, err = relay.NewClient(co); err != nil {
				tb.Fatal(err)
			}
			b.members[r.addr] = r
			x.riders = append(x.riders, r)
			e := relay.Entry{Name: fmt.Sprint(n)}
			if j == 0 {
				first = r
				err = r.client.Create(relay.Match{Game: game, Seats: 4, Start: 4, SendRate: send},
					e)
			} else {
				for k := 0; k < 100 && first.in == nil; k++ {
					x.step(nil)
				}
				err = r.client.Join(first.in.Code, game, relay.Rows, none, e)
			}
			if err != nil {
				tb.Fatal(err)
			}
		}
	}
	for range 100 {
		x.step(nil)
	}
	return x
}

// step lets a sixtieth of a second pass.
func (x *ride) step(item []byte) {
	x.now += time.Second / 60
	for _, r := range x.riders {
		r.tick(x.now, item)
	}
	_ = x.relay.Tick(x.now)
}

// BenchmarkRows is what a row of a match of four takes, at the relay and at all members.
func BenchmarkRows(b *testing.B) {
	for _, send := range []uint8{60, 20} {
		b.Run(fmt.Sprintf("send=%d", send), func(b *testing.B) {
			x := newRide(b, 1, send)
			item := []byte{1, 2}
			for range 2000 { // all that grows has grown
				x.step(item)
			}
			had := x.riders[3].rows
			b.ReportAllocs()
			for b.Loop() {
				x.step(item)
			}
			if got := x.riders[3].rows - had; got < b.N-16 {
				b.Fatalf("%d rows in %d steps", got, b.N)
			}
		})
	}
}

// BenchmarkMatches is what the relay takes for each packet that comes and goes, without the
// kernel's part, where there are so many matches that their memory is not in the processor's
// caches.
func BenchmarkMatches(b *testing.B) {
	x := newRide(b, 350, 60)
	item := []byte{1, 2}
	for range 200 {
		x.step(item)
	}
	var spent time.Duration
	sent := x.bus.counters.Sent
	b.ReportAllocs()
	for b.Loop() {
		x.now += time.Second / 60
		for _, r := range x.riders {
			r.tick(x.now, item)
		}
		began := time.Now()
		_ = x.relay.Tick(x.now)
		spent += time.Since(began)
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(2*(x.bus.counters.Sent-sent)), "ns/packet")
}

// In steady state nothing is allocated, at either end.
func TestNothingAllocated(t *testing.T) {
	x := newRide(t, 1, 60)
	item := []byte{1, 2}
	for range 800 {
		x.step(item)
	}
	had := x.riders[3].rows
	if n := testing.AllocsPerRun(100, func() { x.step(item) }); n > 0 {
		t.Errorf("%v allocations for each row", n)
	}
	if x.riders[3].rows-had < 98 {
		t.Errorf("only %d rows", x.riders[3].rows-had)
	}
}
