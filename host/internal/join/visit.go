//go:build !js

package join

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
)

// A visit is a title that is played on a server.
type visit struct {
	*joiner
	title   *game.Title
	session *client.Session
	calls   drive.Calls // what keys ask for
	joined  Joined

	ticket  bool          // entered with one, of which it is not known yet whether it is good
	refused bool          // it is not
	played  bool          // the player was in the game
	alone   time.Duration // since when there has been no server, or 0
}

// leaveTime is how long a server is given to hear that a player leaves.
const leaveTime = time.Second

// drive plays as time goes by, until the session ends, the context does, or after says so by
// terminal.ErrQuit; then the player leaves in good order. After is called after each frame, and
// what is asked by p.calls is done between frames: so all of it belongs to one goroutine.
func (p *visit) drive(
	ctx context.Context, command client.Command,
	after func(now time.Duration, v *client.View) error,
) error {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	leaving, left := false, false
	return drive.Loop{
		Step: p.title.Game.TickLength(), Calls: &p.calls, Grace: leaveTime,
		Tick: func(now time.Duration) error {
			v := p.session.Frame(now, command)
			if leaving {
				left = v.Ended || p.session.Client() == nil
				return nil
			}
			p.joined.read(p.session, &v)
			p.joined.sent(&v)
			p.keepTicket(p.session.Client())
			err := p.over(now, &v)
			if err == nil {
				err = after(now, &v)
			}
			if errors.Is(err, terminal.ErrQuit) {
				quit()
				return nil
			}
			return err
		},
		Stop: func(error) {
			leaving = true
			if c := p.session.Client(); c != nil {
				c.Leave()
			} else {
				p.session.Close()
			}
		},
		Done: func() bool { return left },
	}.Run(ctx)
}

// over says whether there is no more to hope for: the session has ended, the player was not let in,
// or a server that has gone does not come back.
func (p *visit) over(now time.Duration, v *client.View) error {
	switch {
	case v.Ended && errors.Is(v.Err, client.ErrOver):
		return terminal.ErrQuit
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
