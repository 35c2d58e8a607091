package linktest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"

	"github.com/coeval-dev/coeval/link"
)

// testEcho sends batches there and back.
func testEcho(t *testing.T, f *fixture) {
	c := f.client()
	for round := range 10 {
		var out []link.Datagram
		for i := range 3*round + 1 {
			out = append(out,
				link.Datagram{Addr: c.Server, Data: message(uint32(100*round+i), 100)})
		}
		sendAll(t, c, out)
		in := receive(t, f.server, len(out))
		same(t, out, in)
		sendAll(t, f.server, in)
		same(t, out, receive(t, c, len(out)))
	}
}

// same compares contents. On loopback and in memory no carrier reorders within
// a batch, so order counts too.
func same(t *testing.T, want, got []link.Datagram) {
	t.Helper()
	for i := range want {
		if !bytes.Equal(want[i].Data, got[i].Data) {
			t.Fatalf("datagram %d of %d is %d bytes %.8x, want %d bytes %.8x", i, len(want),
				len(got[i].Data), got[i].Data, len(want[i].Data), want[i].Data)
		}
	}
}

// testSizes moves every size that matters, runs of equal size to one peer
// included, which a carrier may send as one.
func testSizes(t *testing.T, f *fixture) {
	c := f.client()
	largest := min(c.MaxDatagram(), f.server.MaxDatagram())
	if largest < 1100 || link.MaxTo(c.Link, c.Server) < largest {
		t.Fatalf("carries %d bytes, to the server %d", largest, link.MaxTo(c.Link, c.Server))
	}
	sizes := []int{
		0, 1, 2, 63, 64, 65, 500, 500, 500, 500, 200, 200, 500, largest, largest, largest,
		largest - 1, 0, 0, largest}
	var out []link.Datagram
	for i, size := range sizes {
		out = append(out, link.Datagram{Addr: c.Server, Data: message(uint32(i), size)})
	}
	sendAll(t, c, out)
	in := receive(t, f.server, len(out))
	same(t, out, in)
	sendAll(t, f.server, in)
	same(t, out, receive(t, c, len(out)))
}

// testTooLarge: one that is too large is refused by name and the rest can go.
func testTooLarge(t *testing.T, f *fixture) {
	c := f.client()
	small, large := message(1, 50), make([]byte, link.MaxTo(c.Link, c.Server)+1)
	batch := []link.Datagram{
		{Addr: c.Server, Data: small}, {Addr: c.Server, Data: large}, {Addr: c.Server, Data: small}}
	n, err := c.Send(batch)
	if n != 1 || !errors.Is(err, link.ErrTooLarge) || !link.Passing(err) {
		t.Fatalf("took %d: %v", n, err)
	}
	if refused, err := link.SendAll(c, batch); refused != 1 || err != nil {
		t.Fatalf("left out %d: %v", refused, err)
	}
	for _, d := range receive(t, f.server, 3) {
		if !bytes.Equal(d.Data, small) {
			t.Errorf("got %d bytes", len(d.Data))
		}
	}
	if k := c.Counters(); k.Refused != 2 || k.Sent != 3 || k.SentBytes != 150 {
		t.Errorf("counts %+v", k)
	}
}

// testManyPeers: each client has one address, of its own, and gets what is sent
// to it.
func testManyPeers(t *testing.T, f *fixture) {
	const peers, rounds = 12, 5
	clients := make([]Client, peers)
	for i := range clients {
		clients[i] = f.client()
	}
	who := make(map[netip.AddrPort]uint32)
	for round := range rounds {
		for i, c := range clients {
			sendAll(t, c, []link.Datagram{{Addr: c.Server, Data: message(uint32(i), 40)}})
		}
		in := receive(t, f.server, peers)
		for _, d := range in {
			i := binary.LittleEndian.Uint32(d.Data)
			if was, ok := who[d.Addr]; !ok && round == 0 {
				who[d.Addr] = i
			} else if !ok || was != i {
				t.Fatalf("round %d: %v is client %d, was %d (known %v)", round, d.Addr, i, was, ok)
			}
		}
		sendAll(t, f.server, in)
		for i, c := range clients {
			if d := receive(t, c, 1)[0]; !bytes.Equal(d.Data, message(uint32(i), 40)) ||
				d.Addr != c.Server {
				t.Fatalf("client %d got %.8x from %v, its server is %v", i, d.Data, d.Addr,
					c.Server)
			}
		}
	}
	if len(who) != peers {
		t.Errorf("%d addresses for %d clients", len(who), peers)
	}
}

// testDataStays: what was handed out is not overwritten while more arrives, and
// what was sent may be reused at once.
func testDataStays(t *testing.T, f *fixture) {
	c := f.client()
	buf := make([]byte, 200)
	for i := range 8 {
		copy(buf, message(uint32(i), 200))
		sendAll(t, c, []link.Datagram{{Addr: c.Server, Data: buf}})
	}
	clear(buf)
	batch := make([]link.Datagram, 4)
	var n int
	for n == 0 {
		if _, err := f.server.Wait(patience); err != nil {
			t.Fatal(err)
		}
		var err error
		if n, err = f.server.Receive(batch); err != nil {
			t.Fatal(err)
		}
	}
	var more []link.Datagram
	for i := range 30 {
		more = append(more, link.Datagram{Addr: c.Server, Data: message(uint32(100+i), 200)})
	}
	sendAll(t, c, more)
	for i, d := range batch[:n] {
		if !bytes.Equal(d.Data, message(uint32(i), 200)) {
			t.Fatalf("datagram %d became %.8x", i, d.Data)
		}
	}
	// The rest comes as well; of so many at once some carriers drop a few.
	for got := 0; got < (38-n)/2; {
		k, err := f.server.Receive(batch)
		if err != nil {
			t.Fatal(err)
		}
		if got += k; k == 0 {
			if woken, err := f.server.Wait(patience); err != nil || !woken {
				t.Fatalf("%d of %d datagrams arrived, %v", got, 38-n, err)
			}
		}
	}
}

// testCounters: every datagram and byte is counted once.
func testCounters(t *testing.T, f *fixture) {
	c := f.client()
	var there, back uint64
	for round := range 5 {
		var out []link.Datagram
		for i := range 7 {
			out = append(out, link.Datagram{Addr: c.Server, Data: message(uint32(i), 13*round+i)})
			there += uint64(13*round + i)
		}
		sendAll(t, c, out)
		in := receive(t, f.server, 7)[:3]
		for _, d := range in {
			back += uint64(len(d.Data))
		}
		sendAll(t, f.server, in)
		receive(t, c, 3)
	}
	want := link.Counters{Sent: 35, SentBytes: there, Received: 15, ReceivedBytes: back}
	if got := c.Counters(); got != want {
		t.Errorf("client counts %+v, want %+v", got, want)
	}
	want = link.Counters{Sent: 15, SentBytes: back, Received: 35, ReceivedBytes: there}
	if got := f.server.Counters(); got != want {
		t.Errorf("server counts %+v, want %+v", got, want)
	}
}
