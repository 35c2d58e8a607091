package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/netsim"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a real server that echoes, a proxy before it, and clients.
type rig struct {
	t     *testing.T
	proxy *Proxy
	mu    sync.Mutex
	ports map[netip.AddrPort]int // what the server saw
}

func newRig(t *testing.T, o Options) *rig {
	r := &rig{t: t, ports: make(map[netip.AddrPort]int)}
	server, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.Listen, o.To = "127.0.0.1:0", server.LocalAddr().String()
	if r.proxy, err = New(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() {
		if err := r.proxy.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	g.Go(func() {
		batch := make([]link.Datagram, 32)
		for {
			if _, err := server.Wait(-1); err != nil {
				return
			}
			n, err := server.Receive(batch)
			if err != nil {
				return
			}
			r.mu.Lock()
			for _, d := range batch[:n] {
				r.ports[d.Addr]++
			}
			r.mu.Unlock()
			server.Send(batch[:n])
		}
	})
	t.Cleanup(func() {
		cancel()
		server.Close()
		g.Wait()
	})
	return r
}

func (r *rig) client() link.Link {
	c, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

func (r *rig) send(c link.Link, numbers ...uint32) {
	r.t.Helper()
	for _, n := range numbers {
		b := binary.LittleEndian.AppendUint32(nil, n)
		if _, err := c.Send([]link.Datagram{{Addr: r.proxy.Addr(), Data: b}}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// receive waits for so many answers.
func (r *rig) receive(c link.Link, count int) (numbers []uint32) {
	r.t.Helper()
	batch := make([]link.Datagram, 8)
	for len(numbers) < count {
		ready, err := c.Wait(20 * time.Second)
		if !ready || err != nil {
			r.t.Fatalf("%d of %d answers: %v", len(numbers), count, err)
		}
		n, err := c.Receive(batch)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, d := range batch[:n] {
			if d.Addr != r.proxy.Addr() {
				r.t.Fatalf("an answer from %v", d.Addr)
			}
			numbers = append(numbers, binary.LittleEndian.Uint32(d.Data))
		}
	}
	return numbers
}

// await waits until the report says so.
func (r *rig) await(what string, ok func(Report) bool) Report {
	r.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-tick.C {
		p := r.proxy.Report()
		if ok(p) {
			return p
		}
		if time.Now().After(end) {
			r.t.Fatalf("still not so: %s: %+v", what, p)
		}
	}
}

func (r *rig) command(line string) string {
	r.t.Helper()
	answer, err := r.proxy.Command(line)
	if err != nil {
		r.t.Fatalf("%s: %v", line, err)
	}
	return answer
}

func TestForwardsBothWaysForManyClients(t *testing.T) {
	r := newRig(t, Options{Conditions: netsim.LAN})
	var clients []link.Link
	for i := range 5 {
		c := r.client()
		clients = append(clients, c)
		r.send(c, uint32(100*i), uint32(100*i+1))
	}
	for i, c := range clients {
		if got := r.receive(c, 2); got[0] != uint32(100*i) || got[1] != uint32(100*i+1) {
			t.Errorf("client %d got %v", i, got)
		}
	}
	r.mu.Lock()
	if len(r.ports) != 5 {
		t.Errorf("the server sees %d clients", len(r.ports))
	}
	r.mu.Unlock()
	p := r.proxy.Report()
	if p.Clients != 5 || p.Up.Offered != 10 || p.Up.Delivered != 10 || p.Down.OfferedBytes != 40 {
		t.Errorf("%+v", p)
	}
}

// TestDelays: a datagram takes at least as long as it is told to.
func TestDelays(t *testing.T) {
	r := newRig(t, Options{Conditions: netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond})})
	c := r.client()
	start := time.Now()
	r.send(c, 1)
	r.receive(c, 1)
	if took := time.Since(start); took < 60*time.Millisecond {
		t.Errorf("there and back in %v", took)
	}
}

// TestSameSeedSameFate: which datagrams are lost hangs on the seed and on their
// number.
func TestSameSeedSameFate(t *testing.T) {
	run := func(seed uint64) string {
		r := newRig(t,
			Options{Seed: seed, Conditions: netsim.Conditions{Up: netsim.Profile{Loss: 0.5}}})
		c := r.client()
		for i := range 64 {
			r.send(c, uint32(i))
		}
		p := r.await("all are through", func(p Report) bool {
			return p.Up.Offered == 64 && p.Down.Delivered == p.Up.Delivered
		})
		return fmt.Sprint(r.receive(c, int(p.Down.Delivered)))
	}
	a, b, c := run(7), run(7), run(8)
	if a != b {
		t.Errorf("seed 7 gave %s and %s", a, b)
	}
	if a == c {
		t.Error("seeds 7 and 8 gave the same")
	}
}

// TestCommandsWhileRunning changes everything under a client's feet.
func TestCommandsWhileRunning(t *testing.T) {
	r := newRig(t, Options{})
	c := r.client()
	r.send(c, 1)
	r.receive(c, 1)

	r.command("up loss 1")
	r.send(c, 2)
	r.await("one is lost", func(p Report) bool { return p.Up.Lost == 1 })
	r.command("loss=0")

	r.command("partition")
	r.command("partition")
	r.send(c, 3)
	r.await("one is cut off", func(p Report) bool { return p.Up.CutOff == 1 && p.Cut })
	other := r.client()
	r.send(other, 4)
	r.await("one of a new client too",
		func(p Report) bool { return p.Up.CutOff == 2 && p.Clients == 2 })
	r.command("heal")

	r.command("down duplicate 100%")
	r.send(c, 5)
	if got := r.receive(c, 2); got[0] != 5 || got[1] != 5 {
		t.Errorf("got %v", got)
	}
	if answer := r.command("preset satellite"); !strings.Contains(answer, "latency=300ms") {
		t.Errorf("answered %q", answer)
	}
	if p := r.proxy.Report(); p.Preset != "satellite" {
		t.Errorf("preset %q", p.Preset)
	}
	r.command("preset perfect")

	r.mu.Lock()
	before := len(r.ports)
	r.mu.Unlock()
	if answer := r.command("rebind"); answer != "rebound 2 clients" {
		t.Errorf("answered %q", answer)
	}
	r.send(c, 6)
	if got := r.receive(c, 1); got[0] != 6 {
		t.Errorf("got %v", got)
	}
	r.mu.Lock()
	if len(r.ports) != before+1 {
		t.Errorf("the server sees %d ports, was %d", len(r.ports), before)
	}
	r.mu.Unlock()
	if answer := r.command("stats"); !strings.Contains(answer, "2 clients") {
		t.Errorf("answered %q", answer)
	}
	if answer := r.command("show"); answer != "up   perfect\ndown perfect" {
		t.Errorf("answered %q", answer)
	}
	r.command("")
	r.command("help")
	for line, want := range map[string]string{
		"preset wify": "use one of perfect, lan",
		"loss lots":   "bad probability",
		"frobnicate":  "unknown command",
		"up":          "unknown command",
		"speed 9":     "unknown setting",
	} {
		if _, err := r.proxy.Command(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestClientLimit(t *testing.T) {
	r := newRig(t, Options{Clients: 1, Idle: time.Hour})
	a, b := r.client(), r.client()
	r.send(a, 1)
	r.receive(a, 1)
	r.send(b, 2)
	r.await("the second is refused",
		func(p Report) bool { return p.Refused == 1 && p.Clients == 1 })
}

func TestIdleClientsAreForgotten(t *testing.T) {
	r := newRig(t, Options{Idle: time.Millisecond})
	// on a busy machine it may be forgotten before an answer comes, so none is awaited
	r.send(r.client(), 1)
	p := r.await("the client has come and gone",
		func(p Report) bool { return p.Met == 1 && p.Clients == 0 })
	if p.Up.Offered != 1 {
		t.Errorf("its counts are gone: %+v", p)
	}
}

// TestServerComesLater: a server that is not there yet is no error.
func TestServerComesLater(t *testing.T) {
	placeholder, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := placeholder.LocalAddr().String()
	placeholder.Close()
	p, err := New(Options{Listen: "127.0.0.1:0", To: at})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() { p.Run(ctx) })
	defer g.Wait()
	defer cancel()
	c, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Send([]link.Datagram{{Addr: p.Addr(), Data: []byte("early")}})
	for p.Report().Up.Delivered == 0 {
		c.Wait(time.Millisecond)
	}
	server, err := udp.Listen(at, udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for {
		c.Send([]link.Datagram{{Addr: p.Addr(), Data: []byte("now")}})
		if ready, err := server.Wait(10 * time.Millisecond); err != nil {
			t.Fatal(err)
		} else if ready {
			return
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	taken, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct{ listen, to, want string }{
		{taken.LocalAddr().String(), "127.0.0.1:9", "is in use on 127.0.0.1, stop the program"},
		{"nonsense", "127.0.0.1:9", "where to listen: udp: bad address"},
		{":0", "nonsense", "where to forward: udp: bad address"},
		{":0", ":9", "names no host"},
		{":0", "127.0.0.1:0", "no port to send to"},
	} {
		_, err := New(Options{Listen: c.listen, To: c.to})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// lines collects what a console prints.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(l.b.String(), "\n")
}

func TestConsole(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		p, err := New(Options{Listen: "127.0.0.1:0", To: "127.0.0.1:9", Conditions: netsim.WiFi})
		if err != nil {
			t.Fatal(err)
		}
		in, typing := io.Pipe()
		var out lines
		done := make(chan error)
		go func() { done <- Console(context.Background(), p, in, &out, asJSON, time.Millisecond) }()
		c, err := udp.Listen("127.0.0.1:0", udp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.Send([]link.Datagram{{Addr: p.Addr(), Data: []byte("x")}})
		for found := false; !found; c.Wait(time.Millisecond) {
			for _, line := range out.all() {
				found = found || strings.Contains(line, "1 client ") ||
					strings.Contains(line, `"clients":1,`)
			}
		}
		c.Close()
		fmt.Fprintln(typing, "preset lte")
		fmt.Fprintln(typing, "nonsense")
		fmt.Fprintln(typing, "quit")
		if err := <-done; err != nil {
			t.Error(err)
		}
		typing.Close()
		text := strings.Join(out.all(), "\n")
		if !strings.Contains(text, "latency=35ms") || !strings.Contains(text, "unknown command") {
			t.Errorf("printed %s", text)
		}
		if asJSON {
			for _, line := range out.all() {
				if line != "" && !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %s", line)
				}
			}
		}
	}
}

// TestConsoleEndsWithItsContext, and not with its input.
func TestConsoleEndsWithItsContext(t *testing.T) {
	p, err := New(Options{Listen: "127.0.0.1:0", To: "127.0.0.1:9"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var out lines
	done := make(chan error)
	go func() {
		done <- Console(ctx, p, strings.NewReader("show\n"), &out, false,
			time.Millisecond)
	}()
	for !strings.Contains(strings.Join(out.all(), ""), "perfect") {
		runtime.Gosched()
	}
	select {
	case err := <-done:
		t.Fatalf("ended with its input: %v", err)
	default:
	}
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzCommand: no line breaks a proxy.
func FuzzCommand(f *testing.F) {
	for _, line := range []string{
		"preset wifi", "up loss 0.1", "jitter=recorded:1ms,2ms", "partition", "rebind", "stats",
		"down burst 0/0/0"} {
		f.Add(line)
	}
	p, err := New(Options{Listen: "127.0.0.1:0", To: "127.0.0.1:9"})
	if err != nil {
		f.Fatal(err)
	}
	defer p.close()
	f.Fuzz(func(t *testing.T, line string) {
		answer, err := p.Command(line)
		if err != nil && answer != "" {
			t.Errorf("%q: both %q and %v", line, answer, err)
		}
	})
}
