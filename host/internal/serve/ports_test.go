package serve

import (
	"net"
	"strings"
	"testing"
)

// TestPortsThatAreTaken: where any port will do, a number that another program has over TCP is
// passed over; where one was named, that is an error with advice.
func TestPortsThatAreTaken(t *testing.T) {
	for range 8 { // each takes the next number that the system gives out
		l, h, err := OpenPorts("127.0.0.1:0", "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = l.Close(), h.Close() })
		if l.LocalAddr().Port() != h.Addr().(*net.TCPAddr).AddrPort().Port() {
			t.Errorf("players come to %v, and HTTP is at %v", l.LocalAddr(), h.Addr())
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, _, err := OpenPorts(taken.Addr().String(), ""); err == nil ||
		!strings.Contains(err.Error(), "choose another with --http") {
		t.Errorf("a port that is taken: %v", err)
	}
	l, h, err := OpenPorts(taken.Addr().String(), "none")
	if err != nil || h != nil {
		t.Fatalf("without HTTP: %v, %v", h, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
