//go:build !js

package peer

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// Options say what is played, with whom, and how it is shown.
type Options struct {
	Title *game.Title
	// Match and Level found a match. Without a Match one is joined, by an Invitation.
	Match      *peers.Match
	Level      game.Level
	Lasts      time.Duration // for how long an invitation to it is good
	Invitation string
	// Watch joins without playing, and Behind is how much later what happens is shown.
	Watch  bool
	Behind time.Duration

	// Relay is where players meet, by HTTP; then an Invitation is a short code. Unless it is a Mesh
	// that is founded, the relay gathers commands into rows, and a row waits for them beyond its
	// time for Wait.
	Relay                           string
	Mesh                            bool
	Wait                            time.Duration
	Name, Listen, Address, Identity string
	Style                           peers.Style
	Packets                         int

	// Bot has a bot play. Without a terminal one always does.
	Bot bool
	// Headless shows nothing but lines, which are JSON with JSON.
	Headless, JSON bool
	For            time.Duration // where to stop; 0 for never
	In, Out        *os.File
	Lines          io.Writer
	// Desyncs is the folder for worlds that should have been the same, or none.
	Desyncs string
	// Fill puts the program's name in place of {program}, for people.
	Fill func(text string) string
}

// A session is one player, or one who watches, from the start to the end.
type session struct {
	Options
	id         *identity
	invitation *Invitation
	mode       relay.Mode
	short      shortCode // at a relay
	meeting    meeting   // the match, where it is at a relay
	seats      *seats
	relayName  string // of the relay, however it was given
	peer       peers.Options
	match      Match
	viewer     turns.Viewer
	bot        game.Bot
	play       func(me world.Player, in *world.Inputs) // by keys, or nil
	marked     world.Tick
	bundles    bundles

	mu   sync.Mutex
	told []peers.News // that was not said yet
	kept *seat        // that was not kept yet
}

// A meeting is a match that is found at a relay.
type meeting interface {
	Code() relay.Code
	Back() [relay.SecretSize]byte
}

// Play plays until the player has had enough, the match is over or the context ends.
func Play(ctx context.Context, o Options) (err error) {
	o.Listen = cmp.Or(o.Listen, ":0")
	s := &session{Options: o, bundles: bundles{dir: o.Desyncs, game: o.Title.Name()}}
	if !o.Headless {
		const instead = "--headless to let a bot play"
		if err := terminal.Check(o.Title, o.In, o.Out, instead, instead); err != nil {
			return err
		}
	}
	if o.Relay != "" {
		s.short.word = drawWord()
	}
	if o.Match == nil && o.Relay != "" {
		if s.short, err = parseShortCode(o.Invitation); err != nil {
			return cli.Usage(err)
		}
	} else if o.Match == nil {
		if s.invitation, err = ParseInvitation(o.Invitation); err != nil {
			return cli.Usage(err)
		}
		if err := s.invitation.fits(o.Title.Name()); err != nil {
			return cli.Usage(err)
		}
	}
	if s.id, err = openIdentity(o.Identity, o.Title.Name()); err != nil {
		return err
	}
	defer s.id.close()
	s.seats = s.id.seats(time.Now())
	if v := s.invitation; v != nil && !s.seats.has("", v.name()) { // who was in returns
		if err := v.lasts(time.Now()); err != nil {
			return cli.Usage(err)
		}
	}
	if o.Bot || o.Headless {
		s.bot = o.Title.NewBot(cli.Draw())
	}
	s.mode = relay.Mesh
	s.prepare()
	if err := s.open(); err != nil {
		return err
	}
	defer s.match.Close()
	return s.run(ctx)
}

// prepare says what plays.
func (s *session) prepare() {
	s.peer = peers.Options{
		Game: s.Title.Game, Name: s.Name, Watch: s.Watch, Behind: s.Behind, Style: s.Style,
		Packets: s.Packets, Match: s.Match, Input: s.input, News: s.news,
		After: func(w *world.World, _ *world.Inputs, _ bool) { s.viewer.After(w) },
	}
	if s.Match != nil {
		s.peer.World = func(m *peers.Match) (*world.World, error) {
			settings, err := s.Title.Settings(s.Level)
			if err != nil {
				return nil, err
			}
			return s.Title.Game.New(settings)
		}
	}
}

// input gives the player's command for a tick.
func (s *session) input(w *world.World, me world.Player, t world.Tick, in *world.Inputs) {
	switch {
	case s.bot != nil:
		_ = s.bot(w, me, t, in) // its commands are of the game's type
	case s.play != nil:
		s.play(me, in)
	}
}

// news keeps what happens until it is said.
func (s *session) news(n peers.News) {
	if how := s.bundles.keep(&n); how != "" {
		n.Text += "; " + s.Fill(how)
	}
	n.Mine, n.Theirs = nil, nil
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case n.Kind == peers.Met && s.meeting.Back() != [relay.SecretSize]byte{}:
		back := s.meeting.Back()
		s.kept = &seat{Relay: s.relayName, Game: s.Title.Name(), Code: s.matchName(),
			Secret: hex.EncodeToString(back[:]), Since: time.Now()}
	case n.Kind == peers.Entered && s.Relay == "":
		s.kept = &seat{Game: s.Title.Name(), Code: s.matchName(), Since: time.Now()}
	}
	if len(s.told) < 256 {
		s.told = append(s.told, n)
	}
}

// heard takes the news. What lets this program return after a crash is kept.
func (s *session) heard() []peers.News {
	s.mu.Lock()
	list, kept := s.told, s.kept
	s.told, s.kept = nil, nil
	s.mu.Unlock()
	if kept != nil {
		if err := s.seats.keep(*kept); err != nil {
			list = append(list, peers.News{Kind: peers.Met,
				Text: "a crash would cost you your body, since nothing can be kept", Err: err})
		}
	}
	return list
}

// run drives the match, and shows it.
func (s *session) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if s.For > 0 {
		timer := time.AfterFunc(s.For, func() { stop(terminal.ErrQuit) })
		defer timer.Stop()
	}
	ended := make(chan error, 1)
	go func() {
		err := s.match.Run(ctx)
		if err == nil {
			err = terminal.ErrQuit
		}
		stop(err)
		ended <- err
	}()
	var err error
	if s.Headless {
		err = s.tell(ctx)
	} else {
		err = s.show(ctx, stop)
	}
	stop(err)
	over := <-ended
	if s.Headless {
		s.farewell(over)
	}
	s.rise(over)
	return s.reason(ctx, over, err)
}

// reason is why it has ended, or nil if the player had enough.
func (s *session) reason(ctx context.Context, list ...error) error {
	var refused *peers.RefusedError
	for _, err := range append(list, context.Cause(ctx)) {
		switch {
		case err == nil || errors.Is(err, terminal.ErrQuit) || errors.Is(err, context.Canceled):
		case errors.As(err, &refused):
			return fmt.Errorf("the match does not let you in: %s", refused.Why)
		case s.meeting != nil && s.meeting.Back() != [relay.SecretSize]byte{}:
			return fmt.Errorf("%w; if the match goes on, this leads back to the same body: %s", err,
				s.joinLine(s.matchName()))
		default:
			return err
		}
	}
	return nil
}

// rise forgets the seat of a match that was left in good order, or that does not let this player
// in. Otherwise it is kept, and the player can return.
func (s *session) rise(over error) {
	var refused *peers.RefusedError
	if s.Watch ||
		!errors.Is(over, terminal.ErrQuit) && !errors.As(over, &refused) {
		return
	}
	s.heard() // what was not kept yet
	s.seats.drop(s.relayName, s.matchName())
}

// matchName is by what a match is known: its code at a relay, or what its invitation says. It is
// for the goroutine that drives.
func (s *session) matchName() string {
	if s.Relay == "" {
		return s.invitation.name()
	}
	return shortCode{s.meeting.Code(), s.short.word}.String()
}

// joinLine is how others join, and how this player returns.
func (s *session) joinLine(code string) string {
	return fmt.Sprintf("%s %s %s --relay %s", s.Fill("{program} peer join"), s.Title.Name(), code,
		s.Relay)
}
