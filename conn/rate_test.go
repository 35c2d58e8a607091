package conn

import (
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestRateFitsThePath: a sender that always has more to send ends up near what the
// path carries, and does not fill its queue.
func TestRateFitsThePath(t *testing.T) {
	for _, kbit := range []int64{128, 512, 2000, 8000} {
		t.Run(fmt.Sprint(kbit), func(t *testing.T) {
			simtest.Run(t, seeds(4), func(n *netsim.Net) error {
				// a second of queue
				path := netsim.Profile{
					Latency: 25 * time.Millisecond, Rate: kbit * 1000, Queue: int(kbit * 1000 / 8)}
				n.Use(netsim.Both(path))
				p := newPair(t, n, pairOptions{})
				if err := p.tryConnect(); err != nil {
					return err
				}
				bytes, from := 0, time.Duration(0)
				p.onClient = func(e *Event) {
					if e.Kind == Message {
						bytes += len(e.Data)
					}
				}
				p.sp.step = func() {
					for b := p.sc.Budget(p.sp.now()); b > 600; b -= 600 {
						_ = p.sc.Send(0, make([]byte, 560))
					}
				}
				n.Run(20 * time.Second) // to settle
				bytes, from = 0, n.Now()
				var waiting, most time.Duration
				looks := 0
				n.Every(50*time.Millisecond, func() {
					w := n.Path(p.sp.ep, p.cp.ep).Waiting(n.Now())
					waiting += w
					most = max(most, w)
					looks++
				})
				n.Run(20 * time.Second)
				used := float64(bytes*8) / (n.Now() - from).Seconds() / float64(kbit*1000)
				mean := waiting / time.Duration(looks)
				t.Logf("seed %d: %.0f %% of the path used, queue %v on average, %v at most",
					n.Seed(), 100*used, mean, most)
				if used < 0.4 || mean > 200*time.Millisecond {
					return fmt.Errorf("%.0f %% of the path used, queue %v on average; %+v",
						100*used, mean, p.sc.Quality())
				}
				return nil
			})
		})
	}
}

// TestSteadySendRate: messages are gathered into packets at the given rate, which
// can change while running, whatever the rate of ticks.
func TestSteadySendRate(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.LAN})
	p := newPair(t, n, pairOptions{server: func(o *ServerOptions) { o.SendRate = 20 }})
	p.connect(t)
	got, packets := 0, map[PacketNumber]bool{}
	p.onClient = func(e *Event) {
		if e.Kind == Message {
			got++
			packets[e.Packet] = true
		}
	}
	p.sp.step = func() {
		if err := p.sc.Send(0, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	n.Run(10 * time.Second)
	if got < 590 || len(packets) < 198 || len(packets) > 202 {
		t.Errorf("%d messages in %d packets at 20 a second for 10 s", got, len(packets))
	}
	p.sc.SetSendRate(25)
	got, packets = 0, map[PacketNumber]bool{}
	n.Run(10 * time.Second)
	if got < 590 || len(packets) < 247 || len(packets) > 253 {
		t.Errorf("%d messages in %d packets at 25 a second for 10 s", got, len(packets))
	}
	p.sp.step = nil
	n.Run(time.Second)
	if !p.sc.Due(p.sp.now()) {
		t.Error("not due after a second without messages")
	}
	p.sc.SetSendRate(0)
	if !p.sc.Due(p.sp.now()) {
		t.Error("not due without a send rate")
	}
}

// TestNoPacketsForAcks: when both ends talk, at the same rate or not, nothing is
// sent only to acknowledge.
func TestNoPacketsForAcks(t *testing.T) {
	for _, every := range []int{1, 2, 3, 6} {
		t.Run(fmt.Sprintf("60:%d", 60/every), func(t *testing.T) {
			n := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Cable})
			p := newPair(t, n, pairOptions{})
			p.connect(t)
			ticks, sent := 0, 0
			p.cp.step = func() {
				if err := p.client.Conn().Send(2, make([]byte, 40)); err != nil {
					t.Fatal(err)
				}
			}
			p.sp.step = func() {
				if ticks++; ticks%every == 0 {
					sent++
					if err := p.sc.Send(0, make([]byte, 500)); err != nil {
						t.Fatal(err)
					}
				}
			}
			n.Run(2 * time.Second)
			sent = 0
			before := p.server.Ledger()
			n.Run(20 * time.Second)
			after := p.server.Ledger()
			if got := int(after.Packets - before.Packets); got != sent {
				t.Errorf("%d packets for %d messages", got, sent)
			}
		})
	}
}

// TestRefusedByLink: what a full link does not take is lost at once, slows the
// connection down, is made up for, and is in the books.
func TestRefusedByLink(t *testing.T) {
	h := newHall(t, 1)
	c := h.clients[0].Conn()
	var taken uint64
	got := 0
	before := h.clients[0].Ledger()
	rate := c.Quality().Rate
	for i := range 600 {
		if i < 300 {
			if err := c.Send(2, []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		h.in = h.clients[0].Flush(h.now, h.in[:0])
		var through []link.Datagram
		for j, d := range h.in {
			if i%3 == 0 {
				h.clients[0].Refused(j)
				continue
			}
			d.Addr = address(256 << 8)
			taken += uint64(len(d.Data))
			through = append(through, d)
		}
		for j := range through {
			for a := range h.byAddr {
				through[j].Addr = a
			}
		}
		h.in = through
		h.serve(func(e *Event) {
			if e.Kind == Message {
				if int(e.Data[0]) != got%256 {
					t.Fatalf("message %d where %d was due", e.Data[0], got)
				}
				got++
			}
		})
		h.fetch()
	}
	if got != 300 {
		t.Errorf("%d of 300 messages came", got)
	}
	after := h.clients[0].Ledger()
	if sum := after.Total() - before.Total(); sum != taken {
		t.Errorf("the ledger says %d bytes, the link took %d", sum, taken)
	}
	if after.Refused == before.Refused || h.clients[0].Stats().RefusedByLink == 0 {
		t.Error("refusals were not counted")
	}
	if c.Quality().Rate >= rate {
		t.Errorf("the rate went from %d to %d", rate, c.Quality().Rate)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := ServerOptions{Options: testOptions(1), Keys: []token.Key{testKey}}
	if _, err := NewServer(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*ServerOptions){
		"seed":      func(o *ServerOptions) { o.Seed = [32]byte{} },
		"key":       func(o *ServerOptions) { o.Keys = nil },
		"wall":      func(o *ServerOptions) { o.Wall = 0 },
		"clients":   func(o *ServerOptions) { o.MaxClients = 1 << 20 },
		"datagram":  func(o *ServerOptions) { o.Datagram = 100 },
		"channels":  func(o *ServerOptions) { o.Channels = make([]Channel, 17) },
		"mode":      func(o *ServerOptions) { o.Channels = []Channel{{Mode: 9}} },
		"message":   func(o *ServerOptions) { o.Channels = []Channel{{MaxMessage: 1 << 20}} },
		"rates":     func(o *ServerOptions) { o.MinRate, o.MaxRate = 2000, 1000 },
		"send rate": func(o *ServerOptions) { o.SendRate = -1 },
	} {
		o := good
		spoil(&o)
		if _, err := NewServer(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewClient(ClientOptions{Options: testOptions(1)}); err == nil {
		t.Error("client without token: no error")
	}
	if _, err := NewClient(ClientOptions{Options: testOptions(1),
		Token: testToken(t, 1, nil)}); err == nil {
		t.Error("client without server: no error")
	}
}
