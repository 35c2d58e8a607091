package network

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
)

// hears waits until a datagram with a text comes.
func hears(t *testing.T, n *Network, text string, again func()) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		again()
		for d, err := range n.Receive(100 * time.Millisecond) {
			if err != nil {
				t.Fatal(err)
			}
			if string(d.Data) == text {
				return
			}
		}
	}
	t.Fatalf("%q never came", text)
}

func join(t *testing.T, o Options) *Network {
	t.Helper()
	n, err := Join(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func TestUnicast(t *testing.T) {
	a := join(t, Options{To: "127.0.0.1:9", Listen: "127.0.0.1:0"})
	b := join(t, Options{To: a.Addr().String(), Listen: "127.0.0.1:0"})
	hears(t, a, "hello", func() {
		if err := b.Send([]byte("hello")); err != nil {
			t.Fatal(err)
		}
	})
}

// Two programs listen to the same port for broadcasts, and both hear a third.
func TestBroadcast(t *testing.T) {
	first := join(t, Options{To: "127.255.255.255:9", Listen: "0.0.0.0:0"})
	port := first.Addr().Port()
	to := netip.AddrPortFrom(netip.MustParseAddr("127.255.255.255"), port).String()
	second := join(t, Options{To: to})
	third := join(t, Options{To: to, Listen: "127.0.0.1:0"})
	for _, n := range []*Network{first, second} {
		hears(t, n, "all of you", func() {
			if err := third.Send([]byte("all of you")); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestMulticast(t *testing.T) {
	a, err := Join(Options{To: "239.77.12.81:30811", Interface: "lo"})
	if err != nil {
		t.Skip(err) // a machine without multicast
	}
	defer a.Close()
	b := join(t, Options{To: "239.77.12.81:30811", Interface: "lo"})
	text := fmt.Sprint("group ", os.Getpid()) // others may test at the same time
	hears(t, a, text, func() {
		if err := b.Send([]byte(text)); err != nil {
			t.Fatal(err)
		}
	})
	for d := range b.Receive(50 * time.Millisecond) {
		if string(d.Data) == text {
			t.Error("it hears itself")
		}
	}
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"": "255.255.255.255:3000", "192.0.2.255": "192.0.2.255:3000",
		"239.1.2.3:3001": "239.1.2.3:3001", "[::1]": "[::1]:3000"} {
		if got, err := address(text); err != nil || got.String() != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"somewhere", "1.2.3", "1.2.3.4:0", "1.2.3.4:99999"} {
		if _, err := Join(Options{To: text}); err == nil ||
			!strings.Contains(err.Error(), "name one such as") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
