package main

import (
	"errors"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

// Trader is a player. What it has outlives the match.
type Trader struct {
	kept.Mark `world:"server"`
	Gold      int
	Apples    int
	Ready     bool // what is kept of it has come
}

// Sync names the fields.
func (t *Trader) Sync(s *bits.Sync) {
	s.Int(&t.Gold, 0, 1_000_000)
	s.Int(&t.Apples, 0, 1000)
	s.Bool(&t.Ready)
}

// Kept says what is kept: the gold and the apples, of the player's account.
func (t *Trader) Kept(k *kept.Fields) {
	k.Account()
	k.Keep(&t.Gold, &t.Apples)
}

// Step asks for a trade if the player wants more apples. It is pending until it is durable.
func (t *Trader) Step(w *world.World, me world.ID) {
	t.Ready = t.Ready || t.Loaded()
	if t.Apples >= world.Command[Order](w, me).Apples {
		return
	}
	for seller, other := range world.All[Trader](w) {
		if seller != me && other.Apples > 0 {
			_ = kept.Ask(w, Sale{Price: 2}, seller, me) // not yet, if something is pending
			return
		}
	}
}

// Order is what a player intends: to have so many apples. An order to buy one more would be
// carried out twice when a player, who sees the world a moment late, gave it again.
type Order struct{ Apples int }

// Sync names the fields.
func (o *Order) Sync(s *bits.Sync) { s.Int(&o.Apples, 0, 1000) }

// Sale is a request: an apple changes hands.
type Sale struct{ Price int }

// Sync names the fields.
func (q *Sale) Sync(s *bits.Sync) { s.Int(&q.Price, 0, 100) }

// Sold says that it was done, or why not.
type Sold struct{ Why string }

// Sync names the fields.
func (a *Sold) Sync(s *bits.Sync) { s.String(&a.Why, 60) }

// sell is executed in the store: both traders change in one transaction, or none.
func sell(d *kept.Deal, q *Sale) (Sold, error) {
	seller, buyer := kept.Party[Trader](d, 0), kept.Party[Trader](d, 1)
	if seller.Apples == 0 || buyer.Gold < q.Price {
		return Sold{}, errors.New("no apples, or no gold")
	}
	seller.Apples, buyer.Apples = seller.Apples-1, buyer.Apples+1
	seller.Gold, buyer.Gold = seller.Gold+q.Price, buyer.Gold-q.Price
	return Sold{}, nil
}

// told tells everyone of it, once it is durable.
func told(w *world.World, _ *Sale, a *Sold, refused error) {
	if refused != nil {
		a.Why = refused.Error()
	}
	world.Emit(w, world.None, *a)
}

var rules = world.Define("market", world.Class[Trader](), world.Commands[Order](),
	world.Event[Sold](world.EventOptions{Delivery: world.Everyone}),
	kept.Declare(kept.Request(sell, told)),
	world.OnJoin(func(w *world.World, p world.Player) {
		id := world.Spawn(w, Trader{Gold: 10, Apples: 5})
		w.SetOwner(id, p)
		_ = kept.Load(w, id) // it is a trader, and has an owner
	}))

// buyer is a bot that buys until it has so many apples, once what it has kept has come.
func buyer(apples int) game.Bot {
	return func(w *world.World, me world.Player, _ world.Tick, in *world.Inputs) error {
		if _, mine := world.Owned[Trader](w, me); mine == nil || !mine.Ready {
			return world.Give(in, me, Order{})
		}
		return world.Give(in, me, Order{Apples: apples})
	}
}

var title = &game.Title{Game: rules, About: "apples for gold, which outlive the match"}
