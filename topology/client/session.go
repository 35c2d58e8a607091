package client

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/ways"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// An Entry is a way into a game: what of Options is found anew for each connection.
type Entry struct {
	Link  link.Link
	Token token.Token
	// Servers, if any, are where the link reaches the server, in place of what the token says.
	Servers []netip.AddrPort
	// Dial, if set, makes a link to another server of the same game, if the first leads to one
	// only.
	Dial func(wire.Server) (link.Link, error)
}

// SessionOptions are what a Session is made from. Title and Join have no default; Link, Token,
// Servers and Dial come from Join.
type SessionOptions struct {
	Options
	// Join finds a way in. It is called in a goroutine of its own, at the beginning and again
	// whenever the last way has come to an end, after a wait that grows from one second to eight.
	Join func(ctx context.Context) (Entry, error)
}

// A Session keeps a player in a game: when a connection is over for good, because the server was
// started anew or the network was away for too long, it looks for another way in. It is used as a
// Client is, and belongs to one goroutine.
type Session struct {
	o      SessionOptions
	ctx    context.Context
	cancel context.CancelFunc
	now    time.Duration

	asking chan answer   // from Join, while it is asked
	retry  time.Duration // before which it is not asked again
	waits  time.Duration // how long it was waited the last time
	client *Client       // nil while a way in is sought
	lost   string        // why the last connection ended
	why    error         // the same, or why none was found
	fatal  error         // why there is no more to try

	uploads uploads // that wait for a connection

	numbers Numbers
	graph   Graph
}

type answer struct {
	entry Entry
	err   error
}

// ErrOver is why a session has ended that was closed, or whose player has left.
var ErrOver = errors.New("the session is over")

// NewSession makes a session, which begins to look for its server with the first Frame.
func NewSession(o SessionOptions) *Session {
	if o.Clock == nil {
		began := time.Now()
		o.Clock = func() time.Duration { return time.Since(began) }
	}
	s := &Session{o: o}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Frame is a Client's, over all connections. The view has ended when there is no more to try.
func (s *Session) Frame(now time.Duration, command Command) View {
	s.now = now
	if s.client == nil {
		s.seek()
		return s.waiting()
	}
	v := s.client.Frame(now, command)
	if v.Ended {
		s.ended(v.Err)
		return s.waiting()
	}
	if v.Began {
		s.numbers.Worlds++
		s.waits, s.lost, s.why = 0, "", nil
	}
	s.measure(&v)
	return v
}

// waiting is what is shown while there is no connection.
func (s *Session) waiting() View {
	v := View{Status: "looking for the server"}
	switch {
	case s.fatal != nil:
		v.Status, v.Ended, v.Err, v.Phase = text(s.fatal), true, s.fatal, Ended
	case s.lost != "":
		v.Status = s.lost + "; trying again"
	}
	return v
}

// seek looks for a way in, and takes it when it is found.
func (s *Session) seek() {
	switch {
	case s.fatal != nil || s.now < s.retry:
	case s.asking == nil:
		s.asking = make(chan answer, 1)
		go func(to chan<- answer) {
			e, err := s.o.Join(s.ctx)
			to <- answer{e, err}
		}(s.asking)
	default:
		select {
		case a := <-s.asking:
			s.asking = nil
			if a.err != nil {
				s.lost, s.why = a.err.Error(), a.err
				s.later()
				return
			}
			s.Enter(a.entry)
		default:
		}
	}
}

// later waits before the next try, each time a little longer.
func (s *Session) later() {
	s.waits = min(max(time.Second, s.waits*2), 8*time.Second)
	s.retry = s.now + s.waits
}

// Enter takes a way in: what Join's answer leads to, and for programs that have one at hand.
func (s *Session) Enter(e Entry) {
	o := s.o.Options
	o.Link, o.Token, o.Servers, o.Dial = e.Link, e.Token, e.Servers, e.Dial
	c, err := New(o)
	if err != nil {
		s.lost, s.why = err.Error(), err
		if e.Link != nil {
			_ = e.Link.Close() // it was of no use
		}
		s.later()
		return
	}
	c.uploads.queue, s.uploads.queue = s.uploads.queue, nil
	s.client = c
}

// ended looks at why a connection is over, and whether to seek another.
func (s *Session) ended(err error) {
	_ = s.client.Close() // nothing more is expected of its links
	s.uploads.queue = s.client.uploads.queue
	s.client = nil
	var end *EndError
	var version *VersionError
	switch {
	case err == nil:
		s.fatal = ErrOver
	case errors.As(err, &version):
		s.fatal = err
	case errors.As(err, &end):
		switch end.Reason {
		case wire.ReasonKicked, wire.ReasonHostile, wire.ReasonRules, conn.ReasonBanned:
			s.fatal = err
		}
	}
	if err != nil {
		s.lost, s.why = text(err), err
	}
	s.later()
}

// text is what a player reads of an error.
func text(err error) string {
	var end *EndError
	if !errors.As(err, &end) {
		return err.Error()
	}
	t := wire.ReasonText(end.Reason)
	if end.Note != "" {
		t += ": " + end.Note
	}
	return t
}

// Client is the one of the present connection, or nil while there is none.
func (s *Session) Client() *Client { return s.client }

// Lost is why the last connection ended, or why there is no way in, while another is sought.
func (s *Session) Lost() error { return s.why }

// Playing says whether the player is in the game.
func (s *Session) Playing() bool {
	return s.client != nil && s.client.Phase() == Playing && s.client.screen.world != nil
}

// Moving says whether the session is looking for another server to go on at.
func (s *Session) Moving() bool { return s.client != nil && s.client.Moving() }

// Server is where the server is that the player plays at, as far as the link tells, or the zero
// address. It changes when the player goes on at another one.
func (s *Session) Server() netip.AddrPort {
	if s.client == nil || s.client.Conn() == nil {
		return netip.AddrPort{}
	}
	return s.client.Conn().Addr()
}

// Place is what players call the server that is played at: its name, such as that of a city, or
// where it is; empty while there is none.
func (s *Session) Place() string {
	if s.client == nil {
		return ""
	}
	return s.client.Place()
}

// Places are the servers of the game as far as they were measured, the best first.
func (s *Session) Places() []ways.Place {
	if s.client == nil {
		return nil
	}
	return s.client.Places()
}

// Truth is what the server last said of everything in view, or nil.
func (s *Session) Truth() *world.World {
	if s.client == nil {
		return nil
	}
	return s.client.Truth()
}

// Style is how what is not known yet is shown.
func (s *Session) Style() predict.Style { return s.o.Style }

// SetStyle changes it, while the game goes on.
func (s *Session) SetStyle(style predict.Style) {
	s.o.Style = style
	if s.client != nil {
		s.client.SetStyle(style)
	}
}

// SetName asks for another name, now and at each server to come.
func (s *Session) SetName(name string) {
	s.o.Name = name
	if s.client != nil {
		s.client.Rename(name)
	}
}

// NameOf is what a player is called, or nothing.
func (s *Session) NameOf(p world.Player) string {
	if s.client == nil {
		return ""
	}
	return s.client.NameOf(p)
}

// Say sends a line of chat.
func (s *Session) Say(line string) {
	if s.client != nil {
		s.client.Say(line)
	}
}

// Speak sends a line as someone types it, which may be for one player alone; see Client.Speak.
func (s *Session) Speak(line string) {
	if s.client != nil {
		s.client.Speak(line)
	}
}

// Upload sends data in one piece; see Client.Upload. What the server has not taken when a
// connection is over is sent by the next.
func (s *Session) Upload(name string, data []byte) error {
	if s.client != nil {
		return s.client.Upload(name, data)
	}
	return s.uploads.add(s.o.Title, name, data)
}

// Uploading is how far what is on its way has come; see Client.Uploading. While a way to a server
// is sought, nothing of it has arrived.
func (s *Session) Uploading() (name string, arrived, size int, ok bool) {
	if s.client != nil {
		return s.client.Uploading()
	}
	if q := s.uploads.queue; len(q) > 0 {
		return q[0].name, 0, len(q[0].data), true
	}
	return "", 0, 0, false
}

// Close ends the session, without a word to the server: the seat is kept for a while.
func (s *Session) Close() {
	s.cancel()
	if s.client != nil {
		_ = s.client.Close() // nothing more is expected of its links
		s.client = nil
	}
	if s.fatal == nil {
		s.fatal = ErrOver
	}
}

// Leave tells the server that the player goes, and ends the session.
func (s *Session) Leave() {
	if c := s.client; c != nil {
		c.Leave()
		// The word may be lost on the way; then the server waits in vain for a while.
		for i := range time.Duration(3) {
			if c.Frame(s.now+i*c.game.TickLength(), nil).Ended {
				break
			}
		}
	}
	s.Close()
}
