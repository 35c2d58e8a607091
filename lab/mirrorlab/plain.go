package mirrorlab

import (
	"context"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// playPlain lets as many players play on one plain server: what clients have to correct there comes of the game, not of mirrors. With far all are as far from it as
// they are from a mirror that is not their own.
func playPlain(ctx context.Context, o *Options, far bool, tell func(what string, done float64)) (*Kept, error) {
	s := newStage(o, o.Seed)
	defer s.leave()
	players := o.Mirrors * o.Players
	end := s.net.Endpoint("server")
	end.SetInbox(1 << 16)
	so := s.server(players, s.seed(1))
	so.Links, so.Keys = []link.Link{end}, []token.Key{s.key}
	so.After = func(w *world.World, _ *world.Inputs) { s.witness(w, func(*guest) bool { return true }) }
	srv, err := server.New(so)
	if err != nil {
		return nil, err
	}
	defer srv.Close()
	turn := 0
	end.Every(s.g.Game.TickLength()/pollsATick, func() {
		if turn++; turn%pollsATick == 0 {
			s.fail(srv.Tick(s.net.Now()))
		} else {
			s.fail(srv.Receive(s.net.Now()))
		}
	})
	way, what := o.Near, "one server nearby"
	if far {
		way, what = behind(o.Near, o.Between), "one server far away"
	}
	for range players {
		if _, err := s.invite(0, end.PublicAddr(), func(e *netsim.Endpoint) { s.net.Connect(e, end, way) }); err != nil {
			return nil, err
		}
	}
	if err := s.until(ctx, joinTime, "all play", s.allPlay); err != nil {
		return nil, err
	}
	all := float64(o.Warm + o.Time)
	if err := s.pass(ctx, o.Warm, func(d float64) { tell(what, d*float64(o.Warm)/all) }); err != nil {
		return nil, err
	}
	s.begin()
	if err := s.pass(ctx, o.Time, func(d float64) { tell(what, (float64(o.Warm)+d*float64(o.Time))/all) }); err != nil {
		return nil, err
	}
	k := s.sum()
	return &k, nil
}

const (
	pollsATick = 4
	joinTime   = 15 * time.Second
)

// behind is the way over one network to another: its first mile, and then the rest.
func behind(near, between netsim.Conditions) netsim.Conditions {
	join := func(a, b netsim.Profile) netsim.Profile {
		a.Latency += b.Latency
		a.Loss = 1 - (1-a.Loss)*(1-b.Loss)
		if b.Jitter.Shape == a.Jitter.Shape {
			a.Jitter.Amount += b.Jitter.Amount
		} else {
			a.Jitter = b.Jitter
		}
		return a
	}
	return netsim.Conditions{Up: join(near.Up, between.Up), Down: join(near.Down, between.Down)}
}
