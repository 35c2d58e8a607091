package session

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// An Entry is a way into a server.
type Entry struct {
	Link  link.Link
	Token token.Token
	// Servers, if any, are where the link reaches the server, in place of what the token says.
	Servers []netip.AddrPort
	// Dial, if set, makes a link to another server of the same game, if the first leads to one only; see clientserver.ClientOptions.
	Dial func(wire.Place) (link.Link, error)
}

// Options are what a Session is made from. Join has no default.
type Options struct {
	// Join finds a way in. It is called in a goroutine of its own, at the beginning and again whenever the last way has come to an end.
	Join func(ctx context.Context) (Entry, error)
	// Name is what others read.
	Name string
	// Style is how what is not known yet is shown.
	Style predict.Style
	// Conn is what else package conn takes; tests give it seeds.
	Conn conn.Options
	// Told is called with what the server says to players.
	Told func(text string)
}

// A Session is a game over a network. It belongs to one goroutine.
type Session struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc

	entries chan result // from Join, while it is asked
	retry   time.Duration
	waits   time.Duration // before the next try
	client  *clientserver.Client
	player  predict.Player
	pilot   Pilot
	now     time.Duration
	ticked  time.Duration
	asked   world.Tick // when a name was last asked for
	shown   *world.World
	fresh   bool
	fatal   string // why there is no more to try
	lost    string // why the last connection ended
	style   predict.Style
	numbers Numbers
	graph   Graph
	undone  []Undone
}

type result struct {
	entry Entry
	err   error
}

// New makes a session, which begins to look for its server with the first Frame.
func New(o Options) *Session {
	o.Name = arena.CleanText(o.Name, arena.MaxName)
	s := &Session{o: o, style: o.Style}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.player.Command, s.player.Retracted = s.command, s.retracted
	return s
}

// LevelSettings makes the settings of a world from a level, whose data is the text of a map, or which names one that comes with the game: what servers and
// clients of the arena share.
func LevelSettings(l clientserver.Level) (world.Settings, error) {
	if len(l.Data) == 0 {
		name := l.Name
		if name == "" {
			name = arena.DefaultMap
		}
		return arena.Settings(name, arena.Options{})
	}
	m, err := arena.Parse(l.Data)
	if err != nil {
		return world.Settings{}, err
	}
	arena.Register(m)
	settings, err := arena.Settings(arena.DefaultMap, arena.Options{})
	if err != nil {
		return settings, err
	}
	for _, state := range settings.States {
		if match, ok := state.(*arena.Match); ok {
			match.Rotation[0] = m.Hash() // a map that was sent may have the name of one that is here
		}
	}
	return settings, nil
}

// Predict says how the arena's classes are predicted and smoothed.
func Predict() map[string]predict.Class {
	return map[string]predict.Class{
		"Fighter": {Heading: "Aim", Obstacle: true},
		"Door":    {Obstacle: true},
	}
}

// Frame takes in what came, computes the ticks that are due and sends their commands.
func (s *Session) Frame(now time.Duration, pilot Pilot) {
	s.now, s.pilot = now, pilot
	if s.client == nil {
		s.seek()
		return
	}
	// Frames may come faster than ticks; what is sent goes once a tick.
	err := s.client.Receive(now)
	if err == nil && now-s.ticked >= arena.Game.TickLength()*3/4 {
		s.ticked = now
		if c := s.client.Conn(); c != nil {
			c.SetSendRate(s.player.SendRate())
		}
		err = s.client.Tick(now)
	}
	if err != nil {
		s.ended(err)
		return
	}
	if w := s.player.Show(now); w != nil && s.client.Phase() == clientserver.Playing {
		s.shown, s.fresh = w, true
	}
	s.measure()
}

// seek looks for a way in, and takes it when it is found.
func (s *Session) seek() {
	switch {
	case s.fatal != "" || s.now < s.retry:
	case s.entries == nil:
		s.entries = make(chan result, 1)
		go func(to chan<- result) {
			e, err := s.o.Join(s.ctx)
			to <- result{e, err}
		}(s.entries)
	default:
		select {
		case r := <-s.entries:
			s.entries = nil
			if r.err != nil {
				s.lost = r.err.Error()
				s.later()
				return
			}
			s.Enter(r.entry)
		default:
		}
	}
}

// later waits before the next try, each time a little longer.
func (s *Session) later() {
	s.waits = min(max(time.Second, s.waits*2), 8*time.Second)
	s.retry = s.now + s.waits
}

// Enter takes a way in: what Join's answer leads to, and for those who have one at hand.
func (s *Session) Enter(e Entry) {
	c, err := clientserver.NewClient(clientserver.ClientOptions{
		Game: arena.Game, Settings: LevelSettings, Replica: replica.Options{}, Link: e.Link, Token: e.Token, Servers: e.Servers, Dial: e.Dial, Conn: s.o.Conn, Name: s.o.Name,
		Clock: &s.player, Input: s.player.Input, Header: s.player.Header, Snapshot: s.player.Snapshot, Event: s.player.Event,
		Begun: func(_ clientserver.Level, view, start *world.World) { s.begun(view, start) },
		Told: func(w clientserver.Word) {
			if s.o.Told != nil && w.Text != "" {
				s.o.Told(w.Text)
			}
		},
	})
	if err != nil {
		s.lost = err.Error()
		e.Link.Close()
		s.later()
		return
	}
	s.client = c
}

// keepTicks is for how long the player can go on without news: on a bad network in a world where nothing happens, of which nothing is told, that is seconds.
const keepTicks = 240

// begun starts to predict a new world.
func (s *Session) begun(view, start *world.World) {
	o := predict.Options{Player: s.client.Player(), Style: s.style, Classes: Predict(), Keep: keepTicks}
	if err := s.player.Begin(view, start, o); err != nil {
		s.fatal = err.Error()
		return
	}
	s.player.Client().SetStyle(s.style)
	s.numbers.Worlds++
	s.shown, s.waits, s.lost, s.asked = nil, 0, "", 0
}

// command is asked for each tick.
func (s *Session) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	c := s.pilot(fighterOf(shown, me))
	if c.Verb == arena.Nothing && t >= s.asked+askAgain && s.o.Name != "" && nameOf(s.client.View(), me) != s.o.Name {
		// A command that comes too late loses its verb, so this is asked for until it is so.
		c.Verb, c.Text, s.asked = arena.Name, s.o.Name, t
	}
	_ = world.Give(in, me, c) // it is of the game's type
}

// askAgain is how many ticks to wait for a name to be taken.
const askAgain = 60

// nameOf is what a player is called.
func nameOf(w *world.World, p world.Player) string {
	for id, sh := range world.All[arena.Sheet](w) {
		if w.Owner(id) == p {
			return sh.Name
		}
	}
	return ""
}

// SetName changes what others read.
func (s *Session) SetName(name string) { s.o.Name, s.asked = arena.CleanText(name, arena.MaxName), 0 }

// ended looks at why a connection is over, and whether to seek another.
func (s *Session) ended(err error) {
	_ = s.client.Close()
	s.client, s.shown, s.fresh = nil, nil, false
	var end *clientserver.EndError
	var version *clientserver.VersionError
	switch {
	case errors.As(err, &version):
		s.fatal = "this page is of another version than the server: reload it"
	case errors.As(err, &end):
		s.lost = wire.ReasonText(end.Reason)
		if end.Note != "" {
			s.lost += ": " + end.Note
		}
		switch end.Reason {
		case wire.ReasonKicked, wire.ReasonHostile, wire.ReasonRules, conn.ReasonBanned:
			s.fatal = s.lost
		}
	default:
		s.lost = err.Error()
	}
	s.later()
}

// View gives what is to be shown.
func (s *Session) View() View {
	v := View{Status: s.status()}
	if s.client == nil || s.shown == nil {
		return v
	}
	v.World, v.Me, v.Truth, v.Fresh = s.shown, s.client.Player(), s.client.View(), s.fresh
	s.fresh = false
	v.Undone, s.undone = s.undone, nil
	if c := s.player.Client(); c != nil {
		v.Lead = c.Clock().Fraction() * arena.Game.TickLength().Seconds()
		if c.Style() == predict.Doom3 {
			v.Others = v.Lead
		}
	}
	return v
}

// status tells what the player waits for.
func (s *Session) status() string {
	switch {
	case s.fatal != "":
		return s.fatal
	case s.client == nil && s.lost != "":
		return s.lost + "; trying again"
	case s.client == nil:
		return "looking for the server"
	}
	switch s.client.Phase() {
	case clientserver.Playing:
		switch {
		case s.client.Paused():
			return "the game is paused"
		case s.shown == nil:
			return "entering"
		}
		return ""
	case clientserver.Loading:
		return "loading the map"
	}
	if s.client.Stats().Returns > 0 {
		return "the connection was lost; coming back"
	}
	return "connecting"
}

// SetStyle changes how what is not known yet is shown, while the game goes on.
func (s *Session) SetStyle(style predict.Style) {
	s.style = style
	if c := s.player.Client(); c != nil {
		c.SetStyle(style)
	}
}

// Style is how what is not known yet is shown.
func (s *Session) Style() predict.Style { return s.style }

// Playing says whether the player is in the game.
func (s *Session) Playing() bool {
	return s.client != nil && s.client.Phase() == clientserver.Playing && s.shown != nil
}

// Close ends the session, without a word to the server: the seat is kept for a while.
func (s *Session) Close() {
	s.cancel()
	if s.client != nil {
		_ = s.client.Close()
		s.client = nil
	}
	s.fatal = "the session is over"
}

// Leave tells the server that the player goes, and ends the session.
func (s *Session) Leave() {
	if s.client != nil {
		s.client.Leave()
		for i := range 3 { // it may be lost on the way; then the server waits in vain for a while
			if s.client.Tick(s.now+time.Duration(i)*arena.Game.TickLength()) != nil {
				break
			}
		}
	}
	s.Close()
}
