package conn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// hostile is worse than any network: two of five datagrams lost, every fifth out of order.
var hostile = netsim.Conditions{Name: "hostile",
	Up: netsim.Profile{
		Latency: 40 * time.Millisecond, Jitter: netsim.Jitter{
			Shape: netsim.Uniform, Amount: 30 * time.Millisecond}, Loss: 0.4, Duplicate: 0.1,
		Reorder: 0.2, HoldBack: 80 * time.Millisecond, Corrupt: 0.01},
	Down: netsim.Profile{
		Latency: 40 * time.Millisecond, Jitter: netsim.Jitter{
			Shape: netsim.Uniform, Amount: 30 * time.Millisecond}, Loss: 0.4, Duplicate: 0.1,
		Reorder: 0.2, HoldBack: 80 * time.Millisecond, Corrupt: 0.01},
}

func everyNetwork() []netsim.Conditions { return append(netsim.Presets(), hostile) }

// talker sends numbered messages on all channels and checks those of the other side.
type talker struct {
	name    string
	conn    func() *Conn
	r       *netsim.Rand
	stop    bool
	sent    [4]uint32
	got     [4]uint32          // ordered: next expected; newest: highest seen; others: count
	seen    [4]map[uint32]bool // unreliable and unordered
	err     error
	pending map[PacketNumber]bool // composed, without verdict
	arrived int
	lost    int
	verdict map[PacketNumber]EventKind
	packets map[PacketNumber]bool // of the other side, that brought something
}

func newTalker(name string, n *netsim.Net, conn func() *Conn) *talker {
	t := &talker{name: name, conn: conn, r: n.Rand(), pending: map[PacketNumber]bool{},
		verdict: map[PacketNumber]EventKind{}, packets: map[PacketNumber]bool{}}
	for i := range t.seen {
		t.seen[i] = map[uint32]bool{}
	}
	return t
}

// body makes a message whose content follows from its number, so that an altered
// or mixed-up one is noticed.
func body(channel uint8, number uint32, size int) []byte {
	b := make([]byte, 9+size)
	b[0] = channel
	binary.BigEndian.PutUint32(b[1:], number)
	binary.BigEndian.PutUint32(b[5:], uint32(size))
	for i := range size {
		b[9+i] = byte(number*7 + uint32(i)*13)
	}
	return b
}

func (t *talker) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(t.name+": "+format, args...)
	}
}

func (t *talker) send(now time.Duration) {
	c := t.conn()
	if c == nil || !c.Open() || t.stop {
		return
	}
	budget := c.Budget(now)
	for ch := range uint8(2) {
		if budget > 400 && t.r.Chance(0.7) {
			t.post(c, ch, t.r.IntN(60))
		}
	}
	if budget > 400 && t.r.Chance(0.3) {
		b, err := c.Compose(now, 0, 40)
		if err != nil {
			t.fail("compose: %v", err)
			return
		}
		b = append(b, body(0, t.sent[0], 20)...)
		t.sent[0]++
		n := c.Commit(b)
		if t.pending[n] {
			t.fail("packet number %d used twice", n)
		}
		t.pending[n] = true
	}
	if c.Unacked() < 24 {
		for ch := uint8(2); ch < 4; ch++ {
			if t.r.Chance(0.3) {
				t.post(c, ch, t.r.IntN(100))
			}
		}
		if t.r.Chance(0.01) {
			t.post(c, 2+uint8(t.r.IntN(2)), 2000+t.r.IntN(4000))
		}
	}
}

func (t *talker) post(c *Conn, ch uint8, size int) {
	if err := c.Send(ch, body(ch, t.sent[ch], size)); err != nil {
		t.fail("send on channel %d: %v", ch, err)
		return
	}
	t.sent[ch]++
}

func (t *talker) on(e *Event) {
	switch e.Kind {
	case Arrived, Lost:
		if !t.pending[e.Packet] {
			t.fail("second verdict on packet %d", e.Packet)
		}
		delete(t.pending, e.Packet)
		t.verdict[e.Packet] = e.Kind
		if e.Kind == Arrived {
			t.arrived++
		} else {
			t.lost++
		}
	case Message:
		t.packets[e.Packet] = true
		if len(e.Data) < 9 || e.Data[0] != e.Channel {
			t.fail("message of %d bytes on channel %d is not what was sent", len(e.Data), e.Channel)
			return
		}
		n := binary.BigEndian.Uint32(e.Data[1:])
		if want := body(e.Channel, n,
			int(binary.BigEndian.Uint32(e.Data[5:]))); !bytes.Equal(e.Data, want) {
			t.fail("message %d on channel %d was altered", n, e.Channel)
			return
		}
		switch ch := e.Channel; ch {
		case 0, 3:
			if t.seen[ch][n] {
				t.fail("message %d on channel %d came twice", n, ch)
			}
			t.seen[ch][n] = true
			t.got[ch]++
		case 1:
			if n < t.got[1] {
				t.fail("newest went back from %d to %d", t.got[1], n)
			}
			t.got[1] = n
		case 2:
			if n != t.got[2] {
				t.fail("ordered message %d came where %d was due", n, t.got[2])
			}
			t.got[2]++
		}
	case Disconnected:
		t.fail("disconnected: %v %q", e.Reason, e.Data)
	}
}

// conversation runs talkers at both ends of a pair until all is said and heard.
func conversation(t *testing.T, n *netsim.Net, o pairOptions, talk, settle time.Duration,
	during func(*pair)) error {
	p := newPair(t, n, o)
	ct := newTalker("client", n, func() *Conn { return p.client.Conn() })
	st := newTalker("server", n, func() *Conn { return p.sc })
	p.onClient, p.onServer = ct.on, st.on
	p.cp.step = func() { ct.send(p.cp.now()) }
	p.sp.step = func() { st.send(p.sp.now()) }
	if err := p.tryConnect(); err != nil {
		return err
	}
	if during != nil {
		during(p)
	}
	n.Run(talk)
	ct.stop, st.stop = true, true
	quiet := func() bool {
		return ct.err != nil || st.err != nil || p.client.Conn().Unacked() == 0 &&
			p.sc.Unacked() == 0
	}
	done := n.RunUntil(settle, quiet)
	if ct.err != nil {
		return ct.err
	}
	if st.err != nil {
		return st.err
	}
	if !done {
		return fmt.Errorf("%d and %d reliable messages still not acknowledged %v after the end",
			p.client.Conn().Unacked(), p.sc.Unacked(), settle)
	}
	n.Run(3 * time.Second) // so that every packet gets its verdict
	for _, pair := range [][2]*talker{{ct, st}, {st, ct}} {
		from, to := pair[0], pair[1]
		if from.sent[2] != to.got[2] || from.sent[3] != to.got[3] {
			return fmt.Errorf("%s sent %d ordered and %d unordered, %d and %d came", from.name,
				from.sent[2], from.sent[3], to.got[2], to.got[3])
		}
		if len(from.pending) > 0 {
			return fmt.Errorf("%s: %d composed packets never got a verdict", from.name,
				len(from.pending))
		}
		wrong := 0
		for number, verdict := range from.verdict {
			if verdict == Arrived && !to.packets[number] {
				return fmt.Errorf("%s was told that packet %d arrived, which it did not", from.name,
					number)
			}
			if verdict == Lost && to.packets[number] {
				wrong++
			}
		}
		if wrong > 20+len(from.verdict)/2 {
			return fmt.Errorf(
				"%s was told of %d of %d packets that they were lost, but they arrived", from.name,
				wrong, len(from.verdict))
		}
		if from.sent[0] > 100 && to.got[0] == 0 {
			return fmt.Errorf("%s sent %d unreliable and none came", from.name, from.sent[0])
		}
	}
	for _, pt := range []*party{p.sp, p.cp} {
		l := pt.machine.Ledger()
		if sent := pt.ep.Counters().SentBytes; l.Total() != sent {
			return fmt.Errorf("ledger says %d bytes, the link counted %d", l.Total(), sent)
		}
	}
	return nil
}

// TestReliableUnderEveryNetwork: reliable messages arrive exactly once, in order and
// unaltered; newest-only never goes back; every composed packet gets one verdict;
// the ledger equals the link's count. On all presets, and under 40 % loss.
func TestReliableUnderEveryNetwork(t *testing.T) {
	for _, cond := range everyNetwork() {
		t.Run(cond.Name, func(t *testing.T) {
			simtest.Run(t, seeds(12), func(n *netsim.Net) error {
				n.Use(cond)
				return conversation(t, n, pairOptions{}, 10*time.Second, 60*time.Second, nil)
			})
		})
	}
}

// TestRebindingUnderEveryNetwork changes the client's port and address in mid-stream.
func TestRebindingUnderEveryNetwork(t *testing.T) {
	for _, cond := range everyNetwork() {
		t.Run(cond.Name, func(t *testing.T) {
			simtest.Run(t, seeds(6), func(n *netsim.Net) error {
				n.Use(cond)
				var p *pair
				err := conversation(t, n, pairOptions{}, 8*time.Second, 60*time.Second,
					func(q *pair) {
						p = q
						n.After(2*time.Second, func() { q.cp.ep.RebindPort() })
						n.After(5*time.Second, func() { q.cp.ep.RebindAddr() })
					})
				if err == nil && p.server.Stats().Moves == 0 {
					return fmt.Errorf("the server never noticed the move: %+v", p.server.Stats())
				}
				if err == nil && p.sc.Addr() != p.cp.ep.PublicAddr() {
					return fmt.Errorf("the server sends to %v, the client is at %v", p.sc.Addr(),
						p.cp.ep.PublicAddr())
				}
				return err
			})
		})
	}
}

// TestChaos pauses, cuts, rebinds and storms at random.
func TestChaos(t *testing.T) {
	simtest.Run(t, seeds(60), func(n *netsim.Net) error {
		n.Use(netsim.WiFi)
		long := func(o *Options) { o.Timeout = 30 * time.Second }
		var failed error
		err := conversation(t, n, pairOptions{
			server: func(o *ServerOptions) { long(&o.Options) },
			client: func(o *ClientOptions) { long(&o.Options) },
		}, 15*time.Second, 60*time.Second, func(p *pair) {
			failed = n.Chaos(netsim.Chaos{Start: n.Now(), End: n.Now() + 12*time.Second, Most: 8,
				Longest: 3 * time.Second,
				Cut:     []string{"*"}, Pause: []string{"*"}, Rebind: []string{"client"},
				Storm: []string{"*"}})
		})
		if failed != nil {
			return failed
		}
		return err
	})
}

// TestBulkUnderEveryNetwork sends a large transfer from the server while both ends
// talk; it must complete, unaltered, and small messages must keep flowing meanwhile.
func TestBulkUnderEveryNetwork(t *testing.T) {
	for _, cond := range everyNetwork() {
		t.Run(cond.Name, func(t *testing.T) {
			limit, runs := 4*time.Minute, 2
			if cond.Name == "modem" || cond.Name == "hostile" || cond.Name == "awful" {
				limit, runs = 30*time.Minute, 1
			}
			simtest.Run(t, seeds(runs), func(n *netsim.Net) error {
				n.Use(cond)
				p := newPair(t, n, pairOptions{})
				data := make([]byte, 1<<20)
				n.Rand().Fill(data)
				var got []byte
				var sent bool
				var began, ended time.Duration
				var small, echoed uint32
				var worst, worstAt, last time.Duration
				var failed error
				p.onClient = func(e *Event) {
					switch e.Kind {
					case BulkReceived:
						got = append([]byte(nil), e.Data...)
						ended = n.Now()
						if e.Tag != 99 {
							failed = fmt.Errorf("tag %d", e.Tag)
						}
					case Message:
						if v := binary.BigEndian.Uint32(e.Data); e.Channel == 2 {
							if v != echoed {
								failed = fmt.Errorf("small message %d came where %d was due", v,
									echoed)
							}
							echoed++
							if n.Now()-last > worst {
								worst, worstAt = n.Now()-last, n.Now()-began
							}
							last = n.Now()
						}
					case Disconnected:
						failed = fmt.Errorf("disconnected: %v", e.Reason)
					}
				}
				p.onServer = func(e *Event) {
					if e.Kind == BulkSent {
						sent = true
					}
				}
				p.sp.step = func() {
					if p.sc != nil && p.sc.Unacked() < 40 {
						if err := p.sc.Send(2,
							binary.BigEndian.AppendUint32(nil, small)); err == nil {
							small++
						}
					}
				}
				if err := p.tryConnect(); err != nil {
					return err
				}
				began, last = n.Now(), n.Now()
				if _, err := p.sc.SendBulk(99, data); err != nil {
					return err
				}
				if !n.RunUntil(limit, func() bool { return got != nil && sent || failed != nil }) &&
					failed == nil {
					a, _, err := p.sc.BulkProgress(0)
					failed = fmt.Errorf("after %v %d bytes have arrived (%v); %+v", limit, a, err,
						p.sc.Quality())
				}
				if failed != nil {
					return failed
				}
				if !bytes.Equal(got, data) {
					return fmt.Errorf("the transfer was altered")
				}
				if worst > 5*time.Second {
					return fmt.Errorf("small messages stood still for %v", worst)
				}
				t.Logf("seed %d: 1 MiB in %.1fs, %d small messages meanwhile, longest gap %v "+
					"after %v", n.Seed(), (ended - began).Seconds(), echoed, worst, worstAt)
				return nil
			})
		})
	}
}
