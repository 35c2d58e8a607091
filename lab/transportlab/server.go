package transportlab

import (
	"errors"
	"net/netip"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
)

// echoer is a server that sends back what comes.
type echoer interface {
	link.Link
	// tick takes all that has come since the last and sends it back.
	tick(now time.Duration) error
	// tally is what was echoed and sent so far.
	tally() tally
}

// receiveBatch is how many datagrams are taken from the socket at once: enough that a call of the
// kernel costs little, and so few that they stay in the processor's cache.
const receiveBatch = 128

// handleBatch is how many of them are handled before their events are looked at: a connection is
// still at hand then.
const handleBatch = 16

// runServer serves all kinds of traffic, one at a time, from open to close.
func runServer(d *lab.Desk, s *spec) error {
	// One thread on one processor is what is measured.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	clock := lab.NewClock(s.every())
	connected, err := udp.Listen(s.Listen, udp.Options{})
	if err != nil {
		return err
	}
	defer connected.Close()
	bare, err := udp.Listen(netip.AddrPortFrom(connected.LocalAddr().Addr(), 0).String(),
		udp.Options{})
	if err != nil {
		return err
	}
	defer bare.Close()
	conns, err := newConnEcho(connected, s, clock)
	if err != nil {
		return err
	}
	floor := &floorEcho{Link: bare, batch: make([]link.Datagram, receiveBatch)}
	stop, err := lab.Profile(s.Profile)
	if err != nil {
		return err
	}
	defer stop()
	if err := d.Answer(lab.Opened{Server: connected.LocalAddr(),
		Floor: bare.LocalAddr()}); err != nil {
		return err
	}
	// Whoever is not served rests, and takes up where it was when its turn comes.
	var served echoer = conns
	var began serverSample
	sample := func() serverSample {
		return serverSample{Used: lab.Used(), Wall: clock.Now(), tally: served.tally()}
	}
	beat := lab.Beat{Every: s.every()}
	w := lab.Shift{
		Clock: clock, Close: conns.close,
		Begin: func() { began = sample() },
		End:   func() any { return lab.Less(sample(), began) },
		Turn: func() error {
			err := served.tick(clock.Now())
			if err == nil && s.Saturate {
				_, err = served.Wait(time.Millisecond)
			} else {
				time.Sleep(beat.Next(clock.Now()))
			}
			return err
		}}
	w.Measure = func(o lab.Order) error {
		if served = conns; o.Kind == kindFloor {
			served = floor
		}
		pprof.SetGoroutineLabels(pprof.WithLabels(d, pprof.Labels("kind", o.Kind)))
		w.Window.Set(clock.Now()+lab.ChangeTime, o.Window)
		return nil
	}
	return d.Work(&w)
}

// floorEcho is the least that any server can do: it sends back the bytes that came,
// from where they lie.
type floorEcho struct {
	link.Link
	batch []link.Datagram
}

func (f *floorEcho) tick(time.Duration) error {
	for {
		n, err := f.Receive(f.batch)
		if err != nil {
			return err
		}
		if _, err := link.SendAll(f.Link, f.batch[:n]); err != nil {
			return err
		}
		if n < len(f.batch) {
			return nil
		}
	}
}

func (f *floorEcho) tally() tally {
	c := f.Counters()
	return tally{Messages: c.Received, Packets: c.Sent, Bytes: c.SentBytes}
}

// connEcho is the same over connections.
type connEcho struct {
	link.Link
	server *conn.Server
	batch  []link.Datagram
	out    []link.Datagram
}

func newConnEcho(l link.Link, s *spec, clock *lab.Clock) (*connEcho, error) {
	key, err := token.ParseKey(s.Key)
	if err != nil {
		return nil, err
	}
	o := conn.ServerOptions{
		Options: s.options(clock), Keys: []token.Key{key}, MaxClients: s.Clients,
		Addresses: []netip.AddrPort{l.LocalAddr()}}
	server, err := conn.NewServer(o)
	if err != nil {
		return nil, err
	}
	return &connEcho{Link: l, server: server, batch: make([]link.Datagram, receiveBatch)}, nil
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
		n, err := c.Receive(c.batch)
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
		n, err := c.Send(c.out[done:])
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

func (c *connEcho) tally() tally {
	l := c.server.Ledger()
	return tally{Messages: l.Messages, Packets: l.Packets, Bytes: l.Total()}
}

// close checks that every byte is accounted for.
func (c *connEcho) close() error {
	if s := c.server.Stats(); s.Violations != 0 || s.Forged != 0 {
		return errors.New("the server took a client for hostile")
	}
	return lab.Account(c.server.Ledger(), c.Counters())
}
