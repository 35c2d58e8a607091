//go:build !js

package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/client"
)

// A visit is a title that is played on a server.
type visit struct {
	*joiner
	title   *game.Title
	session *client.Session
	joined  Joined

	ticket  bool          // entered with one, of which it is not known yet whether it is good
	refused bool          // it is not
	played  bool          // the player was in the game
	alone   time.Duration // since when there has been no server, or 0
}

// leaveTime is how long a server is given to hear that a player leaves.
const leaveTime = time.Second

// drive plays as time goes by, until the session ends, the context does, or after says so by
// errQuit; then the player leaves in good order. What is asked is done between frames, and after is
// called after each: so all of it belongs to one goroutine.
func (p *visit) drive(
	ctx context.Context, command client.Command, ask <-chan func(),
	after func(now time.Duration, v *client.View) error,
) error {
	begin := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	step, next := p.title.Game.TickLength(), time.Duration(0)
	done, leaves := ctx.Done(), time.Duration(0) // by when the player has left
	leave := func() {
		done, leaves = nil, time.Since(begin)+leaveTime
		if c := p.session.Client(); c != nil {
			c.Leave()
		} else {
			p.session.Close()
		}
	}
	for {
		select {
		case <-done:
			leave()
			continue
		case f := <-ask:
			f()
			continue
		case <-timer.C:
		}
		now := time.Since(begin)
		v := p.session.Frame(now, command)
		if leaves > 0 {
			if v.Ended || now > leaves || p.session.Client() == nil {
				return nil
			}
			timer.Reset(step)
			continue
		}
		p.joined.read(p.session, &v)
		p.keepTicket(p.session.Client())
		err := p.over(now, &v)
		if err == nil {
			err = after(now, &v)
		}
		switch {
		case errors.Is(err, errQuit):
			leave()
		case err != nil:
			return err
		}
		// A machine that slept, or cannot keep up, does not hurry after what it missed.
		const stall = time.Second / 4
		if next += step; time.Since(begin)-next > stall {
			next = time.Since(begin)
		}
		timer.Reset(max(next-time.Since(begin), 0))
	}
}

// over says whether there is no more to hope for: the session has ended, the player was not let in,
// or a server that has gone does not come back.
func (p *visit) over(now time.Duration, v *client.View) error {
	switch {
	case v.Ended && errors.Is(v.Err, client.ErrOver):
		return errQuit
	case v.Ended:
		return v.Err
	case p.session.Client() != nil:
		p.alone, p.ticket = 0, p.ticket && !p.refused
		if v.Began && p.played {
			p.joined.Servers++
		}
		p.played = p.played || v.World != nil
		return nil
	}
	lost := p.session.Lost()
	switch {
	case lost == nil: // it is being asked for the first time
	case p.ticket: // which may be of no use any more; a new token is tried next
		p.refused = true
	case !p.played:
		return lost
	case p.alone == 0:
		p.alone = now
	case now-p.alone > p.Patience:
		return fmt.Errorf("%w; the server did not come back within %v", lost, p.Patience)
	}
	return nil
}
