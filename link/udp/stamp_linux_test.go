package udp

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// A datagram that was not looked at for a while says so; without Stamps none does.
func TestStamps(t *testing.T) {
	for _, stamps := range []bool{true, false} {
		l, err := Listen("127.0.0.1:0", Options{Stamps: stamps})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		batch := make([]link.Datagram, 4)
		for round := range 3 {
			sent := time.Now()
			for range 2 {
				x := []link.Datagram{{Addr: l.LocalAddr(), Data: []byte("x")}}
				if _, err := l.Send(x); err != nil {
					t.Fatal(err)
				}
			}
			const least = 5 * time.Millisecond
			for got := 0; got < 2; {
				if _, err := l.Wait(-1); err != nil {
					t.Fatal(err)
				}
				for time.Since(sent) < least {
					time.Sleep(least - time.Since(sent)) // until it has waited
				}
				n, err := l.Receive(batch)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range batch[:n] {
					if stamps && (d.Waited <= 0 || d.Waited > time.Since(sent)) ||
						!stamps && d.Waited != 0 {
						t.Errorf("round %d: it says that it waited for %v", round, d.Waited)
					}
				}
				got += n
			}
		}
	}
}

func BenchmarkReceiveStamped(b *testing.B) {
	for name, stamps := range map[string]bool{"stamps": true, "none": false} {
		b.Run(name, func(b *testing.B) {
			l, err := Listen("127.0.0.1:0", Options{Stamps: stamps})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			out, in := make([]link.Datagram, 32), make([]link.Datagram, 32)
			for i := range out {
				out[i] = link.Datagram{Addr: l.LocalAddr(), Data: make([]byte, 100)}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Send(out); err != nil {
					b.Fatal(err)
				}
				for got := 0; got < len(out); {
					n, err := l.Receive(in)
					if err != nil {
						b.Fatal(err)
					}
					got += n
				}
			}
		})
	}
}
