//go:build !js

package serve

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// An ending is how a server comes to its end: by its context, as a signal does, or by an operator.
// From then on /readyz says so, newcomers are sent elsewhere, and players have a while to go on at
// other servers, where there are any, or to come to an end. Then all are told, and it stops.
type ending struct {
	drain time.Duration
	to    []netip.AddrPort
	asked chan wish
	begun atomic.Bool
}

// A wish is an operator's, for the end.
type wish struct {
	drain time.Duration // below zero: as the program was started
	why   string
}

// stop asks for the end, once.
func (e *ending) stop(drain time.Duration, why string) error {
	select {
	case e.asked <- wish{drain, why}:
		return nil
	default:
		return errors.New("it is stopping already")
	}
}

// watch waits for the end to be asked for, and ends what is played once players had their time.
// From then on no program is given the place any more.
func (s *Server) watch(
	ctx, play context.Context, end context.CancelCauseFunc, quiet context.CancelFunc,
) {
	w := wish{drain: -1}
	select {
	case <-play.Done(): // it has ended by itself
		return
	case <-ctx.Done():
	case w = <-s.ending.asked:
	}
	s.ending.begun.Store(true)
	quiet()
	s.meters.SetReady(false)
	tellSupervisor("STOPPING=1")
	if w.drain < 0 {
		w.drain = s.ending.drain
	}
	if w.drain > 0 {
		s.empty(play, w)
	}
	cause := context.Cause(ctx)
	if w.why != "" {
		cause = errors.New(w.why)
	}
	end(cause)
}

// lookAgain is how often it is looked whether all are gone.
const lookAgain = 50 * time.Millisecond

// empty sends everyone elsewhere, or tells them that the end is near, and waits until all are gone
// or the time is over.
func (s *Server) empty(play context.Context, w wish) {
	began := time.Now()
	left := func() (n int, err error) {
		p, err := Ask(play, s.server.Do, s.server.Population)
		return p.Players + p.Spectators, err
	}
	here, err := left()
	if err != nil || here == 0 {
		return
	}
	s.log.Info("draining", "people", here, "limit", w.drain.String(), "to", fmt.Sprint(s.ending.to))
	_ = s.server.Do(play, func() {
		s.server.Drain(s.ending.to...)
		if len(s.ending.to) == 0 {
			text := fmt.Sprintf("the server closes in %v", w.drain)
			if w.why != "" {
				text += ": " + w.why
			}
			s.server.Notice(text)
		}
	}) // that it has ended is found out next
	over := time.NewTimer(w.drain)
	defer over.Stop()
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for err == nil && here > 0 {
		select {
		case <-over.C:
			err = errors.New("the time is over")
		case <-look.C:
			here, err = left()
		}
	}
	s.log.Info("drained", "left", here, "took", time.Since(began).Round(time.Millisecond).String())
}

// administered is the server as operators see it.
func (s *Server) administered() admin.Game {
	g := admin.Game{
		Title: s.title, Do: s.server.Do, Server: func() *server.Server { return s.server },
		Status: func() any {
			st := StatusOf(s.server)
			st.Game, st.Open = s.title.Name(), s.open
			return st
		},
		Metrics: s.meters.Text, Stop: s.ending.stop,
		Unready: func(on bool) { s.meters.SetReady(!on && !s.ending.begun.Load()) },
	}
	if s.keep != nil {
		g.Save = s.save
	}
	return g
}

// save writes the whole game now, and waits until it is safe.
func (s *Server) save(ctx context.Context) (world.Tick, error) {
	k := s.keep.keeper
	return k.SaveAll(ctx, func(ctx context.Context) (t world.Tick, ok bool, err error) {
		err = s.server.Do(ctx, func() {
			w := s.server.World()
			t, ok = w.Tick(), k.Save(w, s.keep.list(s.server))
		})
		return t, ok, err
	})
}
