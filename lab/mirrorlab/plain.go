package mirrorlab

import (
	"context"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// playPlain lets as many players play on one plain server: what clients have to correct there comes
// of the game, not of mirrors. With far all are as far from it as they are from a mirror that is
// not their own.
func playPlain(ctx context.Context, o *Options, far bool, p lab.Progress) (*Kept, time.Duration,
	error) {
	s := newPlayers(ctx, o, o.Seed)
	defer s.Close()
	seats := o.Mirrors * o.Players
	so := s.options(seats, 1)
	var spent time.Duration
	timed := func(sign time.Duration, do func()) {
		began := o.cpu()
		do()
		if s.On {
			spent += sign * (o.cpu() - began)
		}
	}
	so.After = func(w *world.World, _ *world.Inputs) {
		timed(-1, func() { s.Witness(w, func(*session.Guest) bool { return true }) })
	}
	s.Serve(so)
	s.Timed = func(do func()) { timed(1, do) }
	s.Drive()
	way, what := o.Near, "one server nearby"
	if far {
		way, what = behind(o.Near, o.Between), "one server far away"
	}
	for range seats {
		s.invite(0, s.End.PublicAddr(),
			func(e *netsim.Endpoint) { s.Net.Connect(e, s.End, way) })
	}
	if err := s.Until(joinTime, "all play", s.allPlay); err != nil {
		return nil, 0, err
	}
	if err := s.Play(o.Warm, o.Time, s.begin, p, what); err != nil {
		return nil, 0, err
	}
	k := s.sum()
	return &k, spent, nil
}

const joinTime = 15 * time.Second

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
