package client

import (
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A liar is a server that has proved itself and lets a client in, and then says whatever a script
// says; and the client.
type liar struct {
	t      testing.TB
	link   *cable
	conn   *conn.Server
	peer   *conn.Conn
	client *Client
	now    time.Duration
	view   View
	batch  [64]link.Datagram
	epoch  uint32

	world  *world.World
	pub    *replica.Publisher
	sender *replica.Sender
	worker *replica.Worker
	index  *interest.Index
	seen   interest.View
	in     *world.Inputs
}

var liarKey = token.Key{1, 2, 3}

func newLiar(t testing.TB, style predict.Style) *liar {
	t.Helper()
	air := map[netip.AddrPort]*cable{}
	y := &liar{t: t, link: newCable(air)}
	protocol := token.ProtocolID(yard.Name())
	var err error
	y.conn, err = conn.NewServer(conn.ServerOptions{Keys: []token.Key{liarKey},
		Options: conn.Options{Protocol: protocol, Version: wire.Version, Channels: wire.Channels(),
			Seed: seedOf(1, 1), Wall: wall}})
	must(t, err)
	tok, err := token.Issue(liarKey, token.Grant{Protocol: protocol, Client: 1,
		Expires: wall + 3600, Servers: []netip.AddrPort{y.link.addr}}, plain(1))
	must(t, err)
	o := Options{Title: yardTitle, Style: style, Link: newCable(air), Token: tok,
		Servers: []netip.AddrPort{y.link.addr}, Name: "ann"}
	o.Conn.Seed, o.Conn.Wall, o.Conn.Timeout = seedOf(1, 2), wall, 2*time.Second
	y.client, err = New(o)
	must(t, err)
	p, err := yardTitle.Protocol(replica.Coeval)
	must(t, err)
	settings, err := yardTitle.Settings(y.level())
	must(t, err)
	y.world, err = yard.New(settings)
	must(t, err)
	y.pub, err = replica.NewPublisher(p, y.world)
	must(t, err)
	y.worker, y.in, y.index = replica.NewWorker(p), yard.NewInputs(),
		interest.NewIndex(interest.Options{})
	y.in.Join(1)
	return y
}

func (y *liar) level() game.Level { return game.Level{Seed: 3} }

// frame lets a tick pass at both ends. It says whether the client has ended.
func (y *liar) frame() bool {
	y.now += yard.TickLength()
	n, _ := y.link.Receive(y.batch[:])
	y.conn.Receive(y.now, y.batch[:n])
	events := y.conn.Events()
	for i := range events {
		switch e := &events[i]; e.Kind {
		case conn.Connected:
			y.peer = e.Conn
		case conn.Arrived:
			if y.sender != nil {
				y.sender.Arrived(uint64(e.Packet))
			}
		case conn.Lost:
			if y.sender != nil {
				y.sender.Lost(uint64(e.Packet))
			}
		case conn.Message:
			if e.Channel == wire.StateChannel && y.sender != nil && len(e.Data) > 0 {
				_ = y.sender.Message(e.Data[1:]) // it may be about what was made up
			}
		}
	}
	_, _ = y.link.Send(y.conn.Flush(y.now, nil))
	y.view = y.client.Frame(y.now, toAndFro)
	return y.view.Err != nil || y.client.Phase() == Ended
}

func (y *liar) send(channel uint8, data []byte) {
	if y.peer != nil && y.peer.Open() {
		_ = y.peer.Send(channel, data)
	}
}

func (y *liar) say(m wire.Message) { y.send(wire.ControlChannel, m.Append(nil)) }

// letIn does what an honest server does until the client is shown the world.
func (y *liar) letIn() {
	for range 120 {
		if y.frame(); y.peer != nil {
			break
		}
	}
	y.epoch++
	y.say(wire.Message{Kind: wire.Welcome, Player: 1, Client: 1, Interval: 3, Name: "ann"})
	l := y.level()
	y.say(wire.Message{Kind: wire.Level, Epoch: y.epoch, Seed: 3, Start: y.pub.Start(),
		Data: l.Hash()})
	for range 30 {
		y.frame()
	}
	y.sender = replica.NewSender(y.pub,
		replica.SenderOptions{Player: 1, Epoch: uint8(y.epoch), Start: true})
	for range 6 {
		y.show(nil)
	}
	if y.view.World == nil || y.client.Phase() != Playing {
		y.t.Fatalf("the client is not let in: %v, %v", y.client.Phase(), y.view.Err)
	}
}

// show sends a snapshot, spoilt by what is given: the rest of it is laid over packets and messages,
// from the first byte on which.
func (y *liar) show(spoil []byte) bool {
	must(y.t, y.world.Host().Step(y.in))
	y.in.Reset()
	must(y.t, y.pub.Publish(y.world))
	for id := range y.world.Entities() {
		y.index.Set(id, interest.Traits{Always: true})
	}
	interest.NewFinder().Update(&y.seen, y.index,
		&interest.Rules{Sources: []interest.Source{&interest.Always{}}}, interest.Observer{})
	if y.sender != nil && y.peer != nil {
		y.sender.Look(&y.seen)
		y.sender.Encode(y.worker, replica.Room{Packet: 1000, Budget: 2000})
		for _, m := range y.sender.Messages() {
			y.send(wire.StateChannel, append([]byte{byte(y.epoch)}, spoilt(m, spoil)...))
		}
		for i := range y.sender.Staged() {
			data := spoilt(y.sender.Packet(i), spoil)
			b, err := y.peer.Compose(y.now, wire.SnapshotChannel, len(data)+2)
			if err != nil {
				y.sender.Unsent(i)
				continue
			}
			y.sender.Sent(i, uint64(y.peer.Commit(append(b, data...))))
		}
	}
	return y.frame()
}

func spoilt(data, by []byte) []byte {
	out := append([]byte(nil), data...)
	if len(by) < 2 || len(out) == 0 {
		return out
	}
	from := int(by[0])
	for i, b := range by[1:] {
		out[(from+i)%len(out)] ^= b
	}
	return out
}

// play does what a script says: each line has a verb, a length and so many bytes.
func (y *liar) play(script []byte) {
	for len(script) >= 2 {
		verb, n := script[0], min(int(script[1]), len(script)-2)
		data := script[2 : 2+n]
		script = script[2+n:]
		switch verb % 9 {
		case 0:
			y.send(wire.ControlChannel, data)
		case 1:
			y.send(wire.SnapshotChannel, data)
		case 2:
			y.send(wire.StateChannel, append([]byte{byte(y.epoch)}, data...))
		case 3, 4:
			y.show(data)
		case 5:
			if y.peer != nil && y.peer.Open() {
				_, _ = y.peer.SendBulk(wire.TagLevel+uint32(verb/9%3), data)
			}
		case 6:
			for range n % 32 {
				y.frame()
			}
		case 7: // a level that is said to be what the script says
			m := wire.Message{Kind: wire.Level, Epoch: y.epoch + uint32(n), Seed: uint64(verb),
				Start: y.pub.Start()}
			copy(m.Data[:], data)
			for _, b := range data {
				m.Tick = m.Tick<<7 ^ world.Tick(b)
				m.Size = m.Size<<5 ^ uint32(b)
			}
			y.say(m)
		case 8:
			y.send(verb/9%8, data)
		}
		if y.frame() {
			return
		}
	}
}

// FuzzServerSaysAnything lets a server that has proved itself say anything to a client that plays,
// or is about to. The client does not panic, takes no memory out of proportion, and in the end it
// either plays on, has ended with a reason, or goes back when the server is silent.
func FuzzServerSaysAnything(f *testing.F) {
	f.Add(uint8(0), []byte{3, 3, 10, 0xff, 0x10, 6, 20, 2, 4, 1, 5, 0, 1})
	f.Add(uint8(1), []byte{7, 3, 1, 2, 3, 4, 0, 1, 5, 9, 9, 9, 9, 9, 6, 3, 0, 0, 0})
	f.Add(uint8(2), []byte{2, 6, 1, 0, 5, 0, 0, 0, 2, 3, 6, 1, 0, 0, 8, 4, 0, 1, 2, 3})
	f.Add(uint8(5), []byte{0, 3, 12, 1, 0, 5, 3, 1, 2, 3, 14, 2, 8, 8, 4, 2, 200, 1})
	move := (&wire.Message{Kind: wire.Move, Text: "go",
		Servers: []wire.Server{{Addr: netip.MustParseAddrPort("10.0.0.9:1")}}}).Append(nil)
	f.Add(uint8(0), append([]byte{0, byte(len(move))}, move...))
	f.Fuzz(func(t *testing.T, how uint8, script []byte) {
		if len(script) > 4096 {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		y := newLiar(t, predict.Style(how%4))
		if how&4 == 0 {
			y.letIn()
		}
		y.play(script)
		for range 40 {
			if y.frame() {
				break
			}
		}
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 400 {
			t.Fatalf("%d MiB were taken for a script of %d bytes", n, len(script))
		}
		if y.client.Err() == nil && y.client.Phase() == Ended {
			t.Fatal("it has ended without a reason")
		}
		// Without a word of the server the client gives up. What has ended says so when the server
		// has answered, or has not for a while.
		for range 60 * 10 {
			y.now += 100 * time.Millisecond
			if y.view = y.client.Frame(y.now, toAndFro); y.view.Err != nil {
				return
			}
		}
		t.Fatalf("it waits for ever: %v", y.client.Phase())
	})
}
