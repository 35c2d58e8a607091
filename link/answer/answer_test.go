package answer_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/answer"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/netsim"
)

// echo answers what begins with a byte, with so many bytes.
type echo struct {
	first byte
	most  int
}

func (e echo) Takes(data []byte) bool { return len(data) > 0 && data[0] == e.first }

func (e echo) Answer(_ time.Duration, d *link.Datagram, to []byte) []byte {
	return append(to, bytes.Repeat(d.Data[:1], e.most)...)
}

func Example() {
	n := netsim.New(netsim.Options{Seed: 1})
	server, client := n.Endpoint("server"), n.Endpoint("client")
	l := answer.Over(server, echo{'?', 2})
	for _, text := range []string{"?who", "play"} {
		_ = client.SendTo(server.PublicAddr(), []byte(text))
	}
	n.Run(time.Second)
	batch := make([]link.Datagram, 8)
	k, _ := l.Receive(batch)
	for _, d := range batch[:k] {
		fmt.Printf("the server hears %q\n", d.Data)
	}
	n.Run(2 * time.Second)
	k, _ = client.Receive(batch)
	fmt.Printf("the client hears %q\n", batch[:k][0].Data)
	// Output:
	// the server hears ""
	// the server hears "play"
	// the client hears "??"
}

func open(t *testing.T) link.Link {
	t.Helper()
	l, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// On real sockets, while another goroutine sends: of what the socket counted it is known what was
// answered.
func TestCountsAddUp(t *testing.T) {
	socket, client := open(t), open(t)
	l := answer.Over(socket, echo{'?', 3}, echo{'!', 1000})
	const each = 200
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range each {
			_, _ = link.SendAll(l, []link.Datagram{{Addr: client.LocalAddr(),
				Data: []byte("game")}})
		}
	}()
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), socket.LocalAddr().Port())
	heard, batch := map[string]int{}, make([]link.Datagram, 64)
	for range each {
		_, _ = link.SendAll(client, []link.Datagram{{Addr: to, Data: []byte("?ask")},
			{Addr: to, Data: []byte("!ask")}, {Addr: to, Data: []byte("play")}})
		for want := heard["play"] + 1; heard["play"] < want; {
			if _, err := l.Wait(time.Second); err != nil {
				t.Fatal(err)
			}
			k, err := l.Receive(batch)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range batch[:k] {
				heard[string(d.Data)]++
			}
		}
	}
	<-done
	own, all := link.Own(l), l.Counters()
	if heard["?ask"]+heard["!ask"] > 0 || heard[""] != 2*each || heard["play"] != each {
		t.Errorf("the layer above hears %v", heard)
	}
	if own.Received != 2*each || own.Sent != each || own.SentBytes != 3*each {
		t.Errorf("of its own it counts %+v", own)
	}
	if all.Sent-own.Sent != each || all.SentBytes-own.SentBytes != 4*each ||
		all.ReceivedBytes-own.ReceivedBytes != 4*each || all != socket.Counters() {
		t.Errorf("of %+v its own is %+v", all, own)
	}
}
