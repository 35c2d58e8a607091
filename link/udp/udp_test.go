package udp_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/linktest"
	"github.com/coeval-dev/coeval/link/udp"
)

type listen func(string, udp.Options) (link.Link, error)

// carrier opens both ends with the same function.
func carrier(open listen, serve, reach string, o udp.Options) linktest.Carrier {
	return linktest.Carrier{
		Reliable: true,
		Open: func(t testing.TB) (link.Link, func() linktest.Client) {
			server, err := open(serve, o)
			if err != nil {
				t.Fatal(err)
			}
			at := netip.AddrPortFrom(netip.MustParseAddr(reach), server.LocalAddr().Port())
			return server, func() linktest.Client {
				client, err := open(serve, o)
				if err != nil {
					t.Fatal(err)
				}
				return linktest.Client{Link: client, Server: at}
			}
		},
	}
}

func TestLink(t *testing.T) {
	for _, c := range []struct {
		name         string
		open         listen
		serve, reach string
		o            udp.Options
	}{
		{"IPv4", udp.Listen, "127.0.0.1:0", "127.0.0.1", udp.Options{}},
		{"IPv6", udp.Listen, "[::1]:0", "::1", udp.Options{}},
		{"Dual4", udp.Listen, ":0", "127.0.0.1", udp.Options{}},
		{"Dual6", udp.Listen, ":0", "::1", udp.Options{}},
		{"NoSegments", udp.Listen, "127.0.0.1:0", "127.0.0.1", udp.Options{NoSegments: true}},
		{"Large", udp.Listen, "127.0.0.1:0", "127.0.0.1", udp.Options{MaxDatagram: 60000}},
		{"Portable4", udp.ListenPortable, "127.0.0.1:0", "127.0.0.1", udp.Options{}},
		{"Portable6", udp.ListenPortable, "[::1]:0", "::1", udp.Options{}},
		{"PortableDual", udp.ListenPortable, ":0", "127.0.0.1", udp.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.reach, ":") && !hasIPv6() {
				t.Skip("this machine has no IPv6")
			}
			k := carrier(c.open, c.serve, c.reach, c.o)
			// The portable socket does not know what the kernel dropped.
			k.Reliable = !strings.HasPrefix(c.name, "Portable")
			linktest.Run(t, k)
		})
	}
}

func hasIPv6() bool {
	c, err := net.ListenPacket("udp6", "[::1]:0")
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// TestErrorsSayWhatToDo, for both implementations.
func TestErrorsSayWhatToDo(t *testing.T) {
	for name, open := range map[string]listen{"own": udp.Listen, "portable": udp.ListenPortable} {
		taken, err := open("127.0.0.1:0", udp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		for _, c := range []struct {
			address string
			o       udp.Options
			want    string
		}{
			{taken.LocalAddr().String(), udp.Options{}, "is in use on 127.0.0.1, stop the program"},
			{"192.0.2.7:0", udp.Options{}, "is not an address of this machine"},
			{"nonsense", udp.Options{}, "bad address \"nonsense\", write it like"},
			{":70000", udp.Options{}, "bad port \"70000\""},
			{"no-such-host.invalid:1", udp.Options{}, "is not known"},
			{":0", udp.Options{MaxDatagram: 70000}, "choose 1 to 65507"},
			{":0", udp.Options{ReadBuffer: -1}, "buffer"},
		} {
			l, err := open(c.address, c.o)
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %q: %v, want %q", name, c.address, err, c.want)
			}
		}
	}
}

func TestResolve(t *testing.T) {
	ctx := context.Background()
	for address, want := range map[string]string{
		"127.0.0.1:7":        "127.0.0.1:7",
		"[::ffff:1.2.3.4]:7": "1.2.3.4:7",
		"[::1]:7":            "[::1]:7",
		"localhost:9":        "127.0.0.1:9",
	} {
		if got, err := udp.Resolve(ctx, address); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", address, got, err)
		}
	}
	for _, address := range []string{":7", "127.0.0.1:0", "127.0.0.1", "no-such-host.invalid:1"} {
		if got, err := udp.Resolve(ctx, address); err == nil {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// TestIPv4OnlySaysSo: a socket of one family refuses the other by name.
func TestIPv4OnlySaysSo(t *testing.T) {
	for name, open := range map[string]listen{"own": udp.Listen, "portable": udp.ListenPortable} {
		l, err := open("127.0.0.1:0", udp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		n, err := l.Send([]link.Datagram{
			{Addr: netip.MustParseAddrPort("[::1]:9"), Data: []byte("x")}})
		if n != 0 || err != link.ErrAddr {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

// TestClosedPortsAreNoError: what comes back from ports where nobody listens
// does not disturb the socket.
func TestClosedPortsAreNoError(t *testing.T) {
	for name, open := range map[string]listen{"own": udp.Listen, "portable": udp.ListenPortable} {
		gone, err := open("127.0.0.1:0", udp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		gone.Close()
		l, err := open("127.0.0.1:0", udp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for range 20 {
			if n, err := l.Send([]link.Datagram{
				{Addr: gone.LocalAddr(), Data: []byte("x")}}); n != 1 || err != nil {
				t.Fatalf("%s: %d, %v", name, n, err)
			}
			if n, err := l.Receive(make([]link.Datagram, 4)); n != 0 || err != nil {
				t.Fatalf("%s: %d, %v", name, n, err)
			}
		}
		self := []link.Datagram{{Addr: l.LocalAddr(), Data: []byte("still here")}}
		l.Send(self)
		if ok, err := l.Wait(10 * time.Second); !ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

func Example() {
	server, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	client.Send([]link.Datagram{{Addr: server.LocalAddr(), Data: []byte("hello")}})
	server.Wait(time.Second)
	batch := make([]link.Datagram, 64)
	n, _ := server.Receive(batch)
	fmt.Printf("%d: %s\n", n, batch[0].Data)
	// Output: 1: hello
}
