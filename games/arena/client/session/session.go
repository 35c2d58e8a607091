package session

import (
	"context"
	"errors"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// An Entry is a way into a server.
type Entry = client.Entry

// Options are what a Session is made from. Join has no default.
type Options struct {
	// Join finds a way in. It is called in a goroutine of its own, at the beginning and again
	// whenever the last way has come to an end.
	Join func(ctx context.Context) (Entry, error)
	// Name is what others read.
	Name string
	// Style is how what is not known yet is shown.
	Style predict.Style
	// Conn is what else package conn takes; tests give it seeds.
	Conn conn.Options
}

// A Session is a game over a network: a client.Session, and what is the arena's own about it. It
// belongs to one goroutine.
type Session struct {
	*client.Session
	name  string
	asked world.Tick // when a name was last asked for

	view   client.View // of the last frame
	fresh  bool        // its events were not shown yet
	undone []Undone
}

// New makes a session, which begins to look for its server with the first Frame.
func New(o Options) *Session {
	s := &Session{name: arena.CleanText(o.Name, arena.MaxName)}
	s.Session = client.NewSession(client.SessionOptions{Join: o.Join, Options: client.Options{
		Title: arena.Title, Name: s.name, Style: o.Style, Conn: o.Conn,
	}})
	return s
}

// Frame takes in what came, computes the ticks that are due and sends their commands.
func (s *Session) Frame(now time.Duration, pilot Pilot) {
	s.view = s.Session.Frame(now,
		func(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
			// it is of the game's type
			_ = world.Give(in, me, s.command(t, pilot(fighterOf(shown, me)), me))
		})
	v := &s.view
	if v.Began {
		s.asked = 0
	}
	s.fresh = s.fresh || v.Fresh
	for i := range v.Retracted {
		s.retracted(&v.Retracted[i])
	}
}

// Sent is what became of data that was sent, since the last Frame.
func (s *Session) Sent() []client.Uploaded { return s.view.Uploads }

// askAgain is how many ticks to wait for a name to be taken.
const askAgain = 60

// command adds to the pilot's command what the player's name takes. A command that comes too late
// loses its verb, so the name is asked for until it is so.
func (s *Session) command(t world.Tick, c arena.Command, me world.Player) arena.Command {
	if c.Verb == arena.Nothing && t >= s.asked+askAgain && s.name != "" &&
		nameOf(s.Truth(), me) != s.name {
		c.Verb, c.Text, s.asked = arena.Name, s.name, t
	}
	return c
}

// nameOf is what a player is called.
func nameOf(w *world.World, p world.Player) string {
	for id, sh := range world.All[arena.Sheet](w) {
		if w.Owner(id) == p {
			return sh.Name
		}
	}
	return ""
}

// View gives what is to be shown.
func (s *Session) View() View {
	f := &s.view
	v := View{Status: f.Status}
	var version *client.VersionError
	switch {
	case errors.As(f.Err, &version):
		v.Status = "this page is of another version than the server: reload it"
	case f.World != nil:
		v.World, v.Me, v.Truth, v.Lead, v.Others = f.World, f.Me, f.Truth, f.Lead, f.Others
		v.Fresh, s.fresh = s.fresh, false
		v.Undone, s.undone = s.undone, nil
	}
	return v
}

// SetName changes what others read.
func (s *Session) SetName(name string) {
	s.name, s.asked = arena.CleanText(name, arena.MaxName), 0
	s.Session.SetName(s.name)
}

// Close ends the session, without a word to the server: the seat is kept for a while.
func (s *Session) Close() {
	s.Session.Close()
	s.over()
}

// Leave tells the server that the player goes, and ends the session.
func (s *Session) Leave() {
	s.Session.Leave()
	s.over()
}

func (s *Session) over() {
	s.view, s.fresh = client.View{Status: client.ErrOver.Error(), Ended: true, Err: client.ErrOver},
		false
}

// An Undone is an event that was shown and did not happen after all: a server that is one of
// several mirrors shows what it knows, and another may know better.
type Undone struct {
	Event    bits.Syncer   // *arena.Killed, and so on
	Believed time.Duration // for how long it was shown
}

// mostUndone bounds what waits for someone to look.
const mostUndone = 32

// retracted keeps what did not happen until the next View.
func (s *Session) retracted(n *predict.Notice) {
	e := arena.Game.Events()[n.Kind].New()
	if n.Read(e) == nil && len(s.undone) < mostUndone {
		s.undone = append(s.undone, Undone{Event: e, Believed: n.Believed})
	}
}
