package kept_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// The market: traders find coins, and sell each other wares. Coins and wares are kept.

type trader struct {
	kept.Mark `world:"server"`
	Gold      int
	Wares     [4]uint8
	Motto     string
	Bought    int
	Found     int // in this match alone
}

func (t *trader) Sync(s *bits.Sync) {
	s.Int(&t.Gold, 0, 1_000_000)
	for i := range t.Wares {
		s.Uint8(&t.Wares[i], 0, 255)
	}
	s.String(&t.Motto, 16)
	s.Int(&t.Bought, 0, 1_000_000)
	s.Int(&t.Found, 0, 1_000_000)
}

func (t *trader) Kept(k *kept.Fields) {
	k.Account()
	k.Keep(&t.Gold, &t.Wares, &t.Motto, &t.Bought)
}

func (t *trader) Step(w *world.World, me world.ID) {
	c := world.Command[order](w, me)
	if !t.Loaded() {
		return
	}
	if c.Dig && !kept.Pending(w, me) {
		t.Gold, t.Found = t.Gold+1, t.Found+1
	}
	if c.Buy == 0 {
		return
	}
	seller, _ := world.Owned[trader](w, world.Player(c.Buy))
	if seller != world.None && seller != me {
		_ = kept.Ask(w, trade{Buyer: uint16(w.Owner(me)), Ware: c.Ware, Price: c.Price}, seller, me)
	}
}

type order struct {
	Dig   bool
	Buy   uint16 `world:"edge"`
	Ware  uint8  `world:"edge"`
	Price int    `world:"edge"`
}

func (c *order) Sync(s *bits.Sync) {
	s.Bool(&c.Dig)
	s.Uint16(&c.Buy, 0, 1<<16-1)
	s.Uint8(&c.Ware, 0, 3)
	s.Int(&c.Price, 0, 1000)
}

type trade struct {
	Buyer uint16
	Ware  uint8
	Price int
}

func (t *trade) Sync(s *bits.Sync) {
	s.Uint16(&t.Buyer, 0, 1<<16-1)
	s.Uint8(&t.Ware, 0, 3)
	s.Int(&t.Price, 0, 1000)
}

type traded struct{ Left int }

func (t *traded) Sync(s *bits.Sync) { s.Int(&t.Left, 0, 1_000_000) }

// lastTrade is the one that was executed last, for tests in which one is at a time.
var lastTrade struct{ buyer int }

func execute(d *kept.Deal, q *trade) (traded, error) {
	lastTrade.buyer = int(q.Buyer)
	seller, buyer := kept.Party[trader](d, 0), kept.Party[trader](d, 1)
	switch {
	case buyer.Gold < q.Price:
		return traded{}, errors.New("not enough gold")
	case seller.Wares[q.Ware] == 0:
		return traded{}, errors.New("sold out")
	}
	buyer.Gold, seller.Gold = buyer.Gold-q.Price, seller.Gold+q.Price
	seller.Wares[q.Ware]--
	buyer.Wares[q.Ware]++
	buyer.Bought++
	return traded{Left: buyer.Gold}, nil
}

type sold struct {
	Price int
	Why   string
}

func (s *sold) Sync(b *bits.Sync) {
	b.Int(&s.Price, 0, 1000)
	b.String(&s.Why, 64)
}

func settled(w *world.World, q *trade, a *traded, refused error) {
	e := sold{Price: q.Price}
	if refused != nil {
		e.Why = refused.Error()
	}
	world.Emit(w, world.None, e)
}

var market = world.Define("market", world.Rate(10), world.Class[trader](), world.Commands[order](),
	world.Event[sold](world.EventOptions{Delivery: world.Everyone}),
	kept.Declare(kept.Request(execute, settled)),
	world.OnJoin(func(w *world.World, p world.Player) {
		id := world.Spawn(w, trader{Gold: 10, Wares: [4]uint8{3, 3, 3, 3}})
		w.SetOwner(id, p)
		if err := kept.Load(w, id); err != nil {
			panic(err)
		}
	}))

// A stall is a world with its desk, which are driven by hand.
type stall struct {
	t     testing.TB
	w     *world.World
	in    *world.Inputs
	desk  *kept.Desk
	store kept.Store
}

func open(t testing.TB, s kept.Store, o kept.Options) *stall {
	t.Helper()
	w, err := market.New(world.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return reopen(t, s, o, w)
}

func reopen(t testing.TB, s kept.Store, o kept.Options, w *world.World) *stall {
	t.Helper()
	d, err := kept.NewDesk(market, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	return &stall{t, w, market.NewInputs(), d, s}
}

// step computes a tick, and does all that the store has to do.
func (x *stall) step(fill func(in *world.Inputs)) {
	x.t.Helper()
	x.in.Reset()
	if err := x.desk.Tell(x.in); err != nil {
		x.t.Fatal(err)
	}
	if fill != nil {
		fill(x.in)
	}
	if err := x.w.Host().Step(x.in); err != nil {
		x.t.Fatal(err)
	}
	x.desk.Tick(x.w)
	x.desk.Meet(x.w, func(yield func(world.Player, string) bool) {
		for p := range x.w.Players {
			if !yield(p, fmt.Sprintf("account %d", p)) {
				return
			}
		}
	})
	if err := x.desk.Work(context.Background(), x.store); err != nil {
		x.t.Fatal(err)
	}
}

func (x *stall) give(p world.Player, o order) {
	x.step(func(in *world.Inputs) {
		if err := world.Give(in, p, o); err != nil {
			x.t.Fatal(err)
		}
	})
}

func (x *stall) trader(p world.Player) *trader {
	_, t := world.Owned[trader](x.w, p)
	if t == nil {
		x.t.Fatalf("player %d has no trader", p)
	}
	return t
}

// join has players come and be loaded.
func (x *stall) join(players ...world.Player) {
	x.t.Helper()
	x.step(func(in *world.Inputs) {
		for _, p := range players {
			in.Join(p)
		}
	})
	for range 10 {
		x.step(nil)
	}
	for _, p := range players {
		if !x.trader(p).Loaded() {
			x.t.Fatalf("player %d is not loaded", p)
		}
	}
}

type nobodys struct {
	kept.Mark `world:"server"`
	Gold      int
}

func (n *nobodys) Sync(s *bits.Sync)   { s.Int(&n.Gold, 0, 9) }
func (n *nobodys) Kept(k *kept.Fields) { k.Keep(&n.Gold) }

type unmarked struct{ Gold int }

func (n *unmarked) Sync(s *bits.Sync) { s.Int(&n.Gold, 0, 9) }
func (n *unmarked) Kept(k *kept.Fields) {
	k.Account()
	k.All()
}
