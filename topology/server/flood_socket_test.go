package server

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// floodOrder is how the test is started again as the process that floods: where to, how many a
// second, for how long, and the datagram.
const floodOrder = "COEVAL_TEST_FLOOD"

// flooding sends datagrams from many addresses, each with eight bytes of its own.
func flooding(order string) error {
	f := strings.Fields(order)
	to, err := netip.ParseAddrPort(f[0])
	if err != nil {
		return err
	}
	rate, _ := strconv.Atoi(f[1])
	length, _ := time.ParseDuration(f[2])
	sample, err := hex.DecodeString(f[3])
	if err != nil {
		return err
	}
	at, _ := strconv.Atoi(f[4]) // where the eight bytes are
	var links []link.Link
	for i := range 200 {
		l, err := udp.Listen(fmt.Sprintf("127.7.%d.%d:0", i/100, i%100+1), udp.Options{})
		if err != nil {
			return err
		}
		defer l.Close()
		links = append(links, l)
	}
	const batch = 50
	var list [batch]link.Datagram
	for i := range list {
		list[i] = link.Datagram{Addr: to, Data: append([]byte(nil), sample...)}
	}
	began, sent := time.Now(), 0
	for time.Since(began) < length {
		for due := int(time.Since(began).Seconds() * float64(rate)); sent < due; {
			for i := range list {
				sent++
				binary.BigEndian.PutUint64(list[i].Data[at:], uint64(sent)*0x9e3779b97f4a7c15)
			}
			if _, err := link.SendAll(links[sent/batch%len(links)], list[:]); err != nil {
				return err
			}
		}
		time.Sleep(100 * time.Microsecond)
	}
	fmt.Printf("%.0f a second", float64(sent)/time.Since(began).Seconds())
	return nil
}

// TestFloodOnSocket floods the socket of a server that runs by the clock from another process, as
// COEVAL_SOAK says at 200,000 datagrams a second: with junk, with packets of connections that do
// not exist, and with requests. It prints which share of the ticks was kept; eight players stay in,
// and one more comes in meanwhile.
func TestFloodOnSocket(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("loopback has one address here")
	}
	rate, length := 20_000, 300*time.Millisecond
	soak := os.Getenv("COEVAL_SOAK") != ""
	if soak {
		rate, length = 200_000, 5*time.Second
	}
	long := append([]byte{0x80}, make([]byte, 1199)...)
	for _, x := range []struct {
		name   string
		sample []byte
		at     int
		buffer int // of the socket; 0 for as much as it usually has
	}{
		{"nothing", nil, 0, 0},
		{"junk", append([]byte{0x42}, make([]byte, 99)...), 1, 0},
		{"unknown connections", long, 1, 0},
		{"unknown connections, and what Linux grants anyone", long, 1, 212992},
		{"requests", sampleRequest(t), 14, 0},
	} {
		if !soak && x.name != "requests" {
			continue // it is the most that a datagram can be made to cost
		}
		t.Run(x.name, func(t *testing.T) {
			o := udp.Options{ReadBuffer: x.buffer}
			floodSocket(t, o, x.sample, x.at, rate, length)
		})
	}
}

// sampleRequest is the first datagram of a client.
func sampleRequest(t *testing.T) []byte {
	tok, err := token.Issue(token.Key{1}, token.Grant{Protocol: token.ProtocolID(yard.Name()),
		Client: 1, Expires: 1 << 40}, counter{netsim.New(netsim.Options{Seed: 1}).Rand()})
	must(t, err)
	o := conn.Options{Protocol: token.ProtocolID(yard.Name()), Version: wire.Version,
		Channels: wire.Channels(), Seed: [32]byte{1}}
	c, err := conn.NewClient(conn.ClientOptions{Options: o, Token: tok,
		Servers: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}})
	must(t, err)
	return append([]byte(nil), c.Flush(0, nil)[0].Data...)
}

func floodSocket(
	t *testing.T, o udp.Options, sample []byte, at, rate int, length time.Duration,
) {
	socket, err := udp.Listen("127.0.0.1:0", o)
	must(t, err)
	title := yardTitle(20, 100, 100)
	var longest atomic.Int64
	s, err := New(Options{Title: title, Workers: 2, Links: []link.Link{socket},
		Ticked: func(x Times) { longest.Store(max(longest.Load(), int64(x.Elapsed()))) }})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	play, leave := context.WithCancel(t.Context())
	var served sync.WaitGroup
	served.Go(func() { _ = s.Run(ctx) })
	defer func() {
		stop() // the players hear of it
		served.Wait()
		leave()
		running.Wait()
		_ = s.Close()
	}()
	var in atomic.Int32
	join := func(i int) <-chan struct{} {
		var tok token.Token
		must(t, s.Do(ctx, func() { tok, err = s.Token(uint64(i), nil, time.Minute) }))
		must(t, err)
		l, err := udp.Listen("127.0.0.1:0", udp.Options{})
		must(t, err)
		c, err := client.New(client.Options{Title: title, Link: l, Token: tok,
			Servers: []netip.AddrPort{socket.LocalAddr()}})
		must(t, err)
		came := make(chan struct{})
		walks := func(_ world.Tick, p world.Player, _ *world.World, in *world.Inputs) {
			_ = world.Give(in, p, walk{X: 1})
		}
		running.Go(func() {
			defer c.Close()
			shown := false
			_ = drive.Loop{Step: yard.TickLength(), Tick: func(now time.Duration) error {
				v := c.Frame(now, walks)
				if v.World != nil && !shown {
					shown = true
					in.Add(1)
					close(came)
				}
				return v.Err
			}}.Run(play)
		})
		return came
	}
	var all []<-chan struct{}
	for i := range 8 {
		all = append(all, join(i+1))
	}
	for _, came := range all {
		<-came
	}
	var before, after Stats
	var links [2]link.Counters
	must(t, s.Do(ctx, func() { before, links[0] = s.Stats(), s.Counters() }))
	longest.Store(0)
	began := time.Now()
	var out []byte
	flood := make(chan error, 1)
	if sample != nil {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%v %d %v %x %d", floodOrder,
			socket.LocalAddr(), rate, length, sample, at))
		go func() {
			var err error
			out, err = cmd.Output()
			flood <- err
		}()
	} else {
		time.AfterFunc(length, func() { flood <- nil })
	}
	time.Sleep(length / 4)
	knocked := time.Now()
	<-join(9)
	waited := time.Since(knocked)
	must(t, <-flood)
	must(t, s.Do(ctx, func() { after, links[1] = s.Stats(), s.Counters() }))
	ran := time.Since(began)
	ticks := float64(after.Ticks - before.Ticks)
	commands := float64(after.Commands.Taken - before.Commands.Taken)
	missing := float64(after.Commands.Repeated - before.Commands.Repeated)
	t.Logf("%s: %.1f %% of ticks kept, the longest took %.1f ms; %d datagrams taken in, %d "+
		"dropped by the kernel; %.1f %% of commands came; the newcomer was in after %v", out,
		100*ticks*yard.TickLength().Seconds()/ran.Seconds(),
		time.Duration(longest.Load()).Seconds()*1e3,
		links[1].Received-links[0].Received, links[1].DroppedIn-links[0].DroppedIn,
		100*commands/(commands+missing), waited.Round(time.Millisecond))
	must(t, s.Do(ctx, func() {
		if p := s.Population(); p.Players != 9 || after.Left+after.Dropped > 0 {
			t.Errorf("%+v, %d left and %d were dropped", p, after.Left, after.Dropped)
		}
	}))
}
