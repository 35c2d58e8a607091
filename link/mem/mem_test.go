package mem_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/linktest"
	"github.com/coeval-dev/coeval/link/mem"
)

func TestLink(t *testing.T) {
	linktest.Run(t, linktest.Carrier{
		Fills: true, Reliable: true,
		Open: func(t testing.TB) (link.Link, func() linktest.Client) {
			hub := mem.NewHub(mem.Options{})
			server, err := hub.Open(netip.AddrPort{})
			if err != nil {
				t.Fatal(err)
			}
			return server, func() linktest.Client {
				client, err := hub.Open(netip.AddrPort{})
				if err != nil {
					t.Fatal(err)
				}
				return linktest.Client{Link: client, Server: server.LocalAddr()}
			}
		},
	})
}

func TestAddressesAreUnique(t *testing.T) {
	hub := mem.NewHub(mem.Options{})
	addr := netip.MustParseAddrPort("10.0.0.1:4000")
	first, err := hub.Open(addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hub.Open(addr); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("opened twice: %v", err)
	}
	first.Close()
	if _, err := hub.Open(addr); err != nil {
		t.Errorf("not free after close: %v", err)
	}
}

func Example() {
	server, client := mem.Pair(mem.Options{})
	client.Send([]link.Datagram{{Addr: server.LocalAddr(), Data: []byte("hello")}})
	batch := make([]link.Datagram, 8)
	n, _ := server.Receive(batch)
	for _, d := range batch[:n] {
		fmt.Printf("%s from %v\n", d.Data, d.Addr)
	}
	// Output: hello from 127.0.0.1:2
}

func BenchmarkEcho(b *testing.B) {
	server, client := mem.Pair(mem.Options{})
	out := []link.Datagram{{Addr: server.LocalAddr(), Data: make([]byte, 100)}}
	batch := make([]link.Datagram, 8)
	b.ReportAllocs()
	for b.Loop() {
		client.Send(out)
		n, _ := server.Receive(batch)
		server.Send(batch[:n])
		client.Receive(batch)
	}
}
