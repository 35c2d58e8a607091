package lab

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
)

// echoer is a server that sends back what comes.
type echoer interface {
	// tick takes all that has come since the last and sends it back.
	tick(now time.Duration) error
	wait(time.Duration) (bool, error)
	// tally is what was echoed and sent so far.
	tally() tally
}

type tally struct{ messages, packets, bytes uint64 }

// receiveBatch is how many datagrams are taken from the socket at once: enough that a
// call of the kernel costs little, and so few that they stay in the processor's cache.
const receiveBatch = 128

// handleBatch is how many of them are handled before their events are looked at: a
// connection is still at hand then.
const handleBatch = 16

// runServer serves all kinds of traffic, one at a time, from open to close.
func runServer(d *desk, spec *partSpec) error {
	// One thread on one processor is what is measured.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	start := tickStart(spec.every())
	connected, err := udp.Listen(spec.Listen, udp.Options{})
	if err != nil {
		return err
	}
	defer connected.Close()
	bare, err := udp.Listen(netip.AddrPortFrom(connected.LocalAddr().Addr(), 0).String(), udp.Options{})
	if err != nil {
		return err
	}
	defer bare.Close()
	conns, err := newConnEcho(connected, spec, start)
	if err != nil {
		return err
	}
	floor := &floorEcho{link: bare, batch: make([]link.Datagram, receiveBatch)}
	if spec.Profile != "" {
		stop, err := profile(spec.Profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	if err := d.answer(opened{connected.LocalAddr(), bare.LocalAddr()}, nil); err != nil {
		return err
	}
	// Whoever is not served rests, and takes up where it was when its turn comes.
	var now echoer = conns
	var w watch
	beat := beat{every: spec.every()}
	for {
		o, ok, err := d.next()
		switch {
		case err != nil:
			return err
		case ok && o.Do == doClose:
			return conns.close()
		case ok && o.Do == doMeasure:
			if now = conns; o.Kind == kindFloor {
				now = floor
			}
			pprof.SetGoroutineLabels(pprof.WithLabels(d.ctx, pprof.Labels("kind", o.Kind)))
			w = watch{echo: now, from: time.Since(start) + changeTime, window: o.Window}
		}
		if spec.Saturate {
			if _, err := now.wait(time.Millisecond); err != nil {
				return err
			}
		} else if rest := beat.next(time.Since(start)); rest > 0 {
			time.Sleep(rest)
		}
		if w.window != 0 && !w.active && time.Since(start) >= w.from {
			w.begin()
		}
		if err := now.tick(time.Since(start)); err != nil {
			return err
		}
		if w.over() {
			if err := d.answer(w.end(), nil); err != nil {
				return err
			}
		}
	}
}

// tickStart is the last moment at which a tick began. All processes on a machine agree on
// it, since they ask the same clock.
func tickStart(every time.Duration) time.Time {
	now := time.Now()
	return now.Add(-now.Sub(now.Truncate(every)))
}

// beat is a steady tick that does not make up for what it missed.
type beat struct {
	every time.Duration
	due   time.Duration
}

// next is how long to rest until the next tick.
func (b *beat) next(now time.Duration) time.Duration {
	b.due += b.every
	if b.due <= now {
		b.due = now - (now-b.due)%b.every
		return 0
	}
	return b.due - now
}

// watch measures the process from one tick to another, and does nothing in between.
type watch struct {
	echo   echoer
	from   time.Duration // when to begin
	window time.Duration
	active bool

	began  time.Time
	cpu    time.Duration
	allocs uint64
	before tally
}

// changeTime passes between changing to a kind of traffic and measuring it.
const changeTime = 250 * time.Millisecond

func (w *watch) begin() {
	w.active, w.before = true, w.echo.tally()
	w.allocs = mallocs()
	w.began = time.Now()
	w.cpu = processTime()
}

func (w *watch) over() bool { return w.active && time.Since(w.began) >= w.window }

func (w *watch) end() serverSample {
	cpu, wall := processTime()-w.cpu, time.Since(w.began)
	allocs := mallocs() - w.allocs
	w.active, w.window = false, 0
	after := w.echo.tally()
	return serverSample{
		CPU: cpu, Wall: wall, Allocs: allocs,
		Messages: after.messages - w.before.messages, Packets: after.packets - w.before.packets, Bytes: after.bytes - w.before.bytes,
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func profile(name string) (stop func(), err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

// floorEcho is the least that any server can do: it sends back the bytes that came,
// from where they lie.
type floorEcho struct {
	link  link.Link
	batch []link.Datagram
}

func (f *floorEcho) tick(time.Duration) error {
	for {
		n, err := f.link.Receive(f.batch)
		if err != nil {
			return err
		}
		if _, err := link.SendAll(f.link, f.batch[:n]); err != nil {
			return err
		}
		if n < len(f.batch) {
			return nil
		}
	}
}

func (f *floorEcho) tally() tally {
	c := f.link.Counters()
	return tally{messages: c.Received, packets: c.Sent, bytes: c.SentBytes}
}

func (f *floorEcho) wait(d time.Duration) (bool, error) { return f.link.Wait(d) }

// connEcho is the same over connections.
type connEcho struct {
	link   link.Link
	server *conn.Server
	batch  []link.Datagram
	out    []link.Datagram
}

func newConnEcho(l link.Link, spec *partSpec, start time.Time) (*connEcho, error) {
	key, err := token.ParseKey(spec.Key)
	if err != nil {
		return nil, err
	}
	o := conn.ServerOptions{Options: spec.options(start), Keys: []token.Key{key}, MaxClients: spec.Clients,
		Addresses: []netip.AddrPort{l.LocalAddr()}}
	s, err := conn.NewServer(o)
	if err != nil {
		return nil, err
	}
	return &connEcho{link: l, server: s, batch: make([]link.Datagram, receiveBatch)}, nil
}

// options are those of both ends. The rate controller need not find out what loopback
// can take, nor mistake a machine that is busy with other things for a slow network.
func (s *partSpec) options(start time.Time) conn.Options {
	const plenty = 64 << 20
	o := conn.Options{Protocol: transportProtocol, Version: 1, Wall: start.Unix(), Rate: plenty, MinRate: plenty, MaxRate: plenty}
	_, _ = crand.Read(o.Seed[:]) // it never fails
	return o
}

// answer sends back the messages among events.
func (c *connEcho) answer(events []conn.Event) error {
	for i := range events {
		e := &events[i]
		if e.Kind != conn.Message {
			continue
		}
		if err := e.Conn.Send(e.Channel, e.Data); err != nil {
			return err
		}
	}
	return nil
}

func (c *connEcho) tick(now time.Duration) error {
	for {
		n, err := c.link.Receive(c.batch)
		if err != nil {
			return err
		}
		for i := 0; i < n; i += handleBatch {
			c.server.Receive(now, c.batch[i:min(i+handleBatch, n)])
			if err := c.answer(c.server.Events()); err != nil {
				return err
			}
		}
		if n < len(c.batch) {
			break
		}
	}
	c.out = c.server.Flush(now, c.out[:0])
	for done := 0; done < len(c.out); {
		n, err := c.link.Send(c.out[done:])
		done += n
		if err == nil {
			continue
		}
		if !link.Passing(err) {
			return err
		}
		c.server.Refused(done)
		done++
	}
	return nil
}

func (c *connEcho) wait(d time.Duration) (bool, error) { return c.link.Wait(d) }

func (c *connEcho) tally() tally {
	l := c.server.Ledger()
	return tally{messages: l.Messages, packets: l.Packets, bytes: l.Total()}
}

// close checks that every byte is accounted for.
func (c *connEcho) close() error {
	ledger, counters := c.server.Ledger(), c.link.Counters()
	if ledger.Total() != counters.SentBytes {
		return fmt.Errorf("the connections account for %d bytes, and the link has sent %d", ledger.Total(), counters.SentBytes)
	}
	if s := c.server.Stats(); s.Violations != 0 || s.Forged != 0 {
		return errors.New("the server took a client for hostile")
	}
	return nil
}
