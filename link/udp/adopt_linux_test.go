package udp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"golang.org/x/sys/unix"
)

// TestAdopt: what comes to a socket that was handed over goes to who has it now, at the same
// address, what came before it asked included.
func TestAdopt(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", ":0"} {
		old, err := Listen(at, Options{})
		if err != nil {
			t.Fatal(err)
		}
		fd, err := Share(old)
		if err != nil {
			t.Fatal(err)
		}
		to := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), old.LocalAddr().Port())
		peer := open(t, Options{})
		say := func(text string) {
			t.Helper()
			if _, err := peer.Send([]link.Datagram{{Addr: to, Data: []byte(text)}}); err != nil {
				t.Fatal(err)
			}
		}
		say("one")
		l, err := Adopt(fd, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		if l.LocalAddr() != old.LocalAddr() {
			t.Errorf("it has %v, and was %v", l.LocalAddr(), old.LocalAddr())
		}
		say("two")
		got := ""
		batch := make([]link.Datagram, 4)
		for i := range batch {
			batch[i].Data = make([]byte, 0, 2048)
		}
		for len(got) < 6 {
			if _, err := l.Wait(time.Second); err != nil {
				t.Fatal(err)
			}
			n, err := l.Receive(batch)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				got += string(batch[i].Data)
			}
		}
		if got != "onetwo" {
			t.Errorf("%q came", got)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Adopt(fd, Options{}); err == nil {
		t.Error("a stream was taken for datagrams")
	}
}
