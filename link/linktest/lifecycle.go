package linktest

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// testWaitAndWake: Wait tells what is there from what is not.
func testWaitAndWake(t *testing.T, f *fixture) {
	c := f.client()
	if ready, err := f.server.Wait(0); ready || err != nil {
		t.Fatalf("ready before anything was sent: %v, %v", ready, err)
	}
	if ready, err := f.server.Wait(time.Millisecond); ready || err != nil {
		t.Fatalf("ready before anything was sent: %v, %v", ready, err)
	}
	sendAll(t, c, []link.Datagram{{Addr: c.Server, Data: []byte("x")}})
	if ready, err := f.server.Wait(-1); !ready || err != nil {
		t.Fatalf("waited for what was sent: %v, %v", ready, err)
	}
	if ready, _ := f.server.Wait(0); !ready {
		t.Fatal("waiting used up what is waited for")
	}
	receive(t, f.server, 1)

	// A Wake before the Wait counts, and one from another goroutine during it.
	f.server.Wake()
	if ready, err := f.server.Wait(-1); ready || err != nil {
		t.Fatalf("woken: %v, %v", ready, err)
	}
	var g sync.WaitGroup
	g.Go(f.server.Wake)
	if ready, err := f.server.Wait(-1); ready || err != nil {
		t.Fatalf("woken: %v, %v", ready, err)
	}
	g.Wait()
}

// testCloseWhileWaiting: a goroutine that waits is let go.
func testCloseWhileWaiting(t *testing.T, f *fixture) {
	c := f.client()
	for _, l := range []link.Link{c, f.server} {
		done := make(chan error)
		go func() {
			for {
				if _, err := l.Wait(-1); err != nil {
					done <- err
					return
				}
			}
		}()
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		select {
		case err := <-done:
			if !errors.Is(err, link.ErrClosed) {
				t.Errorf("wait ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("still waiting")
		}
	}
}

// testClosed: a closed link says so, and can be closed again.
func testClosed(t *testing.T, f *fixture) {
	c := f.client()
	for range 2 {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := c.Receive(make([]link.Datagram, 1)); !errors.Is(err, link.ErrClosed) {
		t.Errorf("receive: %v", err)
	}
	if n, err := c.Send([]link.Datagram{{Addr: c.Server, Data: []byte("x")}}); n != 0 ||
		!errors.Is(err, link.ErrClosed) {
		t.Errorf("send: %d, %v", n, err)
	}
	if _, err := c.Wait(-1); !errors.Is(err, link.ErrClosed) {
		t.Errorf("wait: %v", err)
	}
	c.Wake()
	c.Counters()
	if c.MaxDatagram() <= 0 {
		t.Error("a closed link forgot its size")
	}
}

// testBadAddress: addresses that cannot be reached do no harm to those that
// can.
func testBadAddress(t *testing.T, f *fixture) {
	c := f.client()
	sendAll(t, c, []link.Datagram{{Addr: c.Server, Data: []byte("hello")}})
	peer := receive(t, f.server, 1)[0].Addr
	nobody := link.SessionAddr(link.WebSocket, 1<<60)
	if n, err := f.server.Send([]link.Datagram{{Addr: nobody, Data: []byte("x")}}); f.Sessions &&
		(n != 0 || !errors.Is(err, link.ErrNoPeer)) {
		t.Errorf("to nobody: %d, %v", n, err)
	}
	batch := []link.Datagram{
		{Addr: netip.AddrPort{}, Data: []byte("x")},
		{Addr: peer, Data: []byte("one")},
		{Addr: nobody, Data: []byte("x")},
		{Addr: netip.MustParseAddrPort("127.0.0.1:0"), Data: []byte("x")},
		{Addr: peer, Data: []byte("two")},
	}
	if _, err := link.SendAll(f.server, batch); err != nil {
		t.Fatalf("send: %v", err)
	}
	for i, d := range receive(t, c, 2) {
		if want := []string{"one", "two"}[i]; string(d.Data) != want {
			t.Errorf("got %q, want %q", d.Data, want)
		}
	}
}

// testFlood sends much more than any queue holds to a server that does not
// read: Send must neither block nor grow without bound, and all must add up.
func testFlood(t *testing.T, f *fixture) {
	most := uint64(60_000)
	if testing.Short() && !f.Fills { // as under the race detector
		most = 6_000
	}
	c := f.client()
	batch := make([]link.Datagram, 32)
	taken, full := uint64(0), false
	for taken < most && !full {
		for i := range batch {
			batch[i] = link.Datagram{Addr: c.Server, Data: message(uint32(taken)+uint32(i), 1000)}
		}
		n, err := c.Send(batch)
		taken += uint64(n)
		full = errors.Is(err, link.ErrFull)
		if err != nil && !full {
			t.Fatalf("send: %v", err)
		}
	}
	if f.Fills && !full {
		t.Errorf("took %d without being full", taken)
	}
	got := uint64(0)
	in := make([]link.Datagram, 64)
	settled := func() bool {
		k, s := c.Counters(), f.server.Counters()
		return k.Sent == taken && s.Received == got && got+s.DroppedIn+k.DroppedOut >= taken
	}
	for quiet := 0; !settled(); {
		n, err := f.server.Receive(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range in[:n] {
			if seed := binary.LittleEndian.Uint32(d.Data); len(d.Data) != 1000 ||
				d.Data[999] != message(seed, 1000)[999] {
				t.Fatalf("datagram %d was damaged", seed)
			}
		}
		got += uint64(n)
		if n > 0 {
			quiet = 0
			continue
		}
		if quiet++; quiet > 5 && !f.Reliable {
			break // the rest vanished, as it may
		}
		if quiet > 200 {
			t.Fatalf("took %d, received %d, client %+v, server %+v", taken, got, c.Counters(),
				f.server.Counters())
		}
		if _, err := f.server.Wait(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if got == 0 || got > taken {
		t.Errorf("received %d of %d", got, taken)
	}
	// And afterwards it works as before.
	sendAll(t, c, []link.Datagram{{Addr: c.Server, Data: []byte("after")}})
	for receivedLast := false; !receivedLast; {
		d := receive(t, f.server, 1)[0]
		receivedLast = string(d.Data) == "after"
	}
}

// testConcurrent uses a link as a server does: one goroutine receives, another
// sends, others look at counters and wake, and one closes.
func testConcurrent(t *testing.T, f *fixture) {
	c := f.client()
	sendAll(t, c, []link.Datagram{{Addr: c.Server, Data: []byte("hello")}})
	peer := receive(t, f.server, 1)[0].Addr
	stop := make(chan struct{})
	var g sync.WaitGroup
	for _, l := range []link.Link{c, f.server} {
		to := peer
		if l == link.Link(c) {
			to = c.Server
		}
		g.Go(func() {
			batch := make([]link.Datagram, 8)
			for {
				if _, err := l.Wait(time.Millisecond); err != nil {
					return
				}
				if _, err := l.Receive(batch); err != nil {
					return
				}
			}
		})
		g.Go(func() {
			out := []link.Datagram{
				{Addr: to, Data: message(1, 100)}, {Addr: to, Data: message(2, 100)}, {
					Addr: to, Data: message(3, 50)}}
			for {
				if _, err := link.SendAll(l, out); err != nil {
					return
				}
			}
		})
		g.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					l.Wake()
					l.Counters()
				}
			}
		})
	}
	eventually(t, "both have received", func() bool {
		return c.Counters().Received > 100 && f.server.Counters().Received > 100
	})
	c.Close()
	f.server.Close()
	close(stop)
	g.Wait()
}
