package server

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// A bank asks for what its customers have, and its percent can be set.
type customer struct{ Gold, Asked int }

func (c *customer) Sync(s *bits.Sync) {
	s.Int(&c.Gold, 0, 1<<20)
	s.Int(&c.Asked, 0, 1<<10)
}

func (c *customer) Step(w *world.World, me world.ID) {
	if w.Tick()%32 == 7 {
		world.Emit(w, me, balance{Of: w.Owner(me)})
		c.Asked++
	}
	c.Gold = min(c.Gold+world.StateOf[percent](w).Each, 1<<20)
}

type percent struct{ Each int }

func (i *percent) Sync(s *bits.Sync) { s.Int(&i.Each, 0, 100) }

type balance struct{ Of world.Player }

func (b *balance) Sync(s *bits.Sync) { bits.Integer(s, &b.Of, 0, 1000) }

type deposit struct{ Gold int }

func (d *deposit) Sync(s *bits.Sync) { s.Int(&d.Gold, 0, 1000) }

var bank = &game.Title{Game: world.Define("bank", world.Class[customer](), world.Knob[percent](),
	world.Event[balance](world.EventOptions{Delivery: world.Outside}),
	world.Answer(func(w *world.World, to world.Name, d *deposit) {
		if c := world.Get[customer](w, to.By); c != nil {
			c.Gold = min(c.Gold+d.Gold, 1<<20)
		}
	}),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, customer{}), p)
	}))}

// TestTell: what a server's program tells the game comes in, clients are told of knobs and of
// nothing that is asked of the outside, and a recording repeats it.
func TestTell(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 5})
	var s *sim
	var out bytes.Buffer
	var rec *trace.Writer
	asked := 0
	s, err := newSim(n, Options{
		Title: bank,
		After: func(w *world.World, in *world.Inputs) {
			if rec == nil {
				return
			}
			must(t, rec.Tick(in, w))
		},
		Asked: func(e world.Emitted, q bits.Syncer) {
			if e.By == world.None || q.(*balance).Of == world.Nobody {
				t.Errorf("asked %+v, %+v", e, q)
			}
			asked++
			n.After(100*time.Millisecond, func() {
				must(t, s.server.Tell(func(in *world.Inputs) error {
					return world.TellAnswer(in, e.Name, deposit{Gold: 500})
				}))
			})
		}})
	must(t, err)
	defer s.close()
	rec, err = trace.NewWriter(&out, s.server.World(), trace.Options{})
	must(t, err)
	a := s.join("a", 1, netsim.Cable, client.Options{})
	n.Run(3 * time.Second)
	must(t, s.server.Tell(func(in *world.Inputs) error {
		return world.SetKnob(in, percent{Each: 3})
	}))
	n.Run(3 * time.Second)
	for says, err := range map[string]error{
		"not know": s.server.Tell(func(in *world.Inputs) error {
			return world.SetKnob(in, deposit{})
		}),
	} {
		if !errors.Is(err, world.ErrInput) {
			t.Errorf("%s: %v", says, err)
		}
	}
	must(t, rec.Close())
	r, err := trace.Open(&out)
	must(t, err)
	res, err := trace.Replay(bank.Game, r, trace.ReplayOptions{})
	must(t, err)
	if res.Mismatch != nil || res.Last < 300 || (r.Counts().Told < asked ||
		r.Counts().Told > asked+1) {
		t.Errorf("%+v, %+v, asked %d", res, r.Counts(), asked)
	}
	w := a.Show().World
	if i := world.StateOf[percent](w); asked < 5 || i.Each != 3 {
		t.Errorf("asked %d times, the client has %+v", asked, i)
	}
	for _, c := range world.All[customer](w) {
		if c.Gold < 500*(asked-1) {
			t.Errorf("%+v after %d questions", c, asked)
		}
	}
}
