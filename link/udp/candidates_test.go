package udp

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
)

func TestCandidates(t *testing.T) {
	var all []net.Addr
	for _, s := range []string{"127.0.0.1/8", "::1/128", "fe80::1/64", "2001:db8::7/64",
		"192.168.1.2/24", "169.254.3.4/16", "10.8.0.2/24"} {
		ip, n, err := net.ParseCIDR(s)
		if err != nil {
			t.Fatal(err)
		}
		n.IP = ip
		all = append(all, n)
	}
	all = append(all, &net.UnixAddr{Name: "x"})
	for _, x := range []struct{ local, want string }{
		{"[::]:4000", "[192.168.1.2:4000 10.8.0.2:4000 [2001:db8::7]:4000]"},
		{"0.0.0.0:4001", "[192.168.1.2:4001 10.8.0.2:4001]"},
	} {
		if got := fmt.Sprint(candidates(all, netip.MustParseAddrPort(x.local))); got != x.want {
			t.Errorf("%s: %s, want %s", x.local, got, x.want)
		}
	}
	bound := netip.MustParseAddrPort("127.0.0.1:4000")
	if got := Candidates(bound); len(got) != 1 || got[0] != bound {
		t.Errorf("bound to %v: %v", bound, got)
	}
}
