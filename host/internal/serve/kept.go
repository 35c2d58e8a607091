//go:build !js

package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/storing"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A keptGame is how a server's game is kept on disk. Nil is one that is not.
type keptGame struct {
	dir    string
	keeper *keeping.Keeper
	err    error // of the first world, without which nothing begins
	all    []server.SavedSeat
	seats  []keep.Seat
}

// openKept opens the folder that the game is kept in, if there is one, and has the server go on
// with what it holds.
func openKept(o *Options) (*keptGame, error) {
	if o.Keep.Dir == "" {
		return nil, nil
	}
	o.Keep.Log = o.Log
	k, err := keeping.Open(o.Server.Title.Game, o.Keep)
	if err != nil {
		return nil, err
	}
	s := &keptGame{dir: o.Keep.Dir, keeper: k}
	if len(o.Server.Keys) == 0 {
		key, err := k.Key()
		if err != nil {
			return nil, errors.Join(err, s.close(nil))
		}
		o.Open = true // as it would be without the folder
		o.Server.Keys = []token.Key{key}
	}
	o.Server.Conn.Used, o.Server.Conn.Wall = k.Used(), k.Wall()
	if found := k.Kept(); found != nil {
		o.Server.Resume = saved(found)
	}
	return s, nil
}

// openClerk opens the store of what outlives the match, if anything of the game does.
func openClerk(o *Options, k *keptGame) (*storing.Clerk, error) {
	so := storing.Options{Store: o.Store, Owner: "server of " + o.Server.Title.Name(), Log: o.Log}
	if k != nil {
		so.Durable, so.Hurry = k.keeper.DurableTick, k.keeper.Hurry
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	return storing.New(ctx, o.Server.Title.Game, so)
}

// storeTime is how long a store may take to be opened.
const storeTime = 30 * time.Second

// saved is a game that was kept as a server takes it.
func saved(k *keep.Kept) *server.Saved {
	out := &server.Saved{Level: k.Level, World: k.World.Host().Save(nil)}
	for _, x := range k.Seats {
		out.Seats = append(out.Seats, server.SavedSeat{
			Client: x.Client, Player: x.Player, Name: x.Name, UserData: x.UserData,
			Inside: x.Inside,
		})
	}
	return out
}

// list is who sits where. A server that is being made has nobody yet but those who were kept.
func (k *keptGame) list(s *server.Server) []keep.Seat {
	k.seats = k.seats[:0]
	if s == nil {
		if found := k.keeper.Kept(); found != nil {
			k.seats = append(k.seats, found.Seats...)
		}
		return k.seats
	}
	k.all = s.AppendSeats(k.all[:0])
	for _, x := range k.all {
		k.seats = append(k.seats, keep.Seat{
			Client: x.Client, Player: x.Player, Name: x.Name, UserData: x.UserData,
			Inside: x.Inside,
		})
	}
	return k.seats
}

// begin is told each world before its first tick.
func (k *keptGame) begin(s *server.Server, w *world.World, l server.Level) {
	if k == nil {
		return
	}
	if err := k.keeper.Begin(w, l, k.list(s)); err != nil {
		k.err = fmt.Errorf("the game cannot be kept: %w", err)
	}
}

// begun says whether the first world is safe.
func (k *keptGame) begun() error {
	if k == nil {
		return nil
	}
	return k.err
}

// tick is told each tick.
func (k *keptGame) tick(s *server.Server, w *world.World, in *world.Inputs) {
	if k != nil {
		k.keeper.Tick(w, in, k.list(s))
	}
}

// took is told how long the world took to compute.
func (k *keptGame) took(step time.Duration) {
	if k != nil {
		k.keeper.Took(step)
	}
}

// close ends it. The server is one that has ended, whose world is as its last tick left it.
func (k *keptGame) close(s *server.Server) error {
	if k == nil {
		return nil
	}
	if s == nil || s.Failed() != nil {
		return k.keeper.Close(nil)
	}
	return k.keeper.Close(s.World())
}
