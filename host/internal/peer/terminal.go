//go:build !js

package peer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// How often the terminal is shown a frame, and for how long it says news.
const (
	frameTime = 25 * time.Millisecond
	newsTime  = 4 * time.Second
)

// show plays in a terminal until the player has had enough, or the match is over.
func (s *session) show(ctx context.Context, stop context.CancelCauseFunc) error {
	if err := s.lobby(ctx); err != nil {
		return err
	}
	x, err := terminal.Open(s.Title, s.In, s.Out)
	if err != nil {
		return err
	}
	defer x.Close()
	_ = s.match.Do(ctx, func() { // when it has ended there is nothing to play
		s.play = func(me world.Player, in *world.Inputs) {
			if err := x.Command(me, in); err != nil {
				stop(err)
			}
		}
	})
	go x.Listen(func(k terminal.Key) { _ = s.match.Do(ctx, func() { s.press(k) }) }, stop)
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	var words lately
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var v view
		if s.match.Do(ctx, func() { v = s.look() }) != nil {
			return nil
		}
		words.hear(s.heard())
		status := func() terminal.Status { return v.status(&words) }
		if err := x.Show(v.frame(), status); err != nil {
			return err
		}
	}
}

// lobby says how to join, and waits until the match begins. Who begins alone is given the time to
// send the invitation.
func (s *session) lobby(ctx context.Context) error {
	s.invite()
	if s.Match == nil {
		fmt.Fprintln(s.Lines, "looking for the match")
	} else if s.Match.Start <= 1 {
		fmt.Fprintln(s.Lines, "press Enter to begin; others can come at any time")
		enter := make(chan struct{})
		go func() {
			defer close(enter)
			for b := []byte{0}; b[0] != '\n'; { // what comes after it is for the game
				if n, err := s.In.Read(b); n == 0 || err != nil {
					return
				}
			}
		}()
		select {
		case <-enter:
		case <-ctx.Done():
			return nil
		}
	} else {
		fmt.Fprintf(s.Lines, "the match begins when %d are there\n", s.Match.Start)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		begun := false
		if s.match.Do(ctx, func() {
			w := s.match.World()
			begun = w != nil && (w.Tick() > 0 || s.Match == nil || s.Match.Start <= 1)
		}) != nil || begun {
			return nil
		}
		for _, n := range s.heard() {
			fmt.Fprintln(s.Lines, n)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// press does what a key says. It is called by the goroutine that drives.
func (s *session) press(k terminal.Key) {
	style := s.match.Style()
	switch k {
	case terminal.Switch:
		style = Switched(style, s.Style)
	case terminal.Faster:
		style.Delay = min(s.match.Delay()+1, peers.MaxDelay)
	case terminal.Slower:
		style.Delay = max(s.match.Delay()-1, 0)
	default:
		return
	}
	_ = s.match.SetStyle(style) // it is within the bounds
}

// Switched is the other of lock step and rollback; usual is what the player began with.
func Switched(now, usual peers.Style) peers.Style {
	switch {
	case now.Depth > 0:
		return peers.Lockstep()
	case usual.Depth > 0:
		return usual
	}
	return peers.Rollback()
}

// A view is what there is to show.
type view struct {
	world *world.World // nil until there is one
	me    world.Player
	now   Standing
	game  string
	watch bool
	rows  bool // a relay says what counts
}

// look takes what there is to show. It is called by the goroutine that drives.
func (s *session) look() view {
	v := view{now: Stand(s.match), me: s.match.Player(), game: s.Title.Name(), watch: s.Watch,
		rows: s.mode == relay.Rows}
	if w := s.match.World(); w != nil {
		v.world = s.viewer.Look(w)
	}
	return v
}

func (v *view) frame() *game.Frame {
	if v.world == nil {
		return nil
	}
	return &game.Frame{World: v.world, Me: v.me, Fresh: true, Names: v.now.NameOf}
}

// NameOf is what a player is called.
func (s *Standing) NameOf(p world.Player) string {
	for i := range s.Members {
		if m := &s.Members[i]; m.Player == p && p != world.Nobody {
			return m.Name
		}
	}
	return ""
}

// status is what is said beside the game.
func (v *view) status(words *lately) terminal.Status {
	var x terminal.Status
	keys := "  l rollback, + - delay, q leaves"
	switch {
	case v.watch:
		keys = "  q leaves"
	case v.now.Depth > 0:
		keys = "  l lock step, + - delay, q leaves"
	}
	x.Line = v.game + "  " + v.now.brief() + keys
	if said := words.said(time.Now()); said != "" {
		x.Line = said + "  " + x.Line
	}
	switch {
	case v.now.Phase == peers.Asking.String():
		x.Note = "looking for the match"
	case v.now.Phase == peers.Guest.String() && !v.watch, v.now.Phase == peers.Entering.String():
		x.Note = "about to enter"
	case v.now.Waiting > 300:
		x.Note = "waiting" + v.missing()
	}
	return x
}

// missing names who is not heard.
func (v *view) missing() string {
	if v.rows {
		return " for the relay" // which waits for nobody for long
	}
	var list []string
	for i := range v.now.Members {
		if m := &v.now.Members[i]; !m.Self && (!m.Open || m.Silence > 200) {
			list = append(list, m.name())
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " for " + strings.Join(list, " and ")
}

// lately is the news of the last seconds.
type lately struct {
	text string
	at   time.Time
}

func (l *lately) hear(list []peers.News) {
	for _, n := range list {
		if n.Kind != peers.Waiting { // which is said in the middle
			l.text, l.at = n.String(), time.Now()
		}
	}
}

func (l *lately) said(now time.Time) string {
	if now.Sub(l.at) > newsTime {
		return ""
	}
	return l.text
}
