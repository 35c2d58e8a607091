package udp

import (
	"net"
	"strconv"
	"testing"
)

// FuzzSplit: an address is refused with advice or taken apart so that it can be
// put together again.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		":4000", "127.0.0.1:0", "[::1]:65535", "localhost:1", "[fe80::1%eth0]:9", "nonsense",
		"a:b:c", ":65536"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		host, port, err := split(address)
		if err != nil {
			if host != "" || port != 0 {
				t.Fatalf("%q: both %q, %d and %v", address, host, port, err)
			}
			return
		}
		again, samePort, err := split(net.JoinHostPort(host, strconv.Itoa(int(port))))
		if err != nil || again != host || samePort != port {
			t.Fatalf("%q is %q, %d, then %q, %d, %v", address, host, port, again, samePort, err)
		}
	})
}
