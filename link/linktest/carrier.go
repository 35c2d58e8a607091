package linktest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"go.uber.org/goleak"
)

// Carrier says how to open the links under test and what they promise.
type Carrier struct {
	// Open makes a server and a function that connects one more client to it. Run
	// closes all of them; what else is needed Open cleans up itself with t.Cleanup.
	Open func(t testing.TB) (server link.Link, dial func() Client)
	// Sessions is set for carriers that know whether a peer is there, and say ErrNoPeer.
	Sessions bool
	// Fills is set for carriers on which Send says ErrFull when the peer does not
	// read.
	Fills bool
	// Reliable is set for carriers that account for every datagram: what was taken was
	// received, or dropped and counted. Without it some may vanish under overload.
	Reliable bool
}

// Client is a link and the address by which it reaches the server.
type Client struct {
	link.Link
	Server netip.AddrPort
}

// Run runs all tests.
func Run(t *testing.T, c Carrier) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"Echo", testEcho},
		{"Sizes", testSizes},
		{"TooLarge", testTooLarge},
		{"ManyPeers", testManyPeers},
		{"DataStays", testDataStays},
		{"Counters", testCounters},
		{"WaitAndWake", testWaitAndWake},
		{"CloseWhileWaiting", testCloseWhileWaiting},
		{"Closed", testClosed},
		{"BadAddress", testBadAddress},
		{"Flood", testFlood},
		{"Concurrent", testConcurrent},
	} {
		t.Run(test.name, func(t *testing.T) {
			leaks := goleak.IgnoreCurrent()
			// Cleanups run in reverse: this one comes after all of the carrier's.
			t.Cleanup(func() {
				if !t.Failed() {
					goleak.VerifyNone(t, leaks)
				}
			})
			f := &fixture{Carrier: c, t: t}
			f.server, f.dial = c.Open(t)
			t.Cleanup(func() { f.server.Close() })
			test.run(t, f)
		})
	}
}

// fixture is one test's server.
type fixture struct {
	Carrier
	t      testing.TB
	server link.Link
	dial   func() Client
}

// client connects one more.
func (f *fixture) client() Client {
	c := f.dial()
	f.t.Cleanup(func() { c.Close() })
	return c
}

// patience is how long a test waits for what should come at once. It bounds a
// hang; nothing depends on it being short.
const patience = 20 * time.Second

// message makes a datagram whose content says what it is, so that a mix-up of
// any kind shows.
func message(seed uint32, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(uint32(i)*7 + seed*31 + seed>>8)
	}
	if size >= 4 {
		binary.LittleEndian.PutUint32(b, seed)
	}
	return b
}

// sendAll sends a batch, offering again what a full link refuses.
func sendAll(t testing.TB, l link.Link, batch []link.Datagram) {
	t.Helper()
	end := time.Now().Add(patience)
	for len(batch) > 0 {
		n, err := l.Send(batch)
		batch = batch[n:]
		if errors.Is(err, link.ErrFull) && time.Now().Before(end) {
			_, _ = l.Wait(time.Millisecond)
			continue
		}
		if err != nil {
			t.Fatalf("send: %v after %d", err, n)
		}
		if n == 0 && len(batch) > 0 {
			t.Fatal("send took nothing and gave no reason")
		}
	}
}

// receive waits for so many datagrams and returns copies of them.
func receive(t testing.TB, l link.Link, count int) []link.Datagram {
	t.Helper()
	var got []link.Datagram
	batch := make([]link.Datagram, 16)
	end := time.Now().Add(patience)
	for len(got) < count {
		n, err := l.Receive(batch)
		if err != nil {
			t.Fatalf("receive: %v after %d of %d", err, len(got), count)
		}
		for _, d := range batch[:n] {
			got = append(got, link.Datagram{Addr: d.Addr, Data: bytes.Clone(d.Data)})
		}
		if n == 0 {
			if time.Now().After(end) {
				t.Fatalf("%d of %d datagrams arrived", len(got), count)
			}
			if _, err := l.Wait(time.Second); err != nil {
				t.Fatalf("wait: %v after %d of %d", err, len(got), count)
			}
		}
	}
	if len(got) > count {
		t.Fatalf("%d datagrams arrived, want %d", len(got), count)
	}
	return got
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("still not so: %s", what)
		}
	}
}
