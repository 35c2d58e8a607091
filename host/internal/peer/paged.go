package peer

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// PagedOptions say which match a page plays in. Title, Join and Token have no default.
type PagedOptions struct {
	Title *game.Title
	Name  string
	Style peers.Style
	// Found founds a match of the Level; without it the one of the Code is joined.
	Found *peers.Match
	Level game.Level
	Code  string
	// Back is what Paged.Kept gave before the page was loaded anew, or nothing.
	Back string
	// Watch joins without playing, and Behind is how much later what happens is shown.
	Watch  bool
	Behind time.Duration
	// Wall is the Unix time in seconds at time zero.
	Wall int64
	// Wait and Packets are as in peers.RelayedOptions, for one who founds a match.
	Wait    time.Duration
	Packets int
	// Join finds the relay, and Token another token for it. Both are called in goroutines of their
	// own.
	Join  func(ctx context.Context) (client.Entry, error)
	Token func(ctx context.Context) (token.Token, error)
}

// A Paged is a player in a match that a relay holds together, or one who watches it, as a page
// shows it: frame by frame, and never waiting. When the connection is lost it comes back by itself.
// It belongs to one goroutine.
type Paged struct {
	o      PagedOptions
	code   shortCode
	secret [32]byte // of the code, which takes a moment to find
	founds bool
	back   [relay.SecretSize]byte
	seeds  [2]uint64 // of the level, which whoever has founded a match keeps with it

	ctx     context.Context
	cancel  context.CancelFunc
	now     time.Duration
	command client.Command

	match  *peers.Relayed // nil while there is none
	viewer turns.Viewer
	asking chan way
	retry  time.Duration
	waits  time.Duration
	lost   string        // why the last try failed
	over   error         // why there is no more to try
	leaves time.Duration // by when the player has left, or 0

	names map[world.Player]string
	words []client.Word
	given []client.Word
	tally tally
}

// A way is what was asked for: an entry, or no more than a token.
type way struct {
	entry client.Entry
	token token.Token
	err   error
}

// NewPaged makes one, which begins to look for the relay with the first Frame. The error says what
// is wrong with the code.
func NewPaged(o PagedOptions) (*Paged, error) {
	s := &Paged{o: o, founds: o.Found != nil, names: map[world.Player]string{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if s.founds {
		s.code.word = drawWord()
		s.seeds = [2]uint64{o.Level.Seed, o.Level.Secret}
		return s, nil
	}
	c, err := parseShortCode(o.Code)
	if err != nil {
		return nil, err
	}
	s.code = c
	s.remember(o.Back)
	return s, nil
}

// ErrLeft is why a Paged has ended whose player has left.
var ErrLeft = errors.New("you have left the match")

// Frame does what is due and gives what there is to show.
func (s *Paged) Frame(now time.Duration, command client.Command) client.View {
	s.now, s.command = now, command
	switch {
	case s.over != nil:
	case s.leaves > 0 && now > s.leaves:
		s.Close()
	case s.match == nil:
		s.seek()
	default:
		s.poll()
	}
	return s.view()
}

// poll drives the match.
func (s *Paged) poll() {
	s.tally.polled = true
	err := s.match.Poll(s.now)
	if s.match.ID() == 0 {
		s.tally.worldless = s.now
	}
	if s.match.Client() != nil && s.match.ID() != 0 {
		s.code.code, s.back = s.match.Code(), s.match.Back()
		s.founds = false
		s.waits, s.lost = 0, ""
	}
	if err == nil && s.match.Phase() != peers.Ended {
		return
	}
	var refused *peers.RefusedError
	switch {
	case err == nil:
		s.over = ErrLeft
	case errors.As(err, &refused), errors.Is(err, peers.ErrOther), errors.Is(err, peers.ErrApart),
		errors.Is(err, peers.ErrNoWorld):
		s.over = err
	default: // the way to the relay has ended, or the relay has
		s.fail(err)
	}
	_ = s.match.Close()
	if s.over == nil {
		s.match, s.asking = nil, nil
	}
}

// fail waits a while before the next try.
func (s *Paged) fail(err error) {
	s.lost = plain(err)
	s.waits = min(max(time.Second, 2*s.waits), 8*time.Second)
	s.retry = s.now + s.waits
}

// ask has a question answered in another goroutine.
func (s *Paged) ask(question func(ctx context.Context) way) (way, bool) {
	if s.asking == nil {
		if s.now < s.retry {
			return way{}, false
		}
		s.asking = make(chan way, 1)
		go func(to chan<- way) { to <- question(s.ctx) }(s.asking)
	}
	select {
	case w := <-s.asking:
		s.asking = nil
		if w.err != nil {
			s.fail(w.err)
		}
		return w, w.err == nil
	default:
		return way{}, false
	}
}

// seek looks for the relay, and asks it for the match.
func (s *Paged) seek() {
	w, ok := s.ask(func(ctx context.Context) way {
		e, err := s.o.Join(ctx)
		return way{entry: e, err: err}
	})
	if !ok {
		return
	}
	if err := s.enter(w.entry); err != nil {
		_ = w.entry.Link.Close()
		s.over = err
	}
}

var errAskingToken = errors.New("the relay is asked for a token")

// renew gives another token if there is one, and otherwise has the relay asked for it meanwhile.
func (s *Paged) renew() (t token.Token, err error) {
	w, ok := s.ask(func(ctx context.Context) way {
		t, err := s.o.Token(ctx)
		return way{token: t, err: err}
	})
	switch {
	case ok:
		return w.token, nil
	case w.err != nil:
		return t, w.err
	}
	return t, errAskingToken
}

// enter begins with the match.
func (s *Paged) enter(e client.Entry) error {
	if s.secret == [32]byte{} {
		s.secret = s.code.secret()
	}
	o := peers.RelayedOptions{
		Game: s.o.Title.Game, Link: e.Link, Token: e.Token, Servers: e.Servers, Wall: s.o.Wall,
		Secret: s.secret, Name: s.o.Name, Style: s.o.Style, News: s.hear,
		Code: s.code.code, Back: s.back, Watch: s.o.Watch, Behind: s.o.Behind,
		Wait: s.o.Wait, Packets: s.o.Packets,
		Input: func(w *world.World, me world.Player, t world.Tick, in *world.Inputs) {
			if s.command != nil {
				s.command(t, me, w, in)
			}
		},
		After: func(w *world.World, _ *world.Inputs, _ bool) { s.viewer.After(w) },
		Renew: s.renew,
	}
	_, _ = rand.Read(o.Seed[:]) // it never fails
	if s.founds {
		o.Create = s.o.Found
	}
	if s.founds || s.seeds != [2]uint64{} { // whoever founded the match knows how it begins
		o.World = s.first
	}
	m, err := peers.NewRelayed(o)
	if err != nil {
		return err
	}
	s.match = m
	s.viewer = turns.Viewer{}
	s.tally.polled = false
	return nil
}

// first makes the world that a match begins with.
func (s *Paged) first(m *peers.Match) (*world.World, error) {
	settings, err := s.o.Title.Settings(game.Level{Name: m.Level, Data: m.Data, Seed: s.seeds[0],
		Secret: s.seeds[1]})
	if err != nil {
		return nil, err
	}
	return s.o.Title.Game.New(settings)
}

// Code is what others join by, or nothing until the relay has told.
func (s *Paged) Code() string {
	if s.code.code == (relay.Code{}) || s.founds {
		return ""
	}
	return s.code.String()
}

// Kept is what a page keeps so that after it was loaded anew it returns to the same body.
func (s *Paged) Kept() string {
	if s.Code() == "" || s.o.Watch {
		return ""
	}
	b := binary.BigEndian.AppendUint64(s.back[:], s.seeds[0])
	return hex.EncodeToString(binary.BigEndian.AppendUint64(b, s.seeds[1]))
}

// remember reads what Kept gave. What makes no sense is as if there were nothing.
func (s *Paged) remember(kept string) {
	b, err := hex.DecodeString(kept)
	if err != nil || len(b) != len(s.back)+16 {
		return
	}
	n := copy(s.back[:], b)
	s.seeds = [2]uint64{binary.BigEndian.Uint64(b[n:]), binary.BigEndian.Uint64(b[n+8:])}
}

// Leave gives up the player's seat for good. The frames after it tell the relay.
func (s *Paged) Leave() {
	if s.match == nil || s.over != nil {
		s.Close()
		return
	}
	s.match.Leave()
	s.leaves = s.now + time.Second/2
}

// Close ends it without a word: the seat of one who has not left is kept for a while.
func (s *Paged) Close() {
	s.cancel()
	if s.over == nil {
		s.over = ErrLeft
	}
	if s.match != nil {
		_ = s.match.Close()
	}
}

// Over says why there is no more to try, in plain words, or nothing.
func (s *Paged) Over() string {
	if s.over == nil {
		return ""
	}
	return plain(s.over)
}
