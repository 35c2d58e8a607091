package session_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A lane is a link that leads to one server, as a browser has it.
type lane struct {
	*netsim.Endpoint
	to netip.AddrPort
}

func (l *lane) Send(batch []link.Datagram) (int, error) {
	for i := range batch {
		if batch[i].Addr != l.to {
			return i, link.ErrAddr
		}
	}
	return l.Endpoint.Send(batch)
}

// A league is three mirrors, with players by sessions.
type league struct {
	net     *netsim.Net
	key     token.Key
	mirrors []*mirror.Mirror
	hulls   []*netsim.Endpoint
	docks   []*netsim.Endpoint
	dead    []bool
	lanes   int
	err     error
}

func newLeague(n *netsim.Net, between netsim.Conditions) (*league, error) {
	l := &league{net: n, key: token.Key(seedOf(n.Seed(), 9))}
	for i := range 3 {
		l.hulls, l.docks = append(l.hulls, n.Endpoint(fmt.Sprintf("m%d", i))),
			append(l.docks, n.Endpoint(fmt.Sprintf("s%d", i)))
		for j := range i {
			n.Connect(l.hulls[i], l.hulls[j], between)
		}
	}
	for i := range 3 {
		o := mirror.Options{
			Server: server.Options{
				Title: shown, Level: server.Level{Name: "duel", Seed: 3}, Links: []link.Link{
					l.docks[i]}, Workers: 1,
				Conn: conn.Options{Seed: seedOf(n.Seed(), byte(20+i)), Wall: wall},
			},
			Link: l.hulls[i], Address: l.hulls[i].PublicAddr(), Public: l.docks[i].PublicAddr(),
			Name: fmt.Sprint(i), Keys: []token.Key{l.key}, Wall: wall,
			Step: 50 * time.Microsecond, Copy: 5 * time.Microsecond, // so that it repeats
			Seed:  seedOf(n.Seed(), byte(30+i)),
			Found: i == 0, Timeline: "trailing", // with its own delays
		}
		for j := range 3 {
			if j != i {
				o.Ask = append(o.Ask, l.hulls[j].PublicAddr())
			}
		}
		m, err := mirror.New(o)
		if err != nil {
			return nil, err
		}
		l.mirrors, l.dead = append(l.mirrors, m), append(l.dead, false)
		l.hulls[i].Every(4*time.Millisecond, func() {
			if l.dead[i] {
				return
			}
			if err := m.Poll(n.Now()); err != nil {
				l.fail("mirror %d: %v", i, err)
			}
		})
	}
	return l, nil
}

func (l *league) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("seed %d at %v: %s", l.net.Seed(), l.net.Now(),
			fmt.Sprintf(format, args...))
	}
}

// lane makes a link to one of the mirrors.
func (l *league) lane(to netip.AddrPort) *lane {
	l.lanes++
	e := l.net.Endpoint(fmt.Sprintf("c%d", l.lanes))
	for _, d := range l.docks {
		l.net.Connect(e, d, netsim.Cable)
	}
	return &lane{e, to}
}

// A mate is a bot that plays by a session.
type mate struct {
	*session.Session
	view   session.View
	undone map[string]int
}

func (l *league) join(at int) *mate {
	x := &mate{undone: map[string]int{}}
	x.Session = session.New(session.Options{Name: fmt.Sprint("mate ", at),
		Conn: conn.Options{Seed: seedOf(l.net.Seed(), byte(40+at)), Wall: wall},
		Join: func(context.Context) (session.Entry, error) { panic("it has its way in") }})
	to := l.docks[at].PublicAddr()
	t, err := token.Issue(l.key,
		token.Grant{
			Protocol: token.ProtocolID("arena"), Client: uint64(at + 1), Expires: wall + 3600},
		still(at))
	if err != nil {
		l.fail("%v", err)
	}
	x.Enter(session.Entry{Link: l.lane(to), Token: t, Servers: []netip.AddrPort{to},
		Dial: func(p wire.Server) (link.Link, error) { return l.lane(p.Addr), nil }})
	brain := arena.NewBotOf(uint64(at), 1)
	// a machine that lives on when the mirror beside it dies
	l.docks[at].Every(arena.Game.TickLength(), func() {
		x.Frame(l.net.Now(), func(*arena.Fighter) arena.Command {
			if x.view.World == nil {
				return arena.Command{}
			}
			c := brain.Think(x.view.World, x.view.Me)
			if c.Verb == arena.Name {
				c.Verb, c.Text = arena.Nothing, ""
			}
			return c
		})
		x.view = x.View()
		for _, u := range x.view.Undone {
			x.undone[fmt.Sprintf("%T", u.Event)]++
		}
	})
	return x
}

// TestMirrors plays on three mirrors by links that lead to one each. Something that was shown is
// taken back and told; when a mirror dies its player goes on at another.
func TestMirrors(t *testing.T) {
	simtest.Run(t, 2, func(n *netsim.Net) error {
		l, err := newLeague(n, netsim.Transatlantic)
		if err != nil {
			return err
		}
		defer func() {
			for _, m := range l.mirrors {
				_ = m.Close()
			}
		}()
		serving := func() bool {
			for _, m := range l.mirrors {
				if m.Phase() != mirror.Serving {
					return false
				}
			}
			return true
		}
		if !n.RunUntil(20*time.Second, serving) {
			l.fail("they never serve")
			return l.err
		}
		var mates []*mate
		for i := range 3 {
			mates = append(mates, l.join(i))
		}
		plays := func() bool {
			for _, x := range mates {
				if !x.Playing() || x.view.Status != "" || x.Moving() {
					return false
				}
			}
			return true
		}
		if !n.RunUntil(20*time.Second, plays) {
			l.fail("not everyone plays")
			return l.err
		}
		undone := func() (sum int) {
			for _, x := range mates {
				for _, k := range x.undone {
					sum += k
				}
			}
			return sum
		}
		if !n.RunUntil(3*time.Minute, func() bool { return l.err != nil || undone() > 2 }) {
			l.fail("nothing was taken back")
		}
		told := uint64(0)
		for _, x := range mates {
			told += x.Numbers().Retracted
		}
		if told != uint64(undone()) {
			l.fail("%d events were taken back, and %d told", told, undone())
		}
		who, from := mates[1].view.Me, n.Now()
		l.dead[1] = true
		l.hulls[1].Restart(time.Hour)
		again := func() bool { return l.err != nil || mates[1].Numbers().Moves == 1 && plays() }
		if !n.RunUntil(10*time.Second, again) {
			l.fail("the player of a dead mirror does not go on: %q", mates[1].view.Status)
			return l.err
		}
		if at := mates[1].Server(); mates[1].view.Me != who || at != l.docks[0].PublicAddr() &&
			at != l.docks[2].PublicAddr() {
			l.fail("player %d went on as %d at %v", who, mates[1].view.Me, at)
		}
		if n := mates[1].Numbers().Worlds; n != 1 {
			l.fail("saw %d worlds, where one should have gone on", n)
		}
		t.Logf("seed %d: taken back %v %v %v; plays again after %v", n.Seed(), mates[0].undone,
			mates[1].undone, mates[2].undone, n.Now()-from)
		return l.err
	})
}
