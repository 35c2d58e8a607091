package link_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"pgregory.net/rapid"
)

// A game's loop over a link: drain, step, send.
func Example() {
	server, client := mem.Pair(mem.Options{})
	client.Send([]link.Datagram{{Addr: server.LocalAddr(), Data: []byte("move")},
		{Addr: server.LocalAddr(), Data: []byte("fire")}})

	batch := make([]link.Datagram, 64)
	var out []link.Datagram
	server.Wait(time.Second / 60)
	for {
		n, err := server.Receive(batch)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, d := range batch[:n] {
			out = append(out, link.Datagram{Addr: d.Addr, Data: append([]byte("ok "), d.Data...)})
		}
		if n < len(batch) {
			break // drained
		}
	}
	link.SendAll(server, out)

	n, _ := client.Receive(batch)
	for _, d := range batch[:n] {
		fmt.Printf("%s\n", d.Data)
	}
	// Output:
	// ok move
	// ok fire
}

func TestSessionAddresses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := link.Carrier(rapid.Uint16().Draw(t, "carrier"))
		n := rapid.Uint64().Draw(t, "number")
		a := link.SessionAddr(c, n)
		gotC, gotN, ok := link.Session(a)
		if gotC != c || gotN != n || !ok {
			t.Fatalf("%v is session %d of %d, %v", a, gotN, gotC, ok)
		}
		if !a.Addr().IsPrivate() {
			t.Fatalf("%v could belong to somebody", a)
		}
	})
	for _, real := range []string{"1.2.3.4:1", "[2001:db8::1]:1", "[fd63:6f65:7661:1::1]:2"} {
		if _, _, ok := link.Session(netip.MustParseAddrPort(real)); ok {
			t.Errorf("%s taken for a session", real)
		}
	}
	link.Session(netip.AddrPort{})
}

// stubborn refuses some datagrams, each for another reason.
type stubborn struct {
	link.Link
	refuse map[string]error
	took   []string
}

func (s *stubborn) Send(batch []link.Datagram) (int, error) {
	for i, d := range batch {
		if err := s.refuse[string(d.Data)]; err != nil {
			return i, err
		}
		s.took = append(s.took, string(d.Data))
	}
	return len(batch), nil
}

func (s *stubborn) MaxDatagram() int { return 1000 }

func TestSendAll(t *testing.T) {
	s := &stubborn{refuse: map[string]error{
		"a": link.ErrFull, "c": fmt.Errorf("wrapped: %w", link.ErrNoPeer), "d": link.ErrTooLarge,
		"g": link.ErrAddr,
	}}
	var batch []link.Datagram
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		batch = append(batch, link.Datagram{Data: []byte(name)})
	}
	if refused, err := link.SendAll(s, batch); refused != 4 || err != nil ||
		fmt.Sprint(s.took) != "[b e f]" {
		t.Errorf("left out %d, took %v, %v", refused, s.took, err)
	}
	s.refuse["e"] = link.ErrClosed
	if refused, err := link.SendAll(s, batch); refused != 6 || !errors.Is(err, link.ErrClosed) {
		t.Errorf("left out %d, %v", refused, err)
	}
	if link.MaxTo(s, netip.AddrPort{}) != 1000 {
		t.Error("a link without limits of peers has its own")
	}
}

func TestCountersAdd(t *testing.T) {
	c := link.Counters{
		Received: 1, ReceivedBytes: 2, Sent: 3, SentBytes: 4, Refused: 5, DroppedIn: 6,
		DroppedOut: 7}
	want := link.Counters{
		Received: 2, ReceivedBytes: 4, Sent: 6, SentBytes: 8, Refused: 10, DroppedIn: 12,
		DroppedOut: 14}
	if got := c.Add(c); got != want {
		t.Errorf("%+v", got)
	}
}
