package mirror

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A bomb makes its game panic at a tick.
type bomb struct{ At int }

func (b *bomb) Sync(s *bits.Sync) { s.Int(&b.At, 0, 1000) }

func (b *bomb) Step(w *world.World, _ world.ID) {
	if w.Tick() == world.Tick(b.At) {
		panic("the bomb went off")
	}
}

type push struct{ On bool }

func (p *push) Sync(s *bits.Sync) { s.Bool(&p.On) }

var bombs = &game.Title{
	Game: world.Define("bombs", world.Class[bomb](), world.Commands[push](),
		world.OnStart(func(w *world.World) {
			world.Spawn(w, bomb{At: 300})
		}))}

// TestPanicEndsTheMirror: each of them says where, and does nothing more.
func TestPanicEndsTheMirror(t *testing.T) {
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			simtest.Alone(t, 1, func(n *netsim.Net) error {
				o := Options{Timeline: kind, Delays: kindDelays[kind]}
				o.Server.Title = bombs
				f := newFleet(n, o)
				defer f.close()
				f.launch("a", road)
				f.launch("b", road)
				guest := f.guest(1, f.machines[0])
				n.Run(10 * time.Second)
				var told *client.EndError
				if !errors.As(*guest, &told) || !strings.Contains(told.Note, "failed") {
					f.fail("a client was told %v", *guest)
				}
				for _, s := range f.machines {
					var p *world.Panic
					if !errors.As(s.ended, &p) || p.Tick != 300 || p.Class != "bomb" ||
						s.mirror.Phase() != Out {
						f.fail("%s is %v: %v", s.name, s.mirror.Phase(), s.ended)
					} else if err := s.mirror.Poll(n.Now() + time.Second); !errors.As(err, &p) {
						f.fail("%s goes on with %v", s.name, err)
					}
				}
				return f.err
			})
		})
	}
}

// guest makes a client that watches, and gives what it ends with.
func (f *fleet) guest(id uint64, at *machine) *error {
	end := f.net.Endpoint("guest")
	f.net.Connect(end, at.public, near)
	t, err := token.Issue(f.key,
		token.Grant{
			Protocol: token.ProtocolID(bombs.Name()), Client: id, Expires: wall + 3600,
			Servers: []netip.AddrPort{at.public.PublicAddr()}}, &countingBytes{
			s: f.seed(3, int(id))})
	if err != nil {
		f.fail("%v", err)
	}
	o := client.Options{Title: bombs, Link: end, Token: t, Spectate: true, Return: -1}
	o.Conn.Seed, o.Conn.Wall = f.seed(4, int(id)), wall
	c, err := client.New(o)
	if err != nil {
		f.fail("%v", err)
	}
	ended := new(error)
	end.Every(bombs.Game.TickLength(), func() {
		if *ended == nil {
			*ended = c.Frame(f.net.Now(), nil).Err
		}
	})
	return ended
}

// TestWhoGoesToWatchStays: someone who gives their player up stays where they are, and may play
// again, at the überserver as at any other mirror.
func TestWhoGoesToWatchStays(t *testing.T) {
	simtest.Alone(t, 2, func(n *netsim.Net) error {
		f := fleetOf(n, 2, 1, road, Options{})
		defer f.close()
		for _, b := range f.bots {
			b.SetSpectating(true)
		}
		n.Run(8 * time.Second)
		for i, b := range f.bots {
			if b.ended != nil || b.Player() != world.Nobody ||
				f.machines[i].mirror.Server().Population().Spectators != 1 {
				f.fail("client %d is player %d, %v: %v", b.id, b.Player(), b.Phase(), b.ended)
			}
			b.SetSpectating(false)
		}
		n.Run(3 * time.Second)
		for _, b := range f.bots {
			if b.ended != nil || !b.plays() {
				f.fail("client %d is player %d, %v: %v", b.id, b.Player(), b.Phase(), b.ended)
			}
		}
		return f.err
	})
}
