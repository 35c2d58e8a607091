package server

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/wire"
	"golang.org/x/sys/unix"
)

// BenchmarkReconnect is a second in which a thousand clients come, as when the mirror that they
// played at is dead, at sixty ticks a second of the real time. It reports the longest and the mean
// time of a tick, as the processor counts it for the thread that drives the server, so that what
// else the machine does is left out; what the ticks before were is taken off. With two workers the
// agreements are computed beside the ticks.
func BenchmarkReconnect(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var most, all time.Duration
			ticks, in := 0, 0
			for range b.N {
				c := newHomeless(b, 1000, workers)
				idle := time.Duration(0)
				for range 30 {
					idle += c.tick(b, 0) / 30
				}
				for i := 0; i < 200 && c.in < len(c.clients); i++ {
					began := time.Now()
					took := c.tick(b, min(len(c.clients), (i+1)*len(c.clients)/60)) - idle
					most = max(most, took)
					all += took
					ticks++
					time.Sleep(time.Second/60 - time.Since(began))
				}
				in += c.in
				must(b, c.server.Close())
			}
			b.ReportMetric(most.Seconds()*1000, "worst-ms/tick")
			b.ReportMetric(all.Seconds()*1000/float64(ticks), "ms/tick")
			b.ReportMetric(float64(ticks)/float64(b.N), "ticks")
			b.ReportMetric(float64(in)/float64(b.N), "clients")
		})
	}
}

// homeless are a server and many who connect to it and say nothing.
type homeless struct {
	server  *Server
	clients []*conn.Client
	links   []*wireless
	now     time.Duration
	in      int // how many are in
	out     []link.Datagram
	batch   []link.Datagram
}

func newHomeless(t testing.TB, clients, workers int) *homeless {
	air := map[netip.AddrPort]*wireless{}
	l := newWireless(air)
	c := &homeless{batch: make([]link.Datagram, 64)}
	title := yardTitle(40, 200, 60)
	var err error
	c.server, err = New(Options{Title: title, Links: []link.Link{l}, Players: clients,
		Workers: workers})
	must(t, err)
	for i := range clients {
		tok, err := c.server.Token(uint64(i+1), nil, time.Hour)
		must(t, err)
		o := conn.ClientOptions{Token: tok, Servers: []netip.AddrPort{l.LocalAddr()}}
		o.Protocol, o.Version = token.ProtocolID(title.Game.Name()), wire.Version
		o.Channels, o.Seed = wire.Channels(), seedOf(uint64(i), 3)
		k, err := conn.NewClient(o)
		must(t, err)
		c.clients, c.links = append(c.clients, k), append(c.links, newWireless(air))
	}
	return c
}

// tick lets the first so many clients do something, and then the server. It returns how long the
// server took.
func (c *homeless) tick(t testing.TB, begun int) time.Duration {
	c.now += yard.TickLength()
	c.in = 0
	for i, k := range c.clients[:begun] {
		n, err := c.links[i].Receive(c.batch)
		must(t, err)
		k.Receive(c.now, c.batch[:n])
		k.Events()
		if k.Conn() != nil && k.Conn().Open() {
			c.in++
		}
		c.out = k.Flush(c.now, c.out[:0])
		_, err = c.links[i].Send(c.out)
		must(t, err)
	}
	began := threadTime(t)
	must(t, c.server.Tick(c.now))
	return threadTime(t) - began
}

// threadTime is how long the processor has worked for this thread.
func threadTime(t testing.TB) time.Duration {
	var at unix.Timespec
	must(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at))
	return time.Duration(at.Nano())
}
