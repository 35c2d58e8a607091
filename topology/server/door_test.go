package server

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A line is a server and many who are connected to it, by connections of package conn alone, so
// that a test says when each of them says what.
type line struct {
	t      *testing.T
	server *Server
	link   *wireless
	air    map[netip.AddrPort]*wireless
	people []*liar // by client, from 1
	now    time.Duration
	joined []int // clients, in the order in which they got their seats
	inside []int // and were shown the world; those of one tick in the order of turn
	turn   []int // who was ready when
}

// newLine has n people connect, of whom none has said anything.
func newLine(t *testing.T, n int) *line {
	l := &line{t: t, air: map[netip.AddrPort]*wireless{}, people: make([]*liar, n+1)}
	l.link = newWireless(l.air)
	var err error
	l.server, err = New(Options{Title: yardTitle(2, 2, 60), Links: []link.Link{l.link},
		Players: n, Workers: 1, Flight: -1, Limits: Limits{Requests: 1000},
		Conn: conn.Options{Timeout: 20 * time.Second, Seed: [32]byte{1}, Wall: wall},
		News: func(x News) {
			if x.Kind == Joined {
				l.joined = append(l.joined, int(x.Client))
			}
		}})
	must(t, err)
	t.Cleanup(func() { l.server.Close() })
	for i := 1; i <= n; i++ {
		l.connect(i)
	}
	for range 40 + n {
		l.tick()
	}
	if len(l.server.peers) != n || len(l.joined) > 0 {
		t.Fatalf("%d of %d are connected, and %d have seats", len(l.server.peers), n,
			len(l.joined))
	}
	return l
}

// connect begins a connection of someone.
func (l *line) connect(i int) {
	tok, err := l.server.Token(uint64(i), nil, time.Hour)
	must(l.t, err)
	x, err := conn.NewClient(conn.ClientOptions{
		Options: conn.Options{Protocol: token.ProtocolID(yard.Name()), Version: wire.Version,
			Channels: wire.Channels(), Seed: sha256.Sum256(fmt.Append(nil, i, l.now))},
		Token: tok, Servers: []netip.AddrPort{l.link.addr}})
	must(l.t, err)
	l.people[i] = &liar{conn: x, link: newWireless(l.air)}
}

// peer is someone as the server knows them, or nil.
func (l *line) peer(i int) *peer {
	for _, p := range l.server.order {
		if p.conn.Client() == uint64(i) && p.state != ending {
			return p
		}
	}
	return nil
}

// say has someone say something. It is under way after that.
func (l *line) say(i int, m wire.Message) {
	must(l.t, l.people[i].conn.Conn().Send(wire.ControlChannel, m.Append(nil)))
	l.flush(i)
}

func (l *line) flush(i int) {
	p := l.people[i]
	_, _ = p.link.Send(p.conn.Flush(l.now, nil))
}

func (l *line) hello(i int) {
	l.say(i, wire.Message{Kind: wire.Hello, Version: l.server.protocol.Hash()})
}

func (l *line) ready(i int) {
	if !slices.Contains(l.turn, i) {
		l.turn = append(l.turn, i)
	}
	l.say(i, wire.Message{Kind: wire.Ready, Epoch: l.peer(i).epoch})
}

// tick lets the server have a tick and everyone else hear of it. What the tick spent on those who
// are connected is bounded, and its books are right.
func (l *line) tick() {
	l.t.Helper()
	l.now += yard.TickLength()
	batch := make([]link.Datagram, 64)
	for i, p := range l.people {
		if p == nil || p.dead {
			continue
		}
		n, _ := p.link.Receive(batch)
		p.conn.Receive(l.now, batch[:n])
		p.conn.Events()
		l.flush(i)
	}
	joined, inside := len(l.joined), len(l.inside)
	must(l.t, l.server.Tick(l.now))
	for _, p := range l.server.order {
		if id := int(p.conn.Client()); p.state == shown && !slices.Contains(l.inside, id) {
			l.inside = append(l.inside, id)
		}
	}
	slices.SortFunc(l.inside[inside:], func(a, b int) int {
		return slices.Index(l.turn, a) - slices.Index(l.turn, b)
	})
	spent := (len(l.joined)-joined)*priceHello + (len(l.inside)-inside)*priceReady
	if most := doorTick - doorKept + max(priceHello, priceReady); spent > most {
		l.t.Fatalf("a tick spent %d on those who are connected, at most %d is allowed", spent, most)
	}
	must(l.t, l.server.wrong())
}

// settle lets the line get shorter until nobody waits, and says in how many ticks.
func (l *line) settle() (ticks int) {
	l.t.Helper()
	for ticks = 1; ; ticks++ {
		l.tick()
		if d := &l.server.door; d.next == len(d.waiting) {
			return ticks
		}
		if ticks > 500 {
			l.t.Fatalf("%d still wait", len(l.server.door.waiting)-l.server.door.next)
		}
	}
}

// all are the numbers of the people, in some order.
func (l *line) all(seed uint64) []int {
	list := rand.New(rand.NewPCG(seed, 1)).Perm(len(l.people) - 1)
	for i := range list {
		list[i]++
	}
	return list
}

// loaded has everyone come in as far as the level, which is for the others to wait for.
func (l *line) loaded() {
	l.t.Helper()
	for _, i := range l.all(7) {
		l.hello(i)
	}
	l.settle()
	for i := 1; i < len(l.people); i++ {
		if p := l.peer(i); p == nil || p.state != loading {
			l.t.Fatalf("%d has not got as far as the level", i)
		}
	}
}

// TestDoorInTurn: those who come at once are let in in the order in which they came, some in each
// tick, first to their seats and then into the world. When nobody waits any more, nothing is kept.
func TestDoorInTurn(t *testing.T) {
	l := newLine(t, 90)
	for step, x := range []struct {
		say   func(int)
		order *[]int
		price int
	}{{l.hello, &l.joined, priceHello}, {l.ready, &l.inside, priceReady}} {
		waited := l.server.Stats().Waited
		order := l.all(uint64(step))
		for _, i := range order {
			x.say(i)
		}
		ticks := l.settle()
		if !slices.Equal(*x.order, order) {
			t.Errorf("they came as %v and were let in as %v", order, *x.order)
		}
		// A tick begins no step when its share is spent, so it lets one more in at most.
		least := len(order) / ((doorTick-doorKept)/x.price + 1)
		if ticks < least || l.server.Stats().Waited-waited < uint64(len(order)/2) {
			t.Errorf("%d were let in within %d ticks, and %d of them had to wait", len(order),
				ticks, l.server.Stats().Waited-waited)
		}
		if d := &l.server.door; d.next != 0 || cap(d.waiting) > 64 {
			t.Errorf("%d places are kept for nobody, the next is %d", cap(d.waiting), d.next)
		}
	}
}

// TestDoorIsFair: whoever comes while others wait does so behind them, though a tick has something
// left to spend.
func TestDoorIsFair(t *testing.T) {
	l := newLine(t, 60)
	order := l.all(3)
	for _, i := range order[:50] {
		l.hello(i)
	}
	l.tick()
	if len(l.joined) >= 50 {
		t.Fatalf("all came in at once")
	}
	for _, i := range order[50:] {
		l.hello(i)
	}
	l.settle()
	if !slices.Equal(l.joined, order) {
		t.Errorf("they came as %v and were let in as %v", order, l.joined)
	}
}

// TestDoorWhoSpeaksWhileWaiting: to say more at the door than a client does is an offence. The
// first word counts, in its turn; who goes on is thrown out, and nobody else notices.
func TestDoorWhoSpeaksWhileWaiting(t *testing.T) {
	l := newLine(t, 60)
	order := l.all(4)
	for _, i := range order {
		l.hello(i)
	}
	l.hello(order[59])
	l.settle()
	if n := l.server.Stats().Offences[BadControl]; n != 1 || !slices.Equal(l.joined, order) {
		t.Errorf("%d offences; they came as %v and were let in as %v", n, order, l.joined)
	}
	for _, i := range order {
		l.ready(i)
	}
	for range 15 {
		l.ready(order[58])
	}
	l.ready(order[59])
	l.tick()
	if p := l.peer(order[59]); p == nil || !p.entering {
		t.Fatal("one who repeated a word does not wait any more")
	}
	for range 15 {
		l.ready(order[58])
	}
	l.settle()
	if l.peer(order[58]) != nil || slices.Contains(l.inside, order[58]) {
		t.Error("one who went on talking was not thrown out")
	}
	if want := append(slices.Clone(order[:58]), order[59]); !slices.Equal(l.inside, want) {
		t.Errorf("they came as %v and were let in as %v", want, l.inside)
	}
}

// TestDoorWhoLeavesWhileWaiting: who disconnects, is replaced by a connection of their own or falls
// silent while waiting does not keep the others, costs nothing, and has no place in the world.
func TestDoorWhoLeavesWhileWaiting(t *testing.T) {
	l := newLine(t, 70)
	l.loaded()
	order := l.all(5)
	for _, i := range order {
		l.ready(i)
	}
	l.tick()
	left, again, silent := order[40], order[50], order[60]
	for _, i := range []int{left, again, silent} {
		if p := l.peer(i); p == nil || !p.entering {
			t.Fatalf("%d does not wait", i)
		}
	}
	l.people[left].conn.Conn().Close(conn.ReasonLeft, "")
	l.flush(left)
	l.people[silent].dead = true
	before := l.peer(again)
	l.connect(again)
	l.settle()
	want := slices.DeleteFunc(slices.Clone(order),
		func(i int) bool { return i == left || i == again })
	if !slices.Equal(l.inside, want) {
		t.Errorf("they came as %v and were let in as %v", want, l.inside)
	}
	if l.server.Seat(uint64(left)) != nil {
		t.Error("one who left has a seat")
	}
	l.hello(again)
	l.settle()
	if p := l.peer(again); p == nil || p == before || p.state != loading || before.sender != nil {
		t.Error("one who came back is not where they were")
	}
	l.ready(again)
	l.settle()
	if !slices.Contains(l.inside, again) {
		t.Error("one who came back is not let in")
	}
}

// TestDoorPay: a step begins while there is more than what is kept for those who connect, and what
// is spent too much is missing in the next tick.
func TestDoorPay(t *testing.T) {
	var d door
	for range 100 {
		d.open()
		if d.left > doorTick {
			t.Fatalf("a tick has %d to spend", d.left)
		}
		for d.pay(priceReady) {
		}
		if d.left > doorKept || d.left <= doorKept-priceReady {
			t.Fatalf("%d are left of what is kept for others, %d", d.left, doorKept)
		}
		d.left -= 2 * doorTick // what exchanges spent
		d.open()
		if d.pay(1) {
			t.Fatal("what was spent too much is not missed")
		}
		d.open()
	}
}

// TestDoorForgetsThoseWhoWent: what is kept of the line is what waits, however long there is always
// somebody in it.
func TestDoorForgetsThoseWhoWent(t *testing.T) {
	l := newLine(t, 40)
	l.loaded()
	for i := 1; i <= 40; i++ {
		l.ready(i)
	}
	most := 0
	for range 600 {
		l.tick()
		for i := 1; i <= 40; i++ {
			if p := l.peer(i); p.state == shown { // it begins anew, and is ready at once
				l.say(i, wire.Message{Kind: wire.Again, Epoch: p.epoch})
				l.say(i, wire.Message{Kind: wire.Ready, Epoch: p.epoch + 1})
			}
		}
		most = max(most, cap(l.server.door.waiting))
	}
	if d := &l.server.door; d.next == len(d.waiting) {
		t.Fatal("nobody waits any more, so nothing was tried")
	}
	if most > 4*40 {
		t.Errorf("there was room for %d in a line of at most 40", most)
	}
}

// TestDoorLevelChanges: where the level changes while someone waits to be let into it, they are
// ready for the next one as soon as they say so. That is no offence, and they are let in.
func TestDoorLevelChanges(t *testing.T) {
	l := newLine(t, 160)
	for i := 1; i <= 10; i++ {
		l.hello(i)
	}
	l.settle()
	for i := 11; i <= 160; i++ {
		l.hello(i)
	}
	for i := 1; i <= 10; i++ {
		l.ready(i)
	}
	l.tick()
	must(t, l.server.Change(Level{Name: "next", Seed: 9}))
	l.tick()
	for i := 1; i <= 10; i++ {
		if !l.peer(i).entering {
			t.Fatalf("%d did not wait when the level changed", i)
		}
		l.ready(i)
	}
	l.settle()
	if n := l.server.Stats().Offences[BadControl]; n > 0 {
		t.Errorf("%d offences of clients that did what they should", n)
	}
	for i := 1; i <= 10; i++ {
		if p := l.peer(i); p.state != shown {
			t.Errorf("%d is not let in", i)
		}
	}
}
