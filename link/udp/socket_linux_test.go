package udp

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func open(t testing.TB, o Options) *socket {
	t.Helper()
	l, err := listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// drain receives until nothing is waiting.
func drain(t testing.TB, l *socket, batch []link.Datagram) (got [][]byte) {
	t.Helper()
	for {
		n, err := l.Receive(batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range batch[:n] {
			got = append(got, bytes.Clone(d.Data))
		}
		if n < len(batch) {
			return got
		}
	}
}

// TestSegments: any mix of peers and sizes arrives as it was, and runs to one
// peer take few calls. On loopback, what Send took has arrived when it returns.
func TestSegments(t *testing.T) {
	a, b, c := open(t, Options{}), open(t, Options{}), open(t, Options{})
	if !a.writer.segments.Load() {
		t.Skip("this kernel has no UDP_SEGMENT")
	}
	rapid.Check(t, func(rt *rapid.T) {
		var out []link.Datagram
		want := map[*socket][][]byte{}
		for range rapid.IntRange(1, 12).Draw(rt, "runs") {
			to := rapid.SampledFrom([]*socket{b, c}).Draw(rt, "to")
			size := rapid.IntRange(0, 1200).Draw(rt, "size")
			for range rapid.IntRange(1, 80).Draw(rt, "length") {
				data := bytes.Repeat([]byte{byte(len(out))}, size)
				out = append(out, link.Datagram{Addr: to.addr, Data: data})
				want[to] = append(want[to], data)
			}
		}
		if n, err := a.Send(out); n != len(out) || err != nil {
			rt.Fatalf("sent %d of %d: %v", n, len(out), err)
		}
		for _, to := range []*socket{b, c} {
			got := drain(t, to, make([]link.Datagram, rapid.IntRange(1, 100).Draw(rt, "batch")))
			if len(got) != len(want[to]) {
				rt.Fatalf("%d arrived of %d", len(got), len(want[to]))
			}
			for i := range got {
				if !bytes.Equal(got[i], want[to][i]) {
					rt.Fatalf("datagram %d has %d bytes, want %d", i, len(got[i]), len(want[to][i]))
				}
			}
		}
	})
	if !a.writer.segments.Load() {
		t.Error("segments were given up on loopback")
	}
	out := make([]link.Datagram, 60)
	for i := range out {
		out[i] = link.Datagram{Addr: b.addr, Data: make([]byte, 1000)}
	}
	msgs, err := a.gather(out)
	if msgs != 1 || err != nil {
		t.Errorf("60 datagrams to one peer make %d messages, %v", msgs, err)
	}
}

// TestTooLargeToReceive: those larger than the link carries are dropped, and the
// ones between them arrive whole.
func TestTooLargeToReceive(t *testing.T) {
	small, large := open(t, Options{MaxDatagram: 100}), open(t, Options{})
	var out []link.Datagram
	for i := range 50 {
		size := 100
		if i%3 == 1 {
			size = 101
		}
		out = append(out,
			link.Datagram{Addr: small.addr, Data: bytes.Repeat([]byte{byte(i)}, size)})
	}
	if _, err := large.Send(out); err != nil {
		t.Fatal(err)
	}
	batch := make([]link.Datagram, 34)
	n, err := small.Receive(batch)
	if n != 33 || err != nil {
		t.Fatalf("received %d, %v", n, err)
	}
	for i, d := range batch[:n] {
		number := i/2*3 + i%2*2
		if !bytes.Equal(d.Data, bytes.Repeat([]byte{byte(number)}, 100)) {
			t.Fatalf("datagram %d is %d bytes of %d, want %d", i, len(d.Data), d.Data[0], number)
		}
	}
	if c := small.Counters(); c.DroppedIn != 17 || c.Received != 33 || c.ReceivedBytes != 3300 {
		t.Errorf("counts %+v", c)
	}
}

// TestErrorsOfTheKernel gives the answers that loopback does not: the device's
// queue is full, has no segments, or has no route.
func TestErrorsOfTheKernel(t *testing.T) {
	peer := open(t, Options{})
	batch := make([]link.Datagram, 10)
	for i := range batch {
		batch[i] = link.Datagram{Addr: peer.addr, Data: bytes.Repeat([]byte{byte(i)}, 100)}
	}
	for _, c := range []struct {
		errno    unix.Errno
		at       int // which call fails
		segments bool
		taken    int
		err      error
		want     link.Counters
		arrived  int
	}{
		{unix.EAGAIN, 0, false, 0, link.ErrFull, link.Counters{Refused: 1}, 0},
		{unix.EAGAIN, 1, false, 4, link.ErrFull, link.Counters{Sent: 4, SentBytes: 400, Refused: 1},
			4},
		{unix.ENOBUFS, 0, false, 0, link.ErrFull, link.Counters{Refused: 1}, 0},
		{unix.EINTR, 0, false, 10, nil, link.Counters{Sent: 10, SentBytes: 1000}, 10},
		{unix.ECONNREFUSED, 1, false, 10, nil, link.Counters{Sent: 10, SentBytes: 1000}, 10},
		{unix.EHOSTUNREACH, 0, false, 10, nil,
			link.Counters{Sent: 10, SentBytes: 1000, DroppedOut: 1}, 9},
		{unix.EPERM, 1, false, 10, nil, link.Counters{Sent: 10, SentBytes: 1000, DroppedOut: 1}, 9},
		{unix.EMSGSIZE, 0, false, 0, link.ErrTooLarge, link.Counters{Refused: 1}, 0},
		{unix.EIO, 0, true, 10, nil, link.Counters{Sent: 10, SentBytes: 1000}, 10},
		{unix.EINVAL, 0, true, 10, nil, link.Counters{Sent: 10, SentBytes: 1000}, 10},
		{unix.EBADF, 0, false, 0, unix.EBADF, link.Counters{}, 0},
	} {
		l := open(t, Options{NoSegments: !c.segments})
		if c.segments && !l.writer.segments.Load() {
			continue
		}
		calls := 0
		l.writer.sendmmsg = func(fd int, msgs []mmsghdr) (int, unix.Errno) {
			calls++
			if calls == c.at+1 {
				return 0, c.errno
			}
			return sendmmsg(fd, msgs[:min(4, len(msgs))])
		}
		n, err := l.Send(batch)
		if n != c.taken || !errors.Is(err, c.err) {
			t.Errorf("%v at call %d: took %d, %v", c.errno, c.at, n, err)
		}
		if got := l.Counters(); got != c.want {
			t.Errorf("%v at call %d: counts %+v, want %+v", c.errno, c.at, got, c.want)
		}
		if got := drain(t, peer, make([]link.Datagram, 16)); len(got) != c.arrived {
			t.Errorf("%v at call %d: %d arrived, want %d", c.errno, c.at, len(got), c.arrived)
		}
		if c.segments && l.writer.segments.Load() {
			t.Errorf("%v: still sends segments", c.errno)
		}
	}
}

// TestUnreachableNeighbourDoesNotBlock: whatever the kernel thinks of an address
// that leads nowhere, Send returns.
func TestUnreachableNeighbourDoesNotBlock(t *testing.T) {
	l, err := listen(":0", Options{WriteBuffer: 4096})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// The range 100::/64 is for discarding.
	out := link.Datagram{Addr: netip.MustParseAddrPort("[100::1]:9"), Data: make([]byte, 1000)}
	for range 100 {
		if n, err := l.Send([]link.Datagram{out}); n == 0 && !link.Passing(err) {
			t.Fatalf("%d, %v", n, err)
		}
	}
}

// TestSteadyStateAllocatesNothing at either end, whatever is sent.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for name, address := range map[string]string{"IPv4": "127.0.0.1:0", "IPv6": "[::1]:0"} {
		a, err := listen(address, Options{})
		if err != nil {
			t.Skip(err)
		}
		defer a.Close()
		b, err := listen(address, Options{})
		if err != nil {
			t.Skip(err)
		}
		defer b.Close()
		out := make([]link.Datagram, 100)
		for i := range out {
			out[i] = link.Datagram{Addr: b.addr, Data: make([]byte, 100+i%2)}
		}
		in := make([]link.Datagram, 128)
		round := func() {
			a.Send(out)
			if ready, err := b.Wait(time.Second); !ready || err != nil {
				t.Fatal(ready, err)
			}
			n, err := b.Receive(in)
			if n != len(out) || err != nil {
				t.Fatal(n, err)
			}
			b.Send(in[:n])
			a.Receive(in)
			a.Wake()
			a.Wait(0)
		}
		round()
		if allocs := testing.AllocsPerRun(50, round); allocs != 0 {
			t.Errorf("%s: %v allocations a round", name, allocs)
		}
	}
}

// BenchmarkEcho is the cost of one datagram there and back for a server and its
// clients together, in batches as a tick makes them. The system calls are most of
// it. "one-peer" is where segments help.
func BenchmarkEcho(b *testing.B) {
	for _, c := range []struct {
		name    string
		clients int
		o       Options
	}{
		{"64-peers", 64, Options{}},
		{"one-peer", 1, Options{}},
		{"one-peer-no-segments", 1, Options{NoSegments: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			server := open(b, c.o)
			clients := make([]*socket, c.clients)
			for i := range clients {
				clients[i] = open(b, c.o)
			}
			out := make([]link.Datagram, 64/c.clients)
			for i := range out {
				out[i] = link.Datagram{Addr: server.addr, Data: make([]byte, 100)}
			}
			batch := make([]link.Datagram, 64)
			b.ReportAllocs()
			total := 0
			for b.Loop() {
				for _, l := range clients {
					l.Send(out)
				}
				n, err := server.Receive(batch)
				if err != nil {
					b.Fatal(err)
				}
				server.Send(batch[:n])
				for _, l := range clients {
					l.Receive(batch)
				}
				total += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/datagram")
		})
	}
}

// BenchmarkServer is the server's part of an echo alone: one receive and one
// send for 64 datagrams from as many clients.
func BenchmarkServer(b *testing.B) {
	server := open(b, Options{})
	clients := make([]*socket, 64)
	for i := range clients {
		clients[i] = open(b, Options{})
	}
	out := []link.Datagram{{Addr: server.addr, Data: make([]byte, 100)}}
	batch, in := make([]link.Datagram, 64), make([]link.Datagram, 4)
	b.ReportAllocs()
	var spent time.Duration
	total := 0
	for b.Loop() {
		for _, l := range clients {
			l.Send(out)
		}
		start := time.Now()
		n, _ := server.Receive(batch)
		server.Send(batch[:n])
		spent += time.Since(start)
		total += n
		for _, l := range clients {
			l.Receive(in)
		}
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(total), "server-ns/datagram")
}
